"""Many games side by side, for learners: their states in one array, one compiled call a step for all of them.

Arrays are filled in place and stay where they are, so that a training loop allocates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapete.core import floor as tasks
from tapete.core.contract import TERMINAL
from tapete.core.crew import Crew
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.evaluator import Evaluator, MakeEvaluator
from tapete.core.floor import ASK, ORDER_AT, PATIENCE, Floor, Order
from tapete.core.game import Game, State
from tapete.core.players import Seated
from tapete.core.records import apart, words_of
from tapete.core.rng import Rng, check_rng

CALLER = Evaluator(None, priors=True, values=False)


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
    ...     tables.step()
    >>> tables.movers.shape, tables.observe().shape, tables.mask().shape
    ((4,), (4, 9), (4, 2))
    """

    movers: NDArray[np.int32]  # [B] the seat that has to move; TERMINAL where a game is over and waits for `begin`
    legal: NDArray[np.int32]  # [B, max_actions] its legal actions, ascending; `mask` has the same as a mask
    counts: NDArray[np.int32]  # [B] how many of them there are
    over: NDArray[np.bool_]  # [B] which games the last step has ended
    rewards: NDArray[np.float64]  # [B, seats] what those games paid
    games: NDArray[np.int64]  # [B] how many games have ended at each table
    totals: NDArray[np.float64]  # [B, seats] their payoffs added up

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
        check_rng(rng)
        if not isinstance(game, Game):
            raise TapeteError(f"tables are of a Game, as in tapete.make('leduc'), not of {game!r:.60}")
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
            rulebook=apart(game.rulebook),
            params=apart(game.params),
            first=0,
            end=size,
            restart=restart,
            begun=np.ones(size, dtype=np.int8),
            chosen=np.zeros(size, dtype=np.int32),
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
        self._do(tasks.begin)
        self._expect_movers()

    def _do(self, task: Any) -> None:
        """All threads do a task. Rules that are written in Python may complain of it (`tapete.bridges.guests`)."""
        self._crew.do(task)
        self.game.rulebook  # noqa: B018 (an error that was met is raised here)

    def _expect_movers(self) -> None:
        """Complains where compiled players leave nothing to the caller."""
        if self.restart and self._has_players and (self.movers == TERMINAL).any():
            raise TapeteError(f"{PATIENCE} games of {self.game} in a row ended before the caller had to move")

    def step(self, actions: NDArray[np.int32] | None = None) -> None:
        """One move at each table [B], and all that happens until the caller has to move again. See `check`.

        Without `actions`, those that `sample` would draw: the same games, in one call. `over` and `rewards` tell which
        games ended with it. Moves at tables that wait for `begin` are not made.
        """
        if actions is not None and actions is not self._order.chosen:  # where `sample` left its own
            if np.shape(actions) != self.movers.shape:
                raise TapeteError(f"{len(self)} actions are needed, not {np.shape(actions)}")
            np.copyto(self._order.chosen, actions, casting="same_kind")
        self._do(tasks.step_at_random if actions is None else tasks.step)
        self._expect_movers()

    def sample(self) -> NDArray[np.int32]:
        """A legal action at each table [B], any of them, by the table's own stream; overwritten by the next step.

        Where the game is over it is 0.
        """
        self._do(tasks.sample)
        return self._order.chosen

    def check(self, actions: NDArray[np.int32]) -> None:
        """Raises if one of the actions is not legal at its table; `step` trusts its caller."""
        for i, (action, row, n) in enumerate(zip(actions, self.legal, self.counts, strict=True)):
            if n and action not in row[:n]:
                raise IllegalAction(f"action {action} can't be played at table {i}")

    def mask(self) -> NDArray[np.bool_]:
        """Which actions are legal [B, actions]; overwritten by the next call."""
        if not len(self._order.masks):
            self._point(masks=np.zeros((len(self), self._order.actions), dtype=np.int8))
        self._do(tasks.mask)
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
        self._do(tasks.observe)
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
        self._do(tasks.features)
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
