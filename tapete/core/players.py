"""Compiled players: whole games inside one kernel, on deals that can be dealt again.

A player is an evaluator that judges moves (`Evaluator.priors`): it draws a move by the probabilities that it gives. It
comes as a function that makes it, because its scratch memory is for one thread: `random` here, or
``partial(network.evaluator, game)``.

A player is handed the state itself, not a View: it is trusted to look at what its seat may know, by ``infoset`` and
``observe``. `tapete.testing.check_player` finds out if it does.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOATS,
    INTS,
    LONGS,
    WORDS,
    ahead,
    first_of,
    float64_ptr,
    helper,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator, MakeEvaluator, open_evaluator, words_at
from tapete.core.game import Game, View
from tapete.core.records import apart, pointers
from tapete.core.rng import Rng, below, mix, uniform
from tapete.core.thought import choices

RANDOM = 0  # the address of a player that takes any move; no other has it
CHUNK = 1 << 12  # deals that a thread plays in one go; random streams depend on it, so it is fixed
LARGE = 16 * CHUNK  # the same where one stream serves for all, so that a deal is less work
SEAT = 1 << 40  # labels of streams: 0, 1, ... are events of chance, these are seats

Thread = TypeVar("Thread")
Item = TypeVar("Item")


def random() -> Evaluator:
    """A player to whom every legal move is as good as any other."""
    return Evaluator(None, priors=True, values=False)


def rule_player(game: Game) -> Callable[..., Evaluator]:
    """What makes the player that goes by rules of thumb, where the game's folder has one.

    :raises TapeteError: where it has none.
    """
    name = f"{game.package}.player"
    if not importlib.util.find_spec(name):
        raise TapeteError(f"nobody has written rules of thumb for {game}")
    make: Callable[..., Evaluator] = importlib.import_module(name).player
    return make


class Seated(NamedTuple):
    """Players as a kernel calls them, and the room that they write in. For one thread."""

    functions: NDArray[np.uint64]  # [players] addresses
    models: NDArray[np.uint64]  # [players] where the addresses of their arrays are
    priors: NDArray[np.float32]  # [max_actions]
    values: NDArray[np.float64]  # [seats] what an evaluator says of the state, which nobody asked for

    @classmethod
    def of(cls, game: Game, players: Sequence[Evaluator], models: Sequence[NDArray[np.uint64]]) -> Seated:
        """`models[i]` is `players[i].model`; the caller keeps both alive."""
        for i, player in enumerate(players):
            if not player.priors:
                raise TapeteError(f"player {i} judges states and not moves, so it can't choose one")
        return cls(
            apart(np.array([player.address for player in players], dtype=np.uint64)),
            apart(np.array([model.ctypes.data for model in models], dtype=np.uint64)),
            apart(np.zeros(max(game.spec.max_actions, 1), dtype=np.float32)),
            apart(np.zeros(game.players)),
        )


SEATED = types.NamedTuple([WORDS, WORDS, FLOATS, DOUBLES], Seated)


@helper
def seed_stream(rng: Any, key: Any, label: int) -> None:
    """Makes a generator the beginning of the stream that a key and a label name."""
    start = mix(key, np.uint64(label))
    for i in range(4):
        rng[i] = mix(start, np.uint64(i))


@helper
def draw_move(priors: Any, n: int, rng: Any) -> int:
    """One of n moves, each as often as its prior says."""
    left = uniform(rng)
    for i in range(n):
        left -= priors[i]
        if left < 0:
            return i
    best = 0  # rounding ate the last crumb
    for i in range(n):
        if priors[i] > priors[best]:
            best = i
    return best


@helper
def choose(rulebook: Any, state: Any, seat: int, legal: Any, n: int, seated: Any, player: int, rng: Any) -> int:
    """Which of the legal moves a player makes; `seated` has pointers."""
    function = seated.functions[player]
    if function == RANDOM:
        return below(rng, n)
    if n == 1:
        return 0
    model = words_at(seated.models[player])
    open_evaluator(function)(rulebook, state, seat, legal, n, model, rng, seated.values, seated.priors)
    return draw_move(seated.priors, n, rng)


class Desk(NamedTuple):
    """Room for one game. For one thread."""

    state: NDArray[np.uint8]  # [bytes]
    legal: NDArray[np.int32]  # [max_actions]
    streams: NDArray[np.uint64]  # [seats + 1, 4] flat: of the seats, and of chance
    seats: int

    @classmethod
    def of(cls, game: Game) -> Desk:
        """An empty one."""
        return cls(
            np.zeros(game.size, dtype=np.uint8),
            np.zeros(max(game.spec.max_actions, 1), dtype=np.int32),
            np.zeros(4 * (game.players + 1), dtype=np.uint64),
            game.players,
        )


DESK = types.NamedTuple([BYTES, INTS, WORDS, types.int64], Desk)


class Games(NamedTuple):
    """What came of many games."""

    returns: NDArray[np.float64]  # [deals, lineups, seats], or [1, lineups, seats] where they were added up
    decisions: int
    steps: int  # decisions and moves of chance


def play(
    game: Game,
    players: Sequence[MakeEvaluator],
    deals: int,
    rng: Rng,
    *,
    first: int = 0,
    lineups: Sequence[Sequence[int]] = (),
    duplicate: bool = True,
    keep: bool = True,
    threads: int = 1,
) -> Games:
    """Plays deals to their end, each of them once by every lineup. What comes out doesn't depend on the threads.

    `lineups` says which of the players sits where; without it there is one, player i on seat i. Deals have numbers,
    from `first` on, and a number stands for the same deal as long as the generator has the same name: every event of
    chance has a stream of its own, and so has every seat, whoever sits there, as in `tapete.arena`. With
    ``duplicate=False`` one stream serves for all of it: faster, for games that nobody wants to compare. With
    ``keep=False`` the payoffs of all deals are added up: `returns` is [1, lineups, seats], and takes no memory.

    >>> from tapete.core import make
    >>> played = play(make("kuhn"), [random, random], 1000, Rng(1), lineups=[(0, 1), (1, 0)])
    >>> played.returns.shape, float(played.returns.sum())
    ((1000, 2, 2), 0.0)
    >>> bool((played.returns[:, 0] == played.returns[:, 1]).all())
    True
    """
    rows = np.array([tuple(lineup) for lineup in lineups or [range(game.players)]], dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != game.players or rows.min() < 0 or rows.max() >= len(players):
        raise TapeteError(
            f"a lineup names one of {len(players)} players for each of the {game.players} seats of {game}"
        )
    if deals < 0 or first < 0 or threads < 1:
        raise TapeteError(f"can't play {deals} deals from number {first} on {threads} threads")
    chunk = CHUNK if duplicate else LARGE
    chunks = -(-deals // chunk) or 1
    returns = np.zeros((deals if keep else chunks, len(rows), game.players))
    desks = [_Thread(game, players) for _ in range(min(threads, chunks))]

    def play_chunk(thread: _Thread, start: int) -> None:
        words = rng.words if start == 0 else rng.spawn("chunk", start).words
        out = (returns[start : start + chunk] if keep else returns[start // chunk]).reshape(-1)
        n = min(chunk, deals - start)
        if keep or duplicate or len(rows) > 1 or thread.seated.functions.any():
            _play(
                game.rulebook, game.params, thread.seated, thread.desk, rows.reshape(-1), first + start, n,
                rng.words[0], duplicate, keep, words, out, thread.counts,
            )  # fmt: skip
        else:
            _play_at_random(game.rulebook, game.params, thread.desk, n, words, out, thread.counts)

    share_out(play_chunk, desks, range(0, deals, chunk))
    decisions, steps = np.sum([thread.counts for thread in desks], axis=0)
    return Games(returns if keep else returns.sum(axis=0, keepdims=True), int(decisions), int(steps))


def random_play(game: Game, games: int, rng: Rng, *, threads: int = 1) -> Games:
    """Plays whole games at random, on one stream, and adds the payoffs up: for benchmarks and smoke tests."""
    return play(game, [random] * game.players, games, rng, duplicate=False, keep=False, threads=threads)


def opinion(player: Evaluator, view: View) -> dict[int, float]:
    """How likely a player is to make each legal move, where the view's seat is to move."""
    legal = choices(view)
    return dict(zip(legal, judge_moves(player, view.game, view._world, view.seat, legal).tolist(), strict=True))


