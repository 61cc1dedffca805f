"""Games (and agents) by name, with parameters: ``dudo(5,2,2)``, ``holdem(players=10)``, ``mcts(100)``.

Every folder in ``tapete/games`` has a tuple ``VARIANTS`` of functions. The name of a function is the name of a game,
its parameters are the game's, and it returns the :class:`Spec` that goes with them. There is no list to register in.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, cast

from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.spec import Spec, Value

LONGEST_NAME = 1000


class Variant(NamedTuple):
    """A game that can be asked for by name."""

    package: str  # "tapete.games.dudo"
    spec: Callable[..., Spec]


@cache
def variants() -> dict[str, Variant]:
    """Every game there is, by name. Importing a game's folder compiles nothing."""
    games = importlib.import_module("tapete.games")
    found: dict[str, Variant] = {}
    for folder in pkgutil.iter_modules(games.__path__, "tapete.games."):
        if folder.ispkg:
            for spec in importlib.import_module(folder.name).VARIANTS:
                found[spec.__name__] = Variant(folder.name, spec)
    return found


def make(text: str) -> Game:
    """The game that a text names.

    >>> make("ocp( 12 )")
    tapete.make('ocp(12)')
    >>> make("chess")
    Traceback (most recent call last):
    ...
    tapete.core.errors.TapeteError: there is no game 'chess'; `tapete games` lists them all
    """
    if isinstance(text, str) and text.partition("(")[0].strip() == "openspiel":  # other people's, over a bridge
        return cast(Game, importlib.import_module("tapete.bridges.guests").make(text[:LONGEST_NAME]))
    call = Call.read(text, "game", {name: variant.spec for name, variant in variants().items()})
    spec = replace(call.run(), name=str(call), parameters=call.values)
    return Game(spec, variants()[call.name].package)


def changed(game: Game, **parameters: Value) -> Game:
    """The same game with other values of some parameters.

    >>> changed(make("truco(mazo=true)"), score0=29)
    tapete.make('truco(mazo=true,score0=29)')
    """
    values = game.spec.parameters | parameters  # type: ignore[operator]
    return make(
        f"{str(game).partition('(')[0]}({','.join(f'{key}={_written(value)}' for key, value in values.items())})"
    )


class Call(NamedTuple):
    """A name with parameters, read from a text and bound to the function of that name."""

    name: str
    function: Callable[..., Any]
    values: dict[str, Value]

    @classmethod
    def read(cls, text: str, kind: str, functions: Mapping[str, Callable[..., Any]]) -> Call:
        """Parses a text; `kind` says what it names in an error message, `tapete <kind>s` must list them."""
        name, arguments = _split(text)
        if name not in functions:
            close = difflib.get_close_matches(name, functions, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"`tapete {kind}s` lists them all"
            raise TapeteError(f"there is no {kind} {name[:60]!r}; {hint}")
        return cls(name, functions[name], _bind(name, functions[name], arguments))

    def run(self) -> Any:
        """Calls the function; what it says of a bad value is told with its name."""
        try:
            return self.function(**self.values)
        except TapeteError as error:
            raise TapeteError(f"{self.name}: {error}") from None

    def __str__(self) -> str:
        """As it is written: keyword parameters only where they are not the usual ones."""
        parts = []
        for key, parameter in _parameters(self.function).items():
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
                parts.append(_written(self.values[key]))
            elif self.values[key] != parameter.default:
                parts.append(f"{key}={_written(self.values[key])}")
        return f"{self.name}({','.join(parts)})" if parts else self.name


def usage(name: str, function: Callable[..., Any]) -> str:
    """How it is written, with the usual values: ``"holdem(players=2, cap=4)"``."""
    parameters = _parameters(function).values()
    parts = [p.name if p.default is p.empty else f"{p.name}={_written(p.default)}" for p in parameters]
    return f"{name}({', '.join(parts)})" if parts else name


def needs_parameters(function: Callable[..., Any]) -> bool:
    """Whether something must be said besides the name."""
    return any(p.default is p.empty for p in _parameters(function).values())


def playable() -> list[str]:
    """The names of games that can be played without saying more, which one from a file can't."""
    return sorted(name for name, variant in variants().items() if not needs_parameters(variant.spec))


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function, eval_str=True).parameters)


def _split(text: str) -> tuple[str, list[str]]:
    text = text.strip() if isinstance(text, str) else ""
    name, bracket, rest = text.partition("(")
    if len(text) > LONGEST_NAME or (bracket and not rest.endswith(")")) or not name.strip():
        raise TapeteError(f"{text[:60]!r} is not a name; write it like dudo(5,2,2) or holdem(players=10)")
    inside = rest[:-1].strip()
    return name.strip(), [part.strip() for part in inside.split(",")] if inside else []


def _bind(name: str, function: Callable[..., Any], arguments: list[str]) -> dict[str, Value]:
    parameters = _parameters(function)
    right = f"write {usage(name, function)}"
    given: dict[str, str] = {}
    for key, argument in zip([*parameters, *[""] * len(arguments)], arguments, strict=False):
        head, equals, tail = argument.partition("=")
        if equals:
            key, argument = head.strip(), tail.strip()
        if key not in parameters:
            most = f"at most {len(parameters)} parameters, not {len(arguments)}" if parameters else "no parameters"
            wrong = f"no parameter {key!r}" if equals else most
            raise TapeteError(f"{name} has {wrong}; {right}")
        if key in given:
            raise TapeteError(f"{name}: {key} is given twice; {right}")
        given[key] = argument
    if missing := [key for key, p in parameters.items() if key not in given and p.default is p.empty]:
        raise TapeteError(f"{name} needs {missing[0]}; {right}")
    return {key: _value(name, p, given[key]) if key in given else p.default for key, p in parameters.items()}


def _value(name: str, parameter: inspect.Parameter, text: str) -> Value:
    kind: Any = parameter.annotation
    if kind is str:
        return text
    if kind is bool and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        if kind is int and len(text) < 20:
            return int(text)
        if kind is float and abs(float(text)) < 1e12:  # which NaN and infinity are not
            return float(text)
    except ValueError:
        pass
    right = {int: "a whole number", float: "a number", bool: "true or false"}[kind]
    raise TapeteError(f"{name}: {parameter.name} must be {right}, not {text!r}")
