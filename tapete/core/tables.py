"""Many games side by side, for learners: their states in one array, one compiled call a step for all of them.

Arrays are filled in place and stay where they are, so that a training loop allocates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from tapete.core.compile import DOUBLES, INTS, LONGS, ahead, helper
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.crew import WORD_ROWS, Crew, task
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.evaluator import Evaluator, MakeEvaluator
from tapete.core.game import Game, State
from tapete.core.players import SEATED, Seated, choose
from tapete.core.records import copy_state, opener, words_of
from tapete.core.rng import Rng, below

STATES = types.uint8[:, ::1]
FLAGS = types.int8[::1]
FLOAT_ROWS = types.float32[:, ::1]
DOUBLE_ROWS = types.float64[:, ::1]
INT_ROWS = types.int32[:, ::1]


class Floor(NamedTuple):
    """B tables as a task sees them."""

    states: NDArray[np.uint8]  # [B, bytes]
    ended: NDArray[np.uint8]  # [B, bytes] the state in which the last game at the table ended
    movers: NDArray[np.int32]  # [B] the seat to move; TERMINAL where a game is over and nobody began another
    legal: NDArray[np.int32]  # [B, max_actions] the mover's legal actions, ascending
    counts: NDArray[np.int32]  # [B] how many they are; 0 where the game is over
    over: NDArray[np.int8]  # [B] whether the last step ended the game
    rewards: NDArray[np.float64]  # [B, seats] the payoffs, where the last step ended the game; else zeros
    games: NDArray[np.int64]  # [B] how many ended so far, those that never came to the caller among them
    totals: NDArray[np.float64]  # [B, seats] the payoffs of all those games, added up
    chance: NDArray[np.uint64]  # [B, 4] the stream that cards are drawn from
    choice: NDArray[np.uint64]  # [B, 4] the stream of `sample` and of compiled players
    size: int  # bytes of a state
    width: int  # max_actions
    seats: int


NUMBER = types.int64
FLOOR = types.NamedTuple(
    [
        *(STATES, STATES, INTS, INT_ROWS, INTS, FLAGS, DOUBLE_ROWS, LONGS, DOUBLE_ROWS, WORD_ROWS, WORD_ROWS),
        *(NUMBER, NUMBER, NUMBER),
    ],
    Floor,
)


class Order(NamedTuple):
    """What one thread is to do with its share of the tables."""

    rulebook: NDArray[np.uint64]
    params: NDArray[np.float64]
    first: int  # table of its share
    end: int  # of its share
    restart: int  # whether a finished game is followed by another one
    begun: NDArray[np.int8]  # [B] where a game is to begin
    chosen: NDArray[np.int32]  # [B] actions to be made
    sampled: NDArray[np.int32]  # [B] out: actions drawn
    looking: NDArray[np.int32]  # [B] which seat looks; nobody where it is negative
    watched: NDArray[np.uint8]  # [B, bytes] at what
    seen: NDArray[np.float32]  # [B, observation_size] out
    masks: NDArray[np.int8]  # [B, actions] out
    offsets: NDArray[np.int64]  # [B + 1] where the rows of a table's actions begin
    rows: NDArray[np.float32]  # [actions of all tables, feature_size] out
    observation_size: int
    actions: int
    feature_size: int


ORDER = types.NamedTuple(
    [
        *(RULEBOOK, DOUBLES, NUMBER, NUMBER, NUMBER, FLAGS, INTS, INTS, INTS, STATES, FLOAT_ROWS, FLAGS, LONGS),
        *(FLOAT_ROWS, NUMBER, NUMBER, NUMBER),
    ],
    Order,
)
# A thread is handed the words of three records, one behind the other.
SEATED_AT = len(Floor._fields)
ORDER_AT = SEATED_AT + len(Seated._fields)
open_floor, open_seated, open_order = opener(FLOOR), opener(SEATED), opener(ORDER)

ASK = 1  # instead of the address of a player: the caller of `step` decides
CALLER = Evaluator(None, priors=True, values=False)
PATIENCE = 10_000  # games in a row that may end before the caller has to move


class Features(NamedTuple):
    """The legal actions of all tables as numbers, one table after another."""

    rows: NDArray[np.float32]  # [actions of all tables, feature_size]
    offsets: NDArray[np.int64]  # [B + 1] the actions of table i are rows offsets[i] to offsets[i + 1]


class Tables:
    """B games side by side.

    `players` are compiled players, one a seat (`tapete.core.players`), or None where the caller decides; without it the
    caller decides everywhere. Seats with a player move inside of `step`, so that the caller meets its own decisions
    only.

    With `restart` a finished game is followed by another one at the same table in the same step; else the table waits
    for `begin`. A game that compiled players end before the caller has to move is counted (`games`, `totals`), and
    followed by the next. Every table has random streams of its own, named by its number: what happens there depends
    neither on how many tables there are nor on `threads`, the caller's and those that help it (`tapete.core.crew`).
    One thread at a time may use an object.

    >>> from tapete.core import make
    >>> tables = Tables(make("kuhn"), 4, Rng(1))
    >>> while tables.games.sum() < 100:
    ...     tables.step(tables.sample())
    >>> tables.movers.shape, tables.observe().shape, tables.mask().shape
    ((4,), (4, 9), (4, 2))
    """

    def __init__(
        self,
        game: Game,
        size: int,
        rng: Rng,
        *,
        players: Sequence[MakeEvaluator | None] = (),
        restart: bool = True,
        threads: int = 1,
    ) -> None:
        if size < 1 or threads < 1:
            raise TapeteError(f"at least one table and one thread are needed, not {size} and {threads}")
        if players and len(players) != game.players:
            raise TapeteError(f"{game} has {game.players} seats, not {len(players)}")
        if players and None not in players:
            raise TapeteError("no seat is left to the caller; `tapete.core.players.play` plays whole games")
        self.game, self.restart, spec = game, restart, game.spec
        self._has_players = bool(players)
        self.floor = Floor(
            np.zeros((size, game.size), dtype=np.uint8),
            np.zeros((size, game.size), dtype=np.uint8),
            np.zeros(size, dtype=np.int32),
            np.zeros((size, max(spec.max_actions, 1)), dtype=np.int32),
            np.zeros(size, dtype=np.int32),
            np.zeros(size, dtype=np.int8),
            np.zeros((size, spec.players)),
            np.zeros(size, dtype=np.int64),
            np.zeros((size, spec.players)),
            np.array([rng.spawn("chance", i).words for i in range(size)]),
            np.array([rng.spawn("choice", i).words for i in range(size)]),
            game.size,
            max(spec.max_actions, 1),
            spec.players,
        )
        self.movers, self.legal, self.counts = self.floor.movers, self.floor.legal, self.floor.counts
        self.rewards, self.over = self.floor.rewards, self.floor.over.view(np.bool_)
        self.games, self.totals = self.floor.games, self.floor.totals
        self._order = Order(
            rulebook=game.rulebook,
            params=game.params,
            first=0,
            end=size,
            restart=restart,
            begun=np.ones(size, dtype=np.int8),
            chosen=np.zeros(size, dtype=np.int32),
            sampled=np.zeros(size, dtype=np.int32),
            looking=np.zeros(size, dtype=np.int32),
            watched=self.floor.states,
            seen=np.zeros((size, spec.observation_size), dtype=np.float32),
            masks=np.zeros((0, spec.actions), dtype=np.int8),  # as large as the tables once it is asked for
            offsets=np.zeros(size + 1, dtype=np.int64),
            rows=np.zeros((0, spec.feature_size), dtype=np.float32),  # grows to the most that was ever needed
            observation_size=spec.observation_size,
            actions=spec.actions,
            feature_size=spec.feature_size,
        )
        self._seen = self._order.seen
        ends = [size * i // threads for i in range(threads + 1)]  # as even as can be
        shares = [(first, end) for first, end in pairwise(ends) if end > first]
        self._seated = [_sit_down(game, players) for _ in shares]
        words = [
            [*words_of(self.floor), *words_of(seated), *words_of(self._order._replace(first=first, end=end))]
            for (first, end), (seated, _) in zip(shares, self._seated, strict=True)
        ]
        self._kept = [self.floor, self._seated, self._order]  # what the words point at
        self._crew = Crew(np.array(words, dtype=np.uint64), self._kept)
        self.begin()

    def __len__(self) -> int:
        return len(self.movers)

    def _point(self, **arrays: NDArray[Any]) -> None:
        """Puts other arrays into the order."""
        for name, array in arrays.items():
            if array is not getattr(self._order, name):
                changed: dict[str, Any] = {name: array}
                self._order = self._kept[-1] = self._order._replace(**changed)
                self._crew.words[:, ORDER_AT + Order._fields.index(name)] = array.ctypes.data

    def begin(self, which: ArrayLike | None = None) -> None:
        """Begins a game at these tables (a mask [B]; all of them, if it isn't said), whatever was there."""
        self._order.begun[:] = True if which is None else np.asarray(which, dtype=np.bool_)
        self._do(_begin)
        self._expect_movers()

    def _do(self, task: Any) -> None:
        """All threads do a task. Rules that are written in Python may complain of it (`tapete.bridges.guests`)."""
        self._crew.do(task)
        self.game.rulebook  # noqa: B018 (an error that was met is raised here)

    def _expect_movers(self) -> None:
        """Complains where compiled players leave nothing to the caller."""
        if self.restart and self._has_players and (self.movers == TERMINAL).any():
            raise TapeteError(f"{PATIENCE} games of {self.game} in a row ended before the caller had to move")

    def step(self, actions: NDArray[np.int32]) -> None:
        """One move at each table [B], and all that happens until the caller has to move again. See `check`.

        `over` and `rewards` tell which games ended with it. Moves at tables that wait for `begin` are not made.
        """
        if np.shape(actions) != self.movers.shape:
            raise TapeteError(f"{len(self)} actions are needed, not {np.shape(actions)}")
        np.copyto(self._order.chosen, actions, casting="same_kind")
        self._do(_step)
        self._expect_movers()

    def sample(self) -> NDArray[np.int32]:
        """A legal action at each table [B], any of them, by the table's own stream; overwritten by the next call.

        Where the game is over it is 0.
        """
        self._do(_sample)
        return self._order.sampled

    def check(self, actions: NDArray[np.int32]) -> None:
        """Raises if one of the actions is not legal at its table; `step` trusts its caller."""
        for i, (action, row, n) in enumerate(zip(actions, self.legal, self.counts, strict=True)):
            if n and action not in row[:n]:
                raise IllegalAction(f"action {action} can't be played at table {i}")

    def mask(self) -> NDArray[np.bool_]:
        """Which actions are legal [B, actions]; overwritten by the next call."""
        if not len(self._order.masks):
            self._point(masks=np.zeros((len(self), self._order.actions), dtype=np.int8))
        self._do(_mask)
        return self._order.masks.view(np.bool_)

    def observe(
        self, seats: ArrayLike | None = None, *, ended: bool = False, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """What these seats see at their tables [B, observation_size]; overwritten by the next call without `out`.

        `seats` is one for all tables, or one for each [B]; without it, who is to move. With `ended`, what they saw when
        the last game at the table was over: the last observation before a restart. Seats with a shorter observation
        than others leave the rest of the row as it is; rows are zeros where nobody looks (a negative seat).
        """
        out = self._seen if out is None else out
        if out.shape != self._seen.shape or out.dtype != np.float32 or not out.flags.carray:
            raise TapeteError(f"observations need an array of float32 {self._seen.shape}, one row behind the other")
        looking = self._order.looking
        looking[:] = self.movers if seats is None else seats
        if looking.max() >= self.game.players:
            raise TapeteError(f"{self.game} has seats 0 to {self.game.players - 1}, not {looking.max()}")
        self._point(watched=self.floor.ended if ended else self.floor.states, seen=out)
        self._do(_observe)
        return out

    def features(self) -> Features:
        """Every legal action of every table as numbers; overwritten by the next call.

        What belongs together is told by offsets: nothing is padded, so a network scores all of it in one call.
        """
        offsets = self._order.offsets
        np.cumsum(self.counts, out=offsets[1:])
        total = int(offsets[-1])
        if total > len(self._order.rows):
            self._point(rows=np.zeros((total + total // 2, self._order.feature_size), dtype=np.float32))
        self._do(_features)
        return Features(self._order.rows[:total], offsets)

    def state(self, i: int) -> State:
        """A copy of one table's state, for looking at it."""
        return State(self.game, self.floor.states[i].copy(), None)


def _sit_down(game: Game, players: Sequence[MakeEvaluator | None]) -> tuple[Seated, list[Any]]:
    """The players of one thread, and what has to live as long as they do."""
    made = [make() if make else CALLER for make in players or [None] * game.players]
    models = [player.model for player in made]
    seated = Seated.of(game, made, models)
    for seat, player in enumerate(made):
        if player is CALLER:
            seated.functions[seat] = ASK
    return seated, [made, models]


@helper
def _forget_end(floor: Any, i: int) -> None:
    """What the step before told is no longer so."""
    if floor.over[i]:
        floor.over[i] = 0
        for seat in range(floor.seats):
            floor.rewards[i * floor.seats + seat] = 0.0


@helper
def _advance(words: Any, i: int) -> Any:
    """Lets chance and the compiled players move until the caller has to; returns who that is, or TERMINAL."""
    floor, seated, order = open_floor(words), open_seated(ahead(words, SEATED_AT)), open_order(ahead(words, ORDER_AT))
    state, book = ahead(floor.states, i * floor.size), order.rulebook
    rules = open_rules(book)
    who = rules.player(state)
    while who != TERMINAL:
        if who == CHANCE:
            rules.apply(state, rules.draw(state, ahead(floor.chance, 4 * i)))
        elif seated.functions[who] == ASK:
            break
        else:
            legal = ahead(floor.legal, i * floor.width)
            n = rules.actions(state, legal)
            chosen = choose(book, state, who, legal, n, seated, who, ahead(floor.choice, 4 * i))
            rules.apply(state, legal[chosen])
        who = rules.player(state)
    return who


@helper
def _settle(words: Any, i: int) -> None:
    """A game is over: pays, and keeps the first end of a step for the caller to look at."""
    floor, payoffs = open_floor(words), open_seated(ahead(words, SEATED_AT)).values
    seats, state = floor.seats, ahead(floor.states, i * floor.size)
    open_rules(open_order(ahead(words, ORDER_AT)).rulebook).returns(state, payoffs)
    for seat in range(seats):
        floor.totals[i * seats + seat] += payoffs[seat]
    floor.games[i] += 1
    if not floor.over[i]:
        floor.over[i] = 1
        for seat in range(seats):
            floor.rewards[i * seats + seat] = payoffs[seat]
        copy_state(ahead(floor.ended, i * floor.size), state, floor.size)


@helper
def _arrive(words: Any, i: int) -> None:
    """Goes on at a table until the caller has to move there, or for good where games don't restart."""
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    state, rules = ahead(floor.states, i * floor.size), open_rules(order.rulebook)
    who = _advance(words, i)
    patience = PATIENCE
    while who == TERMINAL:
        _settle(words, i)
        patience -= 1
        if not order.restart or patience == 0:
            break
        rules.start(state, order.params)
        who = _advance(words, i)
    floor.movers[i] = who
    floor.counts[i] = rules.actions(state, ahead(floor.legal, i * floor.width)) if who != TERMINAL else 0


@task
def _begin(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        if order.begun[i]:
            _forget_end(floor, i)
            open_rules(order.rulebook).start(ahead(floor.states, i * floor.size), order.params)
            _arrive(words, i)


@task
def _step(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        _forget_end(floor, i)
        if floor.movers[i] != TERMINAL:
            open_rules(order.rulebook).apply(ahead(floor.states, i * floor.size), order.chosen[i])
            _arrive(words, i)


@task
def _sample(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        n = floor.counts[i]
        order.sampled[i] = floor.legal[i * floor.width + below(ahead(floor.choice, 4 * i), n)] if n > 0 else 0


@task
def _mask(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        mask, legal = ahead(order.masks, i * order.actions), ahead(floor.legal, i * floor.width)
        for action in range(order.actions):
            mask[action] = 0
        for j in range(floor.counts[i]):
            mask[legal[j]] = 1


@task
def _observe(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    rules = open_rules(order.rulebook)
    for i in range(order.first, order.end):
        seen = ahead(order.seen, i * order.observation_size)
        if order.looking[i] >= 0:
            rules.observe(ahead(order.watched, i * floor.size), order.looking[i], seen)
        else:
            for k in range(order.observation_size):
                seen[k] = 0.0


@task
def _features(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    rules, size = open_rules(order.rulebook), order.feature_size
    for i in range(order.first, order.end):
        state, legal = ahead(floor.states, i * floor.size), ahead(floor.legal, i * floor.width)
        for j in range(floor.counts[i]):
            rules.features(state, legal[j], ahead(order.rows, (order.offsets[i] + j) * size))
