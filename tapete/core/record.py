"""The log of a game: what is saved, replayed, downloaded and sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tapete.core.errors import TapeteError
from tapete.core.files import read_text
from tapete.core.game import Game, State, words
from tapete.core.names import make

FORMAT = 1
LONGEST_FILE = 4_000_000  # bytes; the longest record of any game here has a hundredth of that


@dataclass(frozen=True, kw_only=True)
class Record:
    """Every move of a game, of chance too, in order: enough to play it again to the same bytes.

    >>> state = make("kuhn").read("J Q pass bet")
    >>> print(state.record("Ana", "Blas").to_text(), end="")
    game: kuhn
    seats: Ana, Blas
    moves: J Q pass bet
    returns: none yet
    >>> Record.from_text(state.record().to_text()).replay() == state
    True
    """

    game: str
    seats: tuple[str, ...]
    moves: tuple[str, ...]
    returns: tuple[float, ...] | None  # None: not finished

    @classmethod
    def of(cls, state: State, names: Sequence[str] = ()) -> Record:
        """The log of a state."""
        seats = tuple(names) or tuple(f"seat {seat}" for seat in range(state.game.players))
        if len(seats) != state.game.players:
            raise TapeteError(f"{state.game} has {state.game.players} seats, not {len(seats)}")
        returns = tuple(state.returns()) if state.over else None
        return cls(game=str(state.game), seats=seats, moves=tuple(words(state)), returns=returns)

    def states(self) -> Iterator[State]:
        """The game again, state by state, each move checked; the same object every time."""
        state = self.make().start()
        yield state
        for i, word in enumerate(self.moves):
            try:
                state.apply(word)
            except TapeteError as error:
                raise TapeteError(f"move {i + 1} of the record: {error}") from None
            yield state

    def make(self) -> Game:
        """The game that was played."""
        return make(self.game)

    def replay(self) -> State:
        """The state at the end of the log. The payoffs that it tells must be those of the rules."""
        state = self.make().start()
        for state in self.states():  # noqa: B007
            pass
        returns = tuple(state.returns()) if state.over else None
        if returns != self.returns:
            raise TapeteError(f"the record tells returns {self.returns}, the rules give {returns}")
        return state

    def to_text(self) -> str:
        """Four lines that a person can read and write."""
        returns = "none yet" if self.returns is None else " ".join(map(_short, self.returns))
        seats = ", ".join(self.seats)
        return f"game: {self.game}\nseats: {seats}\nmoves: {' '.join(self.moves)}\nreturns: {returns}\n"

    @classmethod
    def from_text(cls, text: str) -> Record:
        """What `to_text` wrote."""
        lines = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        if missing := {"game", "seats", "moves", "returns"} - lines.keys():
            raise TapeteError(f"not a record: no line '{sorted(missing)[0]}: ...'")
        returns = lines["returns"].split()
        try:
            payoffs = None if returns == ["none", "yet"] else tuple(map(float, returns))
        except ValueError:
            raise TapeteError(f"not a record: returns are {lines['returns'].strip()!r}, not numbers") from None
        seats = tuple(name.strip() for name in lines["seats"].split(","))
        return cls(game=lines["game"].strip(), seats=seats, moves=tuple(lines["moves"].split()), returns=payoffs)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": FORMAT,
            "game": self.game,
            "seats": list(self.seats),
            "moves": list(self.moves),
            "returns": None if self.returns is None else list(self.returns),
        }

    @classmethod
    def from_json(cls, data: Any) -> Record:
        """What `to_json` gave, checked."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise TapeteError(f'not a record: no "format": {FORMAT}')
        game, returns = data.get("game"), data.get("returns")
        if not isinstance(game, str):
            raise TapeteError('not a record: "game" is not a text')
        try:
            payoffs = None if returns is None else tuple(float(x) for x in _list(data, "returns", (int, float)))
        except OverflowError:
            raise TapeteError('not a record: a number of "returns" is too large') from None
        return cls(
            game=game, seats=tuple(_list(data, "seats", str)), moves=tuple(_list(data, "moves", str)), returns=payoffs
        )

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """A record from a file, in either form."""
        text = read_text(path, LONGEST_FILE)
        if not text.lstrip().startswith("{"):
            return cls.from_text(text)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise TapeteError(f"{path} is not a record: the JSON in it is broken") from None
        return cls.from_json(data)


def _list(data: dict[str, Any], key: str, kind: type | tuple[type, ...]) -> list[Any]:
    items = data.get(key)
    if not isinstance(items, list) or not all(isinstance(x, kind) and not isinstance(x, bool) for x in items):
        raise TapeteError(f'not a record: "{key}" is not a list of {"texts" if kind is str else "numbers"}')
    return items


def _short(x: float) -> str:
    """A number as it is read back to the last bit, without a needless ".0"."""
    return repr(x).removesuffix(".0")
