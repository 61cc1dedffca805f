"""How fast pattern tables judge positions of Othello on one core, beside the plain way to look them up."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.agents.networks import shipped
from tapete.bench import Case, Row, Work, measure
from tapete.core import Game, Rng, make
from tapete.core.compile import (
    DOUBLES,
    FLOATS,
    INTS,
    LONGS,
    WORDS,
    float32_ptr,
    float64_ptr,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import RULEBOOK, open_rules
from tapete.core.evaluator import open_evaluator
from tapete.nets.ntuple import NTuple
from tapete.nets.patterns import symmetries

POSITIONS = 2000
STATES = types.uint8[:, ::1]


def run(*, rivals: bool, case: str, seconds: float) -> Iterator[Row]:
    """Measures every case, in seconds of a core."""
    return measure("ntuple", cases(), rivals=rivals, case=case, seconds=seconds, clock=time.thread_time)


def cases() -> list[Case]:
    """A position alone, and with all its moves."""
    plain = (("square by square", plain_positions),)
    return [
        Case("a position", partial(positions, priors=False), plain),
        Case("a position and its moves", partial(positions, priors=True)),
    ]


def _states(game: Game) -> NDArray[np.uint8]:
    """Positions with a choice, from all stages of the game."""
    rng, found = Rng(1), list[NDArray[np.uint8]]()
    while len(found) < POSITIONS:
        state = game.start()
        for _ in range(rng.below(56)):
            if not state.over:
                state.apply(rng.choice(state.actions()))
        if len(state.actions()) > 1:
            found.append(state.data)
    return np.array(found)


def positions(*, priors: bool) -> Work:
    """Positions that the evaluator of a search judges, one after another."""
    game = make("othello")
    states, evaluator = _states(game), NTuple.load(shipped(game, "ntuple")).evaluator(game, priors=priors)
    room = (np.zeros(game.spec.max_actions, dtype=np.int32), np.zeros(2), np.zeros(game.spec.max_actions, np.float32))

    def work(rounds: int) -> int:
        for _ in range(rounds):
            _evaluate(game.rulebook, states, evaluator.address, evaluator.model, priors, *room)
        return rounds * len(states)

    return work


def plain_positions() -> Work:
    """The same values, found as the definition has it: pattern by pattern, square by square."""
    game = make("othello")
    network, states = NTuple.load(shipped(game, "ntuple")), _states(game)
    copies: list[NDArray[np.int64]] = []
    for pattern in network.patterns:
        orders = (order[list(pattern)] for order in symmetries(network.size))
        copies += {frozenset(copy.tolist()): copy for copy in orders}.values()
    squares, ends = np.concatenate(copies), np.cumsum([len(copy) for copy in copies])
    observation = np.zeros(game.spec.observation_size, dtype=np.float32)

    def work(rounds: int) -> int:
        for _ in range(rounds):
            _evaluate_plainly(
                game.rulebook, states, squares, ends, network.layout.offsets, network.weights, observation
            )
        return rounds * len(states)

    return work


@kernel(types.void(RULEBOOK, STATES, types.uint64, WORDS, types.boolean, INTS, DOUBLES, FLOATS))
def _evaluate(
    rulebook: Any, states: Any, address: Any, model: Any, has_priors: bool, legal: Any, values: Any, priors: Any
) -> None:
    rules, evaluate = open_rules(rulebook), open_evaluator(address)
    state = np.empty_like(states[0])
    for i in range(len(states)):
        state[:] = states[i]
        p, moves, opinion = state_ptr(state), int32_ptr(legal), float32_ptr(priors)
        n = rules.actions(p, moves) if has_priors else 0
        words = uint64_ptr(model)
        evaluate(uint64_ptr(rulebook), p, rules.player(p), moves, n, words, words, float64_ptr(values), opinion)


@kernel(types.float64(RULEBOOK, STATES, LONGS, LONGS, LONGS, types.float32[:, ::1], FLOATS))
def _evaluate_plainly(
    rulebook: Any, states: Any, squares: Any, ends: Any, offsets: Any, weights: Any, observation: Any
) -> float:
    rules, size = open_rules(rulebook), 64
    values = 0.0
    for i in range(len(states)):
        p = state_ptr(states[i])
        rules.observe(p, rules.player(p), float32_ptr(observation))
        discs = 0
        for square in range(2 * size):
            discs += int(observation[square])
        phase, total, first = discs * len(weights) // (size + 1), 0.0, 0
        for copy in range(len(ends)):
            index, power = 0, 1
            for at in range(first, ends[copy]):
                index += power * int(observation[squares[at]] + 2 * observation[size + squares[at]])
                power *= 3
            total += weights[phase, offsets[copy] + index]
            first = ends[copy]
        values += math.tanh(total)
    return values
