"""Worlds that a seat can't tell apart, of a game of OpenSpiel's.

They are those whose histories show the seat what it has seen, and lead to what it knows now. They are listed step by
step, each with the probability that chance gives it, the players' moves taken as given. Where more than `MOST` are on
the way, OpenSpiel is asked, if it can resample the game; else so many go on as a sample of all of them, by weight (a
particle filter), and what arrives stands for all worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

from tapete.bridges.guests.nodes import Guests, Node, loaded
from tapete.core.contract import TERMINAL
from tapete.core.errors import TapeteError
from tapete.core.rng import Rng

MOST = 1024  # histories that are followed at once
REMEMBERED = 256  # crowds

Item = TypeVar("Item")


class Crowd(NamedTuple):
    """Histories of worlds, with weights."""

    worlds: list[tuple[bytes, float]]
    is_all: bool  # not a sample


class Worlds:
    """The worlds of one game."""

    def __init__(self, guests: Guests) -> None:
        self.guests = guests
        self._crowds: dict[tuple[int, int], Crowd] = {}
        self._resamples = True  # until OpenSpiel says no

    def draw(self, node: Node, seat: int, rng: Rng) -> bytes:
        """The history of a world. It depends on what the seat knows and on the generator, on nothing else."""
        crowd = self.crowd(node, seat)
        world = None if crowd.is_all else self._resampled(node, seat, rng)
        return _pick(crowd.worlds, rng.uniform()) if world is None else world

    def are_moves_seen(self, node: Node, seat: int) -> bool:
        """Whether the seat will know the number of the move that is made here, in whatever world; else it is secret."""
        crowd = self.crowd(node, seat)
        numbers: dict[int, int] = {}
        for history, _ in crowd.worlds:
            world = self.guests.node(history)
            for action, (child, _) in zip(world.options, self.guests.children(world), strict=True):
                if numbers.setdefault(child.key(seat), action) != action:
                    return False
        return crowd.is_all

    def crowd(self, node: Node, seat: int) -> Crowd:
        """The worlds that the seat can't tell from a state."""
        goal = node.key(seat)
        if (seat, goal) not in self._crowds:
            if len(self._crowds) >= REMEMBERED:
                self._crowds.clear()
            self._crowds[seat, goal] = self._gather(node.path(seat), goal, seat)
        return self._crowds[seat, goal]

    def _gather(self, path: set[int | str], goal: int, seat: int) -> Crowd:
        rng = Rng("worlds", seat, goal)
        found: list[tuple[bytes, float]] = []
        level, is_all = [(self.guests.root, 1.0)], True
        while level:
            found += [(node.history, weight) for node, weight in level if node.key(seat) == goal]
            below = [
                (child, weight * prob)
                for node, weight in level
                for child, prob in self.guests.children(node)
                if child.who != TERMINAL and child.trace(seat) in path
            ]
            is_all = is_all and len(below) <= MOST
            level = below if len(below) <= MOST else _thinned(below, rng.uniform())
        if not found:
            raise TapeteError(f"no world was found that seat {seat} can't tell from the real one")
        return Crowd(found, is_all)

    def _resampled(self, node: Node, seat: int, rng: Rng) -> bytes | None:
        """A world by OpenSpiel's own method, where the seat is to move and it has one."""
        if not self._resamples or node.who != seat:
            return None
        try:
            state: Any = node.state.resample_from_infostate(seat, rng.uniform)
        except self.guests.pyspiel.SpielError:
            self._resamples = False
            return None
        world = self.guests.node(b"".join(action.to_bytes(4, "little") for action in state.history()))
        return world.history if world.key(seat) == node.key(seat) else None


@cache
def worlds_of(name: str) -> Worlds:
    """The worlds of the game of that name, once a process."""
    return Worlds(loaded(name))


def _pick(items: Sequence[tuple[Item, float]], where: float) -> Item:
    """One of the items, by weight; 0 <= where < 1."""
    at = where * sum(weight for _, weight in items)
    for item, weight in items:
        at -= weight
        if at < 0:
            return item
    return items[-1][0]


def _thinned(items: Sequence[tuple[Item, float]], where: float) -> list[tuple[Item, float]]:
    """`MOST` of the items, in proportion to their weights, each with its share of all weight; 0 <= where < 1."""
    sums = list(accumulate(weight for _, weight in items))
    share, at = sums[-1] / MOST, 0
    chosen = []
    for i in range(MOST):
        while sums[at] < (i + where) * share and at < len(items) - 1:
            at += 1
        chosen.append((items[at][0], share))
    return chosen
