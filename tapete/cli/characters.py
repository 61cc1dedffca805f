"""`tapete characters`: who plays a game, under which name, and how strong that was measured to be."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tapete.cli.app import Json, app, progress_bar
from tapete.core import TapeteError, make
from tapete.core.stopping import interruptible


@app.command()
def characters(
    game: Annotated[str, typer.Argument(help="The game.")],
    measure: Annotated[bool, typer.Option("--measure", help="Play all of them, and write their ratings.")] = False,
    as_json: Json = False,
) -> None:
    """Show the opponents of a game as people meet them, with their measured strength."""
    from tapete.arena import characters as people

    if measure:
        with interruptible(), progress_bar(as_json) as progress:
            task = progress.add_task("", total=None)

            def watch(title: str, done: int, of: int, share: float) -> None:
                progress.update(task, completed=done, total=of, description=f"{title} {100 * share:.1f} %")

            people.measure(game, watch)
    found = people.characters(make(game))
    if not found:
        raise TapeteError(f"nobody has given names to those who play {game}; tapete match takes agents as they are")
    if as_json:
        print(json.dumps([each.to_json() for each in found]))
        return
    table = Table("name", "agent", "Elo" if found[0].by == "elo" else "payoff a game", "95 %", "", box=None)

    def told(strength: float) -> str:
        return f"{people.AVERAGE + strength:.0f}" if found[0].by == "elo" else f"{strength:+.3f}"

    for each in reversed(found):
        strength = "not measured" if each.strength is None else told(each.strength)
        low_high = "" if each.interval is None else " to ".join(map(told, each.interval))
        table.add_row(
            each.name, each.agent, strength, low_high, each.about["en"] + (" Strongest." if each.strongest else "")
        )
    Console().print(table)
