"""Hand strength: against everything tried in NumPy, and against itself where the two ways meet."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tapete.core import TapeteError
from tapete.games.holdem import equity
from tapete.games.holdem.evaluator import rank_hands
from tapete.games.holdem.notation import cards_in
from tapete.games.holdem.strength import SAMPLES, exact_strength, strengths


def listed(cards: int) -> list[int]:
    return [card for card in range(52) if cards >> card & 1]


def shares(hand: str, board: str, opponents: int) -> float:
    """The share of the pot, every hand of every opponent tried on a complete board, with the library's ranks alone."""
    mine, table = listed(cards_in(hand, 2)), listed(cards_in(board, 5))
    left = [card for card in range(52) if card not in mine + table]
    pairs = list(combinations(left, 2))
    ranks = rank_hands(np.array([[*pair, *table] for pair in [tuple(mine), *pairs]], dtype=np.uint8))
    own, theirs = int(ranks[0]), ranks[1:].astype(np.int64)
    if opponents == 1:
        return float(((theirs < own) + 0.5 * (theirs == own)).mean())
    held = np.array([(1 << a) | (1 << b) for a, b in pairs], dtype=np.uint64)
    total, count = 0.0, 0
    for cards, rank in zip(held, theirs, strict=True):
        free = (held & cards) == 0
        ties = (theirs[free] == own).astype(int) + (rank == own)
        total += float(np.where((theirs[free] > own) | (rank > own), 0.0, 1 / (1 + ties)).sum())
        count += int(free.sum())
    return total / count


@pytest.mark.parametrize(
    ("hand", "board"),
    [("AhKd", "Qc Jc Td 2s 3s"), ("7h2d", "7c 7d 2c Ks 9s"), ("4h3h", "As Ks Qd 9c 8d"), ("2c2d", "Ah Kh Qh Jh Th")],
)
def test_the_river_is_exact(hand: str, board: str) -> None:
    assert equity(hand, board) == pytest.approx(shares(hand, board, 1), abs=1e-12)
    found = strengths(*(np.array([cards_in(text, 2, 5)], dtype=np.uint64) for text in (hand, board)))
    assert found[0, 0] == pytest.approx(shares(hand, board, 1), abs=1e-6)


def test_two_opponents_are_simulated_rightly() -> None:
    hand, board, samples = "AhQd", "Qc 8c 4d 2s 9s", 100_000
    exact = shares(hand, board, 2)
    assert equity(hand, board, opponents=2, samples=samples) == pytest.approx(exact, abs=4 / (2 * samples**0.5))


def test_the_turn_is_what_its_rivers_are_on_average() -> None:
    hand, board = cards_in("JhTh", 2), cards_in("9h 2c 3d Qs", 4)
    rivers = [exact_strength(hand, board | 1 << card) for card in listed(~(hand | board) & (1 << 52) - 1)]
    assert exact_strength(hand, board) == pytest.approx(np.mean(rivers), abs=1e-12)


def test_simulated_and_tried_agree_on_flops() -> None:
    hands = np.array([cards_in(text, 2) for text in ("AhKh", "7c7d", "9s8s", "Kd2h")], dtype=np.uint64)
    boards = np.array([cards_in(text, 3) for text in ("QhJh2c", "AcKc7h", "7d6h2s", "Qs9d4c")], dtype=np.uint64)
    found = strengths(hands, boards, samples=40_000)
    for row, hand, board in zip(found, hands, boards, strict=True):
        assert row[0] == pytest.approx(exact_strength(int(hand), int(board)), abs=4 * 0.5 / 200)
        assert (np.diff(row) < 0).all(), "more opponents leave less"


def test_known_chances_before_the_flop() -> None:
    """Aces against one hand, and against nine: 85.2 % and 31.1 % in every table that is published."""
    assert equity("AsAh", samples=100_000) == pytest.approx(0.852, abs=0.005)
    assert equity("AsAh", opponents=9, samples=100_000) == pytest.approx(0.311, abs=0.006)


def test_a_hand_is_judged_alike_in_any_company_and_on_any_threads() -> None:
    rng = np.random.default_rng(1)
    decks = np.array([rng.permutation(52)[:5] for _ in range(200)], dtype=np.uint64)
    sets = np.left_shift(np.uint64(1), decks).astype(np.uint64)
    hands, boards = (np.bitwise_or.reduce(part, axis=1) for part in (sets[:, :2], sets[:, 2:]))
    found = strengths(hands, boards, samples=20, threads=2)
    assert (strengths(hands[7:8], boards[7:8], samples=20) == found[7]).all()
    assert (strengths(hands, boards, samples=20) == found).all()
    assert SAMPLES >= 1000


@pytest.mark.parametrize(
    ("hand", "board", "opponents", "said"),
    [
        ("AhAh", "", 1, "2 different cards"),
        ("Ah1d", "", 1, "'1d' in 'Ah1d' is no card"),
        ("AhKh", "2c3c", 1, "0 or 3 or 4 or 5"),
        ("AhKh", "Ah2c3c", 1, "on the board"),
        ("AhKh", "", 10, "opponents must be between 1 and 9"),
        ("AhK", "", 1, "no card"),
    ],
)
def test_what_is_no_hand_is_refused(hand: str, board: str, opponents: int, said: str) -> None:
    with pytest.raises(TapeteError, match=said):
        equity(hand, board, opponents=opponents)
