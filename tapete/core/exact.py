"""Games that can be played perfectly near their end.

Such a game's folder has an ``exact.py`` with a function ``think(spec, s) -> Thought | None``: the perfect move of who
is to move, with its payoff as the value and the line that follows, or None where the end is too far away.
"""

from __future__ import annotations

import importlib
import importlib.util

from tapete.core.game import View
from tapete.core.thought import Thought


def judge_exactly(view: View) -> Thought | None:
    """What perfect play does here; None where nobody knows."""
    name = f"{view.game.package}.exact"
    if view.game.spec.hidden or not importlib.util.find_spec(name):
        return None
    return importlib.import_module(name).think(view.game.spec, view.game.record(view._world))
