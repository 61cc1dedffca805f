"""Cards are written `Ah` (ace of hearts), moves `fold`, `check` or `call`, `bet` or `raise`."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.errors import TapeteError
from tapete.core.spec import Spec
from tapete.games.holdem import STREETS
from tapete.games.holdem.evaluator import category, rank_hands
from tapete.games.holdem.ranks import CATEGORIES, RANKS, SUITS

FOLD, CALL, RAISE = range(3)


def card_name(card: int) -> str:
    """The card as it is written."""
    return RANKS[card % 13] + SUITS[card // 13]


def cards_in(text: str, *counts: int) -> int:
    """The set of the cards written in a text, with or without blanks; one of these counts of different cards."""
    letters = "".join(text.split())
    names = [letters[i : i + 2] for i in range(0, len(letters), 2)]
    bits = {card_name(card): 1 << card for card in range(52)}
    found = 0
    for name in names:
        card = name[:1].upper() + name[1:].lower()
        if card not in bits:
            raise TapeteError(f"{name!r} in {text!r} is no card; cards are written like Ah, Td, 2c")
        found |= bits[card]
    if len(names) not in counts or found.bit_count() != len(names):
        raise TapeteError(f"{text!r} should be {' or '.join(map(str, counts))} different cards")
    return found


def hand_faces(s: Any, owner: int, seat: int | None) -> tuple[str, ...]:
    """The owner's cards as the seat sees them: empty where they lie face down. Nobody looks during the deal."""
    is_known = seat is None or is_shown(s, owner) or (seat == owner and s["dealt"] >= 2 * s["players"])
    return tuple(card_name(card) if is_known else "" for card in s["hole"][owner] if card >= 0)


def board_faces(s: Any, seat: int | None) -> tuple[str, ...]:
    """The board as the seat sees it: the flop is turned up when its three cards lie there."""
    cards = [card for card in s["board"] if card >= 0]
    return tuple(card_name(card) if seat is None or len(cards) >= 3 else "" for card in cards)


def write(spec: Spec, s: Any, action: int) -> str:
    """A card as chance deals it, or a move."""
    if s["mover"] == CHANCE:
        return card_name(action)
    return move_name(action, owes=s["paid"][s["mover"]] < s["price"], bets=s["bets"])


def move_name(action: int, *, owes: bool, bets: int) -> str:
    """The word for a move, by whether there is something to call and whether somebody has bet."""
    return ("fold", "call" if owes else "check", "raise" if bets else "bet")[action]


def hand_name(cards: Sequence[int]) -> str:
    """What two to seven cards make."""
    if len(cards) < 5:
        return CATEGORIES[len({card % 13 for card in cards}) < len(cards)]
    return category(rank_hands(np.array([cards], dtype=np.uint8))[0])


def winning_five(s: Any) -> list[int]:
    """At a showdown, the cards that won it: the best five of each hand that nobody beat."""
    sevens = [(*s["hole"][seat], *s["board"]) for seat in seats_playing(s)]
    fives = np.array([five for seven in sevens for five in combinations(seven, 5)], dtype=np.uint8)
    ranks = rank_hands(fives).reshape(len(sevens), -1)
    hands = fives.reshape(len(sevens), -1, 5)
    best = [hand[rank.argmax()] for hand, rank in zip(hands, ranks, strict=True) if rank.max() == ranks.max()]
    return sorted({int(card) for five in best for card in five})


def is_shown(s: Any, owner: int) -> bool:
    """Whether the owner's cards were turned up at the end."""
    return s["mover"] == TERMINAL and s["active"] > 1 and bool(s["playing"] >> owner & 1)


def seats_playing(s: Any) -> list[int]:
    """Who hasn't folded."""
    return [seat for seat in range(s["players"]) if s["playing"] >> seat & 1]


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """The board as it is turned up, and the hands at the end."""
    seen, cards = ([card_name(card) for card in state["board"] if card >= 0] for state in (before, s))
    if len(cards) > len(seen) and len(cards) >= 3:
        yield f"{STREETS[len(cards) - 2]}: {' '.join(cards[len(seen) if len(cards) > 3 else 0 :])}"
    if s["mover"] == TERMINAL and s["active"] > 1:
        for seat in seats_playing(s):
            hand = np.array([[*s["hole"][seat], *s["board"]]], dtype=np.uint8)
            yield f"seat {seat} showed {spoken(hand_faces(s, seat, seat))}: {category(rank_hands(hand)[0])}"


def describe(spec: Spec, s: Any, seat: int) -> str:
    """Own cards, how many are dealt, the board, the chips, who is in, whose turn it is, and the cards turned up."""
    others = [owner for owner in range(s["players"]) if owner != seat and is_shown(s, owner)]
    facts = {
        "hand": spoken(hand_faces(s, seat, seat)),
        "board": spoken(board_faces(s, seat)),
        "dealt": s["dealt"],
        "paid": spoken(s["paid"][: s["players"]]),
        "playing": spoken(seats_playing(s)),
        "to move": {CHANCE: "the deal", TERMINAL: "nobody"}.get(int(s["mover"]), s["mover"]),
        "moves": line_text(s) or "none",
        "shown": "; ".join(f"{owner}: {spoken(hand_faces(s, owner, seat))}" for owner in others) or "none",
    }
    return f"seat {seat}, " + ", ".join(f"{name} {value}" for name, value in facts.items())


def spoken(things: Iterable[Any]) -> str:
    """Things in a row; a card that lies face down is a question mark."""
    return " ".join(str(thing) or "?" for thing in things) or "none"


def line_text(s: Any) -> str:
    """The moves so far, street by street."""
    streets = (" ".join(f"{seat}:{move}" for seat, move in moves_of(s, street)) for street in range(s["street"] + 1))
    return "; ".join(f"{name} {text}" for name, text in zip(STREETS, streets, strict=False) if text)


def moves_of(s: Any, street: int) -> Iterator[tuple[int, str]]:
    """The moves of a street in their order: once round the table, and again after every bet."""
    players = int(s["players"])
    bets, first = (1, 2 % players) if street == 0 else (0, 1 if players == 2 else 0)
    seats = [(first + i) % players for i in range(players)]
    while seats:
        seat, *seats = seats
        move = int(s["line"][street, bets]) >> (2 * seat) & 3
        if move:
            is_option = street == 0 and bets == 1 and seat == 1  # the big blind has paid already
            yield seat, move_name(move - 1, owes=bets > 0 and not is_option, bets=bets)
        if move - 1 == RAISE:
            bets += 1
            seats = [(seat + i) % players for i in range(1, players)]
