"""A table of payoffs from a file, JSON or plain text. Whatever is wrong with it is told in one line."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tapete.core.errors import TapeteError
from tapete.core.files import read_text
from tapete.games.matrix.spec import MOST_CELLS

LONGEST_FILE = 1_000_000  # bytes
LONGEST_NAME = 40
LARGEST_PAYOFF = 1e12  # so that sums of payoffs stay exact enough, and finite
KEYS = ("rows", "columns", "payoffs")


class PayoffFile(NamedTuple):
    """What a file tells, checked."""

    rows: list[str]
    columns: list[str]
    cells: list[list[Any]]  # a number each, or a pair each


def read_payoffs(path: str) -> PayoffFile:
    """The table in a file."""
    text = read_text(path, LONGEST_FILE)
    try:
        names, cells = _from_json(text) if text.lstrip().startswith("{") else ({}, _from_lines(text))
        return check_payoffs(cells, names.get("rows"), names.get("columns"))
    except TapeteError as error:
        raise TapeteError(f"{path!r} is not a table of payoffs: {error}") from None


def check_payoffs(cells: Any, rows: Any, columns: Any) -> PayoffFile:
    """The table that these lists are, with names where there are none."""
    _check_shape(cells)
    _check_cells(cells)
    return PayoffFile(_names(rows, "rows", len(cells)), _names(columns, "columns", len(cells[0])), cells)


def _from_json(text: str) -> tuple[dict[str, Any], Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise TapeteError("the JSON in it is broken") from None
    if unknown := sorted(data.keys() - set(KEYS)):
        raise TapeteError(f"it has {unknown[0][:LONGEST_NAME]!r}; the keys are {', '.join(KEYS)}")
    return data, data.get("payoffs")


def _from_lines(text: str) -> list[list[Any]]:
    """A row a line, cells `a` or `a,b` with blanks between them."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return [[_from_word(word) for word in row] for row in rows]


def _from_word(word: str) -> Any:
    try:
        numbers = [float(part) for part in word.split(",")]
    except ValueError:
        return None
    return numbers if len(numbers) > 1 else numbers[0]


def _check_shape(cells: Any) -> None:
    if not isinstance(cells, list) or not all(isinstance(row, list) for row in cells):
        raise TapeteError("payoffs must be a list of rows, and a row a list of cells")
    if not cells or not cells[0]:
        raise TapeteError("it is empty")
    for i, row in enumerate(cells, start=1):
        if len(row) != len(cells[0]):
            raise TapeteError(f"row {i} has {len(row)} cells, row 1 has {len(cells[0])}")
    if len(cells) * len(cells[0]) > MOST_CELLS:
        raise TapeteError(f"it has {len(cells)} x {len(cells[0])} cells, more than {MOST_CELLS}")


def _check_cells(cells: list[list[Any]]) -> None:
    for i, row in enumerate(cells, start=1):
        for j, cell in enumerate(row, start=1):
            if not _is_payoff(cell) and not _is_pair(cell):
                raise TapeteError(f"row {i}, column {j} must be a number or a pair of numbers up to {LARGEST_PAYOFF:g}")
    if len({isinstance(cell, list) for row in cells for cell in row}) > 1:
        raise TapeteError("some cells are single numbers and some are pairs")


def _is_payoff(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= LARGEST_PAYOFF  # which NaN and infinity are not


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_payoff, value))


def _names(given: Any, key: str, count: int) -> list[str]:
    """The names as single words; without any, r1, r2, ... and c1, c2, ..."""
    if given is None:
        return [f"{key[0]}{i}" for i in range(1, count + 1)]
    if not isinstance(given, list) or len(given) != count or not all(isinstance(name, str) for name in given):
        raise TapeteError(f"{key} must be a list of {count} names")
    words = ["-".join(name.split()) for name in given]
    for word in words:
        # A colon ends the name of the game where a state is written as text.
        if not 0 < len(word) <= LONGEST_NAME or not word.isprintable() or ":" in word:
            raise TapeteError(f"a name must have 1 to {LONGEST_NAME} letters, and no colon: {word[:LONGEST_NAME]!r}")
    if len({word.lower() for word in words}) < count:
        raise TapeteError(f"two of the {key} have the same name")
    return words
