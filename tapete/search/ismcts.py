"""Monte Carlo tree search over information sets (Cowling, Powley and Whitehouse 2012), for hidden cards and chance.

Every simulation begins in a world of its own: what the seat can't know is dealt anew by the rules (`redeal`), which see
what the seat knows and nothing else. In the tree every player decides by what *he* knows in that world, because a
node is an information set of whoever moves there: nobody's choice depends on cards that are hidden from him. Payoffs
may be of any size, so the exploration constant is in units of the range of those seen so far.
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

from tapete.core import Game, Rng, State, TapeteError, Thought, View
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
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator, open_evaluator
from tapete.core.hashmap import find, put
from tapete.core.rng import below
from tapete.search.playout import playouts
from tapete.search.roots import conclude
from tapete.search.spending import Budget, spend

UCT = 1.0  # of half the range of payoffs
INFOSETS = 1 << 19  # of a tree, 48 bytes each and 16 a move; when they are used up, no new ones are remembered
MOVES_EACH = 8  # for which there is room, on the average
OPPONENTS = ("search", "random")

# What is known of an information set, and of each of its moves, which are neighbours in memory.
INFOSET = np.dtype([("visits", "i4"), ("slot", "i4"), ("first", "i4"), ("count", "i4")], align=True)
MOVE = np.dtype([("total", "f8"), ("action", "i4"), ("visits", "i4")], align=True)  # payoffs of the mover, added up
SETS, MOVES = from_dtype(INFOSET)[::1], from_dtype(MOVE)[::1]


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
        c: float = UCT,
        opponents: str = "search",
        keep: bool = True,
        infosets: int = INFOSETS,
    ) -> None:
        if opponents not in OPPONENTS:
            raise TapeteError(f"opponents must be one of {', '.join(OPPONENTS)}, not {opponents!r}")
        self.game, self.evaluator, self.c, self.keep = game, evaluator, c, keep
        self.random_opponents = opponents == "random"
        self.infosets = infosets
        self.trees: list[_Tree] = []  # one a thread
        self._lock = Lock()

    def run(self, view: View, rng: Rng, budget: Budget) -> Thought:
        """Searches where the view's seat is to move; who comes while another search runs, waits for it."""
        with self._lock:
            while len(self.trees) < budget.threads:
                self.trees.append(_Tree(self.game, self.evaluator(), self.infosets))
            world = view.sample(rng).data
            trees = self.trees[: budget.threads]

            def grow(thread: int, iterations: int, stream: Rng) -> None:
                trees[thread].grow(world, view.seat, self.c, self.random_opponents, iterations, stream)

            for tree in trees:
                tree.make_room(self.keep)
            spend(budget, grow, rng)
            thought = conclude(view.actions(), (tree.moves(view.infoset) for tree in trees))
            (best,) = thought.line
            return replace(thought, line=trees[0].line(view.sample(rng).apply(best), best))


class _Tree:
    """The memory of one tree: a hash table from what a mover knows to what is known of his moves."""

    def __init__(self, game: Game, evaluator: Evaluator, infosets: int) -> None:
        spec = game.spec
        self.game, self.evaluator, self.model = game, evaluator, evaluator.model
        self.keys = np.zeros(2 * infosets, dtype=np.uint64)
        self.places = np.empty(2 * infosets, dtype=np.int64)  # [slot] where in `sets`
        self.sets: NDArray[np.void] = np.empty(infosets, dtype=INFOSET)
        self.options: NDArray[np.void] = np.empty(max(MOVES_EACH * infosets, spec.max_actions), dtype=MOVE)
        self.used = np.zeros(2, dtype=np.int64)  # sets, moves
        self.range = np.array([math.inf, -math.inf])  # the lowest and the highest payoff so far
        self.state = np.zeros(game.size, dtype=np.uint8)
        self.legal = np.zeros(spec.max_actions, dtype=np.int32)
        self.path = np.zeros((spec.longest + 1, 3), dtype=np.int64)  # sets, moves and movers of a simulation
        self.values = np.zeros(spec.players)
        self.priors = np.zeros(1, dtype=np.float32)  # asked from nobody here

    def make_room(self, keep: bool) -> None:
        """Forgets everything, unless it should be kept and half of the memory is free: most is of moves long past."""
        if not keep or 2 * self.used[0] > len(self.sets) or 2 * self.used[1] > len(self.options):
            self.keys[self.sets["slot"][: self.used[0]]] = 0
            self.used[:] = 0

    def grow(
        self, world: NDArray[np.uint8], seat: int, c: float, random_opponents: bool, iterations: int, rng: Rng
    ) -> None:
        """Adds simulations."""
        _grow(
            self.game.rulebook,
            world,
            self.state,
            seat,
            self.keys,
            self.places,
            self.sets,
            self.options,
            self.used,
            self.range,
            self.evaluator.address,
            self.model,
            c,
            random_opponents,
            self.legal,
            self.path,
            self.values,
            self.priors,
            rng.words,
            iterations,
        )

    def moves(self, infoset: int) -> NDArray[np.void]:
        """What is known of the moves of an information set."""
        place = int(_place(self.keys, self.places, np.uint64(infoset)))
        if place < 0:
            return self.options[:0]
        return self.options[self.sets[place]["first"] :][: self.sets[place]["count"]]

    def line(self, world: State, *line: int) -> tuple[int, ...]:
        """How play may go on in a world after these moves: the most visited ones, until chance decides."""
        while world.player >= 0:
            moves = self.moves(world.infoset(world.player))
            if not len(moves) or not moves["visits"].max():
                break
            line += (int(moves[np.argmax(moves["visits"])]["action"]),)
            world.apply(line[-1])
        return line


