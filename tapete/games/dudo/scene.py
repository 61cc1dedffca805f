"""The table of Dudo: dice under each cup, a grid of claims, and the dice that were shown last."""

from collections.abc import Iterator
from typing import Any

from tapete.core.scene import Board, Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.dudo.notation import claim_name, claims_made
from tapete.games.dudo.rolls import roll_faces


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """Dice, claims in a grid of quantities and faces, and how the last round ended."""
    for owner in range(2):
        if s["roll"][owner]:
            roll = dice_faces(s["roll"][owner])
            is_open = seat in (owner, None)
            yield Things(name="dice", kind="die", faces=roll if is_open else ("",) * len(roll), owner=owner)
    yield Score(name="dice left", values=tuple(float(dice) for dice in s["dice"]))
    claims = claims_made(s)
    yield claim_grid(s, claims)
    waits = f"{claim_name(int(s['faces']), claims[-1])} waits for an answer" if claims else ""
    yield Note(name="claim", text=waits)
    if s["doubted"] >= 0:
        for owner in range(2):
            yield Things(name="last round", kind="die", faces=dice_faces(s["shown"][owner]), owner=owner)


def dice_faces(row: int) -> tuple[str, ...]:
    """A roll as things on a table."""
    return tuple(map(str, roll_faces(row)))


def claim_grid(s: Any, claims: list[int]) -> Board:
    """A cell for each claim that can be made with the dice in play, with a mark on those that were made."""
    quantities = range(1, int(s["dice"].sum()) + 1)
    return Board(
        name="claims",
        kind="number",
        rows=tuple(f"{quantity}x" for quantity in quantities),
        columns=tuple(str(face + 1) for face in range(s["faces"])),
        cells=tuple("●" if claim in claims else "" for claim in range(len(quantities) * s["faces"])),
        last=claims[-1] if claims else None,
    )


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """A claim is made on its cell of the grid; dudo is a button."""
    return None if action == s["dudo"] else Place(part="claims", index=action)
