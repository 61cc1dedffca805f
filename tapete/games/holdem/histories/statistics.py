"""What players of hold'em know about themselves and others: figures from hand histories.

======== ==============================================================================================================
VP$IP    hands in which one put money in before the flop without having to; a walk (all fold to one) is no chance
PFR      hands in which one raised before the flop
3-bet    of the hands in which one could raise somebody's first raise, those in which one did
AF       bets and raises after the flop, for each call
WTSD     of the flops seen, those that one saw the showdown of
W$SD     of the showdowns, those that one won something at
W$WSF    of the flops seen, those that one won something after
======== ==============================================================================================================

The classes from fish to shark, and their bounds, are those of Pérez-Fajardo (2012).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tapete.games.holdem.histories.hand import BET, BIG, CALL, CENTS, FOLD, RAISE, Hand
from tapete.games.holdem.histories.words import category_of
from tapete.games.holdem.ranks import CATEGORIES, RANKS

POSITIONS = ("small blind", "big blind", "early", "middle", "late", "button")
LOOSE, TIGHT = 40.0, 25.0  # VP$IP, in percent: above, below; semi-loose between
RAISES = 7.0  # PFR from which on one is aggressive before the flop
AGGRESSION = 2.0  # AF from which on one is aggressive after it
CLASSES = {  # by VP$IP, PFR and AF
    ("loose", False, False): "fish",
    ("semi-loose", False, False): "telephone",
    ("loose", True, False): "dice",
    ("loose", True, True): "maniac",
    ("tight", False, False): "mouse",
    ("loose", False, True): "elephant",
    ("semi-loose", True, False): "bomb",
    ("tight", False, True): "rock",
    ("semi-loose", False, True): "sad",
    ("semi-loose", True, True): "cheerful",
    ("tight", True, False): "dangerous",
    ("tight", True, True): "shark",
}


def position_of(player: int, players: int) -> str:
    """The position of a player of so many, counted from the left of the button.

    >>> [position_of(player, 10) for player in range(10)][2:]
    ['early', 'early', 'early', 'middle', 'middle', 'late', 'late', 'button']
    """
    if players == 2:
        return "button" if player == 0 else "big blind"
    if player < 2:
        return POSITIONS[player]
    behind = players - 1 - player  # seats up to the button
    return "button" if behind == 0 else "late" if behind <= 2 else "middle" if behind <= 4 else "early"


@dataclass
class Result:
    """What came of some hands of a player."""

    times: int = 0
    won: int = 0  # of them
    cents: int = 0

    def add(self, cents: int, won: bool) -> None:
        """One more."""
        self.times += 1
        self.won += won
        self.cents += cents


@dataclass
class Statistics:
    """The figures of one player, or of one position."""

    counts: Counter[str] = field(default_factory=Counter)
    starts: dict[str, Result] = field(default_factory=lambda: defaultdict(Result))  # by starting hand: AKs
    finals: dict[str, Result] = field(default_factory=lambda: defaultdict(Result))  # by category, where a flop was seen
    curve: list[tuple[int, int]] = field(default_factory=list)  # cents of each hand, and those won at a showdown
    big_bet: int = 0  # cents

    def share(self, part: str, whole: str) -> float:
        """In percent; 0 where there was no chance."""
        return 100.0 * self.counts[part] / self.counts[whole] if self.counts[whole] else 0.0

    @property
    def vpip(self) -> float:
        """VP$IP."""
        return self.share("paid", "chances")

    @property
    def pfr(self) -> float:
        """PFR."""
        return self.share("raised", "chances")

    @property
    def aggression(self) -> float:
        """AF; without a call, the number of bets and raises."""
        return self.counts["bets"] / max(self.counts["calls"], 1)

    @property
    def style(self) -> str:
        """The study's class."""
        looseness = "loose" if self.vpip > LOOSE else "tight" if self.vpip < TIGHT else "semi-loose"
        return CLASSES[looseness, self.pfr >= RAISES, self.aggression >= AGGRESSION]

    @property
    def big_bets(self) -> float:
        """Won in a hundred hands."""
        hands = self.counts["hands"] * self.big_bet
        return 100.0 * self.counts["cents"] / hands if hands else 0.0

    def figures(self) -> dict[str, Any]:
        """All of them, as plain data."""
        return {
            "hands": self.counts["hands"],
            "won": self.counts["cents"] / CENTS,
            "BB/100": round(self.big_bets, 3),
            "VP$IP": round(self.vpip, 2),
            "PFR": round(self.pfr, 2),
            "3-bet": round(self.share("three_bets", "three_bet_chances"), 2),
            "AF": round(self.aggression, 2),
            "WTSD": round(self.share("showdowns", "flops"), 2),
            "W$SD": round(self.share("showdowns_won", "showdowns"), 2),
            "W$WSF": round(self.share("flops_won", "flops"), 2),
            "at showdown": self.counts["showdown_cents"] / CENTS,
            "without": (self.counts["cents"] - self.counts["showdown_cents"]) / CENTS,
            "style": self.style,
        }


