"""The table of dominó: two hands, the line, and the boneyard."""

from collections.abc import Iterator
from typing import Any

from tapete.core.scene import Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.domino.notation import hand_faces, happening, line_faces
from tapete.games.domino.state import OVER
from tapete.games.domino.tiles import POINTS, tile_name, tiles_of


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """Hands, line and boneyard, what happens next, and at the end the points."""
    for owner in range(2):
        yield Things(name="hand", kind="domino", faces=hand_faces(s, owner, seat), owner=owner)
    yield Things(name="line", kind="domino", faces=tuple(line_faces(s)))
    boneyard = tiles_of(s["boneyard"])
    yield Things(name="boneyard", kind="domino", faces=tuple(tile_name(t) if seat is None else "" for t in boneyard))
    yield Note(name="turn", text=happening(s))
    if s["stage"] == OVER:
        yield Score(name="points in hand", values=tuple(float(POINTS[tiles_of(hand)].sum()) for hand in s["hand"]))


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """A tile is laid from the hand and taken from the boneyard; to pass is a button."""
    lays = 2 * int(s["tiles"])
    if action < lays:
        return Place(part="hand", index=tiles_of(s["hand"][s["turn"]]).index(action // 2))
    return Place(part="boneyard", index=0) if action == lays else None
