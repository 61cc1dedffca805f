"""Who sits where in the games of a deal."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tapete.core import Game, TapeteError

SIDES = "AB"


def lineups_of(game: Game) -> tuple[str, ...]:
    """The lineups of a game where nobody says otherwise.

    A takes each team in turn, copies of B the others. Where everybody plays for himself, a seat is a team. Where teams
    are found in play, as by an auction, A is alone on each seat in turn, and then B is.

    >>> from tapete.core import make
    >>> [",".join(lineups_of(make(name))) for name in ("kuhn", "doudizhu", "doudizhu(bidding=true)")]
    ['AB,BA', 'ABB,BAA', 'ABB,BAB,BBA,BAA,ABA,AAB']
    """
    alone = rotations(game.players)
    if not game.spec.teams:
        return alone
    teams = game.start().teams
    if all(teams):
        return tuple("".join("A" if team == ours else "B" for team in teams) for ours in dict.fromkeys(teams))
    return alone + tuple(lineup.translate({65: "B", 66: "A"}) for lineup in alone)


def rotations(players: int) -> tuple[str, ...]:
    """A on each seat in turn.

    >>> rotations(3)
    ('ABB', 'BAB', 'BBA')
    """
    return tuple("B" * seat + "A" + "B" * (players - 1 - seat) for seat in range(players))


def check_lineups(game: Game, lineups: Sequence[str]) -> tuple[str, ...]:
    """Refuses lineups by which an agent would not be even with itself."""
    right = f"write them like {','.join(lineups_of(game))}"
    for lineup in lineups:
        if len(lineup) != game.players or set(lineup) != set(SIDES):
            raise TapeteError(f"{lineup!r} doesn't seat A and B on the {game.players} seats of {game}; {right}")
    for seat in range(game.players):
        weights = (Fraction(1 if x[seat] == "A" else -1, x.count(x[seat])) for x in lineups)
        if sum(weights) != 0:
            raise TapeteError(f"by the lineups {','.join(lineups)}, seat {seat} is not shared out evenly; {right}")
    return tuple(lineups)