@dataclass
class Book:
    """Players by name, each as a whole and by position."""

    players: dict[str, Statistics] = field(default_factory=lambda: defaultdict(Statistics))
    positions: dict[tuple[str, str], Statistics] = field(default_factory=lambda: defaultdict(Statistics))
    hands: int = 0

    def add(self, hand: Hand) -> None:
        """One more hand."""
        self.hands += 1
        for player, about in enumerate(hand.players):
            counts = tally(hand, player)
            for statistics in (
                self.players[about.name],
                self.positions[about.name, position_of(player, len(hand.players))],
            ):
                statistics.counts.update(counts)
                statistics.big_bet = hand.bets[1]
            self._cards(self.players[about.name], hand, player, counts)

    def _cards(self, statistics: Statistics, hand: Hand, player: int, counts: Counter[str]) -> None:
        statistics.curve.append((counts["cents"], counts["showdown_cents"]))
        if player in hand.holes:
            cards, won = hand.holes[player], counts["cents"] > 0
            statistics.starts[start_text(cards)].add(counts["cents"], won)
            if counts["flops"]:
                statistics.finals[CATEGORIES[category_of([*cards, *hand.board])]].add(counts["cents"], won)


def start_text(cards: tuple[str, str]) -> str:
    """Two cards as a starting hand.

    >>> start_text(("Kd", "Ah")), start_text(("7c", "7d")), start_text(("9s", "Ts"))
    ('AKo', '77', 'T9s')
    """
    high, low = sorted(cards, key=lambda card: RANKS.index(card[0]), reverse=True)
    return high[0] + low[0] + ("" if high[0] == low[0] else "s" if high[1] == low[1] else "o")


def tally(hand: Hand, player: int) -> Counter[str]:
    """What one hand adds to the figures of one of its players."""
    counts: Counter[str] = Counter(hands=1, cents=hand.net[player])
    acts = [act for act in hand.acts if act.player == player]
    before = {act.kind for act in acts if act.street == 0}
    others_folded = len([act for act in hand.acts if act.street == 0 and act.kind in (FOLD, CALL, BET, RAISE)])
    is_walk = (
        BIG in before
        and len(before) == 1
        and others_folded == len(hand.players) - 1
        and len(hand.folded) == others_folded
    )
    if not is_walk:
        counts["chances"] = 1
        counts["paid"] = int(bool(before & {CALL, BET, RAISE}))
        counts["raised"] = int(bool(before & {BET, RAISE}))
    _count_three_bets(hand, player, counts)
    later = [act.kind for act in acts if act.street > 0]
    counts["bets"] = sum(kind in (BET, RAISE) for kind in later)
    counts["calls"] = later.count(CALL)
    won = hand.collected.get(player, 0) > 0
    if len(hand.board) >= 3 and hand.folded.get(player, 1) > 0:
        counts["flops"], counts["flops_won"] = 1, int(won)
        if hand.shown and player not in hand.folded:
            counts["showdowns"], counts["showdowns_won"] = 1, int(won)
            counts["showdown_cents"] = hand.net[player]
    return counts


def _count_three_bets(hand: Hand, player: int, counts: Counter[str]) -> None:
    """A chance is the first move of a player who finds one raise before the flop that is not his own."""
    raises, own = 0, False
    for act in hand.acts:
        if act.street > 0:
            return
        if act.player == player and raises == 1 and not own:
            counts["three_bet_chances"], counts["three_bets"] = 1, int(act.kind == RAISE)
            return
        if act.kind in (BET, RAISE):
            raises += 1
            own = act.player == player


def study(hands: Iterable[Hand]) -> Book:
    """The figures of all players of these hands."""
    book = Book()
    for hand in hands:
        book.add(hand)
    return book
