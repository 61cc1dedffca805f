"""The command line. Wrong input gets one line that says what is wrong and what would be right, and exit status 2."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tapete.core import TapeteError, make, variants
from tapete.core.names import needs_parameters, usage

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Games of hidden information: play them, measure them, solve them. A game is written like truco, dudo(5,2,2)"
    " or holdem(players=10).",
)
bench_app = typer.Typer(no_args_is_help=True, help="Measure speed, beside other people's code in the same run.")
app.add_typer(bench_app, name="bench")

# Typer may bring its own copy of click, so the error is found by way of the one name that Typer exports.
UsageError: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "UsageError")
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def main() -> None:
    """The entry point of `tapete`."""
    try:
        status = app(standalone_mode=False)
    except UsageError as error:
        if error.args and error.args[0]:  # not where help was shown because nothing was asked for
            text = " ".join(error.format_message().split()).rstrip(".")
            print(f"tapete: {text}; `tapete --help` tells how it goes", file=sys.stderr)
        raise SystemExit(2) from None
    except TapeteError as error:
        print(f"tapete: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from None
    except (typer.Abort, KeyboardInterrupt):
        print("tapete: stopped", file=sys.stderr)
        raise SystemExit(130) from None
    raise SystemExit(status or 0)


@app.command()
def games(
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/games.md.")] = False,
) -> None:
    """List the games, with what their rules declare."""
    usual = [make(name).spec for name in _playable()]
    if markdown:
        from tapete.terminal.pages import games_page

        print(games_page(usual))
        return
    if as_json:
        print(json.dumps([spec.to_json() for spec in usual], indent=2))
        return
    table = Table(box=None, header_style="bold")
    for column in ("game", "", "seats", "actions", "longest", "payoffs", "hidden"):
        table.add_column(column, justify="right" if column in ("seats", "actions", "longest") else "left")
    for spec in usual:
        low, high = spec.utility
        payoffs = f"{low:g} to {high:+g}"
        cells = (spec.players, spec.actions, spec.longest)
        table.add_row(spec.name, spec.title, *map(str, cells), payoffs, "yes" if spec.hidden else "no")
    console = Console()
    console.print(table)
    for name, variant in variants().items():
        if needs_parameters(variant.spec):
            console.print(f" {usage(name, variant.spec)}  {inspect.getdoc(variant.spec)}", highlight=False)


@app.command()
def agents(as_json: Json = False) -> None:
    """List those who can be played against."""
    from tapete.agents import agents as all_agents

    rows = [{"agent": name, "about": inspect.getdoc(function)} for name, function in sorted(all_agents().items())]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(f"{row['agent']:20} {row['about']}")


@app.command()
def play(
    game: Annotated[str, typer.Argument(help="The game; asked for where it is not given.")] = "",
    against: Annotated[str | None, typer.Option(help="Who sits on the other seats: an agent, or `person`.")] = None,
    seat: Annotated[int | None, typer.Option(help="The seat you take; 0, the usual one, moves first.")] = None,
    seed: Annotated[int | None, typer.Option(help="Deal the cards by this seed.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Begin anew, even if a game was left in the middle.")] = False,
) -> None:
    """Sit down and play in the terminal. A game that you leave is continued the next time."""
    from tapete.terminal.play import sit_down
    from tapete.terminal.sitting import Sitting, saved_game

    for number in (signal.SIGTERM, signal.SIGHUP):  # the window is closed: stop as with Ctrl-C, and save the game
        signal.signal(number, signal.default_int_handler)
    console = Console()
    rules = make(game or _ask_game(console))
    path = saved_game(rules)
    if new or not path.exists():
        sitting = Sitting.begin(rules, seat or 0, against or "random", secrets.randbits(63) if seed is None else seed)
    else:
        sitting = Sitting.load(path)
        if str(sitting.state.game) != str(rules) or not sitting.is_wanted(seat, against, seed):
            raise TapeteError(
                f"another game waits in {path}; `tapete play '{rules}'` goes on with it, --new begins anew"
            )
        console.print(f"going on with the game that was left in the middle; --new begins another", style="dim")
    sit_down(sitting, console)


@app.command()
def warm(as_json: Json = False) -> None:
    """Compile everything ahead of time, so that no first game has to wait."""
    from tapete.core import compile as compiler

    began = time.perf_counter()
    modules = compiler.compiled_modules()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("compiling", total=len(modules))
        for module in modules:
            progress.update(task, description=f"compiling {module.removeprefix('tapete.')}")
            importlib.import_module(module)
            progress.advance(task)
    result = {"compiled": compiler.progress.done, "seconds": round(time.perf_counter() - began, 2)}
    print(json.dumps(result) if as_json else f"ready: {result['compiled']} functions compiled in {result['seconds']} s")


@app.command()
def solve(
    game: Annotated[str, typer.Argument(help="A zero-sum game of two players.")] = "",
    algorithm: Annotated[str, typer.Option(help="A member of the CFR family: see docs/solving.md.")] = "",
    until: Annotated[str, typer.Option(help="Stop at this exploitability: 0.1% or 0.001.")] = "0.1%",
    seconds: Annotated[float, typer.Option("--time", min=0, help="Stop after so many seconds.")] = float("inf"),
    iterations: Annotated[int, typer.Option(min=1, help="Stop after so many iterations.")] = 10**9,
    save: Annotated[Path | None, typer.Option(help="Where to write the solution; else to the store.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run was stopped.")] = False,
    threads: Annotated[int, typer.Option(min=1, max=256, help="Cores to use.")] = 2,
    show: Annotated[str, typer.Option(help="A state: print what the solution does there, as in 'kuhn: J Q'.")] = "",
    as_json: Json = False,
) -> None:
    """Find an equilibrium, and prove by exact best responses how good it is."""
    from tapete.solve import DEFAULT
    from tapete.solve import solve as solve_game
    from tapete.terminal.solving import Watch, read_share, show_strategy

    if show:
        show_strategy(show if ":" in show or not game else f"{make(game)}: {show}", save, as_json)
        return
    if not game:
        raise TapeteError("which game? write it as in: tapete solve kuhn")
    with Watch(read_share(until), quiet=as_json) as watch:
        progress, _ = solve_game(
            make(game),
            algorithm=algorithm or DEFAULT,
            until=read_share(until),
            seconds=seconds,
            iterations=iterations,
            threads=threads,
            save=save,
            resume=resume,
            watch=watch,
        )
    if as_json:
        print(json.dumps(progress.to_json()))
    else:
        watch.conclude(progress, save)


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="The paper: rojas.")],
    row: Annotated[str, typer.Option(help="Only this row of its tables, as in dudo(4,2,2).")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Only the small rows, and fewer runs.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where to write; else runs/STUDY.")] = None,
) -> None:
    """Run a paper's experiments again, and write its tables with ours beside them."""
    studies = [module.name for module in pkgutil.iter_modules(importlib.import_module("tapete.studies").__path__)]
    if study not in studies:
        raise TapeteError(f"there is no study {study!r}; there are {', '.join(studies)}")
    module = importlib.import_module(f"tapete.studies.{study}")
    module.run(out or Path("runs") / study, row=row, quick=quick, say=print)


