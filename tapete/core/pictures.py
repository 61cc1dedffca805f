"""Scenes, thoughts and results as HTML, for notebooks: what `_repr_html_` of States, Views and others returns.

Things are drawn as they are on the page in the browser: `faces.json` has its drawings, made of its own code by
`docs/images/faces.py`, and a test compares the two. There is no script in it, so it is seen wherever notebooks are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.scene import Board, Note, Part, Scene, Score, Things

FACES = Path(__file__).with_name("faces.json")
SIGNS = {"number": "french"}  # kinds whose drawings use the signs of another
HEIGHTS = {"die": 34, "disc": 30}  # pixels; all else has
HEIGHT = 64
WIDE, HIGH = 420, 160  # of a curve
LABEL = "opacity:.65;padding-right:1em;white-space:nowrap"


class Picture(NamedTuple):
    """Something that a notebook shows."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


@cache
def drawings() -> dict[str, Any]:
    """By kind and face: the text of an SVG. "signs" are what the drawings of a kind share."""
    return json.loads(FACES.read_text())


def face_html(kind: str, face: str) -> str:
    """A thing; one that nobody has drawn is shown as its text."""
    found = drawings()["faces"].get(kind, {}).get(face)
    height = HEIGHTS.get(kind, HEIGHT)
    style = f"height:{height}px;margin:2px;vertical-align:middle"
    if found:
        return str(found).replace("<svg ", f'<svg style="{style}" ', 1)
    return f'<span style="{style};border:1px solid;border-radius:4px;padding:2px 6px">{escape(face) or "?"}</span>'


def scene_html(scene: Scene, title: str) -> str:
    """A table as a seat sees it: its parts from top to bottom, then the moves that there are."""
    kinds = {SIGNS.get(part.kind, part.kind) for part in scene.parts if isinstance(part, Things | Board)}
    signs = "".join(drawings()["signs"].get(kind, "") for kind in sorted(kinds))
    sprite = f'<svg width="0" height="0" style="position:absolute"><defs>{signs}</defs></svg>' if signs else ""
    rows = [row for part in scene.parts if (row := _part(part))]
    turn = {TERMINAL: "the game is over", CHANCE: "chance is to move"}.get(
        scene.player, f"seat {scene.player} is to move"
    )
    if not any(part.name == "turn" for part in scene.parts):  # some games say it in their own words
        rows.append(_row("turn", turn))
    if scene.moves:
        rows.append(_row("moves", ", ".join(f"<code>{escape(move.text)}</code>" for move in scene.moves)))
    return f"<div>{sprite}<b>{escape(title)}</b><table>{''.join(rows)}</table></div>"


def _row(label: str, inside: str) -> str:
    return f'<tr><td style="{LABEL};text-align:left">{escape(label)}</td><td style="text-align:left">{inside}</td></tr>'


def _part(part: Part) -> str:
    """A row of the table; nothing where there is nothing to see."""
    if isinstance(part, Board):
        return _row(part.name, _board(part))
    if isinstance(part, Score):
        return _row(part.name, " · ".join(f"seat {seat}: {value:g}" for seat, value in enumerate(part.values)))
    if isinstance(part, Note):
        return _row(part.name, escape(part.text)) if part.text else ""
    whose = "" if part.owner is None else f"seat {part.owner}: "
    return _row(f"{whose}{part.name}", "".join(face_html(part.kind, face) for face in part.faces)) if part.faces else ""


def _board(part: Board) -> str:
    inside = [face_html("disc", cell) if cell and part.kind == "disc" else escape(cell) for cell in part.cells]
    cells = [f'<td style="{_square(part, i)}">{cell}</td>' for i, cell in enumerate(inside)]
    across = len(part.columns)
    head = "".join(f"<th>{escape(column)}</th>" for column in part.columns)
    rows = "".join(
        f"<tr><th>{escape(row)}</th>{''.join(cells[i * across : (i + 1) * across])}</tr>"
        for i, row in enumerate(part.rows)
    )
    return f'<table style="border-collapse:collapse"><tr><th></th>{head}</tr>{rows}</table>'


def _square(part: Board, index: int) -> str:
    edge = "2px solid #d9a441" if index == part.last else "1px solid #8886"
    if part.kind != "disc":
        return f"border:{edge};text-align:center"
    return f"border:{edge};background:#2c7a4f;width:36px;height:36px;padding:0;text-align:center"


def bars_html(shares: Mapping[str, float], columns: Mapping[str, Mapping[str, float]]) -> str:
    """Shares as bars, by name, the largest first, with what else is told of each."""
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "", *columns))
    rows = []
    for name, share in sorted(shares.items(), key=lambda each: -each[1]):
        bar = f'<div style="display:inline-block;background:#2c7a4f;height:1em;width:{160 * share:.0f}px"></div>'
        cells = "".join(
            f"<td>{column[name]:.4g}</td>" if name in column else "<td></td>" for column in columns.values()
        )
        rows.append(
            f'<tr><td style="text-align:left">{escape(name)}</td>'
            f'<td style="text-align:left;min-width:225px">{bar} {100 * share:.1f} %</td>{cells}</tr>'
        )
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def facts_html(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """What is told of something, a line each."""
    rows = "".join(_row(name, escape(told)) for name, told in facts)
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def strip_html(pictures: Iterable[str]) -> str:
    """Pictures side by side, one of which is seen: the bar below them slides to the others."""
    each = "flex:0 0 100%;scroll-snap-align:start;box-sizing:border-box;padding-right:1em"
    inside = "".join(f'<div style="{each}">{picture}</div>' for picture in pictures)
    return f'<div style="display:flex;overflow-x:scroll;scroll-snap-type:x mandatory">{inside}</div>'


def curve_html(title: str, across: str, up: str, points: Iterable[tuple[float, float]]) -> str:
    """A curve over numbers that grow, with its first and last value; logarithmic upwards where all are positive."""
    drawn = list(points)
    if len(drawn) < 2:
        return facts_html(title, [(up, f"{y:.4g} at {across} {x:,.4g}") for x, y in drawn] or [(up, "nothing yet")])
    xs = [x for x, _ in drawn]
    is_log = all(y > 0 for _, y in drawn)
    ys = [math.log10(y) if is_log else y for _, y in drawn]
    (left, right), (low, high) = (min(xs), max(xs)), (min(ys), max(ys))
    line = " ".join(
        f"{WIDE * (x - left) / ((right - left) or 1):.1f},{HIGH * (high - y) / ((high - low) or 1):.1f}"
        for x, y in zip(xs, ys, strict=True)
    )
    svg = (
        f'<svg viewBox="-4 -4 {WIDE + 8} {HIGH + 8}" width="{WIDE}" role="img" aria-label="{escape(up)}">'
        f'<polyline points="{line}" fill="none" stroke="#2c7a4f" stroke-width="2"/></svg>'
    )
    scale = ", logarithmic" if is_log else ""
    facts = [
        (
            f"{up}{scale}",
            f"{drawn[0][1]:.4g} at first, {drawn[-1][1]:.4g} now, {min(y for _, y in drawn):.4g} at least",
        ),
        (across, f"{left:,.4g} to {right:,.4g}"),
    ]
    return f"<div>{svg}{facts_html(title, facts)}</div>"
