"""What the cards on the table and the envido points that were shown tell of a hand of truco, suits forgotten.

All of it is tables, made once: how likely each holding is, and from that how often one wins the tricks if both played
with open cards. `SHOWN` counts what is known of somebody's envido: 0 is nothing, 1 to 22 the points that he has shown.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, permutations
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.games.truco.cards import CARDS, FIRST, HANDS, MOST_POINTS, STRENGTH, STRONGEST
from tapete.solve.truco import open_hands
from tapete.solve.truco.open_hands import MINE, PARDA, THEIRS, written

RANKS = STRONGEST + 1  # strengths of cards
POINTS = (*range(8), *range(20, 34))  # of an envido
SHOWN = 1 + len(POINTS)
TRIPLES: list[tuple[int, ...]] = list(combinations_with_replacement(range(RANKS), 3))
PAIRS: list[tuple[int, ...]] = list(combinations_with_replacement(range(RANKS), 2))

FIRST_LEVELS = 30  # how good a hand is in the first trick, by quantiles
LATER_LEVELS = 12  # in later tricks, by tenths; the first never wins with open cards, the last always does
LOOKS = 4  # how good a hand looks from outside
TELLS = 24  # what the first card and the points that were shown tell of the other two cards
STANDINGS = ((1, MINE, 0), (0, THEIRS, 0), (1, PARDA, 1), (0, PARDA, 0))  # second trick: I lead, who won, I am mano

Small = NDArray[np.int8]


class Knowledge(NamedTuple):
    """Tables as kernels read them, flat; the shapes are in brackets."""

    triple_of: NDArray[np.int16]  # [rank, rank, rank] the number of a holding, in any order
    pair_of: NDArray[np.int16]  # [rank, rank]
    shown_of: Small  # [points] what is known when so many are shown
    held: Small  # [mano, shown, triple] how good three cards are before any lies there
    following: Small  # [shown, rank, triple] the same for pie, once mano has led a card of that rank
    led: Small  # [shown, rank, pair] for mano, who has led a card of that rank and holds two
    second: Small  # [standing, shown, rank, pair] in the second trick; the rank is of the other's first card
    second_led: Small  # [standing, shown, rank, rank, rank] where I have led the second, and hold the third
    below: NDArray[np.float32]  # [shown, pair, rank] how often the last card is weaker, after two were played
    upto: NDArray[np.float32]  # [shown, pair, rank] how often it is not stronger
    look0: Small  # [shown] how strong a hand looks before a card of it was played, 0 to 2
    look1: Small  # [shown, rank] after one
    look2: Small  # [shown, pair] after two
    tells: Small  # [shown, card] what that very card and these points tell, suits and all, of the rest; one of TELLS


KNOWLEDGE = types.NamedTuple(
    [types.int16[::1]] * 2 + [types.int8[::1]] * 6 + [types.float32[::1]] * 2 + [types.int8[::1]] * 4, Knowledge
)


class Holdings(NamedTuple):
    """How likely somebody holds what, by what he has shown and played."""

    triples: NDArray[np.float64]  # [shown, triple]
    pairs: NDArray[np.float64]  # [shown, rank, pair]
    lasts: NDArray[np.float64]  # [shown, pair, rank]


@cache
def holdings() -> Holdings:
    """Counted over all hands of three cards; what can't be is 0 everywhere."""
    triples, pairs = np.zeros((SHOWN, len(TRIPLES))), np.zeros((SHOWN, RANKS, len(PAIRS)))
    lasts = np.zeros((SHOWN, len(PAIRS), RANKS))
    points = np.repeat(np.arange(MOST_POINTS + 1), np.diff(FIRST))
    for mask, envido in zip(HANDS.tolist(), points.tolist(), strict=True):
        ranks = [int(STRENGTH[card]) for card in range(40) if mask >> card & 1]
        for shown in (0, 1 + POINTS.index(envido)):
            triples[shown, TRIPLES.index(tuple(sorted(ranks)))] += 1
            for i, j, k in permutations(range(3)):
                pair = PAIRS.index(tuple(sorted((ranks[j], ranks[k]))))
                pairs[shown, ranks[i], pair] += 0.5
                lasts[shown, pair, ranks[i]] += 0.5
    return Holdings(*(_normalised(counts) for counts in (triples, pairs, lasts)))


