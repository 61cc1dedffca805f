"""`tapete solve`: equilibria."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tapete.cli.app import Address, ExecutorName, Json, app, telling_how_to_go_on
from tapete.core import TapeteError, make
from tapete.core.stopping import stoppable
from tapete.scale import open_executor


@app.command()
def solve(
    game: Annotated[str, typer.Argument(help="A zero-sum game of two players; any game with mccfr-external.")] = "",
    algorithm: Annotated[
        str, typer.Option(help="A member of the CFR family, or one that samples, like mccfr-external: docs/solving.md.")
    ] = "",
    until: Annotated[str, typer.Option(help="Stop at this exploitability: 0.1% or 0.001.")] = "0.1%",
    seconds: Annotated[
        float, typer.Option("--time", min=0, help="Stop after so many seconds, of all that has to be solved.")
    ] = float("inf"),
    iterations: Annotated[int, typer.Option(min=1, help="Stop after so many iterations.")] = 10**9,
    save: Annotated[Path | None, typer.Option(help="Where to write the solution; else to the store.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run was stopped.")] = False,
    checkpoint_every: Annotated[float, typer.Option(min=0, help="Seconds between notes of where a run is.")] = 120,
    threads: Annotated[int, typer.Option(min=1, max=256, help="Cores to use.")] = 2,
    walkers: Annotated[
        int, typer.Option(min=1, max=4096, help="Who walk side by side, where a game is sampled: part of the result.")
    ] = 1,
    executor: ExecutorName = "local",
    address: Address = "",
    seed: Annotated[int, typer.Option(help="Names what is drawn, where a game is sampled.")] = 1,
    memory: Annotated[
        float, typer.Option(min=0, max=1e6, help="GB that sampling may take; 0: half of what the machine has.")
    ] = 0,
    show: Annotated[str, typer.Option(help="A state: print what the solution does there, as in 'kuhn: J Q'.")] = "",
    as_json: Json = False,
) -> None:
    """Find an equilibrium, and prove by exact best responses how good it is.

    Games that are too large for that can be sampled (--algorithm mccfr-external --time 600), and nothing is proven.
    """
    from tapete.solve import DEFAULT
    from tapete.solve import solve as solve_game
    from tapete.terminal.solving import SolvingScreen, read_share, show_strategy

    if show:
        show_strategy(_state_of(game, show), save, as_json)
        return
    if not game:
        raise TapeteError("which game? write it as in: tapete solve kuhn")
    where = open_executor(executor, workers=threads, address=address)
    with where, SolvingScreen(read_share(until), quiet=as_json) as watch, stoppable() as stop, telling_how_to_go_on():
        progress, strategy = solve_game(
            make(game),
            algorithm=algorithm or DEFAULT,
            until=read_share(until),
            seconds=seconds,
            iterations=iterations,
            threads=threads,
            save=save,
            resume=resume,
            checkpoint_every=checkpoint_every,
            seed=seed,
            memory=memory * 1e9 or float("inf"),
            walkers=walkers,
            executor=where,
            watch=watch,
            begin=watch.begin,
            stop=stop,
        )
    if as_json:
        print(json.dumps(progress.to_json()))
    else:
        watch.conclude(progress, strategy, save)


def _state_of(game: str, text: str) -> str:
    """A state with its game, which may be named by itself, before the moves, or both, but not differently."""
    if not game:
        return text
    rules, (name, colon, moves) = make(game), text.rpartition(":")
    if colon and str(make(name)) != str(rules):
        raise TapeteError(f"{text!r} is a state of {name}, not of {rules}")
    return f"{rules}: {moves}"
