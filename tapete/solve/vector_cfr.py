"""Counterfactual regret minimisation over a public tree, with vectors over private hands.

The tree is walked depth first with a stack, so that besides the ledgers only a few vectors a level are touched, and the
ledgers from front to back. A walk updates one player. Subtrees below a certain size are given to threads; they share no
part of a ledger, so the result does not depend on how many threads there are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import FLOAT_ROWS, FLOATS, LONGS, ahead, float32_ptr, helper, kernel
from tapete.core.game import Game
from tapete.core.records import pointers
from tapete.solve.cfr import fill_ledgers, ledger_arrays
from tapete.solve.hands import ROOM32, Room, add_up, match_regrets, mean, multiply
from tapete.solve.leaves import LEAVES32, Leaves, gain_at
from tapete.solve.public_tree import TREE, PublicTree, Tree
from tapete.solve.regrets import updated
from tapete.solve.response import Proof
from tapete.solve.schemes import Scheme
from tapete.solve.strategy import Strategy
from tapete.solve.vector_response import Question, averages, by_hand, respond

PIECES = 64  # the tree is cut into about this many pieces of work
SMALLEST = 4096  # nodes that are worth handing to a thread


class Ledger(NamedTuple):
    """What CFR remembers of one player: for every node of his a block [actions, hands (padded)]."""

    regrets: NDArray[np.float32]
    gains: NDArray[np.float32]  # of the last iteration; one number only where the scheme doesn't predict
    total: NDArray[np.float32]  # the weighted sum of his strategies, each times how likely he was to come there


class Rates(NamedTuple):
    """How an iteration changes a ledger: a row of `Scheme.weights`, and what else a scheme says."""

    keep_positive: np.float32  # of positive regrets
    keep_negative: np.float32
    keep_total: np.float32  # of the sum of strategies
    floor: bool
    predictive: bool


class Update(NamedTuple):
    """What all walks have in common in which one player learns."""

    tree: Tree
    leaves: Leaves  # his payoffs
    mine: Ledger
    theirs: Ledger  # of the other, as it is
    player: int
    rates: Rates


class Piece(NamedTuple):
    """A subtree to be walked."""

    root: int
    mine: NDArray[np.float32]  # [own hands] how likely the player comes there
    theirs: NDArray[np.float32]  # [hands of the other] the same of the other
    value: NDArray[np.float32]  # [own hands] what it is worth: the result


class Cut(NamedTuple):
    """The pieces into which the tree is cut, in the order in which a walk meets them; fields as in `Piece`."""

    grain: int  # subtrees of at most so many nodes are pieces; 0: nothing is cut off
    mine: NDArray[np.float32]  # [pieces, own hands]
    theirs: NDArray[np.float32]  # [pieces, hands of the other]
    value: NDArray[np.float32]  # [pieces, own hands]


LEDGER = types.NamedUniTuple(FLOATS, 3, Ledger)
RATES = types.NamedTuple([types.float32] * 3 + [types.boolean] * 2, Rates)
UPDATE = types.NamedTuple([TREE, LEAVES32, LEDGER, LEDGER, types.int64, RATES], Update)
PIECE = types.NamedTuple([types.int64, FLOATS, FLOATS, FLOATS], Piece)
CUT = types.NamedTuple([types.int64, FLOAT_ROWS, FLOAT_ROWS, FLOAT_ROWS], Cut)


class VectorCFR:
    """A run over a public tree; `run` goes on from where it was.

    `scheme` is the member of the CFR family. The result is the same with any number of `threads`.
    """

    def __init__(self, public: PublicTree, scheme: Scheme, *, threads: int = 2) -> None:
        self.public, self.scheme, self.threads = public, scheme, threads
        self.iterations = 0
        self.leaves = self._leaves(public.game)
        self._single = [leaves.single() for leaves in self.leaves]
        self.ledgers = tuple(
            Ledger(*(np.zeros(n, dtype=np.float32) for n in (size, size if scheme.predictive else 1, size)))
            for size in public.sizes
        )
        nodes = len(public.tree.player)
        self._grain = max(nodes // PIECES, SMALLEST) if threads > 1 and nodes > 2 * SMALLEST else 0
        roots = np.empty(nodes, dtype=np.int64)
        self._pieces = roots[: _cut(public.tree, self._grain, roots)].copy() if self._grain else roots[:0]
        self._actions = int(np.diff(public.tree.first).max())
        self._whole = [Piece(0, self._dealt(me), self._dealt(1 - me), self._vectors(me)) for me in (0, 1)]
        self._rooms = [self._room(me, np.float32) for me in (0, 1)]  # for walks of the whole tree
        shape = len(self._pieces)
        self._cuts = [Cut(self._grain, *(self._vectors(p, shape) for p in (me, 1 - me, me))) for me in (0, 1)]

    def _leaves(self, game: Game) -> tuple[Leaves, Leaves]:
        return Leaves.of(self.public.payoffs(game), self.public.widths)

    def _room(self, me: int, dtype: Any) -> Room:
        widths = self.public.widths
        return Room.of(self.public.depth + 1, self._actions, (widths[me], widths[1 - me]), dtype)

    def run(self, iterations: int) -> None:
        """Makes so many more iterations, in each of which both players learn in turn."""
        weights = self.scheme.weights(self.iterations + 1, iterations)
        with ThreadPoolExecutor(self.threads) as pool:
            for row in weights:
                for player in (0, 1):
                    self._update(player, row, pool)
        self.iterations += iterations

    def _update(self, me: int, weights: NDArray[np.float64], pool: ThreadPoolExecutor) -> None:
        positive, negative, total = (np.float32(weight) for weight in weights)
        rates = Rates(positive, negative, total, self.scheme.floor, self.scheme.predictive)
        mine, theirs = self.ledgers[me], self.ledgers[1 - me]
        update = Update(self.public.tree, self._single[me], mine, theirs, me, rates)
        whole, cut, room = self._whole[me], self._cuts[me], self._rooms[me]
        if len(self._pieces):
            uncut = cut._replace(grain=0)

            def walk(i: int) -> None:
                piece = Piece(int(self._pieces[i]), cut.mine[i], cut.theirs[i], cut.value[i])
                _walk(update, piece, uncut, self._room(me, np.float32), True)

            _walk(update, whole, cut, room, False)
            list(pool.map(walk, range(len(self._pieces))))
        _walk(update, whole, cut, room, True)

    def _vectors(self, player: int, *shape: int) -> NDArray[np.float32]:
        """Room for vectors over the hands of a player."""
        return np.zeros((*shape, self.public.widths[player]), dtype=np.float32)

    def _dealt(self, player: int) -> NDArray[np.float32]:
        """Every hand that can be dealt, as likely as any: chance is in the payoffs."""
        hands = self._vectors(player)
        hands[: self.public.hands[player]] = 1
        return hands

    def prove(self, games: tuple[Game, Game] | None = None) -> Proof:
        """Tells the value of the average strategies and both best responses, in double precision.

        Where the payoffs stand for games that follow (a round of Dudo), `games` has the same tree with what the second
        and the first player can make of those: lower and upper bounds.
        """
        low, high = (self._leaves(game) for game in games) if games else (self.leaves, self.leaves)
        with ThreadPoolExecutor(self.threads) as pool:
            value = pool.submit(self._response, 0, self.leaves[0], False)
            lower = pool.submit(self._response, 1, low[1], True)
            upper = pool.submit(self._response, 0, high[0], True)
        return Proof(value=value.result(), lower=-lower.result(), upper=upper.result())

    def _response(self, me: int, leaves: Leaves, best: bool) -> float:
        value, reach = np.zeros(self.public.widths[me]), self._dealt(1 - me).astype(np.float64)
        totals = self.ledgers[me].total, self.ledgers[1 - me].total
        respond(Question(self.public.tree, leaves, *totals, me, best), reach, value, self._room(me, np.float64))
        return float(value[: self.public.hands[me]].sum())

    def average(self, player: int) -> NDArray[np.float32]:
        """The average strategy of a player, in the layout of his ledger."""
        out = np.empty_like(self.ledgers[player].total)
        averages(self.public.tree, self.ledgers[player].total, player, self.public.widths[player], out)
        return out

    def strategy(self, **about: Any) -> Strategy:
        """The average strategies of both players, by information set; `about` goes into the file's header."""
        tree, parts = self.public.tree, []
        for p in range(2):
            hands, width = self.public.hands[p], self.public.widths[p]
            actions = np.diff(tree.first)[tree.player == p]
            rows = self.average(p).reshape(-1, width)[:, :hands]  # [edges, hands]
            probs = np.empty(rows.size, dtype=np.float32)
            by_hand(rows, actions.astype(np.int32), probs)
            parts.append((self.public.keys(p).ravel(), np.repeat(actions, hands), probs))
        return Strategy.of(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)), **about)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that a run remembers, for a checkpoint."""
        return ledger_arrays(self.ledgers)

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        """Goes back to what `arrays` said after so many iterations."""
        fill_ledgers(self.arrays(), arrays)
        self.iterations = iterations


@kernel(types.int64(TREE, types.int64, LONGS))
def _cut(tree: Any, grain: int, out: Any) -> int:
    """Lists the roots of the largest subtrees of at most `grain` nodes, in the order in which a walk meets them."""
    node = pieces = 0
    while node < len(tree.end):
        if tree.end[node] - node <= grain:
            out[pieces] = node
            pieces += 1
            node = tree.end[node]
        else:
            node += 1
    return pieces


class _Here(NamedTuple):
    """Pointers to what a level has."""

    mine: Any  # [own hands]
    theirs: Any  # [hands of the other]
    plan: Any  # [actions, hands of who moves]
    gains: Any  # [actions, own hands]


@helper
def _plan(ledger: Any, slot: int, predictive: bool, actions: int, width: int, total: Any, out: Any) -> None:
    """The strategy at a node of whoever has this ledger."""
    regrets, gains = ahead(float32_ptr(ledger.regrets), slot), ahead(float32_ptr(ledger.gains), slot)
    match_regrets(regrets, gains, predictive, actions, width, total, out)


@helper
def _learn(ledger: Any, rates: Any, slot: int, here: Any, mean: Any, actions: int, width: int) -> None:
    """Updates the regrets and the sum of strategies at a node, for every hand; `mean` is what the strategy gained."""
    for a in range(actions):
        at = slot + a * width
        r, t = ahead(float32_ptr(ledger.regrets), at), ahead(float32_ptr(ledger.total), at)
        g, s = ahead(here.gains, a * width), ahead(here.plan, a * width)
        for h in range(width):
            r[h] = updated(r[h], g[h] - mean[h], rates.keep_positive, rates.keep_negative, rates.floor)
        for h in range(width):
            t[h] = rates.keep_total * t[h] + here.mine[h] * s[h]
        if rates.predictive:
            last = ahead(float32_ptr(ledger.gains), at)
            for h in range(width):
                last[h] = g[h] - mean[h]


@kernel(types.void(UPDATE, PIECE, CUT, ROOM32, types.boolean))
def _walk(update: Any, piece: Any, cut: Any, arrays: Any, learn: bool) -> None:
    """Walks a subtree and updates the player's ledger in it; `piece.value` gets what it is worth to each of his hands.

    Where the subtree is cut further, its pieces are not walked: without `learn` it is written down how likely both
    players come there, with it their values are read.
    """
    tree, leaves, rates, room = update.tree, update.leaves, update.rates, pointers(arrays)
    own_hands, other_hands, levels = len(piece.mine), len(piece.theirs), len(arrays.node)
    plan_size, gain_size = len(arrays.plan) // levels, len(arrays.gains) // levels
    total = room.total
    arrays.mine[:own_hands], arrays.theirs[:other_hands] = piece.mine, piece.theirs
    room.my_row[0] = room.their_row[0] = room.tried[0] = 0
    room.node[0] = piece.root
    level = pieces = 0
    while True:
        node, k = room.node[level], room.tried[level]
        first, slot = tree.first[node], tree.slot[node]
        actions, own = tree.first[node + 1] - first, tree.player[node] == update.player
        my_row, their_row = room.my_row[level], room.their_row[level]
        plan, gains = ahead(room.plan, level * plan_size), ahead(room.gains, level * gain_size)
        here = _Here(ahead(room.mine, my_row), ahead(room.theirs, their_row), plan, gains)
        if k == 0 and own:
            _plan(update.mine, slot, rates.predictive, actions, own_hands, total, plan)
        elif k == 0:
            _plan(update.theirs, slot, rates.predictive, actions, other_hands, total, plan)
        if k < actions:
            room.tried[level] = k + 1
            if own:
                my_row = (level + 1) * own_hands
                multiply(here.mine, ahead(plan, k * own_hands), own_hands, ahead(room.mine, my_row))
            else:
                their_row = (level + 1) * other_hands
                multiply(here.theirs, ahead(plan, k * other_hands), other_hands, ahead(room.theirs, their_row))
            room.my_row[level + 1], room.their_row[level + 1] = my_row, their_row
            child = tree.child[first + k]
            if child < 0:
                gain = ahead(gains, k * own_hands)
                gain_at(leaves, ~child, ahead(room.theirs, their_row), other_hands, own_hands, gain)
            elif cut.grain > 0 and tree.end[child] - child <= cut.grain:
                if learn:
                    for h in range(own_hands):
                        gains[k * own_hands + h] = cut.value[pieces, h]
                else:
                    cut.mine[pieces] = arrays.mine[my_row : my_row + own_hands]
                    cut.theirs[pieces] = arrays.theirs[their_row : their_row + other_hands]
                pieces += 1
            else:
                level += 1
                room.node[level], room.tried[level] = child, 0
            continue
        if own:
            mean(gains, plan, actions, own_hands, total)
            if learn:
                _learn(update.mine, rates, slot, here, total, actions, own_hands)
        else:
            add_up(gains, actions, own_hands, total)
        if level == 0:
            break
        level -= 1
        above = ahead(room.gains, level * gain_size + (room.tried[level] - 1) * own_hands)
        for h in range(own_hands):
            above[h] = total[h]
    piece.value[:] = arrays.total[:own_hands]
