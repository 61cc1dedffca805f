"""What people at a table saw happen, and what several of them see alike.

It is told from Views, so a terminal and a browser tell the same, and neither can tell more than a seat may know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tapete.core.game import State, View
from tapete.core.scene import Part, Scene, Things


@dataclass(frozen=True)
class Event:
    """A move as it was seen from some seats."""

    seat: int | None  # who moved; None: chance
    text: str | None  # in notation; None where not all of those seats can know it, and always for chance
    news: tuple[str, ...]  # what it brought about for all to see


def witness(state: State, action: int, seats: Sequence[int]) -> Event:
    """What these seats, all of them, see of a move that is about to be made.

    All of it is made from their views before and after, but for the text of a move that each of them sees: so what is
    told is a function of what they know. The game says which moves are secret (`is_secret` in its notation), and
    `tapete.testing` checks that those it calls open can be told apart by every seat.

    Of chance only the news are told. A hand is a set: the card that came last is nobody's knowledge, even if the seat
    that got it has only now looked at its hand.
    """
    after = state.copy().apply(action)
    return told(state, action, [state.view(seat) for seat in seats], [after.view(seat) for seat in seats])


def told(state: State, action: int, before: Sequence[View], after: Sequence[View]) -> Event:
    """`witness`, for somebody who has the views of the seats before and after the move."""
    first, *others = (now.news(then) for then, now in zip(before, after, strict=True))
    news = tuple(text for text in first if all(text in also for also in others))
    if state.player < 0:
        return Event(None, None, news)
    is_secret = any(view.is_secret for view in before)
    return Event(state.player, None if is_secret else state.write(action), news)


def shared(scenes: Sequence[Scene]) -> Scene:
    """What all see who look at these scenes; a thing that not all of them see lies face down."""
    first, *others = scenes
    if not others:
        return first
    parts = (_alike(part, [scene.parts for scene in others]) for part in first.parts)
    return replace(first, seat=None, parts=tuple(part for part in parts if part is not None), moves=())


def _alike(part: Part, others: list[tuple[Part, ...]]) -> Part | None:
    if all(part in parts for parts in others):
        return part
    if not isinstance(part, Things):
        return None
    twins = [
        next((x.faces for x in parts if isinstance(x, Things) and (x.name, x.owner) == (part.name, part.owner)), ())
        for parts in others
    ]
    if any(len(faces) != len(part.faces) for faces in twins):
        return None
    columns = zip(part.faces, *twins, strict=True)
    return replace(part, faces=tuple(faces[0] if len(set(faces)) == 1 else "" for faces in columns))
