"""A game with its parameters, a state of it, and what one seat may know of a state."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tapete.core import calls
from tapete.core.contract import CHANCE, TERMINAL, Rules
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.rng import Rng, check_rng
from tapete.core.scene import Move, Place, Scene
from tapete.core.spec import Spec

if TYPE_CHECKING:
    from tapete.core.pictures import Picture
    from tapete.core.record import Record
    from tapete.core.thought import Thought

Bytes = NDArray[np.uint8]
Number = TypeVar("Number", int, float)


class Game:
    """Rules with their parameters fixed: what `tapete.make` returns. Compiled on first use."""

    def __init__(self, spec: Spec, package: str) -> None:
        self.spec = spec
        self.package = package
        self._modules: dict[str, Any] = {}  # asking Python for a module takes longer than most rules

    def _module(self, name: str) -> Any:
        if name not in self._modules:
            self._modules[name] = self._import(name)
        return self._modules[name]

    def _import(self, name: str) -> Any:
        try:
            return importlib.import_module(f"{self.package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{self.package}.{name}":  # it is there, but imports something that isn't
                raise
            raise TapeteError(
                f"the game {self.package} has no {name}.py; docs/adding-a-game.md lists its files"
            ) from None

    def _part(self, module: str, name: str) -> Any:
        """A function, or a table, that one of the game's modules must have."""
        found = getattr(self._module(module), name, None)
        if found is None:
            there = [each for each in vars(self._module(module)) if not each.startswith("_")]
            close = difflib.get_close_matches(name, there, n=1)
            instead = f"; it has {close[0]!r}" if close else ""
            raise TapeteError(f"{self.package}.{module} has no {name!r}{instead}")
        return found

    @cached_property
    def rules(self) -> Rules:
        """The compiled functions of the contract."""
        functions = {name: self._part("rules", name) for name in Rules._fields}
        for name, function in functions.items():
            if not hasattr(function, "address"):
                raise TapeteError(f"{self.package}.rules.{name} is not compiled: put @rule above it")
        return Rules(**functions)

    @cached_property
    def rulebook(self) -> NDArray[np.uint64]:
        """The same as a kernel takes them: [11] addresses."""
        return np.array([function.address for function in self.rules], dtype=np.uint64)

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """The record in which a state lives."""
        return self._part("rules", "STATE")

    @cached_property
    def params(self) -> NDArray[np.float64]:
        """What `start` is given; one number at least, so that there is something to point at."""
        return np.array(self.spec.params or (0.0,), dtype=np.float64)

    @cached_property
    def size(self) -> int:
        """Bytes of a state, a multiple of 8."""
        return -(-(self.dtype.itemsize + self.spec.tail) // 8) * 8

    @property
    def file_name(self) -> str:
        """The name as part of the name of a file: no slashes, and never too long."""
        name = self.spec.name.replace("/", "_")
        raw = os.fsencode(name)
        return name if len(raw) < 200 else f"{name[:40]}-{hashlib.sha256(raw).hexdigest()[:16]}"

    @property
    def players(self) -> int:
        """How many seats there are."""
        return self.spec.players

    def start(self) -> State:
        """The state before anything happened."""
        data = np.zeros(self.size, dtype=np.uint8)
        calls.start(self.rulebook, data, self.params)
        return State(self, data, [])

    def read(self, text: str) -> State:
        """The state that a text tells: moves as `str(state)` writes them, with the game's name or without."""
        moves = text.strip().removeprefix(f"{self.spec.name}:")
        if ":" in moves:
            raise TapeteError(f"this is a state of {text.rpartition(':')[0].strip()!r}, not of {self.spec.name}")
        state = self.start()
        for word in moves.split():
            state.apply(word)
        return state

    def replay(self, actions: list[int]) -> State:
        """The state after these actions, each of them checked."""
        state = self.start()
        for action in actions:
            state.apply(action)
        return state

    def write(self, data: Bytes, action: int) -> str:
        """An action in the game's notation."""
        return self._part("notation", "write")(self.spec, self.record(data), action)

    def describe(self, data: Bytes, seat: int) -> str:
        """All that the seat sees at this moment, in one line."""
        return self._part("notation", "describe")(self.spec, self.record(data), seat)

    def news(self, before: Bytes, after: Bytes) -> list[str]:
        """What a transition brought about for all to see, besides the move itself: a trick, a hand, a showdown."""
        tell = getattr(self._module("notation"), "news", None)
        return list(tell(self.spec, self.record(before), self.record(after))) if tell else []

    def is_secret(self, data: Bytes, seat: int) -> bool:
        """Whether the move that is to be made here is kept from the seat; `data` is what the seat's View is made of."""
        ask = getattr(self._module("notation"), "is_secret", None)
        return bool(ask(self.spec, self.record(data), seat)) if ask else False

    def teams(self, data: Bytes) -> tuple[str, ...]:
        """The team of each seat, "" where it is not known yet; nothing in games that each plays for himself."""
        if not self.spec.teams:
            return ()
        ask, record = self._part("notation", "team"), self.record(data)
        return tuple(ask(self.spec, record, seat) for seat in range(self.players))

    def scene(self, data: Bytes, seat: int | None, actions: list[int]) -> Scene:
        """The table as the seat sees it (None: all of it), with these legal moves."""
        parts, place = self._part("scene", "parts"), self._part("scene", "place")
        write, record = self._part("notation", "write"), self.record(data)
        return Scene(
            seat=seat,
            player=int(calls.player(self.rulebook, data)),
            parts=tuple(parts(self.spec, record, seat)),
            moves=tuple(
                Move(action=action, text=write(self.spec, record, action), place=place(self.spec, record, action))
                for action in actions
            ),
        )

    def record(self, data: Bytes) -> np.void:
        """The bytes of a state as a record, read only. Bytes behind the record are its field-like `data[itemsize:]`."""
        view = data[: self.dtype.itemsize].view(self.dtype)
        view.flags.writeable = False
        return view[0]

    def actions(self, data: Bytes) -> list[int]:
        """Legal actions of whoever moves, chance included; ascending."""
        if calls.player(self.rulebook, data) == CHANCE:
            return [outcome for outcome, _ in self.outcomes(data)]
        return self._moves(data)

    def _moves(self, data: Bytes) -> list[int]:
        """Legal actions of the player who is to move."""
        out = np.empty(max(self.spec.max_actions, 1), dtype=np.int32)
        return out[: calls.actions(self.rulebook, data, out)].tolist()

    def outcomes(self, data: Bytes) -> list[tuple[int, float]]:
        """What chance may do, with probabilities."""
        out = np.empty(max(self.spec.outcomes, 1), dtype=np.int32)
        probs = np.empty(max(self.spec.outcomes, 1), dtype=np.float64)
        n = calls.outcomes(self.rulebook, data, out, probs)
        return list(zip(out[:n].tolist(), probs[:n].tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.package == other.package and self.spec == other.spec

    def __hash__(self) -> int:
        return hash((self.package, self.spec.name))

    def __reduce__(self) -> tuple[Any, ...]:
        """What travels to another process: what was declared. Compiled functions stay at home."""
        return Game, (self.spec, self.package)

    def __repr__(self) -> str:
        return f"tapete.make({self.spec.name!r})"

    def __str__(self) -> str:
        return self.spec.name


class State:
    """A game in progress, everything in it: for rules, solvers and the arena. A policy gets a :class:`View`."""

    __slots__ = ("data", "game", "history")

    def __init__(self, game: Game, data: Bytes, history: list[int] | None) -> None:
        self.game = game
        self.data = data
        self.history = history  # every action so far, of chance too; None in a world that was only imagined

    @property
    def player(self) -> int:
        """Who moves: a seat, CHANCE or TERMINAL."""
        return int(calls.player(self.game.rulebook, self.data))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.player == TERMINAL

    def actions(self) -> list[int]:
        """Legal actions of whoever moves, chance included; ascending. None when the game is over."""
        return [] if self.over else self.game.actions(self.data)

    def outcomes(self) -> list[tuple[int, float]]:
        """What chance may do, with probabilities; nothing where chance doesn't move."""
        return self.game.outcomes(self.data) if self.player == CHANCE else []

    def apply(self, action: int | str) -> State:
        """Makes a move, given by its id or in notation. Checked: an illegal one changes nothing and raises."""
        if isinstance(action, str):
            action = self.read(action)
        elif not isinstance(action, int | np.integer) or action not in self.actions():
            raise IllegalAction(self._illegal(str(action)))
        calls.apply(self.game.rulebook, self.data, action)
        if self.history is not None:
            self.history.append(int(action))
        return self

    def deal(self, rng: Rng) -> State:
        """Lets chance move until a player has to, or the game is over."""
        check_rng(rng)
        while self.player == CHANCE:
            outcome = calls.draw(self.game.rulebook, self.data, rng.words)
            calls.apply(self.game.rulebook, self.data, outcome)
            if self.history is not None:
                self.history.append(int(outcome))
        return self

    @property
    def teams(self) -> tuple[str, ...]:
        """The team of each seat, "" where it is not known yet; nothing in games that each plays for himself."""
        return self.game.teams(self.data)

    def returns(self) -> list[float]:
        """The payoffs, one a seat; zeros until the game is over."""
        out = np.zeros(self.game.players, dtype=np.float64)
        calls.returns(self.game.rulebook, self.data, out)
        return out.tolist()

    def infoset(self, seat: int) -> int:
        """Key of all that the seat knows."""
        return int(calls.infoset(self.game.rulebook, self.data, self._seat(seat)))

    def view(self, seat: int) -> View:
        """What the seat may know: this is what goes to a policy or a browser."""
        seat = self._seat(seat)
        world = self.data.copy()
        calls.redeal(self.game.rulebook, world, seat, Rng("view", self.infoset(seat)).words)
        return View(self.game, world, seat)

    def scene(self) -> Scene:
        """The whole table, all hands open: for replays."""
        return self.game.scene(self.data, None, [])

    def write(self, action: int) -> str:
        """An action in the game's notation."""
        return self.game.write(self.data, action)

    def read(self, text: str) -> int:
        """The legal action that is written so."""
        wanted = text.strip().lower()
        for action in self.actions():
            if self.write(action).lower() == wanted:
                return action
        raise IllegalAction(self._illegal(text))

    def copy(self) -> State:
        """Another state that goes its own way."""
        return State(self.game, self.data.copy(), None if self.history is None else list(self.history))

    def record(self, *names: str) -> Record:
        """The log of the game so far, with the names of those who sat there."""
        from tapete.core.record import Record

        return Record.of(self, names)

    def _seat(self, seat: int) -> int:
        if not isinstance(seat, int | np.integer) or not 0 <= seat < self.game.players:
            raise TapeteError(f"{self.game} has seats 0 to {self.game.players - 1}, not {seat}")
        return seat

    def _illegal(self, text: str) -> str:
        legal = self.actions()
        if not legal:
            return f"{text!r} can't be played: the game is over"
        some = ", ".join(self.write(action) for action in legal[:12])
        return f"{text!r} can't be played here; legal: {some}{', ...' if len(legal) > 12 else ''}"

    def film(self) -> Picture:
        """The game so far, position by position, in a strip that is moved sideways; all hands are open.

        >>> from tapete.core import make
        >>> len(make("kuhn").read("J Q pass bet").film().html.split("scroll-snap-align")) - 1  # from the start on
        5
        """
        from tapete.core.pictures import Picture, strip_html

        if self.history is None:
            raise TapeteError("nobody knows how an imagined state came about")
        states = [self.game.start()]
        for action in self.history:
            states.append(states[-1].copy().apply(action))
        return Picture(strip_html(state._repr_html_() for state in states))

    def _repr_html_(self) -> str:
        from tapete.core.pictures import scene_html

        return scene_html(self.scene(), f"{self.game}, {self._after()}")

    def __str__(self) -> str:
        return f"{self.game}: {' '.join(words(self))}"

    def __repr__(self) -> str:
        return f"<State of {self.game}, {self._after()}, {_turn(self.player)}>"

    def _after(self) -> str:
        """Where the game is, in few words."""
        if self.history is None:
            return "imagined"
        if not self.history:
            return "at the start"
        *before, last = words(self)
        return (
            f"after {' '.join([*before, last])}" if len(before) < 8 else f"after {len(before) + 1} moves, {last} last"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.game.spec == other.game.spec and bool((self.data == other.data).all())

    def __hash__(self) -> int:
        return hash(self.data.tobytes())


class View:
    """What one seat may know of a state.

    It is made of a world in which everything that the seat can't know has been dealt anew, by a generator that is
    seeded with what the seat does know. The real state is not in it, so nothing can leak from it, by mistake or by
    intent; two states that the seat can't tell apart give the same view, byte for byte.
    """

    __slots__ = ("_world", "game", "seat")

    def __init__(self, game: Game, world: Bytes, seat: int) -> None:
        self.game = game
        self.seat = seat
        self._world = world

    @property
    def player(self) -> int:
        """Who moves: a seat, CHANCE or TERMINAL."""
        return int(calls.player(self.game.rulebook, self._world))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.player == TERMINAL

    def actions(self) -> list[int]:
        """Legal actions of this seat, ascending; none when it isn't its turn."""
        return self.game._moves(self._world) if self.player == self.seat else []

    @property
    def is_secret(self) -> bool:
        """Whether another seat is to move, and this one will not see what it does.

        The answer is made from the view alone, so that it can't depend on what the seat doesn't know.
        """
        return self.player != self.seat and self.game.is_secret(self._world, self.seat)

    @property
    def infoset(self) -> int:
        """Key of all that the seat knows."""
        return int(calls.infoset(self.game.rulebook, self._world, self.seat))

    def observation(self) -> NDArray[np.float32]:
        """The same as numbers: [observation_size], laid out as `Spec.observation(seat)` says."""
        out = np.zeros(self.game.spec.observation_size, dtype=np.float32)
        calls.observe(self.game.rulebook, self._world, self.seat, out)
        return out[: sum(part.size for part in self.game.spec.observation(self.seat))]

    def features(self) -> NDArray[np.float32]:
        """The legal actions as numbers: [legal, feature_size]."""
        legal = self.actions()
        out = np.zeros((len(legal), self.game.spec.feature_size), dtype=np.float32)
        for row, action in zip(out, legal, strict=True):
            calls.features(self.game.rulebook, self._world, action, row)
        return out

    def returns(self) -> list[float]:
        """The payoffs, one a seat, once the game is over; zeros before."""
        out = np.zeros(self.game.players, dtype=np.float64)
        calls.returns(self.game.rulebook, self._world, out)
        return out.tolist()

    def sample(self, rng: Rng) -> State:
        """A world that may be the real one: everything that the seat can't know, dealt anew."""
        world = self._world.copy()
        calls.redeal(self.game.rulebook, world, self.seat, rng.words)
        return State(self.game, world, None)

    def write(self, action: int) -> str:
        """An action in the game's notation."""
        return self.game.write(self._world, action)

    def named(self, numbers: Mapping[int, Number]) -> dict[str, Number]:
        """What is told of moves (probabilities, visits, values), with their notation in place of their ids."""
        return {self.write(action): number for action, number in numbers.items()}

    def line(self, actions: Sequence[int]) -> list[str]:
        """The moves that a search expects from here (`Thought.line`), in the game's notation.

        What is hidden or still to be drawn isn't known, so the line is told as far as it can be played in the world of
        this view without chance.
        """
        world, words = State(self.game, self._world.copy(), None), []
        for action in actions:
            if world.player < 0 or action not in world.actions():
                break
            words.append(world.write(action))
            world.apply(action)
        return words

    def news(self, before: View) -> list[str]:
        """What happened between a view and this one of the same seat a move later, besides the move itself."""
        return self.game.news(before._world, self._world)

    def scene(self) -> Scene:
        """The table as this seat sees it."""
        return self.game.scene(self._world, self.seat, self.actions())

    def show(self, thought: Thought) -> Picture:
        """What somebody thinks of the moves here, as bars under the table: for a notebook."""
        from tapete.core.pictures import Picture, bars_html

        named = {name: self.named(getattr(thought, name)) for name in ("visits", "values") if getattr(thought, name)}
        return Picture(self._repr_html_() + bars_html(self.named(thought.probabilities), named))

    def _repr_html_(self) -> str:
        from tapete.core.pictures import scene_html

        return scene_html(self.scene(), f"{self.game} from seat {self.seat}")

    def __str__(self) -> str:
        return self.game.describe(self._world, self.seat)

    def __repr__(self) -> str:
        return f"<View of {self.game} from seat {self.seat}, {_turn(self.player)}: {self}>"


def _turn(player: int) -> str:
    """Whose turn it is, in words."""
    return {TERMINAL: "over", CHANCE: "chance to move"}.get(player, f"seat {player} to move")


def words(state: State) -> Iterator[str]:
    """The moves of a state in notation, one by one."""
    if state.history is None:
        raise TapeteError("an imagined world has no history")
    again = state.game.start()
    for action in state.history:
        yield again.write(action)
        calls.apply(state.game.rulebook, again.data, action)


__all__ = ["Game", "Move", "Place", "State", "View"]
