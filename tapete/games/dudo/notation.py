"""Rolls are the faces, lowest first: `1-3-6`. A claim of two fives is `2x5`; the call is `dudo`."""

from collections.abc import Iterator
from typing import Any

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.spec import Spec
from tapete.games.dudo.rolls import FIRST, roll_faces


def roll_name(row: int) -> str:
    """The dice of a roll, by its row in the tables."""
    return "-".join(map(str, roll_faces(row)))


def claim_name(faces: int, claim: int) -> str:
    """A claim as it is written."""
    return f"{claim // faces + 1}x{claim % faces + 1}"


def claims_made(s: Any) -> list[int]:
    """The claims of this round, in order."""
    return [claim for claim in range(s["dudo"]) if int(s["claims"][claim >> 6]) >> (claim & 63) & 1]


def last_round(s: Any) -> str:
    """How the round before this one ended; empty in the first."""
    if s["doubted"] < 0:
        return ""
    rolls = " and ".join(roll_name(row) for row in s["shown"])
    return f"{claim_name(int(s['faces']), int(s['doubted']))} was doubted, dice {rolls}: seat {s['starter']} lost a die"


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """How a round ends: the dice of both, and who lost one."""
    if before["player"] >= 0 and s["dice"].sum() < before["dice"].sum():
        dice = ", ".join(f"seat {seat} had {roll_name(row)}" for seat, row in enumerate(s["shown"]))
        claim = claim_name(int(s["faces"]), int(s["doubted"]))
        yield f"{dice}: {claim} was {'wrong' if s['starter'] != before['player'] else 'right'}"
        yield f"seat {s['starter']} lost a die"


def whose_round(s: Any) -> str:
    """Who starts this round."""
    return "the game is over" if s["player"] == TERMINAL else f"seat {s['starter']} starts"


def write(spec: Spec, s: Any, action: int) -> str:
    """A roll as chance makes it, or a move."""
    if s["player"] == CHANCE:
        seat = int(s["roll"][0] != 0)
        return roll_name(int(FIRST[s["dice"][seat]]) + action)
    return "dudo" if action == s["dudo"] else claim_name(int(s["faces"]), action)


def describe(spec: Spec, s: Any, seat: int) -> str:
    """Dice left, the seat's own roll, who has rolled, the claims of this round, and how the one before it ended."""
    own, other = s["dice"][seat], s["dice"][1 - seat]
    rolled = int((s["roll"] != 0).sum())
    claims = " ".join(claim_name(int(s["faces"]), claim) for claim in claims_made(s))
    return (
        f"seat {seat}, dice {own} against {other}, roll {roll_name(s['roll'][seat]) or 'none'}, {rolled} rolled, "
        f"{whose_round(s)}, claims: {claims or 'none'}; last round: {last_round(s) or 'none'}"
    )
