"""Sets of deals to breed players on: 25 cards each, with all that a player would work out about them.

A deal is ten hands and a board. It is played a hundred times: the hands move round the seats, and for each of those
places the players move round too, so that everybody plays every hand from every position.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.rng import Rng
from tapete.games.holdem import MAX_PLAYERS
from tapete.games.holdem.evaluator import rank_hands
from tapete.games.holdem.ranks import CATEGORY_SHIFT
from tapete.games.holdem.strength import MOST_OPPONENTS, SAMPLES, strengths

SEATS = MAX_PLAYERS
CARDS = 2 * SEATS + 5
HANDS = SEATS * SEATS  # that a deal is played as
STREETS = 3  # after the flop


class Deals(NamedTuple):
    """Deals, and what their hands are worth on each street; flat, as kernels take them."""

    cards: NDArray[np.int8]  # [deals, 25] ten hands, then the board
    strengths: NDArray[np.float32]  # [deals, hands, streets, opponents - 1]
    categories: NDArray[np.int8]  # [deals, hands, streets]

    @property
    def n(self) -> int:
        """How many deals there are."""
        return len(self.cards) // CARDS

    def take(self, chosen: NDArray[np.int64]) -> Deals:
        """Some of them."""
        parts: Any = (np.ascontiguousarray(part.reshape(self.n, -1)[chosen]).reshape(-1) for part in self)
        return Deals(*parts)


CHARS = types.int8[::1]
DEALS = types.NamedTuple([CHARS, types.float32[::1], CHARS], Deals)


def shuffle(deals: int, rng: Rng) -> NDArray[np.int8]:
    """[deals, 25] cards, of which those of a deal differ."""
    draws = np.random.default_rng([int(word) for word in rng.words])
    decks = np.tile(np.arange(52, dtype=np.int8), (deals, 1))
    return np.ascontiguousarray(draws.permuted(decks, axis=1)[:, :CARDS])


def judged(cards: NDArray[np.int8], *, samples: int = SAMPLES, threads: int = 1) -> Deals:
    """Deals with what their hands are worth: [deals, 25] cards."""
    n = len(cards)
    hole, board = cards[:, : 2 * SEATS].reshape(n, SEATS, 2), cards[:, 2 * SEATS :]
    categories = np.zeros((n, SEATS, STREETS), dtype=np.int8)
    worth = np.zeros((n, SEATS, STREETS, MOST_OPPONENTS), dtype=np.float32)
    hands = _sets(hole).reshape(-1)
    for street in range(STREETS):
        seen = board[:, : 3 + street]
        seven = np.concatenate([hole, np.broadcast_to(seen[:, None], (n, SEATS, 3 + street))], axis=2)
        ranks = rank_hands(seven.reshape(n * SEATS, -1).astype(np.uint8))
        categories[:, :, street] = (ranks >> CATEGORY_SHIFT).reshape(n, SEATS)
        found = strengths(hands, np.repeat(_sets(seen), SEATS), samples=samples, threads=threads)
        worth[:, :, street] = found.reshape(n, SEATS, MOST_OPPONENTS)
    return Deals(cards.reshape(-1), worth.reshape(-1), categories.reshape(-1))


def _sets(cards: NDArray[np.int8]) -> NDArray[np.uint64]:
    """The sets of cards along the last axis."""
    return np.bitwise_or.reduce(np.left_shift(np.uint64(1), cards.astype(np.uint64)), axis=-1)
