"""Fixed-limit Texas hold'em. Seat 0 is the small blind, seat 1 the big blind, the last seat has the button; of two
players, seat 0 has both the small blind and the button.

Stacks are equal, so whoever stays in has always paid as much as the others (`price`): nobody is ever all-in for less,
and there are no side pots.
"""

from typing import Any

import numpy as np
from numba import carray
from numba.cpython.unsafe.numbers import trailing_zeros

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import below, mix
from tapete.games.holdem import BETS, BIG_BLIND, MAX_CAP, MAX_PLAYERS, SMALL_BLIND
from tapete.games.holdem.evaluator import CARD_KEYS, NO_CARDS, rank_key

FOLD = 0
CALL = 1  # or check, where there is nothing to call
RAISE = 2  # or bet, where there is nothing to call

PREFLOP, FLOP, TURN, RIVER = range(4)
FULL_DECK = np.uint64((1 << 52) - 1)
BET_SIZES = np.array(BETS, dtype=np.int16)
BOARD_SIZES = np.array((0, 3, 4, 5), dtype=np.int8)  # cards on the board when a street is played
BIG_BET = BETS[RIVER]
FOUR_BETS = sum(BETS)  # one on each street

STATE = np.dtype(
    [
        ("public", "u8"),  # hash of the moves and of the board, in order
        ("deck", "u8"),  # cards that are still in it, as bits
        ("rake", "f8"),  # share of the pot
        ("rake_cap", "f8"),  # most chips of rake; 0: no such limit
        ("line", "u4", (4, MAX_CAP + 1)),  # [street, bets standing] two bits a seat: 1 + its move, made at that moment
        ("paid", "i2", (MAX_PLAYERS,)),  # chips of each seat in the pot
        ("price", "i2"),  # what a seat must have paid to stay in
        ("opening", "i2"),  # the price when this street began
        ("stack", "i2"),  # what every seat began with
        ("playing", "i2"),  # seats that haven't folded, as bits
        ("hole", "i1", (MAX_PLAYERS, 2)),  # cards of each seat, ascending; -1 before they are dealt
        ("board", "i1", (5,)),  # the flop, ascending, the turn and the river; -1 before they are dealt
        ("players", "i1"),
        ("cap", "i1"),  # most bets on a street
        ("dealt", "i1"),  # cards, those of the board included
        ("street", "i1"),
        ("bets", "i1"),  # standing on this street; the big blind is the first preflop
        ("waiting", "i1"),  # seats that still have to act on this street
        ("active", "i1"),  # seats that haven't folded, as a number
        ("mover", "i1"),
    ],
    align=True,
)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def bit(card: Any) -> Any:
    """The set of that one card."""
    return np.uint64(1) << np.uint64(card)


@helper
def lowest(seats: Any) -> Any:
    """The first seat of a set."""
    return np.int64(trailing_zeros(np.uint32(seats)))


@helper
def next_seat(seats: Any, seat: Any) -> Any:
    """Who of the set sits next after that seat, round the table."""
    after = np.int64(seats) & (np.int64(-2) << np.int64(seat))
    return lowest(after if after else seats)


@helper
def button(s: Any) -> Any:
    """The seat that has it."""
    return 0 if s.players == 2 else s.players - 1


@helper
def on_board(s: Any) -> Any:
    """How many cards lie there; below 0, how many are missing in the hands."""
    return np.int64(s.dealt) - 2 * np.int64(s.players)


@helper
def is_turned_up(s: Any, place: Any) -> bool:
    """Whether all see that card of the board: the flop is turned up when its three cards lie there."""
    return place < on_board(s) and on_board(s) >= 3


@helper
def is_shown(s: Any) -> bool:
    """Whether the hands that are still in have been turned up."""
    return s.mover == TERMINAL and s.active > 1


@helper
def sees(s: Any, player: Any, owner: Any) -> bool:
    """Whether a player knows the owner's cards. Nobody looks at his own before everybody has two."""
    if player == owner:
        return on_board(s) >= 0
    return is_shown(s) and (s.playing >> owner) & 1 == 1


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    s.players, s.cap = np.int8(params[0]), np.int8(params[1])
    s.rake, s.rake_cap, s.stack = params[2], params[3], np.int16(params[4])
    s.public, s.deck = 0, FULL_DECK
    for street in range(4):
        for bets in range(MAX_CAP + 1):
            s.line[street, bets] = 0
    for seat in range(MAX_PLAYERS):
        s.paid[seat] = 0
        s.hole[seat, 0] = s.hole[seat, 1] = -1
    for i in range(5):
        s.board[i] = -1
    s.paid[0], s.paid[1] = SMALL_BLIND, BIG_BLIND
    s.price, s.opening = BIG_BLIND, 0
    s.playing, s.active = (1 << s.players) - 1, s.players
    s.dealt, s.street, s.bets = 0, PREFLOP, 1
    s.waiting = s.players - (s.stack == BIG_BLIND)  # a big blind that has nothing behind it isn't asked
    s.mover = CHANCE


