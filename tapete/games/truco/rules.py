"""Truco Argentino, one against one, as the README of this folder tells it."""

from typing import Any

import numpy as np

from tapete.core.compile import helper
from tapete.core.contract import TERMINAL, rule
from tapete.core.rng import below, mix
from tapete.games.truco import FLOR_FIELDS, OBSERVATION
from tapete.games.truco.bets import AL_RESTO, FLOR, LONGEST_CHAIN, MAZO, NO_QUIERO, QUIERO, RAISE
from tapete.games.truco.cards import CARDS, MOST_FLOR_POINTS, MOST_POINTS, STRENGTH, STRONGEST, VALUE
from tapete.games.truco.equity import chance_of_mano
from tapete.games.truco.moves import (
    CALLS,
    FIRST_FLOR,
    HAS_NONE,
    NEXT,
    NONE,
    PAYS_EQUITY,
    SCORES,
    TIE,
    UNKNOWN,
    accept,
    bit,
    clear_table,
    column,
    compare,
    deal,
    decline,
    draw_score,
    end_hand,
    envido_points,
    flor_points,
    is_about_flor,
    is_dealt,
    is_envido_open,
    list_envido,
    list_flor,
    list_turn,
    must_sing,
    note_call,
    play_card,
    sing_flor,
    stake,
    view,
)
from tapete.games.truco.moves import STATE as STATE
from tapete.games.truco.worlds import buenas_bound, draw_hand, draw_outside

# Where each field of an observation begins.
_begins = np.cumsum([0, *(field.size for field in OBSERVATION)]).tolist()
_, HAND, TRICKS, WINNERS, LEADERS, SCORE, LEVEL, ENVIDO_CALLS, ENVIDO_STATE, ENVIDO_POINTS, MANO, SIZE = _begins
FLOR_SIZE = sum(field.size for field in FLOR_FIELDS)


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    s.public = np.uint64(0)
    s.points, s.mazo, s.single = np.int8(params[0]), np.int8(params[1]), np.int8(params[2])
    s.buenas, s.flor = np.int8(params[6]), np.int8(params[7])
    for seat in range(2):
        s.past[seat] = np.uint64(0)
        s.origin[seat] = s.score[seat] = np.int8(params[3 + seat])
    s.hands = s.ended = 0
    clear_table(s, 0)
    if params[5]:
        s.dealt = SCORES


@rule
def player(p: Any) -> int:
    return view(p).mover


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    n = 0
    if s.flor:
        if must_sing(s):
            out[0] = FLOR
            return 1
        if s.waits and is_about_flor(s):
            return list_flor(s, out)
    if s.waits:
        n = list_envido(s, out, n)
    elif s.asked:
        if is_envido_open(s):  # el envido está primero
            n = list_envido(s, out, n)
        if s.asked < 4:
            out[n] = RAISE
            n += 1
    else:
        return list_turn(s, out)
    out[n] = QUIERO
    out[n + 1] = NO_QUIERO
    return n + 2


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    n = 0
    if s.dealt < 0:
        for points in range(s.points):
            out[n] = points
            probs[n] = 1.0 / s.points
            n += 1
        return n
    for card in range(CARDS):
        if not (s.hand[0] | s.hand[1]) & bit(card):
            out[n] = card
            n += 1
    for i in range(n):
        probs[i] = 1.0 / n
    return n


