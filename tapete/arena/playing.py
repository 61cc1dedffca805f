"""One game between agents, on a deal that can be dealt again.

A deal is everything in a game that is drawn at random, by name. Each event of chance has a stream of its own, numbered
in the order of the game, so that two games on one deal see the same cards as long as play coincides, and afterwards
the same card wherever the same cards are left: the board of hold'em is the same after any betting, and so is the third
hand of a truco, however the first two were played. Each seat has a stream too, whoever sits there. Agents that are the
same therefore play the same game, and in a match of an agent against itself the sides differ by exactly nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import NamedTuple

import numpy as np

from tapete.agents import Policy, draw
from tapete.arena.lineups import SIDES
from tapete.arena.luck import Likely, Value, surprise
from tapete.core import CHANCE, TERMINAL, Game, Rng, State, TapeteError, calls
from tapete.core.thought import check_thought


class Deal(NamedTuple):
    """The random streams of a game."""

    seed: int
    number: int

    def stream(self, *keys: int | str) -> Rng:
        """The stream of an event of chance, of the opening, of a seat."""
        return Rng(self.seed, "match", self.number, *keys)


class Played(NamedTuple):
    """A game that is over."""

    deal: int
    lineup: str  # who sat where: "AB", "BA", "ABB"
    actions: tuple[int, ...]  # of chance too; `game.replay(actions)` is the final state
    returns: tuple[float, ...]  # the payoffs, one a seat
    moves: tuple[int, int]  # of A and of B, those of a random opening not counted
    seconds: tuple[float, float]  # that they thought
    draws: int  # how often chance, or an agent that was not sure of its move, might have done something else
    luck: tuple[float, ...] = ()  # what was drawn brought each seat so much, where a value judged it
    teams: tuple[str, ...] = ()  # of each seat, in games that are played in teams


class Stopped(Exception):
    """Somebody wants the game to end here."""


def play(
    game: Game,
    lineup: str,
    sides: Mapping[str, Callable[[Game], Policy]],
    deal: Deal,
    *,
    openings: int = 0,
    value: Value | None = None,
    stop: Event | None = None,
) -> Played:
    """Plays a game to its end, with a fresh agent on every seat.

    :param lineup: which side sits where, as in "ABB".
    :param sides: for "A" and "B", what makes an agent.
    :param deal: the random streams of chance, of the opening and of each seat.
    :param openings: how many plies of players are random at the beginning.
    :param value: what states are worth to each seat, to tell how lucky everybody was: see `tapete.arena.luck`.
    :param stop: ends the game with `Stopped` before the next move once it is set.
    """
    state = game.start()
    seats = [sides[side](game) for side in lineup]
    streams = [deal.stream("seat", seat) for seat in range(game.players)]
    opening = deal.stream("opening")
    moves, seconds = [0, 0], [0.0, 0.0]
    luck = np.zeros(game.players)
    draws = events = 0
    likely: Likely  # what might have happened instead
    while (seat := state.player) != TERMINAL:
        before = state.copy() if value else state
        if seat == CHANCE:
            likely = dict(state.outcomes())
            _draw(state, deal.stream("chance", events))
            events += 1
            draws += is_open(likely)
        elif openings > 0:
            likely = dict.fromkeys(state.actions(), 1.0)
            state.apply(opening.choice([*likely]))
            openings -= 1
        elif stop and stop.is_set():
            raise Stopped
        else:
            side = SIDES.index(lineup[seat])
            likely, taken = _move(state, seats[seat], streams[seat])
            draws += is_open(likely)
            seconds[side] += taken
            moves[side] += 1
        if value and is_open(likely):
            luck += surprise(value, before, likely, state)
    return Played(
        deal.number,
        lineup,
        tuple(state.history or ()),
        tuple(state.returns()),
        (moves[0], moves[1]),
        (seconds[0], seconds[1]),
        draws,
        tuple(luck.tolist()) if value else (),
        state.teams,
    )


def is_open(likely: Likely) -> bool:
    """Whether more than one of these can happen."""
    return sum(probability > 0 for probability in likely.values()) > 1


def _move(state: State, policy: Policy, rng: Rng) -> tuple[Likely, float]:
    """Lets a policy move; returns how likely it was to make each move, and the seconds that it took."""
    view = state.view(state.player)
    began = time.perf_counter()
    try:
        likely = check_thought(policy.think(view, rng)).probabilities
        action = draw(likely, rng)
        taken = time.perf_counter() - began
        state.apply(action)
    except TapeteError as error:
        raise TapeteError(f"{type(policy).__name__} on seat {view.seat}: {error}") from None
    return likely, taken


def _draw(state: State, rng: Rng) -> None:
    """One event of chance: `State.deal` would draw all that follow from the same stream."""
    outcome = int(calls.draw(state.game.rulebook, state.data, rng.words))
    calls.apply(state.game.rulebook, state.data, outcome)
    if state.history is not None:
        state.history.append(outcome)
