"""The updates that everything here shares: how one regret changes, and how regrets become a strategy.

They are helpers on single numbers, so that they serve arrays of any shape and precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapete.core.compile import helper

TINY = np.float32(1e-30)


@helper
def updated(regret: Any, gain: Any, keep_positive: Any, keep_negative: Any, floor: bool) -> Any:
    """The regret after an iteration in which the action would have gained that much more than the strategy did.

    It is as much as the next iteration keeps of it, so that a prediction only has to be added.
    """
    total = regret + gain
    kept = total * (keep_positive if total > 0 else keep_negative)
    # Discounted for long enough, a regret leaves the range in which the processor is fast: it is zero then.
    return kept * 0 if abs(kept) < TINY or (floor and kept < 0) else kept


@helper
def eagerness(regret: Any, last_gain: Any) -> Any:
    """What an action's probability is proportional to; the last gain is zero where nothing is predicted."""
    expected = regret + last_gain
    return expected if expected > 0 else expected * 0
