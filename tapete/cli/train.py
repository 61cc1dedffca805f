"""`tapete train`: learning."""

from __future__ import annotations

import inspect
import math
import shlex
from pathlib import Path
from typing import Annotated

import typer

from tapete.cli.app import app
from tapete.core import Game, TapeteError, make


@app.command()
def train(
    game: Annotated[str, typer.Argument(help="The game to learn.")] = "",
    knobs: Annotated[list[str] | None, typer.Argument(help="Knobs of the learner: KEY=VALUE.")] = None,
    learner: Annotated[str, typer.Option("--with", help="The learner; --list shows them.")] = "",
    folder: Annotated[Path | None, typer.Option("--run", help="The folder of the run; else runs/GAME-LEARNER.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run was stopped.")] = False,
    seconds: Annotated[float, typer.Option("--time", min=0, help="Stop after so many seconds.")] = math.inf,
    threads: Annotated[int, typer.Option(min=1, max=256, help="Cores to use.")] = 1,
    listed: Annotated[bool, typer.Option("--list", help="Show the learners and their knobs.")] = False,
) -> None:
    """Learn a game. A run that is stopped goes on with --resume, and ends as if it had not been stopped."""
    from tapete import learn
    from tapete.terminal.training import TrainingScreen

    if listed:
        _list()
        return
    settings = list(knobs or [])
    if "=" in game.partition("(")[0]:  # no game was given, only knobs
        game, settings = "", [game, *settings]
    if not folder and game and learner:
        folder = Path("runs") / f"{make(game).file_name}-{learner}"
    if resume and folder and (folder / "config.json").exists():
        known = learn.Description.read(folder)
        game, learner = game or known.game, learner or known.learner
        settings = [f"{key}={value}" for key, value in known.config.items()] + settings
    if not folder or not game or not learner:
        raise TapeteError("write it as in: tapete train othello --with zero; `tapete train --list` shows all learners")
    rules, module = make(game), learn.learner(learner)
    config = learn.configure(learner, settings)
    with TrainingScreen() as watch:
        run = learn.Run(folder, learner, rules, config, resume=resume, seconds=seconds, threads=threads, watch=watch)
        try:
            module.train(rules, config, run)
        finally:
            run.close()
    _conclude(rules, folder, out_of_time=run.out_of_time)


def _conclude(game: Game, folder: Path, *, out_of_time: bool) -> None:
    """The commands that come next."""
    place = shlex.quote(str(folder))
    if out_of_time:
        print(f"stopped; go on with: tapete train --run {place} --resume")
    if (folder / "network.safetensors").exists():
        print(f"play against it: tapete play {shlex.quote(str(game))} --against {place} --new")


def _list() -> None:
    from tapete import learn

    for name in learn.learners():
        module = learn.learner(name)
        print(f"{name}: {(inspect.getdoc(module) or '').splitlines()[0]}")
        for knob, usual, about in learn.knobs(module.Config):
            print(f"    {f'{knob}={usual}':28} {about}")
