"""The Poker Hand History format (Kim 2023, https://arxiv.org/abs/2312.11753): TOML, fixed-limit hold'em is variant FT.

Many hands are tables of one file, `[1]`, `[2]`, ...; a file without such lines is one hand. What the house took shows
in `finishing_stacks`. A file of others that has none of those is read if everybody who stayed in paid the same.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from tapete.games.holdem.histories.hand import (
    BEGINNING,
    BET,
    BLINDS,
    BOARD,
    CALL,
    CENTS,
    CHECK,
    FOLD,
    RAISE,
    Act,
    Hand,
    Player,
    Problem,
    show_order,
)
from tapete.games.holdem.histories.words import rank_of

SECTION = re.compile(r"\[(?P<number>\w+)\]\s*$")
MOVE = re.compile(r"p(?P<player>\d+) (?P<kind>f|cc|cbr|sm)(?: (?P<what>\S+))?")
DEAL = re.compile(r"d (?:dh p(?P<player>\d+) (?P<hole>\S{4})|db (?P<board>\S+))")
LONGEST = 100_000  # characters of a hand
UNKNOWN = "????"


class Wrong(Exception):
    """What is wrong with a hand."""


def amount(cents: int) -> str:
    """As TOML writes it, in dollars."""
    return str(cents // CENTS) if cents % CENTS == 0 else f"{cents / CENTS:.2f}"


def order_of(hand: Hand) -> list[int]:
    """The players as the format numbers them: of two, the one with the button is the second."""
    return [1, 0] if len(hand.players) == 2 else list(range(len(hand.players)))


def text_of(hand: Hand) -> str:
    """The hand as a table of TOML."""
    order = order_of(hand)
    place = {player: f"p{i + 1}" for i, player in enumerate(order)}
    blinds = {act.player: act.cents for act in hand.acts if act.kind in BLINDS}
    players = [hand.players[player] for player in order]
    ends = [hand.players[player].stack + hand.net[player] for player in order]
    fields = {
        "variant": "'FT'",
        "antes": _list("0" for _ in order),
        "blinds_or_straddles": _list(amount(blinds.get(player, 0)) for player in sorted(order)),
        "small_bet": amount(hand.bets[0]),
        "big_bet": amount(hand.bets[1]),
        "starting_stacks": _list(amount(player.stack) for player in players),
        "actions": _list(json.dumps(text) for text in _actions(hand, order, place)),
        "table": json.dumps(hand.table),
        "hand": json.dumps(hand.number),
        "seat_count": str(hand.size),
        "seats": _list(str(player.seat) for player in players),
        "players": _list(json.dumps(player.name) for player in players),
        "finishing_stacks": _list(map(amount, ends)),
        "currency_symbol": "'$'",
        "year": str(hand.when.year),
        "month": str(hand.when.month),
        "day": str(hand.when.day),
        "time": f"{hand.when:%H:%M:%S}",
    }
    return f"[{hand.number}]\n" + "".join(f"{key} = {value}\n" for key, value in fields.items()) + "\n"


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _actions(hand: Hand, order: list[int], place: dict[int, str]) -> Iterator[str]:
    for player in order:
        yield f"d dh {place[player]} {''.join(hand.holes.get(player, (UNKNOWN,)))}"
    for street in range(hand.streets):
        if street:
            yield f"d db {''.join(hand.board[BOARD[street - 1] : BOARD[street]])}"
        for act in hand.acts:
            if act.street == street and act.kind not in BLINDS:
                move = {FOLD: "f", CHECK: "cc", CALL: "cc"}.get(act.kind, f"cbr {amount(act.total)}")
                yield f"{place[act.player]} {move}"
    for player in show_order(hand):
        yield f"{place[player]} sm {''.join(hand.holes[player])}"


def hands_in(lines: Iterable[str], problem: Callable[[Problem], None]) -> Iterator[Hand]:
    """The hands of a file, one by one."""
    begin, number, chunk, length = 1, "", [], 0  # type: tuple[int, str, list[str], int]
    for at, line in enumerate(lines, 1):
        if found := SECTION.match(line):
            yield from _one(begin, number, chunk, problem)
            begin, number, chunk, length = at, found["number"], [], 0
        elif length <= LONGEST:
            chunk.append(line)
            length += len(line)
    yield from _one(begin, number, chunk, problem)


def _one(begin: int, number: str, chunk: list[str], problem: Callable[[Problem], None]) -> Iterator[Hand]:
    if not "".join(chunk).strip():
        if number:
            problem(Problem(number, begin, "there is nothing in this hand"))
        return
    try:
        yield _read(tomllib.loads("".join(chunk)), number)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = begin + (int(found[1]) if found else 0) - (0 if number else 1)
        problem(Problem(number, line, f"this is not TOML: {str(error).splitlines()[0][:80]}"))
    except (Wrong, LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        text = f"{error} is missing" if isinstance(error, KeyError) else str(error)[:120]
        problem(Problem(number, begin, text or "this can't be read"))


def _cents(value: Any) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e12:
        raise Wrong(f"{value!r} is no amount")
    return round(CENTS * value)


def _read(data: dict[str, Any], number: str) -> Hand:
    if data["variant"] != "FT":
        raise Wrong(f"this is variant {data['variant']!r}, not FT")
    if data.get("currency_symbol", "$") != "$":
        raise Wrong(f"the stakes are not in dollars but in {data['currency_symbol']!r}")
    if any(map(_cents, data.get("antes", []))):
        raise Wrong("there are antes, which are not read here")
    stacks = [_cents(stack) for stack in data["starting_stacks"]]
    count = len(stacks)
    if not 2 <= count <= 10:
        raise Wrong(f"there are {count} players")
    names = data.get("players", [f"p{i + 1}" for i in range(count)])
    seats = data.get("seats", list(range(1, count + 1)))
    mine = [1, 0] if count == 2 else list(range(count))  # which of ours each of theirs is
    players: list[Player] = [Player("", 0, 0)] * count
    for theirs, ours in enumerate(mine):
        players[ours] = Player(str(names[theirs]), int(seats[theirs]), stacks[theirs])
    play = _Play([player.stack for player in players], [_cents(blind) for blind in data["blinds_or_straddles"]], mine)
    for text in data["actions"]:
        play.take(str(text))
    when = BEGINNING
    if all(key in data for key in ("year", "month", "day")):
        when = datetime(data["year"], data["month"], data["day"])
        when = datetime.combine(when, data["time"]) if "time" in data else when
    ends = data.get("finishing_stacks")
    collected, rake = play.payoffs([_cents(ends[mine.index(ours)]) for ours in range(count)] if ends else None)
    hand = Hand(
        number=str(data.get("hand", number)), bets=(_cents(data["small_bet"]), _cents(data["big_bet"])),
        players=tuple(players), acts=tuple(play.acts), board=tuple(play.board), holes=play.holes,
        shown=tuple(sorted(play.shown)), uncalled=play.uncalled, collected=collected, rake=rake,
        button=0 if count == 2 else count - 1, table=str(data.get("table", "")),
        size=int(data.get("seat_count", count)), when=when,
    )  # fmt: skip
    if wrong := hand.wrong():
        raise Wrong(wrong)
    return hand


class _Play:
    """Follows the actions of a hand."""

    def __init__(self, stacks: list[int], blinds: list[int], mine: list[int]) -> None:
        self.stacks, self.mine, self.street = stacks, mine, 0
        self.paid, self.on_street = [0] * len(stacks), [0] * len(stacks)
        self.acts: list[Act] = []
        self.board: list[str] = []
        self.holes: dict[int, tuple[str, str]] = {}
        self.shown: list[int] = []
        for player, (blind, kind) in enumerate(zip(blinds, BLINDS, strict=False)):
            if blind:
                self._pay(player, kind, blind)

    def _pay(self, player: int, kind: str, cents: int) -> None:
        self.paid[player] += cents
        self.on_street[player] += cents
        self.acts.append(Act(self.street, player, kind, cents, self.on_street[player]))

    def take(self, text: str) -> None:
        """One action."""
        if found := DEAL.match(text):
            self._deal(found)
        elif found := MOVE.match(text):
            self._move(self.mine[int(found["player"]) - 1], found["kind"], found["what"])
        else:
            raise Wrong(f"{text[:40]!r} is no action")

    def _deal(self, found: re.Match[str]) -> None:
        if found["board"]:
            self.board += re.findall("..", found["board"])
            self.street, self.on_street = self.street + 1, [0] * len(self.stacks)
        elif "?" not in found["hole"]:
            first, second = re.findall("..", found["hole"])
            self.holes[self.mine[int(found["player"]) - 1]] = first, second

    def _move(self, player: int, kind: str, what: str | None) -> None:
        highest = max(self.on_street)
        owed = min(highest - self.on_street[player], self.stacks[player] - self.paid[player])
        if kind == "sm":
            if what and what != "-":
                first, second = re.findall("..", what)
                self.holes[player] = first, second
                self.shown.append(player)
        elif kind == "f":
            self._pay(player, FOLD, 0)
        elif kind == "cc":
            self._pay(player, CALL if owed else CHECK, owed)
        else:
            more = _cents(float(what or "nan")) - self.on_street[player]
            if more <= owed:
                raise Wrong(f"a bet or raise to {what} is none")
            self._pay(player, RAISE if highest else BET, more)

    @property
    def uncalled(self) -> dict[int, int]:
        """What nobody called."""
        *_, second, highest = sorted(self.paid)
        return {self.paid.index(highest): highest - second} if highest > second else {}

    def payoffs(self, ends: list[int] | None) -> tuple[dict[int, int], int]:
        """What players collected, and the rake: by the stacks at the end, or by the cards where those are not told."""
        kept = [paid - self.uncalled.get(player, 0) for player, paid in enumerate(self.paid)]
        if ends is not None:
            won = [end - stack + paid for end, stack, paid in zip(ends, self.stacks, kept, strict=True)]
            return {player: cents for player, cents in enumerate(won) if cents}, sum(kept) - sum(won)
        folded = {act.player for act in self.acts if act.kind == FOLD}
        left = [player for player in range(len(kept)) if player not in folded]
        if len({kept[player] for player in left}) > 1:
            raise Wrong("who stayed in paid different sums, and finishing_stacks is missing")
        if len(left) > 1:
            ranks = {player: rank_of([*self.holes[player], *self.board]) for player in left if player in self.shown}
            left = [player for player in ranks if ranks[player] == max(ranks.values())]
        share, odd = divmod(sum(kept), len(left))
        return {player: share + (odd if i == 0 else 0) for i, player in enumerate(left)}, 0
