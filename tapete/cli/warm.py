"""`tapete warm`: compile everything ahead of time."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import pkgutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from tapete.cli.app import Json, app
from tapete.core import compile as compiler

PACKAGE = __name__.partition(".")[0]
TELL = 5.0  # seconds between lines where there is no terminal


_functions: list[Any] = []  # what is to be compiled; processes that are forked know it by its numbers


@app.command()
def warm(
    workers: Annotated[
        int, typer.Option(min=0, max=256, help="Functions compiled at a time; 0 is one for every core.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Compile everything ahead of time, so that no first game has to wait."""
    began = time.perf_counter()
    with _Bar() as bar:
        for name in _modules():
            bar.show(f"looking into {name}", 0, None)
            _import(name)
    compiled = _compile_all(workers or os.cpu_count() or 1)
    result = {"compiled": compiled, "seconds": round(time.perf_counter() - began, 2)}
    print(json.dumps(result) if as_json else f"ready: {result['compiled']} functions compiled in {result['seconds']} s")


def _compile_all(workers: int) -> int:
    """Gets the machine code of all that was imported; how many functions had to be compiled for that.

    A process compiles one function at a time. So there are several where they can be forks of this one, which has
    imported everything; they are made while nothing else runs in it, a bar neither.
    """
    _functions[:] = compiler.waiting()
    numbers = range(len(_functions))
    if workers == 1 or "fork" not in multiprocessing.get_all_start_methods():
        return _follow(map(_compile, numbers))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        try:
            return _follow(pool.map(_compile, numbers))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _compile(i: int) -> int:
    """Gets the machine code of one of the functions, and of those that it calls; how many had to be compiled."""
    before = compiler.progress.done
    _functions[i].load()
    return compiler.progress.done - before


def _follow(results: Iterator[int]) -> int:
    """Tells how far it is; what the results add up to."""
    compiled = 0
    with _Bar() as bar:
        for i, function in enumerate(_functions):
            name = f"{function.__wrapped__.__module__}.{function.__name__}".removeprefix("tapete.")
            bar.show(f"compiling {name}", i, len(_functions))
            compiled += next(results)
    return compiled


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
