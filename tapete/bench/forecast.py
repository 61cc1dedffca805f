"""From what is measured on these cores to what a cluster would do (`tapete.bench.cluster`), and how wrong that is here.

A lot's figures are measured one by one: how long it takes a core to play it, the learner to learn from it, and the
driver to hand it over. From these alone the simulation says what all of them together do on the cores of this machine,
and that is measured too.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

from tapete import arena
from tapete.bench.cluster import Plant, simulate
from tapete.bench.scale import DMC, SEARCH
from tapete.core import make
from tapete.learn import configure
from tapete.learn.run import Run
from tapete.scale import Executor, Job, open_executor
from tapete.scale.lots import SECONDS

CLUSTERS = (16, 256, 4096)
EMPTY = 400  # lots without work, by which it is measured what handing one over takes


@dataclass(frozen=True)
class Forecast:
    """What so many cores would do."""

    case: str
    cores: int
    unit: str
    simulated: float  # units a second
    measured: float | None  # the same, where there are so many
    bottleneck: str

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Figures:
    """A plant of one actor, how many units its lots have, and what was measured on all cores."""

    name: str
    unit: str
    units: float  # of a lot
    plant: Plant
    measured: float


def run(*, case: str, bandwidth: float, seconds: float) -> Iterator[Forecast]:
    """Figures, the cores that there are, and clusters; lots are of a second, as on Ray."""
    cores = os.cpu_count() or 1
    with open_executor("ray", workers=cores) as executor:
        hand = handing_over(executor)
        for name, look in (("dmc", training), ("tournament", tournament)):
            if case not in name:
                continue
            found = look(executor, seconds, hand)
            here = simulate(replace(found.plant, actors=cores, cores=cores), 400)
            yield Forecast(name, cores, found.unit, here.lots * found.units, found.measured, here.bottleneck)
            for n in CLUSTERS:
                there = simulate(replace(found.plant, actors=n, bandwidth=bandwidth), max(4 * n, 400))
                yield Forecast(name, n, found.unit, there.lots * found.units, None, there.bottleneck)


def open_nothing(stop: Event) -> Callable[[int], int]:
    """A job whose parcels take no time."""
    return lambda parcel: parcel


def handing_over(executor: Executor) -> float:
    """Seconds of this process that a lot takes, besides the work in it: parcels that nobody waits for, one a lot."""
    from tapete.scale.lots import Carrier, hand_out
    from tapete.scale.ray import OnRay, _Tasks

    assert isinstance(executor, OnRay)
    carrier: Carrier = _Tasks(executor, Job(f"{__name__}:open_nothing", {}))
    list(hand_out(carrier, range(8), seconds=0.0))
    began = time.process_time()
    list(hand_out(carrier, range(EMPTY), seconds=0.0))
    return (time.process_time() - began) / EMPTY


def training(executor: Executor, seconds: float, hand: float) -> Figures:
    """Deep Monte Carlo of Dou Dizhu, asynchronous: a lot is as many batches as a core plays in a second."""
    from tapete.learn.dmc import GROUPS, Training

    config, game = configure("dmc", [*DMC, "every=1000000"]), make("doudizhu")
    with TemporaryDirectory() as folder:
        run = Run(Path(folder) / "alone", "dmc", game, config, executor=open_executor("serial"))
        with closing(Training(game, config, run)) as alone:
            alone.iterate()
            played = learned = frames = 0.0
            while played + learned < seconds:
                began = time.process_time()
                rollouts = next(alone.rollouts)
                played += time.process_time() - began
                alone.rollouts, coming = iter([rollouts]), alone.rollouts  # type: ignore[assignment]
                began = time.process_time()
                alone.iterate()
                learned += time.process_time() - began
                alone.rollouts = coming
                frames += sum(len(rollout.decisions.actions) for rollout in rollouts)
            last = sum(len(rollout.decisions.actions) for rollout in rollouts)
            size = sum(len(pickle.dumps(rollout)) for rollout in rollouts) / last
            weights = len(pickle.dumps(alone._acting()))
            batch = frames / (alone.iteration - 1) / GROUPS
        run = Run(Path(folder) / "together", "dmc", game, config, executor=executor)
        with closing(Training(game, config, run)) as together:
            for _ in range(4):
                together.iterate()
            began, before = time.perf_counter(), together.frames
            while time.perf_counter() - began < 2 * seconds:
                together.iterate()
            measured = (together.frames - before) / (time.perf_counter() - began)
    units = max(SECONDS * frames / played, batch)
    plant = Plant(
        actors=1, play=units * played / frames, hand=hand, learn=units * learned / frames, bytes=units * size,
        weights=weights, lots=max(1, round(GROUPS * batch / units)),
    )  # fmt: skip
    return Figures("dmc", "frames", units, plant, measured)


def tournament(executor: Executor, seconds: float, hand: float) -> Figures:
    """Games of tree search: nothing is learned from them."""
    arena.match(*SEARCH, games=4, executor=open_executor("serial"))
    began, games = time.process_time(), 8
    arena.match(*SEARCH, games=games, executor=open_executor("serial"))
    one = (time.process_time() - began) / games
    games = max(16, int(4 * seconds / one))
    arena.match(*SEARCH, games=16, executor=executor)
    began = time.perf_counter()
    found = arena.match(*SEARCH, games=games, executor=executor)
    measured = games / (time.perf_counter() - began)
    units = max(1.0, SECONDS / one)
    size = units * len(pickle.dumps(found.games)) / games
    plant = Plant(actors=1, play=units * one, hand=hand, learn=0.0, bytes=size)
    return Figures("tournament", "games", units, plant, measured)
