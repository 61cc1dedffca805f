"""Dou Dizhu: a landlord against two peasants, as the README of this folder tells it."""

from typing import Any

import numpy as np

from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import below, mix, next_u64
from tapete.games.doudizhu.cards import DECK_SIZE, RANKS, count, pick, without
from tapete.games.doudizhu.fewest import fewest
from tapete.games.doudizhu.legal import list_answers, list_leads
from tapete.games.doudizhu.moves import CARDS, MOVES, NOTHING, PASS
from tapete.games.doudizhu.observation import MOST_COUNTED, own_hand, write_cards, write_observation, write_one_hot
from tapete.games.doudizhu.table import (
    HIGHEST_BID,
    IN_HANDS,
    MOVES_KEPT,
    call,
    deal_card,
    is_spring,
    play,
    start_deal,
    undealt,
    view,
)
from tapete.games.doudizhu.table import STATE as STATE
from tapete.games.doudizhu.worlds import redeal_hidden, redeal_play

SOLO_RANKS = len(RANKS)


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    for seat in range(3):
        s.played[seat] = s.memory[seat] = np.uint64(0)
    for i in range(MOVES_KEPT):
        s.history[i] = np.uint64(0)
    s.open = s.public = np.uint64(0)
    s.moves = s.length = s.rank = s.passes = s.bombs = s.thrown = s.leads = 0
    s.kind = NOTHING
    s.bidding, s.around, s.spring = np.int32(params[0]), np.int32(params[1]), np.int32(params[2])
    s.bid = 1 - s.bidding
    start_deal(s)


@rule
def player(p: Any) -> int:
    return view(p).mover


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    if s.dealt == IN_HANDS:
        out[0] = PASS
        for bid in range(s.bid + 1, HIGHEST_BID + 1):
            out[bid - s.bid] = MOVES + bid - 1
        return HIGHEST_BID - s.bid + 1
    hand = s.hand[s.mover]
    if s.kind == NOTHING:
        return list_leads(hand, out)
    # As wide as the numbers of `list_leads`, so that what both of them call is compiled once.
    return list_answers(hand, np.int64(s.kind), np.int64(s.length), np.int64(s.rank), out)


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    cards = undealt(s)
    n = 0
    for rank in range(SOLO_RANKS):
        if count(cards, rank):
            out[n] = rank
            probs[n] = count(cards, rank) / (DECK_SIZE - s.dealt)
            n += 1
    return n


@rule
def draw(p: Any, rng: Any) -> int:
    s = view(p)
    return pick(undealt(s), below(rng, DECK_SIZE - s.dealt))


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.mover == CHANCE:
        deal_card(s, action)
    elif s.dealt == IN_HANDS:
        call(s, action)
    else:
        play(s, action)


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    out[0] = out[1] = out[2] = 0.0
    if s.mover != TERMINAL:
        return
    stake = float(s.bid << (s.bombs + (s.spring and is_spring(s))))
    if not s.hand[s.landlord]:
        stake = -stake
    for seat in range(3):
        out[seat] = -2.0 * stake if seat == s.landlord else stake


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    key = mix(mix(np.uint64(player), s.public), s.memory[player])
    return mix(mix(key, own_hand(s, player)), s.dealt)


@rule
def observe(p: Any, player: int, out: Any) -> None:
    write_observation(view(p), player, out)


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    if s.dealt == DECK_SIZE:
        redeal_play(s, player, rng)
    else:
        redeal_hidden(s, player, rng)
    if s.thrown:
        s.memory[(player + 1) % 3] = next_u64(rng)
        s.memory[(player + 2) % 3] = next_u64(rng)


@rule
def features(p: Any, action: int, out: Any) -> None:
    s = view(p)
    cards = CARDS[action] if action < MOVES else np.uint64(0)
    at = write_cards(cards, out, 0)
    left = without(s.hand[s.mover], cards)  # also of cards that aren't there: asked for any move, it returns
    at = write_cards(left, out, at)
    at = write_one_hot(min(fewest(left), MOST_COUNTED), MOST_COUNTED + 1, out, at)
    if s.bidding:
        write_one_hot(action - MOVES, HIGHEST_BID, out, at)
