"""`tapete train`: learning."""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tapete.cli.app import STOPPED, Address, ExecutorName, app
from tapete.core import TapeteError, make
from tapete.core.stopping import stoppable
from tapete.scale import open_executor


@app.command()
def train(
    game: Annotated[str, typer.Argument(help="The game to learn.")] = "",
    knobs: Annotated[list[str] | None, typer.Argument(help="Knobs of the learner: KEY=VALUE.")] = None,
    learner: Annotated[str, typer.Option("--with", help="The learner.")] = "",
    folder: Annotated[Path | None, typer.Option("--run", help="The folder of the run; else runs/GAME-LEARNER.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run was stopped.")] = False,
    source: Annotated[
        Path | None, typer.Option("--from", help="Begin with the weights of this network: a file, or a run's folder.")
    ] = None,
    seconds: Annotated[float, typer.Option("--time", min=0, help="Stop after so many seconds.")] = math.inf,
    threads: Annotated[int, typer.Option(min=1, max=256, help="Cores to use.")] = 1,
    keep: Annotated[int, typer.Option(min=1, max=999, help="Checkpoints that are kept, the newest ones.")] = 2,
    executor: ExecutorName = "local",
    address: Address = "",
    device: Annotated[str, typer.Option(help="Where PyTorch computes: cpu, cuda, ...")] = "cpu",
    histories: Annotated[
        Path | None,
        typer.Option(
            help="Write the hands of hold'em of what plays at the end to this file: .txt (PokerStars), .phhs."
        ),
    ] = None,
    every_hand: Annotated[
        bool,
        typer.Option("--every-hand", help="Write all hands of this part of the run to --histories. They are many."),
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves into this PNG file at the end.")] = None,
) -> None:
    """Learn a game; without arguments, list the learners and their knobs.

    A run that is stopped goes on with --resume, and ends as if it had not been stopped, on any executor. A new run may
    begin --from a network that ships or that another run made; only the weights carry over.
    """
    from tapete import learn

    if not (game or learner or folder or resume):
        _list()
        return
    from tapete.agents.files import file_of
    from tapete.arena.learning import evaluation
    from tapete.arena.report import check_histories, writing_histories
    from tapete.core.plots import check_plots
    from tapete.learn.devices import check_device
    from tapete.learn.run import FILES
    from tapete.learn.runs import PastRun
    from tapete.terminal.runs import draw_curves
    from tapete.terminal.training import TrainingScreen, commands

    settings = list(knobs or [])
    if "=" in game.partition("(")[0]:  # no game was given, only knobs
        game, settings = "", [game, *settings]
    if not folder and game and learner:
        folder = Path("runs") / f"{make(game).file_name}-{learner}"
    if resume and folder and (folder / FILES.config).exists():
        known = learn.Description.read(folder)
        game, learner = game or known.game, learner or known.learner
        settings = [f"{key}={value}" for key, value in known.config.items()] + settings
    elif resume and folder and not (game and learner):
        raise TapeteError(f"there is no run in {folder} to go on with; `tapete runs` lists those there are")
    if game and not learner:
        raise TapeteError(
            f"which learner? `tapete train` lists them; write it as in: tapete train '{make(game)}' --with ppo"
        )
    if not folder or not game or not learner:
        raise TapeteError("write it as in: tapete train othello --with zero; `tapete train` lists the learners")
    rules, train_it = make(game), learn.learner(learner).training()
    config = learn.configure(learner, settings)
    check_device(device)
    if plot:
        check_plots(plot)
    if histories:
        check_histories(histories, game)
        if not learn.learner(learner).tells_games:
            able = ", ".join(name for name, known in learn.learners().items() if known.tells_games)
            raise TapeteError(f"{learner} does not tell its hands; --histories is for {able}")
    elif every_hand:
        raise TapeteError("--every-hand needs --histories FILE")
    where = open_executor(executor, workers=threads, address=address)
    telling = writing_histories(histories, rules) if histories else nullcontext(None)
    with where, TrainingScreen(folder) as watch, stoppable() as stop, telling as tell:
        run = learn.Run(
            folder,
            learner,
            rules,
            config,
            resume=resume,
            source=file_of(str(source)) if source else None,
            seconds=seconds,
            threads=threads,
            executor=where,
            keep=keep,
            say=partial(print, file=sys.stderr),
            device=device,
            evaluate=evaluation(rules),
            watch=watch,
            stop=stop,
            tell=tell,
            tell_all=every_hand,
        )
        try:
            train_it(rules, config, run)
        finally:
            run.close()
    if plot:
        draw_curves([PastRun.read(folder)], plot, every=True)
    if run.out_of_time:
        print("stopped")
    for line in commands(folder, str(rules), resumes=run.out_of_time, plays=run.network.exists()):
        print(line)
    if stop.is_set():
        raise typer.Exit(STOPPED)


def _list() -> None:
    from tapete import learn

    for learner in learn.learners().values():
        print(f"{learner.name}: {learner.about}")
        if learner.missing:
            print(f"    {learner.hint}")
        for knob in learner.knobs:
            usual = str(knob.usual).lower() if isinstance(knob.usual, bool) else knob.usual
            print(f"    {f'{knob.name}={usual}':28} {knob.about}")
