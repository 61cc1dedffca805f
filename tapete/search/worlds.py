"""Search over sampled worlds: what a player would do next, tried out in deals that may be the real one.

For games of hidden information with a player that judges moves, as a network does that foresees how a game ends. The
player's own opinion chooses a few moves. Then, again and again, the hidden cards are dealt anew; of several such worlds
one is kept, the likelier the better the moves that were seen fit somebody's opinion of them (`take_back` of
`tapete.core.worlds`); and every candidate is played out in it until the game is over or the game itself knows who wins
with open cards (`endgame`). The candidates share their worlds, so what is lucky for one is lucky for all, and those
that fall behind are given up. A playout need not come to the end: where the seat is to move again after a round or so,
what the player foresees there is as good, and varies less.

Who the others are is not known either. Each of them plays as the searcher does or as somebody else, a player who goes
by rules of thumb for instance: in every world they are cast anew, the likelier for a part the better their moves fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core import Game, Rng, Thought, View, choices
from tapete.core.compile import (
    BYTES,
    DOUBLES,
    INTS,
    LONGS,
    WORDS,
    ahead,
    helper,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator, MakeEvaluator, open_evaluator, words_at
from tapete.core.players import SEATED, Seated, choose
from tapete.core.records import copy_state, pointers
from tapete.core.rng import uniform
from tapete.core.worlds import UNKNOWN, endgame_of, open_take_back, take_back_of
from tapete.search.spending import Budget, spend
from tapete.search.tree import LEAF, Leaf

CANDIDATES = 5  # moves that are tried out, at most
MARGIN = 0.5  # and that the player foresees no more than this behind the best
STEPS = 3  # worlds that are offered until the next one that is played
FIRST_STEPS = 32  # until the first
LOOK_BACK = 12  # moves that are looked at to find out how likely a world is, and who plays there
TEMPERATURE = 0.15  # how much worse than the best a move may be foreseen that is still made now and then
ODD = 0.1  # how likely somebody makes a move that he would not, who says what he would do and not how much better it is
HORIZON = 3  # moves of a playout after which the player's own opinion ends it, at the seat's next choice
TRUST = 12.0  # how many playouts the player's own opinion is worth
IMPATIENCE = 0.003  # of what is won, for every move that it takes: who can finish, finishes
SURELY = 16  # playouts that every candidate gets
DOUBT = 2.5  # standard errors that a candidate must be behind the best to be given up
SELF = 0  # the searcher among the players that may sit there


class Room(NamedTuple):
    """What one thread works with."""

    root: NDArray[np.uint8]  # [bytes] a world of the seat's
    offered: NDArray[np.uint8]  # [bytes] one that may be kept
    world: NDArray[np.uint8]  # [bytes] the one that was
    state: NDArray[np.uint8]  # [bytes] where moves are made, and taken back
    legal: NDArray[np.int32]  # [max_actions]
    fits: NDArray[np.float64]  # [seats, players] how well the moves of each seat fit each player in the offered world
    likely: NDArray[np.float64]  # [1] how likely the moves that were seen are in the kept world; 0: there is none yet
    cast: NDArray[np.int64]  # [seats] which of the players sits there in the kept world
    moves: NDArray[np.int32]  # [candidates]
    totals: NDArray[np.float64]  # [candidates] won less lost
    counts: NDArray[np.int64]  # [candidates] playouts
    in_race: NDArray[np.int64]  # [candidates] those that have not fallen behind
    gains: NDArray[np.float64]  # [candidates] in the last world
    products: NDArray[np.float64]  # [candidates, candidates] gains of two in the same world, added up


class Plan(NamedTuple):
    """The constants of a search."""

    size: int  # bytes of a state
    seat: int
    seats: int
    players: int  # that may sit there
    take_back: int  # an address, or 0


ROOM = types.NamedTuple(
    [BYTES, BYTES, BYTES, BYTES, INTS, DOUBLES, DOUBLES, LONGS, INTS, DOUBLES, LONGS, LONGS, DOUBLES, DOUBLES], Room
)
PLAN = types.NamedUniTuple(types.int64, 5, Plan)


@helper
def ask(rulebook: Any, state: Any, seat: int, legal: Any, n: int, seated: Any, player: int, rng: Any) -> None:
    """Fills `seated.priors` with what a player would do, and `seated.values` with what it expects of its best move."""
    model = words_at(seated.models[player])
    open_evaluator(seated.functions[player])(rulebook, state, seat, legal, n, model, rng, seated.values, seated.priors)


@helper
def foresee(rulebook: Any, state: Any, seat: int, legal: Any, n: int, seated: Any, rng: Any) -> Any:
    """What the searcher's own player expects of the best of these moves."""
    ask(rulebook, state, seat, legal, n, seated, SELF, rng)
    return seated.values[seat]


