"""Tiles are written `3-4`; laid, `3-4<` or `3-4>` for the left or right end of the line, and `3-4` for the first one.

The other moves are `take` and `pass`.
"""

from collections.abc import Iterator
from typing import Any

from tapete.core.spec import Spec
from tapete.games.domino.state import DEAL, GIVE, LEFT, OVER
from tapete.games.domino.tiles import TILES, tile_name, tiles_of


def write(spec: Spec, s: Any, action: int) -> str:
    """A tile as chance gives it, or a move."""
    if s["stage"] in (DEAL, GIVE):
        return tile_name(action)
    lays = 2 * int(s["tiles"])
    if action >= lays:
        return "take" if action == lays else "pass"
    tile, end = divmod(action, 2)
    return tile_name(tile) + ("" if s["length"] == 0 else "<>"[end])


def describe(spec: Spec, s: Any, seat: int) -> str:
    """The own hand, the line, how many tiles lie elsewhere, and what happens next; at the end, the other's hand."""
    other = 1 - seat
    text = (
        f"seat {seat}, hand {' '.join(hand_faces(s, seat, seat)) or 'empty'}, line {' '.join(line_faces(s)) or 'empty'}"
    )
    text += f", other hand {len(tiles_of(s['hand'][other]))}, boneyard {len(tiles_of(s['boneyard']))}, {happening(s)}"
    return text + (f", shown: {' '.join(hand_faces(s, other, seat)) or 'empty'}" if s["stage"] == OVER else "")


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """How the game ends."""
    if s["stage"] == OVER:
        out = [seat for seat in range(2) if not s["hand"][seat]]
        yield f"seat {out[0]} laid the last tile" if out else "the line is blocked"


def happening(s: Any) -> str:
    """What happens next."""
    return (
        "tiles are dealt",
        f"seat {s['turn']} to move",
        f"seat {s['turn']} takes a tile",
        f"a tile was taken, seat {s['turn']} to move",
        "the game is over",
    )[s["stage"]]


def hand_faces(s: Any, owner: int, seat: int | None) -> tuple[str, ...]:
    """The tiles of a hand as a seat sees them (None: all open); an empty face lies face down."""
    has_looked = s["given"] >= s["each"] * (owner + 1)  # nobody looks before he has all his tiles
    is_open = seat is None or (seat == owner and has_looked) or s["stage"] == OVER
    return tuple(tile_name(tile) if is_open else "" for tile in tiles_of(s["hand"][owner]))


def line_faces(s: Any) -> list[str]:
    """The tiles on the table from left to right, turned as they lie."""
    line: list[tuple[int, int]] = []
    for lay in s["line"][: s["length"]]:
        tile, end = divmod(int(lay), 2)
        low, high = TILES[tile]
        if not line:
            line.append((low, high))
        elif end == LEFT:
            line.insert(0, (low, high) if high == line[0][0] else (high, low))
        else:
            line.append((low, high) if low == line[-1][1] else (high, low))
    return [f"{left}-{right}" for left, right in line]
