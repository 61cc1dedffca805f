"""Cards are written rank and suit, `1e` `7o` `12b`; calls are words: `real-envido`, `truco`, `no-quiero`, `flor`."""

from collections.abc import Iterator
from typing import Any

from tapete.core.spec import Spec
from tapete.games.truco.bets import CHAINS, ENVIDO, RAISE, TRUCO
from tapete.games.truco.cards import CARDS, NAMES

CALLS = (
    *("envido", "real-envido", "falta-envido", "truco", "quiero", "no-quiero", "mazo"),
    *("flor", "contraflor", "contraflor-al-resto"),
)


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
    said, level = [], 1
    left = int(s["calls"])
    while left:
        said.append(left & 31)
        left >>= 5
    for call in reversed(said):
        seat, action = call >> 4, ENVIDO - 1 + (call & 15)
        level += action == RAISE
        yield seat, TRUCO[level] if action == RAISE else CALLS[action - ENVIDO]


def bet(s: Any) -> str:
    """What the calls of this hand beside truco are about."""
    return "flor" if s["chain"] >= len(CHAINS) else "envido"


def shown(s: Any) -> str:
    """The points that were shown in an envido or a flor, seat 0's first; who said "son buenas" has shown nothing."""
    return "-".join(str(points) if points >= 0 else "buenas" for points in s["shown"]) if max(s["shown"]) >= 0 else ""


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
        yield f"seat {gained.argmax()} won the {_won(before, s)}: {points} point{'s' if points > 1 else ''}"
    if s["hands"] and s["dealt"] > before["dealt"] == 5:
        yield f"the next hand is dealt; mano: seat {s['mano']}"


def _won(before: Any, s: Any) -> str:
    """What has just been paid: an envido or a flor with the points that it showed, the winner's first, or the hand."""
    sung = bet(s) == "flor" and bet(before) == "envido"  # the other had none: it did not wait for an answer
    if not before["waits"] and not sung:
        return "hand"
    if min(s["shown"]) >= 0:
        return f"{bet(s)}, {max(s['shown'])} to {min(s['shown'])}"
    return f"{bet(s)} with {max(s['shown'])}" if max(s["shown"]) >= 0 else bet(s)


def describe(spec: Spec, s: Any, seat: int) -> str:
    """The score, and the hand as the seat sees it."""
    parts = [f"seat {seat}, score {s['score'][0]}-{s['score'][1]}, mano {s['mano']}"]
    if s["hands"]:
        parts.append(f"hand {s['hands'] + 1}, the last one ended with {ended(s)}")
    if s["dealt"] < 6:
        parts.append(f"{s['dealt']} cards dealt" if s["dealt"] >= 0 else f"{s['dealt'] + 2} scores drawn")
        return "; ".join(parts)
    parts.append(f"dealt {' '.join(cards(s['hand'][seat]))}")
    tricks = [f"{card_name(s['table'][i]) or '-'} {card_name(s['table'][i + 1]) or '-'}" for i in (0, 2, 4)]
    parts.append(f"tricks {' | '.join(tricks)}")
    parts.append("calls " + (", ".join(f"{who} {call}" for who, call in calls(s)) or "none"))
    parts.append(f"level {s['level']}")
    if shown(s):
        parts.append(f"{bet(s)} {shown(s)}")
    return "; ".join(parts)
