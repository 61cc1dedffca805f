"""Rojas (2020), *Algoritmos para Juegos con Información Incompleta y No Determinismo*: both of its experiments.

The first plays matrix games by three procedures of regret matching until the regret is below 0.005, ten times each. The
second solves one-card poker, Dudo and Dominó; the paper gave each game 10 hours, some 200.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import Any

from tapete.core import Rng, TapeteError, make
from tapete.core.plots import picture
from tapete.games.matrix import payoffs
from tapete.scale import Executor, Job, Serial
from tapete.solve import Progress, solve
from tapete.solve.linear import solve_matrix
from tapete.solve.matching import Procedure, match

TITLE = "Rojas 2020: regret matching and CFR"
BOUND = 0.005
UNTIL = 1e-3
QUICK = ("ocp(50)", "dudo(4,1,1)", "dudo(4,1,2)", "dudo(5,1,1)", "domino(2,2)", "domino(3,2)")
Say = Callable[[str], None]
Point = tuple[int, float, float]


@dataclass(frozen=True)
class Theirs:
    """A row of the paper's second table."""

    game: str
    histories: int
    infosets: int
    value: float
    percent: float  # exploitability
    hours: int = 10


SOLVED = [
    Theirs("ocp(3)", 55, 12, -0.056, 0.0098),
    Theirs("ocp(12)", 1_189, 48, -0.062, 0.0032),
    Theirs("ocp(50)", 22_051, 200, -0.058, 0.0099),
    Theirs("ocp(200)", 358_201, 800, -0.056, 0.0078),
    Theirs("ocp(1000)", 8_991_001, 4_000, -0.056, 0.0098),
    Theirs("ocp(5000)", 224_955_001, 20_000, -0.056, 0.0241),
    Theirs("dudo(4,1,1)", 8_177, 512, -0.125, 0.0259),
    Theirs("dudo(4,1,2)", 327_641, 14_336, -0.508, 0.0971),
    Theirs("dudo(4,2,1)", 327_641, 14_336, 0.552, 0.3701),
    Theirs("dudo(4,2,2)", 13_107_101, 327_680, 0.00875, 0.2382, 200),
    Theirs("dudo(5,1,1)", 51_176, 2_560, -0.120, 0.1186),
    Theirs("dudo(5,1,2)", 4_915_126, 163_840, -0.565, 0.6197),
    Theirs("dudo(5,2,1)", 4_915_126, 163_840, 0.581, 1.22),
    Theirs("dudo(5,2,2)", 471_858_976, 7_864_320, -0.00004, 1.7695, 200),
    Theirs("dudo(6,1,1)", 294_877, 12_288, -0.111, 0.0975),
    Theirs("dudo(6,1,2)", 66_060_163, 1_769_472, -0.597, 0.5102, 200),
    Theirs("dudo(6,2,1)", 66_060_163, 1_769_472, 0.597, 0.6727, 200),
    Theirs("domino(2,2)", 7_321, 102, 2.4, 0.0),
    Theirs("domino(3,2)", 46_534_657, 88_947, 2.8767, 0.0315),
    Theirs("domino(3,3)", 246_760_993, 107_854, 2.1539, 0.3854),
    Theirs("domino(3,4)", 1_547_645_185, 104_050, 3.2027, 0.1812, 200),
]

# Seconds and iterations of the paper's first table, by game and procedure.
MATCHED: dict[str, tuple[float, dict[Procedure, tuple[float, float]]]] = {
    "rps": (
        0,
        {"conditional": (12.198, 4_519_054.1), "invariant": (0.345, 6_601.3), "unconditional": (0.049, 19_321.1)},
    ),
    "pennies": (
        0,
        {"conditional": (10.276, 3_892_550.4), "invariant": (0.777, 25_616.6), "unconditional": (0.042, 16_260.5)},
    ),
    "token_domino": (
        1 / 3,
        {"conditional": (319.179, 108_319_272.4), "invariant": (11.275, 75_250.2), "unconditional": (0.237, 84_318.5)},
    ),
    "blotto(5,3)": (
        0,
        {"conditional": (875.533, 190_222_305.3), "invariant": (70.453, 58_794.4), "unconditional": (0.166, 48_613.5)},
    ),
}


