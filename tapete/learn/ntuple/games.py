"""Games that pattern tables play against themselves, looking some moves ahead, and what is noted of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    DOUBLES,
    FLOATS,
    STATE_PTR,
    UINT64_PTR,
    WORDS,
    ahead,
    float64_ptr,
    helper,
    kernel,
    uint64_ptr,
)
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import doubles_at, floats_at, ints_at, states_at
from tapete.core.game import Game
from tapete.core.records import copy_state
from tapete.core.rng import below, uniform
from tapete.nets.ntuple import find_entries, open_net, score_of, settle

OWN = 12  # addresses of a model that belong to the network; those of the search follow


class Level(NamedTuple):
    """Room for one level of a search."""

    states: Any  # [width] after each move
    legal: Any  # [width]
    scores: Any  # [width] what the tables say of them
    order: Any  # [width] the moves from the most promising one on
    choice: Any  # the best move
    payoffs: Any  # [2]


def room(game: Game, levels: int) -> tuple[NDArray[Any], ...]:
    """What `open_level` is given the addresses of, behind those of the network."""
    width = game.spec.max_actions
    return (
        np.array([width], dtype=np.int32),
        np.zeros(levels * width * game.size, dtype=np.uint8),
        np.zeros((levels, width), dtype=np.int32),
        np.zeros((levels, width), dtype=np.float32),
        np.zeros((levels, width), dtype=np.int32),
        np.zeros(levels, dtype=np.int32),
        np.zeros(2),
        np.zeros(game.size, dtype=np.uint8),  # the state of a game that is played
    )


@helper
def open_level(model: Any, level: int, size: int) -> Any:
    """The room of a level; `size` is that of a state."""
    first = level * ints_at(model[OWN])[0]
    return Level(
        ahead(states_at(model[OWN + 1]), first * size),
        ahead(ints_at(model[OWN + 2]), first),
        ahead(floats_at(model[OWN + 3]), first),
        ahead(ints_at(model[OWN + 4]), first),
        ahead(ints_at(model[OWN + 5]), level),
        doubles_at(model[OWN + 6]),
    )


@helper
def sort_moves(rules: Any, net: Any, room: Any, state: Any, seat: int, n: int) -> None:
    """Makes each of the moves in a copy of the state, judges what comes of it, and puts them in order."""
    for i in range(n):
        child = ahead(room.states, i * net.size)
        copy_state(child, state, net.size)
        rules.apply(child, room.legal[i])
        room.scores[i] = score_of(rules, net, child, seat, room.payoffs)
        place = i
        while place > 0 and room.scores[room.order[place - 1]] < room.scores[i]:
            room.order[place] = room.order[place - 1]
            place -= 1
        room.order[place] = i


@helper
def best_move(rules: Any, net: Any, room: Any, state: Any, seat: int, n: int, high: float) -> float:
    """The sum after the best move, looking no further; any that reaches `high` will do."""
    best = -np.inf
    for i in range(n):
        copy_state(net.child, state, net.size)
        rules.apply(net.child, room.legal[i])
        score = score_of(rules, net, net.child, seat, room.payoffs)
        if score > best:
            best = score
            room.choice[0] = room.legal[i]
            if best >= high:
                break
    return best


@kernel(types.float64(UINT64_PTR, UINT64_PTR, STATE_PTR, types.int64, types.int64, types.float64, types.float64))
def look_ahead(rulebook: Any, model: Any, state: Any, level: int, depth: int, low: float, high: float) -> float:
    """Alpha-beta from a settled state: the sum for its mover after the best move, which is the level's `choice`."""
    rules, net = open_rules(rulebook), open_net(model)
    room = open_level(model, level, net.size)
    seat, n = rules.player(state), rules.actions(state, room.legal)
    if depth <= 1:
        return best_move(rules, net, room, state, seat, n, high)
    sort_moves(rules, net, room, state, seat, n)
    best = -np.inf
    for i in range(n):
        move = room.order[i]
        child = ahead(room.states, move * net.size)
        mover = rules.player(child)
        if mover == TERMINAL:
            score = float(room.scores[move])
        elif mover == seat:
            score = look_ahead(rulebook, model, child, level + 1, depth - 1, max(low, best), high)
        else:
            score = -look_ahead(rulebook, model, child, level + 1, depth - 1, -high, -max(low, best))
        if score > best:
            best = score
            room.choice[0] = room.legal[move]
        if best >= high:
            break
    return best


