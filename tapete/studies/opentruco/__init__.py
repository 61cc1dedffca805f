"""Piotto, Santos Torrado and Vitali (2025), *OpenTruco: Deep RL en el Truco Argentino*: its trainings, and its wishes.

``configurations``  the paper's six trainings of NFSP, 10,000 matches each, with and without shaped rewards
``table``           every method that learns Truco here, and searches, against each other
``bluffs``          who calls and who answers with what, so that a Truco player can judge it

What was trained or played stays in the folder, so that a study that was stopped goes on where it was. A part's `run`
gives what it has found so far, again and again.
"""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tapete.core import TapeteError
from tapete.core.files import replacing
from tapete.scale import Executor, Local

TITLE = "OpenTruco 2025: NFSP in Truco, other methods, and bluffing"
PARTS = ("configurations", "table", "bluffs")
RESULTS = "results.json"
Say = Callable[[str], None]


def run(out: Path, *, row: str = "", quick: bool = False, say: Say = print, executor: Executor | None = None) -> None:
    """Runs the parts, or the one that `row` names, and writes results.json, README.md and the plots into a folder."""
    if row not in ("", *PARTS):
        raise TapeteError(f"there is no row {row!r}; there are {', '.join(PARTS)}")
    out.mkdir(parents=True, exist_ok=True)
    where = executor or Local(os.cpu_count() or 1)
    for part in (row,) if row else PARTS:
        began = time.perf_counter()
        for found in importlib.import_module(f"{__name__}.{part}").run(out, quick=quick, say=say, executor=where):
            _add(out, part, {**found, "quick": quick, "seconds": time.perf_counter() - began, "cores": os.cpu_count()})
        write_page(out)
    say(f"written to {out}/README.md")


def write_page(out: Path) -> None:
    """README.md and the plots, of what was found so far."""
    from tapete.studies.opentruco import page

    page.write(out, results(out))


def results(out: Path) -> dict[str, Any]:
    """What the parts have found so far, by name."""
    path = out / RESULTS
    return json.loads(path.read_text()) if path.exists() else {}


def _add(out: Path, part: str, found: dict[str, Any]) -> None:
    with replacing(out / RESULTS) as draft:
        draft.write_text(json.dumps({**results(out), part: found}, indent=1) + "\n")
