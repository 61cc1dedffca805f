"""New tables, as people ask for them: whatever a browser sends is read here, or refused."""

from __future__ import annotations

import secrets
from typing import Any, TypeVar

from tapete.core import Game, make
from tapete.core.names import playable
from tapete.web.table import (
    AGENT,
    LONGEST_CLOCK,
    OPEN,
    PERSON,
    SHORTEST_CLOCK,
    SLOWEST,
    Options,
    Refused,
    Seat,
    Table,
)
from tapete.web.thinking import offered

Result = TypeVar("Result")
LARGEST = 2000  # moves or outcomes at once: more can't be shown


def take(message: dict[str, Any], key: str, kind: type[Result], default: Result | None = None) -> Result:
    """A field of a message, if it is of the right kind."""
    value = message.get(key, default)
    if type(value) is not kind:
        raise Refused("malformed", f"{key!r} is missing or not of the right kind")
    return value


def read_pace(ms: int) -> int:
    """Milliseconds that an agent waits."""
    if not 0 <= ms <= SLOWEST:
        raise Refused("malformed", f"the pace is between 0 and {SLOWEST} ms")
    return ms


def read_clock(seconds: int) -> int:
    """Seconds that a person has for a move; 0: no clock."""
    if seconds and not SHORTEST_CLOCK <= seconds <= LONGEST_CLOCK:
        raise Refused("malformed", f"a clock has {SHORTEST_CLOCK} to {LONGEST_CLOCK} seconds for a move, or 0")
    return seconds


def read_game(text: str) -> Game:
    """A game that can be played at a table: known, not from a file, and of a size that can be shown."""
    if text.partition("(")[0].strip() not in playable():
        raise Refused("game", "there is no such game")
    game = make(text)
    if max(game.spec.max_actions, game.spec.outcomes) > LARGEST or len(str(game)) > 200:
        raise Refused("game", "this game is too large for a table")
    return game


def new_table(name: str, texts: list[Any], options: Options, owner: str, called: str) -> Table:
    """A table as it is asked for; whoever is seated must be one of those who are offered."""
    game = read_game(name)
    if len(texts) != game.players:
        raise Refused("seats", f"{game} has {game.players} seats")
    allowed = ("me", "open", *offered(str(game)))
    if not all(isinstance(text, str) and text in allowed for text in texts) or texts.count("me") > 1:
        raise Refused("seats", "seats are 'me' (once), 'open', or one of the opponents that are offered")
    people = {"me": Seat(PERSON, called, owner)}
    seats = [people.get(text) or (Seat(OPEN) if text == "open" else Seat(AGENT, text)) for text in texts]
    return Table(secrets.token_urlsafe(16), game, seats, options, maker=owner, invite=secrets.token_urlsafe(16))


def branch(table: Table, finished: Table, ply: int) -> None:
    """A table begins where another game was after so many moves: for practice, because its end is known."""
    if not finished.over or finished.game != table.game:
        raise Refused("no-game", "only a finished game of the same kind can be played on")
    if not 0 <= ply < finished.ply:
        raise Refused("malformed", "there is no such move in this game")
    if not table.complete:
        raise Refused("seats", "nobody is invited to a game that was played before")
    table.options.practice = True
    table.replay((finished.state.history or [])[:ply])


def continued(table: Table, *, swap: bool) -> Table:
    """The next game at the same table."""
    turn = 1 if swap else 0
    seats = [Seat(s.kind, s.name, s.owner, s.thinking) for s in table.seats[turn:] + table.seats[:turn]]
    options = Options(table.options.practice, table.options.pace, table.options.clock)
    following = Table(
        secrets.token_urlsafe(16), table.game, seats, options, maker=table.maker, invite=secrets.token_urlsafe(16)
    )
    totals = table.totals
    totals.returns = totals.returns[turn:] + totals.returns[:turn]
    following.before = totals
    return following
