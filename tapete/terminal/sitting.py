"""A game with those who sit at it, and the file in which it waits when a person stops in the middle."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tapete.agents import load
from tapete.core import Game, Record, Rng, State, TapeteError
from tapete.core.files import read_text
from tapete.core.record import LONGEST_FILE

FORMAT = 1
PERSON = "person"


@dataclass
class Sitting:
    """Who sits where, the game so far, and the generator that deals the rest of it."""

    state: State
    seats: tuple[str, ...]  # "person", or the name of an agent
    rng: Rng

    @classmethod
    def begin(cls, game: Game, seat: int, against: str, seed: int) -> Sitting:
        """A new game; the person takes a seat, the others are all `against`."""
        if not 0 <= seat < game.players:
            raise TapeteError(f"{game} has seats 0 to {game.players - 1}, not {seat}")
        if against != PERSON:
            load(against, game)
        seats = tuple(PERSON if i == seat else against for i in range(game.players))
        return cls(game.start(), seats, Rng(seed, "play"))

    def again(self) -> Sitting:
        """The next game of the same people."""
        return replace(self, state=self.state.game.start())

    def take_back(self) -> bool:
        """Goes back to the last decision of the person, if there was one; what chance did since is drawn anew."""
        history, again = self.state.history or [], self.state.game.start()
        own = []
        for i, action in enumerate(history):
            if again.player in self.people:
                own.append(i)
            again.apply(action)
        if own:
            self.state = self.state.game.replay(history[: own[-1]])
        return bool(own)

    def is_wanted(self, seat: int | None, against: str | None, seed: int | None) -> bool:
        """Whether this is the game that somebody asks for who says so much; None is left open."""
        others = (name for i, name in enumerate(self.seats) if i != self.people[0])
        return seat in (None, *self.people) and against in (None, *others) and seed in (None, *self.rng.keys)

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, name in enumerate(self.seats) if name == PERSON]

    @property
    def names(self) -> tuple[str, ...]:
        """What the seats are called on screen."""
        titles = [Path(name).stem if name.endswith(".safetensors") else name for name in self.seats]
        if len(self.people) == 1:
            titles[self.people[0]] = "you"
        return tuple(f"{name} {i}" if titles.count(name) > 1 else name for i, name in enumerate(titles))

    def save(self, path: Path) -> None:
        """Writes the game down, all of it or nothing."""
        data = {
            "format": FORMAT,
            "record": self.state.record(*self.seats).to_json(),
            "rng": {"keys": list(self.rng.keys), "words": [int(word) for word in self.rng.words]},
        }
        draft = path.with_suffix(".draft")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps(data))
            os.replace(draft, path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            raise TapeteError(f"the game can't be saved in {path}: {error.strerror}") from None

    @classmethod
    def load(cls, path: Path) -> Sitting:
        """What `save` wrote, every move checked by the rules."""
        try:
            data = json.loads(read_text(path, LONGEST_FILE))
            if data["format"] != FORMAT:
                raise TapeteError(f"its format is not {FORMAT}")
            record = Record.from_json(data["record"])
            rng = _read_rng(data["rng"])
            state = record.replay()
            if len(record.seats) != state.game.players or PERSON not in record.seats:
                raise TapeteError(f"nobody can sit at it as {record.seats}")
            for seat in set(record.seats) - {PERSON}:
                load(seat, state.game)
            return cls(state, record.seats, rng)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            reason = str(error) if isinstance(error, TapeteError) else "it is damaged"
            raise TapeteError(f"the saved game {path} can't be continued: {reason}; --new begins another") from None


def _read_rng(data: dict[str, Any]) -> Rng:
    """A generator where it stood; from words that are all zero nothing but zeros would ever come."""
    rng = Rng(*data["keys"])
    words = data["words"]
    if len(words) != 4 or any(type(word) is not int or not 0 <= word < 2**64 for word in words) or not any(words):
        raise TapeteError("its generator is not four numbers of 64 bits")
    rng.words = np.array(words, dtype=np.uint64)
    return rng


def saved_game(game: Game) -> Path:
    """Where a game that was left in the middle waits."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "tapete" / "play" / f"{game.file_name}.json"
