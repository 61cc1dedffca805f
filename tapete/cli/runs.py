"""`tapete runs`: what was trained and what is being trained."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from tapete.cli.app import Json, app
from tapete.core import TapeteError

RUNS = Path("runs")  # where `tapete train` puts them


@app.command()
def runs(
    folders: Annotated[list[Path] | None, typer.Argument(help="Folders of runs, or with runs in them.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves over each other into this PNG file.")] = None,
    by: Annotated[str, typer.Option(help="What they are drawn against: steps or seconds.")] = "steps",
    tensorboard: Annotated[
        Path | None, typer.Option(help="Write the curves to this folder, as TensorBoard reads them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List runs: how far they are, their last figures, whether they are at work, and what to type next."""
    from tapete.core.plots import check_plots
    from tapete.learn.events import write_events
    from tapete.learn.runs import SECONDS, STEPS, PastRun, find_runs
    from tapete.terminal.runs import draw_curves, tell

    if by not in (STEPS, SECONDS):
        raise TapeteError(f"--by must be {STEPS} or {SECONDS}, not {by!r}")
    if plot:
        check_plots(plot)
    found: list[PastRun] = []
    plain: list[dict[str, Any]] = []
    for folder in (place for inside in folders or ([RUNS] if RUNS.is_dir() else []) for place in find_runs(inside)):
        try:
            run = PastRun.read(folder)
        except TapeteError as error:
            plain.append({"folder": str(folder), "damaged": str(error)})
            lines = [f"{folder}: damaged: {error}"]
        else:
            found.append(run)
            plain.append(run.to_json())
            lines = list(tell(run))
        if not as_json:
            print("\n".join(lines), flush=True)
    if as_json:
        print(json.dumps(plain, indent=2))
    elif not plain:
        print("there are no runs here; one begins with: tapete train kuhn --with ppo")
    if plot and found:
        draw_curves(found, plot, by=by)
    if tensorboard:
        for run in found:
            write_events(run, tensorboard / run.folder.resolve().name)
        if found and not as_json:
            print(f"look at them with: tensorboard --logdir {shlex.quote(str(tensorboard))}")
