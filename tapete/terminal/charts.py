"""Curves drawn with characters: a line of them, or a few lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

EIGHTHS = " ▁▂▃▄▅▆▇█"
Points = Sequence[tuple[float, float]]


def sparkline(points: Points, width: int = 24) -> str:
    """A curve in one line, the lowest point at the bottom.

    >>> sparkline([(0, 8), (1, 4), (2, 2), (3, 1)])
    '█▄▂▁'
    """
    return chart(points, min(width, len(points)), 1)[0] if points else ""


def chart(points: Points, width: int, height: int) -> list[str]:
    """A curve as so many lines of columns; a column is as high as the points in its share of the way, on average."""
    columns = _columns(points, width)
    low, high = min(columns), max(columns)
    levels = [1 + round((8 * height - 1) * ((y - low) / (high - low) if high > low else 0)) for y in columns]
    rows = range(height - 1, -1, -1)
    return ["".join(EIGHTHS[min(max(level - 8 * row, 0), 8)] for level in levels) for row in rows]


def labelled(points: Points, width: int, height: int) -> list[str]:
    """A chart with its highest and lowest number before it and the way it goes below it."""
    columns = _columns(points, width)
    margin = max(len(number(y)) for y in (min(columns), max(columns)))
    lines = [f"{'':{margin}} │{line}" for line in chart(points, width, height)]
    lines[0] = f"{number(max(columns)):>{margin}} ┤" + lines[0][margin + 2 :]
    lines[-1] = f"{number(min(columns)):>{margin}} ┤" + lines[-1][margin + 2 :]
    first, last = number(points[0][0]), number(points[-1][0])
    return [*lines, f"{'':{margin}}  {first}{last:>{max(width - len(first), len(last) + 1)}}"]


def number(value: float) -> str:
    """A number as a person reads it: 1,200,000, 0.0417, 3.2e-05."""
    return f"{value:,.0f}" if math.isfinite(value) and abs(value) >= 1000 else f"{value:.4g}"


def _columns(points: Points, width: int) -> list[float]:
    """The curve at so many places of the same distance [width]; where there is no point, it stays as it was."""
    first, last = points[0][0], points[-1][0]
    found: list[list[float]] = [[] for _ in range(width)]
    for x, y in points:
        share = (x - first) / (last - first) if last > first else 1.0
        found[min(max(math.ceil(share * width) - 1, 0), width - 1)].append(y)
    columns = [sum(ys) / len(ys) if ys else math.nan for ys in found]
    for i in range(width - 1):
        if math.isnan(columns[i + 1]):
            columns[i + 1] = columns[i]
    return columns