@helper
def fit(rulebook: Any, room: Any, seat: int, n: int, action: int, seated: Any, player: int, rng: Any) -> float:
    """How well a move that was made, one of n, fits a player: 1 if he would have made it himself."""
    state = room.state
    ask(rulebook, state, seat, room.legal, n, seated, player, rng)
    for i in range(n):
        if room.legal[i] == action and seated.priors[i] > 0.5:
            return 1.0
    if player != SELF:
        return ODD
    best, first = seated.values[seat], room.legal[0]
    room.legal[0] = action
    worse = best - foresee(rulebook, state, seat, room.legal, 1, seated, rng)
    room.legal[0] = first
    return math.exp(-worse / TEMPERATURE)


@helper
def likelihood(fits: Any, plan: Any) -> float:
    """How likely the moves of all seats are, whoever the others may be."""
    likely = 1.0
    for seat in range(plan.seats):
        total = 0.0
        for player in range(plan.players):
            total += fits[seat * plan.players + player]
        likely *= total
    return likely


@helper
def look_back(rulebook: Any, room: Any, seated: Any, plan: Any, least: float, rng: Any) -> float:
    """Fills `fits` for an offered world and returns how likely its moves are, or less once that is below the least."""
    rules, likely = open_rules(rulebook), 1.0
    copy_state(room.state, room.offered, plan.size)
    for i in range(plan.seats * plan.players):
        room.fits[i] = 1.0 / plan.players
    for _ in range(LOOK_BACK if plan.take_back else 0):
        action = open_take_back(np.uint64(plan.take_back))(room.state)
        if action == UNKNOWN:
            break
        mover = rules.player(room.state)
        n = rules.actions(room.state, room.legal) if mover != plan.seat else 0
        if n > 1:
            for player in range(plan.players):
                how_well = fit(rulebook, room, mover, n, action, seated, player, rng)
                room.fits[mover * plan.players + player] *= how_well
            likely = likelihood(room.fits, plan)
            if likely < least:
                break
    return likely


@helper
def cast(room: Any, plan: Any, rng: Any) -> None:
    """Draws who plays each seat, by how well he fits there; the searcher's own is his."""
    for seat in range(plan.seats):
        fits, total = ahead(room.fits, seat * plan.players), 0.0
        room.cast[seat] = SELF
        for player in range(plan.players if seat != plan.seat else 0):
            total += fits[player]
            if uniform(rng) * total < fits[player]:
                room.cast[seat] = player


@helper
def draw_world(rulebook: Any, room: Any, seated: Any, plan: Any, rng: Any) -> None:
    """Goes on to another world and who plays there, in a chain that is in each as often as it fits (Metropolis)."""
    rules, steps = open_rules(rulebook), STEPS if room.likely[0] else FIRST_STEPS
    for _ in range(steps if plan.take_back else 1):
        copy_state(room.offered, room.root, plan.size)
        rules.redeal(room.offered, plan.seat, rng)
        least = uniform(rng) * room.likely[0]
        likely = look_back(rulebook, room, seated, plan, least, rng)
        if likely >= least:
            room.likely[0] = likely
            copy_state(room.world, room.offered, plan.size)
            cast(room, plan, rng)