@dataclass(frozen=True, kw_only=True)
class MatchedRow:
    """Ours and theirs of one game and procedure: means over all runs."""

    game: str
    procedure: str
    value: float  # by linear programming
    gain: float  # expected, by the empirical strategies
    exploitability: float
    iterations: float
    seconds: float
    their_iterations: float
    their_seconds: float
    curve: list[Point]  # of the first run: iterations, seconds, regret

    @property
    def times_less(self) -> float:
        """How many times less an iteration takes than theirs did, on their machine."""
        return (self.their_seconds / self.their_iterations) / (self.seconds / self.iterations)


@dataclass(frozen=True, kw_only=True)
class SolvedRow:
    """Ours of one game, and theirs."""

    theirs: Theirs
    ours: dict[str, Any]
    curve: list[Point]  # iterations, seconds, exploitability

    @property
    def agrees(self) -> bool:
        """Whether their value is inside our interval, widened by their exploitability and by their rounding."""
        slack = self.theirs.percent / 100 + 0.0005
        return bool(self.ours["lower"] - slack <= self.theirs.value <= self.ours["upper"] + slack)


def run(out: Path, *, row: str = "", quick: bool = False, say: Say = print, executor: Executor | None = None) -> None:
    """Runs the experiments and writes results.json, README.md and the plots into a folder."""
    rows = [theirs for theirs in SOLVED if theirs.game == row or (not row and (not quick or theirs.game in QUICK))]
    games = [game for game in MATCHED if row in ("", game)]
    if not rows and not games:
        raise TapeteError(f"there is no row {row!r}; there are {', '.join([*MATCHED, *(r.game for r in SOLVED)])}")
    began = time.perf_counter()
    matched = list(play_matrices(games, 1 if quick else 10, say))
    with tempfile.TemporaryDirectory() as folder:  # nothing that was solved before makes a row look faster
        solved = list(solve_games(rows, Path(folder), say, executor))
    write(out, matched, solved, time.perf_counter() - began)
    say(f"written to {out}/README.md")


def play_matrices(games: list[str], runs: int, say: Say) -> Iterator[MatchedRow]:
    """The first experiment."""
    for name in games:
        value, procedures = MATCHED[name]
        first, second = payoffs(make(name))
        solution = solve_matrix(first, second)
        if abs(solution.value - value) > 1e-9:
            raise AssertionError(f"{name} is worth {solution.value} by linear programming, {value} in the paper")
        for procedure, (seconds, iterations) in procedures.items():
            results = [match((first, second), procedure, Rng(name, procedure, i), bound=BOUND) for i in range(runs)]
            result = MatchedRow(
                game=name,
                procedure=procedure,
                value=solution.value,
                gain=statistics.mean(float(r.x @ first @ r.y) for r in results),
                exploitability=statistics.mean(r.exploitability for r in results),
                iterations=statistics.mean(r.iterations for r in results),
                seconds=statistics.mean(r.seconds for r in results),
                their_iterations=iterations,
                their_seconds=seconds,
                curve=[(point.iterations, point.seconds, point.regret) for point in results[0].history],
            )
            say(f"{name:14} {procedure:14} {result.seconds:9.4f} s  {result.iterations:12,.0f} iterations")
            yield result


def solve_games(rows: list[Theirs], folder: Path, say: Say, executor: Executor | None = None) -> Iterator[SolvedRow]:
    """The second experiment. Rows are timed, so those that are solved on this machine are so one after another."""
    job = Job(f"{__name__}:open_solving", {"folder": "" if executor and not executor.is_here else str(folder)})
    where = executor if executor and not executor.is_here else Serial()
    found = {}
    for i, row in where.spread(job, rows):
        ours = row.ours
        say(
            f"{row.theirs.game:12} {ours['seconds']:8.2f} s  value {ours['lower']:.6f} to {ours['upper']:.6f}"
            f"  e {ours['exploitability_percent']:.4f} %"
        )
        found[i] = row
    yield from (found[i] for i in range(len(rows)))


def open_solving(stop: Event, *, folder: str) -> Callable[[Theirs], SolvedRow]:
    """What solves a game; solutions of games that follow it go to the folder, or where there is none to one of ours."""

    def solve_one(theirs: Theirs) -> SolvedRow:
        curve: list[Point] = []

        def watch(progress: Progress) -> None:
            if progress.game == theirs.game:
                curve.append((progress.iterations, progress.seconds, progress.proof.exploitability))

        with nullcontext(folder) if folder else tempfile.TemporaryDirectory() as place:
            progress, _ = solve(make(theirs.game), until=UNTIL, folder=Path(place), watch=watch)
        return SolvedRow(theirs=theirs, ours=progress.to_json(), curve=curve)

    return solve_one


