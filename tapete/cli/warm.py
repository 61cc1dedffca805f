"""`tapete warm`: compile everything ahead of time."""

from __future__ import annotations

import importlib
import json
import time

from rich.console import Console
from rich.progress import Progress

from tapete.cli.app import Json, app


@app.command()
def warm(as_json: Json = False) -> None:
    """Compile everything ahead of time, so that no first game has to wait."""
    from tapete.core import compile as compiler

    began = time.perf_counter()
    modules = compiler.compiled_modules()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("compiling", total=len(modules))
        for module in modules:
            progress.update(task, description=f"compiling {module.removeprefix('tapete.')}")
            importlib.import_module(module)
            progress.advance(task)
    result = {"compiled": compiler.progress.done, "seconds": round(time.perf_counter() - began, 2)}
    print(json.dumps(result) if as_json else f"ready: {result['compiled']} functions compiled in {result['seconds']} s")