def judge_moves(
    player: Evaluator, game: Game, state: NDArray[np.uint8], seat: int, legal: Sequence[int]
) -> NDArray[np.float32]:
    """What a player says of the legal moves of a state: [legal]. Unchecked."""
    if player.address == RANDOM:
        return np.full(len(legal), 1 / len(legal), dtype=np.float32)
    model = player.model
    seated = Seated.of(game, [player], [model])
    room = np.zeros(len(seated.priors), dtype=np.int32)  # [max_actions]
    room[: len(legal)] = legal
    _ask(game.rulebook, state, seat, room, len(legal), seated, Rng("opinion").words)
    return seated.priors[: len(legal)]


class _Thread:
    """What one thread plays with: players of its own, because their scratch memory is."""

    def __init__(self, game: Game, players: Sequence[MakeEvaluator]) -> None:
        self.players = [make() for make in players]
        self.models = [player.model for player in self.players]
        self.seated = Seated.of(game, self.players, self.models)
        self.desk = Desk.of(game)
        self.counts = np.zeros(2, dtype=np.int64)  # decisions, steps


def share_out(work: Callable[[Thread, Item], None], threads: Sequence[Thread], items: Iterable[Item]) -> None:
    """Calls `work(thread, item)` for all items, whichever thread is free: kernels let go of the interpreter."""
    todo = iter(items)  # threads share it: a step of it is one operation of the interpreter

    def run(thread: Thread) -> None:
        for item in todo:
            work(thread, item)

    if len(threads) == 1:
        run(threads[0])
        return
    with ThreadPoolExecutor(len(threads)) as pool:
        list(pool.map(run, threads))


