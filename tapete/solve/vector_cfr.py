"""Counterfactual regret minimisation over a public tree, with vectors over private hands.

The tree is walked depth first with a stack, so that besides the tables only a few vectors a level are touched, and the
tables from front to back. A walk updates one player. Subtrees below a certain size are given to threads; they share no
table entries, so the result does not depend on how many threads there are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, FLOATS, LONGS, ahead, first_of, float32_ptr, float64_ptr, helper, kernel
from tapete.core.game import Game
from tapete.core.tables import FLOAT_ROWS
from tapete.solve.cfr import ledger_arrays
from tapete.solve.public_tree import TREE, PublicTree
from tapete.solve.regrets import TINY, eagerness, updated
from tapete.solve.response import Proof
from tapete.solve.schemes import Scheme
from tapete.solve.strategy import Strategy

PIECES = 64  # the tree is cut into about this many pieces of work
LARGE = 64  # hands; from here on it is worth asking whether it only matters whose hand is higher
SMALLEST = 4096  # nodes that are worth handing to a thread


class Leaves(NamedTuple):
    """What a player gains at each kind of terminal, chance counted in."""

    dense: NDArray[np.float64]  # [leaves, hands of the other, hands of his own (padded)]; empty where `ordered` serves
    ordered: NDArray[np.float64]  # [leaves, 3] where it only matters whose hand is higher: his is lower, equal, higher

    @classmethod
    def of(cls, payoffs: NDArray[np.float64], widths: tuple[int, int]) -> tuple[Leaves, Leaves]:
        """Both players', from what the first gains [leaves, his hands, hands of the second]."""
        kinds, rows, columns = payoffs.shape
        ordered = np.zeros((kinds, 3))
        if rows == columns >= LARGE and _read_ordered(payoffs, ordered):
            nothing = np.zeros((0, 0, 0))
            return cls(nothing, ordered), cls(nothing, -ordered[:, ::-1].copy())
        first, second = np.zeros((kinds, columns, widths[0])), np.zeros((kinds, rows, widths[1]))
        first[:, :, :rows] = payoffs.transpose(0, 2, 1)
        second[:, :, :columns] = -payoffs
        nothing = np.zeros((0, 3))
        return cls(first, nothing), cls(second, nothing)

    def single(self) -> Leaves:
        """The same with half the digits, for learning."""
        return Leaves(self.dense.astype(np.float32), self.ordered.astype(np.float32))


@kernel(types.boolean(types.float64[:, :, ::1], types.float64[:, ::1]))
def _read_ordered(payoffs: Any, out: Any) -> bool:
    """The three numbers of each matrix, above, on and below the diagonal; false where one has more."""
    for leaf in range(len(payoffs)):
        matrix = payoffs[leaf]
        out[leaf, 0], out[leaf, 1], out[leaf, 2] = matrix[0, 1], matrix[0, 0], matrix[1, 0]
        for i in range(len(matrix)):
            for j in range(len(matrix)):
                if matrix[i, j] != out[leaf, 0 if i < j else 1 if i == j else 2]:
                    return False
    return True


class Ledger(NamedTuple):
    """What CFR remembers of one player: for every node of his a block [actions, hands (padded)]."""

    regrets: NDArray[np.float32]
    gains: NDArray[np.float32]  # of the last iteration; one number only where the scheme doesn't predict
    total: NDArray[np.float32]  # the weighted sum of his strategies, each times how likely he was to come there


class Work(NamedTuple):
    """The pieces into which the tree is cut, and what goes in and out of them."""

    mine: NDArray[np.float32]  # [pieces, own hands] how likely he is to come there
    theirs: NDArray[np.float32]  # [pieces, hands of the other] the same of the other
    value: NDArray[np.float32]  # [pieces, own hands] what it is worth


LEAVES32 = types.NamedTuple([types.float32[:, :, ::1], FLOAT_ROWS], Leaves)
LEAVES64 = types.NamedTuple([types.float64[:, :, ::1], types.float64[:, ::1]], Leaves)
LEDGER = types.NamedUniTuple(FLOATS, 3, Ledger)
WORK = types.NamedUniTuple(FLOAT_ROWS, 3, Work)


