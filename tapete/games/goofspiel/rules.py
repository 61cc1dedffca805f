"""Goofspiel (the Game of Pure Strategy). Cards are 0, 1, ...: action c bids the card worth c + 1.

Bids are made one after the other, but nobody sees them before all have bid. When each has one card left, those meet
without being asked for, as in OpenSpiel.
"""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import below, mix
from tapete.games.goofspiel import MOST_CARDS, MOST_PLAYERS
from tapete.games.goofspiel.worlds import redeal_bids

NONE = -1
NOBODY = MOST_PLAYERS  # who wins a prize for which the highest bids are equal
RANDOM, ASCENDING = 0, 1  # order of the prizes
WIN, DIFFERENCE = 0, 1  # what is paid

STATE = np.dtype(
    [
        ("public", "u8"),  # running hash of prizes and winners, and of bids that are shown
        ("hand", "u2", (MOST_PLAYERS,)),  # a bit a card; a bid leaves the hand when all have bid
        ("deck", "u2"),  # prizes to come
        ("cards", "i1"),
        ("players", "i1"),
        ("sealed", "i1"),
        ("order", "i1"),
        ("pays", "i1"),
        ("round", "i1"),
        ("turn", "i1"),  # who bids next, which is also how many have
        ("points", "i1", (MOST_PLAYERS,)),
        ("prize", "i1", (MOST_CARDS,)),  # of each round
        ("winner", "i1", (MOST_CARDS,)),
        ("bid", "i1", (MOST_PLAYERS, MOST_CARDS)),  # [seat, round]
    ],
    align=True,
)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def bit(card: Any) -> Any:
    """The card as a set."""
    return np.uint16(1) << np.uint16(card)


@helper
def is_over(s: Any) -> bool:
    """Whether all cards have been played."""
    return s.round == s.cards


@helper
def turn_up(s: Any, card: Any) -> None:
    """The next prize."""
    s.prize[s.round] = card
    s.deck &= ~bit(card)
    s.public = mix(s.public, card)


@helper
def next_prize(s: Any) -> None:
    """Turns the next prize up, where chance has no choice."""
    if s.order == RANDOM and s.round < s.cards - 1:
        return
    for i in range(s.cards):
        card = s.cards - 1 - i if s.order > ASCENDING else i
        if s.deck & bit(card):
            turn_up(s, card)
            return


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    s.cards, s.players, s.sealed = np.int8(params[0]), np.int8(params[1]), np.int8(params[2])
    s.order, s.pays = np.int8(params[3]), np.int8(params[4])
    s.public = np.uint64(0)
    s.round = s.turn = 0
    everything = np.uint16((1 << np.int64(s.cards)) - 1)
    s.deck = everything
    for seat in range(MOST_PLAYERS):
        s.hand[seat] = everything if seat < s.players else np.uint16(0)
        s.points[seat] = 0
        for i in range(MOST_CARDS):
            s.bid[seat, i] = NONE
    for i in range(MOST_CARDS):
        s.prize[i] = s.winner[i] = NONE
    next_prize(s)


@rule
def player(p: Any) -> int:
    s = view(p)
    if is_over(s):
        return TERMINAL
    return CHANCE if s.prize[s.round] == NONE else s.turn


@helper
def list_cards(cards: Any, out: Any) -> int:
    """The cards of a set, ascending."""
    n = 0
    for card in range(MOST_CARDS):
        if cards & bit(card):
            out[n] = card
            n += 1
    return n


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    return list_cards(s.hand[s.turn], out)


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    n = list_cards(view(p).deck, out)
    for i in range(n):
        probs[i] = 1.0 / n
    return n


@rule
def draw(p: Any, rng: Any) -> int:
    s = view(p)
    left = below(rng, s.cards - s.round)
    for card in range(s.cards):
        if s.deck & bit(card):
            if left == 0:
                return card
            left -= 1
    return NONE


@helper
def winner_of(s: Any) -> int:
    """Who has bid most in this round; NOBODY if two did."""
    best, winner = -1, NOBODY
    for seat in range(s.players):
        bid = s.bid[seat, s.round]
        if bid > best:
            best, winner = bid, seat
        elif bid == best:
            winner = NOBODY
    return winner


@helper
def end_round(s: Any) -> None:
    """All have bid: somebody wins the prize, and the next one is turned up."""
    winner = winner_of(s)
    s.winner[s.round] = winner
    s.public = mix(s.public, winner)
    if winner != NOBODY:
        s.points[winner] += s.prize[s.round] + 1
    for seat in range(s.players):
        s.hand[seat] &= ~bit(s.bid[seat, s.round])
        if not s.sealed:
            s.public = mix(s.public, s.bid[seat, s.round])
    s.round += 1
    s.turn = 0
    if s.round < s.cards:
        next_prize(s)


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.prize[s.round] == NONE:
        turn_up(s, action)
        return
    s.bid[s.turn, s.round] = action
    s.turn += 1
    if s.turn < s.players:
        return
    end_round(s)
    if s.round == s.cards - 1:  # one card each
        for seat in range(s.players):
            for card in range(s.cards):
                if s.hand[seat] & bit(card):
                    s.bid[seat, s.round] = card
        end_round(s)


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    for seat in range(s.players):
        out[seat] = 0.0
    if not is_over(s):
        return
    most, winners, total = 0, 0, 0
    for seat in range(s.players):
        total += s.points[seat]
        if s.points[seat] > most:
            most, winners = s.points[seat], 0
        winners += s.points[seat] == most
    for seat in range(s.players):
        if s.pays != WIN:
            out[seat] = s.points[seat] - (total / s.players if s.pays == DIFFERENCE else 0.0)
        elif winners < s.players:
            out[seat] = 1.0 / winners if s.points[seat] == most else -1.0 / (s.players - winners)


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    key = mix(mix(player, s.public), s.turn)
    for i in range(min(s.round + 1, s.cards)):  # own bids, the one that waits included
        key = mix(key, s.bid[player, i])
    return key


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    cards, players = s.cards, s.players
    hand = players
    prize, prizes, points = hand + cards, hand + 2 * cards, hand + 3 * cards
    bid = points + players
    others = bid + cards
    results = others + players * cards
    for i in range(results + 3 * cards):
        out[i] = 0.0
    out[player] = 1.0
    for card in range(cards):
        out[hand + card] = (s.hand[player] & bit(card)) != 0
        out[prizes + card] = (s.deck & bit(card)) != 0
    for seat in range(players):
        out[points + seat] = s.points[seat] / (cards * (cards + 1) / 2)
        for card in range(cards if not s.sealed else 0):
            out[others + seat * cards + card] = (s.hand[seat] & bit(card)) != 0
    for i in range(s.round if s.sealed else 0):
        outcome = 2 if s.winner[i] == NOBODY else s.winner[i] != player
        out[results + 3 * s.bid[player, i] + outcome] = 1.0
    if not is_over(s):
        if s.prize[s.round] != NONE:
            out[prize + s.prize[s.round]] = 1.0
        if s.bid[player, s.round] != NONE:
            out[bid + s.bid[player, s.round]] = 1.0


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    if s.sealed:
        redeal_bids(s, player, rng)
        return
    for seat in range(s.turn):  # bids are hidden until all have been made
        if seat != player:
            n = below(rng, s.cards - s.round)
            for card in range(s.cards):
                if s.hand[seat] & bit(card):
                    if n == 0:
                        s.bid[seat, s.round] = card
                    n -= 1


@rule
def features(p: Any, action: int, out: Any) -> None:
    for card in range(view(p).cards):
        out[card] = card == action
