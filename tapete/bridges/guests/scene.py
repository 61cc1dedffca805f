"""The table in OpenSpiel's own words: one note."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapete.bridges.guests.notation import node_of
from tapete.core.scene import Note, Part, Place
from tapete.core.spec import Spec


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """What the seat knows; without one, the whole state."""
    node = node_of(spec, s)
    yield Note(name="table", text=str(node.state) if seat is None else node.line(seat))


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """Every move is a button."""
    return None