def write(out: Path, matched: list[MatchedRow], solved: list[SolvedRow], seconds: float) -> None:
    """The tables as Markdown and JSON, and the plots."""
    out.mkdir(parents=True, exist_ok=True)
    data = {
        "seconds": seconds,
        "matching": [{**asdict(row), "times_less": row.times_less} for row in matched],
        "solving": [{**asdict(row), "agrees": row.agrees} for row in solved],
    }
    (out / "results.json").write_text(json.dumps(data, indent=1))
    (out / "README.md").write_text("\n".join(_markdown(matched, solved, seconds)) + "\n")
    if matched:
        plot(out / "regret.png", "regret", BOUND, {f"{row.game}, {row.procedure}": row.curve for row in matched})
    if solved:
        curves = {row.theirs.game: [(n, t, 100 * e) for n, t, e in row.curve] for row in solved}
        plot(out / "exploitability.png", "exploitability, %", 100 * UNTIL, curves)


def _markdown(matched: list[MatchedRow], solved: list[SolvedRow], seconds: float) -> Iterator[str]:
    yield f"# {TITLE}\n"
    yield f"Made by `tapete reproduce rojas` in {seconds:.0f} seconds on {os.cpu_count()} cores. Theirs: the paper's.\n"
    if matched:
        yield "## Regret matching until the regret is below 0.005\n"
        yield "Means over the runs. The value is by linear programming, the gain by the empirical strategies.\n"
        yield "| game | procedure | value | gain | exploitable | iterations | theirs | seconds | theirs | iteration |"
        yield "|---|---|---|---|---|---|---|---|---|---|"
        for row in matched:
            yield (
                f"| {row.game} | {row.procedure} | {row.value:.4f} | {row.gain:.4f} | {row.exploitability:.4f} "
                f"| {row.iterations:,.0f} | {row.their_iterations:,.0f} | {row.seconds:.4g} | {row.their_seconds:.4g} "
                f"| {row.times_less:,.0f}x less |"
            )
        yield "\n![Regret against iterations and time](regret.png)\n"
    if solved:
        yield "## One-card poker, Dudo and Dominó\n"
        yield "N: histories; I: information sets with a choice; u: value to the first player, between two best"
        yield "responses; e: exploitability, what both best responses gain, in % of the smallest gain. Dudo's later"
        yield "rounds are solved too and are counted in e and in the time; a row profits from those above it. The paper"
        yield "counts every order of Dominó's boneyard in N, we merge them; a test of the game derives its numbers.\n"
        yield "| game | N | I | u | theirs | e % | theirs | seconds | theirs | u agrees |"
        yield "|---|---|---|---|---|---|---|---|---|---|"
        for entry in solved:
            ours, theirs = entry.ours, entry.theirs
            yield (
                f"| {theirs.game} | {_both(ours['histories'], theirs.histories)} "
                f"| {_both(ours['information_sets'], theirs.infosets)} "
                f"| {ours['lower']:.5f} to {ours['upper']:.5f} | {theirs.value:g} "
                f"| {ours['exploitability_percent']:.4f} | {theirs.percent:g} "
                f"| {ours['seconds']:.2f} | {theirs.hours} hours | {'yes' if entry.agrees else 'no'} |"
            )
        yield "\n![Exploitability against iterations and time](exploitability.png)"


def _both(ours: int, theirs: int) -> str:
    return f"{ours:,}" if ours == theirs else f"{ours:,} (theirs {theirs:,})"


def plot(path: Path, what: str, line: float, curves: dict[str, list[Point]]) -> None:
    """Curves against iterations and against time, on logarithmic scales, with a line at what is aimed for."""
    with picture(path, 2, size=(13, 6), sharey=True) as axes:
        _draw(axes, what, line, curves)


def _draw(axes: Any, what: str, line: float, curves: dict[str, list[Point]]) -> None:
    from matplotlib import colormaps

    colours = colormaps["tab20"]
    for i, (label, points) in enumerate(curves.items()):
        shown = [point for point in points if min(point) > 0]
        if shown:
            iterations, seconds, heights = zip(*shown, strict=True)
            style = {"label": label, "color": colours(i % 20), "linestyle": "-" if i < 20 else "--"}
            axes[0].plot(iterations, heights, **style)
            axes[1].plot(seconds, heights, **style)
    for axis, scale in zip(axes, ("iterations", "seconds"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel=scale)
        axis.axhline(line, color="grey", linewidth=0.8, linestyle=":")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(what)
    axes[1].legend(fontsize=7, ncol=2)
