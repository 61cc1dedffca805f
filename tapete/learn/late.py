"""PyTorch, imported when something of it is first used: `tapete train` lists all learners where it isn't installed.

A learner is one file, so its knobs stand beside code that needs PyTorch::

    from tapete.learn.late import nets, torch

`nets` is `tapete.nets.torch`.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Late(ModuleType):
    """Stands for a module until something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, found)  # the next time it is asked for, this is not called
        return found


if TYPE_CHECKING:
    import torch

    import tapete.nets.torch as nets
else:
    torch, nets = _Late("torch"), _Late("tapete.nets.torch")

__all__ = ["nets", "torch"]
