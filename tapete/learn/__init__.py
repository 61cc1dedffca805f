"""Learners: a module each, found by folder. What they share is `run`: the folder that a run lives in."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from tapete.core.errors import TapeteError
from tapete.core.names import Call
from tapete.learn.run import Checkpoint, Description, Progress, Run, Watch, read_metrics

__all__ = [
    "Checkpoint",
    "Description",
    "Progress",
    "Run",
    "Watch",
    "configure",
    "knobs",
    "learner",
    "learners",
    "read_metrics",
]


def learners() -> dict[str, str]:
    """The name of every learner, and its module. None of them is imported: most need PyTorch."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        source = Path(*__path__, f"{module.name}.py")
        if source.exists() and "\nclass Config" in source.read_text():
            found[module.name.replace("_", "-")] = f"{__name__}.{module.name}"
    return found


def learner(name: str) -> Any:
    """The module of that name: it has `Config` and `train(game, config, run)`."""
    known = learners()
    if name not in known:
        raise TapeteError(f"there is no learner {name!r}; there are {', '.join(known)}")
    try:
        return importlib.import_module(known[name])
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise TapeteError(f"{name} needs PyTorch, which is not installed: pip install 'tapete[learn]'") from None


def configure(name: str, settings: list[str]) -> Any:
    """The learner's Config with these knobs, written KEY=VALUE, set; of two that are the same the last one counts."""
    for setting in settings:
        if "=" not in setting:
            raise TapeteError(f"{setting!r} is not a knob; knobs are written KEY=VALUE, as in seed=1")
    last = {setting.partition("=")[0].strip(): setting for setting in settings}
    return Call.read(f"{name}({','.join(last.values())})", "learner", {name: learner(name).Config}).run()


def knobs(config: type) -> list[tuple[str, Any, str]]:
    """Every knob of a Config with its usual value and what the comment beside it says."""
    comments = dict(re.findall(r"^ +(\w+): .*?# (.*)$", inspect.getsource(config), re.MULTILINE))
    return [(knob.name, knob.default, comments.get(knob.name, "")) for knob in fields(config)]
