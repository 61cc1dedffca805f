"""Monte Carlo CFR (Lanctot, Waugh, Zinkevich and Bowling 2009) on any game, straight through the contract.

Nothing is flattened or listed beforehand: a walk samples part of the game, and information sets enter a hash table as
they are met. An iteration updates every player once. How much of the game a walk sees is the sampling:

============  ==================================================================================================
`external`    all actions of one player, one of the others' and of chance; a walk for each player
`outcome`     one game from start to end; a walk for each player. For games in which one player alone has too
              many ways to go. The walker explores; sums are weighted by how rarely he comes (stochastic weights)
`chance`      all actions of both players, who learn in the same walk, and one outcome of chance: CFR with sampled
              chance, as Rojas ran it. Two players
============  ==================================================================================================

Averages are taken where the walk of one player meets the next one (simple averaging, as in OpenSpiel). With more than
two players nothing is guaranteed, as for CFR itself.

All numbers are float64: a sum of probabilities in float32 stops growing at 2**24 visits, which the first decisions of
Leduc have behind them after minutes, and the regrets of bad actions sink as far.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, FLOATS, LONGS, WORDS, kernel
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.hashmap import find, grown, put
from tapete.core.rng import Rng
from tapete.solve import walks
from tapete.solve.cfr import follow
from tapete.solve.response import Plan, Proof, prove
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.strategy import Strategy
from tapete.solve.walks import INFOSETS, ITERATIONS, LEVEL, USED, Book, Stack

Sampling = Literal["external", "outcome", "chance"]

SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)
WALKS = {"external": walks.external, "outcome": walks.outcome, "chance": walks.chance}
BLOCKS = {"external": (2, 0), "outcome": (2, 0), "chance": (3, 1)}  # numbers in a block: for each action, and besides
SAVED = {"keys": "uint64", "offsets": "int64", "numbers": "float64", "rng": "uint64", "iterations": "int64"}


class MCCFR:
    """A run over a game; `run` goes on from where it was.

    `sampling` says how much of the game a walk sees: see above. All that a walk draws comes from a copy of `rng`.
    `capacity` is for how many information sets there is room at first; more room is made when it is needed.

    >>> from tapete.core import make
    >>> run = MCCFR(make("kuhn"), "external", Rng(1))
    >>> run.run(10_000)
    >>> run.iterations, run.infosets
    (10000, 12)
    """

    def __init__(self, game: Game, sampling: Sampling, rng: Rng, *, capacity: int = 1024) -> None:
        if sampling not in SAMPLINGS:
            raise TapeteError(f"there is no sampling {sampling!r}; there are {', '.join(SAMPLINGS)}")
        if sampling == "chance" and game.players != 2:
            raise TapeteError(f"{game} has {game.players} players; chance sampling is for two, try external")
        if capacity < 1:
            raise TapeteError(f"there must be room for one information set at least, not {capacity}")
        self.game, self.sampling = game, sampling
        self._rng = rng.words.copy()
        self._counters = _counters(0, 0, 0)
        self._stack = _stack(game)
        self._book = _book(capacity, 8 * capacity)

    @property
    def iterations(self) -> int:
        """How many were made so far."""
        return int(self._counters[ITERATIONS])

    @property
    def infosets(self) -> int:
        """Information sets with more than one action, of all players, that were met so far."""
        return int(self._counters[INFOSETS])

    @property
    def bytes(self) -> int:
        """Memory of the book."""
        return sum(array.nbytes for array in self._book)

    @property
    def fullness(self) -> float:
        """The share of the book's room that is taken; beyond 1 it grows."""
        book = self._book
        return max(2 * self.infosets / len(book.keys), int(self._counters[USED]) / len(book.numbers))

    def run(self, iterations: int) -> None:
        """Makes so many more iterations."""
        if iterations < 0:
            raise TapeteError(f"can't go back {-iterations} iterations")
        game, until, walk = self.game, self.iterations + iterations, WALKS[self.sampling]
        while not walk(game.rulebook, game.params, self._book, self._stack, self._counters, until, self._rng):
            self._grow()

    def _grow(self) -> None:
        """Twice the room of whichever part of the book has none left."""
        book = self._book
        if 2 * (self.infosets + 1) > len(book.keys):
            keys, offsets = _grown(book.keys, book.offsets)
            self._book = Book(keys, offsets, book.numbers)
        else:
            self._book = book._replace(numbers=np.concatenate([book.numbers, np.zeros_like(book.numbers)]))

    def _blocks(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Keys [infosets] in the order in which they were met, and offsets of their blocks [infosets + 1]."""
        slots = np.flatnonzero(self._book.keys)
        slots = slots[np.argsort(self._book.offsets[slots])]
        return self._book.keys[slots], np.append(self._book.offsets[slots], self._counters[USED])

    def strategy(self, **about: Any) -> Strategy:
        """The average strategies of all players, by information set; `about` goes into the file's header."""
        keys, offsets = self._blocks()
        counts = np.diff(offsets) // BLOCKS[self.sampling][0]
        start = np.append(0, np.cumsum(counts))
        probs = np.empty(start[-1], dtype=np.float32)
        _average(self._book.numbers, offsets[:-1], start, probs)
        return Strategy.of(keys, counts, probs, **about)

    def prove(self, form: SequenceForm) -> Proof:
        """Tells the value of the average strategies and both best responses, in a game that can be flattened."""
        return prove(form, plans(form, self.strategy()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that a run remembers, for a checkpoint. An iteration that was interrupted is finished first."""
        self.run(int(self._counters[LEVEL] >= 0))
        keys, offsets = self._blocks()
        return {
            "keys": keys,
            "offsets": offsets,
            "numbers": self._book.numbers[: offsets[-1]].copy(),
            "rng": self._rng.copy(),
            "iterations": np.array([self.iterations]),
        }

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Goes back to what `arrays` said; a run goes on from there as it did then."""
        if any(name not in arrays or arrays[name].dtype != dtype for name, dtype in SAVED.items()):
            raise TapeteError(f"this is no run of MCCFR: it needs the arrays {', '.join(SAVED)}")
        keys, offsets, numbers = arrays["keys"], arrays["offsets"], arrays["numbers"]
        each, besides = BLOCKS[self.sampling]
        actions, rest = np.divmod(np.diff(offsets) - besides, each)
        fits = len(actions) == len(keys) and offsets[0] == 0 and offsets[-1] == len(numbers) and (keys > 0).all()
        right = (actions > 1).all() and not rest.any()
        if not fits or not right or (arrays["rng"].size, arrays["iterations"].size) != (4, 1):
            raise TapeteError(f"this is no run of MCCFR by {self.sampling} sampling: its arrays don't fit together")
        self._book = _book(len(keys) + 1, len(numbers) + 1)
        self._book.numbers[: len(numbers)] = numbers
        _fill(self._book.keys, self._book.offsets, keys, offsets)
        self._counters = _counters(arrays["iterations"][0], len(numbers), len(keys))
        self._rng[:] = arrays["rng"]


def plans(form: SequenceForm, strategy: Strategy) -> tuple[Plan, Plan]:
    """A strategy as plans of both players: how likely they make all moves of a sequence. Unknown means uniform."""
    found = []
    for plex, keys in zip(form.plexes, form.keys, strict=True):
        counts = np.diff(plex.first)
        shares, plan = np.ones(plex.sequences, dtype=np.float32), np.ones(plex.sequences)
        shares[1:] = np.repeat(1 / counts, counts)
        known = np.flatnonzero(np.isin(keys, strategy.keys))
        at = strategy.start[np.searchsorted(strategy.keys, keys[known])]
        shares[_spans(plex.first[known], counts[known])] = strategy.probs[_spans(at, counts[known])]
        follow(plex, shares, plan)
        found.append(plan)
    return found[0], found[1]


def _spans(first: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers first[0], first[0] + 1, ..., as many as counts[0], then those of first[1], and so on."""
    return np.arange(counts.sum()) + np.repeat(first - (np.cumsum(counts) - counts), counts)


def _counters(iterations: int, used: int, infosets: int) -> NDArray[np.int64]:
    counters = np.zeros(5, dtype=np.int64)
    counters[[ITERATIONS, LEVEL, USED, INFOSETS]] = iterations, -1, used, infosets
    return counters


def _book(infosets: int, numbers: int) -> Book:
    slots = 1 << (2 * infosets - 1).bit_length()
    return Book(np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.int64), np.zeros(numbers))


def _stack(game: Game) -> Stack:
    levels, width = game.spec.longest + 1, max(game.spec.max_actions, 1)
    return Stack(
        states=np.zeros(levels * game.size // 8, dtype=np.uint64),
        actions=np.zeros(levels * width, dtype=np.int32),
        gains=np.zeros(levels * 2 * width),
        reach=np.zeros(levels * 2),
        offset=np.zeros(levels, dtype=np.int64),
        choices=np.zeros(levels, dtype=np.int64),
        tried=np.zeros(levels, dtype=np.int64),
        mover=np.zeros(levels, dtype=np.int64),
        payoffs=np.zeros(game.players),
    )


@kernel(types.Tuple([WORDS, LONGS])(WORDS, LONGS))
def _grown(keys: Any, offsets: Any) -> Any:
    return grown(keys, offsets)


@kernel(types.void(WORDS, LONGS, WORDS, LONGS))
def _fill(keys: Any, offsets: Any, names: Any, blocks: Any) -> None:
    """Puts information sets into an empty hash table."""
    for i in range(len(names)):
        put(keys, offsets, find(keys, names[i]), names[i], blocks[i])


@kernel(types.void(DOUBLES, LONGS, LONGS, FLOATS))
def _average(numbers: Any, offsets: Any, start: Any, probs: Any) -> None:
    """Normalises the sums of every block; where nothing was added up, all actions are as likely."""
    for i in range(len(offsets)):
        n = start[i + 1] - start[i]
        sums = offsets[i] + n
        total = 0.0
        for a in range(n):
            total += numbers[sums + a]
        for a in range(n):
            probs[start[i] + a] = numbers[sums + a] / total if total > 0 else 1.0 / n
