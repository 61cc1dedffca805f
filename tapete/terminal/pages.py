"""Pages of the documentation that are made from the code, so that nothing is typed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tapete.core import Field, Spec
from tapete.core.names import variants


def games_page(specs: Iterable[Spec]) -> str:
    """docs/games.md: what every game declares."""
    return "\n".join(_lines(list(specs)))


def _lines(specs: list[Spec]) -> Iterator[str]:
    yield "# The games, as they declare themselves\n"
    yield "Made by `tapete games --markdown`; a test keeps it current. The rules are in each game's README.\n"
    yield from spec_tables(specs, lambda spec: f"[`{spec.name}`](../{_folder(spec)}/README.md)")


def spec_tables(specs: list[Spec], named: Callable[[Spec], str] = lambda spec: f"`{spec.name}`") -> Iterator[str]:
    """What some games declare: a line each, then what a network is fed."""
    yield "| game | | seats | actions | at once | outcomes | longest | payoffs | hidden |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for spec in specs:
        low, high = spec.utility
        yield (
            f"| {named(spec)} | {spec.title} | {spec.players} | {spec.actions:,} "
            f"| {spec.max_actions} | {spec.outcomes} | {spec.longest} | {low:g} to {high:g} "
            f"| {'yes' if spec.hidden else 'no'} |"
        )
    for spec in specs:
        yield f"\n## `{spec.name}`\n"
        for seat, fields in enumerate(spec.observations):
            who = f", seat {seat}" if len(spec.observations) > 1 else ""
            yield from _fields(f"observation{who}", fields)
        yield from _fields("features of an action", spec.features)


def _fields(title: str, fields: tuple[Field, ...]) -> Iterator[str]:
    yield f"| {title} ({sum(field.size for field in fields)} numbers) | shape | |"
    yield "|---|---|---|"
    for field in fields:
        yield f"| {field.name} | {' x '.join(map(str, field.shape))} | {field.about} |"
    yield ""


def _folder(spec: Spec) -> str:
    return variants()[spec.name.partition("(")[0]].package.replace(".", "/")
