"""How fast the rules are: random play on one core, through the contract, beside every peer that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types

from tapete.bench import Case, Row, Work, measure, peers
from tapete.core import Game, Rng, make
from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOATS,
    INTS,
    WORDS,
    float32_ptr,
    float64_ptr,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.players import random_play
from tapete.core.rng import below


def run(*, rivals: bool, case: str, seconds: float) -> Iterator[Row]:
    """Measures every case, ours and then each peer's."""
    return measure("sim", cases(), rivals=rivals, case=case, seconds=seconds)


def cases() -> list[Case]:
    """What is measured. A step is a decision or a move of chance; peers deal one card at a time too."""
    openspiel = peers.openspiel
    return [
        Case("matrix rps, games", lambda: games("rps")),
        Case("kuhn, steps", lambda: steps("kuhn"), (("OpenSpiel", lambda: openspiel("kuhn_poker")),)),
        Case("leduc, steps", lambda: steps("leduc"), (("OpenSpiel", lambda: openspiel("leduc_poker")),)),
        Case("dudo(6,1,1), steps", lambda: steps("dudo(6,1,1)"), (("OpenSpiel", lambda: openspiel("liars_dice")),)),
        Case("domino(6,7), decisions", lambda: decisions("domino(6,7)")),
        Case("truco, decisions", lambda: decisions("truco")),
        Case(
            "holdem, steps",
            lambda: steps("holdem"),
            (("OpenSpiel", lambda: openspiel(peers.LIMIT_HOLDEM)), ("RLCard", lambda: peers.rlcard("limit-holdem"))),
        ),
        Case("holdem(players=10), hands", lambda: games("holdem(players=10)")),
        Case("holdem 7-card ranks", peers.our_ranks, (("eval7", peers.eval7), ("phevaluator", peers.phevaluator))),
        Case(
            "doudizhu, decisions",
            lambda: decisions("doudizhu"),
            (("DouZero", peers.douzero), ("RLCard", lambda: peers.rlcard("doudizhu"))),
        ),
        Case("doudizhu observed, decisions", lambda: observed("doudizhu"), (("DouZero", peers.douzero),)),
        Case("doudizhu, games", lambda: games("doudizhu"), (("OpenSpiel", lambda: openspiel("dou_dizhu", "games")),)),
        Case("othello, steps", lambda: steps("othello"), (("OpenSpiel", lambda: openspiel("othello")),)),
    ]


def games(name: str) -> Work:
    """Whole games."""
    game, rng = make(name), Rng(1)
    return lambda rounds: random_play(game, rounds, rng).returns.shape[0]


def steps(name: str) -> Work:
    """Decisions and moves of chance."""
    game, rng = make(name), Rng(1)
    return lambda rounds: random_play(game, rounds, rng).steps


def decisions(name: str) -> Work:
    """Decisions of players, the deals between them included in the time."""
    game, rng = make(name), Rng(1)
    return lambda rounds: random_play(game, rounds, rng).decisions


def observed(name: str) -> Work:
    """Decisions, each with the mover's observation and the features of every legal action."""
    game, rng = make(name), Rng(1)
    return lambda rounds: observed_play(game, rounds, rng)


def observed_play(game: Game, games: int, rng: Rng) -> int:
    """Random games in which everything is written down that a network would be fed; returns the decisions."""
    spec = game.spec
    state = np.zeros(game.size, dtype=np.uint8)
    legal = np.zeros(spec.max_actions, dtype=np.int32)
    observation = np.zeros(spec.observation_size, dtype=np.float32)
    features = np.zeros(spec.max_actions * spec.feature_size, dtype=np.float32)  # [max_actions * feature_size]
    return int(
        _observed_play(
            game.rulebook, state, game.params, legal, observation, features, spec.feature_size, games, rng.words
        )
    )


@kernel(types.int64(RULEBOOK, BYTES, DOUBLES, INTS, FLOATS, FLOATS, types.int64, types.int64, WORDS))
def _observed_play(
    rulebook: Any,
    state: Any,
    params: Any,
    legal: Any,
    observation: Any,
    features: Any,
    width: int,
    games: int,
    words: Any,
) -> int:
    rules = open_rules(rulebook)
    p, rng = state_ptr(state), uint64_ptr(words)
    decisions = 0
    for _ in range(games):
        rules.start(p, float64_ptr(params))
        who = rules.player(p)
        while who != TERMINAL:
            if who == CHANCE:
                rules.apply(p, rules.draw(p, rng))
            else:
                n = rules.actions(p, int32_ptr(legal))
                rules.observe(p, who, float32_ptr(observation))
                for i in range(n):
                    rules.features(p, legal[i], float32_ptr(features[i * width :]))
                rules.apply(p, legal[below(rng, n)])
                decisions += 1
            who = rules.player(p)
    return decisions
