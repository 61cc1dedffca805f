"""What is drawn at a table."""

from __future__ import annotations

import secrets

from tapete.core import CHANCE, Rng
from tapete.web.table import Table


def fresh() -> Rng:
    """A generator that nobody can foresee, a new one for every move: from what was seen, nothing follows."""
    return Rng(secrets.randbits(256))


def deal(table: Table) -> None:
    """Lets chance move at a table, where it has to."""
    if table.state.player == CHANCE:
        table.deal(fresh())
