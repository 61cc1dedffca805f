"""Whole games at many tables that share every call of a network, as rows that a learner learns from.

An iteration of a learner begins a game at each table and plays all of them to their end, so nothing is cut off, nothing
is played by an older network, and a checkpoint between two iterations needs no game in it. Moves without a choice are
made and not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import FLOATS, LONGS, kernel
from tapete.core.errors import TapeteError
from tapete.core.evaluator import MakeEvaluator
from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.core.shaping import potential_of
from tapete.core.tables import Tables
from tapete.learn.run import Checkpoint

END = -1  # instead of the number of a decision: there is no other
MOST_ACTIONS = 4096  # for which a mask and a number each are still sensible


class Moment(NamedTuple):
    """Decisions that have to be made at the same time, one a table."""

    seen: NDArray[np.float32]  # [n, observation_size]
    mask: NDArray[np.bool_]  # [n, actions] what is legal
    seats: NDArray[np.int32]  # [n] who moves
    games: NDArray[np.int64]  # [n] at which table


# Chooses an action for each row of a moment [n], and may note further columns about them.
Act = Callable[[Moment], tuple[NDArray[Any], Mapping[str, NDArray[Any]]]]


class Episodes(NamedTuple):
    """N decisions in the order in which they were made, and how their games ended."""

    seen: NDArray[np.float32]  # [N, observation_size]
    mask: NDArray[np.bool_]  # [N, actions]
    seats: NDArray[np.int32]  # [N]
    games: NDArray[np.int64]  # [N]
    actions: NDArray[np.int64]  # [N]
    next: NDArray[np.int64]  # [N] the next decision of the same seat in the same game; END: it has none
    rewards: NDArray[np.float32]  # [N] what the seat gets until then, in units of the highest payoff
    payoffs: NDArray[np.float64]  # [games, seats] as the game pays
    notes: dict[str, NDArray[Any]]  # [N, ...] what `act` noted
    steps: int  # moves of those whom the caller decides for, forced ones too

    def __len__(self) -> int:
        return len(self.actions)


def self_play_tables(
    game: Game, size: int, rng: Rng, players: Sequence[MakeEvaluator | None] = (), *, threads: int = 1
) -> Tables:
    """Tables for `play_games`; with `players`, seats that have one are not the caller's."""
    if game.spec.actions > MOST_ACTIONS:
        raise TapeteError(
            f"{game} has {game.spec.actions:,} actions, more than a network can score one by one; "
            "`tapete train` lists learners that score moves by their features"
        )
    return Tables(game, size, rng, players=players, restart=False, threads=threads)


def play_games(tables: Tables, act: Act, *, shaping: bool = False) -> Episodes:
    """Begins a game at every table and plays it to its end.

    With `shaping` a decision is also paid the change of the game's potential until the next one (Ng, Harada and Russell
    1999), where the game has one (`tapete.core.shaping`).
    """
    game = tables.game
    moments: list[Moment] = []
    chosen: list[NDArray[Any]] = []
    notes: list[Mapping[str, NDArray[Any]]] = []
    tables.begin()
    payoffs, steps = tables.rewards.copy(), 0
    while (tables.counts > 0).any():
        actions = tables.legal[:, 0].copy()
        free = np.flatnonzero(tables.counts > 1)
        steps += int((tables.counts > 0).sum())
        if len(free):
            moment = Moment(tables.observe()[free], tables.mask()[free], tables.movers[free], free)
            picked, noted = act(moment)
            actions[free] = picked
            moments.append(moment)
            chosen.append(np.asarray(picked, dtype=np.int64))
            notes.append(noted)
        tables.step(actions)
        payoffs += tables.rewards
    seen, mask, seats, games = _together(moments, game)
    after = links(games * game.players + seats)
    rewards = np.where(after == END, payoffs[games, seats] / scale_of(game), 0.0).astype(np.float32)
    if shaping:
        potential = potential_of(game)(seen, seats)
        rewards += np.where(after == END, 0, potential[after]) - potential
    noted = {name: np.concatenate([note[name] for note in notes]) for name in (notes[0] if notes else ())}
    acted = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
    return Episodes(seen, mask, seats, games, acted, after, rewards, payoffs, noted, steps)


def _together(moments: Sequence[Moment], game: Game) -> Moment:
    if not moments:  # a game in which nobody ever has a choice
        spec = game.spec
        rows, masks = np.zeros((0, spec.observation_size), np.float32), np.zeros((0, spec.actions), np.bool_)
        return Moment(rows, masks, np.zeros(0, np.int32), np.zeros(0, np.int64))
    return Moment(*(np.concatenate(column) for column in zip(*moments, strict=True)))


def links(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each number the place of the next equal one, or END: [N].

    >>> links(np.array([7, 8, 7, 7])).tolist()
    [2, -1, 3, -1]
    """
    after = np.full(len(keys), END, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    after[order[:-1][same]] = order[1:][same]
    return after


def scale_of(game: Game) -> float:
    """The highest payoff: networks learn payoffs in units of it, so that values lie between -1 and 1."""
    return float(max(map(abs, game.spec.utility))) or 1.0


def returns(episodes: Episodes, gamma: float = 1.0) -> NDArray[np.float32]:
    """What each decision was followed by until the end of its game: [N], discounted."""
    out = np.zeros(len(episodes), dtype=np.float32)
    _returns(episodes.next, episodes.rewards, gamma, out)
    return out


def advantages(episodes: Episodes, values: NDArray[np.float32], gamma: float, share: float) -> NDArray[np.float32]:
    """Generalised advantage estimation (Schulman et al. 2016) over each seat's own decisions: [N].

    `values` [N] are what the network expected; `share` is the paper's lambda.
    """
    out = np.zeros(len(episodes), dtype=np.float32)
    _advantages(episodes.next, episodes.rewards, np.ascontiguousarray(values, dtype=np.float32), gamma, share, out)
    return out


@kernel(types.void(LONGS, FLOATS, types.float64, FLOATS))
def _returns(after: Any, rewards: Any, gamma: float, out: Any) -> None:
    for i in range(len(after) - 1, -1, -1):  # whatever follows stands behind
        out[i] = rewards[i]
        if after[i] != END:
            out[i] += gamma * out[after[i]]


@kernel(types.void(LONGS, FLOATS, FLOATS, types.float64, types.float64, FLOATS))
def _advantages(after: Any, rewards: Any, values: Any, gamma: float, share: float, out: Any) -> None:
    for i in range(len(after) - 1, -1, -1):
        out[i] = rewards[i] - values[i]
        if after[i] != END:
            out[i] += gamma * (values[after[i]] + share * out[after[i]])


def stream_arrays(tables: Tables) -> dict[str, NDArray[Any]]:
    """Where the random streams of tables are, for a checkpoint."""
    return {"tables.chance": tables.floor.chance, "tables.choice": tables.floor.choice}


def load_streams(tables: Tables, checkpoint: Checkpoint) -> None:
    """Puts back what `stream_arrays` took; a game must be begun before anything else is done with the tables."""
    for name, mine in stream_arrays(tables).items():
        checkpoint.fill(name, mine)
