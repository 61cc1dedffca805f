"""A two-player zero-sum game as a matrix over sequences (Koller, Megiddo and von Stengel, 1996).

A *sequence* is what a player has done so far: one of his information sets and an action in it, or nothing yet. Of a
game tree, however large, an equilibrium needs only two things: for each player, which sequence leads to which
information set (a :class:`Treeplex`), and for each pair of sequences what they pay, chance counted in
(:class:`Payoffs`). Histories that differ only in what nobody decided are merged by that, and an iteration of CFR is a
product of a sparse matrix with a vector and a walk over the information sets. Moves without a choice are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, INTS, STATES, WORDS, float64_ptr, helper, int32_ptr, kernel, state_ptr
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.game import Game
from tapete.core.hashmap import find, grown, new_map, put
from tapete.perft import hash_bytes
from tapete.solve.size import check_ends, check_kind, too_large

LIMIT = 8_000_000  # ends of the game; 16 bytes each, and as much again to sort them
DEALS = 2**20  # states after the deal


class Treeplex(NamedTuple):
    """What one player decides. Sequence 0 is the empty one; parents come before their children."""

    parent: NDArray[np.int32]  # [infosets] the sequence that leads to it
    first: NDArray[np.int32]  # [infosets + 1] its first sequence; they are numbered one after another

    @property
    def sequences(self) -> int:
        """How many there are, the empty one included."""
        return int(self.first[-1])


class Payoffs(NamedTuple):
    """What a player gains, times the probability of chance: a sparse matrix, by rows of his own sequences."""

    start: NDArray[np.int32]  # [sequences + 1]
    column: NDArray[np.int32]  # [entries] sequences of the other
    value: NDArray[np.float64]  # [entries]


class Flat(NamedTuple):
    """A game that was played out: its ends and its information sets, each in the order in which they were met."""

    row: NDArray[np.int32]  # [ends] the sequence of the first player that leads there
    column: NDArray[np.int32]  # [ends] that of the second
    value: NDArray[np.float64]  # [ends] what the first gains, times the probability of chance
    owner: NDArray[np.int32]  # [infosets] who decides
    parent: NDArray[np.int32]  # [infosets] the sequence that leads there
    actions: NDArray[np.int32]  # [infosets] how many
    key: NDArray[np.uint64]  # [infosets]
    state: NDArray[np.uint8]  # [infosets, bytes] the first state that was met of each
    histories: int  # states of players and ends; -1 where there are more ends than the limit


TREEPLEX = types.NamedUniTuple(INTS, 2, Treeplex)
PAYOFFS = types.NamedTuple([INTS, INTS, DOUBLES], Payoffs)
FLAT = types.NamedTuple([INTS, INTS, DOUBLES, INTS, INTS, INTS, WORDS, STATES, types.int64], Flat)


@dataclass(frozen=True)
class SequenceForm:
    """A game, ready to be solved."""

    game: Game
    plexes: tuple[Treeplex, Treeplex]
    payoffs: tuple[Payoffs, Payoffs]
    keys: tuple[NDArray[np.uint64], NDArray[np.uint64]]  # [infosets] of each player
    states: tuple[NDArray[np.uint8], NDArray[np.uint8]]  # [infosets, bytes] one state of each
    histories: int  # states of players and ends, forced moves included, and one for the start

    @property
    def infosets(self) -> int:
        """Information sets with more than one action, of both players."""
        return sum(len(plex.parent) for plex in self.plexes)

    @property
    def bytes(self) -> int:
        """Memory of the form and of the ledgers that CFR keeps for it."""
        arrays = [array for part in (*self.plexes, *self.payoffs, self.keys, self.states) for array in part]
        ledgers = 7 * 8 * sum(plex.sequences for plex in self.plexes)
        return sum(array.nbytes for array in arrays) + ledgers

    @classmethod
    def of(cls, game: Game, *, limit: int = LIMIT, pays_one: bool = False) -> SequenceForm:
        """Flattens a game by playing it out; `limit` is how many ways to end it may have.

        With `pays_one`, every end pays the first player 1: values are then how likely an information set is reached.
        """
        check_kind(game)
        check_ends(game, limit)
        states, probs = _deals(game)
        width = max(game.spec.max_actions, game.spec.outcomes, 1)
        flat = _flatten(game.rulebook, states, probs, game.spec.longest, width, limit, pays_one)
        if flat.histories < 0:
            raise too_large(game, f"more than {limit:,} ways to end")
        own, other = flat.owner == 0, flat.owner == 1
        plexes = (_treeplex(flat.parent[own], flat.actions[own]), _treeplex(flat.parent[other], flat.actions[other]))
        payoffs = (
            _sparse(flat.row, flat.column, flat.value, plexes[0].sequences, plexes[1].sequences),
            _sparse(flat.column, flat.row, -flat.value, plexes[1].sequences, plexes[0].sequences),
        )
        histories = flat.histories + (game.start().player == CHANCE)
        keys, met = (flat.key[own], flat.key[other]), (flat.state[own], flat.state[other])
        return cls(game, plexes, payoffs, keys, met, histories)


def _treeplex(parent: NDArray[np.int32], count: NDArray[np.int32]) -> Treeplex:
    return Treeplex(parent, np.concatenate([[1], 1 + np.cumsum(count)]).astype(np.int32))


def _sparse(
    row: NDArray[np.int32], column: NDArray[np.int32], value: NDArray[np.float64], rows: int, columns: int
) -> Payoffs:
    """Adds up what the same pair of sequences pays in different worlds, and sorts by rows."""
    cell, where = np.unique(row.astype(np.int64) * columns + column, return_inverse=True)
    total: NDArray[np.float64] = np.bincount(where, weights=value, minlength=len(cell))  # type: ignore[assignment]
    start = np.searchsorted(cell, np.arange(rows + 1, dtype=np.int64) * columns)
    return Payoffs(start.astype(np.int32), (cell % columns).astype(np.int32), total)


def _deals(game: Game) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """The states after chance has moved at the start, equal ones merged, with their probabilities."""
    states, probs = game.start().data[None, :].copy(), np.ones(1)
    width = max(game.spec.outcomes, 1)
    again = True
    while again:
        states, probs, again = _deal(game.rulebook, states, probs, width, DEALS)
        if len(states) == 0:
            raise too_large(game, f"more than {DEALS:,} deals")
    return states, probs


@kernel(types.Tuple([STATES, DOUBLES, types.boolean])(RULEBOOK, STATES, DOUBLES, types.int64, types.int64))
def _deal(rulebook: Any, states: Any, probs: Any, width: int, most: int) -> Any:
    """One move of chance in every state where it is chance's turn; no states at all if there would be too many."""
    rules = open_rules(rulebook)
    size = states.shape[1]
    capacity = 1024
    out, weights = np.empty((capacity, size), np.uint8), np.zeros(capacity)
    keys, values = new_map(4 * capacity)
    outcomes, chances = np.empty(width, np.int32), np.empty(width)
    child = np.empty(size, np.uint8)
    count, again = 0, False
    for i in range(len(states)):
        moves = 1
        is_chance = rules.player(state_ptr(states[i])) == CHANCE
        if is_chance:
            moves = rules.outcomes(state_ptr(states[i]), int32_ptr(outcomes), float64_ptr(chances))
        for k in range(moves):
            child[:] = states[i]
            weight = probs[i]
            if is_chance:
                rules.apply(state_ptr(child), outcomes[k])
                weight *= chances[k]
                again = again or rules.player(state_ptr(child)) == CHANCE
            key = hash_bytes(child)
            slot = find(keys, key)
            if keys[slot] == 0:
                if count == most:
                    return out[:0].copy(), weights[:0].copy(), False
                if count == capacity:
                    capacity *= 2
                    more, heavier = np.empty((capacity, size), np.uint8), np.zeros(capacity)
                    more[:count], heavier[:count] = out[:count], weights[:count]
                    out, weights = more, heavier
                put(keys, values, slot, key, count)
                out[count] = child
                count += 1
                if 2 * count > len(keys):
                    keys, values = grown(keys, values)
                weights[count - 1] += weight
            else:
                weights[values[slot]] += weight
    return out[:count].copy(), weights[:count].copy(), again