class VectorCFR:
    """A run over a public tree; `run` goes on from where it was."""

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

    def _leaves(self, game: Game) -> tuple[Leaves, Leaves]:
        return Leaves.of(self.public.payoffs(game), self.public.widths)

    def run(self, iterations: int) -> None:
        """So many more iterations, the players updated in turn."""
        weights = self.scheme.weights(self.iterations + 1, iterations)
        with ThreadPoolExecutor(self.threads) as pool:
            for row in weights:
                for player in (0, 1):
                    self._update(player, row, pool)
        self.iterations += iterations

    def _update(self, me: int, weights: NDArray[np.float64], pool: ThreadPoolExecutor) -> None:
        tree, widths = self.public.tree, self.public.widths
        shape = len(self._pieces)
        work = Work(*(np.zeros((shape, widths[p]), dtype=np.float32) for p in (me, 1 - me, me)))
        mine, theirs = (self._hands(p) for p in (me, 1 - me))
        value = np.zeros(widths[me], dtype=np.float32)
        rates = (*(np.float32(weight) for weight in weights), self.scheme.floor, self.scheme.predictive)
        ledgers = self.ledgers[me], self.ledgers[1 - me]
        common = (tree, self._single[me], *ledgers, me, self.public.depth, self._actions, rates)

        def piece(i: int) -> None:
            _walk(*common, int(self._pieces[i]), work.mine[i], work.theirs[i], work.value[i], 0, work, True)

        if shape:
            _walk(*common, 0, mine, theirs, value, self._grain, work, False)
            list(pool.map(piece, range(shape)))
        _walk(*common, 0, mine, theirs, value, self._grain, work, True)

    def _hands(self, player: int) -> NDArray[np.float32]:
        """Every hand that can be dealt, as likely as any: chance is in the payoffs."""
        hands = np.zeros(self.public.widths[player], dtype=np.float32)
        hands[: self.public.hands[player]] = 1
        return hands

    def prove(self, games: tuple[Game, Game] | None = None) -> Proof:
        """The value of the average strategies and both best responses, in double precision.

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
        value = np.zeros(self.public.widths[me])
        theirs = self._hands(1 - me).astype(np.float64)
        totals = self.ledgers[me].total, self.ledgers[1 - me].total
        _respond(self.public.tree, leaves, *totals, me, self.public.depth, self._actions, theirs, value, best)
        return float(value[: self.public.hands[me]].sum())

    def table(self, **about: Any) -> Strategy:
        """The average strategies of both players, by information set."""
        tree, parts = self.public.tree, []
        for p in range(2):
            hands, width = self.public.hands[p], self.public.widths[p]
            actions = np.diff(tree.first)[tree.player == p]
            rows = self.strategy(p).reshape(-1, width)[:, :hands]  # [edges, hands]
            probs = np.empty(rows.size, dtype=np.float32)
            _by_hand(rows, actions.astype(np.int32), probs)
            parts.append((self.public.keys(p).ravel(), np.repeat(actions, hands), probs))
        return Strategy.of(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)), **about)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that a run remembers, for a checkpoint."""
        return ledger_arrays(self.ledgers)

    def strategy(self, player: int) -> NDArray[np.float32]:
        """The average strategy, in the layout of the tables."""
        out = np.empty_like(self.ledgers[player].total)
        width = self.public.widths[player]
        _normalise(self.public.tree, self.ledgers[player].total, player, width, self._actions, out)
        return out


@kernel(types.int64(TREE, types.int64, LONGS))
def _cut(tree: Any, grain: int, out: Any) -> int:
    """Roots of the largest subtrees of at most `grain` nodes, in the order in which a walk meets them."""
    node = pieces = 0
    while node < len(tree.end):
        if tree.end[node] - node <= grain:
            out[pieces] = node
            pieces += 1
            node = tree.end[node]
        else:
            node += 1
    return pieces


# The helpers below take pointers to vectors over hands; `width` is padded, so that they become vector code.


