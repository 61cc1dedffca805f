"""`tapete blueprint`: a strategy for whole matches of truco, and their equity; or for hold'em of two."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Annotated

import typer

from tapete.cli.app import app, telling_how_to_go_on
from tapete.core import TapeteError, make
from tapete.core.stopping import stoppable


@app.command()
def blueprint(
    game: Annotated[str, typer.Argument(help="truco, truco(mazo=true), or holdem.")] = "truco",
    run: Annotated[Path, typer.Option("--run", help="The file that remembers everything.")] = Path("runs/truco.run"),
    save: Annotated[Path | None, typer.Option(help="Write the strategy here, a few MB, when it stops.")] = None,
    seconds: Annotated[float, typer.Option("--time", min=0, help="Stop after so many seconds.")] = math.inf,
    hands: Annotated[int, typer.Option(min=1, help="Stop after so many hands in all.")] = 10**12,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was stopped.")] = False,
    against: Annotated[
        Path | None, typer.Option(help="The file of a strategy: learn a response to it instead.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Names what is drawn.")] = 1,
) -> None:
    """Solve the hands of truco at all scores at once, paid in match equity, or hold'em of two, hands in buckets.

    By sampling; Ctrl-C stops in good order.
    """
    rules = make(game)
    is_holdem = rules.package == "tapete.games.holdem"
    if is_holdem and against:
        raise TapeteError("responses are learned in truco only; for hold'em there is `tapete exploit`")
    solver = importlib.import_module(f"tapete.solve.{'holdem' if is_holdem else 'truco'}.training")
    with stoppable() as stop, telling_how_to_go_on():
        training = solver.Training(rules, seed=seed, **({} if is_holdem else {"against": against}))
        if resume:
            training.load(run)
        elif run.exists():
            raise TapeteError(f"{run} is there already: say --resume to go on with it, or --run with another name")
        solver.train(training, run, seconds=seconds, hands=hands, stop=stop, tell=lambda line: print(line, flush=True))
    if save:
        training.write(save)
        print(f"{save}: {save.stat().st_size:,} bytes; play it with: tapete match '{game}' {save} random")
