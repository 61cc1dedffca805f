"""How far from optimal all three tricks are once the envido is over: best responses, exact by ranks.

Where an envido was answered, both ranges are what all moves of the hand tell. From there on suits are forgotten: what a
seat holds is the ranks of its three cards, a *triple*, and how likely two triples meet is a matrix, the *joint
weights*. In that game nobody forgets anything, so that a best response can be computed. The first trick is gone through
move by move; in every way it may go the agent solves the rest of the hand, which is responded to as `rest_response.py`
does. From the leaves up, each triple of the responder takes the best there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import BYTES, DOUBLES, INTS, LONGS, WORDS, first_of, kernel, state_ptr, uint64_ptr
from tapete.core.contract import RULEBOOK
from tapete.core.evaluator import Evaluator
from tapete.core.game import Game, State
from tapete.core.players import SEATED, Seated, judge_moves
from tapete.core.records import copy_state, pointers
from tapete.core.rng import Rng
from tapete.games.truco.bets import MAZO
from tapete.games.truco.cards import CARDS, HANDS, STRENGTH
from tapete.games.truco.moves import NONE, STATE, bit, view
from tapete.solve.truco.knowledge import RANKS, TRIPLES
from tapete.solve.truco.local import DESK, N_HANDS, Desk, go_through
from tapete.solve.truco.ranges import LONGEST, moves_of, rewind
from tapete.solve.truco.resolver import rest_of
from tapete.solve.truco.rest import PAIR_OF, PAIRS
from tapete.solve.truco.rest_response import play_until, responses, ties_to, weigh_anew

N_TRIPLES = len(TRIPLES)
LEAST = 1e-7  # of all that may happen: where the agent comes less often, it counts as nothing

_cards = ((HANDS[:, None] >> np.arange(CARDS, dtype=np.uint64)) & np.uint64(1)).astype(bool)  # [hand, card]
_number = {triple: number for number, triple in enumerate(TRIPLES)}
TRIPLE = np.array([_number[tuple(sorted(STRENGTH[cards].tolist()))] for cards in _cards])  # [hand]
LEFT = np.full((RANKS, N_TRIPLES), NONE)  # [rank, triple] the pair that is left of it; NONE where it has no such card
for _triple, _ranks in enumerate(TRIPLES):
    for _place, _rank in enumerate(_ranks):
        LEFT[_rank, _triple] = PAIR_OF[_ranks[_place - 1], _ranks[_place - 2]]


@kernel(types.void(RULEBOOK, BYTES, SEATED, DESK, types.int64, INTS, WORDS))
def _weigh(rulebook: Any, now: Any, arrays: Any, room: Any, seat: int, past: Any, words: Any) -> None:
    """Fills `weights` of the room: how likely a seat would have made all its moves of the hand with each hand."""
    seated, desk, moves, present = pointers(arrays), pointers(room), first_of(past), state_ptr(now)
    copy_state(desk.state, present, len(now))
    s = view(present)
    done, others = moves_of(s, moves), np.uint64(0)
    for trick in range(3):
        if s.table[2 * trick + 1 - seat] != NONE:
            others |= bit(int(s.table[2 * trick + 1 - seat]))
    rewind(s, view(desk.state))
    for i in range(N_HANDS):
        desk.weights[i] = 0.0 if HANDS[i] & others else 1.0
    go_through(uint64_ptr(rulebook), len(now), desk, moves, done, seat, 0.0, seated, uint64_ptr(words))


@kernel(types.void(WORDS, LONGS, DOUBLES, DOUBLES, DOUBLES))
def _join(hands: Any, triples: Any, first: Any, second: Any, joint: Any) -> None:
    """Adds up how likely triples meet, `joint` [of seat 0, of seat 1], over hands that have no card in common."""
    for i in range(len(hands)):
        if first[i] > 0:
            for j in range(len(hands)):
                if second[j] > 0 and not hands[i] & hands[j]:
                    joint[triples[i] * N_TRIPLES + triples[j]] += first[i] * second[j]


def joint_weights(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely triples meet, [of seat 0, of seat 1], adding up to one, if hands are so likely on either seat."""
    joint = np.zeros(N_TRIPLES * N_TRIPLES)
    _join(HANDS, TRIPLE, first, second, joint)
    return (joint / joint.sum()).reshape(N_TRIPLES, N_TRIPLES)


def ranges(state: State, player: Evaluator) -> list[NDArray[np.float64]]:
    """How likely the player would have made the moves of this hand, on each seat with each of HANDS."""
    desk, past, model = Desk.of(state.game), np.zeros(2 * LONGEST, dtype=np.int32), player.model
    seated = Seated.of(state.game, [player], [model])
    weights = []
    for seat in range(2):
        _weigh(state.game.rulebook, state.data, seated, desk, seat, past, Rng("ranges").words)
        weights.append(desk.weights.copy())
    return weights


def give(state: State, seat: int, fits: NDArray[np.bool_]) -> None:
    """Puts the first of HANDS that fits in place of what the seat holds."""
    state.data[: STATE.itemsize].view(STATE)["hand"][0, seat] = HANDS[fits.argmax()]


