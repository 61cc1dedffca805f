"""What can't be solved, told in a moment: before minutes are spent on playing out a game that never ends."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import BYTES, DOUBLES, STATES, WORDS, float64_ptr, int32_ptr, kernel, state_ptr, uint64_ptr
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.rng import Rng, below

DEALS = 4096  # that are drawn
ESTIMATES = 3
DESCENTS = 1000  # for each estimate
CERTAINLY = 20  # times the limit: a game within it is refused by mistake once in CERTAINLY ** ESTIMATES times at most


def check_kind(game: Game) -> None:
    """Raises unless it is a zero-sum game of two players; says what there is for others."""
    sampled = f"`tapete solve '{game}' --algorithm mccfr-external --time 60` samples it, and proves nothing"
    if game.players != 2:
        raise TapeteError(
            f"{game} has {game.players} players; only zero-sum games of two can be solved with a proof; {sampled}"
        )
    if not game.spec.zero_sum:
        matching = "tapete.solve.matching finds correlated equilibria of matrix games"
        raise TapeteError(
            f"{game} is not zero-sum; only zero-sum games of two players can be solved with a proof; "
            f"{matching}; {sampled}"
        )


def too_large(game: Game, how: str) -> TapeteError:
    """The error that says so, and what can be done instead."""
    sampled = f" and so does what samples it (tapete solve '{game}' --algorithm mccfr-external --time 600)"
    other = sampled if game.spec.hidden else ""
    return TapeteError(
        f"{game} is too large to be solved: it has {how}; "
        f"a search plays it all the same (tapete play '{game}' --against best){other}"
    )


def check_ends(game: Game, limit: int) -> None:
    """Raises where the game certainly has more ways to end, those below some of its deals alone being too many.

    A random descent chooses every move uniformly; the product of how many moves there were is, on average, the number
    of ends (Knuth 1975). An average of those is seldom much too high: it is 20 times what is expected in one case of 20
    at most (Markov), and three independent ones are in one case of 8,000.
    """
    rng, estimates = Rng("how large is it", str(game)), np.zeros(ESTIMATES)
    deals = np.tile(game.start().data, (DEALS, 1))
    _deal(game.rulebook, deals, rng.words)
    width = max(game.spec.max_actions, game.spec.outcomes, 1)
    different = list({deal.tobytes(): deal for deal in deals}.values())  # NumPy's way takes seconds for long states
    _descend(game.rulebook, np.array(different), width, rng.words, estimates)
    if estimates.min() > CERTAINLY * limit:
        about = math.log10(min(np.median(estimates), sys.float_info.max))
        raise too_large(game, f"10^{about:.0f} ways to end or more, where {limit:,} are the most")


@kernel(types.void(RULEBOOK, STATES, WORDS))
def _deal(rulebook: Any, states: Any, words: Any) -> None:
    """Lets chance move in every state until it is a player's turn."""
    rules, rng = open_rules(rulebook), uint64_ptr(words)
    for i in range(len(states)):
        p = state_ptr(states[i])
        while rules.player(p) == CHANCE:
            rules.apply(p, rules.draw(p, rng))


@kernel(types.void(RULEBOOK, STATES, types.int64, WORDS, DOUBLES))
def _descend(rulebook: Any, roots: Any, width: int, words: Any, estimates: Any) -> None:
    """Estimates how many ends there are below all roots together, several times over."""
    rules, rng = open_rules(rulebook), uint64_ptr(words)
    state, moves, probs = np.empty(roots.shape[1], np.uint8), np.empty(width, np.int32), np.empty(width)
    for i in range(len(estimates)):
        for _ in range(DESCENTS):
            state[:] = roots[below(rng, len(roots))]
            p = state_ptr(state)
            ends = len(roots) / DESCENTS
            player = rules.player(p)
            while player != TERMINAL:
                if player == CHANCE:
                    n = rules.outcomes(p, int32_ptr(moves), float64_ptr(probs))
                else:
                    n = rules.actions(p, int32_ptr(moves))
                ends *= n
                rules.apply(p, moves[below(rng, n)])
                player = rules.player(p)
            estimates[i] += ends


def count_choices(game: Game, root: NDArray[np.uint8], limit: int) -> int:
    """Counts the moves of all nodes below a state that have more than one; -1 where it is more than the limit."""
    return int(_count_choices(game.rulebook, root, game.spec.longest, game.spec.max_actions, limit))


@kernel(types.int64(RULEBOOK, BYTES, types.int64, types.int64, types.int64))
def _count_choices(rulebook: Any, root: Any, longest: int, width: int, limit: int) -> int:
    """The same; chance ends the count, since a public tree has none."""
    rules = open_rules(rulebook)
    frames, moves = np.empty((longest + 1, len(root)), np.uint8), np.empty((longest + 1, width), np.int32)
    left = np.zeros(longest + 1, np.int64)  # moves that are still to be tried
    frames[0] = root
    count = level = 0
    entering = True
    while level >= 0:
        p = state_ptr(frames[level])
        if entering:
            left[level] = rules.actions(p, int32_ptr(moves[level])) if rules.player(p) >= 0 else 0
            count += left[level] if left[level] > 1 else 0
            if count > limit:
                return -1
        if left[level] > 0:
            left[level] -= 1
            frames[level + 1] = frames[level]
            rules.apply(state_ptr(frames[level + 1]), moves[level, left[level]])
            level += 1
            entering = True
        else:
            level -= 1
            entering = False
    return count


def physical_memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
