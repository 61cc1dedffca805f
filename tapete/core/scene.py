"""A view of a game as the things that lie on a table: plain data that a terminal or a browser can draw.

A scene names things, not pixels. Faces are short codes that each kind of thing has its own drawing for:
``spanish`` "1e" (ace of espadas), ``french`` "Ah", ``domino`` "3-4", ``die`` "5", ``disc`` "black". An empty face is a
thing that lies face down, or an empty square of a board.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Things:
    """A row of things of one kind: a hand, a pile, dice under a cup, dominoes laid in a line."""

    name: str
    kind: str
    faces: tuple[str, ...]
    owner: int | None = None


@dataclass(frozen=True, kw_only=True)
class Board:
    """A grid: squares with discs on them, or the payoffs of a matrix."""

    name: str
    kind: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[str, ...]  # row by row
    last: int | None = None  # the cell of the last move


@dataclass(frozen=True, kw_only=True)
class Score:
    """A number a seat: points, chips, dice left."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something to say: a bet that waits for an answer, the size of the pot."""

    name: str
    text: str
    owner: int | None = None  # whose knowledge it is, where it is not everybody's: so it is never shared


Part = Things | Board | Score | Note


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where on the table a move is made: the index-th thing of a part. A move without a place is a button."""

    part: str
    index: int


@dataclass(frozen=True, kw_only=True)
class Move:
    """A legal move of the seat that looks."""

    action: int
    text: str  # in notation: what a person types
    place: Place | None = None


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What one seat sees; with seat None, everything."""

    seat: int | None
    player: int
    parts: tuple[Part, ...]
    moves: tuple[Move, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data; each part says what it is under "is"."""
        return {
            "seat": self.seat,
            "player": self.player,
            "parts": [{**vars(part), "is": type(part).__name__.lower()} for part in self.parts],
            "moves": [{**vars(move), "place": dict(vars(move.place)) if move.place else None} for move in self.moves],
        }
