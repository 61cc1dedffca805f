"""What a seat had to decide in a finished game, with all that it knew by then, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapete.core import CHANCE, Game, Rng, View

NOT_MINE = -1  # in `Past.moves`, where somebody else moved


@dataclass(frozen=True)
class Past:
    """A game as a seat saw it: what it knew after every move, and its own moves.

    Two games that the seat can't tell apart have the same past, so whatever is made of it depends on nothing hidden.
    """

    keys: tuple[int, ...]  # [plies] its information set after each move, of chance too
    moves: tuple[int, ...]  # [plies] its own actions; NOT_MINE elsewhere
    dealt: tuple[tuple[int, View], ...]  # where chance had just dealt something: the ply, and what the seat saw


@dataclass(frozen=True)
class Choice:
    """Something that a seat had to decide."""

    ply: int
    view: View
    action: int  # what it did
    past: Past

    @property
    def rng(self) -> Rng:
        """The stream by which this is judged: the same for all games that the seat can't tell apart."""
        return Rng("review", self.view.seat, self.view.infoset)


def choices(game: Game, history: Sequence[int], seat: int) -> list[Choice]:
    """All that a seat had to decide where it had a choice."""
    state, found = game.start(), list[Choice]()
    keys, moves, dealt = list[int](), list[int](), list[tuple[int, View]]()
    was_chance = False
    for ply, action in enumerate(history):
        mover = state.player
        if was_chance and mover != CHANCE:
            dealt.append((ply, state.view(seat)))
        was_chance = mover == CHANCE
        if mover == seat and len(state.actions()) > 1:
            past = Past(tuple(keys), tuple(moves), tuple(dealt))
            found.append(Choice(ply, state.view(seat), action, past))
        state.apply(action)
        keys.append(state.infoset(seat))
        moves.append(action if mover == seat else NOT_MINE)
    return found
