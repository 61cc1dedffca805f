"""What every command shares."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tapete.core import TapeteError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Games of hidden information: play them, measure them, solve them, learn them. A game is written like truco,"
    " dudo(5,2,2) or holdem(players=10).",
)
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ExecutorName = Annotated[
    str, typer.Option("--executor", help="Where work is done: serial, local (threads) or ray (a cluster).")
]
Address = Annotated[str, typer.Option(help="The Ray cluster: host:port, or auto. Else one of this machine is begun.")]
STOPPED = 130  # exit status, as of any program that Ctrl-C ends


@contextmanager
def telling_how_to_go_on() -> Iterator[None]:
    """Whoever stops a command that can be resumed is told how."""
    try:
        yield
    except KeyboardInterrupt:
        arguments = [*(argument for argument in sys.argv[1:] if argument != "--resume"), "--resume"]
        print(f"stopped; go on with: tapete {shlex.join(arguments)}", file=sys.stderr)
        raise


def progress_bar(quiet: bool) -> Progress:
    """What is done of so many games, on a terminal."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)


def read_score(score: str, points: int) -> tuple[int, int]:
    """The points of mano and of the other in a match to so many."""
    mano, dash, other = score.partition("-")
    if not (dash and mano.isdecimal() and other.isdecimal() and int(mano) < points and int(other) < points):
        raise TapeteError(f"a score is written like {points - 1}-0, both below {points}; not {score!r}")
    return int(mano), int(other)