class Batch(NamedTuple):
    """Positions in which there was a choice, of one game after another."""

    found: NDArray[np.int32]  # [room, lanes] the entries of a position
    targets: NDArray[np.float32]  # [room] what it is pulled towards: first what the search said, for the mover
    seats: NDArray[np.int8]  # [room] who was to move
    strayed: NDArray[np.bool_]  # [room] whether a random move was made in place of the best one


BATCH_TYPE = types.NamedTuple([types.int32[:, ::1], FLOATS, types.int8[::1], types.boolean[::1]], Batch)


class Play(NamedTuple):
    """How games are played."""

    depth: int
    endgame: int
    opening: int
    epsilon: float
    trace: float


PLAY_TYPE = types.NamedTuple([types.int64, types.int64, types.int64, types.float64, types.float64], Play)


@helper
def empty_squares(net: Any) -> int:
    """Of the board in `planes`."""
    empty = net.squares
    for square in range(2 * net.squares):
        empty -= int(net.planes[square])
    return empty


@helper
def open_game(rules: Any, net: Any, state: Any, params: Any, moves: int, rng: Any) -> None:
    """A game after some random moves; forced ones don't count."""
    rules.start(state, params)
    for _ in range(moves):
        n = settle(rules, net, state)
        if n > 0:
            rules.apply(state, net.legal[below(rng, n)])


@helper
def play_game(rulebook: Any, model: Any, state: Any, play: Any, batch: Any, first: int, rng: Any) -> int:
    """From here to the end, noting every position in which there is a choice; returns where the next would be noted."""
    rules, net = open_rules(rulebook), open_net(model)
    room = open_level(model, 0, net.size)
    t = first
    while True:
        n = settle(rules, net, state)
        if n == 0:
            return t
        seat = rules.player(state)
        rules.observe(state, seat, net.planes)
        find_entries(net, n)
        for lane in range(net.patterns + 2):
            batch.found[t, lane] = net.found[lane]
        depth = max(play.depth, play.endgame) if empty_squares(net) <= play.endgame else play.depth
        batch.targets[t] = math.tanh(look_ahead(rulebook, model, state, 0, depth, -np.inf, np.inf))
        move = room.legal[below(rng, n)] if uniform(rng) < play.epsilon else room.choice[0]
        batch.seats[t] = seat
        batch.strayed[t] = move != room.choice[0]
        rules.apply(state, move)
        t += 1


@helper
def mix_returns(batch: Any, first: int, end: int, payoff: float, trace: float) -> None:
    """Mixes into what the search said what came later: the lambda-return. After a random move nothing that came counts.

    `payoff` is that of seat 0. The last position knows no better than what happened.
    """
    later = payoff
    for t in range(end - 1, first - 1, -1):
        side = 1.0 - 2.0 * batch.seats[t]
        share = 0.0 if batch.strayed[t] else 1.0 if t == end - 1 else trace
        target = (1.0 - share) * batch.targets[t] + share * side * later
        batch.targets[t] = target
        later = side * target


@kernel(types.int64(RULEBOOK, DOUBLES, WORDS, PLAY_TYPE, BATCH_TYPE, types.int64, WORDS))
def play_games(rulebook: Any, params: Any, model: Any, play: Any, batch: Any, games: int, words: Any) -> int:
    """Fills a batch; how many positions it has."""
    rules, net, rng = open_rules(rulebook), open_net(uint64_ptr(model)), uint64_ptr(words)
    payoffs, state = doubles_at(model[OWN + 6]), states_at(model[OWN + 7])
    end = 0
    for _ in range(games):
        first = end
        open_game(rules, net, state, float64_ptr(params), below(rng, play.opening + 1), rng)
        end = play_game(uint64_ptr(rulebook), uint64_ptr(model), state, play, batch, first, rng)
        rules.returns(state, payoffs)
        mix_returns(batch, first, end, payoffs[0] / net.knobs[0], play.trace)
    return end
