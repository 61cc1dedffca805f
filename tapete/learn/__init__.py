"""Learners: a file or a folder each, and no list of them. What they share are the modules beside them, `run` above all.

A learner says what it is in the first line of its docstring and has its knobs, a frozen dataclass `Config`
(`tapete.learn.knobs`). Importing it takes neither PyTorch nor a compiler (`tapete.learn.late`); where its training does
need a package that may be missing, `NEEDS` names it. Its file, or in a folder `training.py`, has
`train(game, config, run)`. One that can tell the games of a run has `TELLS_GAMES`.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple

from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.names import Call
from tapete.learn.knobs import Knob, knobs
from tapete.learn.run import Checkpoint, Description, Progress, Run, Watch, read_metrics

__all__ = [
    "Checkpoint",
    "Description",
    "Knob",
    "Learner",
    "Progress",
    "Run",
    "Watch",
    "configure",
    "learner",
    "learners",
    "read_metrics",
]


class Learner(NamedTuple):
    """A way to learn games: one file or folder of this package."""

    name: str
    module: str  # which has `train`: "tapete.learn.ppo", "tapete.learn.zero.training"
    about: str  # in a line
    config: type  # a dataclass whose fields are the knobs
    missing: tuple[str, ...]  # packages that it needs and that are not installed
    tells_games: bool = False  # whether `Run.tell` is told of them

    @property
    def knobs(self) -> list[Knob]:
        """What can be set of it."""
        return knobs(self.config)

    @property
    def hint(self) -> str:
        """What to do about the packages that are missing; nothing where none is."""
        if not self.missing:
            return ""
        return f"{self.name} needs {', '.join(self.missing)}, which is not installed: pip install 'tapete[learn]'"

    def training(self) -> Callable[[Game, Any, Run], None]:
        """The function `train(game, config, run)`, whose module is imported now and not before."""
        if self.missing:
            raise TapeteError(self.hint)
        train: Callable[[Game, Any, Run], None] = importlib.import_module(self.module).train
        return train


def learners() -> dict[str, Learner]:
    """Every learner by name. None of them is ready to train yet: that takes `Learner.training`."""
    found = {}
    for place in pkgutil.iter_modules(__path__, f"{__name__}."):
        module = importlib.import_module(place.name)
        if hasattr(module, "Config"):
            name = place.name.rpartition(".")[2].replace("_", "-")
            missing = (need for need in getattr(module, "NEEDS", ()) if importlib.util.find_spec(need) is None)
            about = (inspect.getdoc(module) or "").splitlines()[0]
            trains = f"{place.name}.training" if place.ispkg else place.name
            tells_games = getattr(module, "TELLS_GAMES", False)
            found[name] = Learner(name, trains, about, module.Config, tuple(missing), tells_games)
    return found


def learner(name: str) -> Learner:
    """The learner of that name."""
    known = learners()
    if name not in known:
        raise TapeteError(f"there is no learner {name!r}; there are {', '.join(known)}")
    return known[name]


def configure(name: str, settings: list[str]) -> Any:
    """The learner's Config with these knobs, written KEY=VALUE, set; of two that are the same the last one counts."""
    for setting in settings:
        if "=" not in setting:
            raise TapeteError(f"{setting!r} is not a knob; knobs are written KEY=VALUE, as in seed=1")
    last = {setting.partition("=")[0].strip(): setting for setting in settings}
    return Call.read(f"{name}({','.join(last.values())})", "learner", {name: learner(name).config}).run()
