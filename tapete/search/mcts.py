"""Monte Carlo tree search for games without hidden information and without chance.

Two ways to choose a move in the tree. UCT (Kocsis and Szepesvári 2006; Browne et al. 2012), as in the Othello paper::

    Q / n  +  c * sqrt(2 ln N / n),  c = sqrt(2)

with untried moves first, in random order; and, where the evaluator has an opinion on moves, PUCT (Silver et al. 2017)::

    Q / n  +  c * P * sqrt(N) / (1 + n)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError, Thought, View, check_asked
from tapete.core.evaluator import Evaluator
from tapete.search.playout import playouts
from tapete.search.roots import Tried, conclude
from tapete.search.spending import MEMORY, Budget, larger, spend
from tapete.search.tree import NODE, Leaf, Plan, Room, Tree, cut, find_node, grow_puct, grow_uct, plant

UCT = math.sqrt(2)  # the constant of the paper
PUCT = 1.0  # won 54 to 60 % against 1.5 with the pattern tables, at 400 and at 3,000 simulations
FIRST_PLAY = 0.2  # of half the range of payoffs
NODES = 1 << 10  # with which a tree begins
DEEPEST = 4  # plies below the old root at which the new one is looked for


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
        memory: int = MEMORY,
    ) -> None:
        """A search of one game.

        evaluator: makes what judges leaves, once for each thread. One with opinions on moves makes it PUCT, else UCT.
        c: how much untried and rarely tried moves are explored, in units of half the range of the game's payoffs;
            None is `UCT` or `PUCT`, the constants above.
        keep: whether what was found out is kept for the next move; without it every search begins with nothing.
        memory: bytes that all trees together may take. They begin small and double as simulations need it; when the
            limit is reached, leaves are still judged but get no more children. While a tree doubles, both copies exist.
        """
        if game.spec.hidden or game.spec.has_chance:
            raise TapeteError(
                f"mcts is for games without hidden information or chance, which {game} is not; try ismcts"
            )
        self.game = game
        self.evaluator = evaluator
        self.c = c
        self.keep = keep
        self.memory = memory
        self.trees: list[_Tree] = []  # one a thread
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """Memory that the trees take now, without what the evaluators have."""
        return sum(tree.bytes for tree in self.trees)

    def run(self, view: View, rng: Rng, budget: Budget) -> Thought:
        """Searches for the view's seat, whose turn it must be.

        Searches run one at a time on one object: a second caller waits. Another number of threads than the last time
        begins with empty trees.
        """
        check_asked(view)
        with self._lock:
            root = view.sample(rng).data
            if len(self.trees) != budget.threads:
                share = self.memory // budget.threads
                self.trees = [_Tree(self.game, self.evaluator(), self.c, share) for _ in range(budget.threads)]
            for tree in self.trees:
                tree.move_to(root, self.keep)
            spend(budget, lambda thread, count, stream: self.trees[thread].grow(count, stream), rng)
            return conclude(
                view.actions(),
                [tree.tried() for tree in self.trees],
                lambda best: max(self.trees, key=lambda tree: tree.tries(best)).line(best),
            )


class _Tree:
    """The tree of one thread, and the root it belongs to."""

    def __init__(self, game: Game, evaluator: Evaluator, c: float | None, memory: int) -> None:
        spec = game.spec
        half = (spec.utility[1] - spec.utility[0]) / 2  # so that constants mean the same whatever is played for
        self.game, self.evaluator = game, evaluator
        self.most = max(memory // NODE.itemsize, 2 * spec.max_actions + 1)  # nodes
        nodes = min(max(NODES, 2 * spec.max_actions + 1), self.most)
        self.tree = Tree(nodes=np.empty(nodes, dtype=NODE), used=np.array([0, nodes]))
        self.room = Room(
            root=np.zeros(game.size, dtype=np.uint8),
            state=np.zeros(game.size, dtype=np.uint8),
            legal=np.zeros(spec.max_actions, dtype=np.int32),
            path=np.zeros(spec.longest + 2, dtype=np.int32),
            values=np.zeros(spec.players),
            priors=np.zeros(spec.max_actions, dtype=np.float32),
        )
        self.leaf = Leaf(evaluator.address, evaluator.model)
        usual, self.kernel = (PUCT, grow_puct) if evaluator.priors else (UCT, grow_uct)
        c = usual if c is None else c
        self.plan = Plan(
            size=game.size,
            widest=spec.max_actions,
            c=c * half,
            first_play=FIRST_PLAY * half,
            may_stop=nodes < self.most,
        )

    @property
    def bytes(self) -> int:
        """Memory of the nodes."""
        return self.tree.nodes.nbytes

    def move_to(self, root: NDArray[np.uint8], keep: bool) -> None:
        """Makes a state the root: with what was found out about it before, if it was, else with nothing."""
        node = -1
        if keep and self.tree.used[0]:
            stack = np.zeros((DEEPEST + 1, self.game.size), dtype=np.uint8)
            stack[0] = self.room.root
            node = int(find_node(self.game.rulebook, stack, root, self.tree))
        self.room.root[:] = root
        if node >= 0:
            cut(self.tree, node)
        else:
            plant(self.game.rulebook, self.room.root, self.tree)

    def grow(self, simulations: int, rng: Rng) -> None:
        """Adds simulations, and memory where they need it."""
        while True:
            simulations -= self.kernel(
                self.game.rulebook, self.tree, self.room, self.leaf, self.plan, rng.words, simulations
            )
            if not simulations:
                return
            nodes = larger(self.tree.nodes, min(2 * len(self.tree.nodes), self.most))
            self.tree = self.tree._replace(nodes=nodes)
            self.tree.used[1] = len(nodes)
            self.plan = self.plan._replace(may_stop=len(nodes) < self.most)

    def children(self, node: int) -> NDArray[np.void]:
        """The children of a node, as far as there are any."""
        first, count = int(self.tree.nodes[node]["first"]), int(self.tree.nodes[node]["count"])
        return self.tree.nodes[first : first + count]

    def tried(self) -> list[Tried]:
        """The moves at the root."""
        return self.children(0)[["action", "visits", "total", "prior"]].tolist()

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
            children = self.tree.nodes[node["first"] : node["first"] + node["count"]]
            if not node["visits"] or not node["count"] or not children["visits"].max():
                return tuple(line)
            child = int(np.argmax(children["visits"]))
