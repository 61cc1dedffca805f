"""The fewest moves that empty a hand, against sets of moves put together one by one."""

from functools import reduce

import numpy as np
import pytest
from numba import types

from tapete.core.compile import LONGS, WORDS, kernel
from tapete.games.doudizhu.cards import DECK, RANKS, text
from tapete.games.doudizhu.fewest import fewest
from tapete.games.doudizhu.moves import CARDS


@kernel(types.void(WORDS, LONGS))
def fewest_of_all(hands, out):
    for i in range(len(hands)):
        out[i] = fewest(hands[i])


def fewest_of(hands):
    out = np.zeros(len(hands), dtype=np.int64)
    fewest_of_all(np.array(hands, dtype=np.uint64), out)
    return out


def encode(cards):
    return sum(1 << 4 * RANKS.index(card) for card in cards)


def every_part(hand):
    """All sets of cards within the hand with the fewest moves that make them, by putting moves together."""
    counts = [int(hand) >> 4 * rank & 15 for rank in range(len(RANKS))]
    shape = tuple(count + 1 for count in counts)
    moves = CARDS[1:, None] >> np.arange(0, 60, 4, dtype=np.uint64) & np.uint64(15)
    moves = moves[(moves <= np.array(counts, dtype=np.uint64)).all(axis=1)].astype(np.int64)
    least = np.full(shape, 99)
    least[(0,) * len(RANKS)] = 0
    for number in range(1, 21):
        for move in moves:
            rest = tuple(slice(0, size - k) for size, k in zip(shape, move, strict=True))
            whole = tuple(slice(k, size) for size, k in zip(shape, move, strict=True))
            least[whole] = np.where(least[rest] == number - 1, np.minimum(least[whole], number), least[whole])
        if (least < 99).all():
            break
    axes = [np.arange(size, dtype=np.uint64) << np.uint64(4 * rank) for rank, size in enumerate(shape)]
    parts = reduce(np.add, np.ix_(*axes))
    return parts.reshape(-1), least.reshape(-1)


def check_parts(hand):
    parts, least = every_part(hand)
    found = fewest_of(parts)
    wrong = np.flatnonzero(found != least)
    assert not len(wrong), f"{text(parts[wrong[0]])}: {found[wrong[0]]} instead of {least[wrong[0]]}"
    return len(parts)


def random_hands(size, number):
    deck = [RANKS.index(card) for card in text(int(DECK))]
    for i in range(number):
        rng = np.random.default_rng([size, i])
        yield sum(1 << 4 * int(rank) for rank in rng.permutation(deck)[:size])


@pytest.mark.parametrize(
    ("hand", "moves"),
    [
        ("3", 1),
        ("34567", 1),
        ("BR", 1),
        ("3333BR", 2),  # the jokers are never kickers together
        ("33337BR", 2),
        ("333555777", 2),  # one trio is split: 3335, 55777
        ("333344445555", 2),  # 333344, 445555
        ("333444555666777", 1),
        ("3334445556667778", 2),  # no kickers that make the plane longer
        ("3334445556669999", 2),  # nor a bomb
        ("33344455579", 2),  # two of the three trios take the kickers
        ("3456789TJQKA2BR", 3),
        ("34567789TJ", 2),
        ("3344556677", 1),
    ],
)
def test_hands_that_can_be_checked_by_eye(hand, moves):
    assert fewest_of([encode(hand)]) == [moves]


def test_every_part_of_random_hands_equals_brute_force():
    assert sum(check_parts(hand) for hand in random_hands(12, 24)) > 20_000


@pytest.mark.parametrize(
    "hand", ["3334445556677BR", "3333444455566", "33344455566678", "3455566677788", "777888999TTT2222"]
)
def test_every_part_of_hands_made_of_planes_equals_brute_force(hand):
    check_parts(encode(hand))


@pytest.mark.slow
def test_every_part_of_whole_hands_equals_brute_force():
    for size, number in ((17, 30), (20, 12)):
        assert sum(check_parts(hand) for hand in random_hands(size, number)) > 100_000