Peers = Annotated[bool, typer.Option("--peers", help="Measure other people's code too, in the same run.")]
Case = Annotated[str, typer.Option(help="Only the cases whose name contains this.")]
Seconds = Annotated[float, typer.Option(min=0.01, max=60, help="How long each measurement takes.")]


@bench_app.command("sim")
def bench_sim(peers: Peers = False, case: Case = "", seconds: Seconds = 1.0, as_json: Json = False) -> None:
    """Random play: decisions and steps a second on one core."""
    from tapete.bench import sim

    _report(sim.run(rivals=peers, case=case, seconds=seconds), as_json)


@bench_app.command("solve")
def bench_solve(peers: Peers = False, case: Case = "", seconds: Seconds = 1.0, as_json: Json = False) -> None:
    """Solving: iterations of CFR+ and Monte Carlo CFR a second on one core."""
    from tapete.bench import solve

    _report(solve.run(rivals=peers, case=case, seconds=seconds), as_json)


def _report(rows: Any, as_json: bool) -> None:
    """Prints the rows of a benchmark, as they come or as JSON at the end."""
    if as_json:
        print(json.dumps([row.to_json() for row in rows], indent=2))
        return
    layout = "{:28} {:22} {:>14} {:>14} {:>10}"
    print(layout.format("case", "peer", "ours a second", "theirs", "ratio"))
    for row in rows:
        theirs = "" if row.theirs is None else f"{row.theirs:,.0f}"
        ratio = "" if row.ratio is None else f"{row.ratio:,.1f}x"
        print(layout.format(row.case, row.peer or "", f"{row.ours:,.0f}", theirs, ratio), flush=True)


def _ask_game(console: Console) -> str:
    names = _playable()
    for i, name in enumerate(names):
        console.print(f"{i + 1:3} {name:14} {make(name).spec.title}", highlight=False)
    try:
        text = console.input("which game? ").strip()
    except EOFError:
        raise TapeteError("no game was chosen; write it as in: tapete play truco") from None
    return names[int(text) - 1] if text.isdecimal() and 1 <= int(text) <= len(names) else text


def _playable() -> list[str]:
    """Games that can be played without saying more, which one from a file can't."""
    return sorted(name for name, variant in variants().items() if not needs_parameters(variant.spec))
