"""Statistics of hold'em players as tables, and as a report: a page of HTML with plots beside it."""

from __future__ import annotations

import html
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from tapete.core.files import replacing
from tapete.core.plots import picture
from tapete.games.holdem.histories.hand import CENTS
from tapete.games.holdem.histories.statistics import POSITIONS, Book, Result, Statistics
from tapete.games.holdem.ranks import CATEGORIES

BEST = 20  # starting hands of a report
MOST_PLAYERS = 30  # of a table
PAGE = """<!doctype html>
<meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 15px sans-serif; margin: 2em auto; max-width: 70em }}
table {{ border-collapse: collapse; margin: 1em 0 }}
td, th {{ padding: .2em .7em; border-bottom: 1px solid #ccc; text-align: right }} td:first-child {{ text-align: left }}
caption {{ text-align: left; font-weight: bold }} img {{ max-width: 100% }}</style>
<h1>{title}</h1>
{body}
"""


class Rows(NamedTuple):
    """A table."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def _row(name: str, statistics: Statistics) -> list[str]:
    return [
        name,
        *(f"{value:,.2f}" if isinstance(value, float) else f"{value}" for value in statistics.figures().values()),
    ]


def summary(book: Book) -> Rows:
    """All players, who won most first."""
    order = sorted(book.players, key=lambda name: -book.players[name].counts["cents"])[:MOST_PLAYERS]
    columns = ["player", *Statistics().figures()]
    return Rows(f"{book.hands:,} hands", columns, [_row(name, book.players[name]) for name in order])


def by_position(book: Book, player: str) -> Rows:
    """One player, position by position."""
    found = [place for place in POSITIONS if (player, place) in book.positions]
    rows = [_row(place, book.positions[player, place]) for place in found]
    return Rows(f"{player} by position", ["position", *Statistics().figures()], rows)


def _results(title: str, first: str, results: list[tuple[str, Result]]) -> Rows:
    rows = [
        [name, f"{result.times:,}", f"{100 * result.won / result.times:.2f}", f"{result.cents / CENTS:,.2f}"]
        for name, result in results
    ]
    return Rows(title, [first, "times", "won %", "won"], rows)


def starts(statistics: Statistics, most: int = BEST) -> Rows:
    """The starting hands that won most."""
    best = sorted(statistics.starts.items(), key=lambda item: -item[1].cents)[:most]
    return _results("best starting hands", "hand", best)


def finals(statistics: Statistics) -> Rows:
    """What came of each combination, the best first."""
    found = [(name, statistics.finals[name]) for name in reversed(CATEGORIES) if name in statistics.finals]
    return _results("by combination, where a flop was seen", "combination", found)


def _html(rows: Rows) -> str:
    def line(cells: list[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    body = "\n".join(line(row, "td") for row in rows.rows)
    return f"<table><caption>{html.escape(rows.title)}</caption>\n{line(rows.columns, 'th')}\n{body}\n</table>"


def draw_winnings(path: Path, statistics: Statistics, name: str) -> None:
    """Winnings hand by hand: all, at showdowns, and without them."""
    total = list(accumulate(cents / CENTS for cents, _ in statistics.curve))
    shown = list(accumulate(cents / CENTS for _, cents in statistics.curve))
    with picture(path, size=(9, 4.5)) as axis:
        axis.plot(total, color="green", label="all")
        axis.plot(shown, color="blue", label="at a showdown")
        axis.plot([a - b for a, b in zip(total, shown, strict=True)], color="red", label="without one")
        axis.axhline(0, color="black", linewidth=0.8, linestyle=":")
        axis.set(xlabel="hands", ylabel="dollars", title=name)
        axis.legend()


def write_report(folder: Path, book: Book, player: str = "") -> Path:
    """Writes report.html and the plots; of a player, or of those who won and lost most."""
    folder.mkdir(parents=True, exist_ok=True)
    order = sorted(book.players, key=lambda name: -book.players[name].counts["cents"])
    chosen = [player] if player else list(dict.fromkeys([order[0], order[-1]]))
    body = [_html(summary(book))]
    for number, name in enumerate(chosen):
        body += _about(folder, book, name, f"winnings-{number + 1}.png")
    page = folder / "report.html"
    with replacing(page) as draft:
        draft.write_text(PAGE.format(title="Hold'em: how they play", body="\n".join(body)), encoding="utf-8")
    return page


def _about(folder: Path, book: Book, name: str, picture_name: str) -> Iterator[str]:
    statistics = book.players[name]
    draw_winnings(folder / picture_name, statistics, name)
    yield f"<h2>{html.escape(name)}: {statistics.style}</h2>"
    yield f'<img src="{picture_name}" alt="winnings">'
    for rows in (by_position(book, name), starts(statistics), finals(statistics)):
        yield _html(rows)
