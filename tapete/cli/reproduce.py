"""`tapete reproduce`: the papers' experiments."""

from __future__ import annotations

import importlib
import os
import pkgutil
from pathlib import Path
from typing import Annotated

import typer

from tapete.cli.app import Address, ExecutorName, app
from tapete.core import TapeteError
from tapete.scale import open_executor


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="The paper, as rojas or douzero; a wrong name lists them all.")],
    row: Annotated[str, typer.Option(help="Only this row of its tables, as in dudo(4,2,2).")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Only the small rows, and fewer runs.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where to write; else runs/STUDY.")] = None,
    executor: ExecutorName = "local",
    address: Address = "",
) -> None:
    """Run a paper's experiments again, and write its tables with ours beside them."""
    studies = [module.name for module in pkgutil.iter_modules(importlib.import_module("tapete.studies").__path__)]
    if study not in studies:
        raise TapeteError(f"there is no study {study!r}; there are {', '.join(studies)}")
    module = importlib.import_module(f"tapete.studies.{study}")
    with open_executor(executor, workers=os.cpu_count() or 1, address=address) as where:
        module.run(out or Path("runs") / study, row=row, quick=quick, say=print, executor=where)
