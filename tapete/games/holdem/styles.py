"""Four players that nobody bred, each a chromosome whose genes follow a rule.

``tight-aggressive``  plays few hands and bets them: the more opponents have bet, the better it wants to be
``calling-station``   plays many hands, calls with all of them, raises what can't lose
``maniac``            plays many hands and raises with all of them
``rock``              plays the best hands only, and stays in with two pair or better, or with what looks as good
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tapete.core.breeding import MOST
from tapete.games.holdem.chromosome import BETS, BETTING, LEFT, USUAL, Chromosome, Factors
from tapete.games.holdem.preflop import CLASSES, STARTS, TABLES, read_tables
from tapete.games.holdem.ranks import CATEGORIES, HIGH_CARD, PAIR

Rule = Callable[[int, int], tuple[float, float]]  # of the hand's category and the bets on this street: both thresholds
FOLDS, CALLS_ONCE, RAISES = CLASSES.index("FFFF"), CLASSES.index("CCFF"), CLASSES.index("RRRC")
GOOD = CLASSES.index("RCFF")


def _tight_aggressive(category: int, bets: int) -> tuple[float, float]:
    first = {HIGH_CARD: 62, PAIR: 48}.get(category, 25)
    second = {HIGH_CARD: 34, PAIR: 24}.get(category, 8)
    return first + 9 * max(bets - 1, 0), second + 3 * bets


def _calling_station(category: int, bets: int) -> tuple[float, float]:
    return MOST, -MOST


def _maniac(category: int, bets: int) -> tuple[float, float]:
    return -MOST, -MOST


def _rock(category: int, bets: int) -> tuple[float, float]:
    return (85, 60) if category in (HIGH_CARD, PAIR) else (45, 15)


def genes_by(rule: Rule, factors: Factors) -> NDArray[np.int8]:
    """[genes, 2] thresholds: what the rule says of each situation."""
    shape = (len(CATEGORIES), factors.positions, BETTING, LEFT if factors.left else 1)
    categories, _, betting, _ = np.unravel_index(np.arange(factors.genes), shape)
    pairs = [rule(int(category), int(bets)) for category, bets in zip(categories, betting % BETS, strict=True)]
    return np.clip(np.rint(pairs), -MOST, MOST).astype(np.int8)


def many_hands(choice: int) -> NDArray[np.uint8]:
    """[8, 169] classes: that one for pairs, aces, kings, suited cards and two cards above the eight; folds the rest."""
    row, column = np.divmod(np.arange(STARTS), 13)  # 0 is the ace
    is_played = (row <= column) | (column <= 1) | (row <= 5)
    return np.tile(np.where(is_played, choice, FOLDS).astype(np.uint8), (len(TABLES), 1))


def best_hands() -> NDArray[np.uint8]:
    """[8, 169] classes: the usual tables without their weaker half."""
    usual = read_tables()
    return np.where(usual >= GOOD, usual, FOLDS).astype(np.uint8)


@cache
def styles(factors: Factors = USUAL) -> dict[str, Chromosome]:
    """The four, by name."""
    usual = read_tables()
    kinds: dict[str, tuple[Rule, NDArray[np.uint8]]] = {
        "tight-aggressive": (_tight_aggressive, usual),
        "calling-station": (_calling_station, many_hands(CALLS_ONCE)),
        "maniac": (_maniac, many_hands(RAISES)),
        "rock": (_rock, best_hands()),
    }
    return {name: Chromosome(genes_by(rule, factors), classes, factors) for name, (rule, classes) in kinds.items()}
