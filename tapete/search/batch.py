"""Many trees that grow in step, so that one call of a network judges the leaves of all of them.

For self-play: a search of one position on its own is `mcts.MCTS`. Two players, zero-sum, nothing hidden, no chance.
Moves are chosen by PUCT; at the root, as in AlphaZero, noise keeps every move in play.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError
from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOAT_ROWS,
    FLOATS,
    INT_ROWS,
    INTS,
    LONGS,
    STATES,
    WORDS,
    float32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.records import at, copy_state, pointers
from tapete.search.mcts import FIRST_PLAY, PUCT
from tapete.search.tree import (
    NODE,
    PLAN,
    Plan,
    Room,
    Tree,
    back_up,
    cut,
    descend_puct,
    expand_judged,
    plant,
)

# Judges positions by what their movers see: [n, observation_size] -> what the mover may expect, from -1 to 1 [n], and a
# score a move [n, actions], whose softmax over the legal ones says how likely each is to be the right one.
Predict = Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]]


class Trees(NamedTuple):
    """B trees, each with its root and the leaf that its simulation has reached."""

    roots: NDArray[np.uint8]  # [B, bytes]
    nodes: NDArray[np.void]  # [B, capacity] NODE
    used: NDArray[np.int64]  # [B, 2] nodes in use, and the capacity
    grows: NDArray[np.uint8]  # [B] whether the tree gets simulations now
    leaves: NDArray[np.uint8]  # [B, bytes]
    legal: NDArray[np.int32]  # [B, max_actions] at the leaf
    counts: NDArray[np.int32]  # [B] of those moves
    paths: NDArray[np.int32]  # [B, depth]
    depths: NDArray[np.int32]  # [B]
    waiting: NDArray[np.int64]  # [B] the trees whose leaves are to be judged, as many as `_descend` says
    observations: NDArray[np.float32]  # [B, observation_size] of the leaves that wait, in that order
    values: NDArray[np.float64]  # [2] what the leaf at hand is worth
    priors: NDArray[np.float32]  # [max_actions] how likely its moves are right


NODES = from_dtype(NODE)[:, ::1]
LONG_ROWS = types.int64[:, ::1]
TREES = types.NamedTuple(
    [STATES, NODES, LONG_ROWS, BYTES, STATES, INT_ROWS, INTS, INT_ROWS, INTS, LONGS, FLOAT_ROWS, DOUBLES, FLOATS], Trees
)


class Forest:
    """B trees and the memory in which they grow."""

    def __init__(self, game: Game, size: int, nodes: int, *, c: float = PUCT) -> None:
        """Room for `size` trees of `nodes` nodes each; c is as in `MCTS`."""
        spec = game.spec
        if spec.players != 2 or not spec.zero_sum or spec.hidden or spec.has_chance:
            raise TapeteError(f"this is for zero-sum games of two players where nothing is hidden, which {game} is not")
        self.game = game
        self.scale = (spec.utility[1] - spec.utility[0]) / 2
        self.plan = Plan(
            size=game.size,
            widest=spec.max_actions,
            c=c * self.scale,
            first_play=FIRST_PLAY * self.scale,
            may_stop=False,
        )
        self.arrays = Trees(
            roots=np.zeros((size, game.size), dtype=np.uint8),
            nodes=np.zeros((size, nodes + spec.max_actions), dtype=NODE),
            used=np.tile(np.array([0, nodes + spec.max_actions]), (size, 1)),
            grows=np.zeros(size, dtype=np.uint8),
            leaves=np.zeros((size, game.size), dtype=np.uint8),
            legal=np.zeros((size, max(spec.max_actions, 1)), dtype=np.int32),
            counts=np.zeros(size, dtype=np.int32),
            paths=np.zeros((size, spec.longest + 2), dtype=np.int32),
            depths=np.zeros(size, dtype=np.int32),
            waiting=np.zeros(size, dtype=np.int64),
            observations=np.zeros((size, spec.observation_size), dtype=np.float32),
            values=np.zeros(2),
            priors=np.zeros(max(spec.max_actions, 1), dtype=np.float32),
        )
        self.roots, self.trees = self.arrays.roots, self.arrays.nodes

    @property
    def bytes(self) -> int:
        """Memory of everything."""
        return sum(array.nbytes for array in self.arrays)

    def plant(self, which: NDArray[np.int64]) -> None:
        """Begins these trees anew, from `roots` as they are now."""
        for i in which:
            plant(self.game.rulebook, self.roots[i], Tree(self.trees[i], self.arrays.used[i]))

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
        """Adds simulations to these trees (None: to all) unless their game is over at the root.

        At the roots a share `noise` of the prior is replaced by a draw from Dirichlet(alpha).
        """
        self.arrays.grows[:] = True if which is None else which
        for simulation in range(simulations):
            n = int(_descend(self.game.rulebook, self.arrays, self.plan, rng.words))
            if n:
                values, scores = (
                    np.ascontiguousarray(said, dtype=np.float32) for said in predict(self.arrays.observations[:n])
                )
                _absorb(self.arrays, n, self.scale, values, scores)
            if simulation == 0 and noise > 0:
                draws = np.random.Generator(np.random.PCG64([rng.below(1 << 30), rng.below(1 << 30)]))
                gammas = draws.standard_gamma(alpha, self.arrays.legal.shape, dtype=np.float32) + np.float32(1e-9)
                _stir(self.arrays, gammas, noise)

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
        _step(self.game.rulebook, self.arrays, np.ascontiguousarray(actions, dtype=np.int32))


@kernel(types.int64(RULEBOOK, TREES, PLAN, WORDS))
def _descend(rulebook: Any, trees: Any, plan: Any, words: Any) -> int:
    """Walks to a leaf of every tree; what ends a game is backed up at once, the others wait. How many do."""
    rules = open_rules(rulebook)
    rng = uint64_ptr(words)
    n = 0
    for i in range(len(trees.roots)):
        tree = pointers(Tree(trees.nodes[i], trees.used[i]))
        if not trees.grows[i] or at(tree.nodes, 0).mover == TERMINAL:
            continue
        room = pointers(
            Room(trees.roots[i], trees.leaves[i], trees.legal[i], trees.paths[i], trees.values, trees.priors)
        )
        copy_state(room.state, room.root, plan.size)
        depth = descend_puct(uint64_ptr(rulebook), tree, room, plan, rng)
        trees.depths[i] = depth
        mover = at(tree.nodes, room.path[depth]).mover
        if mover == TERMINAL:
            rules.returns(room.state, room.values)
            back_up(tree.nodes, room.path, depth, room.values)
        else:
            trees.counts[i] = rules.actions(room.state, room.legal)
            rules.observe(room.state, mover, float32_ptr(trees.observations[n]))
            trees.waiting[n] = i
            n += 1
    return n


@kernel(types.void(TREES, types.int64, types.float64, FLOATS, FLOAT_ROWS))
def _absorb(trees: Any, waiting: int, scale: float, values: Any, scores: Any) -> None:
    """Gives the leaves that waited their children, and backs up what they are worth."""
    priors, payoffs = trees.priors, trees.values
    for k in range(waiting):
        i = trees.waiting[k]
        legal, n, path, depth = trees.legal[i], trees.counts[i], trees.paths[i], trees.depths[i]
        highest, total = np.float32(-np.inf), np.float32(0.0)
        for j in range(n):
            highest = max(highest, scores[k, legal[j]])
        for j in range(n):
            priors[j] = math.exp(scores[k, legal[j]] - highest)
            total += priors[j]
        for j in range(n):
            priors[j] /= total
        tree = pointers(Tree(trees.nodes[i], trees.used[i]))
        leaf = at(tree.nodes, path[depth])
        payoffs[leaf.mover] = scale * values[k]
        payoffs[1 - leaf.mover] = -payoffs[leaf.mover]
        leaf.value = payoffs[leaf.mover]
        expand_judged(tree, path[depth], legal, n, priors)
        back_up(tree.nodes, path, depth, payoffs)


@kernel(types.void(TREES, FLOAT_ROWS, types.float64))
def _stir(trees: Any, gammas: Any, share: float) -> None:
    """Mixes noise into the priors of the moves at the roots."""
    for i in range(len(trees.nodes)):
        if not trees.grows[i]:
            continue
        nodes = trees.nodes[i]
        first, count = nodes[0].first, nodes[0].count
        total = 0.0
        for j in range(count):
            total += gammas[i, j]
        for j in range(count):
            child = nodes[first + j]
            child.prior = (1.0 - share) * child.prior + share * gammas[i, j] / total


@kernel(types.void(NODES, INT_ROWS))
def _visits(trees: Any, out: Any) -> None:
    for i in range(len(trees)):
        nodes = trees[i]
        for j in range(nodes[0].first, nodes[0].first + nodes[0].count):
            out[i, nodes[j].action] = nodes[j].visits


@kernel(types.void(NODES, DOUBLES))
def _values(trees: Any, out: Any) -> None:
    for i in range(len(trees)):
        nodes = trees[i]
        tries, total = 1, np.float64(nodes[0].value)
        for j in range(nodes[0].first, nodes[0].first + nodes[0].count):
            tries += nodes[j].visits
            total += nodes[j].total
        out[i] = total / tries


@kernel(types.void(RULEBOOK, TREES, INTS))
def _step(rulebook: Any, trees: Any, actions: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(trees.roots)):
        if actions[i] < 0:
            continue
        root, tree = trees.roots[i], Tree(trees.nodes[i], trees.used[i])
        nodes = tree.nodes
        rules.apply(state_ptr(root), actions[i])
        child = -1
        for j in range(nodes[0].first, nodes[0].first + nodes[0].count):
            if nodes[j].action == actions[i] and nodes[j].visits > 0:
                child = j
        if child >= 0:
            cut(tree, child)
        else:
            plant(rulebook, root, tree)
