"""A stranger at the table: somebody who may sit opposite, and whose habits are known.

Whoever solves the rest of a hand against a player who never errs gains little from one who does. So the opponent may be
a stranger, a strategy that was read off somebody's games (`imitation.py`), as likely as it is said beforehand and as
what was played since makes it (Johanson, Zinkevich and Bowling 2007). What the stranger does in the tree is looked up
here; all else is solved as before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapete.core.compile import ahead, helper
from tapete.core.records import at
from tapete.games.truco.cards import STRENGTH
from tapete.games.truco.moves import NONE
from tapete.solve.truco.abstraction import ANSWER, BET, CARD
from tapete.solve.truco.player import share
from tapete.solve.truco.rest import (
    _NODES,
    _STRANGER,
    CHOICE,
    HIGH,
    LANES,
    LAST,
    LED,
    LOW,
    NODES,
    RAISE_CHOICE,
    RANKS,
    THIRD,
    _pairs,
    size_of,
)
from tapete.solve.truco.rest import ANSWER as ANSWERS
from tapete.solve.truco.rest_cfr import descend
from tapete.solve.truco.rows import row_of
from tapete.solve.truco.stages import choices

_by_rank = [np.flatnonzero(STRENGTH == rank).tolist() for rank in range(RANKS)]
CARD_OF = np.array([cards[0] for cards in _by_rank])  # [rank] a card
HELD = np.zeros(len(_pairs), dtype=np.uint64)  # [pair] two cards of these ranks; 0 where there is only one of the rank
for _number, (_low, _high) in enumerate(_pairs):
    if _low != _high or len(_by_rank[_low]) > 1:
        HELD[_number] = (1 << _by_rank[_low][0]) | (1 << _by_rank[_high][-1])


@helper
def lay(rest: Any, node: Any, lane: int, s: Any) -> None:
    """Makes the state s, in which the second trick begins, one of a node: what is asked, and which cards lie there."""
    leader, place = int(at(rest.nodes, 0).mover), int(node.stage) * LANES + lane
    s.trick, s.level, s.asked, s.holder = 1 + (node.stage == THIRD), node.level, node.asked, node.holder
    s.mover = node.mover
    for i in range(2, 6):
        s.table[i] = NONE
    if node.stage == LED or node.stage == THIRD:
        s.table[2 + leader] = CARD_OF[rest.led[place]]
    if node.stage == THIRD:
        s.table[3 - leader] = CARD_OF[rest.followed[place]]


@helper
def act(s: Any, known: Any, probs: Any, node: Any, now: Any, size: int) -> None:
    """What a strategy does in a state of the node; it never goes to the mazo."""
    seat = int(node.mover)
    if node.kind == ANSWERS:
        row = row_of(s, known, seat, ANSWER)
        for action in range(node.actions):
            now[action * size] = np.float32(share(probs, row, int(node.actions), action))
        return
    raises = 0.0
    n = choices(s, BET)
    if node.raises or node.kind != CHOICE:
        raises = share(probs, row_of(s, known, seat, BET), n, 1)
    if node.kind != CHOICE:
        now[0], now[size] = np.float32(1 - raises), np.float32(raises)
        return
    low = 1.0
    if choices(s, CARD) > 1:
        low = share(probs, row_of(s, known, seat, CARD), 2, 0)
    now[LOW * size], now[HIGH * size] = np.float32((1 - raises) * low), np.float32((1 - raises) * (1 - low))
    if node.raises:
        now[RAISE_CHOICE * size] = np.float32(raises)


@helper
def expect(rest: Any, s: Any, known: Any, probs: Any, seat: int) -> None:
    """What a strategy does on a seat, everywhere in a tree: `now` of all its types."""
    s.played = np.uint64(0)
    for number in range(rest.used[_NODES]):
        node = at(rest.nodes, number)
        if node.kind <= LAST or node.mover != seat:
            continue
        stage, size = at(rest.stages, node.stage), size_of(rest, node, seat)
        lanes, kinds = int(stage.lanes), int(stage.types[seat])
        for lane in range(lanes):
            lay(rest, node, lane, s)
            for kind in range(kinds):
                cards = HELD[kind] if kinds > RANKS else np.uint64(1) << np.uint64(CARD_OF[kind])
                if cards:
                    s.hand[seat] = cards
                    act(s, known, probs, node, ahead(rest.now, node.entries + kind * lanes + lane), size)


@helper
def let_in(rest: Any, s: Any, known: Any, probs: Any, seat: int, likely: Any) -> None:
    """A stranger may sit on a seat: how likely he gets everywhere goes into `strange`.

    :param s: a state of this hand, which is spoiled.
    :param likely: by type, how likely he is there, against who is no stranger, when the tree begins.
    """
    expect(rest, s, known, probs, seat)
    root = ahead(rest.reach, at(rest.nodes, 0).reach[seat])
    kinds = int(at(rest.stages, 0).types[seat])
    for i in range(kinds):
        root[i] = np.float32(likely[i])
    descend(rest, seat, 0.0)
    for number in range(rest.used[_NODES]):
        node = at(rest.nodes, number)
        if rest.alive[seat * NODES + number]:
            reach, strange = ahead(rest.reach, node.reach[seat]), ahead(rest.strange, node.reach[seat])
            for i in range(size_of(rest, node, seat)):
                strange[i] = reach[i]
    for i in range(kinds):
        root[i] = np.float32(1)
    rest.used[_STRANGER] = 1 + seat
