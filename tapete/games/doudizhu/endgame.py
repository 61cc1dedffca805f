"""Perfect play with all cards open, when few are left: who wins, the landlord or the peasants.

A search through all moves that stops at the first one that wins, with a table of positions that were decided before.
What is in the table stays true, so it is kept from one call to the next.
"""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import UINT64_PTR, ahead, helper, stack_of
from tapete.core.evaluator import Evaluator, evaluator, ints_at, longs_at, states_at, words_at
from tapete.core.rng import mix
from tapete.games.doudizhu.cards import size
from tapete.games.doudizhu.legal import list_answers, list_leads
from tapete.games.doudizhu.moves import CARDS, KIND, LENGTH, NOTHING, PASS, RANK
from tapete.games.doudizhu.table import view

MOST_CARDS = 10  # in all hands, as a rule: with more, players who can't see all cards don't come near perfect play
MOST_NODES = 4000  # positions that are looked at before it gives up, as a rule
DEPTH = 48  # each card is a move, each move but the last is followed by two passes at most
WIDEST = 520  # moves of a position
TABLE_BITS = 16
OPEN = -1  # nobody knows yet who wins

FRAME = np.dtype(
    [
        ("cards", "u8"),  # of the move that is being tried
        ("key", "u8"),  # of the position
        ("mover", "i4"),
        ("kind", "i4"),  # of the move to beat, with its length and rank
        ("length", "i4"),
        ("rank", "i4"),
        ("passes", "i4"),
        ("first", "i4"),  # where its moves begin
        ("count", "i4"),  # how many there are
        ("tried", "i4"),  # how many of them
    ],
    align=True,
)

hands_room = stack_of(UINT64_PTR, 3)


@helper
def key_of(hands: Any, f: Any, landlord: Any) -> Any:
    """A number that no other position has, as far as 63 bits go; the lowest bit is left for the result."""
    rest = ((((f.mover * 3 + landlord) * 4 + f.passes) * 16 + f.kind) * 16 + f.length) * 16 + f.rank
    return mix(mix(mix(hands[0], hands[1]), hands[2]), np.uint64(rest)) & ~np.uint64(1)


@helper
def enter(f: Any, hands: Any, landlord: Any, table: Any, moves: Any) -> Any:
    """Who wins, if that is seen at once: 1 for the landlord, 0 for the peasants; else OPEN, with the moves listed."""
    hand = hands[f.mover]
    f.key = key_of(hands, f, landlord)
    known = table[f.key >> np.uint64(64 - TABLE_BITS)]
    if known & ~np.uint64(1) == f.key:
        return np.int64(known & np.uint64(1))
    out = ahead(moves, np.int64(f.first))
    f.tried = 0
    if f.kind == NOTHING:
        f.count = list_leads(hand, out)
    else:
        f.count = list_answers(hand, np.int64(f.kind), np.int64(f.length), np.int64(f.rank), out)
    for i in range(f.count):
        if CARDS[out[i]] == hand:
            return np.int64(f.mover == landlord)
    return OPEN


@helper
def next_move(f: Any, landlord: Any, moves: Any) -> Any:
    """Leads from the longest on, answers from the lowest on, and a pass first only on a partner's move."""
    i = f.tried
    f.tried += 1
    if f.kind == NOTHING:
        return moves[f.first + f.count - 1 - i]
    owner = (f.mover + 2 - f.passes) % 3
    if f.mover == landlord or owner == landlord:
        i = i + 1 if i + 1 < f.count else 0
    return moves[f.first + i]


@helper
def follow(f: Any, g: Any, action: Any) -> None:
    """The position after a move, in the next frame."""
    f.cards = CARDS[action]
    g.mover = (f.mover + 1) % 3
    g.first = f.first + f.count
    if action == PASS:
        g.passes = f.passes + 1
        g.kind, g.length, g.rank = f.kind, f.length, f.rank
        if g.passes == 2:
            g.kind = g.length = g.rank = 0
    else:
        g.kind, g.length, g.rank, g.passes = KIND[action], LENGTH[action], RANK[action], 0


@helper
def landlord_wins(s: Any, most: int, frames: Any, moves: Any, table: Any) -> Any:
    """1 if the landlord wins, 0 if the peasants do, OPEN where it would take too long to find out."""
    hands, landlord = hands_room(), np.int64(s.landlord)
    for seat in range(3):
        hands[seat] = s.hand[seat]
    f = frames[0]
    f.mover, f.kind, f.passes, f.first = s.mover, s.kind, s.passes, 0
    f.length, f.rank = (s.length, s.rank) if s.kind != NOTHING else (0, 0)
    depth, nodes = 0, 1
    result = enter(f, hands, landlord, table, moves)
    while True:
        if result == OPEN:
            f = frames[depth]
            if f.tried < f.count:
                nodes += 1
                if nodes > most or depth + 1 == DEPTH:
                    return OPEN
                follow(f, frames[depth + 1], next_move(f, landlord, moves))
                hands[f.mover] -= f.cards
                depth += 1
                result = enter(frames[depth], hands, landlord, table, moves)
                continue
            result = np.int64(f.mover != landlord)
        table[frames[depth].key >> np.uint64(64 - TABLE_BITS)] = frames[depth].key | np.uint64(result)
        if depth == 0:
            return result
        depth -= 1
        f = frames[depth]
        hands[f.mover] += f.cards
        if result != (f.mover == landlord):
            result = OPEN


@evaluator
def _evaluate(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    s, limits = view(state), longs_at(model[3])
    result = OPEN
    if size(s.hand[0]) + size(s.hand[1]) + size(s.hand[2]) <= limits[0]:
        frames = carray(states_at(model[0]), (DEPTH,), FRAME)
        result = landlord_wins(s, limits[1], frames, ints_at(model[1]), words_at(model[2]))
    for i in range(3):
        if result == OPEN:
            values[i] = np.nan
        else:
            values[i] = 1.0 if (i == s.landlord) == (result == 1) else -1.0


def endgame(most_cards: int = MOST_CARDS, most_nodes: int = MOST_NODES) -> Evaluator:
    """Who wins, as 1 and -1, if everybody plays perfectly and sees all cards; NaN where that is not known.

    :param most_cards: in all hands together; with more it isn't tried.
    :param most_nodes: positions that are looked at before it gives up.
    """
    return Evaluator(
        _evaluate,
        (
            np.zeros(DEPTH, dtype=FRAME),
            np.zeros(DEPTH * WIDEST, dtype=np.int32),
            np.zeros(1 << TABLE_BITS, dtype=np.uint64),
            np.array([most_cards, most_nodes]),
        ),
    )
