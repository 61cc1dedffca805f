"""The paper's six trainings of NFSP on whole matches, with shaped rewards and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from tapete import learn
from tapete.arena import match
from tapete.arena.learning import against_random
from tapete.core import Game, Rng, Thought, View, make
from tapete.core.thought import AnyPolicy, BatchPolicy, Mixture
from tapete.scale import Executor, Job
from tapete.studies.opentruco import Say

GAME = "truco"
MATCHES = 10_000  # as in the paper
TABLES = 250
SEARCH = "ismcts(100)"

Line = dict[str, float]  # that a run logged


@dataclass(frozen=True)
class Size:
    """How much is done."""

    matches: int  # of a training
    looks: int  # at how good it is, in a training
    random_matches: int  # against random play at every look, on each seat
    search_matches: int  # against IS-MCTS(100) at every look


FULL = Size(10 * MATCHES, 10, 512, 200)
QUICK = Size(MATCHES, 2, 256, 100)


@dataclass(frozen=True)
class Configuration:
    """What the paper varied; it does not tell the values, so these are ours."""

    hidden: int
    eta: float
    shaping: bool = True

    @property
    def name(self) -> str:
        """As files and tables call it."""
        return f"hidden {self.hidden}, eta {self.eta:g}{'' if self.shaping else ', not shaped'}"

    @property
    def folder(self) -> str:
        """Where its run is."""
        return f"nfsp-{self.hidden}-{self.eta:g}{'' if self.shaping else '-plain'}"

    def settings(self, size: Size) -> list[str]:
        """The knobs of `tapete train`."""
        iterations = size.matches // TABLES
        return [
            f"hidden={self.hidden}",
            f"eta={self.eta:g}",
            f"shaping={str(self.shaping).lower()}",
            f"tables={TABLES}",
            f"iterations={iterations}",
            f"every={iterations // size.looks}",
            *("layers=2", "buffer=300000", "steps=24", "policy_steps=8"),
        ]


SIX = [Configuration(hidden, eta) for hidden in (64, 128, 256) for eta in (0.1, 0.3)]
PLAIN = [Configuration(hidden, 0.1, shaping=False) for hidden in (128, 256)]


class Playing:
    """A policy for many positions, asked for one."""

    def __init__(self, policy: BatchPolicy) -> None:
        self.policy = policy

    def think(self, view: View, rng: Rng) -> Thought:
        """Its probabilities; it draws nothing."""
        actions = view.actions()
        mask = np.zeros((1, view.game.spec.actions), dtype=np.bool_)
        mask[0, actions] = True
        said = self.policy(view.observation()[None], mask)[0]
        return Thought(probabilities={action: float(said[action]) for action in actions})


def train(folder: Path, learner: str, game: Game, settings: list[str], evaluate: Any) -> list[Line]:
    """What a run logged, which is trained to its end if it wasn't."""
    config = learn.configure(learner, settings)
    run = learn.Run(folder, learner, game, config, resume=True, evaluate=evaluate)
    try:
        learn.learner(learner).training()(game, config, run)
    finally:
        run.close()
    return learn.read_metrics(folder)


def tell(name: str, lines: list[Line], say: Say) -> None:
    """The last numbers of a training."""
    say(f"{name:24} " + "  ".join(f"{key} {number:,.4g}" for key, number in lines[-1].items()))


def open_training(stop: Event, *, out: str, size: Size, prefix: str) -> Callable[[Configuration], list[Line]]:
    """What trains a configuration, and gives what it logged."""
    game = make(GAME)

    def evaluate(policy: AnyPolicy) -> Mapping[str, float]:
        assert not isinstance(policy, Mixture)
        found = against_random(game, policy, size.random_matches)
        against_search = match(game, lambda _: Playing(policy), SEARCH, games=size.search_matches, workers=1)
        return {**found, "against_search": against_search.win_share, "search_error": _error(against_search.shares)}

    def train_one(configuration: Configuration) -> list[Line]:
        folder = Path(out) / "runs" / f"{prefix}{configuration.folder}"
        return train(folder, "nfsp", game, configuration.settings(size), evaluate)

    return train_one


def run(out: Path, *, quick: bool, say: Say, executor: Executor) -> Iterator[dict[str, Any]]:
    """Trains them all, as many at a time as the executor has workers; folders are shared by all machines."""
    size, configurations = QUICK if quick else FULL, SIX + PLAIN
    terms = {"out": str(out), "size": size, "prefix": "quick-" * quick}
    logged: dict[int, list[Line]] = {}
    for i, lines in executor.spread(Job(f"{__name__}:open_training", terms), configurations):
        logged[i] = lines
        tell(configurations[i].folder, lines, say)
        curves = {configurations[place].name: logged[place] for place in sorted(logged)}
        yield {**asdict(size), "curves": curves}


def _error(shares: Any) -> float:
    """One standard error of the mean."""
    return float(shares.std() / np.sqrt(len(shares)))
