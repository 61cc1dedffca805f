"""New tables, as people ask for them: whatever a browser sends is read here, or refused."""

from __future__ import annotations

import secrets
from typing import Any, TypeVar

from tapete.core import Game, make
from tapete.core.names import playable
from tapete.web.table import AGENT, OPEN, PERSON, SLOWEST, Options, Refused, Seat, Table
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


def continued(table: Table, *, swap: bool) -> Table:
    """The next game at the same table."""
    turn = 1 if swap else 0
    seats = [Seat(s.kind, s.name, s.owner, s.thinking) for s in table.seats[turn:] + table.seats[:turn]]
    options = Options(table.options.practice, table.options.pace)
    following = Table(
        secrets.token_urlsafe(16), table.game, seats, options, maker=table.maker, invite=secrets.token_urlsafe(16)
    )
    totals = table.totals
    totals.returns = totals.returns[turn:] + totals.returns[:turn]
    following.before = totals
    return following
