"""Sancho and Fernández (2025), *Búsqueda adversaria para aprender a jugar a Othello*: its matches, with more games.

The paper put a network into the tree of MCTS and let it play 15 games, always with black, against MCTS with random
playouts: with as many iterations as the other, with half and with twice as many. Here every match has hundreds of games
from openings of two random plies, each opening with both colours, for every kind of network that ships. Nobody keeps
his tree from one move to the next: so many iterations are so many, as in the paper.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tapete.agents import load
from tapete.arena import Match, match
from tapete.core import TapeteError, make
from tapete.core.plots import picture
from tapete.scale import Executor

TITLE = "Othello 2025: a network in the tree"
GAMES = 400
QUICK = 20
OPENING = 2  # random plies
LEARNERS = ("mcts-value", "zero", "ntuple")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Theirs:
    """A match of the paper: the network's iterations and the other's, its games, discs and milliseconds a move."""

    ours: int
    others: int
    wins: int = 0
    draws: int = 0
    losses: int = 0
    discs: float = 0.0
    network_ms: float = 0.0
    plain_ms: float = 0.0

    @property
    def row(self) -> str:
        """As `--row` names it."""
        return f"{self.ours}-{self.others}"

    @property
    def win_share(self) -> float | None:
        """Draws count half; None where the paper played no such match."""
        games = self.wins + self.draws + self.losses
        return (self.wins + self.draws / 2) / games if games else None


PAPER = [
    Theirs(80, 80, 10, 0, 5, 5.46, 3100, 30),
    Theirs(50, 100, 9, 2, 4, 5.6, 1420, 59),
    Theirs(100, 50, 12, 0, 3, 14.87, 5100, 28),
    Theirs(100, 100),  # not in the paper
]


@dataclass(frozen=True)
class Row:
    """Ours of one match, and theirs."""

    learner: str
    theirs: Theirs
    wins: int
    draws: int
    losses: int
    win_share: float
    interval: tuple[float, float]
    discs: list[int]  # by which the network was ahead at the end, game by game
    network_ms: float
    plain_ms: float

    @property
    def balance(self) -> float:
        """Discs by which the network was ahead at the end, on the average."""
        return sum(self.discs) / len(self.discs)


def run(out: Path, *, row: str = "", quick: bool = False, say: Say = print, executor: Executor | None = None) -> None:
    """Plays the matches and writes results.json, README.md and the plots into a folder."""
    chosen = [theirs for theirs in PAPER if row in ("", theirs.row)]
    if not chosen:
        raise TapeteError(f"there is no row {row!r}; there are {', '.join(theirs.row for theirs in PAPER)}")
    began = time.perf_counter()
    rows = list(play(chosen, QUICK if quick else GAMES, say, executor))
    write(out, rows, time.perf_counter() - began)
    say(f"written to {out}/README.md")


def play(chosen: list[Theirs], games: int, say: Say, executor: Executor | None) -> Iterator[Row]:
    """Every network that ships in every match."""
    for learner in _shipped():
        for theirs in chosen:
            network, plain = f"{learner}({theirs.ours},keep=false)", f"mcts({theirs.others},keep=false)"
            result = match("othello", network, plain, games=games, openings=OPENING, executor=executor)
            wins, draws, losses = result.results
            ours = Row(
                learner=learner,
                theirs=theirs,
                wins=wins,
                draws=draws,
                losses=losses,
                win_share=result.win_share,
                interval=(result.interval[0], result.interval[1]),
                discs=list(leads(result)),
                network_ms=result.milliseconds[0],
                plain_ms=result.milliseconds[1],
            )
            share = f"{wins}-{draws}-{losses}  {100 * ours.win_share:.1f} %"
            say(f"{network:28} {plain:24} {share}  {ours.balance:+.1f} discs")
            yield ours


def _shipped() -> list[str]:
    found = []
    for learner in LEARNERS:
        try:
            load(learner, make("othello"))
        except TapeteError:
            continue
        found.append(learner)
    return found


def leads(result: Match) -> Iterator[int]:
    """The discs by which the first agent was ahead at the end of each game."""
    for played in result.games:
        state = result.game.replay(list(played.actions))
        black, white = (int(discs).bit_count() for discs in result.game.record(state.data)["discs"])
        yield black - white if played.lineup == "AB" else white - black


def write(out: Path, rows: list[Row], seconds: float) -> None:
    """The tables as Markdown and JSON, and the plots."""
    out.mkdir(parents=True, exist_ok=True)
    data = {"seconds": seconds, "matches": [{**asdict(row), "balance": row.balance} for row in rows]}
    (out / "results.json").write_text(json.dumps(data, indent=1))
    (out / "README.md").write_text("\n".join(_markdown(rows, seconds)) + "\n")
    plot(out, rows)


def _markdown(rows: list[Row], seconds: float) -> Iterator[str]:
    yield f"# {TITLE}\n"
    yield f"Made by `tapete reproduce othello` in {seconds:.0f} seconds on {os.cpu_count()} cores. Theirs: the paper's,"
    yield "15 games a match, always with black. Ours: openings of two random plies, each with both colours. Draws count"
    yield "half in the share. The milliseconds are of a move, two games being played at once.\n"
    measured = ("share, 95 %", "discs", "ms with", "ms without")
    yield f"| network | iterations | won-drawn-lost | {' | '.join(f'{what} | theirs' for what in measured)} |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        theirs = row.theirs
        share = "-" if theirs.win_share is None else f"{100 * theirs.win_share:.0f} %"
        low, high = row.interval
        figures = [
            f"{row.balance:+.1f}",
            f"{theirs.discs:+.1f}",
            f"{row.network_ms:.2g}",
            f"{theirs.network_ms:,.0f}",
            f"{row.plain_ms:.2g}",
            f"{theirs.plain_ms:,.0f}",
        ]
        if theirs.win_share is None:
            figures[1::2] = ["-"] * 3
        yield (
            f"| {row.learner} | {theirs.ours} against {theirs.others} | {row.wins}-{row.draws}-{row.losses} "
            f"| {100 * row.win_share:.1f} % ({100 * low:.1f} to {100 * high:.1f}) | {share} | {' | '.join(figures)} |"
        )
    yield "\n![Shares of games won](shares.png)\n"
    yield "![Discs ahead at the end](discs.png)"


def plot(out: Path, rows: list[Row]) -> None:
    """Shares of games won with their intervals, and how far ahead the games ended; the paper's beside them."""
    pairs = list(dict.fromkeys(row.theirs for row in rows))
    learners = list(dict.fromkeys(row.learner for row in rows))
    width = 0.8 / (len(learners) + 1)
    names = [f"{pair.ours} iterations with,\n{pair.others} without" for pair in pairs]
    for file, draw, middle in (("shares", _draw_shares, 50), ("discs", _draw_discs, 0)):
        with picture(out / f"{file}.png", size=(9, 4.5)) as axis:
            for i, learner in enumerate(learners):
                chosen = [row for row in rows if row.learner == learner]
                draw(axis, [pairs.index(row.theirs) + i * width for row in chosen], width, chosen, f"C{i}")
            for i, pair in enumerate(pairs):
                if pair.win_share is not None:
                    height = 100 * pair.win_share if draw is _draw_shares else pair.discs
                    axis.plot(i + len(learners) * width, height, "D", color="grey", label="" if i else "the paper")
            axis.set_xticks([i + width * len(learners) / 2 for i in range(len(pairs))], names)
            axis.axhline(middle, color="black", linewidth=0.8, linestyle=":")
            axis.legend(loc="lower right")


def _draw_shares(axis: Any, places: list[float], width: float, rows: list[Row], colour: str) -> None:
    shares = [100 * row.win_share for row in rows]
    below = [100 * (row.win_share - row.interval[0]) for row in rows]
    above = [100 * (row.interval[1] - row.win_share) for row in rows]
    axis.bar(places, shares, width, yerr=[below, above], capsize=3, color=colour, label=rows[0].learner)
    axis.set(ylabel="% of games won", ylim=(0, 100))


def _draw_discs(axis: Any, places: list[float], width: float, rows: list[Row], colour: str) -> None:
    discs = [row.discs for row in rows]
    boxes = axis.boxplot(discs, positions=places, widths=0.8 * width, showfliers=False, patch_artist=True)
    for box in boxes["boxes"]:
        box.set_facecolor(colour)
    axis.plot([], [], color=colour, linewidth=6, label=rows[0].learner)
    axis.set_ylabel("discs ahead at the end")
