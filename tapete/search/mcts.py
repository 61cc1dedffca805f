"""Monte Carlo tree search for games without hidden information and without chance.

Two ways to choose a move in the tree. UCT (Kocsis and Szepesvári 2006; Browne et al. 2012), as in the Othello paper::

    Q / n  +  c * sqrt(2 ln N / n),  c = sqrt(2)

with untried moves first, in random order; and, where the evaluator has an opinion on moves, PUCT (Silver et al. 2017)::

    Q / n  +  c * P * sqrt(N) / (1 + n)

The kernel is iterative and knows neither the game nor what judges its leaves: both come as tables of C functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError, Thought, View
from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOATS,
    INTS,
    LONGS,
    WORDS,
    float32_ptr,
    float64_ptr,
    helper,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator, open_evaluator
from tapete.core.rng import below
from tapete.search.playout import playouts
from tapete.search.roots import conclude
from tapete.search.spending import Budget, spend

UCT = math.sqrt(2)  # the constant of the paper
PUCT = 1.0  # won 54 to 60 % against 1.5 with the pattern tables, at 400 and at 3,000 simulations
NODES = 1 << 21  # of a tree, 32 bytes each; when they are used up, leaves are still judged but no longer expanded
FIRST_PLAY = 0.2  # PUCT takes an untried move for so much worse than what the node has shown so far
DEEPEST = 4  # plies below the old root at which the new one is looked for

# A node is a move with what came of it. The children of a node are neighbours in memory, and come after it.
NODE = np.dtype(
    [
        ("total", "f8"),  # payoffs added up, of the seat that made the move
        ("action", "i4"),
        ("visits", "i4"),
        ("first", "i4"),  # the first child
        ("count", "i2"),  # children; 0: not expanded yet
        ("mover", "i2"),  # the seat to move after it, or TERMINAL; known after the first visit
        ("prior", "f4"),  # how likely it is the right move, as the evaluator thinks
        ("value", "f4"),  # what the evaluator said of the mover's prospects
    ],
    align=True,
)
TREE = from_dtype(NODE)[::1]


class MCTS:
    """A search that remembers its trees, so that the next move of the same game begins with what is known already.

    >>> from tapete.core import make
    >>> state = make("othello").start()
    >>> thought = MCTS(state.game).run(state.view(0), Rng(1), Budget(iterations=400))
    >>> sum(thought.visits.values())
    400
    """

    def __init__(
        self,
        game: Game,
        evaluator: Callable[[], Evaluator] = playouts,
        *,
        c: float | None = None,
        keep: bool = True,
        nodes: int = NODES,
    ) -> None:
        if game.spec.hidden or game.spec.has_chance:
            raise TapeteError(
                f"mcts is for games without hidden information or chance, which {game} is not; try ismcts"
            )
        self.game = game
        self.evaluator = evaluator
        self.c = c
        self.keep = keep
        self.nodes = max(nodes, 2 * game.spec.max_actions + 1)
        self.trees: list[_Tree] = []  # one a thread
        self._lock = Lock()

    def run(self, view: View, rng: Rng, budget: Budget) -> Thought:
        """Searches where the view's seat is to move; who comes while another search runs, waits for it."""
        with self._lock:
            root = view.sample(rng).data
            while len(self.trees) < budget.threads:
                self.trees.append(_Tree(self.game, self.evaluator(), self.nodes, self.c))
            for tree in self.trees[: budget.threads]:
                tree.move_to(root, self.keep)
            spend(budget, lambda thread, count, stream: self.trees[thread].grow(count, stream), rng)
            trees = self.trees[: budget.threads]
            thought = conclude(view.actions(), (tree.children(0) for tree in trees))
            (best,) = thought.line
            return replace(thought, line=max(trees, key=lambda tree: tree.tries(best)).line(best))


