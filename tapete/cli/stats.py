"""`tapete stats`: what hand histories tell about the players of hold'em."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tapete.cli.app import Json, app
from tapete.core import TapeteError

if TYPE_CHECKING:
    from tapete.games.holdem.histories import Problem
    from tapete.games.holdem.histories.statistics import Book

TOLD = 20  # problems that are told one by one
WIDEST = 1000  # characters of a line
SHOWN = 20  # players, and starting hands of one


@app.command()
def stats(
    files: Annotated[list[Path], typer.Argument(help="Hand histories: .txt (PokerStars, fixed limit) or .phhs (PHH).")],
    player: Annotated[str, typer.Option(help="Tell more of this player: by position, starting hands, results.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write a report to this folder: HTML and plots.")] = None,
    as_json: Json = False,
) -> None:
    """Tell how hold'em players play, from hand histories of any origin: VP$IP, PFR, AF, ... and what they win.

    A hand that can't be read is named by its number and line, and left out.
    """
    from tapete.core.plots import check_plots
    from tapete.games.holdem.histories import format_of, read
    from tapete.games.holdem.histories.statistics import Book

    if out:
        check_plots()
    for file in files:
        format_of(file)
    book, problems = Book(), 0

    def notice(problem: Problem) -> None:
        nonlocal problems
        problems += 1
        if problems <= TOLD:
            print(f"tapete: left out: {file}: {problem}", file=sys.stderr)

    for file in files:
        for hand in read(file, notice):
            book.add(hand)
    if problems > TOLD:
        print(f"tapete: left out: {problems:,} in all", file=sys.stderr)
    if not book.hands:
        raise TapeteError("there is no hand in these files that can be read")
    if player and player not in book.players:
        raise TapeteError(f"nobody is called {player!r} there; there are {', '.join(sorted(book.players)[:SHOWN])}")
    if out:
        from tapete.terminal.poker import write_report

        print(f"written to {write_report(out, book, player)}", file=sys.stderr)
    if as_json:
        print(json.dumps(_plain(book, player, problems)))
    else:
        _show(book, player)


def _plain(book: Book, player: str, problems: int) -> dict[str, object]:
    data: dict[str, object] = {
        "hands": book.hands,
        "left_out": problems,
        "players": {name: statistics.figures() for name, statistics in sorted(book.players.items())},
    }
    if player:
        data["positions"] = {
            position: statistics.figures() for (name, position), statistics in book.positions.items() if name == player
        }
    return data


def _show(book: Book, player: str) -> None:
    from tapete.terminal.poker import by_position, finals, starts, summary

    tables = [summary(book)]
    if player:
        tables += [by_position(book, player), starts(book.players[player], SHOWN), finals(book.players[player])]
    for rows in tables:
        table = Table(title=rows.title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        for i, name in enumerate(rows.columns):
            table.add_column(name, justify="right" if i else "left", no_wrap=True)
        for row in rows.rows:
            table.add_row(*row)
        # On a narrow terminal lines are folded: figures that are cut off would tell nothing.
        needed = Console(width=WIDEST).measure(table).maximum
        Console(width=max(Console().width, needed)).print(table)
