"""A table: one game, those who sit at it, who may do what, and what each of them may see.

It knows no network and no store. Who calls it says which seat somebody has; a seat belongs to the browser that took it
(`Seat.owner`). What goes out is made from Views: `message` can't tell a seat what it may not know.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from tapete.arena.characters import called
from tapete.core import Game, Record, Rng, Scene, State, TapeteError, View
from tapete.core.story import Event, shared, told

PERSON, AGENT, OPEN = "person", "agent", "open"
THINKING = ("never", "after", "always")  # when a person is shown what an agent thinks of his position
LONGEST_NAME = 24
LONGEST_CLOCK = 3600  # seconds for a move
SHORTEST_CLOCK = 5
SLOWEST = 10_000  # milliseconds that an agent waits, at most
NAMELESS = "—"


class Refused(TapeteError):
    """Something that can't be done; nothing has changed. The code is for programs, the text for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass
class Seat:
    """Who sits there."""

    kind: str  # PERSON, AGENT or OPEN
    name: str = ""  # of an agent: the text that loads it
    owner: str = ""  # of a person: whose seat it is
    thinking: str = "never"


@dataclass
class Totals:
    """The games that the same people have played one after another."""

    games: int = 0
    returns: list[float] = field(default_factory=list)  # one a seat, added up


@dataclass
class Options:
    """What the table was made with, and what may be changed while it is played at."""

    practice: bool = False  # moves may be taken back
    pace: int = 600  # milliseconds that an agent waits before it moves
    clock: int = 0  # seconds that a person has for a move; 0: as long as he likes
    helped: bool = False  # a person was told what an agent would do, before he moved


class Story:
    """What some seats have seen of a game. It is told as far as the game has gone when somebody asks."""

    def __init__(self, game: Game, seats: Sequence[int]) -> None:
        self.seats = seats
        self.state, self.plies = State(game, game.start().data, None), 0  # a history would be copied at every move
        self.views = [self.state.view(seat) for seat in seats]
        self.events: list[tuple[int, Event]] = []

    def tell(self, history: Sequence[int]) -> list[tuple[int, Event]]:
        """Every move that can be told, with its ply."""
        for ply, action in enumerate(history[self.plies :], start=self.plies):
            before, views = self.state.copy(), self.views
            self.state.apply(action)
            self.plies = ply + 1
            self.views = [self.state.view(seat) for seat in self.seats]
            event = told(before, action, views, self.views)
            if event.seat is not None or event.news:
                self.events.append((ply, event))
        return self.events


