"""Looking back: what a change would have brought is what it brings, hand for hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete.core import Rng, make
from tapete.core.breeding import MOST
from tapete.games.holdem.chromosome import Chromosome
from tapete.games.holdem.contest import Contest
from tapete.games.holdem.deals import HANDS, Deals, judged, shuffle
from tapete.games.holdem.hindsight import BINS, FOLDS, WIDTH, Lessons, best_thresholds, look_back, mend
from tapete.games.holdem.preflop import CLASSES, STARTS, TABLES
from tapete.games.holdem.rules import CALL, FOLD, RAISE
from tapete.games.holdem.styles import styles

GAME = make("holdem(players=10,rake=0.05,rake_cap=3)")
RULES = list(styles().values())
TABLE = [RULES[i % 4] for i in range(9)]


def some_deals(count: int, seed: int = 1) -> Deals:
    return judged(shuffle(count, Rng(seed)), samples=100)


def wins(player: Chromosome, deals: Deals, table: Sequence[Chromosome] = TABLE) -> float:
    return float(Contest(GAME, deals, table, classes=player.classes).play(player.thresholds[None]).gains.sum())


def even(player: Chromosome) -> Chromosome:
    """Thresholds between which merits are counted."""
    return Chromosome((player.thresholds // WIDTH * WIDTH).clip(-MOST).astype(np.int8), player.classes)


def chosen(thresholds: NDArray[np.int8]) -> NDArray[np.int64]:
    """[merits] the move of a gene, for the highest of the merits that are counted together."""
    merits = np.arange(BINS) * WIDTH
    return np.where(merits > thresholds[0], RAISE, np.where(merits > thresholds[1], CALL, FOLD))


def call_share(player: Chromosome, lessons: Lessons) -> float:
    """Of the decisions that were met where folding is something else than checking, those that call."""
    moves = np.stack([chosen(thresholds) for thresholds in player.thresholds])
    differs = lessons.moves[:, :, FOLD] != lessons.moves[:, :, CALL]
    return float((lessons.times * differs * (moves == CALL)).sum())


def test_other_thresholds_of_a_gene_bring_what_was_foreseen() -> None:
    """A gene is asked at most once in a hand, so the difference is exact."""
    deals, player = some_deals(12), even(RULES[0])
    lessons = look_back(GAME, deals, player, [TABLE], Rng(1), explore=0)[0]
    before = wins(player, deals)
    assert lessons.won(player.classes) * deals.n * HANDS == pytest.approx(before, abs=1e-6)
    best, draws = best_thresholds(lessons.moves), np.random.default_rng(1)
    changed = 0
    for gene in np.argsort(-lessons.times.sum(axis=1))[:12]:
        for new in (best[gene], draws.integers(0, 49, size=2) * WIDTH):
            other = player.thresholds.copy()
            other[gene] = new
            moves = lessons.moves[gene]
            rows = np.arange(BINS)
            foreseen = (moves[rows, chosen(other[gene])] - moves[rows, chosen(player.thresholds[gene])]).sum()
            assert wins(Chromosome(other, player.classes), deals) - before == pytest.approx(foreseen, abs=1e-6)
            changed += foreseen != 0
    assert changed > 8


def test_another_class_of_a_starting_hand_brings_what_was_foreseen() -> None:
    deals, player = some_deals(12), even(RULES[0])
    lessons = look_back(GAME, deals, player, [TABLE], Rng(1))[0]
    before = wins(player, deals)
    places = np.argsort(-lessons.dealt.reshape(-1))[:6]
    for table, start in zip(*np.unravel_index(places, (len(TABLES), STARTS)), strict=True):
        for number in range(len(CLASSES)):
            classes = player.classes.copy()
            classes[table, start] = number
            foreseen = (
                lessons.classes[table, start, number] - lessons.classes[table, start, player.classes[table, start]]
            )
            gained = wins(Chromosome(player.thresholds, classes), deals) - before
            assert gained == pytest.approx(foreseen, abs=1e-6)
    assert lessons.dealt.sum() == deals.n * HANDS


def test_the_best_thresholds_are_the_best_of_all() -> None:
    payoffs = np.random.default_rng(2).normal(size=(20, BINS, 3))
    edges = [-MOST, *(WIDTH * k for k in range(BINS - 1))]
    rows = np.arange(BINS)
    for gene, found in zip(payoffs, best_thresholds(payoffs), strict=True):
        most = max(gene[rows, chosen(np.array([a, b]))].sum() for a in edges for b in edges)
        assert gene[rows, chosen(found)].sum() == pytest.approx(most)


def test_a_mended_player_wins_more_and_the_threads_do_not_matter() -> None:
    deals, player = some_deals(30), RULES[3]
    tables = [TABLE, [RULES[3]] * 9]
    one = look_back(GAME, deals, player, tables, Rng(1))
    two = look_back(GAME, deals, player, tables, Rng(1), threads=2)
    for a, b in zip(one, two, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    both = Lessons(*(a + b for a, b in zip(*one, strict=True)))
    mended, cautious = mend(player, both), mend(player, both, caution=3.0)
    for table in tables:
        assert wins(mended, deals, table) > wins(player, deals, table)
    played = [(p.classes != FOLDS).mean() for p in (mended, cautious, mend(player, both, caution=1e6))]
    assert played[0] > played[1] > played[2]
    calls = [call_share(p, both) for p in (mended, mend(player, both, calls=1.0), mend(player, both, calls=1e6))]
    assert calls[0] > calls[1] > calls[2] == 0
    never = both.dealt == 0
    assert np.array_equal(mended.classes[never], player.classes[never])