@kernel(types.void(RULEBOOK, BYTES, types.int64, INTS, types.int64, SEATED, WORDS))
def _ask(rulebook: Any, state: Any, seat: int, legal: Any, n: int, arrays: Any, words: Any) -> None:
    """Fills `arrays.priors` with what the only player says."""
    seated, rng, moves = pointers(arrays), uint64_ptr(words), first_of(legal)
    model = words_at(seated.models[0])
    evaluate = open_evaluator(seated.functions[0])
    evaluate(uint64_ptr(rulebook), state_ptr(state), seat, moves, n, model, rng, seated.values, seated.priors)


@kernel(
    types.void(
        *(RULEBOOK, DOUBLES, SEATED, DESK, LONGS, types.int64, types.int64, types.uint64),
        *(types.boolean, types.boolean, WORDS, DOUBLES, LONGS),
    )
)
def _play(
    rulebook: Any, params: Any, arrays: Any, desk: Any, lineups: Any, first: int, deals: int, key: Any,
    duplicate: bool, keep: bool, words: Any, out: Any, counts: Any,
) -> None:  # fmt: skip
    """Fills `out` [deals, lineups, seats], flat; without `duplicate`, all that is drawn comes from `words`.

    Without `keep`, `out` is [lineups, seats], and the payoffs of all deals are added up there.
    """
    rules, book, seated = open_rules(rulebook), uint64_ptr(rulebook), pointers(arrays)
    state, legal, streams, shared = (
        state_ptr(desk.state), first_of(desk.legal), uint64_ptr(desk.streams), uint64_ptr(words)
    )  # fmt: skip
    sitting, gains, seats = first_of(lineups), first_of(out), desk.seats
    rows = len(lineups) // seats
    decisions, steps = 0, 0
    for number in range(first, first + deals):
        deal = mix(key, np.uint64(number)) if duplicate else key
        at = 0
        for _ in range(rows):
            if duplicate:
                for seat in range(seats):
                    seed_stream(ahead(streams, 4 * seat), deal, SEAT + seat)
            rules.start(state, float64_ptr(params))
            who = rules.player(state)
            events = 0
            while who != TERMINAL:
                if who == CHANCE:
                    rng = shared
                    if duplicate:
                        rng = ahead(streams, 4 * seats)
                        seed_stream(rng, deal, events)
                    rules.apply(state, rules.draw(state, rng))
                    events += 1
                else:
                    rng = ahead(streams, 4 * who) if duplicate else shared
                    n = rules.actions(state, legal)
                    rules.apply(state, legal[choose(book, state, who, legal, n, seated, sitting[at + who], rng)])
                    decisions += 1
                steps += 1
                who = rules.player(state)
            rules.returns(state, seated.values)
            for seat in range(seats):
                gains[at + seat] += seated.values[seat]
            at += seats
        if keep:
            gains = ahead(gains, at)
    counts[0] += decisions
    counts[1] += steps


@kernel(types.void(RULEBOOK, DOUBLES, DESK, types.int64, WORDS, DOUBLES, LONGS))
def _play_at_random(rulebook: Any, params: Any, desk: Any, deals: int, words: Any, out: Any, counts: Any) -> None:
    """The same for players who take any move, so that nobody has to be asked: adds the payoffs up in `out` [seats]."""
    rules, payoffs = open_rules(rulebook), np.zeros(len(out))
    state, legal, rng = state_ptr(desk.state), first_of(desk.legal), uint64_ptr(words)
    decisions, steps = 0, 0
    for _ in range(deals):
        rules.start(state, float64_ptr(params))
        who = rules.player(state)
        while who != TERMINAL:
            if who == CHANCE:
                rules.apply(state, rules.draw(state, rng))
            else:
                n = rules.actions(state, legal)
                rules.apply(state, legal[below(rng, n)])
                decisions += 1
            steps += 1
            who = rules.player(state)
        rules.returns(state, float64_ptr(payoffs))
        out += payoffs
    counts[0] += decisions
    counts[1] += steps