class _Tree:
    """The memory of one tree, and the root it belongs to."""

    def __init__(self, game: Game, evaluator: Evaluator, nodes: int, c: float | None) -> None:
        spec = game.spec
        self.game, self.evaluator, self.model = game, evaluator, evaluator.model
        self.c = c if c is not None else PUCT if evaluator.priors else UCT
        self.scale = (spec.utility[1] - spec.utility[0]) / 2  # so that c means the same whatever is played for
        self.memory: NDArray[np.void] = np.empty(nodes, dtype=NODE)
        self.used = np.zeros(1, dtype=np.int64)
        self.root = np.zeros(game.size, dtype=np.uint8)
        self.state = np.zeros(game.size, dtype=np.uint8)
        self.legal = np.zeros(spec.max_actions, dtype=np.int32)
        self.path = np.zeros(spec.longest + 2, dtype=np.int32)
        self.values = np.zeros(spec.players)
        self.priors = np.zeros(spec.max_actions, dtype=np.float32)

    def move_to(self, root: NDArray[np.uint8], keep: bool) -> None:
        """Makes a state the root: with what was found out about it before, if it was, else with nothing."""
        node = 0
        if keep and self.used[0]:
            stack = np.zeros((DEEPEST + 1, self.game.size), dtype=np.uint8)
            stack[0] = self.root
            node = int(_find(self.game.rulebook, stack, root, self.memory))
        else:
            node = -1
        self.root[:] = root
        if node >= 0:
            cut(self.memory, self.used, node)
        else:
            plant(self.game.rulebook, self.root, self.memory, self.used)

    def grow(self, iterations: int, rng: Rng) -> None:
        """Adds simulations."""
        _grow(
            self.game.rulebook,
            self.root,
            self.state,
            self.memory,
            self.used,
            self.evaluator.address,
            self.model,
            self.evaluator.priors,
            self.c,
            self.scale,
            self.legal,
            self.path,
            self.values,
            self.priors,
            rng.words,
            iterations,
        )

    def children(self, node: int) -> NDArray[np.void]:
        """The children of a node, as far as there are any."""
        first, count = int(self.memory[node]["first"]), int(self.memory[node]["count"])
        return self.memory[first : first + count]

    def tries(self, action: int) -> int:
        """How often a move was tried at the root."""
        children = self.children(0)
        return int(children["visits"][children["action"] == action].sum())

    def line(self, action: int) -> tuple[int, ...]:
        """The principal variation that begins with a move: the most visited child of each node."""
        children, line = self.children(0), []
        child = int(np.argmax(children["action"] == action))
        while True:
            line.append(int(children[child]["action"]))
            node = children[child]
            children = self.memory[node["first"] : node["first"] + node["count"]]
            if not node["visits"] or not node["count"] or not children["visits"].max():
                return tuple(line)
            child = int(np.argmax(children["visits"]))


@helper
def expand(nodes: Any, used: Any, node: int, legal: Any, n: int, priors: Any, has_priors: bool, rng: Any) -> bool:
    """Gives a node its children: with priors in order of the moves, else shuffled. False where no memory is left."""
    first = used[0]
    if first + n > len(nodes):
        return False
    used[0] = first + n
    for i in range(n):
        child = nodes[first + i]
        child.total = 0.0
        child.visits = 0
        child.count = 0
        child.mover = 0
        child.value = 0.0
        child.prior = priors[i] if has_priors else 0.0
        j = i if has_priors else below(rng, i + 1)
        child.action = nodes[first + j].action
        nodes[first + j].action = legal[i]
    nodes[node].first = first
    nodes[node].count = n
    return True


@helper
def select_uct(nodes: Any, node: int, c: float) -> int:
    """The child to try next: one that was never tried, else the one with the highest upper bound."""
    first, count = nodes[node].first, nodes[node].count
    parent = nodes[node].visits
    weight = c * math.sqrt(2.0 * math.log(parent)) if parent > 0 else 0.0
    best, best_score = first, -np.inf
    for i in range(first, first + count):
        n = nodes[i].visits
        if n == 0:
            return i
        score = (nodes[i].total + weight * math.sqrt(n)) / n
        if score > best_score:
            best, best_score = i, score
    return best


@helper
def select_puct(nodes: Any, node: int, c: float, first_play: float) -> int:
    """The child to try next, by its value so far and by the evaluator's opinion of the move."""
    first, count = nodes[node].first, nodes[node].count
    tries, total = 1, np.float64(nodes[node].value)
    for i in range(first, first + count):
        tries += nodes[i].visits
        total += nodes[i].total
    untried = total / tries - first_play
    weight = c * math.sqrt(tries)
    best, best_score = first, -np.inf
    for i in range(first, first + count):
        n = nodes[i].visits
        score = (nodes[i].total / n if n > 0 else untried) + weight * nodes[i].prior / (1 + n)
        if score > best_score:
            best, best_score = i, score
    return best


@helper
def descend(
    rules: Any,
    state: Any,
    nodes: Any,
    used: Any,
    has_priors: bool,
    c: float,
    scale: float,
    legal: Any,
    priors: Any,
    path: Any,
    rng: Any,
) -> int:
    """Walks from the root to a leaf, applying the moves to the state; returns how many there were.

    Without priors a leaf gets its children when it is reached for the second time, and the walk goes on to one of them.
    """
    node, depth = 0, 0
    path[0] = 0
    while nodes[node].mover != TERMINAL:
        if nodes[node].count == 0:
            if has_priors or (nodes[node].visits == 0 and node > 0):
                break
            n = rules.actions(state, legal)
            if not expand(nodes, used, node, legal, n, priors, False, rng):
                break
        if has_priors:
            node = select_puct(nodes, node, c * scale, FIRST_PLAY * scale)
        else:
            node = select_uct(nodes, node, c * scale)
        rules.apply(state, nodes[node].action)
        if nodes[node].visits == 0:
            nodes[node].mover = rules.player(state)
        depth += 1
        path[depth] = node
    return depth