@rule
def player(p: Any) -> int:
    return view(p).mover


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    n = 0
    if s.paid[s.mover] < s.price:
        out[n] = FOLD
        n += 1
    out[n] = CALL
    n += 1
    if s.bets < s.cap and s.price < s.stack:
        out[n] = RAISE
        n += 1
    return n


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    n = 52 - s.dealt
    deck = s.deck
    for i in range(n):
        out[i] = np.int32(trailing_zeros(deck))
        probs[i] = 1.0 / n
        deck &= deck - np.uint64(1)
    return n


@helper
def draw_from(deck: Any, rng: Any) -> Any:
    """One of its cards. At least half of all cards are in it, so trying is faster than counting."""
    card = below(rng, 52)
    while not deck & bit(card):
        card = below(rng, 52)
    return card


@rule
def draw(p: Any, rng: Any) -> int:
    return draw_from(view(p).deck, rng)


@helper
def take(s: Any, seat: Any, card: Any) -> None:
    """Puts a card into a hand; hands are kept ascending."""
    first = s.hole[seat, 1]
    s.hole[seat, 0], s.hole[seat, 1] = min(first, card), max(first, card)


@helper
def end_street(s: Any) -> None:
    """All have answered: the next street is dealt, or the cards are turned up."""
    if s.street == RIVER:
        s.mover = TERMINAL
    else:
        s.street += 1
        s.mover = CHANCE


@helper
def begin_street(s: Any) -> None:
    """The board lies: a round of bets begins left of the button. Who has no chips left bets no more."""
    s.opening, s.bets, s.waiting = s.price, 0, s.active
    s.mover = next_seat(s.playing, button(s))
    if s.price == s.stack:
        end_street(s)


@helper
def lay(s: Any, place: Any, card: Any) -> None:
    """Puts a card on the board; the flop is kept ascending."""
    while 0 < place < 3 and s.board[place - 1] > card:
        s.board[place] = s.board[place - 1]
        place -= 1
    s.board[place] = card


@helper
def deal(s: Any, card: Any) -> None:
    """Two cards to each seat in turn, then the board."""
    s.deck ^= bit(card)
    place = on_board(s)
    s.dealt += 1
    if place >= 0:
        lay(s, place, card)
        if place + 1 == BOARD_SIZES[s.street]:
            for i in range(BOARD_SIZES[s.street - 1], place + 1):
                s.public = mix(s.public, s.board[i])
            begin_street(s)
    else:
        take(s, (s.dealt - 1) >> 1, card)
        if place == -1:
            s.mover = 2 if s.players > 2 else 0  # left of the big blind


@helper
def raised_price(s: Any) -> Any:
    """The price after a bet or a raise: a whole bet more, or all that is left."""
    return min(s.price + BET_SIZES[s.street], s.stack)


@helper
def act(s: Any, action: Any) -> None:
    """A move of the seat whose turn it is."""
    seat = s.mover
    s.public = mix(s.public, action)
    s.line[s.street, s.bets] |= np.uint32(1 + action) << np.uint32(2 * seat)
    s.waiting -= 1
    if action == FOLD:
        s.playing ^= 1 << seat
        s.active -= 1
        if s.active == 1:
            s.mover = TERMINAL
            return
    else:
        if action == RAISE:
            s.price = raised_price(s)
            s.bets += 1
            s.waiting = s.active - 1
        s.paid[seat] = s.price
    if s.waiting:
        s.mover = next_seat(s.playing, seat)
    else:
        end_street(s)


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.mover == CHANCE:
        deal(s, action)
    else:
        act(s, action)


@helper
def winners(s: Any) -> Any:
    """The seats that share the pot of a finished hand, as bits."""
    if s.active == 1:
        return np.int64(s.playing)
    board_key, board = NO_CARDS, np.uint64(0)
    for i in range(5):
        board_key += CARD_KEYS[s.board[i]]
        board |= bit(s.board[i])
    best, winning = np.int64(-1), np.int64(0)
    for seat in range(s.players):
        if (s.playing >> seat) & 1:
            a, b = s.hole[seat, 0], s.hole[seat, 1]
            rank = rank_key(board_key + CARD_KEYS[a] + CARD_KEYS[b], board | bit(a) | bit(b))
            if rank > best:
                best, winning = rank, np.int64(0)
            if rank == best:
                winning |= np.int64(1) << seat
    return winning