@helper
def _match(regrets: Any, gains: Any, predictive: bool, actions: int, width: int, total: Any, out: Any) -> None:
    """Regret matching for every hand at a node: the strategy [actions, width]."""
    for h in range(width):
        total[h] = 0
    for a in range(actions):
        r, o = ahead(regrets, a * width), ahead(out, a * width)
        if predictive:
            g = ahead(gains, a * width)
            for h in range(width):
                eager = eagerness(r[h], g[h])
                o[h] = eager
                total[h] += eager
        else:
            for h in range(width):
                eager = eagerness(r[h], np.float32(0))
                o[h] = eager
                total[h] += eager
    _share(actions, width, total, out, np.float32(1))


@helper
def _share(actions: int, width: int, total: Any, out: Any, one: Any) -> None:
    """Divides by the total, hand by hand; where that is zero all actions are as likely. `one` tells the precision."""
    even = one / actions
    for h in range(width):
        total[h] = one / total[h] if total[h] > TINY else one * 0
    for a in range(actions):
        o = ahead(out, a * width)
        for h in range(width):
            o[h] = o[h] * total[h] if total[h] > 0 else even


@helper
def _sum(gained: Any, actions: int, width: int, out: Any) -> None:
    for h in range(width):
        out[h] = 0
    for a in range(actions):
        g = ahead(gained, a * width)
        for h in range(width):
            out[h] += g[h]


@helper
def _rounded(totals: Any, actions: int, width: int, total: Any, out: Any) -> None:
    """The average strategy of every hand at a node as a table has it: [actions, width]."""
    for i in range(actions * width):
        out[i] = totals[i]
    _sum(out, actions, width, total)
    _share(actions, width, total, out, 1.0)
    for i in range(actions * width):
        out[i] = np.float32(out[i])


@helper
def _average(totals: Any, actions: int, width: int, total: Any, out: Any) -> None:
    """The same, and nothing left of the rounding: a proof is one for the table."""
    _rounded(totals, actions, width, total, out)
    _sum(out, actions, width, total)
    _share(actions, width, total, out, 1.0)


@helper
def _times(x: Any, y: Any, width: int, out: Any) -> None:
    for h in range(width):
        product = x[h] * y[h]
        out[h] = product if product > TINY else product * 0


@helper
def _leaf(dense: Any, ordered: Any, leaf: int, theirs: Any, others: int, width: int, out: Any) -> None:
    """What every own hand gains at a terminal, against the other's hands as likely as `theirs`."""
    if len(ordered) > 0:
        lower, equal, higher = ordered[leaf, 0], ordered[leaf, 1], ordered[leaf, 2]
        below, above = theirs[0] * 0, theirs[0] * 0
        for h in range(others):
            above += theirs[h]
        for h in range(others):
            above -= theirs[h]
            out[h] = lower * above + equal * theirs[h] + higher * below
            below += theirs[h]
        return
    for h in range(width):
        out[h] = 0
    for o in range(dense.shape[1]):
        reach = theirs[o]
        row = first_of(dense[leaf, o])
        for h in range(width):
            out[h] += reach * row[h]


@helper
def _mean(gained: Any, strategy: Any, actions: int, width: int, out: Any) -> None:
    for h in range(width):
        out[h] = 0
    for a in range(actions):
        g, s = ahead(gained, a * width), ahead(strategy, a * width)
        for h in range(width):
            out[h] += g[h] * s[h]


@helper
def _most(gained: Any, actions: int, width: int, out: Any) -> None:
    for h in range(width):
        out[h] = gained[h]
    for a in range(1, actions):
        g = ahead(gained, a * width)
        for h in range(width):
            out[h] = max(out[h], g[h])


@helper
def _learn(
    ledger: Any, slot: int, gained: Any, mean: Any, strategy: Any, reach: Any, actions: int, width: int, rates: Any
) -> None:
    """Regrets and average of one node, for every hand."""
    keep_positive, keep_negative, keep_total, floor, predictive = rates
    for a in range(actions):
        at = slot + a * width
        r, t = ahead(float32_ptr(ledger.regrets), at), ahead(float32_ptr(ledger.total), at)
        g, s = ahead(gained, a * width), ahead(strategy, a * width)
        for h in range(width):
            r[h] = updated(r[h], g[h] - mean[h], keep_positive, keep_negative, floor)
        for h in range(width):
            t[h] = keep_total * t[h] + reach[h] * s[h]
        if predictive:
            last = ahead(float32_ptr(ledger.gains), at)
            for h in range(width):
                last[h] = g[h] - mean[h]


