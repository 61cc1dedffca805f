"""A game of Dudo as its rounds: who loses one has a die less and starts the next."""

from typing import Any

from tapete.core.rounds import Exit, Round, Situation
from tapete.core.spec import Spec
from tapete.games.dudo.notation import claim_name, claims_made, roll_name


def first_round(spec: Spec) -> Round | None:
    """The round that is played first; none where the game is one round by its parameters."""
    faces, mine, yours, one_round = (int(value) for value in spec.params[:4])
    if one_round:
        return None
    name = f"dudo({faces},{mine},{yours},one_round=true"
    lost = Exit(game=f"dudo({faces},{mine - 1},{yours})") if mine > 1 else Exit(payoff=-1.0)
    won = Exit(game=f"dudo({faces},{yours - 1},{mine})", swapped=True) if yours > 1 else Exit(payoff=1.0)
    return Round(lambda win, lose: f"{name},win={win!r},lose={lose!r})", (won, lost))


def current_round(spec: Spec, s: Any, seat: int) -> Situation:
    """The game that began with this round, seen from its starter, who is seat 0 there."""
    starter = int(s["starter"])
    order = (starter, 1 - starter)
    dice = ",".join(str(s["dice"][who]) for who in order)
    rolls = [roll_name(int(s["roll"][who])) for who in order]
    claims = [claim_name(int(s["faces"]), claim) for claim in claims_made(s)]
    return Situation(f"dudo({s['faces']},{dice})", " ".join([*rolls, *claims]), order.index(seat))
