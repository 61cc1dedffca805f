"""Games by name: found by folder, with parameters written as in ``dudo(5,2,2)`` or ``holdem(players=10)``.

Every folder in ``tapete/games`` has a tuple ``VARIANTS`` of functions. The name of a function is the name of a game, its
parameters are the game's, and it returns the :class:`Spec` that goes with their values. There is no list to register in.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.spec import Spec, Value

LONGEST_NAME = 1000


class Variant(NamedTuple):
    """A game that can be asked for by name."""

    package: str  # "tapete.games.dudo"
    spec: Callable[..., Spec]

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """In the order in which they may be written."""
        return dict(inspect.signature(self.spec, eval_str=True).parameters)


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

    >>> make("dudo(5, 2, 2)")
    tapete.make('dudo(5,2,2)')
    >>> make("chess")
    Traceback (most recent call last):
    ...
    tapete.core.errors.TapeteError: there is no game 'chess'; `tapete games` lists them all
    """
    name, arguments = split_call(text)
    variant = variants().get(name)
    if variant is None:
        close = difflib.get_close_matches(name, variants(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else "`tapete games` lists them all"
        raise TapeteError(f"there is no game {name!r}; {hint}")
    values = _bind(name, variant.parameters, arguments)
    try:
        spec = variant.spec(**values)
    except TapeteError as error:
        raise TapeteError(f"{name}: {error}") from None
    return Game(replace(spec, name=write_call(name, variant.parameters, values), parameters=values), variant.package)


def split_call(text: str) -> tuple[str, list[str]]:
    """``"dudo(5,2,2)"`` as ``("dudo", ["5", "2", "2"])``."""
    text = text.strip()
    name, bracket, rest = text.partition("(")
    if len(text) > LONGEST_NAME or (bracket and not rest.endswith(")")) or not name.strip():
        raise TapeteError(f"{text[:60]!r} is not a name; write it like dudo(5,2,2) or holdem(players=10)")
    inside = rest[:-1].strip()
    return name.strip(), [part.strip() for part in inside.split(",")] if inside else []


def write_call(name: str, parameters: dict[str, inspect.Parameter], values: dict[str, Value]) -> str:
    """The name as it is written: keyword parameters only where they are not the usual ones."""
    parts = []
    for key, parameter in parameters.items():
        text = str(values[key]).lower() if isinstance(values[key], bool) else str(values[key])
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            parts.append(text)
        elif values[key] != parameter.default:
            parts.append(f"{key}={text}")
    return f"{name}({','.join(parts)})" if parts else name


def _bind(name: str, parameters: dict[str, inspect.Parameter], arguments: list[str]) -> dict[str, Value]:
    usage = f"{name}({', '.join(_usage(p) for p in parameters.values())})"
    given: dict[str, str] = {}
    for key, argument in zip([*parameters, *[""] * len(arguments)], arguments, strict=False):
        head, equals, tail = argument.partition("=")
        if equals:
            key, argument = head.strip(), tail.strip()
        if key not in parameters:
            wrong = f"no parameter {key!r}" if equals else f"at most {len(parameters)} parameters"
            raise TapeteError(f"{name} has {wrong}; write {usage}")
        if key in given:
            raise TapeteError(f"{name}: {key} is given twice; write {usage}")
        given[key] = argument
    return {
        key: _value(name, p, given[key]) if key in given else _default(name, p, usage) for key, p in parameters.items()
    }


def _usage(parameter: inspect.Parameter) -> str:
    return parameter.name if parameter.default is inspect.Parameter.empty else f"{parameter.name}={parameter.default}"


def _default(name: str, parameter: inspect.Parameter, usage: str) -> Value:
    if parameter.default is inspect.Parameter.empty:
        raise TapeteError(f"{name} needs {parameter.name}; write {usage}")
    return parameter.default


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
