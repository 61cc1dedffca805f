# `make play` and `make test` work from a clean clone; everything else is for people who work on tapete.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --retries 10 --timeout 120
INSTALL := $(PIP) install --constraint constraints.txt
WORKERS ?= 2
PORT ?= 8770

.PHONY: play install test chromium format lint types unit test-slow docs bench clean

play: .venv/.play  ## sit down at a table in the browser; in the terminal: .venv/bin/tapete play
	@$(BIN)/tapete serve --open --port $(PORT)

install: .venv/.all  ## everything: all extras, peers and tools

test: .venv/.all chromium lint types unit  ## all that CI checks

chromium:  ## the browser that tests of the page drive
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || [ -n "$$CHROMIUM" ] || \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "tapete: installing Chromium" && \
	  { apt-get install -y -qq --no-install-recommends chromium || \
	    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }; } >/dev/null; } || \
	echo "tapete: tests of the page need Chromium: apt-get install chromium, or set CHROMIUM to its path"

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

unit:
	$(BIN)/tapete warm
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

test-slow: .venv/.all chromium  ## the long proofs; what they showed is written in docs/proofs.md
	$(BIN)/tapete warm
	$(BIN)/pytest -m slow -v --durations=0

format: .venv/.all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/.all  ## the documentation as a site that is read from files: site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "tapete: open site/index.html"

bench: .venv/.all
	$(BIN)/tapete bench sim --peers

clean:
	rm -rf .venv
	find . -name __pycache__ -prune -exec rm -rf {} +

.venv/.python:
	@echo "tapete: making .venv"
	@$(PYTHON) -m venv .venv
	@touch $@

# With the build tool installed beforehand, nothing is fetched twice.
.venv/.build: .venv/.python constraints.txt
	@$(INSTALL) hatchling editables setuptools wheel
	@touch $@

.venv/.play: .venv/.build pyproject.toml constraints.txt
	@if [ ! -e .venv/.all ] || [ -n "$$(find pyproject.toml constraints.txt -newer .venv/.all)" ]; then \
		echo "tapete: installing what playing needs (about 100 MB, once)"; \
		$(INSTALL) --no-build-isolation --editable '.[web]'; fi
	@touch $@

.venv/.all: .venv/.build pyproject.toml constraints.txt
	@echo "tapete: installing everything that tests need (PyTorch, Ray and other people's games among it, once)"
	@$(INSTALL) --no-build-isolation --editable '.[learn,plots,peers,web,ray,openspiel,pettingzoo,gymnasium,docs,dev]'
	@touch $@ .venv/.play