@rule
def draw(p: Any, rng: Any) -> int:
    s = view(p)
    return below(rng, s.points) if s.dealt < 0 else draw_outside(s.hand[0] | s.hand[1], rng)


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.dealt < 0:
        draw_score(s, action)
        return
    if not is_dealt(s):
        deal(s, action)
        return
    seat = int(s.mover)
    s.public = mix(s.public, action)
    if s.flor and s.garden[seat] == UNKNOWN and action != FLOR:
        s.garden[seat] = HAS_NONE
    if action < CARDS:
        play_card(s, seat, action)
        return
    note_call(s, seat, action)
    if action == RAISE:
        s.level = max(s.level, s.asked)  # a raise in reply accepts what was asked
        s.asked = s.level + 1
        s.mover = 1 - seat
    elif action == QUIERO:
        accept(s, seat)
    elif action == NO_QUIERO:
        decline(s, seat)
    elif action == MAZO:
        end_hand(s, 1 - seat, s.level + is_envido_open(s), action)
    elif action == FLOR:
        sing_flor(s, seat)
    else:
        s.chain = NEXT[s.chain, column(action)]
        s.waits = 1
        s.mover = 1 - seat


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    out[0] = out[1] = 0.0
    if s.mover != TERMINAL:
        return
    if s.single == PAYS_EQUITY:
        mine, other = s.points - s.score[0], s.points - s.score[1]
        if s.mano == 0:  # the other is mano next
            out[0] = 1.0 - 2.0 * chance_of_mano(s.mazo, other, mine)
        else:
            out[0] = 2.0 * chance_of_mano(s.mazo, mine, other) - 1.0
    elif s.single:
        out[0] = (s.score[0] - s.origin[0]) - (s.score[1] - s.origin[1])
    else:
        out[0] = 1.0 if s.score[0] == s.points else -1.0
    out[1] = -out[0]


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    key = mix(mix(player, s.public), s.past[player])
    return mix(key, s.hand[player] if is_dealt(s) else np.uint64(s.dealt))


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    for i in range(SIZE):
        out[i] = 0.0
    out[player] = 1.0
    own = s.hand[player] if is_dealt(s) else np.uint64(0)
    for card in range(CARDS):
        out[HAND + card] = (own & ~s.played & bit(card)) != 0
    for i in range(6):
        if s.table[i] != NONE:
            out[TRICKS + CARDS * i + s.table[i]] = 1.0
    for trick in range(3):
        if s.winner[trick] != NONE:
            out[WINNERS + 3 * trick + s.winner[trick]] = 1.0
        if s.leader[trick] != NONE:
            out[LEADERS + 2 * trick + s.leader[trick]] = 1.0
    out[SCORE] = s.score[0] / s.points
    out[SCORE + 1] = s.score[1] / s.points
    out[LEVEL + s.level - 1] = 1.0
    if not is_about_flor(s):
        for i in range(LONGEST_CHAIN):
            if CALLS[s.chain, i] != NONE:
                out[ENVIDO_CALLS + 3 * i + CALLS[s.chain, i]] = 1.0
    is_resolved = s.chain > 0 and not s.waits
    out[ENVIDO_STATE] = is_resolved
    out[ENVIDO_STATE + 1] = is_resolved or s.level > 1 or s.trick > 0
    out[ENVIDO_POINTS] = envido_points(own) / MOST_POINTS
    if not is_about_flor(s):
        out[ENVIDO_POINTS + 1] = max(s.shown[1 - player], 0) / MOST_POINTS
    out[MANO + s.mano] = 1.0
    end = SIZE
    if s.buenas:
        end = observe_buenas(s, player, out, end)
    if s.flor:
        observe_flor(s, player, own, out, end)


@helper
def observe_buenas(s: Any, player: int, out: Any, at: int) -> int:
    """The field `buenas`; where the next one begins."""
    bound = buenas_bound(s, 1 - player)
    out[at] = bound != NONE
    out[at + 1] = max(bound, 0) / (MOST_FLOR_POINTS if is_about_flor(s) else MOST_POINTS)
    return at + 2


@helper
def observe_flor(s: Any, player: int, own: Any, out: Any, at: int) -> None:
    """The fields of flor."""
    for i in range(FLOR_SIZE):
        out[at + i] = 0.0
    for seat in range(2):
        if s.garden[seat] != UNKNOWN:
            out[at + 2 * seat + s.garden[seat] - 1] = 1.0
    if is_about_flor(s):
        out[at + 4 + s.chain - FIRST_FLOR] = 1.0
        out[at + 9] = max(s.shown[1 - player], 0) / MOST_FLOR_POINTS
    if own:
        out[at + 8] = max(flor_points(own), 0) / MOST_FLOR_POINTS


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    other = 1 - player
    s.past[other] = np.uint64(0)  # the hands that he folded unseen no longer matter, and samples share his infosets
    if not is_dealt(s):  # nobody has picked up his cards yet
        s.hand[0] = s.hand[1] = np.uint64(0)
        for i in range(s.dealt):
            s.hand[(s.mano + i) & 1] |= bit(draw_outside(s.hand[0] | s.hand[1], rng))
        return
    laid = s.hand[other] & s.played
    if laid == s.hand[other]:
        return
    s.hand[other] = draw_hand(s, other, laid, rng)


@rule
def features(p: Any, action: int, out: Any) -> None:
    s = view(p)
    actions = AL_RESTO + 1 if s.flor else MAZO + (s.mazo != 0)
    for i in range(actions + 7):
        out[i] = 0.0
    out[action] = 1.0
    if action < CARDS:
        out[actions] = STRENGTH[action] / STRONGEST
        out[actions + 1] = VALUE[action] / 7
        other = s.table[2 * s.trick + 1 - s.mover]
        if other != NONE:
            winner = compare(s.mover, action, other)
            out[actions + 2] = winner == 1 - s.mover
            out[actions + 3] = winner == TIE
            out[actions + 4] = winner == s.mover
    else:
        accepted, declined = stake(s, action)
        out[actions + 5] = accepted / s.points
        out[actions + 6] = declined / s.points
