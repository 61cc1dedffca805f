from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tapete.cli import main


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saved games and solutions of a test are its own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))


class Done(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


Tapete = Callable[..., Done]


@pytest.fixture
def tapete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tapete:
    """Runs `tapete` in this process: `tapete("play", "kuhn", stdin="1")`."""

    def run(*arguments: str, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["tapete", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return Done(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture
def state_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where games that were left in the middle are kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "tapete" / "play"