class Responder:
    """Responds to a `resolver`, on both seats."""

    def __init__(self, player: Evaluator, weights: Sequence[NDArray[np.float64]]) -> None:
        """`weights` tell how likely each of HANDS is on each seat where it begins."""
        self.player, self.joint = player, joint_weights(*weights)
        self.held = [each > 0 for each in weights]

    def that_fit(self, state: State, seat: int) -> NDArray[np.bool_]:
        """Which of HANDS a seat may hold in the first trick, by the cards that lie there."""
        table, fits = state.game.record(state.data)["table"], self.held[seat]
        if table[seat] != NONE:
            fits = fits & _cards[:, table[seat]]
        if table[1 - seat] != NONE:
            fits = fits & ~_cards[:, table[1 - seat]]
        return fits

    def values(self, state: State, reach: NDArray[np.float64]) -> NDArray[np.float64]:
        """What best responses are worth from a state of the first trick on: [seat, triple] of the responder.

        They are weighed by how likely that triple gets there.

        :param reach: [seat, triple] how likely the agent made all moves since the beginning, if it sits there.
        """
        met = np.stack([self.joint * reach[1], self.joint.T * reach[0]])  # [seat, its triple, the agent's]
        if met.sum(axis=(1, 2)).max() < LEAST:
            return np.zeros((2, N_TRIPLES))
        if state.over:
            values: NDArray[np.float64] = met.sum(axis=2) * np.array(state.returns())[:, None]
            return values
        if state.game.record(state.data)["trick"] > 0:
            return np.stack([self.in_rest(state, seat, met[seat]) for seat in range(2)])
        mover, values = state.player, np.zeros((2, N_TRIPLES))
        values[mover] = -np.inf
        for move, shares in self.moves(state).items():
            after, onward, can = state.copy(), reach.copy(), np.ones(N_TRIPLES, dtype=bool)
            onward[mover] *= shares
            if move < CARDS:
                give(after, mover, self.that_fit(state, mover) & _cards[:, move])
                can = LEFT[STRENGTH[move]] != NONE
            found = self.values(after.apply(move), onward)
            values[mover, can] = np.maximum(values[mover, can], found[mover, can])
            values[1 - mover] += found[1 - mover]
        values[mover, np.isinf(values[mover])] = 0.0  # of triples that nobody can hold there
        return values

    def moves(self, state: State) -> dict[int, NDArray[np.float64]]:
        """How often the agent makes each move in the first trick, [triple]; of equal cards, one stands for all."""
        seat, asked, found = state.player, state.copy(), dict[int, NDArray[np.float64]]()
        one_of: dict[int, int] = {}  # card, by its rank
        fits = self.that_fit(state, seat)
        for triple in np.unique(TRIPLE[fits]):
            give(asked, seat, fits & (TRIPLE == triple))
            legal = asked.actions()
            for move, share in zip(legal, judge_moves(self.player, state.game, asked.data, seat, legal), strict=True):
                same = one_of.setdefault(int(STRENGTH[move]), move) if move < CARDS else move
                if same != MAZO:  # nobody goes there
                    found.setdefault(same, np.zeros(N_TRIPLES))[triple] += share
        return found

    def in_rest(self, state: State, seat: int, met: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a best response on a seat is worth where the second trick begins, [triple]."""
        record, other = state.game.record(state.data), 1 - seat
        for each in range(2):
            give(state, each, self.that_fit(state, each))
        mine, theirs = (LEFT[STRENGTH[record["table"][each]]] for each in (seat, other))
        own, his = np.flatnonzero(mine != NONE), np.flatnonzero(theirs != NONE)
        pairs = np.zeros((PAIRS, PAIRS))
        pairs[np.ix_(mine[own], theirs[his])] = met[np.ix_(own, his)]
        values, total = np.zeros(N_TRIPLES), pairs.sum()
        if total > LEAST:
            judge_moves(self.player, state.game, state.data, other, state.actions())
            rest = rest_of(self.player, other)
            weigh_anew(rest, (pairs if seat == 0 else pairs.T) / total)
            values[own] = total * responses(rest, seat, ties_to(record))[mine[own]]
        return values


def is_settled(record: Any) -> bool:
    """Whether an envido was called and is over, or it is too late for one."""
    return bool(record["trick"] > 0 or (record["chain"] and not record["waits"]))


def after_envidos(
    game: Game, player: Evaluator, hands: int, *, seed: int = 1, tell: Callable[[int], bool] = lambda done: True
) -> NDArray[np.float64]:
    """What best responses gain on average over both seats, once the envido is over in hands of a player with itself.

    0 where the hand is over by then.

    :param player: a `resolver`.
    :param tell: hears how many hands are done, and stops it by False.
    """
    found: list[float] = []
    while len(found) < hands and tell(len(found)):
        state, gain = play_until(is_settled, game, player, Rng(seed, "hands", len(found))), 0.0
        if not state.over:
            responder = Responder(player, ranges(state, player))
            gain = float(responder.values(state, np.ones((2, N_TRIPLES))).sum()) / 2
        found.append(gain)
    return np.array(found)
