"""Testing a compiled player: it is handed the state itself, and must not look at more than its seat may know."""

from __future__ import annotations

import numpy as np

from tapete.core import Game, Rng, make
from tapete.core.evaluator import MakeEvaluator
from tapete.core.players import judge_moves
from tapete.testing.expect import expect


def check_player(player: MakeEvaluator, game: Game | str, *, games: int = 20, seed: int = 0) -> None:
    """Plays random games, and asks the player at every decision what it thinks of the moves.

    Probabilities must be such, must be the same in every world that the seat can't tell from the real one, and asking
    must not change the state.
    """
    game = make(game) if isinstance(game, str) else game
    judge = player()
    for i in range(games):
        rng = Rng(seed, "player", i)
        state = game.start().deal(rng)
        while not state.over:
            seat, legal, before = state.player, state.actions(), state.data.copy()
            said = judge_moves(judge, game, state.data, seat, legal).copy()
            expect(bool((state.data == before).all()), "a player that was asked has changed the state", state)
            sure = bool(np.isfinite(said).all() and (said >= 0).all() and abs(float(said.sum()) - 1) < 1e-3)
            expect(sure, f"{said.tolist()} are not probabilities of {len(legal)} moves", state)
            world = state.view(seat).sample(rng)
            again = judge_moves(judge, game, world.data, seat, legal)
            expect(bool((again == said).all()), f"the player looks at what seat {seat} can't know", state)
            state.apply(rng.choice(legal)).deal(rng)
