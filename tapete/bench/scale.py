"""How much faster work is done by several workers: the same work by every executor, beside one after another.

Workers have opened their job before the clock starts, as they have in a job that takes hours.
"""

from __future__ import annotations

import os
import pickle
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

from tapete import arena
from tapete.core import make
from tapete.learn import configure
from tapete.learn.run import Run
from tapete.scale import Executor, Job, Local, open_executor

ROUNDS = 3  # of which the median counts
SEARCH = ("othello", "mcts(400)", "mcts(300)")  # kernels are the work
PYTHON = ("doudizhu", "rules", "rules")  # Python is
TABLE = "holdem(players=10)"
EVOLUTION = ["population=500", "deals=2080", "test_deals=2"]  # four times the deals of the final player
LIST = 2_000_000  # numbers that are added
DMC = ["games=256", "asynchronous=true"]


@dataclass(frozen=True)
class Scaled:
    """How fast one executor was."""

    case: str
    executor: str
    workers: int
    unit: str
    rate: float  # units a second
    times: float  # as fast as one after another
    bytes: float | None = None  # that come back for each unit
    weights: int | None = None  # bytes that are sent out once a version

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Case:
    """Some work: what it is counted in, and what does so many units of it, after it was done once."""

    name: str
    unit: str
    prepare: Callable[[Executor, Path], Callable[[float], float]]  # what works about so long, and gives the units done


def matches(pair: tuple[str, str, str]) -> Callable[[Executor, Path], Callable[[float], float]]:
    """Games of a match of a tournament."""

    def prepare(executor: Executor, folder: Path) -> Callable[[float], float]:
        def play(games: float) -> float:
            arena.match(*pair, games=int(games), executor=executor)
            return games

        play(8 * executor.workers)
        return play

    return prepare


@cache
def population(folder: Path) -> Any:
    """A population that has been judged once: dealing takes longest, so all executors go on with the same."""
    from tapete.learn.coevolution.training import Training

    config, game = configure("coevolution", EVOLUTION), make(TABLE)
    run = Run(folder, "coevolution", game, config, threads=os.cpu_count() or 1)
    training = Training(game, config, run)
    training.get_ready()
    training.judge_all()
    return training


def evolution(executor: Executor, folder: Path) -> Callable[[float], float]:
    """Generations: children are bred here, and play wherever there is room."""
    training = population(folder.parent)

    def breed(generations: float) -> float:
        training.run.executor, training.run.threads = executor, executor.workers
        for _ in range(int(generations)):
            training.next_generation()
        return generations

    breed(2)
    return breed


def actors(executor: Executor, folder: Path) -> Callable[[float], float]:
    """Frames of Deep Monte Carlo's actors, with nobody who learns from them."""
    from tapete.learn.dmc import Training

    config, game = configure("dmc", DMC), make("doudizhu")
    run = Run(folder, "dmc", game, config, executor=executor)

    def play(frames: float) -> float:
        done = 0
        with closing(Training(game, config, run)) as training:
            for rollouts in training.rollouts:
                done += sum(len(rollout.decisions.actions) for rollout in rollouts)
                if done >= frames:
                    return float(done)
        raise AssertionError("actors never end")

    play(1)
    return play


def open_sums(stop: Event) -> Callable[[int], int]:
    """A job that shares nothing with anybody."""
    return lambda most: sum(range(most))


def sums(executor: Executor, folder: Path) -> Callable[[float], float]:
    """Additions: what is gained here, this machine has to give at the moment, and no other case can gain more."""
    job = Job(f"{__name__}:open_sums", {}, lambda result: False)

    def add(lists: float) -> float:
        for _ in executor.spread(job, [LIST] * int(lists)):
            pass
        return lists

    add(8 * executor.workers)
    return add


CASES = [
    Case("additions", "lists", sums),
    Case("tournament", "games", matches(SEARCH)),
    Case("evolution", "generations", evolution),
    Case("actors", "frames", actors),
    Case("tournament in Python", "games", matches(PYTHON)),
]


def run(*, case: str = "", seconds: float = 6.0, address: str = "", with_ray: bool = True) -> Iterator[Scaled]:
    """Every case on every executor, each for about so many seconds."""
    cores = os.cpu_count() or 1
    with ExitStack() as stack:
        executors: dict[str, Executor] = {"serial": open_executor("serial")}
        executors["local"] = stack.enter_context(Local(cores, worth=0.0))
        if with_ray:
            executors["ray"] = stack.enter_context(open_executor("ray", workers=cores, address=address))
        for one in (one for one in CASES if case in one.name):
            yield from measure(one, executors, seconds)


def measure(case: Case, executors: dict[str, Executor], seconds: float) -> Iterator[Scaled]:
    """One case, by all executors in turn, so that a machine that gets slower does so for all of them."""
    with TemporaryDirectory() as folder:
        work = {name: case.prepare(executor, Path(folder) / name) for name, executor in executors.items()}
        units = 2.0
        while (took := timed(work["serial"], units)[1]) < seconds / 8:
            units *= 2
        units = max(1.0, round(units * seconds / took))
        rates: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(ROUNDS):
            for name, do in work.items():
                done, took = timed(do, units)
                rates[name].append(done / took)
    alone = statistics.median(rates["serial"])
    for name, executor in executors.items():
        rate = statistics.median(rates[name])
        sizes = frame_bytes() if case.name == "actors" and name == "serial" else (None, None)
        yield Scaled(case.name, name, executor.workers, case.unit, rate, rate / alone, *sizes)


def timed(do: Callable[[float], float], units: float) -> tuple[float, float]:
    """Units that were done, and the seconds that they took."""
    began = time.perf_counter()
    return do(units), time.perf_counter() - began


def frame_bytes() -> tuple[float, int]:
    """Bytes that come back for a frame of Deep Monte Carlo, and bytes of a version of the weights."""
    from tapete.learn.dmc import Training

    config, game = configure("dmc", [*DMC, "asynchronous=false"]), make("doudizhu")
    with TemporaryDirectory() as folder:
        run = Run(folder, "dmc", game, config, executor=open_executor("serial"))
        with closing(Training(game, config, run)) as training:
            (rollouts,) = islice(training.rollouts, 1)
            frames = sum(len(rollout.decisions.actions) for rollout in rollouts)
            return sum(len(pickle.dumps(rollout)) for rollout in rollouts) / frames, len(
                pickle.dumps(training._acting())
            )
