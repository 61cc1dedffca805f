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

from tapete.core import Game, Rng, TapeteError, Thought, View, check_asked
from tapete.core.evaluator import Evaluator
from tapete.core.records import words_of
from tapete.search.infosets import follow, forget, grow_played, grow_puct, grow_uct, rehash, root_of
from tapete.search.mcts import FIRST_PLAY, PUCT
from tapete.search.memory import INFOSET, MOVE, PLAN_AT, Memory, Plan, Room, Worlds, bytes_each
from tapete.search.playout import playouts
from tapete.search.roots import Tried, conclude
from tapete.search.spending import MEMORY, Budget, larger, spend
from tapete.search.tree import Leaf

UCT = 1.0  # of half the range of payoffs
INFOSETS = 1 << 8  # with which a tree begins; a power of two, as the size of a hash table is
MOVES_EACH = 4  # for which there is room then, on the average
OPPONENTS = ("search", "random")
RECALLED = 8  # of the memory, the part that worlds may take that were met before
SEAT, MAY_STOP = (PLAN_AT + Plan._fields.index(name) for name in ("seat", "may_stop"))  # among the words of a tree
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
        check_asked(view)
        with self._lock:
            if len(self.trees) != budget.threads:
                share = self.memory // budget.threads
                self.trees = [
                    _Tree(self.game, self.evaluator(), self.c, self.random_opponents, share)
                    for _ in range(budget.threads)
                ]
            world = view.sample(rng).data
            for tree in self.trees:
                tree.begin(world, view.seat, self.keep)
            spend(budget, lambda thread, count, stream: self.trees[thread].grow(count, stream), rng)
            roots = [tree.tried() for tree in self.trees]
            legal = [move[0] for move in roots[0]] or view.actions()
            return conclude(legal, roots, self.trees[0].line)


class _Tree:
    """The tree of one thread."""

    def __init__(self, game: Game, evaluator: Evaluator, c: float | None, random_opponents: bool, memory: int) -> None:
        spec = game.spec
        self.game, self.evaluator = game, evaluator
        self.kernel = (grow_puct if evaluator.values else grow_played) if evaluator.priors else grow_uct
        self.worlds = Worlds.within(memory // RECALLED, game.size, spec.players)
        self.most = memory - self.worlds.capacity * bytes_each(game.size, spec.players)
        sets = INFOSETS
        while sets > 2 and PER_SET * sets + MOVE.itemsize * max(MOVES_EACH * sets, spec.max_actions) > self.most:
            sets //= 2
        moves = max(MOVES_EACH * sets, spec.max_actions)
        self.memory = Memory(
            keys=np.zeros(2 * sets, dtype=np.uint64),
            places=np.empty(2 * sets, dtype=np.int64),
            sets=np.empty(sets, dtype=INFOSET),
            moves=np.empty(moves, dtype=MOVE),
            used=np.array([0, 0, sets, moves]),
            bounds=np.array([math.inf, -math.inf, 0.0]),
        )
        self.room = Room(
            world=np.zeros(game.size, dtype=np.uint8),
            state=np.zeros(game.size, dtype=np.uint8),
            legal=np.zeros(spec.max_actions, dtype=np.int32),
            path=np.zeros(3 * (spec.longest + 1), dtype=np.int64),
            values=np.zeros(spec.players),
            priors=np.zeros(spec.max_actions, dtype=np.float32),
        )
        self._line = np.empty(spec.longest + 1, dtype=np.int32)
        self.leaf = Leaf(evaluator.address, evaluator.model)
        plan = Plan(
            size=game.size,
            widest=spec.max_actions,
            players=spec.players,
            seat=0,
            c=c if c is not None else PUCT if evaluator.priors else UCT,
            first_play=FIRST_PLAY,
            random_opponents=random_opponents,
            may_stop=True,
        )
        records = (self.memory, self.worlds, self.room, self.leaf, plan)
        self.words = np.array([word for record in records for word in words_of(record)], dtype=np.uint64)

    @property
    def bytes(self) -> int:
        """Memory of what is remembered."""
        worlds = int(self.worlds.met[0]) * bytes_each(self.game.size, self.game.players)
        return PER_SET * len(self.memory.sets) + MOVE.itemsize * len(self.memory.moves) + worlds

    def begin(self, world: NDArray[np.uint8], seat: int, keep: bool) -> None:
        """Prepares for simulations of a seat; forgets everything unless it should be kept and is not too much."""
        self.room.world[:] = world
        self.words[SEAT] = seat
        if not keep or 2 * self._in_use() > self.most:
            forget(self.words)

    def _in_use(self) -> int:
        """Bytes of the information sets and moves that are remembered."""
        sets, moves = self.memory.used[:2].tolist()
        return PER_SET * sets + MOVE.itemsize * moves

    def grow(self, simulations: int, rng: Rng) -> None:
        """Adds simulations, and memory where they need it."""
        while done := self.kernel(self.game.rulebook, self.words, rng.words, simulations) - simulations:
            simulations = -done
            self._enlarge()

    def _enlarge(self) -> None:
        """Doubles what is short, if the limit allows it."""
        old = self.memory
        sets, moves = len(old.sets), len(old.moves)
        if old.used[0] == sets:
            sets *= 2
        if old.used[1] + len(self.room.legal) > moves:
            moves *= 2
        if PER_SET * sets + MOVE.itemsize * moves > self.most:
            self.words[MAY_STOP] = False
            return
        old.used[2:] = sets, moves
        if moves > len(old.moves):
            self.memory = self.memory._replace(moves=larger(old.moves, moves))
        if sets > len(old.sets):
            self.memory = self.memory._replace(
                keys=np.zeros(2 * sets, dtype=np.uint64),
                places=np.empty(2 * sets, dtype=np.int64),
                sets=larger(old.sets, sets),
            )
        self.words[: len(self.memory)] = words_of(self.memory)
        if sets > len(old.sets):
            rehash(old.keys, self.words)

    def tried(self) -> list[Tried]:
        """The moves where the search began; none where nothing is known of them."""
        place = root_of(self.game.rulebook, self.words)
        if place < 0:
            return []
        _, _, first, count, _ = self.memory.sets[place].item()
        moves = self.memory.moves[first : first + count].tolist()
        if self.evaluator.priors:
            return [(action, visits, total, prior) for total, _, prior, action, visits in moves]
        return [(action, visits, total, 0.0) for total, _, _, action, visits in moves]

    def line(self, action: int) -> tuple[int, ...]:
        """How play may go on after a move, in the world where the search began."""
        self._line[0] = action
        n = follow(self.game.rulebook, self.words, self._line)
        return tuple(self._line[:n].tolist())
