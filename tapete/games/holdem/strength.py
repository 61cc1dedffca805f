"""How strong a hand is: the share of the pot that it wins on average if nobody folds, whatever the others hold.

`strengths` does many hands against one to nine opponents at once, by simulation: a sample deals nine hands and the rest
of the board, and tells something about every number of opponents. What a hand is worth depends on its cards and on
nothing else: each has a random stream named by its cards, so a player who meets it again judges it alike. Against one
opponent on the river all his hands are tried.

`exact_strength` tries everything, against one opponent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import FLOATS, WORDS, ahead, first_of, helper, kernel, uint64_ptr
from tapete.core.errors import TapeteError
from tapete.core.players import seed_stream, share_out
from tapete.core.rng import below, mix
from tapete.games.holdem import MAX_PLAYERS
from tapete.games.holdem.evaluator import CARD_KEYS, NO_CARDS, ONE, key_of, rank_key

MOST_OPPONENTS = MAX_PLAYERS - 1
SAMPLES = 1000  # that a player simulates before it judges
CHUNK = 64  # hands that a thread does in one go
STREAM = 7  # names the streams of this module
LONGEST = 50  # cards that are not in a hand


@helper
def list_cards(cards: Any, out: Any) -> int:
    """Writes the cards of a set into `out`, ascending, and says how many there are."""
    n = 0
    for card in range(52):
        if (cards >> np.uint64(card)) & ONE:
            out[n] = np.uint64(card)
            n += 1
    return n


@helper
def add_up_shares(mine: Any, board: Any, board_key: Any, deck: Any, missing: int, shares: Any) -> None:
    """One sample: the deck's first cards are nine hands, two by two, and `missing` cards of the board after them."""
    for i in range(missing):
        card = deck[2 * MOST_OPPONENTS + i]
        board |= ONE << card
        board_key += CARD_KEYS[card]
    own = rank_key(board_key + key_of(mine) - NO_CARDS, board | mine)
    tied = 0
    for i in range(MOST_OPPONENTS):
        a, b = deck[2 * i], deck[2 * i + 1]
        rank = rank_key(board_key + CARD_KEYS[a] + CARD_KEYS[b], board | ONE << a | ONE << b)
        if rank > own:
            return
        tied += rank == own
        shares[i] += np.float32(1.0) / np.float32(1 + tied)


@helper
def river_share(mine: Any, board: Any, deck: Any, n: int) -> float:
    """The exact share against one opponent when the board is complete; the deck has n cards."""
    board_key = key_of(board)
    own = rank_key(board_key + key_of(mine) - NO_CARDS, board | mine)
    won = 0
    for i in range(n):
        key, cards = board_key + CARD_KEYS[deck[i]], board | ONE << deck[i]
        for j in range(i):
            rank = rank_key(key + CARD_KEYS[deck[j]], cards | ONE << deck[j])
            won += 2 * (own > rank) + (own == rank)
    return won / (n * (n - 1.0))


@helper
def simulate(mine: Any, board: Any, missing: int, samples: int, room: Any, shares: Any) -> None:
    """Fills `shares` [9]: what a hand wins against 1, 2, ... 9 opponents. Cards are sets.

    room: LONGEST + 4 words, for the deck and a generator.
    """
    deck, rng = room, ahead(room, LONGEST)
    n = list_cards(~(mine | board) & np.uint64((1 << 52) - 1), deck)
    for i in range(MOST_OPPONENTS):
        shares[i] = 0.0
    on_river = river_share(mine, board, deck, n) if missing == 0 else 0.0
    seed_stream(rng, mix(mine, board), STREAM)
    board_key = key_of(board)
    for _ in range(samples):
        for i in range(2 * MOST_OPPONENTS + missing):
            j = i + below(rng, n - i)
            deck[i], deck[j] = deck[j], deck[i]
        add_up_shares(mine, board, board_key, deck, missing, shares)
    for i in range(MOST_OPPONENTS):
        shares[i] /= np.float32(samples)
    if missing == 0:
        shares[0] = np.float32(on_river)


@kernel(types.void(WORDS, WORDS, types.int64, WORDS, FLOATS))
def _strengths(hands: Any, boards: Any, samples: int, room: Any, out: Any) -> None:
    for i in range(len(hands)):
        missing, board = 5, boards[i]
        while board:
            board &= board - ONE
            missing -= 1
        simulate(hands[i], boards[i], missing, samples, uint64_ptr(room), ahead(first_of(out), MOST_OPPONENTS * i))


@kernel(types.float64(types.uint64, types.uint64, types.int64))
def _exact(mine: Any, board: Any, missing: int) -> float:
    """Every opponent's hand on every board that may come."""
    deck, left = np.zeros(LONGEST, dtype=np.uint64), np.zeros(LONGEST, dtype=np.uint64)
    n = list_cards(~(mine | board) & np.uint64((1 << 52) - 1), first_of(deck))
    total, boards = 0.0, 0
    for a in range(n if missing > 0 else 1):
        for b in range(a if missing > 1 else 1):
            whole = board
            if missing > 0:
                whole |= ONE << deck[a]
            if missing > 1:
                whole |= ONE << deck[b]
            m = list_cards(~(mine | whole) & np.uint64((1 << 52) - 1), first_of(left))
            total += river_share(mine, whole, first_of(left), m)
            boards += 1
    return total / boards


def strengths(
    hands: NDArray[np.uint64], boards: NDArray[np.uint64], *, samples: int = SAMPLES, threads: int = 1
) -> NDArray[np.float32]:
    """[N, 9] shares of the pot against 1 to 9 opponents; hands and boards are [N] sets of cards. Unchecked."""
    out = np.zeros((len(hands), MOST_OPPONENTS), dtype=np.float32)

    def work(room: NDArray[np.uint64], start: int) -> None:
        part = slice(start, start + CHUNK)
        _strengths(hands[part], boards[part], samples, room, out[part].reshape(-1))

    rooms = [np.zeros(LONGEST + 4, dtype=np.uint64) for _ in range(threads)]
    share_out(work, rooms, range(0, len(hands), CHUNK))
    return out


def exact_strength(hand: int, board: int) -> float:
    """The share of the pot against one opponent, everything tried; cards are sets, the board has three or more."""
    missing = 5 - board.bit_count()
    if hand.bit_count() != 2 or not 0 <= missing <= 2 or hand & board:
        raise TapeteError("trying everything takes two cards and a board of three, four or five others")
    return float(_exact(np.uint64(hand), np.uint64(board), missing))
