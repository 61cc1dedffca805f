"""`tapete docs-check`: are the figures in the documentation still what their commands print?"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tapete.cli.app import Json, app
from tapete.core import TapeteError


@app.command("docs-check")
def docs_check(
    docs: Annotated[Path, typer.Option(help="The folder of the documentation, with its figures.toml.")] = Path("docs"),
    page: Annotated[str, typer.Option(help="Only the figures of this page, like arena.md.")] = "",
    listing: Annotated[bool, typer.Option("--list", help="Run nothing: list what there is.")] = False,
    as_json: Json = False,
) -> None:
    """Run the quick commands again whose figures the documentation shows, and say what differs.

    All figures are listed with when and by which version they were made. Exit status 1 where something differs.
    """
    from tapete.terminal.figures import differences, missing, read_figures

    figures = [figure for figure in read_figures(docs) if page in ("", figure.page)]
    if not figures:
        raise TapeteError(f"no figure is on a page {page!r}")
    found: list[dict[str, Any]] = []
    for figure in figures:
        began = time.perf_counter()
        wrong = [f"not on the page: {part}" for part in missing(figure, docs)]
        if figure.quick and not listing:
            wrong += differences(figure, docs)
        state = "DIFFERS" if wrong else "same" if figure.quick and not listing else "not run"
        seconds = round(time.perf_counter() - began, 1)
        about = {"page": figure.page, "command": figure.command, "made": str(figure.made), "version": figure.version}
        found.append({**about, "quick": figure.quick, "state": state, "differences": wrong, "seconds": seconds})
        if not as_json:
            print(f"{state:8} {figure.made} {figure.version:8} {figure.page}: {figure.command}", flush=True)
            for line in wrong:
                print(f"         {line}")
    again = [row for row in found if row["state"] != "not run"]
    different = [row for row in found if row["state"] == "DIFFERS"]
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print(f"{len(found)} figures, {len(again)} run again or wrong on the page, {len(different)} differ")
    if different:
        raise SystemExit(1)
