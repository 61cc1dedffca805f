"""Search over sampled worlds: what a player would do next, tried out in deals that may be the real one.

For games of hidden information with a player that judges moves, as a network does that foresees how a game ends. The
player's own opinion chooses a few moves. Then, again and again, the hidden cards are dealt anew; of several such worlds
one is kept, the likelier the better the moves that were seen fit the player's own opinion of them (`take_back` of
`tapete.core.worlds`); and every candidate is played out in it by the player for all seats, until the game is over or
the game itself knows who wins with open cards (`endgame`). The candidates share their worlds, so what is lucky for one
is lucky for all, and those that fall behind are given up.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core import Game, Rng, Thought, View, choices
from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOATS,
    INTS,
    LONGS,
    WORDS,
    helper,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator, MakeEvaluator, open_evaluator
from tapete.core.players import draw_move
from tapete.core.records import copy_state, pointers
from tapete.core.rng import uniform
from tapete.core.worlds import UNKNOWN, endgame_of, open_take_back, take_back_of
from tapete.search.spending import Budget, spend
from tapete.search.tree import LEAF, Leaf

CANDIDATES = 5  # moves that are tried out, at most
MARGIN = 0.5  # and that the player foresees no more than this behind the best
PROPOSALS = 4  # worlds of which one is kept
LOOK_BACK = 9  # moves that are looked at to find out how likely a world is
TEMPERATURE = 0.15  # how much worse than the best a move may be foreseen that is still made now and then
TRUST = 12.0  # how many playouts the player's own opinion is worth
IMPATIENCE = 0.003  # of what is won, for every move that it takes: who can finish, finishes
SURELY = 8  # playouts that every candidate gets
DOUBT = 1.0  # a mean of n playouts may be wrong by so many times 1 / sqrt(n): what is worse even so, is given up


class Room(NamedTuple):
    """What one thread works with."""

    root: NDArray[np.uint8]  # [bytes] a world of the seat's
    offered: NDArray[np.uint8]  # [bytes] one that may be kept
    world: NDArray[np.uint8]  # [bytes] the one that was
    state: NDArray[np.uint8]  # [bytes] where moves are made, and taken back
    legal: NDArray[np.int32]  # [max_actions]
    values: NDArray[np.float64]  # [seats]
    priors: NDArray[np.float32]  # [max_actions]
    moves: NDArray[np.int32]  # [candidates]
    totals: NDArray[np.float64]  # [candidates] won less lost
    counts: NDArray[np.int64]  # [candidates] playouts


class Plan(NamedTuple):
    """The constants of a search."""

    size: int  # bytes of a state
    seat: int
    take_back: int  # an address, or 0


ROOM = types.NamedTuple([BYTES, BYTES, BYTES, BYTES, INTS, DOUBLES, FLOATS, INTS, DOUBLES, LONGS], Room)
PLAN = types.NamedUniTuple(types.int64, 3, Plan)


@helper
def foresee(rulebook: Any, state: Any, seat: int, legal: Any, n: int, room: Any, leaf: Any, rng: Any) -> Any:
    """What the player expects of the best of these moves."""
    open_evaluator(np.uint64(leaf.address))(rulebook, state, seat, legal, n, leaf.model, rng, room.values, room.priors)
    return room.values[seat]


@helper
def fits(rulebook: Any, room: Any, leaf: Any, plan: Any, rng: Any) -> float:
    """How well the last moves of the others fit an offered world: 1 if the player would have made each of them."""
    rules, doubt = open_rules(rulebook), 0.0
    copy_state(room.state, room.offered, plan.size)
    for _ in range(LOOK_BACK):
        action = open_take_back(np.uint64(plan.take_back))(room.state)
        if action == UNKNOWN:
            break
        mover = rules.player(room.state)
        if mover != plan.seat:
            n = rules.actions(room.state, room.legal)
            if n > 1:
                best = foresee(rulebook, room.state, mover, room.legal, n, room, leaf, rng)
                room.legal[0] = action
                doubt += best - foresee(rulebook, room.state, mover, room.legal, 1, room, leaf, rng)
    return math.exp(-doubt / TEMPERATURE)


@helper
def draw_world(rulebook: Any, room: Any, leaf: Any, plan: Any, rng: Any) -> None:
    """A world, the likelier the better it fits what was seen."""
    rules, total = open_rules(rulebook), 0.0
    for _ in range(PROPOSALS if plan.take_back else 1):
        copy_state(room.offered, room.root, plan.size)
        rules.redeal(room.offered, plan.seat, rng)
        weight = fits(rulebook, room, leaf, plan, rng) + 1e-9 if plan.take_back else 1.0
        total += weight
        if uniform(rng) * total < weight:
            copy_state(room.world, room.offered, plan.size)


@helper
def play_out(rulebook: Any, room: Any, leaf: Any, endgame: Any, plan: Any, rng: Any) -> float:
    """Plays to the end: 1 if the seat wins, -1 if it loses, and a little less the longer it takes."""
    rules, state, patience = open_rules(rulebook), room.state, 1.0
    while True:
        who = rules.player(state)
        if who == TERMINAL:
            rules.returns(state, room.values)
            return patience * np.sign(room.values[plan.seat])
        if who == CHANCE:
            rules.apply(state, rules.draw(state, rng))
            continue
        if endgame.address:
            end = open_evaluator(np.uint64(endgame.address))
            end(rulebook, state, who, room.legal, 0, endgame.model, rng, room.values, room.priors)
            if not math.isnan(room.values[plan.seat]):
                return (patience - IMPATIENCE) * room.values[plan.seat]
        n = rules.actions(state, room.legal)
        choice = 0
        if n > 1:
            foresee(rulebook, state, who, room.legal, n, room, leaf, rng)
            choice = draw_move(room.priors, n, rng)
        rules.apply(state, room.legal[choice])
        patience -= IMPATIENCE


@kernel(types.int64(RULEBOOK, ROOM, LEAF, LEAF, PLAN, WORDS, types.int64))
def try_out(rulebook: Any, arrays: Any, player: Any, end: Any, plan: Any, words: Any, playouts: int) -> int:
    """Plays the candidates out in world after world, for about as many playouts; returns how many they were."""
    book, rng, room, leaf, endgame = (
        uint64_ptr(rulebook), uint64_ptr(words), pointers(arrays), pointers(player), pointers(end),
    )  # fmt: skip
    rules, n, done = open_rules(book), len(arrays.moves), 0
    while done < playouts:
        most = -1.0
        for i in range(n):
            if room.counts[i]:
                most = max(most, room.totals[i] / room.counts[i] - DOUBT / math.sqrt(room.counts[i]))
        draw_world(book, room, leaf, plan, rng)
        for i in range(n):
            played = room.counts[i]
            if played < SURELY or room.totals[i] / played + DOUBT / math.sqrt(played) >= most:
                copy_state(room.state, room.world, plan.size)
                rules.apply(room.state, np.int64(room.moves[i]))
                room.totals[i] += play_out(book, room, leaf, endgame, plan, rng)
                room.counts[i] += 1
                done += 1
    return done


@kernel(types.void(RULEBOOK, BYTES, types.int64, INTS, LEAF, ROOM, WORDS, DOUBLES))
def rate(rulebook: Any, state: Any, seat: int, legal: Any, player: Any, arrays: Any, words: Any, out: Any) -> None:
    """What the player foresees of each legal move."""
    room, leaf = pointers(arrays), pointers(player)
    for i in range(len(legal)):
        room.legal[0] = legal[i]
        out[i] = foresee(uint64_ptr(rulebook), state_ptr(state), seat, room.legal, 1, room, leaf, uint64_ptr(words))


class _Thread:
    """What one thread works with: evaluators of its own, because their scratch memory is."""

    def __init__(self, game: Game, player: Evaluator) -> None:
        self.player, self.endgame = player, endgame_of(game)
        self.leaf = Leaf(player.address, player.model)
        self.end = Leaf(self.endgame.address, self.endgame.model) if self.endgame else Leaf(0, np.zeros(1, np.uint64))
        root, offered, world, state = (np.zeros(game.size, dtype=np.uint8) for _ in range(4))
        self.room = Room(
            root=root,
            offered=offered,
            world=world,
            state=state,
            legal=np.zeros(game.spec.max_actions, dtype=np.int32),
            values=np.zeros(game.players),
            priors=np.zeros(game.spec.max_actions, dtype=np.float32),
            moves=np.zeros(0, dtype=np.int32),
            totals=np.zeros(0),
            counts=np.zeros(0, dtype=np.int64),
        )

    def begin(self, world: NDArray[np.uint8], candidates: list[int]) -> None:
        """Prepares for a search."""
        n = len(candidates)
        self.room.root[:] = world
        moves = np.array(candidates, dtype=np.int32)
        self.room = self.room._replace(moves=moves, totals=np.zeros(n), counts=np.zeros(n, dtype=np.int64))


class Worlds:
    """A search of one game."""

    bytes = memory = 0  # nothing is remembered from one move to the next
    keep = False

    def __init__(self, game: Game, player: MakeEvaluator) -> None:
        """`player` makes what judges moves and foresees what they lead to, once for each thread."""
        self.game, self.player = game, player
        self.take_back = take_back_of(game)
        self.threads: list[_Thread] = []
        self._lock = Lock()

    def run(self, view: View, rng: Rng, budget: Budget) -> Thought:
        """Searches for the view's seat, whose turn it must be; a second caller waits."""
        with self._lock:
            while len(self.threads) < budget.threads:
                self.threads.append(_Thread(self.game, self.player()))
            legal = choices(view)
            foreseen = self._rate(view, legal)
            best = max(foreseen.values())
            candidates = sorted(legal, key=lambda action: -foreseen[action])[:CANDIDATES]
            candidates = [action for action in candidates if foreseen[action] >= best - MARGIN]
            if len(candidates) == 1:
                return _thought(legal, candidates[0], foreseen, {})
            for thread in self.threads[: budget.threads]:
                thread.begin(view.sample(rng).data, candidates)
            plan = Plan(self.game.size, view.seat, self.take_back)
            spend(budget, lambda thread, playouts, stream: self._try_out(thread, plan, playouts, stream), rng)
            rooms = [thread.room for thread in self.threads[: budget.threads]]
            totals = np.sum([room.totals for room in rooms], axis=0)
            counts = np.sum([room.counts for room in rooms], axis=0)
            values = {
                action: (total + TRUST * foreseen[action]) / (count + TRUST)
                for action, total, count in zip(candidates, totals.tolist(), counts.tolist(), strict=True)
            }
            # Only what wins at once, in every world, gains all that there is.
            at_once = [action for action, gained in zip(candidates, totals == counts, strict=True) if gained]
            chosen = max(at_once or candidates, key=lambda action: values[action])
            return _thought(legal, chosen, values, dict(zip(candidates, counts.tolist(), strict=True)))

    def _rate(self, view: View, legal: list[int]) -> dict[int, float]:
        out, moves, thread = np.zeros(len(legal)), np.array(legal, dtype=np.int32), self.threads[0]
        world = view.sample(Rng("rate")).data
        rate(self.game.rulebook, world, view.seat, moves, thread.leaf, thread.room, Rng("rate").words, out)
        return dict(zip(legal, out.tolist(), strict=True))

    def _try_out(self, thread: int, plan: Plan, playouts: int, rng: Rng) -> None:
        own = self.threads[thread]
        try_out(self.game.rulebook, own.room, own.leaf, own.end, plan, rng.words, playouts)


def _thought(legal: list[int], chosen: int, values: dict[int, float], visits: dict[int, int]) -> Thought:
    return Thought(
        probabilities={action: float(action == chosen) for action in legal},
        value=values[chosen],
        values=values,
        visits=visits,
        line=(chosen,),
    )
