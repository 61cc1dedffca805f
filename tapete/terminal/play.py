"""A person at the table, in a terminal: draws what the seat sees, asks for a move, and can stop and go on later."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markdown import Markdown

from tapete.agents import choose, load
from tapete.core import Game, Record, Rng, State, TapeteError, View, make
from tapete.terminal.draw import draw

FORMAT = 1
PERSON = "person"
HELP = "a move: its number, or as it is written; [b]?[/b] the rules, [b]q[/b] stop here and go on another time"


class Quit(Exception):
    """The person wants to stop."""


@dataclass
class Sitting:
    """A game with those who sit at it; what is saved when a person stops in the middle."""

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

    @property
    def names(self) -> tuple[str, ...]:
        """What the seats are called on screen."""
        people = [i for i, seat in enumerate(self.seats) if seat == PERSON]
        if len(people) == 1:
            others = [seat for seat in self.seats if seat != PERSON]
            return tuple(
                "you" if seat == PERSON else seat if len(others) == 1 else f"{seat} {i}"
                for i, seat in enumerate(self.seats)
            )
        return tuple(f"{seat} {i}" for i, seat in enumerate(self.seats))

    def save(self, path: Path) -> None:
        """Writes the game down, all of it or nothing."""
        data = {
            "format": FORMAT,
            "record": self.state.record(*self.seats).to_json(),
            "rng": {"keys": list(self.rng.keys), "words": [int(word) for word in self.rng.words]},
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(data, file)
        os.replace(file.name, path)

    @classmethod
    def load(cls, path: Path) -> Sitting:
        """What `save` wrote, every move checked by the rules."""
        try:
            data = json.loads(path.read_text())
            if data["format"] != FORMAT:
                raise TapeteError(f"its format is not {FORMAT}")
            record = Record.from_json(data["record"])
            rng = Rng(*data["rng"]["keys"])
            rng.words = np.array(data["rng"]["words"], dtype=np.uint64)
            if rng.words.shape != (4,):
                raise TapeteError("its generator has not four words")
            game = make(record.game)
            if len(record.seats) != game.players:
                raise TapeteError(f"it has {len(record.seats)} seats")
            for seat in set(record.seats) - {PERSON}:
                load(seat, game)
            return cls(record.replay(), record.seats, rng)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            reason = str(error).splitlines()[0] if isinstance(error, TapeteError) else "it is damaged"
            raise TapeteError(f"the saved game {path} can't be continued: {reason}; --new begins another") from None


def saved_game(game: Game) -> Path:
    """Where a game that was left in the middle waits."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "tapete" / "play" / f"{str(game).replace('/', '_')}.json"


def play(sitting: Sitting, console: Console) -> None:
    """Plays to the end; raises Quit where the person stops."""
    state, game = sitting.state, sitting.state.game
    agents = {seat: load(name, game) for seat, name in enumerate(sitting.seats) if name != PERSON}
    people = [seat for seat, name in enumerate(sitting.seats) if name == PERSON]
    said: list[str] = []  # what happened since the person last looked
    last = people[0] if len(people) == 1 or not game.spec.hidden else -1
    while not state.deal(sitting.rng).over:
        seat = state.player
        if seat in agents:
            action = choose(agents[seat], state.view(seat), sitting.rng)
        else:
            if seat != last and game.spec.hidden:
                _hand_over(console, seat)
            last = seat
            _show(console, state.view(seat), sitting.names, said)
            said.clear()
            action = _ask(console, state)
        _narrate(said, sitting, action, people)
        state.apply(action)
    console.rule(f"{game}: the end")
    for line in said:
        console.print(line, highlight=False)
    console.print(draw(state.scene(), sitting.names))
    _show_result(console, sitting)


def _narrate(said: list[str], sitting: Sitting, action: int, people: list[int]) -> None:
    """Notes what a seat did, if those who look on can see it."""
    state = sitting.state
    visible = all(state.is_seen(action, person) for person in people)
    move = state.write(action) if visible else "has chosen"
    said.append(f"  [dim]{sitting.names[state.player]}:[/dim] {move}")


def _show(console: Console, view: View, names: tuple[str, ...], said: list[str]) -> None:
    console.rule(f"{view.game}, seat {view.seat}")
    for line in said:
        console.print(line, highlight=False)
    scene = view.scene()
    console.print(draw(scene, names))
    moves = [f"[b]{i + 1}[/b] {move.text}" for i, move in enumerate(scene.moves[:60])]
    if len(scene.moves) > len(moves):
        moves.append(f"... {len(scene.moves)} in all")
    console.print("moves: " + "   ".join(moves), highlight=False)


def _ask(console: Console, state: State) -> int:
    legal = state.actions()
    while True:
        try:
            text = console.input("your move (? for help): ").strip()
        except (EOFError, KeyboardInterrupt):
            raise Quit from None
        if text.lower() in ("q", "quit"):
            raise Quit
        if text == "?":
            console.print(Markdown(rules_text(state.game)))
            console.print(HELP)
            continue
        if text.isdecimal() and text.isascii() and len(text) < 7 and 1 <= int(text) <= len(legal):
            return legal[int(text) - 1]
        try:
            return state.read(text)
        except TapeteError as error:
            console.print(str(error), style="yellow", markup=False)


def _hand_over(console: Console, seat: int) -> None:
    try:
        console.input(f"seat {seat} is next; press Enter when only that person looks ")
    except (EOFError, KeyboardInterrupt):
        raise Quit from None
    console.clear()


def _show_result(console: Console, sitting: Sitting) -> None:
    pairs: list[tuple[str, float]] = list(zip(sitting.names, sitting.state.returns(), strict=True))
    console.print("result: " + "   ".join(f"{name} [b]{value:+g}[/b]" for name, value in pairs), highlight=False)


def rules_text(game: Game) -> str:
    """The README of the game's folder."""
    return resources.files(game.package).joinpath("README.md").read_text()
