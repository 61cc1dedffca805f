"""`redeal` in games of any size: the same game, replayed in other worlds.

Worlds that a seat can't tell apart at one moment are led through what really happened next: chance is drawn anew, the
seat makes its own moves, others make those that the seat saw (any that it can't tell from them, where moves are
secret), and only worlds stay in which the seat knows at every step what it really knew. Those that arrive are, by
definition, a sample of the worlds that agree with all that it has seen, so `redeal` must give such worlds equally
often: its worlds are compared with them by what the other seats observe and may do in them.

A `redeal` that ignores something public (a pass, a bid, a result) is caught at the step at which that came out, as far
as the others' observations or moves show it, if about a tenth of the worlds or more are concerned. It can't be seen
where hardly any world arrives: when a seat looks at a whole hand at once, say. There, smaller variants and
`check_redeal` must do.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core import calls
from tapete.core.contract import CHANCE
from tapete.core.game import Game, State
from tapete.core.rng import Rng
from tapete.testing import crowds
from tapete.testing.expect import SIGNIFICANCE, expect, least_alike
from tapete.testing.guards import after, check_observe, check_start, legal, redealt

WORLDS = 300  # that are led through a game side by side
FEWEST = 40  # that must arrive, to be compared
ENUMERATE = 64  # outcomes of chance that are tried one by one where hardly any world arrives by drawing
STEPS = 300  # that are replayed at least,
MOST = 10  # unless that takes so many times as many games
SEATS = 2  # that are followed in each game
BUCKETS = 64  # legal actions of the other mover are counted in so many columns


def check_replays(game: Game, *, games: int, seed: int = 0) -> None:
    """Replays random games in other worlds, each for some of the seats; more `games` where they are short."""
    steps = i = 0
    while game.spec.hidden and (i < games or (steps < STEPS and i < MOST * games)):
        rng = Rng(seed, "replay", i)
        states = _random_game(game, rng)
        steps, i = steps + len(states), i + 1
        seats = list(range(game.players))
        while len(seats) > SEATS:
            seats.remove(rng.choice(seats))
        for seat in seats:
            _follow(states, seat, rng)


def _random_game(game: Game, rng: Rng) -> list[State]:
    """Every state of a random game, with its history."""
    states = [check_start(game)]
    while not states[-1].over:
        state, options = states[-1], legal(states[-1])
        is_chance = state.player == CHANCE
        action = int(calls.draw(game.rulebook, state.data, rng.words)) if is_chance else rng.choice(options)
        states.append(after(state, action))
    return states


class Crowd(NamedTuple):
    """Worlds on their way, with weights: how many times as likely as others they are."""

    worlds: NDArray[np.uint8]  # [worlds, bytes]
    weights: NDArray[np.float64]  # [worlds]


def _follow(states: list[State], seat: int, rng: Rng) -> None:
    """Leads worlds through a game, and compares them with `redeal` wherever some of them fell away."""
    crowd = _redealt(states[0], seat, rng)
    for before, real in pairwise(states):
        arrived = _step(crowd, before, real, seat, rng)
        is_evidence = len(arrived.worlds) < len(crowd.worlds) or len(set(arrived.weights.tolist())) > 1
        if len(arrived.worlds) >= FEWEST and (is_evidence or rng.below(4) == 0):
            _compare(_even(arrived, rng), real, seat, rng)
        crowd = arrived if len(arrived.worlds) > WORLDS // 2 else _redealt(real, seat, rng)


def _redealt(state: State, seat: int, rng: Rng) -> Crowd:
    first = redealt(state, seat, rng)
    for other in range(state.game.players):
        check_observe(first, other)  # all in watched memory, before many are made without
    worlds = np.repeat(state.data[None], WORLDS, axis=0)
    crowds.redeal_all(state.game.rulebook, worlds, seat, rng.words)
    return Crowd(worlds, np.ones(WORLDS))


def _step(crowd: Crowd, before: State, real: State, seat: int, rng: Rng) -> Crowd:
    """The worlds in which the seat knows the same after the move as it really does."""
    action = (real.history or [])[-1]
    known = real.infoset(seat)
    if before.player == CHANCE:
        arrived = _draw(crowd, before.game, seat, known, rng)
        few = len(arrived.worlds) < FEWEST and before.game.spec.outcomes <= ENUMERATE
        return _try_all(crowd, before.game, seat, known, rng) if few else arrived
    if before.view(seat).is_secret:
        return _try_all(crowd, before.game, seat, known, rng)
    return _repeat(crowd, before.game, seat, known, action)


def _repeat(crowd: Crowd, game: Game, seat: int, known: int, action: int) -> Crowd:
    """The same move again, where it can be made."""
    worlds, kept, (legal, _) = crowd.worlds.copy(), np.zeros(len(crowd.worlds), dtype=np.int8), _room(game)
    crowds.repeat(game.rulebook, worlds, seat, np.uint64(known), action, legal, kept)
    return Crowd(worlds[kept > 0], crowd.weights[kept > 0])


def _draw(crowd: Crowd, game: Game, seat: int, known: int, rng: Rng) -> Crowd:
    """What chance does this time, where the seat can't tell it from what it really did."""
    worlds, kept = crowd.worlds.copy(), np.zeros(len(crowd.worlds), dtype=np.int8)
    crowds.draw(game.rulebook, worlds, seat, np.uint64(known), rng.words, kept)
    return Crowd(worlds[kept > 0], crowd.weights[kept > 0])