def _normalised(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    totals = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)


@cache
def knowledge() -> Knowledge:
    """All tables; takes two seconds."""
    held = holdings()
    triples = np.array([written(cards) for cards in TRIPLES])
    pairs = np.array([written(cards) for cards in PAIRS])
    triple_of, pair_of = np.zeros((RANKS,) * 3, dtype=np.int16), np.zeros((RANKS,) * 2, dtype=np.int16)
    for number, cards in enumerate(TRIPLES):
        for order in permutations(cards):
            triple_of[order] = number
    for number, cards2 in enumerate(PAIRS):
        pair_of[cards2] = pair_of[cards2[::-1]] = number
    shown_of = np.zeros(MOST_POINTS + 1, dtype=np.int8)
    shown_of[list(POINTS)] = np.arange(1, SHOWN)
    ranks = np.arange(RANKS)
    strongest = np.array([cards[-1] for cards in TRIPLES]), np.array([cards[-1] for cards in PAIRS])
    return Knowledge(
        triple_of.reshape(-1),
        pair_of.reshape(-1),
        shown_of,
        _quantiles(_held(held, triples), held.triples[0], FIRST_LEVELS),
        _quantiles(_following(held, triples, pairs), held.triples[0], FIRST_LEVELS),
        _quantiles(_led(held, triples, pairs), np.ones(len(PAIRS)), FIRST_LEVELS),
        _tenths(_second(held, pairs)),
        _tenths(_second_led(held, pairs)),
        np.ascontiguousarray((np.cumsum(held.lasts, axis=-1) - held.lasts).reshape(-1), dtype=np.float32),
        np.ascontiguousarray(np.cumsum(held.lasts, axis=-1).reshape(-1), dtype=np.float32),
        _quantiles(held.triples @ strongest[0], np.ones(SHOWN), LOOKS - 1),
        _quantiles(held.pairs @ strongest[1], np.ones(RANKS), LOOKS),
        _quantiles(held.lasts @ ranks, np.ones(len(PAIRS)), LOOKS),
        _tells(),
    )


def _tells() -> Small:
    """For each rank that may be led: cards and points after which the other two are distributed alike are one tell."""
    counts = np.zeros((SHOWN, CARDS, 2, RANKS))  # of the weaker and of the stronger of the two
    points = np.repeat(np.arange(MOST_POINTS + 1), np.diff(FIRST))
    for mask, envido in zip(HANDS.tolist(), points.tolist(), strict=True):
        hand = [card for card in range(CARDS) if mask >> card & 1]
        for card in hand:
            low, high = sorted(int(STRENGTH[other]) for other in hand if other != card)
            counts[1 + POINTS.index(envido), card, (0, 1), (low, high)] += 1
    weights = counts.sum(axis=(2, 3)) / 2
    likely = np.cumsum(counts, axis=-1).reshape(SHOWN, CARDS, -1)
    likely = np.divide(likely, weights[..., None], out=np.zeros_like(likely), where=weights[..., None] > 0)
    tells = np.zeros((SHOWN, CARDS), dtype=np.int8)
    for rank in range(RANKS):
        shown, cards = np.nonzero(weights * (STRENGTH == rank))
        tells[shown, cards] = _merged(likely[shown, cards], weights[shown, cards], TELLS)
    return tells.reshape(-1)


def _merged(vectors: NDArray[np.float64], weights: NDArray[np.float64], classes: int) -> NDArray[np.int64]:
    """Classes of similar vectors: two at a time become one, those first that lose the least by it (Ward 1963)."""
    vectors, weights = vectors.copy(), weights.copy()
    members = [[i] for i in range(len(vectors))]
    while len(members) > classes:
        squares = (vectors**2).sum(axis=1)
        apart = squares[:, None] + squares - 2 * vectors @ vectors.T
        loss = apart * weights[:, None] * weights / (weights[:, None] + weights)
        loss[np.tril_indices(len(members))] = np.inf
        one, two = np.unravel_index(loss.argmin(), loss.shape)
        vectors[one] = (weights[one] * vectors[one] + weights[two] * vectors[two]) / (weights[one] + weights[two])
        weights[one] += weights[two]
        members[one] += members.pop(two)
        vectors, weights = np.delete(vectors, two, axis=0), np.delete(weights, two)
    classes_of = np.zeros(sum(map(len, members)), dtype=np.int64)
    for number, together in enumerate(members):
        classes_of[together] = number
    return classes_of


