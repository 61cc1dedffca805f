"""The tables of a learner as compiled code sees them, and what threads do with their share of them.

A task (`tapete.core.crew`) is handed words: those of a `Floor`, of the players who sit there and of an `Order`. Hidden
in `Tables`, which is what everybody else uses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    DOUBLE_ROWS,
    DOUBLES,
    FLAGS,
    FLOAT_ROWS,
    INT_ROWS,
    INTS,
    LONGS,
    STATES,
    WORD_ROWS,
    ahead,
    helper,
    innermost,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.crew import task
from tapete.core.players import SEATED, Seated, choose
from tapete.core.records import copy_state, opener
from tapete.core.rng import below

ASK = 1  # instead of the address of a player: the caller of `step` decides
PATIENCE = 10_000  # games in a row that may end before the caller has to move


class Floor(NamedTuple):
    """B tables as a task sees them."""

    states: NDArray[np.uint8]  # [B, bytes]
    ended: NDArray[np.uint8]  # [B, bytes] the state in which the last game at the table ended
    movers: NDArray[np.int32]  # [B] the seat to move; TERMINAL where a game is over and nobody began another
    legal: NDArray[np.int32]  # [B, max_actions] the mover's legal actions, ascending
    counts: NDArray[np.int32]  # [B] how many they are; 0 where the game is over
    over: NDArray[np.int8]  # [B] whether the last step ended the game
    rewards: NDArray[np.float64]  # [B, seats] the payoffs, where the last step ended the game; else zeros
    games: NDArray[np.int64]  # [B] how many ended so far, those that never came to the caller among them
    totals: NDArray[np.float64]  # [B, seats] the payoffs of all those games, added up
    chance: NDArray[np.uint64]  # [B, 4] the stream that cards are drawn from
    choice: NDArray[np.uint64]  # [B, 4] the stream of `sample` and of compiled players
    size: int  # bytes of a state
    width: int  # max_actions
    seats: int


NUMBER = types.int64
FLOOR = types.NamedTuple(
    [
        *(STATES, STATES, INTS, INT_ROWS, INTS, FLAGS, DOUBLE_ROWS, LONGS, DOUBLE_ROWS, WORD_ROWS, WORD_ROWS),
        *(NUMBER, NUMBER, NUMBER),
    ],
    Floor,
)


class Order(NamedTuple):
    """What one thread is to do with its share of the tables."""

    rulebook: NDArray[np.uint64]
    params: NDArray[np.float64]
    first: int  # table of its share
    end: int  # of its share
    restart: int  # whether a finished game is followed by another one
    begun: NDArray[np.int8]  # [B] where a game is to begin
    chosen: NDArray[np.int32]  # [B] actions that were drawn, or are to be made
    looking: NDArray[np.int32]  # [B] which seat looks; nobody where it is negative
    watched: NDArray[np.uint8]  # [B, bytes] at what
    seen: NDArray[np.float32]  # [B, observation_size] out
    masks: NDArray[np.int8]  # [B, actions] out
    offsets: NDArray[np.int64]  # [B + 1] where the rows of a table's actions begin
    rows: NDArray[np.float32]  # [actions of all tables, feature_size] out
    observation_size: int
    actions: int
    feature_size: int


ORDER = types.NamedTuple(
    [
        *(RULEBOOK, DOUBLES, NUMBER, NUMBER, NUMBER, FLAGS, INTS, INTS, STATES, FLOAT_ROWS, FLAGS, LONGS),
        *(FLOAT_ROWS, NUMBER, NUMBER, NUMBER),
    ],
    Order,
)
# A thread is handed the words of three records, one behind the other.
SEATED_AT = len(Floor._fields)
ORDER_AT = SEATED_AT + len(Seated._fields)
open_floor, open_seated, open_order = opener(FLOOR), opener(SEATED), opener(ORDER)


@innermost
def _forget_end(floor: Any, i: int) -> None:
    """What the step before told is no longer so."""
    if floor.over[i]:
        floor.over[i] = 0
        for seat in range(floor.seats):
            floor.rewards[i * floor.seats + seat] = 0.0


@innermost
def _is_asked(seated: Any, who: int) -> bool:
    """Whether the caller decides for who is to move."""
    return who >= 0 and seated.functions[who] == ASK


@helper
def _settle(words: Any, i: int) -> None:
    """A game is over: pays, and keeps the first end of a step for the caller to look at."""
    floor, payoffs = open_floor(words), open_seated(ahead(words, SEATED_AT)).values
    seats, state = floor.seats, ahead(floor.states, i * floor.size)
    open_rules(open_order(ahead(words, ORDER_AT)).rulebook).returns(state, payoffs)
    for seat in range(seats):
        floor.totals[i * seats + seat] += payoffs[seat]
    floor.games[i] += 1
    if not floor.over[i]:
        floor.over[i] = 1
        for seat in range(seats):
            floor.rewards[i * seats + seat] = payoffs[seat]
        copy_state(ahead(floor.ended, i * floor.size), state, floor.size)


@helper
def _let_play(words: Any, i: int, who: int) -> None:
    """A compiled player makes his move."""
    floor, book = open_floor(words), open_order(ahead(words, ORDER_AT)).rulebook
    seated, rules = open_seated(ahead(words, SEATED_AT)), open_rules(book)
    state, legal = ahead(floor.states, i * floor.size), ahead(floor.legal, i * floor.width)
    n = rules.actions(state, legal)
    rules.apply(state, legal[choose(book, state, who, legal, n, seated, who, ahead(floor.choice, 4 * i))])


@helper
def _go_on(words: Any, i: int, who: int) -> Any:
    """Chance and compiled players move, games end and begin, until the caller is asked; who that is, or TERMINAL."""
    floor, seated, order = open_floor(words), open_seated(ahead(words, SEATED_AT)), open_order(ahead(words, ORDER_AT))
    state, rules = ahead(floor.states, i * floor.size), open_rules(order.rulebook)
    patience = PATIENCE
    while not _is_asked(seated, who):
        if who == CHANCE:
            rules.apply(state, rules.draw(state, ahead(floor.chance, 4 * i)))
        elif who == TERMINAL:
            _settle(words, i)
            patience -= 1
            if not order.restart or patience == 0:
                break
            rules.start(state, order.params)
        else:
            _let_play(words, i, who)
        who = rules.player(state)
    return who


@innermost
def _arrive(words: Any, i: int) -> None:
    """Goes on at a table until the caller has to move there, or for good where games don't restart."""
    floor, seated, order = open_floor(words), open_seated(ahead(words, SEATED_AT)), open_order(ahead(words, ORDER_AT))
    state, rules = ahead(floor.states, i * floor.size), open_rules(order.rulebook)
    who = rules.player(state)
    if not _is_asked(seated, who):  # seldom, so the way around it is short
        who = _go_on(words, i, who)
    floor.movers[i] = who
    floor.counts[i] = rules.actions(state, ahead(floor.legal, i * floor.width)) if who != TERMINAL else 0


