"""Worlds that a seat may be in, as likely as what was seen makes them.

Worlds are drawn where chance had just dealt, and led through all that the seat has seen since: where somebody else
moved, the moves that the seat can't tell from the real one are made, and the world counts as much as players whom we
trust would have made them. Only what the seat knew enters (`tapete.review.choices.Past`), never the game itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core import Rng, View
from tapete.core.compile import (
    DOUBLES,
    INTS,
    LONGS,
    STATES,
    WORDS,
    float64_ptr,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator, open_evaluator, words_at
from tapete.core.players import SEATED, Seated
from tapete.core.records import pointers
from tapete.core.rng import uniform
from tapete.review.choices import NOT_MINE, Choice

PROPOSALS = 6000  # worlds that are drawn
ENOUGH = 50.0  # worlds: as many equally likely ones must be left, or what was seen so long ago is left out
SLIP = 0.05  # how often a player does just anything: nobody is as sure as a strategy is
LOOK_BACK = 5  # deals

Worlds = NDArray[np.uint8]  # [worlds, bytes]


def worlds_of(choice: Choice, players: Sequence[Evaluator], count: int, rng: Rng) -> tuple[Worlds, float]:
    """So many worlds of a decision, drawn by how likely they are, and how many different ones those are worth."""
    view, past = choice.view, choice.past
    found, worth = _drawn(view, count, rng), float(count)
    for ply, seen in reversed(past.dealt[-LOOK_BACK:]):  # the more was seen, the better, as long as worlds are left
        drawn, weights = _drawn(seen, PROPOSALS, rng), np.ones(PROPOSALS)
        keys = np.array(past.keys[ply:], dtype=np.uint64)
        moves = np.array(past.moves[ply:], dtype=np.int64)
        models = [player.model for player in players]
        width = max(view.game.spec.max_actions, view.game.spec.outcomes, 1)
        _lead(
            view.game.rulebook, drawn, weights, view.seat, keys, moves, Seated.of(view.game, players, models),
            np.zeros(width, np.int32), np.zeros(width), np.zeros((2, view.game.size), np.uint8), rng.words,
        )  # fmt: skip
        total = weights.sum()
        left = float(total**2 / (weights**2).sum()) if total > 0 else 0.0
        if left < ENOUGH:
            break
        steps = (np.arange(count) + rng.uniform()) * total / count
        found, worth = drawn[np.searchsorted(np.cumsum(weights), steps).clip(max=PROPOSALS - 1)], left
    return found, worth


def _drawn(view: View, count: int, rng: Rng) -> Worlds:
    """So many worlds, all that the seat can't know dealt anew."""
    worlds = np.tile(view.sample(rng).data, (count, 1))
    _redeal(view.game.rulebook, worlds, view.seat, rng.words)
    return worlds


@kernel(types.void(RULEBOOK, STATES, types.int64, WORDS))
def _redeal(rulebook: Any, worlds: Any, seat: int, words: Any) -> None:
    rules = open_rules(rulebook)
    for w in range(len(worlds)):
        rules.redeal(state_ptr(worlds[w]), seat, uint64_ptr(words))


@kernel(
    types.void(
        *(RULEBOOK, STATES, DOUBLES, types.int64, WORDS, LONGS, SEATED),
        *(INTS, DOUBLES, STATES, WORDS),
    )
)
def _lead(
    rulebook: Any, worlds: Any, weights: Any, seat: int, keys: Any, moves: Any, arrays: Any, options: Any, chances: Any,
    rooms: Any, words: Any,
) -> None:  # fmt: skip
    """Leads worlds [W, bytes] through what a seat has seen, and multiplies their weights [W] by how likely that is."""
    rules, book, rng, seated = open_rules(rulebook), uint64_ptr(rulebook), uint64_ptr(words), pointers(arrays)
    choices, shares = int32_ptr(options), float64_ptr(chances)
    for w in range(len(worlds)):
        state = state_ptr(worlds[w])
        for k in range(len(keys)):
            who = rules.player(state)
            n = 0
            if who == TERMINAL or (who == seat) != (moves[k] != NOT_MINE):
                weights[w] = 0.0
                break
            if who == seat:
                n = 1
                choices[0], shares[0] = np.int32(moves[k]), 1.0
            elif who == CHANCE:
                n = rules.outcomes(state, choices, shares)
            else:
                n = rules.actions(state, choices)
                for i in range(n):
                    shares[i] = 1.0 if n == 1 else SLIP / n
                for player in range(len(arrays.functions) if n > 1 else 0):
                    rooms[0] = worlds[w]
                    open_evaluator(seated.functions[player])(
                        book, state_ptr(rooms[0]), who, choices, n, words_at(seated.models[player]), rng, seated.values,
                        seated.priors,
                    )  # fmt: skip
                    for i in range(n):
                        shares[i] += (1.0 - SLIP) * seated.priors[i] / len(arrays.functions)
            total = 0.0
            for i in range(n):
                rooms[0] = worlds[w]
                rules.apply(state_ptr(rooms[0]), choices[i])
                if rules.infoset(state_ptr(rooms[0]), seat) == keys[k]:
                    total += shares[i]
                    if uniform(rng) * total < shares[i]:
                        rooms[1] = rooms[0]
            weights[w] *= total
            if total == 0.0:
                break
            worlds[w] = rooms[1]
