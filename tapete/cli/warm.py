"""`tapete warm`: compile everything ahead of time."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import Progress

from tapete.cli.app import Json, app
from tapete.core import compile as compiler

PACKAGE = __name__.partition(".")[0]
TELL = 5.0  # seconds between lines where there is no terminal


@app.command()
def warm(as_json: Json = False) -> None:
    """Compile everything ahead of time, so that no first game has to wait."""
    began = time.perf_counter()
    with _Bar() as bar:
        for name in _modules():
            bar.show(f"looking into {name}", 0, None)
            _import(name)
        ready, left = 0, compiler.waiting()
        while left:
            name = f"{left[0].__wrapped__.__module__}.{left[0].__name__}".removeprefix("tapete.")
            bar.show(f"compiling {name}", ready, ready + len(left))
            left[0].load()
            ready, left = ready + len(left) - len(compiler.waiting()), compiler.waiting()
    result = {"compiled": compiler.progress.done, "seconds": round(time.perf_counter() - began, 2)}
    print(json.dumps(result) if as_json else f"ready: {result['compiled']} functions compiled in {result['seconds']} s")


def _modules() -> Iterator[str]:
    """The names of all modules of the package."""
    folder = sys.modules[PACKAGE].__path__
    for module in pkgutil.walk_packages(folder, f"{PACKAGE}.", onerror=lambda name: None):
        yield module.name


def _import(name: str) -> None:
    """Imports a module, and with it what it compiles. Who has not installed what it needs will not run it either."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == PACKAGE:
            raise


class _Bar:
    """How far it is: a bar on a terminal, elsewhere a line every few seconds; in either case at once."""

    def __init__(self) -> None:
        self.bars = Progress(console=Console(stderr=True), transient=True)
        self.task = self.bars.add_task("compiling", total=None)
        self.told = -TELL

    def show(self, text: str, done: int, total: int | None) -> None:
        """What is being done, and how much of how much has been."""
        self.bars.update(self.task, description=text, completed=done, total=total)
        now = time.monotonic()
        if not self.bars.console.is_terminal and now >= self.told + TELL:
            print(f"{text}, {done} of {total}" if total else text, file=sys.stderr, flush=True)
            self.told = now

    def __enter__(self) -> _Bar:
        if self.bars.console.is_terminal:
            self.bars.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        if self.bars.console.is_terminal:
            self.bars.stop()
