"""The documentation tells what is: pages made from code are current, and links lead somewhere."""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tapete import make
from tapete.core.names import needs_parameters, variants
from tapete.terminal.pages import games_page
from tests.conftest import Tapete

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)
FILE = re.compile(r"# (\w+/\w+\.py)\n")
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("tapete/games/*/README.md")])


def test_the_page_of_the_games_is_current() -> None:
    names = sorted(name for name, variant in variants().items() if not needs_parameters(variant.spec))
    expected = games_page(make(name).spec for name in names)
    assert (ROOT / "docs" / "games.md").read_text().strip() == expected.strip(), (
        "tapete games --markdown > docs/games.md"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize(
    "page",
    [page for page in sorted(ROOT.glob("docs/**/*.md")) if re.search(r"^>>> |^```console", page.read_text(), re.M)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_code_on_a_page_does_what_it_says(
    page: Path, tapete: Tapete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From top to bottom in an empty folder: files are written, commands succeed, and Python prints what is shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {}
    for kind, code in BLOCK.findall(page.read_text()):
        if file := FILE.match(code):
            (tmp_path / file[1]).parent.mkdir(exist_ok=True)
            (tmp_path / file[1]).write_text(code)
        elif kind == "console":
            for line in code.splitlines():
                command, *arguments = shlex.split(line.removeprefix("$ "))
                done = tapete(*arguments)
                assert (command, done.status) == ("tapete", 0), f"{line}: {done.err}"
        elif ">>> " in code:
            told: list[str] = []
            test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
            doctest.DocTestRunner(verbose=False).run(test, out=told.append, clear_globs=False)
            names = test.globs  # what one block has made is there in the next
            assert not told, "".join(told)


NOTEBOOKS = sorted(ROOT.glob("docs/**/*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_its_cells_end_with(path: Path) -> None:
    """Cell by cell, as Jupyter does; what a cell's last line is worth is drawn."""
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            *before, last = ast.parse("".join(cell["source"])).body
            assert isinstance(last, ast.Expr), "a cell shows something"
            exec(compile(ast.Module(before, []), path.name, "exec"), names)
            shown = eval(compile(ast.Expression(last.value), path.name, "eval"), names)
            assert shown is not None
            assert "<script" not in getattr(shown, "_repr_html_", lambda: "")()


def test_every_study_has_a_notebook() -> None:
    assert [path.stem for path in NOTEBOOKS] == sorted(
        path.name for path in (ROOT / "docs" / "studies").iterdir() if path.is_dir()
    )


def test_every_game_has_a_page() -> None:
    folders = {variant.package.rpartition(".")[2] for variant in variants().values()}
    assert {page.stem for page in ROOT.glob("docs/games/*.md")} == folders


def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    """Links, anchors, names of the reference and the list of pages are checked by MkDocs: a warning is an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (built.returncode, built.stdout + built.stderr) == (0, "")
    for page in (tmp_path / "site").rglob("*.html"):
        fetched = re.findall(
            r"""<(?:script|img|iframe)[^>]+src="(https?:[^"]+)|<link[^>]+href="(https?:[^"]+)""", page.read_text()
        )
        assert not fetched, f"{page} can't be read without a network"
    truco = (tmp_path / "site" / "games" / "truco.html").read_text()
    for part in ("What is known", "How it is played", "What it declares", str(make("truco").spec.longest)):
        assert part in truco


def test_the_readme_names_both_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make play" in text
    assert "make test" in text
