from itertools import combinations

import numpy as np
import pytest

from tapete.core.errors import TapeteError
from tapete.games.holdem.census import count_sevens
from tapete.games.holdem.evaluator import category, rank7, rank_hands
from tapete.games.holdem.notation import card_name
from tapete.games.holdem.ranks import CATEGORIES, RANKS, SUITS


def cards_of(text):
    return [13 * SUITS.index(name[1]) + RANKS.index(name[0]) for name in text.split()]


def rank(text):
    return rank_hands(np.array([cards_of(text)], dtype=np.uint8))[0]


def random_hands(count, size):
    order = np.random.default_rng(size).random((count, 52))
    return np.argpartition(order, size, axis=1)[:, :size].astype(np.uint8)


def test_all_hands_of_seven_cards_by_category():
    assert count_sevens() == {
        "high card": 23_294_460,
        "pair": 58_627_800,
        "two pair": 31_433_400,
        "three of a kind": 6_461_620,
        "straight": 6_180_020,
        "flush": 4_047_644,
        "full house": 3_473_184,
        "four of a kind": 224_848,
        "straight flush": 41_584,
    }


def test_all_hands_of_five_cards_by_category():
    hands = np.fromiter((card for hand in combinations(range(52), 5) for card in hand), dtype=np.uint8).reshape(-1, 5)
    ranks = rank_hands(hands)
    counts = np.bincount(ranks >> 12).tolist()
    assert counts == [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]
    different = np.bincount(np.unique(ranks) >> 12).tolist()
    assert different == [1277, 2860, 858, 858, 10, 1277, 156, 156, 10]


@pytest.mark.parametrize(
    ("size", "count"),
    [(5, 100_000), (6, 100_000), (7, 200_000), pytest.param(7, 1_000_000, marks=pytest.mark.slow)],
)
def test_order_and_ties_are_those_of_eval7(size, count):
    import eval7

    deck = [eval7.Card(card_name(card)) for card in range(52)]
    hands = random_hands(count, size)
    theirs = np.array([eval7.evaluate([deck[card] for card in hand]) for hand in hands.tolist()])
    pairs = np.unique(np.column_stack((theirs, rank_hands(hands))), axis=0)
    assert len(pairs) > 4000
    assert (np.diff(pairs, axis=0) > 0).all()  # each rank of theirs is one of ours, and both grow together


def test_ranks_of_bits_are_ranks_of_rows():
    for size in (5, 6, 7):
        for hand in random_hands(200, size):
            bits = np.uint64(sum(1 << int(card) for card in hand))
            assert rank7(bits) == rank_hands(hand[None])[0]


def test_better_hands_have_bigger_ranks():
    worst_to_best = [
        "2c 3d 4h 5s 7c",
        "2c 2d 3h 4s 5c",
        "2c 2d 3h 3s 4c",
        "2c 2d 2h 3s 4c",
        "Ac 2d 3h 4s 5c",  # the ace below the two
        "2c 3d 4h 5s 6c",
        "Tc Jd Qh Ks Ac",
        "2c 3c 4c 5c 7c",
        "2c 2d 2h 3s 3c",
        "2c 2d 2h 2s 3c",
        "Ac 2c 3c 4c 5c",
        "Tc Jc Qc Kc Ac",
    ]
    ranks = [rank(text) for text in worst_to_best]
    assert ranks == sorted(set(ranks))
    named = [category(rank) for rank in ranks]
    assert list(dict.fromkeys(named)) == list(CATEGORIES)


def test_only_the_best_five_count():
    assert rank("Ac Ad Kh Ks Qc Qd Jh") == rank("Ac Ad Kh Ks Qc")  # a third pair is worth its queen
    assert rank("Ac Ad Ah Ks Kc Kd 2h") == rank("Ac Ad Ah Ks Kc")  # two threes make a full house
    assert rank("2c 4c 6c 8c Tc Qc Ac") == rank("6c 8c Tc Qc Ac")
    assert category(rank("Ac Kc Qc Jc 9c Td 9d")) == "flush"  # and not the straight beside it
    assert category(rank("Jc Qd Kh As 2c 3d 5h")) == "high card"  # no straight goes round the corner


@pytest.mark.parametrize(
    "hands",
    [np.zeros((3, 4), np.uint8), np.zeros(7, np.uint8), np.zeros((3, 7), np.int64), np.full((3, 7), 52, np.uint8)],
)
def test_rank_hands_refuses_what_is_no_hand(hands):
    with pytest.raises(TapeteError):
        rank_hands(hands)