@helper
def longer(array: Any) -> Any:
    """The same numbers in an array of twice the length."""
    more = np.empty(2 * len(array), array.dtype)
    more[: len(array)] = array
    return more


@kernel(FLAT(RULEBOOK, STATES, DOUBLES, types.int64, types.int64, types.int64, types.boolean))
def _flatten(rulebook: Any, roots: Any, weights: Any, longest: int, width: int, limit: int, pays_one: bool) -> Any:
    """Plays the game out below every deal [roots], whose probabilities are `weights`."""
    rules = open_rules(rulebook)
    frames = np.empty((longest + 1, roots.shape[1]), np.uint8)
    actions = np.empty((longest + 1, width), np.int32)  # [level, action]
    chances = np.empty((longest + 1, width), np.float64)
    total = np.zeros(longest + 1, np.int64)
    tried = np.zeros(longest + 1, np.int64)
    mover = np.zeros(longest + 1, np.int64)
    opens = np.zeros(longest + 1, np.int64)  # first sequence of the infoset at that level; 0 where there is no choice
    weight = np.zeros(longest + 1)
    at = np.zeros((longest + 1, 2), np.int32)  # [level, player] the sequence played so far

    row, column, value = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.float64)
    owner, parent, count = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int32)
    names, met = np.empty(1024, np.uint64), np.empty((1024, roots.shape[1]), np.uint8)
    keys, values = new_map(4096)  # from infosets to their first sequence
    ends = infosets = histories = 0
    sequences = np.ones(2, np.int64)
    payoff = np.zeros(2)

    for root in range(len(roots)):
        frames[0] = roots[root]
        weight[0] = weights[root]
        at[0] = 0
        level, entering = 0, True
        while level >= 0:
            p = state_ptr(frames[level])
            if entering:
                who = rules.player(p)
                mover[level], total[level], tried[level], opens[level] = who, 0, 0, 0
                histories += who != CHANCE
                if who == TERMINAL:
                    if ends == limit:
                        return Flat(row, column, value, owner, parent, count, names, met, -1)
                    if ends == len(row):
                        row, column, value = longer(row), longer(column), longer(value)
                    rules.returns(p, float64_ptr(payoff))
                    if pays_one:
                        payoff[0] = 1.0
                    row[ends], column[ends], value[ends] = at[level, 0], at[level, 1], weight[level] * payoff[0]
                    ends += 1
                elif who == CHANCE:
                    total[level] = rules.outcomes(p, int32_ptr(actions[level]), float64_ptr(chances[level]))
                else:
                    total[level] = rules.actions(p, int32_ptr(actions[level]))
                if who >= 0 and total[level] > 1:
                    key = rules.infoset(p, who)
                    slot = find(keys, key)
                    if keys[slot] == 0:
                        if infosets == len(owner):
                            owner, parent, count, names = longer(owner), longer(parent), longer(count), longer(names)
                            more = np.empty((2 * len(met), met.shape[1]), np.uint8)
                            more[: len(met)] = met
                            met = more
                        owner[infosets], parent[infosets], count[infosets] = who, at[level, who], total[level]
                        names[infosets] = key
                        met[infosets] = frames[level]
                        infosets += 1
                        put(keys, values, slot, key, sequences[who])
                        opens[level] = sequences[who]
                        sequences[who] += total[level]
                        if 2 * infosets > len(keys):
                            keys, values = grown(keys, values)
                    else:
                        opens[level] = values[slot]
            k = tried[level]
            if k < total[level]:
                tried[level] += 1
                frames[level + 1] = frames[level]
                rules.apply(state_ptr(frames[level + 1]), actions[level, k])
                weight[level + 1] = weight[level]
                at[level + 1] = at[level]
                if mover[level] == CHANCE:
                    weight[level + 1] *= chances[level, k]
                elif opens[level] > 0:
                    at[level + 1, mover[level]] = opens[level] + k
                level += 1
                entering = True
            else:
                level -= 1
                entering = False
    n = infosets
    return Flat(
        row[:ends].copy(), column[:ends].copy(), value[:ends].copy(),
        owner[:n].copy(), parent[:n].copy(), count[:n].copy(), names[:n].copy(), met[:n].copy(), histories,
    )  # fmt: skip
