"""A hand of hold'em as it was played: who sat where, who did what, what came of it. Money is in cents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property

from tapete.core.contract import CHANCE
from tapete.core.game import Game
from tapete.games.holdem import BETS, BIG_BLIND, SMALL_BLIND
from tapete.games.holdem.notation import card_name, seats_playing

CENTS = 100  # of a chip, which is written as a dollar
STACK = 1000  # chips of a player where nobody can run out
BEGINNING = datetime(2012, 6, 12, 12, 0, 0)  # when the first hand is said to have been played
BOARD = (0, 3, 4, 5)  # cards by street
SMALL, BIG, FOLD, CHECK, CALL, BET, RAISE = "small blind", "big blind", "fold", "check", "call", "bet", "raise"
BLINDS = (SMALL, BIG)


@dataclass(frozen=True)
class Player:
    """Who sits at the table."""

    name: str
    seat: int  # as it is numbered at the table
    stack: int  # cents, before the hand


@dataclass(frozen=True)
class Act:
    """What a player did."""

    street: int
    player: int  # an index
    kind: str  # one of those above
    cents: int = 0  # that it put into the pot
    total: int = 0  # what it has put in on this street, after that


@dataclass(frozen=True)
class Problem:
    """Why a hand was not read."""

    hand: str  # its number, as far as that could be read
    line: int  # of the file
    text: str

    def __str__(self) -> str:
        return f"line {self.line}{f', hand #{self.hand}' if self.hand else ''}: {self.text}"


@dataclass(frozen=True)
class Hand:
    """A hand; players are in the order of the deal, from the left of the button, who is the last of them."""

    number: str
    bets: tuple[int, int]  # cents: before and on the flop, and after it
    players: tuple[Player, ...]
    acts: tuple[Act, ...]
    board: tuple[str, ...] = ()
    holes: dict[int, tuple[str, str]] = field(default_factory=dict)  # cards of players, as far as they are known
    shown: tuple[int, ...] = ()  # players who showed them at the end
    uncalled: dict[int, int] = field(default_factory=dict)  # cents that went back to players
    collected: dict[int, int] = field(default_factory=dict)  # cents that players won
    rake: int = 0
    button: int = -1  # the player who has it
    table: str = "Tapete"
    size: int = 10  # seats of the table
    when: datetime = BEGINNING

    @cached_property
    def paid(self) -> list[int]:
        """Cents that each player put into the pot and did not get back as uncalled."""
        paid = [-self.uncalled.get(player, 0) for player in range(len(self.players))]
        for act in self.acts:
            paid[act.player] += act.cents
        return paid

    @property
    def pot(self) -> int:
        """Cents in the pot, without uncalled bets."""
        return sum(self.paid)

    @cached_property
    def net(self) -> list[int]:
        """Cents that each player won or lost."""
        return [self.collected.get(player, 0) - paid for player, paid in enumerate(self.paid)]

    @property
    def streets(self) -> int:
        """How many streets were played: 1 where nobody saw a flop."""
        return 1 + sum(len(self.board) >= cards for cards in BOARD[1:])

    @cached_property
    def folded(self) -> dict[int, int]:
        """The street in which players folded."""
        return {act.player: act.street for act in self.acts if act.kind == FOLD}

    def seen_by(self, player: int | None) -> Hand:
        """The hand with the cards that a player knows: those that were shown, and its own. None: a spectator."""
        return replace(self, holes={i: cards for i, cards in self.holes.items() if i == player or i in self.shown})

    def wrong(self) -> str:
        """What is wrong with the sums; "" where nothing is."""
        if self.pot != sum(self.collected.values()) + self.rake:
            won = sum(self.collected.values())
            return f"the pot has {money(self.pot)}, but {money(won)} were won and {money(self.rake)} taken as rake"
        short = [i for i, player in enumerate(self.players) if self.paid[i] > player.stack]
        if short:
            return f"{self.players[short[0]].name} paid more than the stack"
        if not self.collected:
            return "nobody won"
        if any(winner in self.folded for winner in self.collected):
            return "a player who folded won"
        return ""


def show_order(hand: Hand) -> list[int]:
    """Who shows first: the last who bet on the river, else who is first to the left of the button."""
    last = [act.player for act in hand.acts if act.street == len(BOARD) - 1 and act.kind in (BET, RAISE)]
    first = last[-1] if last else (hand.button + 1) % len(hand.players)
    return sorted(hand.shown, key=lambda player: (player - first) % len(hand.players))


def money(cents: int) -> str:
    """As it is written in a history: $2, $0.50.

    >>> money(200), money(-50)
    ('$2', '-$0.50')
    """
    whole, part = divmod(abs(cents), CENTS)
    return f"{'-' if cents < 0 else ''}${whole}" + (f".{part:02}" if part else "")


def of_game(
    game: Game, actions: Sequence[int], names: Sequence[str], *, number: int = 1, table: str = "Tapete"
) -> Hand:
    """A finished game of hold'em as a hand; a minute passes between two numbers."""
    state = game.start()
    acts = [Act(0, 0, SMALL, SMALL_BLIND * CENTS, SMALL_BLIND * CENTS)]
    acts.append(Act(0, 1, BIG, BIG_BLIND * CENTS, BIG_BLIND * CENTS))
    paid, opening = [SMALL_BLIND, BIG_BLIND, *[0] * (game.players - 2)], 0
    for action in actions:
        s = game.record(state.data)
        seat, street, opening = state.player, int(s["street"]), int(s["opening"])
        kind = state.write(action)
        state.apply(action)
        if seat != CHANCE:
            after = int(game.record(state.data)["paid"][seat])
            on_street = max(0, after - (opening if street else 0))
            acts.append(Act(street, seat, kind, (after - paid[seat]) * CENTS, on_street * CENTS))
            paid[seat] = after
    s, gains = game.record(state.data), state.returns()
    highest, second = sorted(paid)[-1], sorted(paid)[-2]
    uncalled = {paid.index(highest): (highest - second) * CENTS} if highest > second else {}
    kept = [CENTS * chips - uncalled.get(seat, 0) for seat, chips in enumerate(paid)]
    won = {seat: round(CENTS * gain) + kept[seat] for seat, gain in enumerate(gains)}
    collected = {seat: cents for seat, cents in won.items() if cents > 0}
    stack = game.spec.parameters["stacks"] or STACK
    return Hand(
        number=str(number),
        bets=(BETS[0] * CENTS, BETS[-1] * CENTS),
        players=tuple(Player(name, seat + 1, int(stack) * CENTS) for seat, name in enumerate(distinct(names))),
        acts=tuple(acts),
        board=tuple(card_name(card) for card in s["board"] if card >= 0),
        holes={seat: (card_name(a), card_name(b)) for seat, (a, b) in enumerate(s["hole"][: game.players])},
        shown=tuple(seats_playing(s)) if s["active"] > 1 else (),
        uncalled=uncalled,
        collected=collected,
        rake=sum(kept) - sum(collected.values()),
        button=0 if game.players == 2 else game.players - 1,
        table=table,
        when=BEGINNING + timedelta(minutes=number - 1),
    )


def distinct(names: Sequence[str]) -> list[str]:
    """Names of which no two at a table are the same: those that are get numbers.

    >>> distinct(["a", "b", "b"])
    ['a', 'b 1', 'b 2']
    """
    clean = [name.replace("[", "(").replace("]", ")").replace("\n", " ") for name in names]
    return [
        name if clean.count(name) == 1 else f"{name} {1 + clean[:place].count(name)}"
        for place, name in enumerate(clean)
    ]
