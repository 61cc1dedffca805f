"""Rule-based players of RLCard (Zha et al. 2020), as a yardstick: other people's code, from the extra `peers`."""

from __future__ import annotations

import importlib.util
from functools import cached_property
from threading import Lock
from types import SimpleNamespace
from typing import Any

from tapete.agents import NotForThisGame, Policy
from tapete.core import Game, Rng, TapeteError, Thought, View, choices
from tapete.games.holdem.notation import CALL, FOLD, RAISE, board_faces, hand_faces

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
        moves = {view.write(action): action for action in choices(view)}
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


class HoldemRules:
    """RLCard's rule model of limit hold'em: raises with pairs and high cards, and later where the board fits them."""

    @cached_property
    def rules(self) -> Any:
        """RLCard's own player; PyTorch comes with it, too."""
        return importlib.import_module("rlcard.models.limitholdem_rule_models").LimitholdemRuleAgentV1()

    def think(self, view: View, rng: Rng) -> Thought:
        """The move that the rules make; a fold that costs nothing is a check, a raise too many a call."""
        legal, s = choices(view), view.game.record(view._world)
        words = {CALL: "call" if FOLD in legal else "check", RAISE: "raise", FOLD: "fold"}
        cards, board = (
            [card[1].upper() + card[0] for card in cards]
            for cards in (hand_faces(s, view.seat, view.seat), board_faces(s, view.seat))
        )
        seen = {
            "raw_legal_actions": ["fold", *(words[action] for action in legal if action != FOLD)],
            "raw_obs": {"hand": cards, "public_cards": board},
        }
        said = self.rules.step(seen)
        move = {word: action for action, word in words.items()}.get(said, CALL)
        chosen = move if move in legal else CALL
        return Thought(probabilities={action: float(action == chosen) for action in legal})


def rlcard(game: Game) -> Policy:
    """RLCard's rule-based player; needs `pip install 'tapete[peers]'`."""
    name = game.package.rpartition(".")[2]
    if name not in ("doudizhu", "holdem") or game.spec.parameters.get("bidding"):
        raise NotForThisGame(f"RLCard has no rules for {game}; they are for doudizhu and holdem")
    if importlib.util.find_spec("rlcard") is None:
        raise NotForThisGame("rlcard is not installed: pip install 'tapete[peers]'")
    return DouDizhuRules() if name == "doudizhu" else HoldemRules()


AGENTS = (rlcard,)
