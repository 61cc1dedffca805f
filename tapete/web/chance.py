"""What is drawn at a table."""

from __future__ import annotations

import secrets

from tapete.core import Rng


def fresh() -> Rng:
    """A generator that nobody can foresee, a new one for every move: from what was seen, nothing follows."""
    return Rng(secrets.randbits(256))
