"""The text of PokerStars, hold'em with fixed limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from tapete.games.holdem import STREETS
from tapete.games.holdem.histories.hand import (
    BET,
    BIG,
    BLINDS,
    BOARD,
    CALL,
    CENTS,
    CHECK,
    FOLD,
    RAISE,
    SMALL,
    Act,
    Hand,
    Player,
    Problem,
    money,
    show_order,
)
from tapete.games.holdem.histories.words import spoken

LONGEST_LINE = 1000  # characters; no line of a history has as many
LONGEST_HAND = 2000  # lines
DATE = "%Y/%m/%d %H:%M:%S"
AMOUNT = r"\$(?P<amount>\d+(?:\.\d\d)?)"
CARDS = r"\[(?P<cards>[2-9TJQKA][cdhs](?: [2-9TJQKA][cdhs])*)\]"
BEGIN = re.compile(r"PokerStars (?:Hand|Game) #(?P<number>\d+):")
HEADER = re.compile(
    r"PokerStars (?:Hand|Game) #\d+:\s+(?P<game>.+?) \((?P<stakes>[^)]*)\)(?: -)?"
    r" (?P<date>\d{4}/\d\d?/\d\d? \d\d?:\d\d:\d\d)"
)
STAKES = re.compile(r"\$(\d+(?:\.\d\d)?)/\$(\d+(?:\.\d\d)?)(?: USD)?")
TABLE = re.compile(r"Table '(?P<table>.+)' (?P<size>\d+)-max Seat #(?P<button>\d+) is the button")
SEAT = re.compile(rf"Seat (?P<seat>\d+): (?P<name>.+) \({AMOUNT} in chips\)")
POST = re.compile(rf"(?P<name>.+): posts (?P<kind>small|big) blind {AMOUNT}")
DEALT = re.compile(rf"Dealt to (?P<name>.+) {CARDS}")
STREET = re.compile(rf"\*\*\* (?P<street>FLOP|TURN|RIVER) \*\*\* (?:\[.*\] )?{CARDS}")
MOVE = re.compile(rf"(?P<name>.+): (?P<kind>folds|checks|calls|bets|raises)(?: {AMOUNT})?(?: to \$(?P<to>[\d.]+))?")
UNCALLED = re.compile(rf"Uncalled bet \({AMOUNT}\) returned to (?P<name>.+)")
SHOWS = re.compile(rf"(?P<name>.+): shows {CARDS}")
COLLECTED = re.compile(rf"(?P<name>.+) collected {AMOUNT} from (?:main |side )?pot")
TOTAL = re.compile(rf"Total pot {AMOUNT}.* \| Rake \$(?P<rake>\d+(?:\.\d\d)?)")
KINDS = {"folds": FOLD, "checks": CHECK, "calls": CALL, "bets": BET, "raises": RAISE}
WORDS = {kind: word for word, kind in KINDS.items()}


class Wrong(Exception):
    """What is wrong with a line."""


def cents(text: str) -> int:
    """Of an amount as it is written."""
    whole, _, part = text.partition(".")
    return int(whole) * CENTS + (int(part) if part else 0)


def text_of(hand: Hand) -> str:
    """The hand as text, with an empty line or two after it."""
    return "\n".join([*_lines(hand), "", "", ""])


def _lines(hand: Hand) -> Iterator[str]:
    names = [player.name for player in hand.players]
    small, big = (money(bet) for bet in hand.bets)
    yield f"PokerStars Hand #{hand.number}:  Hold'em Limit ({small}/{big} USD) - {hand.when:{DATE}} ET"
    yield f"Table '{hand.table}' {hand.size}-max Seat #{hand.players[hand.button].seat} is the button"
    for player in hand.players:
        yield f"Seat {player.seat}: {player.name} ({money(player.stack)} in chips)"
    for act in hand.acts:
        if act.kind in BLINDS:
            yield f"{names[act.player]}: posts {act.kind} {money(act.cents)}"
    yield "*** HOLE CARDS ***"
    for place, cards in hand.holes.items():
        yield f"Dealt to {names[place]} [{' '.join(cards)}]"
    for street in range(hand.streets):
        if street:
            seen, new = hand.board[: BOARD[street - 1]], hand.board[BOARD[street - 1] : BOARD[street]]
            yield (
                f"*** {STREETS[street].upper()} *** " + (f"[{' '.join(seen)}] " if seen else "") + f"[{' '.join(new)}]"
            )
        yield from _moves(hand, street, names)
    yield from _end(hand, names)
    yield from _summary(hand, names)


def _moves(hand: Hand, street: int, names: list[str]) -> Iterator[str]:
    highest = max((act.total for act in hand.acts if act.kind == BIG), default=0) if street == 0 else 0
    for act in hand.acts:
        if act.street == street and act.kind in WORDS:
            text = f"{names[act.player]}: {WORDS[act.kind]}"
            if act.kind in (CALL, BET):
                text += f" {money(act.cents)}"
            elif act.kind == RAISE:
                text += f" {money(act.total - highest)} to {money(act.total)}"
            highest = max(highest, act.total)
            yield text


def _end(hand: Hand, names: list[str]) -> Iterator[str]:
    for player, back in hand.uncalled.items():
        yield f"Uncalled bet ({money(back)}) returned to {names[player]}"
    if hand.shown:
        yield "*** SHOW DOWN ***"
    for player in show_order(hand):
        cards = hand.holes[player]
        yield f"{names[player]}: shows [{' '.join(cards)}] ({spoken([*cards, *hand.board])})"
    for player, won in hand.collected.items():
        yield f"{names[player]} collected {money(won)} from pot"
    if not hand.shown:
        for player in hand.collected:
            yield f"{names[player]}: doesn't show hand"


def _summary(hand: Hand, names: list[str]) -> Iterator[str]:
    yield "*** SUMMARY ***"
    yield f"Total pot {money(hand.pot)} | Rake {money(hand.rake)}"
    if hand.board:
        yield f"Board [{' '.join(hand.board)}]"
    roles = {act.player: f" ({act.kind})" for act in hand.acts if act.kind in BLINDS}
    for place, player in enumerate(hand.players):
        role = (" (button)" if place == hand.button else "") + roles.get(place, "")
        yield f"Seat {player.seat}: {player.name}{role} {_fate(hand, place)}"


def _fate(hand: Hand, player: int) -> str:
    """What became of a player."""
    if player in hand.folded:
        street = hand.folded[player]
        when = "before Flop" if street == 0 else f"on the {STREETS[street].capitalize()}"
        return f"folded {when}" + ("" if hand.paid[player] else " (didn't bet)")
    won = hand.collected.get(player, 0)
    if player not in hand.shown:
        return f"collected ({money(won)})"
    cards = hand.holes[player]
    how = f"won ({money(won)}) with" if won else "lost with"
    return f"showed [{' '.join(cards)}] and {how} {spoken([*cards, *hand.board])}"


def hands_in(lines: Iterable[str], problem: Callable[[Problem], None]) -> Iterator[Hand]:
    """The hands of a text, one by one."""
    chunk: list[tuple[int, str]] = []
    stray = 0  # a line before the first hand that is not empty
    for number, line in enumerate(lines, 1):
        line = line.strip().lstrip("\ufeff")
        if BEGIN.match(line):
            yield from _one(chunk, problem)
            chunk = []
        elif not chunk and line and not stray:
            stray = number
            problem(Problem("", number, "this is no hand of PokerStars"))
        if (chunk or BEGIN.match(line)) and line and len(chunk) <= LONGEST_HAND:
            chunk.append((number, line[:LONGEST_LINE]))
    yield from _one(chunk, problem)


def _one(chunk: list[tuple[int, str]], problem: Callable[[Problem], None]) -> Iterator[Hand]:
    """The hand in these numbered lines, unless something is wrong with it."""
    if not chunk:
        return
    reader = _Reader()
    at = 0
    try:
        for at, line in chunk:  # noqa: B007
            reader.take(line)
        yield reader.hand()
    except (Wrong, ValueError, LookupError, ArithmeticError) as error:
        found = BEGIN.match(chunk[0][1])
        problem(Problem(found["number"] if found else "", at, str(error) or "this can't be read"))


class _Reader:
    """Takes the lines of one hand."""

    def __init__(self) -> None:
        self.number = self.table = ""
        self.bets, self.when, self.size, self.button_seat = (0, 0), datetime.min, 0, 0
        self.players: list[Player] = []
        self.index: dict[str, int] = {}
        self.acts: list[Act] = []
        self.board: list[str] = []
        self.holes: dict[int, tuple[str, str]] = {}
        self.shown: list[int] = []
        self.uncalled: dict[int, int] = {}
        self.collected: dict[int, int] = {}
        self.street, self.on_street = 0, {}  # type: tuple[int, dict[int, int]]
        self.total: int | None = None
        self.rake = 0
        self.in_summary = False

    def take(self, line: str) -> None:
        """One line. Those that tell nothing of the play (chat, who joins) are passed over."""
        if not self.number:
            self._header(line)
        elif line.startswith("*** SUMMARY"):
            self.in_summary = True
        elif self.in_summary:
            if found := TOTAL.match(line):
                self.total, self.rake = cents(found["amount"]), cents(found["rake"])
        elif found := TABLE.match(line):
            self.table, self.size, self.button_seat = found["table"], int(found["size"]), int(found["button"])
        elif not self.acts and (found := SEAT.match(line)):
            if found["name"] in self.index:
                raise Wrong(f"{found['name']} sits there twice")
            self.index[found["name"]] = len(self.players)
            self.players.append(Player(found["name"], int(found["seat"]), cents(found["amount"])))
        else:
            self._play(line)

    def _header(self, line: str) -> None:
        begin, found = BEGIN.match(line), HEADER.match(line)
        if not begin or not found:
            raise Wrong("the first line is not one of a hand")
        self.number = begin["number"]
        if found["game"] != "Hold'em Limit":
            raise Wrong(f"this is {found['game'][:40]}, not Hold'em Limit")
        stakes = STAKES.fullmatch(found["stakes"])
        if not stakes:
            raise Wrong(f"the stakes {found['stakes'][:40]!r} are not in dollars")
        self.bets = cents(stakes[1]), cents(stakes[2])
        self.when = datetime.strptime(found["date"], DATE)

    def _who(self, name: str) -> int:
        if name not in self.index:
            raise Wrong(f"nobody at the table is called {name[:40]}")
        return self.index[name]

    def _play(self, line: str) -> None:
        if found := POST.match(line):
            self._act(self._who(found["name"]), SMALL if found["kind"] == "small" else BIG, cents(found["amount"]))
        elif found := STREET.match(line):
            self.board += found["cards"].split()
            self.street, self.on_street = self.street + 1, {}
            if self.street >= len(STREETS) or len(self.board) != BOARD[self.street]:
                raise Wrong(f"the board has {len(self.board)} cards here")
        elif found := DEALT.match(line):
            first, second = found["cards"].split()
            self.holes[self._who(found["name"])] = first, second
        elif found := UNCALLED.match(line):
            self.uncalled[self._who(found["name"])] = cents(found["amount"])
        elif found := SHOWS.match(line):
            player = self._who(found["name"])
            first, second = found["cards"].split()
            self.holes[player] = first, second
            self.shown.append(player)
        elif (found := MOVE.match(line)) and found["name"] in self.index:
            self._move(self.index[found["name"]], KINDS[found["kind"]], found["amount"], found["to"])
        elif found := COLLECTED.match(line):
            player = self._who(found["name"])
            self.collected[player] = self.collected.get(player, 0) + cents(found["amount"])

    def _move(self, player: int, kind: str, amount: str | None, to: str | None) -> None:
        before = self.on_street.get(player, 0)
        if kind in (FOLD, CHECK):
            paid = 0
        elif amount is None or (kind == RAISE and to is None):
            raise Wrong(f"a {kind} without an amount")
        else:
            paid = cents(to) - before if kind == RAISE and to else cents(amount)
        if paid < 0:
            raise Wrong("a raise to less than what was paid")
        self._act(player, kind, paid)

    def _act(self, player: int, kind: str, paid: int) -> None:
        if any(act.player == player and act.kind == FOLD for act in self.acts):
            raise Wrong(f"{self.players[player].name} has folded already")
        self.on_street[player] = self.on_street.get(player, 0) + paid
        self.acts.append(Act(self.street, player, kind, paid, self.on_street[player]))

    def hand(self) -> Hand:
        """All of it, when its lines have been taken."""
        if self.total is None:
            raise Wrong("the hand breaks off: there is no total pot")
        seats = [player.seat for player in self.players]
        if self.button_seat not in seats or len(seats) < 2:
            raise Wrong("the button is at a seat where nobody sits")
        turn = (seats.index(self.button_seat) + (0 if len(seats) == 2 else 1)) % len(seats)
        order = [(turn + i) % len(seats) for i in range(len(seats))]
        new = {old: place for place, old in enumerate(order)}
        hand = Hand(
            number=self.number,
            bets=self.bets,
            players=tuple(self.players[old] for old in order),
            acts=tuple(Act(act.street, new[act.player], act.kind, act.cents, act.total) for act in self.acts),
            board=tuple(self.board),
            holes={new[old]: cards for old, cards in sorted(self.holes.items(), key=lambda item: new[item[0]])},
            shown=tuple(sorted(new[old] for old in self.shown)),
            uncalled={new[old]: back for old, back in self.uncalled.items()},
            collected={new[old]: won for old, won in self.collected.items()},
            rake=self.rake,
            button=new[seats.index(self.button_seat)],
            table=self.table,
            size=self.size,
            when=self.when,
        )
        if self.total != hand.pot:
            raise Wrong(f"the total pot is told to be {money(self.total)}, but {money(hand.pot)} were paid")
        if wrong := hand.wrong():
            raise Wrong(wrong)
        return hand