def _try_all(crowd: Crowd, game: Game, seat: int, known: int, rng: Rng) -> Crowd:
    """One of all moves, or outcomes of chance, that lead to what the seat knows; the weight tells how many did."""
    worlds, totals = crowd.worlds.copy(), np.zeros(len(crowd.worlds))
    after, chosen = np.zeros((2, game.size), dtype=np.uint8)
    crowds.try_all(game.rulebook, worlds, seat, np.uint64(known), rng.words, *_room(game), after, chosen, totals)
    return Crowd(worlds[totals > 0], (crowd.weights * totals)[totals > 0])


def _room(game: Game) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Room for what can happen in a state, and how likely it is."""
    width = max(game.spec.max_actions, game.spec.outcomes, 1)
    return np.zeros(width, dtype=np.int32), np.zeros(width)


def _even(crowd: Crowd, rng: Rng) -> NDArray[np.uint8]:
    """Worlds of equal weight: each stays with a probability in proportion to its own."""
    most = crowd.weights.max()
    kept = [rng.uniform() * most < weight for weight in crowd.weights]
    return crowd.worlds[np.array(kept)]


def _compare(arrived: NDArray[np.uint8], real: State, seat: int, rng: Rng) -> None:
    """The worlds that arrived against those of `redeal`."""
    game, world = real.game, real.view(seat)._world
    for data in arrived[:3]:
        same = bool((State(game, data, None).view(seat)._world == world).all())
        expect(same, f"a world redealt for seat {seat} depends on what it can't know", real)
    if len(arrived) < FEWEST:
        return
    names, ours = _outlook(arrived, game, seat)
    _, theirs = _outlook(_redealt(real, seat, rng).worlds, game, seat)
    p, difference, column = least_alike(ours, theirs)
    expect(
        p > SIGNIFICANCE,
        f"redeal for seat {seat} forgets something that it has seen. In other worlds in which all happened as it did, "
        f"{names(column)} {difference} (p = {p:.1g})",
        real,
    )


def _outlook(worlds: NDArray[np.uint8], game: Game, seat: int) -> tuple[Callable[[int], str], NDArray[np.float32]]:
    """What the other seats observe and may do, [worlds, columns], and what each column is called."""
    others = [other for other in range(game.players) if other != seat]
    size = game.spec.observation_size
    table = np.zeros((len(worlds), len(others) * size + BUCKETS), dtype=np.float32)
    seats, (legal, _) = np.array(others, dtype=np.int32), _room(game)
    crowds.look_all(game.rulebook, worlds, seats, size, BUCKETS, legal, table)

    def name(column: int) -> str:
        who, at = divmod(column, size)
        if who >= len(others):
            return f"the number of legal actions {column - len(others) * size} modulo {BUCKETS}"
        for part in game.spec.observation(others[who]):
            if at < part.size:
                return f"{part.name}[{at}] of seat {others[who]}"
            at -= part.size
        return "nothing"

    return name, table
