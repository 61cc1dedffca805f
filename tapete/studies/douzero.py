"""Zha et al. (2021), *DouZero: Mastering DouDizhu with Self-Play Deep Reinforcement Learning*, on two cores.

Two things. The cross table: everybody against everybody, every deal twice with teams swapped, WP and ADP as landlord
and as peasants, beside the paper's figures and those of a repetition of it. And the curves: how strong networks are
after so many frames and hours, one that learns to win (`wp`) and one that learns points (`adp`).

Runs of dmc that lie in `runs` of the study's folder, with networks of theirs in `snapshots`, are drawn beside those
that the study makes itself.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tapete import learn
from tapete.agents import NotForThisGame
from tapete.agents.compiled import Seated, seated
from tapete.arena.teams import TeamResult, team_result
from tapete.core import Rng, TapeteError, make
from tapete.core.arrays import read_arrays
from tapete.core.players import play
from tapete.core.plots import check_plots, picture
from tapete.core.sheets import Table, write_csv, write_sheets
from tapete.learn.run import CHECKPOINT, FILES, Description, read_metrics
from tapete.scale import Executor

TITLE = "DouZero 2021: Deep Monte Carlo on two cores"
GAME = "doudizhu"
TEAMS = ("landlord", "peasants")
PARTS = ("curves", "table")
OBJECTIVES = ("wp", "adp")
KNOBS = ("every=20",)  # that are not as usual: curves need lines
SEED = 1  # of the deals
FEWEST = 4  # points that a line is drawn through
LINEUPS = ((0, 1, 1), (1, 0, 0))
Say = Callable[[str], None]
Pair = tuple[float, float]  # as landlord, as peasants


@dataclass(frozen=True)
class Scale:
    """How much is done."""

    deals: int  # of a pair of the cross table; each is two games
    curve_deals: int  # of a point of a curve
    asked: int  # times fewer where somebody is asked in Python, move by move
    minutes: float  # of each training
    snapshots: int  # of each training, twice as late each


FULL = Scale(deals=10_000, curve_deals=2000, asked=10, minutes=5, snapshots=5)
QUICK = Scale(deals=50, curve_deals=50, asked=5, minutes=1, snapshots=2)


class Theirs(NamedTuple):
    """What was published of a pair."""

    wp: Pair
    adp: Pair


PAPER = {  # the agent of the row, the one it plays against
    ("dmc", "dmc"): Theirs((0.4159, 0.5841), (-0.435, 0.435)),
    ("dmc", "rlcard"): Theirs((0.8695, 0.9089), (2.222, 2.354)),
    ("dmc", "random"): Theirs((0.9858, 0.9920), (3.254, 2.818)),
    ("rlcard", "dmc"): Theirs((0.0911, 0.1305), (-2.354, -2.222)),
    ("rlcard", "rlcard"): Theirs((0.4465, 0.5535), (-0.266, 0.266)),
    ("rlcard", "random"): Theirs((0.9314, 0.9539), (2.630, 2.312)),
    ("random", "dmc"): Theirs((0.0080, 0.0142), (-2.818, -3.254)),
    ("random", "rlcard"): Theirs((0.0461, 0.0686), (-2.312, -2.629)),
    ("random", "random"): Theirs((0.3461, 0.6539), (-0.883, 0.883)),
}
REPEAT = {  # by whoever repeated it on four V100 in twenty days
    ("dmc", "dmc"): Theirs((0.4146, 0.5854), (-0.5046, 0.5046)),
    ("dmc", "rlcard"): Theirs((0.8391, 0.8740), (2.2212, 2.4672)),
    ("dmc", "random"): Theirs((0.9817, 0.9917), (3.2052, 2.8344)),
}
AGENTS = ("dmc", "rules", "rlcard", "random")


class Point(NamedTuple):
    """How strong a network of a run was."""

    run: str
    objective: str
    frames: int
    hours: float
    against: str
    landlord: TeamResult
    peasants: TeamResult


class Entry(NamedTuple):
    """A pair of the cross table."""

    agent: str
    against: str
    landlord: TeamResult
    peasants: TeamResult


def run(out: Path, *, row: str = "", quick: bool = False, say: Say = print, executor: Executor | None = None) -> None:
    """Trains, plays, and writes results.json, README.md, tables and plots into a folder."""
    if row not in ("", *PARTS):
        raise TapeteError(f"there is no row {row!r}; there are {', '.join(PARTS)}")
    check_plots()
    scale = QUICK if quick else FULL
    began = time.perf_counter()
    points, entries = _known(out)
    if row in ("", "curves"):
        for objective in OBJECTIVES:
            train(out / "runs" / objective, objective, scale, say, executor)
        points = list(curves(out / "runs", scale, say))
    if row in ("", "table"):
        entries = list(cross(scale, _best(out / "runs"), say))
    write(out, points, entries, time.perf_counter() - began)
    say(f"written to {out}/README.md")


def train(folder: Path, objective: str, scale: Scale, say: Say, executor: Executor | None) -> None:
    """A run of its own, with a snapshot after every doubling of its time; what is there already is not done again."""
    for i in range(scale.snapshots):
        until = 60 * scale.minutes / 2 ** (scale.snapshots - 1 - i)
        frames, spent = _progress(folder)
        while frames == 0 or spent < until:  # in its first seconds it may be busy compiling
            _go_on(folder, objective, max(until - spent, 1.0), executor)
            frames, spent = _progress(folder)
            (folder / "snapshots").mkdir(exist_ok=True)
            shutil.copy(folder / FILES.network, folder / "snapshots" / f"{frames}.safetensors")
            say(f"{objective}: {frames:,} frames in {spent / 60:.1f} minutes")
    (folder / "snapshots" / "0.safetensors").unlink(missing_ok=True)


def _go_on(folder: Path, objective: str, seconds: float, executor: Executor | None) -> None:
    game, config = make(GAME), learn.configure("dmc", [f"objective={objective}", *KNOBS])
    here, threads = (folder / FILES.config).exists(), os.cpu_count() or 1
    task = learn.Run(folder, "dmc", game, config, resume=here, seconds=seconds, threads=threads, executor=executor)
    try:
        learn.learner("dmc").training()(game, config, task)
    finally:
        task.close()


def _progress(folder: Path) -> tuple[int, float]:
    """Frames and seconds of a run so far."""
    if not (folder / FILES.checkpoint).exists():
        return 0, 0.0
    notes = read_arrays(folder / FILES.checkpoint, CHECKPOINT)[1]["notes"]
    return int(notes["frames"]), float(notes["seconds"])


def curves(runs: Path, scale: Scale, say: Say) -> Iterator[Point]:
    """Every snapshot of every run against everybody who is no network."""
    for folder in sorted(path for path in runs.iterdir() if (path / "snapshots").is_dir()):
        objective = str(Description.read(folder).config.get("objective"))
        lines = [(0.0, 0.0)] + [(line["frames"], line["seconds"]) for line in read_metrics(folder)]
        for file in sorted((folder / "snapshots").glob("*.safetensors"), key=lambda path: int(path.stem)):
            frames = int(file.stem)
            hours = float(np.interp(frames, *np.transpose(lines))) / 3600
            for name in AGENTS[1:]:
                if (other := _sit(name)) is None:
                    continue
                won = judge(seated(str(file), make(GAME)), other, scale.curve_deals, scale.asked)
                point = Point(folder.name, objective, frames, hours, name, *won)
                say(f"{folder.name} {frames:>12,} frames {hours:.2f} h, {_told(point)}")
                yield point


def cross(scale: Scale, best: Path | None, say: Say) -> Iterator[Entry]:
    """Everybody against everybody and himself, all on the same deals."""
    sitting = {name: _sit(str(best) if name == "dmc" and best else name) for name in AGENTS}
    there = {name: agent for name, agent in sitting.items() if agent}
    names = list(there)
    for i, j in product(range(len(names)), repeat=2):
        if i <= j:
            won = judge(there[names[i]], there[names[j]], scale.deals, scale.asked)
            entry = Entry(names[i], names[j], *won)
            say(_told(entry))
            yield entry


def _sit(agent: str) -> Seated | None:
    """An agent at the table; None where it can't be had here."""
    try:
        return seated(agent, make(GAME))
    except NotForThisGame:
        return None
    except TapeteError as error:
        if "no agent" in str(error) or "no network" in str(error) or "not installed" in str(error):
            return None
        raise