@helper
def play_out(rulebook: Any, room: Any, seated: Any, endgame: Any, plan: Any, rng: Any) -> float:
    """Plays on, to the end or to a choice of the seat's after a while: what it wins, -1 if it loses.

    The longer that takes, the less it is.
    """
    rules, state, patience, moves = open_rules(rulebook), room.state, 1.0, 0
    while True:
        who = rules.player(state)
        if who == TERMINAL:
            rules.returns(state, seated.values)
            return patience if seated.values[plan.seat] > 0 else np.sign(seated.values[plan.seat])
        if who == CHANCE:
            rules.apply(state, rules.draw(state, rng))
            continue
        if endgame.address:
            end = open_evaluator(np.uint64(endgame.address))
            end(rulebook, state, who, room.legal, 0, endgame.model, rng, seated.values, seated.priors)
            if not math.isnan(seated.values[plan.seat]):
                return patience - IMPATIENCE if seated.values[plan.seat] > 0 else -1.0
        n = rules.actions(state, room.legal)
        if moves >= HORIZON and who == plan.seat and n > 1:
            return patience * foresee(rulebook, state, who, room.legal, n, seated, rng)
        moves += 1
        choice = choose(rulebook, state, who, room.legal, n, seated, int(room.cast[who]), rng)
        rules.apply(state, room.legal[choice])
        patience -= IMPATIENCE


@helper
def falls_behind(room: Any, n: int, i: int, best: int) -> bool:
    """Whether one of n candidates is worse than the best, beyond chance: both were played out in the same worlds."""
    worlds = float(room.counts[i])
    behind = (room.totals[best] - room.totals[i]) / worlds
    squares = room.products[best * n + best] - 2.0 * room.products[best * n + i] + room.products[i * n + i]
    return behind > 0.0 and behind > DOUBT * math.sqrt(max(squares / worlds - behind * behind, 0.0) / worlds)


@helper
def drop(room: Any, n: int) -> int:
    """Gives up the candidates that fall behind; returns how many are left."""
    best, left = -1, 0
    for i in range(n):
        if room.in_race[i] and (best < 0 or room.totals[i] > room.totals[best]):
            best = i
    for i in range(n):
        if room.in_race[i] and room.counts[i] >= SURELY and falls_behind(room, n, i, best):
            room.in_race[i] = 0
        left += room.in_race[i]
    return left


@kernel(types.boolean(RULEBOOK, ROOM, SEATED, LEAF, PLAN, WORDS, types.int64))
def try_out(rulebook: Any, arrays: Any, players: Any, end: Any, plan: Any, words: Any, playouts: int) -> bool:
    """Plays the candidates out in world after world, for about as many playouts; True if only one is left."""
    book, rng, room, seated, endgame = (
        uint64_ptr(rulebook), uint64_ptr(words), pointers(arrays), pointers(players), pointers(end),
    )  # fmt: skip
    rules, n, done = open_rules(book), len(arrays.moves), 0
    while done < playouts:
        if drop(room, n) == 1:
            return True
        draw_world(book, room, seated, plan, rng)
        for i in range(n):
            if room.in_race[i]:
                copy_state(room.state, room.world, plan.size)
                rules.apply(room.state, np.int64(room.moves[i]))
                room.gains[i] = play_out(book, room, seated, endgame, plan, rng)
                room.totals[i] += room.gains[i]
                room.counts[i] += 1
                done += 1
        for i in range(n):
            for k in range(n):
                room.products[i * n + k] += room.gains[i] * room.gains[k]
    return False


@kernel(types.void(RULEBOOK, BYTES, types.int64, INTS, SEATED, ROOM, WORDS, DOUBLES))
def rate(rulebook: Any, state: Any, seat: int, legal: Any, players: Any, arrays: Any, words: Any, out: Any) -> None:
    """What the searcher's own player foresees of each legal move."""
    room, seated = pointers(arrays), pointers(players)
    for i in range(len(legal)):
        room.legal[0] = legal[i]
        out[i] = foresee(uint64_ptr(rulebook), state_ptr(state), seat, room.legal, 1, seated, uint64_ptr(words))


