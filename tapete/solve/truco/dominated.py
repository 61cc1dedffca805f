"""A choice that can't be right, taken out of what was solved for the rest of a hand: a card that loses it at once.

The average of CFR+ keeps some of them where next to nothing depends on it: a 4 is played with a 3 in hand because the
hand is as good as lost. Who plays the 3 instead, lays his last card when it is his turn and declines a raise, never
pays more, whatever the opponent does. So all that is moved from the one card to the other goes on like that: how
often the seat bluffs later stays as it was solved.
"""

from __future__ import annotations

from typing import Any

from tapete.core.compile import ahead, helper
from tapete.core.records import at
from tapete.games.truco.moves import NONE
from tapete.solve.truco.rest import (
    _NODES,
    ANSWER,
    CHOICE,
    FOLD,
    HIGH,
    LANES,
    LED,
    LOW,
    ONWARD,
    PAIR_OF,
    PLAY,
    RAISE_TURN,
    RANKS,
    THIRD,
    TURN,
    size_of,
    victor_of,
)


@helper
def lane_of(rest: Any, above: int, followed: int) -> int:
    """The lane of the third trick after that card in a lane of the second."""
    for lane in range(at(rest.stages, THIRD).lanes):
        if rest.above[THIRD * LANES + lane] == above and rest.followed[THIRD * LANES + lane] == followed:
            return lane
    return NONE


@helper
def goes_on(rest: Any, number: int, seat: int, card: int, lane: int, amount: float) -> None:
    """What was moved to a node of the third trick does as little as it can there; nothing where the hand is won."""
    if lane == NONE:
        return
    node, action = at(rest.nodes, number), PLAY
    if node.kind == TURN and node.mover != seat:
        node, action = at(rest.nodes, int(node.children[RAISE_TURN])), FOLD
    if node.kind == TURN or node.kind == ANSWER:
        place = action * size_of(rest, node, seat) + card * int(at(rest.stages, THIRD).lanes) + lane
        rest.sums[node.entries + place] += amount


@helper
def move_up(rest: Any, node: Any, seat: int, low: int, high: int, lane: int) -> None:
    """All of a follower's weaker card goes to the stronger one."""
    size, place = size_of(rest, node, seat), int(PAIR_OF[low, high]) * int(at(rest.stages, LED).lanes) + lane
    sums, now = ahead(rest.sums, node.entries + place), ahead(rest.now, node.entries + place)
    amount = sums[LOW * size]
    goes_on(rest, int(node.children[ONWARD]), seat, low, lane_of(rest, lane, high), amount)
    sums[HIGH * size] += amount
    now[HIGH * size] += now[LOW * size]
    sums[LOW * size] = now[LOW * size] = 0.0


@helper
def keep_alive(rest: Any, first: int) -> None:
    """Takes such cards out of the strategy of a tree; `first` has won the first trick, or TIE."""
    for number in range(rest.used[_NODES]):
        node = at(rest.nodes, number)
        if node.kind != CHOICE or node.stage != LED:
            continue
        seat = int(node.mover)
        for lane in range(at(rest.stages, LED).lanes):
            led = int(rest.led[LED * LANES + lane])
            for high in range(RANKS):
                for low in range(high):
                    loses = victor_of(first, seat, led, low) == 1 - seat
                    if loses and victor_of(first, seat, led, high) != 1 - seat:
                        move_up(rest, node, seat, low, high, lane)
