"""Many games side by side, for learners: their states in one array, one compiled call a step for all of them.

Arrays are filled in place and stay where they are, so that a training loop allocates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    INTS,
    LONGS,
    ahead,
    first_of,
    float32_ptr,
    float64_ptr,
    helper,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.evaluator import Evaluator, MakeEvaluator
from tapete.core.game import Game, State
from tapete.core.players import SEATED, Seated, choose
from tapete.core.records import copy_state, pointers
from tapete.core.rng import Rng, below

STATES = types.uint8[:, ::1]
FLOAT_ROWS = types.float32[:, ::1]
DOUBLE_ROWS = types.float64[:, ::1]
INT_ROWS = types.int32[:, ::1]
WORD_ROWS = types.uint64[:, ::1]


class Floor(NamedTuple):
    """B tables as a kernel sees them. Views of it are the share of a thread."""

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
        *(STATES, STATES, INTS, INT_ROWS, INTS, types.int8[::1], DOUBLE_ROWS, LONGS, DOUBLE_ROWS, WORD_ROWS, WORD_ROWS),
        *(NUMBER, NUMBER, NUMBER),
    ],
    Floor,
)
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
    neither on how many tables there are nor on `threads`, which pay where a step takes a millisecond: calling another
    thread takes a tenth of that.

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
        self._shares = [_Share(game, self.floor, part, players) for part in _parts(size, threads)]
        self._pool = ThreadPoolExecutor(len(self._shares)) if len(self._shares) > 1 else None
        self._chosen, self._sampled = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.int32)
        self._seats = np.zeros(size, dtype=np.int32)
        self._observations = np.zeros((size, spec.observation_size), dtype=np.float32)
        self._masks = np.zeros((0, spec.actions), dtype=np.uint8)  # as large as the tables once it is asked for
        self._rows = np.zeros((0, spec.feature_size), dtype=np.float32)  # grows to the most that was ever needed
        self._offsets = np.zeros(size + 1, dtype=np.int64)
        self.begin()

    def __len__(self) -> int:
        return len(self.movers)

    def _each(self, work: Callable[[_Share], Any]) -> None:
        """Does the work of every thread; kernels let go of the interpreter."""
        if self._pool is None:
            work(self._shares[0])
        else:
            waiting = [self._pool.submit(work, share) for share in self._shares[1:]]
            work(self._shares[0])
            for future in waiting:
                future.result()

    def begin(self, which: ArrayLike | None = None) -> None:
        """Begins a game at these tables (a mask [B]; all of them, if it isn't said), whatever was there."""
        chosen = np.ones(len(self), dtype=np.uint8)
        if which is not None:
            chosen[:] = np.asarray(which, dtype=np.bool_)
        game = self.game
        restart = self.restart
        self._each(
            lambda share: _begin(game.rulebook, game.params, share.floor, share.seated, chosen[share.part], restart)
        )
        self._expect_movers()

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
        np.copyto(self._chosen, actions, casting="same_kind")
        game, restart = self.game, self.restart
        self._each(
            lambda share: _step(
                game.rulebook, game.params, share.floor, share.seated, self._chosen[share.part], restart
            )
        )
        self._expect_movers()

    def sample(self) -> NDArray[np.int32]:
        """A legal action at each table [B], any of them, by the table's own stream; overwritten by the next call.

        Where the game is over it is 0.
        """
        _sample(self.floor, self._sampled)  # on one thread: it is over before another would have begun
        return self._sampled

    def check(self, actions: NDArray[np.int32]) -> None:
        """Raises if one of the actions is not legal at its table; `step` trusts its caller."""
        for i, (action, row, n) in enumerate(zip(actions, self.legal, self.counts, strict=True)):
            if n and action not in row[:n]:
                raise IllegalAction(f"action {action} can't be played at table {i}")

    def mask(self) -> NDArray[np.bool_]:
        """Which actions are legal [B, actions]; overwritten by the next call."""
        if not len(self._masks):
            self._masks = np.zeros((len(self), self.game.spec.actions), dtype=np.uint8)
        self._each(lambda share: _mask(share.floor, self._masks[share.part]))
        return self._masks.view(np.bool_)

    def observe(
        self, seats: ArrayLike | None = None, *, ended: bool = False, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """What these seats see at their tables [B, observation_size]; overwritten by the next call without `out`.

        `seats` is one for all tables, or one for each [B]; without it, who is to move. With `ended`, what they saw when
        the last game at the table was over: the last observation before a restart. Seats with a shorter observation
        than others leave the rest of the row as it is; rows are zeros where nobody looks (a negative seat).
        """
        out = self._observations if out is None else out
        if seats is None:
            seats = self.movers
        self._seats[:] = seats
        if self._seats.max() >= self.game.players:
            raise TapeteError(f"{self.game} has seats 0 to {self.game.players - 1}, not {self._seats.max()}")
        source = self.floor.ended if ended else self.floor.states
        self._each(
            lambda share: _observe(self.game.rulebook, source[share.part], self._seats[share.part], out[share.part])
        )
        return out

    def features(self) -> Features:
        """Every legal action of every table as numbers; overwritten by the next call.

        What belongs together is told by offsets: nothing is padded, so a network scores all of it in one call.
        """
        np.cumsum(self.counts, out=self._offsets[1:])
        total = int(self._offsets[-1])
        if total > len(self._rows):
            self._rows = np.zeros((total + total // 2, self._rows.shape[1]), dtype=np.float32)
        self._each(
            lambda share: _features(
                self.game.rulebook, share.floor, self._offsets[share.part.start : share.part.stop + 1], self._rows
            )
        )
        return Features(self._rows[:total], self._offsets)

    def state(self, i: int) -> State:
        """A copy of one table's state, for looking at it."""
        return State(self.game, self.floor.states[i].copy(), None)


class _Share:
    """The tables of one thread, and the players that sit there."""

    def __init__(self, game: Game, floor: Floor, part: slice, players: Sequence[MakeEvaluator | None]) -> None:
        self.part = part
        self.floor = Floor(*cast(Any, [x[part] if isinstance(x, np.ndarray) else x for x in floor]))
        made = [make() if make else CALLER for make in players or [None] * game.players]
        self.models = [player.model for player in made]
        self.players = made  # which the addresses in `seated` point into
        self.seated = Seated.of(game, made, self.models)
        for seat, player in enumerate(made):
            if player is CALLER:
                self.seated.functions[seat] = ASK


def _parts(size: int, threads: int) -> list[slice]:
    """The tables of each thread, as even as can be."""
    ends = [size * i // threads for i in range(threads + 1)]
    return [slice(start, end) for start, end in pairwise(ends) if end > start]


@helper
def _forget_end(floor: Any, i: int) -> None:
    """What the step before told is no longer so."""
    if floor.over[i]:
        floor.over[i] = 0
        for seat in range(floor.seats):
            floor.rewards[i * floor.seats + seat] = 0.0


@helper
def _advance(book: Any, state: Any, legal: Any, seated: Any, chance: Any, choice: Any) -> Any:
    """Lets chance and the compiled players move until the caller has to; returns who that is, or TERMINAL."""
    rules = open_rules(book)
    who = rules.player(state)
    while who != TERMINAL:
        if who == CHANCE:
            rules.apply(state, rules.draw(state, chance))
        elif seated.functions[who] == ASK:
            break
        else:
            n = rules.actions(state, legal)
            rules.apply(state, legal[choose(book, state, who, legal, n, seated, who, choice)])
        who = rules.player(state)
    return who


@helper
def _settle(book: Any, floor: Any, state: Any, payoffs: Any, i: int) -> None:
    """A game is over: pays, and keeps the first end of a step for the caller to look at."""
    seats = floor.seats
    open_rules(book).returns(state, payoffs)
    for seat in range(seats):
        floor.totals[i * seats + seat] += payoffs[seat]
    floor.games[i] += 1
    if not floor.over[i]:
        floor.over[i] = 1
        for seat in range(seats):
            floor.rewards[i * seats + seat] = payoffs[seat]
        copy_state(ahead(floor.ended, i * floor.size), state, floor.size)


@helper
def _arrive(book: Any, start: Any, floor: Any, seated: Any, i: int, restart: bool) -> None:
    """Goes on at a table until the caller has to move there, or for good where games don't restart."""
    rules = open_rules(book)
    state, legal = ahead(floor.states, i * floor.size), ahead(floor.legal, i * floor.width)
    chance, choice = ahead(floor.chance, 4 * i), ahead(floor.choice, 4 * i)
    who = _advance(book, state, legal, seated, chance, choice)
    patience = PATIENCE
    while who == TERMINAL:
        _settle(book, floor, state, seated.values, i)
        patience -= 1
        if not restart or patience == 0:
            break
        rules.start(state, start)
        who = _advance(book, state, legal, seated, chance, choice)
    floor.movers[i] = who
    floor.counts[i] = rules.actions(state, legal) if who != TERMINAL else 0


@kernel(types.void(RULEBOOK, DOUBLES, FLOOR, SEATED, BYTES, types.boolean))
def _begin(rulebook: Any, params: Any, arrays: Any, players: Any, which: Any, restart: bool) -> None:
    book, floor, seated = uint64_ptr(rulebook), pointers(arrays), pointers(players)
    for i in range(len(which)):
        if which[i]:
            _forget_end(floor, i)
            open_rules(book).start(ahead(floor.states, i * floor.size), float64_ptr(params))
            _arrive(book, float64_ptr(params), floor, seated, i, restart)


@kernel(types.void(RULEBOOK, DOUBLES, FLOOR, SEATED, INTS, types.boolean))
def _step(rulebook: Any, params: Any, arrays: Any, players: Any, actions: Any, restart: bool) -> None:
    book, floor, seated = uint64_ptr(rulebook), pointers(arrays), pointers(players)
    for i in range(len(actions)):
        _forget_end(floor, i)
        if floor.movers[i] != TERMINAL:
            open_rules(book).apply(ahead(floor.states, i * floor.size), actions[i])
            _arrive(book, float64_ptr(params), floor, seated, i, restart)


@kernel(types.void(FLOOR, INTS))
def _sample(floor: Any, out: Any) -> None:
    choices, legal, width = first_of(floor.choice), first_of(floor.legal), floor.width
    for i in range(len(out)):
        n = floor.counts[i]
        out[i] = legal[i * width + below(ahead(choices, 4 * i), n)] if n > 0 else 0


@kernel(types.void(FLOOR, STATES))
def _mask(floor: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = 0
        for j in range(floor.counts[i]):
            out[i, floor.legal[i, j]] = 1


@kernel(types.void(RULEBOOK, STATES, INTS, FLOAT_ROWS))
def _observe(rulebook: Any, states: Any, seats: Any, out: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(states)):
        if seats[i] >= 0:
            rules.observe(state_ptr(states[i]), seats[i], float32_ptr(out[i]))
        else:
            out[i] = 0.0


@kernel(types.void(RULEBOOK, FLOOR, LONGS, FLOAT_ROWS))
def _features(rulebook: Any, floor: Any, offsets: Any, out: Any) -> None:
    rules = open_rules(rulebook)
    rows, legals = first_of(out), first_of(floor.legal)
    for i in range(len(floor.counts)):
        state, legal = state_ptr(floor.states[i]), ahead(legals, i * floor.width)
        for j in range(floor.counts[i]):
            rules.features(state, legal[j], ahead(rows, (offsets[i] + j) * out.shape[1]))