def _held(held: Holdings, triples: NDArray[np.int64]) -> NDArray[np.float64]:
    shares = np.zeros((2, SHOWN, len(TRIPLES)))
    for shown in range(SHOWN):
        there = np.flatnonzero(held.triples[shown])
        theirs, weights = triples[there], held.triples[shown, there]
        for mano in range(2):
            shares[mano, shown] = [open_hands.share_first(mine, 0, mano, theirs, weights) for mine in triples]
    return shares


def _following(held: Holdings, triples: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    shares = np.zeros((SHOWN, RANKS, len(TRIPLES)))
    for shown, rank in np.ndindex(SHOWN, RANKS):
        there = np.flatnonzero(held.pairs[shown, rank])
        theirs, weights = pairs[there], held.pairs[shown, rank, there]
        shares[shown, rank] = [open_hands.share_following(mine, rank + 1, theirs, weights) for mine in triples]
    return shares


def _led(held: Holdings, triples: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    shares = np.zeros((SHOWN, RANKS, len(PAIRS)))
    for shown in range(SHOWN):
        there = np.flatnonzero(held.triples[shown])
        theirs, weights = triples[there], held.triples[shown, there]
        for rank in range(RANKS):
            shares[shown, rank] = [open_hands.share_first(mine, rank + 1, 1, theirs, weights) for mine in pairs]
    return shares


def _second(held: Holdings, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    shares = np.zeros((len(STANDINGS), SHOWN, RANKS, len(PAIRS)))
    for shown, rank in np.ndindex(SHOWN, RANKS):
        there = np.flatnonzero(held.pairs[shown, rank])
        theirs, weights = pairs[there], held.pairs[shown, rank, there]
        for i, (leads, first, mano) in enumerate(STANDINGS):
            shares[i, shown, rank] = [
                open_hands.share_second(mine, 0, leads, first, mano, theirs, weights) for mine in pairs
            ]
    return shares


def _second_led(held: Holdings, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    shares = np.zeros((len(STANDINGS), SHOWN, RANKS, RANKS, RANKS))
    for shown, rank in np.ndindex(SHOWN, RANKS):
        there = np.flatnonzero(held.pairs[shown, rank])
        theirs, weights = pairs[there], held.pairs[shown, rank, there]
        for i, (leads, first, mano) in enumerate(STANDINGS):
            if leads:
                for card, last in np.ndindex(RANKS, RANKS):
                    share = open_hands.share_second(last + 1, card + 1, leads, first, mano, theirs, weights)
                    shares[i, shown, rank, card, last] = share
    return shares


def _quantiles(values: NDArray[np.float64], weights: NDArray[np.float64], levels: int) -> Small:
    """Which of so many equally frequent levels each value is in; `weights` are of the last axis."""
    flat, weight = values.reshape(-1), np.broadcast_to(weights, values.shape).reshape(-1)
    weight = weight * (flat > 0)
    order = np.argsort(flat, kind="stable")
    reached = np.cumsum(weight[order])
    edges = flat[order][np.searchsorted(reached, reached[-1] * np.arange(1, levels) / levels)]
    return np.searchsorted(edges, flat, side="right").astype(np.int8)


def _tenths(shares: NDArray[np.float64]) -> Small:
    flat = shares.reshape(-1)
    middle = 1 + np.clip((flat * (LATER_LEVELS - 2)).astype(np.int64), 0, LATER_LEVELS - 3)
    return np.where(flat < 1e-9, 0, np.where(flat > 1 - 1e-9, LATER_LEVELS - 1, middle)).astype(np.int8)
