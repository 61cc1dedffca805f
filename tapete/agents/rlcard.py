"""Rule-based players of RLCard (Zha et al. 2020), as a yardstick: other people's code, from the extra `peers`."""

from __future__ import annotations

import importlib.util
from functools import cached_property
from threading import Lock
from types import SimpleNamespace
from typing import Any

from tapete.agents import NotForThisGame, Policy
from tapete.core import Game, Rng, TapeteError, Thought, View

_one_at_a_time = Lock()  # the rules of all tables draw from what is a module's own there


class DouDizhuRules:
    """RLCard's rule model of Dou Dizhu: leads what its lowest card is part of, answers with the lowest that beats."""

    @cached_property
    def models(self) -> Any:
        """RLCard's own module. It imports PyTorch, which takes seconds: not before somebody plays."""
        return importlib.import_module("rlcard.models.doudizhu_rule_models")

    @cached_property
    def rules(self) -> Any:
        """RLCard's own player."""
        return self.models.DouDizhuRuleAgentV1()

    def think(self, view: View, rng: Rng) -> Thought:
        """The move that the rules make; what they draw, they draw from `rng`."""
        moves = {view.write(action): action for action in view.actions()}
        with _one_at_a_time:
            self.models.np = SimpleNamespace(random=SimpleNamespace(choice=rng.choice))
            move = self.rules.step({"raw_obs": _seen(view, list(moves))})
        if move not in moves:
            raise TapeteError(f"RLCard's rules want to play {move!r}, which can't be played here ({view})")
        return Thought(probabilities={action: float(text == move) for text, action in moves.items()})


def _seen(view: View, moves: list[str]) -> dict[str, Any]:
    """What RLCard tells its agents: hand, last moves, legal moves, who is who."""
    from tapete.games.doudizhu.notation import hand_text, trace

    s = view.game.record(view._world)
    return {
        "current_hand": hand_text(s, view.seat),
        "trace": trace(s),
        "actions": moves,
        "landlord": int(s["landlord"]),
        "self": view.seat,
    }


def rlcard(game: Game) -> Policy:
    """RLCard's rule-based player; needs `pip install 'tapete[peers]'`."""
    if not game.package.endswith(".doudizhu") or game.spec.parameters.get("bidding"):
        raise NotForThisGame(f"RLCard has no rules for {game}; they are for doudizhu")
    if importlib.util.find_spec("rlcard") is None:
        raise NotForThisGame("rlcard is not installed: pip install 'tapete[peers]'")
    return DouDizhuRules()


AGENTS = (rlcard,)