class _Thread:
    """What one thread works with: evaluators of its own, because their scratch memory is."""

    def __init__(self, game: Game, players: Sequence[Evaluator]) -> None:
        self.players, self.endgame = players, endgame_of(game)
        self.models = [player.model for player in players]
        self.seated = Seated.of(game, players, self.models)
        self.end = Leaf(self.endgame.address, self.endgame.model) if self.endgame else Leaf(0, np.zeros(1, np.uint64))
        root, offered, world, state = (np.zeros(game.size, dtype=np.uint8) for _ in range(4))
        self.room = Room(
            root=root,
            offered=offered,
            world=world,
            state=state,
            legal=np.zeros(game.spec.max_actions, dtype=np.int32),
            fits=np.zeros(game.players * len(players)),
            likely=np.zeros(1),
            cast=np.zeros(game.players, dtype=np.int64),
            moves=np.zeros(0, dtype=np.int32),
            totals=np.zeros(0),
            counts=np.zeros(0, dtype=np.int64),
            in_race=np.zeros(0, dtype=np.int64),
            gains=np.zeros(0),
            products=np.zeros(0),
        )

    def begin(self, world: NDArray[np.uint8], candidates: list[int]) -> None:
        """Prepares for a search."""
        n = len(candidates)
        self.room.root[:] = world
        self.room.likely[0] = 0.0
        moves = np.array(candidates, dtype=np.int32)
        self.room = self.room._replace(
            moves=moves,
            totals=np.zeros(n),
            counts=np.zeros(n, dtype=np.int64),
            in_race=np.ones(n, dtype=np.int64),
            gains=np.zeros(n),
            products=np.zeros(n * n),
        )


class Worlds:
    """A search of one game."""

    bytes = memory = 0  # nothing is remembered from one move to the next
    keep = False

    def __init__(self, game: Game, player: MakeEvaluator, others: Sequence[MakeEvaluator] = ()) -> None:
        """`player` makes what judges moves and foresees what they lead to, once for each thread.

        `others` make players that other seats may be played by; the searcher's own may sit there in any case.
        """
        self.game, self.players = game, (player, *others)
        self.take_back = take_back_of(game)
        self.threads: list[_Thread] = []
        self._lock = Lock()

    def run(self, view: View, rng: Rng, budget: Budget) -> Thought:
        """Searches for the view's seat, whose turn it must be; a second caller waits."""
        with self._lock:
            while len(self.threads) < budget.threads:
                self.threads.append(_Thread(self.game, [make() for make in self.players]))
            legal = choices(view)
            foreseen = self._rate(view, legal)
            best = max(foreseen.values())
            candidates = sorted(legal, key=lambda action: -foreseen[action])[:CANDIDATES]
            candidates = [action for action in candidates if foreseen[action] >= best - MARGIN]
            if len(candidates) == 1:
                return _thought(legal, candidates[0], foreseen, {})
            for thread in self.threads[: budget.threads]:
                thread.begin(view.sample(rng).data, candidates)
            plan = Plan(self.game.size, view.seat, self.game.players, len(self.players), self.take_back)
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
        rate(self.game.rulebook, world, view.seat, moves, thread.seated, thread.room, Rng("rate").words, out)
        return dict(zip(legal, out.tolist(), strict=True))

    def _try_out(self, thread: int, plan: Plan, playouts: int, rng: Rng) -> bool:
        own = self.threads[thread]
        return try_out(self.game.rulebook, own.room, own.seated, own.end, plan, rng.words, playouts)


def _thought(legal: list[int], chosen: int, values: dict[int, float], visits: dict[int, int]) -> Thought:
    return Thought(
        probabilities={action: float(action == chosen) for action in legal},
        value=values[chosen],
        values=values,
        visits=visits,
        line=(chosen,),
    )
