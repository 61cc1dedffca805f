"""What a seat knows, and whether what it gets depends on anything else.

The slow reference of an information set is the list of all lines that `describe` has shown to the seat. What is handed
to it (a view, the story of a move) must be the same in all worlds that it can't tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tapete.core.game import State, View
from tapete.core.story import Event, told
from tapete.testing.expect import expect, moves

Told = tuple[Event | None, int | None]


@dataclass
class Memory:
    """What was known, seen and told where; the same knowledge must always come with the same of each."""

    knowledge: dict[tuple[int, int], int] = field(default_factory=dict)  # (seat, key) -> knowledge
    keys: dict[tuple[int, int], int] = field(default_factory=dict)  # (seat, knowledge) -> key
    # (seat, key) -> the world of its view, and the moves that led there
    views: dict[tuple[int, int], tuple[bytes, State]] = field(default_factory=dict)
    stories: dict[tuple[int, int, int], Told] = field(default_factory=dict)  # (seat, key before, key after) -> told

    def check_knowledge(self, state: State, seat: int, seen: Sequence[str]) -> None:
        """`seen` is all that the seat has been shown, moment by moment, without repetitions."""
        key, known = state.infoset(seat), hash(tuple(seen))
        expect(
            self.knowledge.setdefault((seat, key), known) == known, f"infoset forgets what seat {seat} has seen", state
        )
        expect(self.keys.setdefault((seat, known), key) == key, f"infoset knows more than seat {seat} has seen", state)

    def check_view(self, state: State, view: View) -> None:
        """States that a seat can't tell apart give it one view; where nothing is hidden there is only one state."""
        world, seat = view._world.tobytes(), view.seat
        key = seat, state.infoset(seat)
        if key not in self.views:
            self.views[key] = world, state.copy()
        first, there = self.views[key]
        if not state.game.spec.hidden:
            known = first == world == state.data.tobytes()
            expect(known, f"the Spec says hidden=False, but seat {seat} doesn't know all of the state", state)
        message = f"a world redealt for seat {seat} depends on what it can't know"
        expect(first == world, f"{message}, for infoset can't tell it from {moves(there)}", state)

    def check_story(self, state: State, action: int, before: View, after: View) -> None:
        """What is told of a move is a function of what the seat knows before it and after it."""
        seat = before.seat
        story = as_told(state, action, before, after)
        first = self.stories.setdefault((seat, before.infoset, after.infoset), story)
        expect(first == story, f"seat {seat} is told {story} of a move that it can't tell from {first}", state)


def as_told(state: State, action: int, before: View, after: View) -> Told:
    """What a seat is told of a move, nothing where nothing happened for it; and the number of a move that it sees.

    A move that is seen has one number in all worlds that the seat can't tell apart: searches rely on it.
    """
    event = told(state, action, [before], [after])
    if event.seat is None:
        return (event if event.news else None), None
    return event, action if event.text is not None else None
