"""`tapete games`, `tapete agents`: what there is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tapete.cli.app import Json, app
from tapete.core import make, variants
from tapete.core.names import needs_parameters, playable, usage


@app.command()
def games(
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/games.md.")] = False,
) -> None:
    """List the games, with what their rules declare."""
    usual = [make(name).spec for name in playable()]
    if markdown:
        from tapete.terminal.pages import games_page

        print(games_page(usual))
        return
    if as_json:
        print(json.dumps([spec.to_json() for spec in usual], indent=2))
        return
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    for column in ("game", "", "seats", "actions", "longest", "payoffs", "hidden"):
        numbers = column in ("seats", "actions", "longest")
        table.add_column(column, justify="right" if numbers else "left", no_wrap=column != "")
    for spec in usual:
        low, high = spec.utility
        payoffs = f"±{high:g}" if low == -high else f"{low:g} to {high:g}"
        cells = (spec.players, spec.actions, spec.longest)
        table.add_row(spec.name, spec.title, *map(str, cells), payoffs, "yes" if spec.hidden else "no")
    console = Console()
    console.print(table)
    for name, variant in variants().items():
        if needs_parameters(variant.spec):
            console.print(f"{usage(name, variant.spec)}  {inspect.getdoc(variant.spec)}", highlight=False)


@app.command()
def agents(
    game: Annotated[str, typer.Argument(help="List only those who can play it, at their levels.")] = "",
    as_json: Json = False,
) -> None:
    """List those who can be played against."""
    from tapete.agents import agents as all_agents
    from tapete.agents import opponents

    known = all_agents()
    names = opponents(make(game)) if game else sorted(known)
    rows = [{"agent": name, "about": _about(known[name.partition("(")[0]])} for name in names]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    said = ""
    for row in rows:  # levels of one agent need one introduction
        print(f"{row['agent']:20} {row['about'] if row['about'] != said else ''}".rstrip())
        said = row["about"]


def _about(function: Callable[..., Any]) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(function) or "").partition("\n")[0]