class Table:
    """A game in progress, from the first deal to the last card."""

    def __init__(
        self, name: str, game: Game, seats: list[Seat], options: Options, *, maker: str = "", invite: str = ""
    ) -> None:
        self.name = name  # nobody can guess it
        self.game = game
        self.seats = seats
        self.options = options
        self.maker = maker  # whose table it is
        self.invite = invite  # whoever has this may take an open seat
        self.before = Totals(0, [0.0] * game.players)
        self.next = ""  # the table at which the same people went on
        self.running = True  # agents among themselves: whether they play on by themselves
        self.state: State = game.start()
        self.stories: dict[int | None, Story] = {}  # by seat; None: of spectators

    @property
    def ply(self) -> int:
        """How many moves were made, of chance too."""
        return len(self.state.history or ())

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.state.over

    @property
    def complete(self) -> bool:
        """Whether all seats are taken; nothing is dealt before."""
        return all(seat.kind != OPEN for seat in self.seats)

    @property
    def player(self) -> int | None:
        """The seat that has to move."""
        mover = self.state.player
        return mover if mover >= 0 and self.complete else None

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [i for i, seat in enumerate(self.seats) if seat.kind == PERSON]

    @property
    def watching(self) -> bool:
        """Whether agents play among themselves."""
        return all(seat.kind == AGENT for seat in self.seats)

    @property
    def counted(self) -> bool:
        """Whether the game goes into somebody's statistics."""
        return not (self.options.practice or self.options.helped)

    def seat_of(self, owner: str) -> int | None:
        """The seat that somebody has."""
        return next((i for i in self.people if self.seats[i].owner == owner), None)

    def may_steer(self, owner: str) -> bool:
        """Whether somebody may set the pace and ask for another game: who plays, or has agents play."""
        return self.seat_of(owner) is not None or (self.watching and owner == self.maker)

    # What people and agents do. A refusal changes nothing.

    def sit(self, seat: int, owner: str, name: str) -> None:
        """Takes an open seat."""
        if not 0 <= seat < len(self.seats) or self.seats[seat].kind != OPEN:
            raise Refused("taken", "this seat is not free")
        if self.seat_of(owner) is not None:
            raise Refused("seated", "you already sit at this table")
        self.seats[seat] = Seat(PERSON, clean_name(name), owner)

    def act(self, seat: int | None, ply: int, action: int) -> None:
        """A person moves; `ply` says where he thinks the game is."""
        if self.over:
            raise Refused("over", "the game is over")
        if seat is None or seat != self.player:
            raise Refused("turn", "it is not your turn")
        if ply != self.ply:
            raise Refused("stale", "the game has gone on since")
        self.move(action)

    def move(self, action: int) -> None:
        """Whoever is to move, moves."""
        self.state.apply(action)

    def deal(self, rng: Rng) -> None:
        """Lets chance move, as soon as everybody is there."""
        if self.complete:
            self.state.deal(rng)

    def replay(self, history: Sequence[int]) -> None:
        """Makes moves that were made before, each of them checked."""
        for action in history:
            self.move(action)
        for seat in self.people:
            self.told(seat)

    def rewind(self, ply: int) -> None:
        """Goes back to where so many moves had been made."""
        self.state = self.game.replay((self.state.history or [])[:ply])
        self.stories.clear()

    def undo_to(self, seat: int | None) -> int | None:
        """Where a person was who takes his last move back; None where he may not, or has not moved."""
        if seat is None or not self.options.practice or len(self.people) > 1 or self.over:
            return None
        own = [at for at, event in self.told(seat) if event.seat == seat]
        return own[-1] if own else None

    def help(self, seat: int | None) -> View:
        """What somebody may be told about: his View, where he is to move. Who is told so is `helped`."""
        if seat is None or seat != self.player:
            raise Refused("turn", "it is not your turn")
        if len(self.people) > 1 and not self.options.practice:
            raise Refused("help", "no help in a game against other people")
        return self.state.view(seat)

    # What goes out.

    def told(self, seat: int | None) -> list[tuple[int, Event]]:
        """The story as a seat saw it; without one, as all of them did."""
        if seat not in self.stories:
            self.stories[seat] = Story(self.game, range(self.game.players) if seat is None else [seat])
        return self.stories[seat].tell(self.state.history or ())

    def scene(self, seat: int | None) -> Scene:
        """What a seat sees; without one, what all of them do."""
        if seat is not None and self.complete:
            return self.state.view(seat).scene()
        return shared([self.state.view(each).scene() for each in range(self.game.players)])

    def message(self, owner: str, here: Collection[str] = ()) -> dict[str, Any]:
        """Everything that somebody may know of this table; `here` are those who look at it."""
        seat, over, complete = self.seat_of(owner), self.over, self.complete  # asked once: each asks the rules
        return {
            "is": "table",
            "table": self.name,
            "game": str(self.game),
            "title": self.game.spec.title,
            "ply": self.ply,
            "seat": seat,
            "seats": [self._seat_json(each, owner, here) for each in self.seats],
            "complete": complete,
            "player": self.player,
            "over": over,
            "returns": self.state.returns() if over else None,
            "scene": self.scene(seat).to_json(),
            "told": [_told_json(at, event) for at, event in self.told(seat)],
            "practice": self.options.practice,
            "counted": self.counted,
            "pace": self.options.pace,
            "clock": self.options.clock,
            "watching": self.watching,
            "running": self.running,
            "can_steer": self.may_steer(owner),
            "can_undo": self.undo_to(seat) is not None,
            "thinking": "never" if seat is None else self.seats[seat].thinking,
            "game_id": self.name if over else None,
            "invite": self.invite if owner == self.maker and not complete else None,
            "next": self.next or None,
            "totals": vars(self.totals),
        }

    @property
    def totals(self) -> Totals:
        """The games of these people so far, this one too when it is over."""
        if not self.over:
            return self.before
        both = zip(self.before.returns, self.state.returns(), strict=True)
        return Totals(self.before.games + 1, [a + b for a, b in both])

    def record(self) -> Record:
        """The log, with the names of those who played."""
        return self.state.record(*(seat.name or NAMELESS for seat in self.seats))

    def _seat_json(self, seat: Seat, owner: str, here: Collection[str]) -> dict[str, Any]:
        is_mine = seat.kind == PERSON and seat.owner == owner
        is_here = seat.kind == AGENT or seat.owner in here
        is_host = seat.kind == PERSON and seat.owner == self.maker
        name = called(self.game, seat.name) if seat.kind == AGENT else ""
        return {"name": seat.name, "kind": seat.kind, "called": name, "me": is_mine, "here": is_here, "host": is_host}


def _told_json(at: int, event: Event) -> dict[str, Any]:
    return {"ply": at, "seat": event.seat, "text": event.text, "news": list(event.news)}


def clean_name(name: str) -> str:
    """A person's name: what can be printed of it, and not too much."""
    return " ".join("".join(sign for sign in name if sign.isprintable()).split())[:LONGEST_NAME].strip()
