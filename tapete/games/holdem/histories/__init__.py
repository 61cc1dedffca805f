"""Hand histories: what was played, in the files that poker players and their tools use. Both ways.

``pokerstars``  the text that PokerStars writes, of hold'em with fixed limits: `.txt`
``phh``         the Poker Hand History format, of PokerKit's authors: `.phhs`, many hands in a file

Both are read and written hand by hand as :class:`~tapete.games.holdem.histories.hand.Hand`; `of_game` makes one of a
game that was played here. A hand that can't be read, or whose sums are wrong, is a :class:`Problem` with its number and
its line, and the next one is read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TextIO

from tapete.core.errors import TapeteError
from tapete.core.files import replacing
from tapete.games.holdem.histories import phh, pokerstars
from tapete.games.holdem.histories.hand import Act, Hand, Player, Problem, of_game
from tapete.games.holdem.histories.statistics import Book, Statistics, study

__all__ = [
    "Act",
    "Book",
    "Hand",
    "Player",
    "Problem",
    "Statistics",
    "format_of",
    "of_game",
    "read",
    "study",
    "write",
    "writing",
]

LONGEST_LINE = 1 << 16  # characters that are read of a line
FORMATS: dict[str, ModuleType] = {".txt": pokerstars, ".phh": phh, ".phhs": phh}


def format_of(path: Path) -> ModuleType:
    """The module for a file, by how its name ends."""
    if path.suffix.lower() not in FORMATS:
        raise TapeteError(f"{path} should end in .txt (PokerStars) or .phhs (PHH): that says how hands are written")
    return FORMATS[path.suffix.lower()]


@contextmanager
def writing(path: Path) -> Iterator[Callable[[Hand], None]]:
    """A function that writes a hand to a file, which has all of them at the end, or is left as it was."""
    form = format_of(path)
    try:
        with replacing(path) as draft, draft.open("w", encoding="utf-8") as file:

            def put(hand: Hand) -> None:
                file.write(form.text_of(hand))

            yield put
    except OSError as error:
        raise TapeteError(f"can't write {path}: {error.strerror}") from None


def write(path: Path, hands: Iterable[Hand]) -> int:
    """Writes hands to a file, all of them or none; how many there were."""
    count = 0
    with writing(path) as put:
        for count, hand in enumerate(hands, 1):  # noqa: B007
            put(hand)
    return count


def read(path: Path | str, problem: Callable[[Problem], None] | None = None) -> Iterator[Hand]:
    """Reads the hands of a file one by one; what is wrong with one is told to `problem`, and the rest is read.

    Without `problem`, it is a warning.
    """
    path, tell = Path(path), problem or _warn
    form = format_of(path)
    if not path.is_file():
        raise TapeteError(f"there is no file {path}")
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline=None) as file:
            yield from form.hands_in(_lines(file), tell)
    except OSError as error:
        raise TapeteError(f"can't read {path}: {error.strerror}") from None


def _warn(problem: Problem) -> None:
    warnings.warn(str(problem), stacklevel=2)


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file, of which those that are far too long are cut: a file of noise may be one line."""
    while line := file.readline(LONGEST_LINE):
        yield line
        while len(line) == LONGEST_LINE and not line.endswith("\n"):
            line = file.readline(LONGEST_LINE)