@task
def begin(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        if order.begun[i]:
            _forget_end(floor, i)
            open_rules(order.rulebook).start(ahead(floor.states, i * floor.size), order.params)
            _arrive(words, i)


@innermost
def _move(words: Any, i: int, action: int) -> None:
    """Makes a move at a table, unless it waits for a game to begin."""
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    _forget_end(floor, i)
    if floor.movers[i] != TERMINAL:
        open_rules(order.rulebook).apply(ahead(floor.states, i * floor.size), action)
        _arrive(words, i)


@innermost
def _draw(floor: Any, i: int) -> Any:
    """A legal action at a table, any of them; 0 where there is none."""
    n = floor.counts[i]
    return floor.legal[i * floor.width + below(ahead(floor.choice, 4 * i), n)] if n > 0 else 0


@task
def step(words: Any) -> None:
    order = open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        _move(words, i, order.chosen[i])


@task
def step_at_random(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        _move(words, i, _draw(floor, i))


@task
def sample(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        order.chosen[i] = _draw(floor, i)


@task
def mask(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    for i in range(order.first, order.end):
        mask, legal = ahead(order.masks, i * order.actions), ahead(floor.legal, i * floor.width)
        for action in range(order.actions):
            mask[action] = 0
        for j in range(floor.counts[i]):
            mask[legal[j]] = 1


@task
def observe(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    rules = open_rules(order.rulebook)
    for i in range(order.first, order.end):
        seen = ahead(order.seen, i * order.observation_size)
        if order.looking[i] >= 0:
            rules.observe(ahead(order.watched, i * floor.size), order.looking[i], seen)
        else:
            for k in range(order.observation_size):
                seen[k] = 0.0


@task
def features(words: Any) -> None:
    floor, order = open_floor(words), open_order(ahead(words, ORDER_AT))
    rules, size = open_rules(order.rulebook), order.feature_size
    for i in range(order.first, order.end):
        state, legal = ahead(floor.states, i * floor.size), ahead(floor.legal, i * floor.width)
        for j in range(floor.counts[i]):
            rules.features(state, legal[j], ahead(order.rows, (order.offsets[i] + j) * size))