@helper
def _remember(
    keys: Any, places: Any, sets: Any, options: Any, used: Any, slot: int, key: Any, legal: Any, n: int
) -> int:
    """Makes room for an information set and its moves; -1 where no memory is left."""
    place, first = used[0], used[1]
    if place == len(sets) or first + n > len(options):
        return -1
    used[0] += 1
    used[1] += n
    put(keys, places, slot, key, place)
    sets[place].visits, sets[place].slot, sets[place].first, sets[place].count = 0, slot, first, n
    for i in range(n):
        move = options[first + i]
        move.total, move.action, move.visits = 0.0, legal[i], 0
    return place


@helper
def _select(sets: Any, options: Any, place: int, weight: float, rng: Any) -> int:
    """The move to try next: any that was never tried, else the one with the highest upper bound."""
    first, count = sets[place].first, sets[place].count
    start = below(rng, count) if sets[place].visits < count else 0
    bonus = weight * math.sqrt(2.0 * math.log(sets[place].visits)) if sets[place].visits > 0 else 0.0
    best, best_score = first, -np.inf
    for i in range(count):
        move = first + (start + i) % count
        n = options[move].visits
        if n == 0:
            return move
        score = (options[move].total + bonus * math.sqrt(n)) / n
        if score > best_score:
            best, best_score = move, score
    return best


@kernel(types.int64(WORDS, LONGS, types.uint64))
def _place(keys: Any, places: Any, key: Any) -> int:
    slot = find(keys, key)
    return places[slot] if keys[slot] != 0 else -1


@kernel(
    types.void(
        RULEBOOK,
        BYTES,
        BYTES,
        types.int64,
        WORDS,
        LONGS,
        SETS,
        MOVES,
        LONGS,
        DOUBLES,
        types.uint64,
        WORDS,
        types.float64,
        types.boolean,
        INTS,
        types.int64[:, ::1],
        DOUBLES,
        FLOATS,
        WORDS,
        types.int64,
    )
)
def _grow(
    rulebook: Any,
    world: Any,
    state: Any,
    seat: int,
    keys: Any,
    places: Any,
    sets: Any,
    options: Any,
    used: Any,
    bounds: Any,
    address: Any,
    model: Any,
    c: float,
    random_opponents: bool,
    legal: Any,
    path: Any,
    values: Any,
    priors: Any,
    words: Any,
    iterations: int,
) -> None:
    rules, evaluate = open_rules(rulebook), open_evaluator(address)
    p, moves, payoffs, rng = state_ptr(state), int32_ptr(legal), float64_ptr(values), uint64_ptr(words)
    for _ in range(iterations):
        for i in range(len(world)):
            state[i] = world[i]
        rules.redeal(p, seat, rng)
        weight = c * max(bounds[1] - bounds[0], 0.0) / 2
        depth = 0
        who = rules.player(p)
        is_known = True
        while who != TERMINAL and is_known:
            if who == CHANCE:
                rules.apply(p, rules.draw(p, rng))
            elif random_opponents and who != seat:
                n = rules.actions(p, moves)
                rules.apply(p, moves[below(rng, n)])
            else:
                key = rules.infoset(p, who)
                slot = find(keys, key)
                is_known = keys[slot] != 0
                if is_known:
                    place = places[slot]
                else:
                    n = rules.actions(p, moves)
                    place = _remember(keys, places, sets, options, used, slot, key, moves, n)
                    if place < 0:
                        break
                move = _select(sets, options, place, weight, rng)
                path[depth, 0], path[depth, 1], path[depth, 2] = place, move, who
                depth += 1
                rules.apply(p, options[move].action)
            who = rules.player(p)
        while who == CHANCE:
            rules.apply(p, rules.draw(p, rng))
            who = rules.player(p)
        if who == TERMINAL:
            rules.returns(p, payoffs)
        else:
            evaluate(uint64_ptr(rulebook), p, who, moves, 0, uint64_ptr(model), rng, payoffs, float32_ptr(priors))
        for i in range(len(values)):
            bounds[0], bounds[1] = min(bounds[0], values[i]), max(bounds[1], values[i])
        for i in range(depth):
            sets[path[i, 0]].visits += 1
            options[path[i, 1]].visits += 1
            options[path[i, 1]].total += values[path[i, 2]]