def judge(a: Seated, b: Seated, deals: int, asked: int = 1) -> tuple[TeamResult, TeamResult]:
    """What A wins as landlord and as peasants. Deals are those of the seed, and the same for everybody."""
    is_quick, players = a.is_compiled and b.is_compiled, [a.player, b.player]
    deals, threads = (deals, os.cpu_count() or 1) if is_quick else (max(1, deals // asked), 1)
    paid = play(make(GAME), players, deals, Rng(SEED, "douzero"), lineups=LINEUPS, threads=threads).returns
    for agent in (a, b):
        if agent.asked:
            agent.asked.check()
    landlord, peasants = paid[:, 0, 0], paid[:, 1, 1] + paid[:, 1, 2]
    return team_result(landlord[:, None].tolist()), team_result(peasants[:, None].tolist())


def _best(runs: Path) -> Path | None:
    """The network of the run that has learned longest, where none ships."""
    if _sit("dmc") is not None or not runs.is_dir():
        return None
    found = [path for folder in runs.iterdir() for path in (folder / "snapshots").glob("*.safetensors")]
    return max(found, key=lambda path: int(path.stem), default=None)


def _told(what: Point | Entry) -> str:
    who = what.agent if isinstance(what, Entry) else "it"
    landlord, peasants = what.landlord, what.peasants
    wins = f"WP {landlord.wp:.3f} / {peasants.wp:.3f}"
    return f"{who} against {what.against}: {wins}, ADP {landlord.adp:+.3f} / {peasants.adp:+.3f}"


# ---- what is written


def write(out: Path, points: Sequence[Point], entries: Sequence[Entry], seconds: float) -> None:
    """The results as JSON, CSV, a spreadsheet and Markdown, and the plots."""
    out.mkdir(parents=True, exist_ok=True)
    data = {"curves": list(map(_plain, points)), "table": list(map(_plain, entries))}
    (out / "results.json").write_text(json.dumps(data, indent=1) + "\n")
    tables = {"table": _rows(entries), "curves": _rows(points)}
    for name, table in tables.items():
        if len(table) > 1:
            write_csv(out / f"{name}.csv", table)
    write_sheets(out / "douzero.ods", {name: table for name, table in tables.items() if len(table) > 1})
    (out / "README.md").write_text("\n".join(_markdown(points, entries, seconds)) + "\n")
    for measure in ("wp", "adp"):
        if points:
            plot(out / f"{measure}.png", points, measure)


def _plain(what: Point | Entry) -> dict[str, Any]:
    return {**what._asdict(), **{team: getattr(what, team).to_json() for team in TEAMS}}


def _known(out: Path) -> tuple[list[Point], list[Entry]]:
    """What the study has found before: a part that is not asked for stays as it was."""
    if not (out / "results.json").exists():
        return [], []
    data = json.loads((out / "results.json").read_text())

    def won(entry: dict[str, Any]) -> dict[str, Any]:
        return {**entry, **{team: TeamResult(**entry[team]) for team in TEAMS}}

    return [Point(**won(entry)) for entry in data["curves"]], [Entry(**won(entry)) for entry in data["table"]]


def _rows(found: Sequence[Point | Entry]) -> Table:
    """A line for each, intervals in columns of their own."""
    if not found:
        return [[]]
    head = [name for name in found[0]._fields if name not in TEAMS]
    figures = ("games", "wp", "wp_low", "wp_high", "adp", "adp_low", "adp_high")
    lines: list[list[Any]] = [[*head, *(f"{team}_{figure}" for team in TEAMS for figure in figures)]]
    for what in found:
        line = [getattr(what, name) for name in head]
        for team in TEAMS:
            won: TeamResult = getattr(what, team)
            line += [won.games, won.wp, *won.wp_interval, won.adp, *won.adp_interval]
        lines.append(line)
    return lines


def _markdown(points: Sequence[Point], entries: Sequence[Entry], seconds: float) -> Iterator[str]:
    yield f"# {TITLE}\n"
    yield f"Made by `tapete reproduce douzero`, the last part in {seconds:.0f} seconds on {os.cpu_count()} cores."
    yield "Every deal is played twice with teams swapped; all figures are as landlord / as peasants, intervals at 95 %."
    yield "`dmc` is the agent that ships or, where none does, the longest run of the study. The paper's is DouZero"
    yield "after 30 days on 48 cores and 4 GPUs, repeated by somebody else in 20 days on 4 V100."
    yield "Everything is also in `table.csv`, `curves.csv` and the spreadsheet `douzero.ods`.\n"
    if entries:
        yield "| agent | against | deals | WP, 95 % | the paper's | repeated | ADP, 95 % | the paper's | repeated |"
        yield "|---|---|---|---|---|---|---|---|---|"
        yield from map(_line, entries)
    if points:
        yield from _curves_in_words(points)


def _line(entry: Entry) -> str:
    both = entry.landlord, entry.peasants
    wp = " / ".join(f"{won.wp:.3f} ({won.wp_interval[0]:.3f} to {won.wp_interval[1]:.3f})" for won in both)
    adp = " / ".join(f"{won.adp:+.3f} ({won.adp_interval[0]:+.3f} to {won.adp_interval[1]:+.3f})" for won in both)
    theirs = [known.get((entry.agent, entry.against)) for known in (PAPER, REPEAT)]
    wps = ["{:.3f} / {:.3f}".format(*each.wp) if each else "-" for each in theirs]
    adps = ["{:+.3f} / {:+.3f}".format(*each.adp) if each else "-" for each in theirs]
    cells = (entry.agent, entry.against, f"{entry.landlord.games:,}", wp, *wps, adp, *adps)
    return f"| {' | '.join(cells)} |"


def _curves_in_words(points: Sequence[Point]) -> Iterator[str]:
    yield "\n## Strength against frames and hours\n"
    yield "A frame is a decision with a choice. The last network of each run, and where the line (logit of WP over the"
    yield "logarithm of frames) through all networks with its objective would be after ten times the frames: a guess.\n"
    yield "| run | objective | frames | hours | against | WP | ADP | WP after 10 times the frames |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, against in dict.fromkeys((point.run, point.against) for point in points):
        last = [point for point in points if (point.run, point.against) == (name, against)][-1]
        alike = [point for point in points if (point.objective, point.against) == (last.objective, against)]
        is_longest = last.frames == max(point.frames for point in alike)
        guesses = [foresee(alike, team) if is_longest else None for team in TEAMS]
        guess = " / ".join("-" if share is None else f"{share:.3f}" for share in guesses)
        wp = f"{last.landlord.wp:.3f} / {last.peasants.wp:.3f}"
        adp = f"{last.landlord.adp:+.3f} / {last.peasants.adp:+.3f}"
        figures = (name, last.objective, f"{last.frames:,}", f"{last.hours:.2f}", against, wp, adp, guess)
        yield f"| {' | '.join(figures)} |"
    yield "\n![WP against frames and hours](wp.png)\n"
    yield "![ADP against frames and hours](adp.png)"


def foresee(points: Sequence[Point], team: str, times: float = 10.0) -> float | None:
    """WP after so many times the frames of the longest, by all that have a hundredth of them; None for too few."""
    most = max(point.frames for point in points)
    later = [point for point in points if 100 * point.frames >= most]
    if len(later) < FEWEST:
        return None
    frames = np.log([point.frames for point in later])
    shares = [min(max(getattr(point, team).wp, 0.001), 0.999) for point in later]
    slope, height = np.polyfit(frames, [math.log(share / (1 - share)) for share in shares], 1)
    return float(1 / (1 + math.exp(-(height + slope * math.log(times * most)))))


def plot(path: Path, points: Sequence[Point], measure: str) -> None:
    """A row for each team: over frames, and over hours; a line for each run and opponent."""
    with picture(path, 2, 2, size=(11, 7.5), sharey="row") as axes:
        for (i, team), (j, over) in product(enumerate(TEAMS), enumerate(("frames", "hours"))):
            axis = axes[i][j]
            for k, (name, against) in enumerate(dict.fromkeys((point.run, point.against) for point in points)):
                own = [point for point in points if (point.run, point.against) == (name, against)]
                x = [getattr(point, over) for point in own]
                won = [getattr(point, team) for point in own]
                y = [getattr(each, measure) for each in won]
                ends = [getattr(each, f"{measure}_interval") for each in won]
                axis.plot(x, y, ".-", color=f"C{k}", label=f"{name} against {against}")
                axis.fill_between(x, *zip(*ends, strict=True), color=f"C{k}", alpha=0.15)
            axis.set(xscale="log", xlabel=over, ylabel=f"{measure.upper()} as {team}")
            axis.grid(alpha=0.3)
        axes[0][0].legend(fontsize="small")
