"""Trainings on this machine, as the page draws them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tapete.core.errors import TapeteError
from tapete.learn.runs import PastRun, find_runs, metrics_of

MOST = 50  # runs that are shown
POINTS = 240  # of a curve
CURVES = 6  # of a run, the main one first


def all_runs(folder: Path) -> list[dict[str, Any]]:
    """The runs in a folder, those that are at work first; none where there is no such folder."""
    if not folder.is_dir():
        return []
    found = [_told(place) for place in list(find_runs(folder))[:MOST]]
    return sorted(found, key=lambda run: (not run.get("at_work"), run["name"]))


def _told(folder: Path) -> dict[str, Any]:
    """What the page is told of a run; its name, and not where on this machine it is."""
    try:
        run = PastRun.read(folder)
    except TapeteError:
        return {"name": folder.name, "damaged": True}
    told = run.to_json()
    main = told["main"]
    names = [main, *(name for name in metrics_of(run.last) if name != main)] if main else []
    curves = [curve for name in names[:CURVES] if (curve := run.curve(name)).points]
    return {
        "name": folder.name,
        "finished": run.finished,
        **{key: told[key] for key in ("learner", "game", "counter", "done", "total", "at_work", "metrics")},
        "curves": [{"name": curve.name, "over": curve.over, "points": thinned(curve.points)} for curve in curves],
    }


def thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `POINTS` of them, the first and the last among them.

    >>> len(thinned([(i, i) for i in range(1000)])), thinned([(0, 1), (1, 2)])
    (240, [(0, 1), (1, 2)])
    """
    if len(points) <= POINTS:
        return points
    return [points[i * (len(points) - 1) // (POINTS - 1)] for i in range(POINTS)]
