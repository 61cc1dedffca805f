"""What is played before the flop: a table for each position, read from the text files of this folder.

A table gives each of the 169 starting hands a class, and a class says what is done by how many bets stand: one (the big
blind), two, three or four. The study's seven classes, from the weakest hands to the strongest::

    number      0     1     2     3     4     5     6
    answers   FFFF  CFFF  CCFF  RFFF  RCFF  RRCC  RRRC      F fold (check where that is free), C call, R raise

A file is thirteen rows of thirteen numbers, aces first; suited hands stand above the diagonal, others below it. Lines
that begin with # are comments. Files in another folder, by the same names, are another way to play: `read_tables`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.compile import helper
from tapete.core.errors import TapeteError
from tapete.core.files import read_text
from tapete.games.holdem.ranks import RANKS

CLASSES = ("FFFF", "CFFF", "CCFF", "RFFF", "RCFF", "RRCC", "RRRC")
ANSWERS = np.array([["FCR".index(answer) for answer in row] for row in CLASSES], dtype=np.int8)  # [class, bets - 1]
TABLES = ("small-blind", "big-blind", "early", "sixth", "seventh", "eighth", "ninth", "dealer")
SMALL_BLIND, BIG_BLIND, EARLY, SIXTH, SEVENTH, EIGHTH, NINTH, DEALER = range(8)
STARTS = 13 * 13
FOLDER = Path(__file__).parent
LONGEST_FILE = 1 << 16  # bytes


@helper
def start_of(a: Any, b: Any) -> Any:
    """Which of the 169 starting hands two cards are: row and column in a table."""
    high, low = max(a % 13, b % 13), min(a % 13, b % 13)
    if a // 13 == b // 13:
        return np.int64((12 - high) * 13 + 12 - low)
    return np.int64((12 - low) * 13 + 12 - high)


def start_name(start: int) -> str:
    """How a starting hand is written: AA, AKs (suited), AKo."""
    row, column = divmod(start, 13)
    ranks = RANKS[12 - min(row, column)] + RANKS[12 - max(row, column)]
    return ranks + ("" if row == column else "s" if row < column else "o")


def table_of(seat: int, players: int) -> int:
    """Which table a seat plays by: the blinds, the dealer, and the others counted back from him.

    >>> [table_of(seat, 10) for seat in range(10)]
    [0, 1, 2, 2, 2, 3, 4, 5, 6, 7]
    """
    if players == 2:
        return DEALER if seat == 0 else BIG_BLIND
    return seat if seat < 2 else max(EARLY, DEALER - (players - 1 - seat))


@cache
def read_tables(folder: Path = FOLDER) -> NDArray[np.uint8]:
    """[8, 169] classes, from the files of a folder."""
    return np.stack([_read_table(folder / f"{name}.txt") for name in TABLES])


def _read_table(path: Path) -> NDArray[np.uint8]:
    lines = [line.split() for line in read_text(path, LONGEST_FILE).splitlines() if not line.startswith("#")]
    rows = [line for line in lines if line]
    if len(rows) != 13 or any(len(row) != 13 for row in rows):
        raise TapeteError(f"{path} is not a table: it should have 13 rows of 13 classes")
    for number, row in enumerate(rows, 1):
        if any(not entry.isdigit() or int(entry) >= len(CLASSES) for entry in row):
            raise TapeteError(f"{path} is not a table: row {number} has other things than classes, 0 to 6")
    return np.array(rows, dtype=np.uint8).reshape(-1)
