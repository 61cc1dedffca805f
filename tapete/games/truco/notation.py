"""Cards are written rank and suit, `1e` `7o` `12b`; calls are words: `real-envido`, `truco`, `no-quiero`, `mazo`."""

from collections.abc import Iterator
from typing import Any

from tapete.core.spec import Spec
from tapete.games.truco.bets import ENVIDO, RAISE, TRUCO
from tapete.games.truco.cards import CARDS, NAMES

CALLS = ("envido", "real-envido", "falta-envido", "truco", "quiero", "no-quiero", "mazo")


def write(spec: Spec, s: Any, action: int) -> str:
    """A card that is dealt or played, or a call; a raise has the name of what it asks for. Scores drawn are numbers."""
    if s["dealt"] < 0:
        return str(action)
    if action == RAISE:
        return TRUCO[max(s["level"], s["asked"]) + 1]
    return NAMES[action] if action < CARDS else CALLS[action - ENVIDO]


def cards(mask: int) -> list[str]:
    """The cards of a set."""
    return [name for card, name in enumerate(NAMES) if int(mask) >> card & 1]


def card_name(card: int) -> str:
    """A card on the table; empty where none lies."""
    return NAMES[card] if card >= 0 else ""


def calls(s: Any) -> Iterator[tuple[int, str]]:
    """The calls of this hand in order, with the seat that made them."""
    digits = f"{int(s['calls']):x}" if s["calls"] else ""
    level = 1
    for digit in digits:
        seat, call = divmod(int(digit, 16), 8)
        action = ENVIDO - 1 + call
        level += action == RAISE
        yield seat, TRUCO[level] if action == RAISE else CALLS[action - ENVIDO]


def ended(s: Any) -> str:
    """The move that ended the hand before this one, if there was one."""
    if s["hands"] == 0:
        return ""
    return CALLS[s["ended"] - ENVIDO] if s["ended"] >= CARDS else NAMES[s["ended"]]


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """Tricks, envidos and hands as they end, and the next deal."""
    trick = before["trick"]
    winner = s["winner"][trick]
    if winner > before["winner"][trick]:
        yield f"trick {trick + 1} was parda" if winner == 2 else f"seat {winner} won trick {trick + 1}"
    gained = s["score"] - before["score"]
    if gained.any():
        points = int(gained.max())
        shown = f", {s['shown'][0]} to {s['shown'][1]}" if s["shown"][0] >= 0 else ""
        bet = f"envido{shown}" if before["waits"] else "hand"
        yield f"seat {gained.argmax()} won the {bet}: {points} point{'s' if points > 1 else ''}"
    if s["hands"] and s["dealt"] > before["dealt"] == 5:
        yield f"the next hand is dealt; mano: seat {s['mano']}"


def describe(spec: Spec, s: Any, seat: int) -> str:
    """The score, and the hand as the seat sees it."""
    parts = [f"seat {seat}, score {s['score'][0]}-{s['score'][1]}, mano {s['mano']}"]
    if s["hands"]:
        parts.append(f"hand {s['hands'] + 1}, the last one ended with {ended(s)}")
    if s["dealt"] < 6:
        parts.append(f"{max(s['dealt'], 0)} cards dealt")
        return "; ".join(parts)
    parts.append(f"dealt {' '.join(cards(s['hand'][seat]))}")
    tricks = [f"{card_name(s['table'][i]) or '-'} {card_name(s['table'][i + 1]) or '-'}" for i in (0, 2, 4)]
    parts.append(f"tricks {' | '.join(tricks)}")
    parts.append("calls " + (", ".join(f"{who} {call}" for who, call in calls(s)) or "none"))
    parts.append(f"level {s['level']}")
    if s["shown"][0] >= 0:
        parts.append(f"envido {s['shown'][0]}-{s['shown'][1]}")
    return "; ".join(parts)
