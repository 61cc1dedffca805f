"""A network as an evaluator: it judges states inside a search.

The head "value" is what the mover may expect, from -1 to 1, and is scaled to the game's payoffs: values[mover] = v and
values[other] = -v in a game of two players and no sum. In any game it may have one number a seat instead, the mover's
first and then those after it in turn. The head "policy" has a number for each action of the game: how likely the
legal ones are to be right is their softmax. Either may be missing: values are then 0, and moves are not judged. Instead
of "policy" there may be a head "q", which says what each action is worth, so that the best legal one is the right one;
or a head "advantage", the regrets of Deep CFR, with which actions are chosen by regret matching.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import ahead, helper
from tapete.core.contract import open_rules
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator, evaluator, floats_at, longs_at, states_at
from tapete.core.game import Game
from tapete.nets.kernels import Batch, Machine, run
from tapete.nets.network import JUDGES, Network

NONE = -1
SOFTMAX, BEST, MATCHING = range(len(JUDGES))  # how numbers become probabilities

FACTS = np.dtype(
    [
        ("ops", np.int64),  # how many
        ("seen", np.int64),  # numbers in an observation
        ("value", np.int64),  # where the head stands
        ("values", np.int64),  # how many numbers it has
        ("policy", np.int64),  # where the head that judges moves stands, or NONE
        ("way", np.int64),  # SOFTMAX, ...
        ("players", np.int64),
        ("scale", np.float64),  # the highest payoff
    ]
)


@helper
def _write_values(said: Any, count: int, scale: float, seat: int, players: int, values: Any) -> None:
    """From the mover's side to the seats. A network whose numbers have overflown says nothing."""
    for i in range(players):
        v = np.float64(said[i]) if i < count else 0.0
        if count == 1 and i == 1:
            v = -np.float64(said[0])
        values[(seat + i) % players] = min(max(v, -1.0), 1.0) * scale if v == v else 0.0


@helper
def _write_priors(logits: Any, legal: Any, n: int, priors: Any) -> None:
    """The softmax over the legal moves."""
    most = -np.inf
    for i in range(n):
        most = max(most, np.float64(logits[legal[i]]))
    total = 0.0
    for i in range(n):
        priors[i] = math.exp(np.float64(logits[legal[i]]) - most)
        total += priors[i]
    for i in range(n):
        priors[i] = priors[i] / total if 0.0 < total < np.inf else 1.0 / n


@helper
def _write_best(q: Any, legal: Any, n: int, priors: Any) -> None:
    """1 for the best legal move, of equals the first, and 0 for the others."""
    best = 0
    for i in range(n):
        priors[i] = 0.0
        if q[legal[i]] > q[legal[best]]:
            best = i
    if n > 0:
        priors[best] = 1.0


@helper
def _write_matching(advantages: Any, legal: Any, n: int, priors: Any) -> None:
    """In proportion to the positive advantages; where none is, the best move, as Deep CFR has it."""
    total = 0.0
    for i in range(n):
        total += max(np.float64(advantages[legal[i]]), 0.0)
    if 0.0 < total < np.inf:
        for i in range(n):
            priors[i] = max(np.float64(advantages[legal[i]]), 0.0) / total
    else:
        _write_best(advantages, legal, n, priors)


@evaluator
def _evaluate(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    facts = carray(states_at(model[0]), (1,), FACTS)[0]
    tables, weights, scratch = longs_at(model[2]), floats_at(model[3]), floats_at(model[4])
    seen, said = floats_at(model[5]), floats_at(model[6])
    open_rules(rulebook).observe(state, seat, seen)
    machine = Machine(states_at(model[1]), facts.ops, tables, weights, scratch, 1)
    run(machine, Batch(seen, facts.seen, said, 1))
    _write_values(ahead(said, facts.value), facts.values, facts.scale, seat, facts.players, values)
    if facts.policy == NONE:
        return
    scores = ahead(said, facts.policy)
    if facts.way == BEST:
        _write_best(scores, legal, n, priors)
    elif facts.way == MATCHING:
        _write_matching(scores, legal, n, priors)
    else:
        _write_priors(scores, legal, n, priors)


def evaluator_of(network: Network, game: Game) -> Evaluator:
    """The network as an evaluator of that game, for one thread; weights are shared with all others."""
    architecture, spec = network.architecture, game.spec
    sizes = {sum(part.size for part in fields) for fields in spec.observations}
    if architecture.inputs > min(sizes):
        raise TapeteError(f"the network reads {architecture.inputs} numbers, {game} has observations of {min(sizes)}")
    scale = max(map(abs, spec.utility))
    nowhere = slice(NONE, NONE)
    value = architecture.outputs.get("value", nowhere)
    way = next((way for way, head in enumerate(JUDGES) if head in architecture.outputs), SOFTMAX)
    policy = architecture.outputs.get(JUDGES[way], nowhere)
    count = value.stop - value.start
    if count not in (0, spec.players) and (count, spec.players, spec.zero_sum) != (1, 2, True):
        raise TapeteError(f"the network values {count} seats, {game} has {spec.players}")
    if policy != nowhere and policy.stop - policy.start != spec.actions:
        raise TapeteError(f"the network knows {policy.stop - policy.start} actions, {game} has {spec.actions}")
    program = network.program
    heads = (max(value.start, 0), count, policy.start, way)
    facts = (len(program.ops), spec.observation_size, *heads, spec.players, scale)
    arrays = (
        np.array([facts], dtype=FACTS),
        program.ops,
        program.tables,
        program.weights,
        np.zeros(program.scratch, dtype=np.float32),
        np.zeros(spec.observation_size, dtype=np.float32),
        np.zeros(architecture.width, dtype=np.float32),
    )
    return Evaluator(_evaluate, arrays, priors=policy != nowhere, values=count > 0)
