"""Monte Carlo tree search over information sets (Cowling, Powley and Whitehouse 2012), for hidden cards and chance.

Every simulation begins in a world of its own: what the seat can't know is dealt anew by the rules (`redeal`), which see
what the seat knows and nothing else. In the tree every player decides by what *he* knows in that world, because a
node is an information set of whoever moves there: nobody's choice depends on cards that are hidden from him. Payoffs
may be of any size, so the exploration constant is in units of half the range of those seen so far.

Moves are chosen by UCT, or where the evaluator has an opinion on moves, by PUCT, as in `mcts`. An evaluator that judges
moves but no states, as a network that only has a policy, plays every leaf out by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError, Thought, View
from tapete.core.evaluator import Evaluator
from tapete.search.infosets import (
    INFOSET,
    MOVE,
    Memory,
    Plan,
    Room,
    follow,
    forget,
    grow_played,
    grow_puct,
    grow_uct,
    place_of,
    rehash,
)
from tapete.search.mcts import FIRST_PLAY, PUCT
from tapete.search.playout import playouts
from tapete.search.roots import Tried, conclude
from tapete.search.spending import MEMORY, Budget, larger, spend
from tapete.search.tree import Leaf

UCT = 1.0  # of half the range of payoffs
INFOSETS = 1 << 8  # with which a tree begins; a power of two, as the size of a hash table is
MOVES_EACH = 4  # for which there is room then, on the average
OPPONENTS = ("search", "random")
PER_SET = INFOSET.itemsize + 2 * 16  # bytes, with two slots of the hash table


class ISMCTS:
    """A search that remembers its information sets, so that the next move of the same game begins with them.

    >>> from tapete.core import make
    >>> state = make("kuhn").read("J Q pass")
    >>> thought = ISMCTS(state.game).run(state.view(1), Rng(1), Budget(iterations=1000))
    >>> sum(thought.visits.values())
    1000
    """

    def __init__(
        self,
        game: Game,
        evaluator: Callable[[], Evaluator] = playouts,
        *,
        c: float | None = None,
        opponents: str = "search",
        keep: bool = True,
        memory: int = MEMORY,
    ) -> None:
        """A search of one game.

        evaluator: makes what judges leaves, once for each thread. One with opinions on moves makes it PUCT, else UCT.
        c: how much rarely tried moves are explored, in units of half the range of payoffs seen so far; None is `UCT`
            here or `PUCT` of `mcts`.
        opponents: "search" lets every seat do in the tree what is best for it, by what it knows; "random" lets the
            others play at random, which makes this a best response to random play.
        keep: whether what was found out is kept for the next move; without it every search begins with nothing.
        memory: bytes that all trees together may take. They begin small and double as simulations need it; when the
            limit is reached, no new information sets are remembered. A search that begins with more than half of it
            in use forgets everything first: most is of moves long past. While arrays double, both copies exist.
        """
        if opponents not in OPPONENTS:
            raise TapeteError(f"opponents must be one of {', '.join(OPPONENTS)}, not {opponents!r}")
        self.game, self.evaluator, self.c, self.keep = game, evaluator, c, keep
        self.random_opponents = opponents == "random"
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
        with self._lock:
            if len(self.trees) != budget.threads:
                share = self.memory // budget.threads
                self.trees = [_Tree(self.game, self.evaluator(), self.c, share) for _ in range(budget.threads)]
            world = view.sample(rng).data
            plan = Plan(
                size=self.game.size,
                widest=self.game.spec.max_actions,
                players=self.game.players,
                seat=view.seat,
                c=0.0,
                first_play=FIRST_PLAY,
                random_opponents=self.random_opponents,
                may_stop=True,
            )
            for tree in self.trees:
                tree.begin(world, self.keep)
            spend(budget, lambda thread, count, stream: self.trees[thread].grow(plan, count, stream), rng)
            key = np.uint64(view.infoset)
            return conclude(view.actions(), [tree.tried(key) for tree in self.trees], self.trees[0].line)


class _Tree:
    """The tree of one thread."""

    def __init__(self, game: Game, evaluator: Evaluator, c: float | None, memory: int) -> None:
        spec = game.spec
        self.game, self.evaluator, self.most = game, evaluator, memory
        self.kernel = (grow_puct if evaluator.values else grow_played) if evaluator.priors else grow_uct
        self.c = c if c is not None else PUCT if evaluator.priors else UCT
        sets = INFOSETS
        while sets > 2 and PER_SET * sets + MOVE.itemsize * max(MOVES_EACH * sets, spec.max_actions) > memory:
            sets //= 2
        moves = max(MOVES_EACH * sets, spec.max_actions)
        self.memory = Memory(
            keys=np.zeros(2 * sets, dtype=np.uint64),
            places=np.empty(2 * sets, dtype=np.int64),
            sets=np.empty(sets, dtype=INFOSET),
            moves=np.empty(moves, dtype=MOVE),
            used=np.array([0, 0, sets, moves]),
            bounds=np.array([math.inf, -math.inf]),
        )
        self.room = Room(
            world=np.zeros(game.size, dtype=np.uint8),
            state=np.zeros(game.size, dtype=np.uint8),
            legal=np.zeros(spec.max_actions, dtype=np.int32),
            path=np.zeros(3 * (spec.longest + 1), dtype=np.int64),
            values=np.zeros(spec.players),
            priors=np.zeros(spec.max_actions, dtype=np.float32),
        )
        self.leaf = Leaf(evaluator.address, evaluator.model)
        self.is_full = False  # whether the limit does not allow to double any more

    @property
    def bytes(self) -> int:
        """Memory of what is remembered."""
        return PER_SET * len(self.memory.sets) + MOVE.itemsize * len(self.memory.moves)

    def begin(self, world: NDArray[np.uint8], keep: bool) -> None:
        """Prepares for simulations from a world; forgets everything unless it should be kept and is not too much."""
        self.room.world[:] = world
        sets, moves = self.memory.used[:2].tolist()
        if not keep or 2 * (PER_SET * sets + MOVE.itemsize * moves) > self.most:
            forget(self.memory)

    def grow(self, plan: Plan, simulations: int, rng: Rng) -> None:
        """Adds simulations, and memory where they need it."""
        while True:
            plan = plan._replace(c=self.c, may_stop=not self.is_full)
            simulations -= self.kernel(
                self.game.rulebook, self.memory, self.room, self.leaf, plan, rng.words, simulations
            )
            if not simulations:
                return
            self._enlarge()

    def _enlarge(self) -> None:
        """Doubles what is short, if the limit allows it."""
        memory = self.memory
        sets, moves = len(memory.sets), len(memory.moves)
        if memory.used[0] == sets:
            sets *= 2
        if memory.used[1] + len(self.room.legal) > moves:
            moves *= 2
        if PER_SET * sets + MOVE.itemsize * moves > self.most:
            self.is_full = True
            return
        if moves > len(memory.moves):
            self.memory = self.memory._replace(moves=larger(memory.moves, moves))
        if sets > len(memory.sets):
            self.memory = self.memory._replace(
                keys=np.zeros(2 * sets, dtype=np.uint64),
                places=np.empty(2 * sets, dtype=np.int64),
                sets=larger(memory.sets, sets),
            )
            rehash(memory.keys, self.memory)
        self.memory.used[2:] = sets, moves

    def tried(self, infoset: np.uint64) -> list[Tried]:
        """The moves of an information set; none where nothing is known of it."""
        place = place_of(self.memory, infoset)
        if place < 0:
            return []
        _, _, first, count, _ = self.memory.sets[place].tolist()
        moves = self.memory.moves[first : first + count].tolist()
        judged = self.evaluator.priors
        return [(action, visits, total, doubt if judged else 0.0) for total, _, doubt, action, visits in moves]

    def line(self, action: int) -> tuple[int, ...]:
        """How play may go on after a move, in the world where the search began."""
        line = np.empty(self.game.spec.longest + 1, dtype=np.int32)
        line[0] = action
        n = follow(self.game.rulebook, self.room.world.copy(), self.memory, line)
        return tuple(line[:n].tolist())