RATES = types.Tuple([types.float32, types.float32, types.float32, types.boolean, types.boolean])
WALK = types.void(
    TREE, LEAVES32, LEDGER, LEDGER, types.int64, types.int64, types.int64, RATES,
    types.int64, FLOATS, FLOATS, FLOATS, types.int64, WORK, types.boolean,
)  # fmt: skip


@kernel(WALK)
def _walk(
    tree: Any,
    leaves: Any,
    mine: Any,
    theirs: Any,
    me: int,
    depth: int,
    most: int,
    rates: Any,
    root: int,
    my_reach: Any,
    their_reach: Any,
    value: Any,
    grain: int,
    work: Any,
    learn: bool,
) -> None:
    """Walks a subtree and updates one player's ledger in it; `value` gets what it is worth to each of his hands.

    Where `grain` is not 0, subtrees of that size are pieces of work: without `learn` their reaches are written down,
    with it their values are read.
    """
    predictive = rates[4]
    wide, other = len(my_reach), len(their_reach)
    reach = np.empty((depth + 2) * wide, np.float32)  # [level, own hands]
    against = np.empty((depth + 2) * other, np.float32)  # [level, hands of the other]
    strategy = np.empty((depth + 1) * most * max(wide, other), np.float32)  # [level, action, hands]
    gained = np.empty((depth + 1) * most * wide, np.float32)  # [level, action, own hands]
    scratch = np.empty(max(wide, other), np.float32)
    at, tried = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    my_row, their_row = np.zeros(depth + 2, np.int64), np.zeros(depth + 2, np.int64)  # where the level's reaches stand
    reach[:wide], against[:other] = my_reach, their_reach
    at[0] = root
    level = piece = 0
    while True:
        node, k = at[level], tried[level]
        first, slot = tree.first[node], tree.slot[node]
        actions = tree.first[node + 1] - first
        own = tree.player[node] == me
        total = float32_ptr(scratch)  # a pointer does not keep its array alive: taken anew in every round
        plan = ahead(float32_ptr(strategy), level * most * max(wide, other))
        gain = ahead(float32_ptr(gained), level * most * wide)
        mine_now = ahead(float32_ptr(reach), my_row[level])
        theirs_now = ahead(float32_ptr(against), their_row[level])
        if k == 0:
            if own:
                regrets, gains = ahead(float32_ptr(mine.regrets), slot), ahead(float32_ptr(mine.gains), slot)
                _match(regrets, gains, predictive, actions, wide, total, plan)
            else:
                regrets, gains = ahead(float32_ptr(theirs.regrets), slot), ahead(float32_ptr(theirs.gains), slot)
                _match(regrets, gains, predictive, actions, other, total, plan)
        if k < actions:
            tried[level] += 1
            my_row[level + 1], their_row[level + 1] = my_row[level], their_row[level]
            if own:
                my_row[level + 1] = (level + 1) * wide
                _times(mine_now, ahead(plan, k * wide), wide, ahead(float32_ptr(reach), my_row[level + 1]))
            else:
                their_row[level + 1] = (level + 1) * other
                _times(theirs_now, ahead(plan, k * other), other, ahead(float32_ptr(against), their_row[level + 1]))
            child = tree.child[first + k]
            if child < 0:
                after = ahead(float32_ptr(against), their_row[level + 1])
                _leaf(leaves.dense, leaves.ordered, ~child, after, other, wide, ahead(gain, k * wide))
            elif grain > 0 and tree.end[child] - child <= grain:
                if learn:
                    for h in range(wide):
                        gain[k * wide + h] = work.value[piece, h]
                else:
                    work.mine[piece] = reach[my_row[level + 1] : my_row[level + 1] + wide]
                    work.theirs[piece] = against[their_row[level + 1] : their_row[level + 1] + other]
                piece += 1
            else:
                level += 1
                at[level], tried[level] = child, 0
            continue
        if own:
            _mean(gain, plan, actions, wide, total)
            if learn:
                _learn(mine, slot, gain, total, plan, mine_now, actions, wide, rates)
        else:
            _sum(gain, actions, wide, total)
        if level == 0:
            break
        level -= 1
        above = ahead(float32_ptr(gained), (level * most + tried[level] - 1) * wide)
        for h in range(wide):
            above[h] = total[h]
    value[:] = scratch[:wide]


