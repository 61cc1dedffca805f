"""A card each, and a coin."""

from collections.abc import Iterator
from typing import Any

from tapete.core.scene import Note, Part, Place, Things
from tapete.core.spec import Spec


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """The cards, and what was said."""
    for owner in range(2):
        if s["card"][owner] >= 0:
            is_open = seat in (owner, None) or s["shown"] == 1
            yield Things(name="card", kind="number", faces=(str(s["card"][owner] + 1) if is_open else "",), owner=owner)
    if s["higher"] >= 0:
        yield Note(name="higher", text=f"seat {s['higher']}")


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """All moves are buttons."""
    return None
