"""How good a policy is while it learns: exactly where its game can be played out, else in games against random play."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError
from tapete.core.players import random
from tapete.core.thought import AnyPolicy, BatchPolicy, Mixture
from tapete.learn.buffers import numpy_generator
from tapete.learn.episodes import Act, Moment, play_games, self_play_tables
from tapete.learn.run import Evaluate
from tapete.solve.examiner import Examiner

ENDS = 1_000_000  # ways to end of a game that is played out
GAMES = 512  # against random play, on each seat


def evaluation(game: Game) -> Evaluate:
    """What `Run.evaluate` calls. The game is played out when that is called first: some learners never do.

    ``exploitability``  what both best responses gain, added up (NashConv), in units of payoff
    ``value``           what the policy gains on seat 0 against itself
    ``against_random``  where the game is too large for that: what a seat gains on the average, when all others play at
                        random, with ``error``, one standard error of it
    """

    @cache
    def examiner() -> Examiner | None:
        try:
            return Examiner(game, limit=ENDS)
        except TapeteError:  # too large, or not a game of two players and no sum
            return None

    def evaluate(policy: AnyPolicy) -> dict[str, float]:
        found = examiner()
        if found is None:
            return against_random(game, policy)
        proof = found.prove(policy)
        return {"exploitability": proof.exploitability, "value": proof.value}

    return evaluate


def against_random(game: Game, policy: AnyPolicy, games: int = GAMES, seed: int = 1) -> dict[str, float]:
    """Plays so many games on each seat, the same deals every time."""
    gains = []
    for seat in range(game.players):
        rng = Rng(seed, "against random", seat)
        tables = self_play_tables(
            game, games, rng, [None if other == seat else random for other in range(game.players)]
        )
        gains.append(play_games(tables, acting(policy, seat, games, rng)).payoffs[:, seat])
    together = np.concatenate(gains)
    return {"against_random": float(together.mean()), "error": float(together.std() / np.sqrt(len(together)))}


def acting(policy: AnyPolicy, seat: int, games: int, rng: Rng) -> Act:
    """Plays a policy on a seat of so many games."""
    return _mixed(policy, seat, games, rng) if isinstance(policy, Mixture) else _drawn(policy, rng)


def _drawn(policy: BatchPolicy, rng: Rng) -> Act:
    """Draws moves by a policy."""
    draws = numpy_generator(rng)

    def act(moment: Moment) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        weights = np.cumsum(policy(moment.seen, moment.mask), axis=1, dtype=np.float64)
        left = draws.random((len(weights), 1)) * weights[:, -1:]
        return (weights > left).argmax(axis=1), {}

    return act


def _mixed(mixture: Mixture, seat: int, games: int, rng: Rng) -> Act:
    """Draws a policy before every game, and moves by it."""
    drawn = numpy_generator(rng.spawn("policy")).choice(len(mixture.weights), size=games, p=mixture.weights)
    acts = [_drawn(policy, rng.spawn(number)) for number, policy in enumerate(mixture.seats[seat])]

    def act(moment: Moment) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        actions = np.zeros(len(moment.games), dtype=np.int64)
        for number in np.unique(drawn[moment.games]):
            own = drawn[moment.games] == number
            actions[own] = acts[number](Moment(*(column[own] for column in moment)))[0]
        return actions, {}

    return act
