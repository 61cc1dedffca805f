"""Several walkers of Monte Carlo CFR, who learn apart for a while and then put together what they have learned.

Regrets and averages are sums over walks, so what walkers add to a book can be added up. An epoch is as many walkers as
were asked for, each with streams of its own, from the same book; how many iterations it has depends on the book and on
nothing else. So the result depends on how many walkers there are, and not on where they walk. A walk does not see what
others learn in the same epoch, so epochs are short: just so long that carrying the book takes little of their time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.scale import Executor, Job, Serial
from tapete.solve.mccfr import MCCFR, Sampling

SHORTEST = 20  # iterations of a walker in an epoch, and one for each information set in a larger book


class Learned(NamedTuple):
    """What a walker adds to the book: blocks of numbers, by information set."""

    keys: NDArray[np.uint64]  # [infosets] in the order in which the walker met them
    sizes: NDArray[np.int64]  # [infosets] numbers of each
    numbers: NDArray[np.float64]  # one block after another


class Walkers:
    """An MCCFR run whose walks are made by several walkers; `run` goes on from where it was, an epoch at a time."""

    def __init__(
        self, game: Game, sampling: Sampling, rng: Rng, *, walkers: int, executor: Executor | None = None
    ) -> None:
        self.book = MCCFR(game, sampling, rng)
        self.game, self.sampling, self.rng = game, sampling, rng
        self.walkers, self.executor = walkers, executor or Serial()

    def run(self, iterations: int) -> None:
        """Makes so many more iterations, or some more than that: epochs are whole."""
        until = self.book.iterations + iterations
        while self.book.iterations < until:
            self.epoch()

    def epoch(self) -> None:
        """All walkers, once."""
        begun, size = self.book.iterations, max(SHORTEST, self.book.infosets)
        terms = {"game": self.game, "sampling": self.sampling, "book": self.book.arrays(), "iterations": size}
        parcels = [self.rng.spawn("epoch", begun, walker) for walker in range(self.walkers)]
        found = dict(self.executor.spread(Job(f"{__name__}:open_walks", terms), parcels))
        learned = [found[walker] for walker in range(self.walkers)]
        self.book.restore(added(self.book.arrays(), learned, begun + size * self.walkers))


def open_walks(
    stop: Event, *, game: Game, sampling: Sampling, book: Mapping[str, NDArray[Any]], iterations: int
) -> Callable[[Rng], Learned]:
    """What walks from a book, with the stream that it is sent."""

    def walk(rng: Rng) -> Learned:
        mine = MCCFR(game, sampling, rng)
        mine.restore({**book, "rng": rng.words.copy()})
        mine.run(iterations)
        after = mine.arrays()
        numbers, sizes = after["numbers"], np.diff(after["offsets"])
        numbers[: len(book["numbers"])] -= book["numbers"]  # what was known before comes first, in the same order
        places = np.repeat(np.arange(len(sizes)), sizes)
        changed = np.bincount(places[numbers != 0], minlength=len(sizes)) > 0
        changed[len(book["keys"]) :] = True  # what is new is told, even if nothing was learned there
        return Learned(after["keys"][changed], sizes[changed], numbers[np.repeat(changed, sizes)])

    return walk


def added(book: Mapping[str, NDArray[Any]], learned: Sequence[Learned], iterations: int) -> dict[str, NDArray[Any]]:
    """A book with what walkers have learned; sets that are new come behind the others, as the first of them met them.

    >>> old = {"keys": np.array([7], dtype=np.uint64), "offsets": np.array([0, 2]), "numbers": np.array([1.0, 2.0])}
    >>> new = Learned(np.array([7, 9], dtype=np.uint64), np.array([2, 1]), np.array([10.0, 20.0, 5.0]))
    >>> both = added(old, [new, new], 8)
    >>> both["keys"].tolist(), both["numbers"].tolist()
    ([7, 9], [21.0, 42.0, 10.0])
    """
    keys = np.concatenate([book["keys"], *(part.keys for part in learned)])
    sizes = np.concatenate([np.diff(book["offsets"]), *(part.sizes for part in learned)])
    unique, first, place = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)  # of the unique ones, by where they were met first
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    offsets = np.append(0, np.cumsum(sizes[first[order]]))
    starts = np.repeat(offsets[rank[place]], sizes)
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    values = np.concatenate([book["numbers"], *(part.numbers for part in learned)])
    numbers = np.bincount(starts + inside, weights=values, minlength=int(offsets[-1]))
    return {
        **book,
        "keys": unique[order],
        "offsets": offsets,
        "numbers": numbers,
        "iterations": np.array([iterations]),
    }
