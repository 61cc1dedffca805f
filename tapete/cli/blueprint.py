"""`tapete blueprint`: a strategy for whole matches of truco, and their equity."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from tapete.cli.app import app, read_score, telling_how_to_go_on
from tapete.core import TapeteError, make
from tapete.core.stopping import stoppable

MEASURED = 1_000_000  # hands by which a response is measured on each seat
STRANGERS = 0.02  # of the walks meet a stranger
COUNTED = 20_000  # hands at every score that the equity is counted by, and more near the end of a match


@app.command()
def blueprint(
    game: Annotated[str, typer.Argument(help="truco, truco(mazo=true), or holdem.")] = "truco",
    run: Annotated[
        Path | None, typer.Option("--run", help="The file that remembers everything; else runs/GAME.run.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the strategy here, a few MB, when it stops.")] = None,
    equity: Annotated[
        Path | None, typer.Option(help="Truco: write the match equity here, counted anew, when it stops.")
    ] = None,
    seconds: Annotated[float, typer.Option("--time", min=0, help="Stop after so many seconds.")] = math.inf,
    hands: Annotated[int, typer.Option(min=1, help="Stop after so many hands in all.")] = 10**12,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was stopped.")] = False,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Begin with what another run of truco, with mazo or without, has learned."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="The file of a strategy, or random: learn a response to it instead.")
    ] = None,
    score: Annotated[str, typer.Option(help="With --against: respond at this score only, as 14-14.")] = "",
    stranger: Annotated[
        Path | None, typer.Option(help="A strategy that is met now and then: `tapete imitate` makes one.")
    ] = None,
    strangers: Annotated[
        float, typer.Option(min=0, max=1, help="With --stranger: the share of walks in which it is met.")
    ] = STRANGERS,
    seed: Annotated[int, typer.Option(help="Names what is drawn.")] = 1,
) -> None:
    """Solve the hands of truco at all scores at once, paid in match equity, or hold'em of two, hands in buckets.

    By sampling; Ctrl-C stops in good order.
    """
    from tapete.core.names import changed
    from tapete.solve.holdem import training as of_holdem
    from tapete.solve.truco.local import single_hand, worth_of_a_point
    from tapete.solve.truco.training import POINTS, Training, train

    run = run or Path("runs") / f"{make(game).file_name}.run"
    is_holdem = make(game).package == "tapete.games.holdem"
    if is_holdem and (against or score or stranger):
        raise TapeteError("responses are learned in truco only; for hold'em there is `tapete exploit`")
    if stranger and against:
        raise TapeteError("a --stranger is met now and then, who is in --against always: say one of them")
    if source and (is_holdem or against or resume):
        raise TapeteError("--from begins a strategy of truco, with the run of another")
    if equity and (is_holdem or against):
        raise TapeteError("--equity goes with a strategy of truco that is no response")

    with stoppable() as stop, telling_how_to_go_on():
        at = read_score(score, POINTS) if score else None
        training: Any
        if is_holdem:
            training = of_holdem.Training(make(game), seed=seed)
        else:
            training = Training(
                make(game), seed=seed, against=against, score=at, stranger=stranger, strangers=strangers
            )
        if resume:
            training.load(run)
        elif run.exists():
            raise TapeteError(f"{run} is there already: say --resume to go on with it, or --run with another name")
        if source:
            training.begin_with(source)
        go_on: Any = of_holdem.train if is_holdem else train
        go_on(training, run, seconds=seconds, hands=hands, stop=stop, tell=lambda line: print(line, flush=True))
    if against:
        mano, other = at or (0, 0)
        point = worth_of_a_point(single_hand(changed(make(game), score0=mano, score1=other))) / 2
        gain, margin = (share / point for share in training.gain(MEASURED))
        print(f"at {mano}-{other} the response wins {gain:+.4f} points a hand (95 %: +- {margin:.4f}); ", end="")
        print(f"a point is worth {100 * point:.2f} % of a match there")
    if equity:
        training.write_equity(equity, COUNTED)
        print(f"{equity}: {training.standing()}")
    if save:
        training.write(save)
        print(f"{save}: {save.stat().st_size:,} bytes; play it with: tapete match '{game}' {save} random")
