"""The command line. Wrong input gets one line that says what is wrong and what would be right, and exit status 2."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import os
import pkgutil
import secrets
import sys
import time
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tapete.core import Game, TapeteError, make, variants
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
    _mend_streams()
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
    except UsageError as error:
        if not error.format_message():  # help was shown, because nothing was asked for
            raise SystemExit(2) from None
        _fail(f"{error.format_message().rstrip().rstrip('.')}; `tapete --help` tells how it goes")
    except TapeteError as error:
        _fail(str(error))
    except (typer.Abort, KeyboardInterrupt):
        _fail("stopped", status=130)
    except BrokenPipeError:  # who read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        _fail(str(error))
    except MemoryError:
        _fail("there is not enough memory for this")
    raise SystemExit(status or 0)


def _mend_streams() -> None:
    """Closed ones become empty; what can't be read, or written where the signs of cards are missing, is replaced."""
    sys.stdin, sys.stdout = sys.stdin or open(os.devnull), sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(text: str, status: int = 2) -> NoReturn:
    print(f"tapete: {' '.join(text.split())}", file=sys.stderr)
    raise SystemExit(status) from None


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

    console = Console()
    rules = make(game) if game else _ask_game(console)
    path = saved_game(rules)
    if new or not path.exists():
        sitting = Sitting.begin(
            rules, seat or 0, "random" if against is None else against, secrets.randbits(63) if seed is None else seed
        )
    else:
        sitting = Sitting.load(path)
        if str(sitting.state.game) != str(rules) or not sitting.is_wanted(seat, against, seed):
            raise TapeteError(
                f"another game waits in {path}; `tapete play '{rules}'` goes on with it, --new begins anew"
            )
        console.print("going on with the game that was left in the middle; --new begins another", style="dim")
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
    checkpoint_every: Annotated[float, typer.Option(min=0, help="Seconds between notes of where a run is.")] = 120,
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
        progress, table = solve_game(
            make(game),
            algorithm=algorithm or DEFAULT,
            until=read_share(until),
            seconds=seconds,
            iterations=iterations,
            threads=threads,
            save=save,
            resume=resume,
            checkpoint_every=checkpoint_every,
            watch=watch,
        )
    if as_json:
        print(json.dumps(progress.to_json()))
    else:
        watch.conclude(progress, table, save)


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


@bench_app.command("schemes")
def bench_schemes(as_json: Json = False) -> None:
    """Which member of the CFR family is the first at a given exploitability; the page docs/schemes.md."""
    from tapete.bench import schemes

    entries = schemes.run()
    if as_json:
        print(json.dumps(list(entries), indent=2))
        return
    for line in schemes.markdown(entries):
        print(line, flush=True)


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


def _ask_game(console: Console) -> Game:
    """Shows the games, those that last longest first, and asks for one until it gets a good answer."""
    from tapete.terminal.play import read_number
    from tapete.terminal.sitting import saved_game

    known = sorted(map(make, _playable()), key=lambda game: -game.spec.longest)
    for i, game in enumerate(known, start=1):
        waits = "   (left in the middle)" if saved_game(game).exists() else ""
        console.print(f"{i:3} {game!s:14} {game.spec.title}{waits}", highlight=False)
    while True:
        try:
            text = console.input("which game? ").strip()
            number = read_number(text, len(known))
            return known[number - 1] if number else make(text)
        except EOFError:
            raise TapeteError("no game was chosen; write it as in: tapete play truco") from None
        except TapeteError as error:
            console.print(str(error), style="yellow", markup=False, highlight=False)


def _playable() -> list[str]:
    """Games that can be played without saying more, which one from a file can't."""
    return sorted(name for name, variant in variants().items() if not needs_parameters(variant.spec))
