"""The table of a matrix game is the table of payoffs."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tapete.core.scene import Board, Note, Part, Place, Score
from tapete.core.spec import Spec
from tapete.games.matrix.notation import choice_name, chosen
from tapete.games.matrix.spec import payoffs_at


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """The payoffs, who has chosen (and what, to those who know), and in the end what both get."""
    rows, columns = spec.labels
    is_over = chosen(s) == 2
    yield Board(
        name="payoffs",
        kind="number",
        rows=rows,
        columns=columns,
        cells=tuple(cell_text(spec, *cell) for cell in product(range(len(rows)), range(len(columns)))),
        last=int(s["choice"][0]) * len(columns) + int(s["choice"][1]) if is_over else None,
    )
    whose = "seat 0" if spec.zero_sum else "seat 0, then to seat 1"
    yield Note(name="table", text=f"payoffs to {whose}; rows: seat 0, columns: seat 1")
    for chooser in range(chosen(s)):
        is_open = seat in (chooser, None) or is_over
        text = choice_name(spec, s, chooser) if is_open else "in secret"
        yield Note(name=f"seat {chooser} chose", text=text)
    if is_over:
        yield Score(name="payoff", values=payoffs_at(spec, *s["choice"]))


def cell_text(spec: Spec, row: int, column: int) -> str:
    """Payoffs of a cell; in zero-sum games what the first seat gets says it all."""
    first, second = payoffs_at(spec, row, column)
    return f"{first:g}" if spec.zero_sum else f"{first:g}, {second:g}"


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """A row or a column is no single cell: all choices are buttons."""
    return None
