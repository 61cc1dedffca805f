"""The server loads machine code; whatever has to be compiled is compiled by another process."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tapete.core import compile as compiler
from tapete.web import readiness
from tapete.web.rehearsal import rehearse
from tests.web.browsers import Browser, serving

# With an empty cache, in a process of its own, and with a rule of the smallest game: seconds, not minutes.
SCRIPT = """
from tapete.core import compile as compiler
from tapete.games.ocp import rules
from tapete.web import readiness

def touch(name):
    assert name == "kuhn"
    return rules.player.address

readiness.WORKS["touch"] = touch
try:
    readiness.load(touch, ("kuhn",))
except compiler.NotCompiled as error:
    print(error)
assert not compiler.progress.done
touch("kuhn")
print(compiler.progress.done > 0)
readiness.load(touch, ("kuhn",))
"""


def test_who_may_only_load_compiles_nothing(tmp_path: Path) -> None:
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "tapete.games.ocp.rules.player\nTrue\n", done.stderr


def test_only_the_thread_that_asked_for_it_may_not_compile() -> None:
    found: list[bool] = []

    def look() -> None:
        found.append(getattr(compiler._this_thread, "loads", False))

    with compiler.loading_only():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        look()
    look()
    assert found == [False, True, False]


def test_what_is_missing_is_compiled_elsewhere_and_people_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person plays on at another table meanwhile; the agent moves when it is ready."""
    apart: list[tuple[str, ...]] = []
    go = threading.Event()

    def missing(work: readiness.Work, texts: tuple[str, ...]) -> None:
        if texts == ("leduc", "random") and not go.is_set():
            raise compiler.NotCompiled("something")
        work(*texts)

    def compile_apart(work: readiness.Work, texts: tuple[str, ...]) -> None:
        apart.append((work.__name__, *texts))
        assert go.wait(60)

    monkeypatch.setattr(readiness, "load", missing)
    monkeypatch.setattr(readiness, "compile_apart", compile_apart)
    monkeypatch.setattr("tapete.web.turns.NEWS", 0.1)
    with serving(tmp_path) as place:
        ana = Browser(place)
        with ana.socket(ana.make("leduc", "random", "me")["table"]) as waiting:
            assert waiting.hear("error")["code"] == "preparing"
            with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
                socket.act(socket.my_turn())
                assert socket.hear("table")["ply"] > 0
            go.set()
            assert waiting.my_turn()["ply"] > 0
    assert apart == [("rehearse", "leduc", "random")], "once for everybody who waits"


def test_what_can_be_asked_for_apart_is_done_there() -> None:
    done = subprocess.run([sys.executable, "-m", "tapete.web.readiness", "offered", "nonsense"], capture_output=True)
    assert done.returncode != 0
    assert readiness.WORKS["rehearse"] is rehearse
    assert subprocess.run([sys.executable, "-m", "tapete.web.readiness", "rehearse", "kuhn"]).returncode == 0


def test_an_agent_that_can_not_be_made_ready_is_told_at_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(work: readiness.Work, texts: tuple[str, ...]) -> None:
        if len(texts) == 2:
            raise OSError("no more processes")
        work(*texts)

    monkeypatch.setattr(readiness, "load", broken)
    with serving(tmp_path) as place:
        ana = Browser(place)
        with ana.socket(ana.make("kuhn", "random", "me")["table"]) as socket:
            assert socket.hear("error")["code"] == "agent"
            monkeypatch.undo()
            assert socket.my_turn(), "and tried again"