@kernel(types.void(TREE, FLOATS, types.int64, types.int64, types.int64, FLOATS))
def _normalise(tree: Any, totals: Any, player: int, width: int, most: int, out: Any) -> None:
    total, share = np.empty(width), np.empty(width * most)
    for node in range(len(tree.player)):
        if tree.player[node] == player:
            actions, slot = tree.first[node + 1] - tree.first[node], tree.slot[node]
            _rounded(ahead(float32_ptr(totals), slot), actions, width, float64_ptr(total), float64_ptr(share))
            for i in range(actions * width):
                out[slot + i] = share[i]


@kernel(types.void(types.float32[:, :], types.int32[::1], FLOATS))
def _by_hand(rows: Any, actions: Any, out: Any) -> None:
    """Turns blocks [actions, hands] into [hands, actions]."""
    first = to = 0
    for node in range(len(actions)):
        for hand in range(rows.shape[1]):
            for a in range(actions[node]):
                out[to] = rows[first + a, hand]
                to += 1
        first += actions[node]


RESPOND = types.void(
    TREE, LEAVES64, FLOATS, FLOATS, types.int64, types.int64, types.int64, DOUBLES, DOUBLES, types.boolean
)


@kernel(RESPOND)
def _respond(
    tree: Any,
    leaves: Any,
    my_total: Any,
    their_total: Any,
    me: int,
    depth: int,
    most: int,
    their_reach: Any,
    value: Any,
    best: bool,
) -> None:
    """What every hand gains against the other's average, by the best response or by the player's own average."""
    wide, other = len(value), len(their_reach)
    against = np.empty((depth + 2) * other)
    strategy = np.empty((depth + 1) * most * max(wide, other))
    gained = np.empty((depth + 1) * most * wide)
    scratch = np.empty(max(wide, other))
    at, tried, row = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64), np.zeros(depth + 2, np.int64)
    against[:other] = their_reach
    level = 0
    while True:
        node, k = at[level], tried[level]
        first, slot = tree.first[node], tree.slot[node]
        actions = tree.first[node + 1] - first
        own = tree.player[node] == me
        total = float64_ptr(scratch)
        plan = ahead(float64_ptr(strategy), level * most * max(wide, other))
        gain = ahead(float64_ptr(gained), level * most * wide)
        if k == 0 and own and not best:
            _average(ahead(float32_ptr(my_total), slot), actions, wide, total, plan)
        elif k == 0 and not own:
            _average(ahead(float32_ptr(their_total), slot), actions, other, total, plan)
        if k < actions:
            tried[level] += 1
            row[level + 1] = row[level] if own else (level + 1) * other
            after = ahead(float64_ptr(against), row[level + 1])
            if not own:
                _times(ahead(float64_ptr(against), row[level]), ahead(plan, k * other), other, after)
            child = tree.child[first + k]
            if child < 0:
                _leaf(leaves.dense, leaves.ordered, ~child, after, other, wide, ahead(gain, k * wide))
            else:
                level += 1
                at[level], tried[level] = child, 0
            continue
        if not own:
            _sum(gain, actions, wide, total)
        elif best:
            _most(gain, actions, wide, total)
        else:
            _mean(gain, plan, actions, wide, total)
        if level == 0:
            break
        level -= 1
        above = ahead(float64_ptr(gained), (level * most + tried[level] - 1) * wide)
        for h in range(wide):
            above[h] = total[h]
    value[:] = scratch[:wide]
