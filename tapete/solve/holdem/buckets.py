"""Limit hold'em of two with hands in buckets: before the flop the 169 starting hands, later how strong they will be.

Betting is not simplified. A street of two is told by how many bets there were and by who made the first one, so a
decision is one of 8,200 numbers, most of which can be met; with the bucket of the hand it is a row of the strategy.
What came before the street is remembered of the betting, and forgotten of the cards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.compile import ahead, helper
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator, chars_at, evaluator, floats_at, longs_at, words_at
from tapete.core.game import Game
from tapete.core.players import seed_stream
from tapete.core.rng import below, mix
from tapete.games.holdem.evaluator import CARD_KEYS, NO_CARDS, ONE, key_of, rank_key
from tapete.games.holdem.preflop import STARTS, start_of
from tapete.games.holdem.rules import CALL, PREFLOP, bit, is_turned_up, view
from tapete.games.holdem.strength import LONGEST, list_cards, river_share

FORMAT = "holdem-buckets-1"
LATER = 64  # buckets of a street after the first
BUCKETS = np.array([STARTS, LATER, LATER, LATER])
ENDINGS, NOW = 9, 10  # ways that a street may end, and moments in it
BEGINS = np.array([0, NOW, NOW * (1 + ENDINGS), NOW * (1 + ENDINGS + ENDINGS**2)])  # by street
NUMBERS = NOW * (1 + ENDINGS + ENDINGS**2 + ENDINGS**3)
MOVES = 3
BOARDS, OTHERS = 64, 6  # that are drawn to see what a hand may become, and hands against which it is seen
STREAM = 11  # names the streams of this module
STEPS = 127


@helper
def told(s: Any, street: Any) -> Any:
    """Bets of a street above the first that stood when it began, and whether who spoke first let the other begin."""
    base, first = (1, 0) if street == PREFLOP else (0, 1)
    last = base
    for bets in range(s.cap + 1):
        if s.line[street, bets]:
            last = max(last, bets)
    said = (s.line[street, base] >> np.uint32(2 * first)) & np.uint32(3)
    return np.int64(last - base), np.int64(said)


@helper
def number_of(s: Any) -> Any:
    """Which decision of the betting it is."""
    number = np.int64(0)
    for street in range(s.street):
        bets, said = told(s, street)
        number = number * ENDINGS + (0 if bets == 0 else 1 + 2 * (bets - 1) + (said == 1 + CALL))
    bets, said = np.int64(s.bets) - (s.street == PREFLOP), told(s, np.int64(s.street))[1]
    now = np.int64(said != 0) if bets == 0 else 2 + 2 * (bets - 1) + (said == 1 + CALL)
    return BEGINS[s.street] + number * NOW + now


@helper
def promise(mine: Any, board: Any, missing: int, room: Any) -> float:
    """How strong a hand will be: its share of all other hands at the end, squared, over the boards that may come.

    On the river the share itself, all hands tried. room: LONGEST + 4 words. The cards name the stream.
    """
    deck, rng = room, ahead(room, LONGEST)
    n = list_cards(~(mine | board) & np.uint64((1 << 52) - 1), deck)
    if missing == 0:
        return river_share(mine, board, deck, n)
    seed_stream(rng, mix(mine, board), STREAM)
    board_key, own_key, total = key_of(board), key_of(mine) - NO_CARDS, 0.0
    for _ in range(BOARDS):
        for i in range(missing + 2 * OTHERS):
            j = i + below(rng, n - i)
            deck[i], deck[j] = deck[j], deck[i]
        whole, key = board, board_key
        for i in range(missing):
            whole |= ONE << deck[i]
            key += CARD_KEYS[deck[i]]
        own, won = rank_key(key + own_key, whole | mine), 0
        for i in range(OTHERS):
            a, b = deck[missing + 2 * i], deck[missing + 2 * i + 1]
            rank = rank_key(key + CARD_KEYS[a] + CARD_KEYS[b], whole | ONE << a | ONE << b)
            won += 2 * (own > rank) + (own == rank)
        total += (won / (2.0 * OTHERS)) ** 2
    return total / BOARDS


@helper
def bucket_of(worth: float, street: Any, edges: Any) -> Any:
    """Between which of a later street's edges [3, LATER - 1] it is."""
    low, high = np.int64(0), np.int64(LATER - 1)
    while low < high:
        middle = (low + high) // 2
        if worth > edges[(street - 1) * (LATER - 1) + middle]:
            low = middle + 1
        else:
            high = middle
    return low


@evaluator
def _look_up(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    s, begins, edges, probs = view(state), longs_at(model[0]), floats_at(model[1]), chars_at(model[2])
    if s.street == PREFLOP:
        bucket = start_of(np.int64(s.hole[seat, 0]), np.int64(s.hole[seat, 1]))
    else:
        board, missing = np.uint64(0), 5
        for i in range(5):
            if is_turned_up(s, i):
                board |= bit(s.board[i])
                missing -= 1
        worth = promise(bit(s.hole[seat, 0]) | bit(s.hole[seat, 1]), board, missing, words_at(model[3]))
        bucket = bucket_of(worth, np.int64(s.street), edges)
    row = MOVES * (begins[number_of(s)] + bucket)
    total = 0.0
    for i in range(n):
        total += probs[row + legal[i]]
    for i in range(n):
        priors[i] = probs[row + legal[i]] / total if total > 0 else 1.0 / n


@dataclass(frozen=True)
class Bucketed:
    """A strategy by buckets."""

    begins: NDArray[np.int64]  # [NUMBERS] the first row of a decision
    edges: NDArray[np.float32]  # [3, LATER - 1]
    probs: NDArray[np.int8]  # [rows, MOVES] in 127ths
    about: dict[str, Any] = field(default_factory=dict)

    def evaluator(self, game: Game) -> Evaluator:
        """The compiled player."""
        arrays = (self.begins, self.edges.reshape(-1), self.probs.reshape(-1), np.zeros(LONGEST + 4, dtype=np.uint64))
        return Evaluator(_look_up, arrays, priors=True, values=False)

    def save(self, path: str | Path) -> None:
        """Writes the file, all of it or nothing."""
        arrays: dict[str, NDArray[Any]] = {"begins": self.begins, "edges": self.edges, "probs": self.probs}
        write_arrays(path, arrays, {"format": FORMAT, "about": self.about})

    @classmethod
    def load(cls, path: str | Path) -> Bucketed:
        """Reads a file and checks that it is such a strategy."""
        arrays, header = read_arrays(path, FORMAT)
        shapes = {name: (array.dtype.str, array.shape[1:]) for name, array in arrays.items()}
        want = {"begins": ("<i8", ()), "edges": ("<f4", (LATER - 1,)), "probs": ("|i1", (MOVES,))}
        if shapes != want or not isinstance(header.get("about"), dict):
            raise TapeteError(f"{path} is not a strategy of hold'em by buckets")
        begins, edges, probs = (arrays[name] for name in want)
        rows = len(probs) - BUCKETS.max()
        if len(begins) != NUMBERS or len(edges) != 3 or begins.min() < 0 or begins.max() > rows:
            raise TapeteError(f"{path} is not a strategy of hold'em by buckets: its arrays do not fit")
        return cls(begins, edges, probs, header["about"])
