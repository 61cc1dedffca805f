"""Dealing what a seat can't know: all hands of the other's that fit what was played, shown and said, equally often."""

from typing import Any

from tapete.core.compile import helper
from tapete.core.rng import below
from tapete.games.truco.cards import CARDS, FIRST, FLORES, HANDS
from tapete.games.truco.moves import (
    HAS_FLOR,
    HAS_NONE,
    NONE,
    bit,
    envido_points,
    flor_points,
    is_about_flor,
    is_flor,
)


@helper
def draw_outside(taken: Any, rng: Any) -> int:
    """A card that is not in the set. Few are, so that trying again is faster than counting."""
    card = below(rng, CARDS)
    while taken & bit(card):
        card = below(rng, CARDS)
    return card


@helper
def buenas_bound(s: Any, seat: int) -> int:
    """The most points that the seat can have who has said "son buenas"; NONE where it has not. Equals go to mano."""
    if not s.buenas or s.shown[seat] != NONE or s.shown[1 - seat] == NONE:
        return NONE
    return int(s.shown[1 - seat]) - (s.mano == seat)


@helper
def may_hold(s: Any, seat: int, hand: Any) -> bool:
    """Whether the hand agrees with what is known of the seat's points and of its flor."""
    if s.garden[seat] == HAS_NONE and is_flor(hand):
        return False
    if not s.buenas and s.shown[seat] == NONE:
        return True
    points = flor_points(hand) if is_about_flor(s) else envido_points(hand)
    if s.shown[seat] != NONE:
        return points == s.shown[seat]
    bound = buenas_bound(s, seat)
    return bound == NONE or points <= bound


@helper
def draw_listed(s: Any, seat: int, laid: Any, rng: Any) -> Any:
    """A hand from the list of those with that flor or with that envido; tries until one fits, which the true one does.

    There are 480 flores, and 108 to 1084 hands of each envido.
    """
    taken = s.hand[1 - seat]
    while True:
        if s.garden[seat] == HAS_FLOR:
            hand = FLORES[below(rng, len(FLORES))]
        else:
            first = FIRST[s.shown[seat]]
            hand = HANDS[first + below(rng, FIRST[s.shown[seat] + 1] - first)]
        if not hand & taken and hand & laid == laid and may_hold(s, seat, hand):
            return hand


@helper
def draw_rest(s: Any, seat: int, laid: Any, rng: Any) -> Any:
    """The cards that were laid and, for those that were not, cards that nobody has; tries until the hand fits."""
    missing = 0
    for trick in range(3):
        missing += s.table[2 * trick + seat] == NONE
    while True:
        hand = laid
        for _ in range(missing):
            hand |= bit(draw_outside(hand | s.hand[1 - seat], rng))
        if may_hold(s, seat, hand):
            return hand


@helper
def draw_hand(s: Any, seat: int, laid: Any, rng: Any) -> Any:
    """A hand of the seat that the other can't tell from the true one."""
    if s.garden[seat] == HAS_FLOR or s.shown[seat] != NONE:
        return draw_listed(s, seat, laid, rng)
    return draw_rest(s, seat, laid, rng)
