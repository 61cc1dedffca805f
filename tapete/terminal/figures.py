"""The figures in the documentation: which command printed them, when, by which version, and whether it still does.

They are listed in `docs/figures.toml`, beside the pages. `tapete docs-check` runs the quick ones again.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from tapete.core import TapeteError

LIST = "figures.toml"
PATIENCE = 600  # seconds for one command


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What one command printed, and where it stands."""

    page: str  # seen from the list
    command: str  # as on the page
    made: date
    version: str  # of tapete: the commit that was checked out
    quick: bool = False  # whether it is run again
    shows: tuple[str, ...] = ()  # what is on the page of what was printed; nothing: every line but those of the clock
    clock: tuple[str, ...] = ()  # words of lines that hang on the machine, like "a move takes"


def read_figures(docs: Path) -> list[Figure]:
    """All figures that the list in a folder tells of."""
    path = docs / LIST
    if not path.is_file():
        raise TapeteError(f"there is no {path}; --docs names the folder of the documentation")
    try:
        rows = tomllib.loads(path.read_text())["figure"]
        return [Figure(**{key: _plain(value) for key, value in row.items()}) for row in rows]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise TapeteError(f"{path} is not a list of figures: {error}") from None


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def missing(figure: Figure, docs: Path) -> Iterator[str]:
    """What should be on the page and isn't: the command, and what it shows."""
    path = docs / figure.page
    if not path.is_file():
        raise TapeteError(f"there is no page {path}")
    text = _spaced(path.read_text())
    for part in (figure.command, *figure.shows):
        if _spaced(part) not in text:
            yield part


def differences(figure: Figure, docs: Path) -> list[str]:
    """Runs the command again: the lines that it prints and the page lacks, or what it no longer prints."""
    printed = run(figure.command)
    if figure.shows:
        return [f"no longer printed: {part}" for part in figure.shows if _spaced(part) not in _spaced(printed)]
    text = _spaced((docs / figure.page).read_text())
    lines = [line for line in printed.splitlines() if line.strip() and not any(word in line for word in figure.clock)]
    return [f"printed now: {line.strip()}" for line in lines if _spaced(line) not in text]


def run(command: str) -> str:
    """What a command prints, run by this Python with an empty store; what it does to the machine's own is nothing."""
    program, *arguments = shlex.split(command)
    if program != "tapete":
        raise TapeteError(f"only commands of tapete are run again, not {command!r}")
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"XDG_DATA_HOME": home, "COLUMNS": "500"}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "tapete", *arguments],
                env=environment,
                cwd=Path(__file__).parents[2],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise TapeteError(f"{command} took longer than {PATIENCE} s") from None
    return done.stdout + (done.stderr if done.returncode else "")


def _spaced(text: str) -> str:
    """The same with one blank wherever there are some."""
    return re.sub(r"\s+", " ", text).strip()
