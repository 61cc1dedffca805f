"""What every command shares."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Games of hidden information: play them, measure them, solve them, learn them. A game is written like truco,"
    " dudo(5,2,2) or holdem(players=10).",
)
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