@helper
def back_up(nodes: Any, path: Any, depth: int, values: Any) -> None:
    """Adds the payoffs to every node of a path, each from the viewpoint of the seat that moved there."""
    nodes[0].visits += 1
    for i in range(depth, 0, -1):
        node = path[i]
        nodes[node].visits += 1
        nodes[node].total += values[nodes[path[i - 1]].mover]


@kernel(
    types.void(
        RULEBOOK,
        BYTES,
        BYTES,
        TREE,
        LONGS,
        types.uint64,
        WORDS,
        types.boolean,
        types.float64,
        types.float64,
        INTS,
        INTS,
        DOUBLES,
        FLOATS,
        WORDS,
        types.int64,
    )
)
def _grow(
    rulebook: Any,
    root: Any,
    state: Any,
    nodes: Any,
    used: Any,
    address: Any,
    model: Any,
    has_priors: bool,
    c: float,
    scale: float,
    legal: Any,
    path: Any,
    values: Any,
    priors: Any,
    words: Any,
    iterations: int,
) -> None:
    rules, evaluate = open_rules(rulebook), open_evaluator(address)
    p, moves, payoffs, opinion = state_ptr(state), int32_ptr(legal), float64_ptr(values), float32_ptr(priors)
    rng = uint64_ptr(words)
    for _ in range(iterations):
        for i in range(len(root)):
            state[i] = root[i]
        depth = descend(rules, p, nodes, used, has_priors, c, scale, moves, opinion, path, rng)
        leaf = path[depth]
        mover = nodes[leaf].mover
        if mover == TERMINAL:
            rules.returns(p, payoffs)
        else:
            n = rules.actions(p, moves) if has_priors else 0
            evaluate(uint64_ptr(rulebook), p, mover, moves, n, uint64_ptr(model), rng, payoffs, opinion)
            nodes[leaf].value = values[mover]
            if has_priors:
                expand(nodes, used, leaf, moves, n, opinion, True, rng)
        back_up(nodes, path, depth, values)


@kernel(types.void(RULEBOOK, BYTES, TREE, LONGS))
def plant(rulebook: Any, root: Any, nodes: Any, used: Any) -> None:
    """A tree that is nothing but its root."""
    rules = open_rules(rulebook)
    node = nodes[0]
    node.total, node.action, node.visits, node.first, node.count = 0.0, -1, 0, 0, 0
    node.prior, node.value = 1.0, 0.0
    node.mover = rules.player(state_ptr(root))
    used[0] = 1


@kernel(types.int64(RULEBOOK, types.uint8[:, ::1], BYTES, TREE))
def _find(rulebook: Any, stack: Any, target: Any, nodes: Any) -> int:
    """The node of a state, not far below the root whose state is stack[0]; -1 where it isn't in the tree."""
    rules = open_rules(rulebook)
    deepest = len(stack) - 1
    at = np.zeros(deepest + 1, dtype=np.int64)  # [depth] the node
    child = np.zeros(deepest + 1, dtype=np.int64)  # [depth] which of its children comes next
    depth = 0
    while depth >= 0:
        if child[depth] == 0 and np.all(stack[depth] == target):
            return at[depth]
        node = nodes[at[depth]]
        if depth == deepest or child[depth] == node.count:
            depth -= 1
            continue
        below_it = node.first + child[depth]
        child[depth] += 1
        if nodes[below_it].visits == 0:
            continue
        stack[depth + 1] = stack[depth]
        rules.apply(state_ptr(stack[depth + 1]), nodes[below_it].action)
        depth += 1
        at[depth], child[depth] = below_it, 0
    return -1


@kernel(types.void(TREE, LONGS, types.int64))
def cut(nodes: Any, used: Any, root: int) -> None:
    """Keeps what is below a node, which becomes the root, and moves it to the front of the memory.

    Children come after their parents, and new places are never behind old ones, so one pass in order is enough.
    """
    kept = np.zeros(used[0], dtype=np.bool_)
    place = np.zeros(used[0], dtype=np.int32)
    kept[root] = True
    free = 0
    for old in range(root, used[0]):
        if not kept[old]:
            continue
        first, count = nodes[old].first, nodes[old].count
        for child in range(first, first + count):
            kept[child] = True
        place[old] = free
        nodes[free] = nodes[old]
        free += 1
    # Links still are to the old places; children of one node stayed neighbours.
    for node in range(free):
        if nodes[node].count > 0:
            nodes[node].first = place[nodes[node].first]
    used[0] = free