@helper
def called(s: Any) -> Any:
    """The second highest that a seat has paid: what the last bet adds to it goes back if nobody calls it."""
    highest = second = np.int64(0)
    for seat in range(s.players):
        paid = np.int64(s.paid[seat])
        second = max(second, min(highest, paid))
        highest = max(highest, paid)
    return second


@helper
def rake_cents(s: Any, pot: Any, sharing: Any) -> Any:
    """What each winner pays for the table, in whole cents: hundredths of a chip."""
    rake = s.rake * pot
    if s.rake_cap > 0:
        rake = min(rake, s.rake_cap)
    return np.floor(100.0 * rake / sharing + 0.5)


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    if s.mover != TERMINAL:
        for seat in range(s.players):
            out[seat] = 0.0
        return
    limit, winning = called(s), winners(s)
    pot = sharing = np.int64(0)
    for seat in range(s.players):
        pot += min(np.int64(s.paid[seat]), limit)
        sharing += (winning >> seat) & 1
    odd_chips_to = next_seat(winning, button(s))
    cents = rake_cents(s, pot, sharing)
    for seat in range(s.players):
        chips = -min(np.int64(s.paid[seat]), limit)
        if (winning >> seat) & 1:
            chips += pot // sharing + (pot % sharing if seat == odd_chips_to else 0)
            out[seat] = (100.0 * chips - cents) / 100.0
        else:
            out[seat] = chips


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    key = mix(mix(player, s.dealt), s.public)
    for owner in range(s.players):
        if sees(s, player, owner):
            key = mix(key, 64 * s.hole[owner, 0] + s.hole[owner, 1])
    return key


@helper
def observe_line(s: Any, player: int, out: Any, at: Any) -> None:
    """What each seat did at each moment: [street, bets standing, seat, move]."""
    n = np.int64(s.players)
    for street in range(s.street + 1):
        for bets in range(s.cap + 1):
            moves = np.int64(s.line[street, bets])
            if moves:
                for i in range(n):
                    move = (moves >> (2 * ((player + i) % n))) & 3
                    if move:
                        out[at + 3 * i + move - 1] = 1.0
            at += 3 * n


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    n = np.int64(s.players)
    hand, board, street, seats = 0, 52, 208, 212  # where the fields begin
    to_call = seats + 4 * n
    line = to_call + 1
    for i in range(line + 12 * (s.cap + 1) * n):
        out[i] = 0.0
    if sees(s, player, player):
        out[hand + s.hole[player, 0]] = out[hand + s.hole[player, 1]] = 1.0
    for i in range(5):
        if is_turned_up(s, i):
            out[board + 52 * max(0, i - 2) + s.board[i]] = 1.0  # the first three are the flop
    out[street + s.street] = 1.0
    most = min(s.cap * FOUR_BETS, s.stack)
    for i in range(n):
        seat = (player + i) % n
        out[seats + i] = player == i
        out[seats + n + i] = s.mover == seat
        out[seats + 2 * n + i] = (s.playing >> seat) & 1
        out[seats + 3 * n + i] = s.paid[seat] / most
    if (s.playing >> player) & 1:
        out[to_call] = (s.price - s.paid[player]) / BIG_BET
    observe_line(s, player, out, line)


@helper
def draw_out_of(s: Any, rng: Any) -> Any:
    """Takes a card out of the deck."""
    card = draw_from(s.deck, rng)
    s.deck ^= bit(card)
    return card


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    s.deck = FULL_DECK
    for place in range(on_board(s)):
        if is_turned_up(s, place):
            s.deck ^= bit(s.board[place])
    for owner in range(s.players):
        if sees(s, player, owner):
            s.deck ^= bit(s.hole[owner, 0]) | bit(s.hole[owner, 1])
    for owner in range(s.players):
        if not sees(s, player, owner):
            s.hole[owner, 0] = s.hole[owner, 1] = -1
            for _ in range(min(2, s.dealt - 2 * owner)):
                take(s, owner, draw_out_of(s, rng))
    for place in range(on_board(s)):
        if not is_turned_up(s, place):
            lay(s, place, draw_out_of(s, rng))


@rule
def features(p: Any, action: int, out: Any) -> None:
    s = view(p)
    for i in range(3):
        out[i] = action == i
    price = s.price if action < RAISE else raised_price(s)
    out[3] = 0.0 if action == FOLD else (price - s.paid[s.mover]) / BIG_BET
