"""Many trees that grow in step, so that one call of a network judges the leaves of all of them.

For self-play: a search of one position on its own is `mcts.MCTS`. Two players, zero-sum, nothing hidden, no chance.
Moves are chosen by PUCT; at the root, as in AlphaZero, noise keeps every move in play.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError
from tapete.core.compile import (
    BYTES,
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
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.tables import FLOAT_ROWS, INT_ROWS, STATES
from tapete.search.mcts import PUCT, TREE, back_up, cut, descend, expand, plant

TREES = types.Array(TREE.dtype, 2, "C")

# Judges positions by what their movers see: [n, observation_size] -> what the mover may expect, from -1 to 1 [n], and a
# score a move [n, actions], whose softmax over the legal ones says how likely each is to be the right one.
Predict = Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]]


class Forest:
    """B trees, their roots and the memory in which they grow."""

    def __init__(self, game: Game, size: int, nodes: int, *, c: float = PUCT) -> None:
        spec = game.spec
        if spec.players != 2 or not spec.zero_sum or spec.hidden or spec.has_chance:
            raise TapeteError(f"this is for zero-sum games of two players where nothing is hidden, which {game} is not")
        self.game, self.c = game, c
        self.scale = (spec.utility[1] - spec.utility[0]) / 2
        self.roots = np.zeros((size, game.size), dtype=np.uint8)  # [B, bytes]
        self.trees: NDArray[np.void] = np.zeros((size, nodes + spec.max_actions), dtype=TREE.dtype.dtype)  # [B, nodes]
        self.used = np.zeros(size, dtype=np.int64)  # [B]
        self.grows = np.zeros(size, dtype=np.uint8)  # [B] whether the tree gets simulations now
        self.waiting = np.zeros(size, dtype=np.int64)  # the trees whose leaves are to be judged
        self.observations = np.zeros((size, spec.observation_size), dtype=np.float32)  # of those leaves
        self.leaves = np.zeros((size, game.size), dtype=np.uint8)  # [B, bytes]
        self.legal = np.zeros((size, max(spec.max_actions, 1)), dtype=np.int32)  # [B, max_actions] at the leaf
        self.counts = np.zeros(size, dtype=np.int32)  # [B]
        self.paths = np.zeros((size, spec.longest + 2), dtype=np.int32)  # [B, depth]
        self.depths = np.zeros(size, dtype=np.int32)  # [B]

    def plant(self, which: NDArray[np.int64]) -> None:
        """Begins these trees anew, from `roots` as they are now."""
        for i in which:
            plant(self.game.rulebook, self.roots[i], self.trees[i], self.used[i : i + 1])

    def grow(
        self,
        predict: Predict,
        simulations: int,
        *,
        noise: float = 0.0,
        alpha: float = 1.0,
        which: NDArray[np.bool_] | None = None,
        rng: Rng,
    ) -> None:
        """Adds so many simulations to these trees (all, if it isn't said) unless their game is over at the root.

        At the roots a share `noise` of the prior is replaced by a draw from Dirichlet(alpha).
        """
        self.grows[:] = True if which is None else which
        for simulation in range(simulations):
            n = self._descend(rng)
            if n:
                values, scores = predict(self.observations[:n])
                self._absorb(values, scores, n, rng)
            if simulation == 0 and noise > 0:
                draws = np.random.Generator(np.random.PCG64([rng.below(1 << 30), rng.below(1 << 30)]))
                gammas = draws.standard_gamma(alpha, self.legal.shape, dtype=np.float32) + np.float32(1e-9)
                _stir(self.trees, self.grows, gammas, noise)

    def _descend(self, rng: Rng) -> int:
        return int(
            _descend(
                self.game.rulebook,
                self.roots,
                self.leaves,
                self.trees,
                self.used,
                self.grows,
                self.c,
                self.scale,
                self.legal,
                self.counts,
                self.paths,
                self.depths,
                self.waiting,
                self.observations,
                rng.words,
            )
        )

    def _absorb(self, values: NDArray[np.float32], scores: NDArray[np.float32], n: int, rng: Rng) -> None:
        _absorb(
            self.trees,
            self.used,
            self.scale,
            self.legal,
            self.counts,
            self.paths,
            self.depths,
            self.waiting[:n],
            np.ascontiguousarray(values, dtype=np.float32),
            np.ascontiguousarray(scores, dtype=np.float32),
            rng.words,
        )

    def visits(self) -> NDArray[np.int32]:
        """How often each move was tried at the roots: [B, actions]."""
        out = np.zeros((len(self.roots), self.game.spec.actions), dtype=np.int32)
        _visits(self.trees, out)
        return out

    def values(self) -> NDArray[np.float64]:
        """What the mover at each root may expect, from -1 to 1, by all simulations so far: [B]."""
        out = np.zeros(len(self.roots))
        _values(self.trees, out)
        return out / self.scale

    def step(self, actions: NDArray[np.int32]) -> None:
        """Makes a move at every root [B], none where it is negative; what is known of the position after it is kept."""
        _step(self.game.rulebook, self.roots, self.trees, self.used, np.ascontiguousarray(actions, dtype=np.int32))


@kernel(
    types.int64(
        RULEBOOK,
        STATES,
        STATES,
        TREES,
        LONGS,
        BYTES,
        types.float64,
        types.float64,
        INT_ROWS,
        INTS,
        INT_ROWS,
        INTS,
        LONGS,
        FLOAT_ROWS,
        WORDS,
    )
)
def _descend(
    rulebook: Any,
    roots: Any,
    leaves: Any,
    trees: Any,
    used: Any,
    grows: Any,
    c: float,
    scale: float,
    legal: Any,
    counts: Any,
    paths: Any,
    depths: Any,
    waiting: Any,
    observations: Any,
    words: Any,
) -> int:
    """Walks to a leaf of every tree; what ends a game is backed up at once, the others wait. How many do."""
    rules = open_rules(rulebook)
    rng = uint64_ptr(words)
    payoffs = np.zeros(2)
    none = np.zeros(1, dtype=np.float32)
    n = 0
    for i in range(len(roots)):
        nodes, path = trees[i], paths[i]
        if not grows[i] or nodes[0].mover == TERMINAL:
            continue
        for j in range(roots.shape[1]):
            leaves[i, j] = roots[i, j]
        leaf = state_ptr(leaves[i])
        moves = int32_ptr(legal[i])
        depth = descend(rules, leaf, nodes, used[i : i + 1], True, c, scale, moves, float32_ptr(none), path, rng)
        depths[i] = depth
        mover = nodes[path[depth]].mover
        if mover == TERMINAL:
            rules.returns(leaf, float64_ptr(payoffs))
            back_up(nodes, path, depth, payoffs)
        else:
            counts[i] = rules.actions(leaf, moves)
            rules.observe(leaf, mover, float32_ptr(observations[n]))
            waiting[n] = i
            n += 1
    return n


@kernel(types.void(TREES, LONGS, types.float64, INT_ROWS, INTS, INT_ROWS, INTS, LONGS, FLOATS, FLOAT_ROWS, WORDS))
def _absorb(
    trees: Any,
    used: Any,
    scale: float,
    legal: Any,
    counts: Any,
    paths: Any,
    depths: Any,
    waiting: Any,
    values: Any,
    scores: Any,
    words: Any,
) -> None:
    """Gives the leaves that waited their children, and backs up what they are worth."""
    rng = uint64_ptr(words)
    payoffs = np.zeros(2)
    priors = np.zeros(legal.shape[1], dtype=np.float32)
    for k in range(len(waiting)):
        i = waiting[k]
        nodes, n = trees[i], counts[i]
        leaf = paths[i, depths[i]]
        highest, total = np.float32(-np.inf), np.float32(0.0)
        for j in range(n):
            highest = max(highest, scores[k, legal[i, j]])
        for j in range(n):
            priors[j] = math.exp(scores[k, legal[i, j]] - highest)
            total += priors[j]
        for j in range(n):
            priors[j] /= total
        mover = nodes[leaf].mover
        payoffs[mover] = scale * values[k]
        payoffs[1 - mover] = -payoffs[mover]
        nodes[leaf].value = payoffs[mover]
        expand(nodes, used[i : i + 1], leaf, int32_ptr(legal[i]), n, float32_ptr(priors), True, rng)
        back_up(nodes, paths[i], depths[i], payoffs)


@kernel(types.void(TREES, BYTES, FLOAT_ROWS, types.float64))
def _stir(trees: Any, grows: Any, gammas: Any, share: float) -> None:
    """Mixes noise into the priors of the moves at the roots."""
    for i in range(len(trees)):
        if not grows[i]:
            continue
        nodes = trees[i]
        first, count = nodes[0].first, nodes[0].count
        total = 0.0
        for j in range(count):
            total += gammas[i, j]
        for j in range(count):
            child = nodes[first + j]
            child.prior = (1.0 - share) * child.prior + share * gammas[i, j] / total


@kernel(types.void(TREES, INT_ROWS))
def _visits(trees: Any, out: Any) -> None:
    for i in range(len(trees)):
        nodes = trees[i]
        for j in range(nodes[0].first, nodes[0].first + nodes[0].count):
            out[i, nodes[j].action] = nodes[j].visits


@kernel(types.void(TREES, DOUBLES))
def _values(trees: Any, out: Any) -> None:
    for i in range(len(trees)):
        nodes = trees[i]
        tries, total = 1, np.float64(nodes[0].value)
        for j in range(nodes[0].first, nodes[0].first + nodes[0].count):
            tries += nodes[j].visits
            total += nodes[j].total
        out[i] = total / tries


@kernel(types.void(RULEBOOK, STATES, TREES, LONGS, INTS))
def _step(rulebook: Any, roots: Any, trees: Any, used: Any, actions: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(roots)):
        if actions[i] < 0:
            continue
        nodes = trees[i]
        rules.apply(state_ptr(roots[i]), actions[i])
        child = -1
        for j in range(nodes[0].first, nodes[0].first + nodes[0].count):
            if nodes[j].action == actions[i] and nodes[j].visits > 0:
                child = j
        if child >= 0:
            cut(nodes, used[i : i + 1], child)
        else:
            plant(rulebook, roots[i], nodes, used[i : i + 1])
