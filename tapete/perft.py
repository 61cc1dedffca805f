"""Counting a game's tree: how a set of rules is proved against numbers that others have published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from tapete.core.compile import BYTES, LONGS, float64_ptr, helper, int32_ptr, kernel, state_ptr
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.game import State
from tapete.core.rng import mix


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What a walk through a tree found."""

    leaves: int  # states at the depth asked for, and finished games before it
    chance: int
    decisions: int
    terminals: int
    infosets: int  # information sets of the players who decide
    choices: int  # those with more than one action
    histories: int  # as the literature counts them: states of players and ends, and one for the start


def perft(state: State, depth: int | None = None, *, merge: bool = False, infosets: bool = True) -> Counts:
    """Counts the tree below a state, to a depth or to its end.

    With `merge`, states that are the same byte for byte are counted once: the order in which a hand was dealt, say.
    Without `infosets` those are not counted, which saves the memory of their keys.

    >>> import tapete
    >>> perft(tapete.make("kuhn").start()).choices
    12
    """
    game = state.game
    depth = game.spec.longest if depth is None else min(depth, game.spec.longest)
    frames = np.zeros((depth + 1, game.size), dtype=np.uint8)
    frames[0] = state.data
    width = max(game.spec.max_actions, game.spec.outcomes, 1)
    counts = np.zeros(6, dtype=np.int64)
    _walk(game.rulebook, frames.ravel(), game.size, depth, width, (merge, infosets), counts)
    leaves, chance, decisions, terminals, known, choices = counts.tolist()
    histories = decisions + terminals + (state.player == CHANCE)
    return Counts(
        leaves=leaves,
        chance=chance,
        decisions=decisions,
        terminals=terminals,
        infosets=known,
        choices=choices,
        histories=histories,
    )


@helper
def hash_bytes(state: Any) -> Any:
    """A 64-bit key of the bytes of a state."""
    key = np.uint64(0)
    for word in state.view(np.uint64):
        key = mix(key, word)
    return key


@kernel(types.void(RULEBOOK, BYTES, types.int64, types.int64, types.int64, types.UniTuple(types.boolean, 2), LONGS))
def _walk(rulebook: Any, frames: Any, size: int, depth: int, width: int, options: Any, counts: Any) -> None:
    rules = open_rules(rulebook)
    merge, names = options
    actions = np.empty((depth + 1, width), np.int32)  # [level, action]
    probs = np.empty(width, np.float64)
    total = np.zeros(depth + 1, np.int64)  # actions at each level of the path
    tried = np.zeros(depth + 1, np.int64)
    seen = {np.uint64(0)}
    infosets = {np.uint64(0)}
    choices = {np.uint64(0)}
    level = 0
    entering = True
    while level >= 0:
        state = frames[level * size : (level + 1) * size]
        p = state_ptr(state)
        if entering:
            total[level] = tried[level] = 0
            known = False
            if merge:
                key = hash_bytes(state)
                known = key in seen
                seen.add(key)
            if not known:
                who = rules.player(p)
                if who == TERMINAL:
                    counts[3] += 1
                elif who == CHANCE:
                    counts[1] += 1
                    total[level] = rules.outcomes(p, int32_ptr(actions[level]), float64_ptr(probs))
                else:
                    counts[2] += 1
                    total[level] = rules.actions(p, int32_ptr(actions[level]))
                    if names:
                        key = rules.infoset(p, who)
                        infosets.add(key)
                        if total[level] > 1:
                            choices.add(key)
                if level == depth or who == TERMINAL:
                    counts[0] += 1
                    total[level] = 0
        if tried[level] < total[level]:
            child = frames[(level + 1) * size : (level + 2) * size]
            child[:] = state
            rules.apply(state_ptr(child), actions[level, tried[level]])
            tried[level] += 1
            level += 1
            entering = True
        else:
            level -= 1
            entering = False
    counts[4] = len(infosets) - 1
    counts[5] = len(choices) - 1
