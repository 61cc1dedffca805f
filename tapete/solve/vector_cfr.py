"""Counterfactual regret minimisation over a public tree, with vectors over classes of private hands.

The tree is walked depth first with a stack, so that besides the ledgers only a few vectors a level are touched, and the
ledgers from front to back. A walk updates one player. Subtrees below a certain size are given to threads; they share no
part of a ledger, so the result does not depend on how many threads there are.

Where neither player comes with any hand, nothing is learnt: such a subtree is left out, which is most of a large tree
after a few iterations. What its ledgers would have been discounted by meanwhile is made up for when somebody comes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, FLOAT_ROWS, FLOATS, INTS, LONGS, ahead, first_of, float32_ptr, helper, kernel
from tapete.core.game import Game
from tapete.core.records import pointers
from tapete.solve.cfr import fill_ledgers, ledger_arrays
from tapete.solve.classes import GROUPINGS, Groupings
from tapete.solve.hands import ROOM32, Room, add_up, match_regrets, mean, merge, multiply, multiply_merged, spread
from tapete.solve.leaves import LEAVES32, Leaves, gain_at
from tapete.solve.public_tree import TREE, PublicTree, Tree
from tapete.solve.regrets import TINY, updated
from tapete.solve.response import Proof
from tapete.solve.schemes import Scheme
from tapete.solve.strategy import Strategy
from tapete.solve.vector_response import Question, averages, by_hand, come_to, respond

LARGE = 10_000_000  # information sets; of more, a file has those that its strategy comes to
RARE = 0.001  # moves of a smaller share are then left out of it, and of what is proven
PIECES = 256  # the tree is cut into about this many pieces of work
SHARES = 8  # that a thread gets of them, one after another: some pieces are more work than others
SMALLEST = 4096  # nodes that are worth handing to a thread


class Ledger(NamedTuple):
    """What CFR remembers of one player: for every node of his a block [actions, classes (padded)]."""

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


class Lag(NamedTuple):
    """What nodes that were left out have missed: logarithms of all that was kept until each iteration."""

    seen: NDArray[np.int32]  # [nodes] the last iteration that somebody came to it
    now: int  # the iteration
    positive: NDArray[np.float64]  # [iterations + 1] of positive regrets
    negative: NDArray[np.float64]
    total: NDArray[np.float64]  # of the sum of strategies


class Update(NamedTuple):
    """What all walks have in common in which one player learns."""

    tree: Tree
    groupings: Groupings
    leaves: Leaves  # his payoffs
    mine: Ledger
    theirs: Ledger  # of the other, as it is
    player: int
    rates: Rates
    lag: Lag


class Piece(NamedTuple):
    """A subtree to be walked."""

    root: int
    mine: NDArray[np.float32]  # [own classes] how likely the player comes there; the length is that of the root's
    theirs: NDArray[np.float32]  # [classes of the other] the same of the other
    value: NDArray[np.float32]  # [own classes] what it is worth: the result


class Cut(NamedTuple):
    """The pieces into which the tree is cut, in the order in which a walk meets them; fields as in `Piece`."""

    grain: int  # subtrees of at most so many nodes are pieces; 0: nothing is cut off
    mine: NDArray[np.float32]  # [pieces, own classes]
    theirs: NDArray[np.float32]  # [pieces, classes of the other]
    value: NDArray[np.float32]  # [pieces, own classes]


LEDGER = types.NamedUniTuple(FLOATS, 3, Ledger)
RATES = types.NamedTuple([types.float32] * 3 + [types.boolean] * 2, Rates)
LAG = types.NamedTuple([INTS, types.int64, DOUBLES, DOUBLES, DOUBLES], Lag)
UPDATE = types.NamedTuple([TREE, GROUPINGS, LEAVES32, LEDGER, LEDGER, types.int64, RATES, LAG], Update)
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
        self._seen = np.zeros(nodes, dtype=np.int32)
        self._grain = max(nodes // PIECES, SMALLEST) if nodes > 2 * SMALLEST else 0
        roots = np.empty(nodes, dtype=np.int64)
        self._pieces = roots[: _cut(public.tree, self._grain, roots)].copy() if self._grain else roots[:0]
        self._actions = int(np.diff(public.tree.first).max())
        self._dealt = [self._deal(player) for player in (0, 1)]
        dealt = [chances.astype(np.float32) for chances in self._dealt]
        self._whole = [Piece(0, dealt[me], dealt[1 - me], self._vectors(me)) for me in (0, 1)]
        self._rooms = [self._room(me, np.float32) for me in (0, 1)]  # for walks of the whole tree
        shape = len(self._pieces)
        self._cuts = [Cut(self._grain, *(self._vectors(p, shape) for p in (me, 1 - me, me))) for me in (0, 1)]

    def _leaves(self, game: Game) -> tuple[Leaves, Leaves]:
        return Leaves.of(self.public.even_payoffs(game), self.public.groupings)

    def _width(self, player: int) -> int:
        """Of a player's vectors at the root, where they are longest."""
        return int(self.public.groupings.width[self.public.groupings.of_node[0], player])

    def _room(self, me: int, dtype: Any) -> Room:
        return Room.of(self.public.depth + 1, self._actions, (self._width(me), self._width(1 - me)), dtype)

    def run(self, iterations: int) -> None:
        """Makes so many more iterations, in each of which both players learn in turn."""
        lag = self._lag(self.iterations + iterations)
        weights = self.scheme.weights(self.iterations + 1, iterations)
        with ThreadPoolExecutor(self.threads) as pool:
            for row in weights:
                self.iterations += 1
                for player in (0, 1):
                    self._update(player, row, lag._replace(now=self.iterations), pool)

    def _lag(self, until: int) -> Lag:
        """What is kept until each of so many iterations; nothing is lost of an empty sum in the first."""
        weights = self.scheme.weights(1, until)
        weights[:1, 2] = 1
        return Lag(self._seen, self.iterations, *np.pad(np.log(weights), ((1, 0), (0, 0))).cumsum(axis=0).T.copy())

    def _update(self, me: int, weights: NDArray[np.float64], lag: Lag, pool: ThreadPoolExecutor) -> None:
        positive, negative, total = (np.float32(weight) for weight in weights)
        rates = Rates(positive, negative, total, self.scheme.floor, self.scheme.predictive)
        mine, theirs = self.ledgers[me], self.ledgers[1 - me]
        update = Update(self.public.tree, self.public.groupings, self._single[me], mine, theirs, me, rates, lag)
        whole, cut, room = self._whole[me], self._cuts[me], self._rooms[me]
        if len(self._pieces):
            parts = SHARES * self.threads

            def walk(part: int) -> None:
                _walk_pieces(update, self._pieces, cut, self._room(me, np.float32), part, parts)

            _walk(update, whole, cut, room, False)
            list(pool.map(walk, range(parts)))
        _walk(update, whole, cut, room, True)

    def _vectors(self, player: int, *shape: int) -> NDArray[np.float32]:
        """Room for vectors over the hands of a player."""
        return np.zeros((*shape, self._width(player)), dtype=np.float32)

    def _deal(self, player: int) -> NDArray[np.float64]:
        """How likely a player is dealt a hand of each class of the root."""
        groupings = self.public.groupings
        label = groupings.label[groupings.of_node[0], player, : self.public.hands[player]]
        out = np.zeros(self._width(player))
        np.add.at(out, label, self.public.weights[player])
        return out

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
        tree, groupings, value = self.public.tree, self.public.groupings, np.zeros(self._width(me))
        totals = self.ledgers[me].total, self.ledgers[1 - me].total
        question = Question(tree, groupings, leaves, *totals, me, best, self._least)
        respond(question, self._dealt[1 - me], value, self._room(me, np.float64))
        return float(self._dealt[me] @ value)

    def average(self, player: int) -> NDArray[np.float32]:
        """The average strategy of a player, in the layout of his ledger."""
        out = np.empty_like(self.ledgers[player].total)
        averages(self.public.tree, self.public.groupings, self.ledgers[player].total, player, self._least, out)
        return out

    def strategy(self, **about: Any) -> Strategy:
        """The average strategies of both players, by information set; `about` goes into the file's header.

        Of a large game it has the information sets that who plays by it comes to, whatever the other does.
        """
        tree, parts = self.public.tree, []
        for p in range(2):
            hands, actions = self.public.hands[p], np.diff(tree.first)[tree.player == p]
            comes = np.ones((len(actions), hands), dtype=bool)
            shares = self.average(p)
            if self.is_large:
                come_to(tree, self.public.groupings, shares, p, comes)
            keys, counts = self.public.keys(p)[comes], np.broadcast_to(actions[:, None], comes.shape)[comes]
            probs = np.empty(int(counts.sum()), dtype=np.float32)
            by_hand(tree, self.public.groupings, shares, p, comes, probs)
            parts.append((keys, counts, probs))
        if self.is_large:
            about["partial"] = True
        return Strategy.of(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)), **about)

    @property
    def is_large(self) -> bool:
        """Whether the strategy is made small for a file: what is played rarely is left out, and where nobody comes."""
        return self.public.infosets > LARGE

    @property
    def _least(self) -> float:
        return RARE if self.is_large else 0.0

    def settle(self) -> None:
        """Makes up for what nodes have missed that were left out: the ledgers are then as if none had been."""
        for player in (0, 1):
            _settle(self.public.tree, self.public.groupings, self.ledgers[player], player, self._lag(self.iterations))
        self._seen[:] = self.iterations

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that a run remembers, for a checkpoint."""
        self.settle()
        return ledger_arrays(self.ledgers)

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        """Goes back to what `arrays` said after so many iterations."""
        fill_ledgers(self.arrays(), arrays)
        self.iterations = iterations
        self._seen[:] = iterations


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

    mine: Any  # [own classes]
    theirs: Any  # [classes of the other]
    plan: Any  # [actions, classes of who moves]
    gains: Any  # [actions, own classes]


@helper
def _plan(ledger: Any, slot: int, predictive: bool, actions: int, width: int, total: Any, out: Any) -> None:
    """The strategy at a node of whoever has this ledger."""
    regrets, gains = ahead(float32_ptr(ledger.regrets), slot), ahead(float32_ptr(ledger.gains), slot)
    match_regrets(regrets, gains, predictive, actions, width, total, out)


@helper
def _catch_up(ledger: Any, slot: int, size: int, lag: Any, node: int, until: int) -> None:
    """Discounts the block of a node as the iterations that left it out have done, up to that one."""
    seen = lag.seen[node]
    if seen >= until:
        return
    positive = np.float32(np.exp(lag.positive[until] - lag.positive[seen]))
    negative = np.float32(np.exp(lag.negative[until] - lag.negative[seen]))
    total = np.float32(np.exp(lag.total[until] - lag.total[seen]))
    r, t = ahead(float32_ptr(ledger.regrets), slot), ahead(float32_ptr(ledger.total), slot)
    for i in range(size):
        kept = r[i] * (positive if r[i] > 0 else negative)
        r[i] = kept if abs(kept) > TINY else kept * 0
    for i in range(size):
        t[i] *= total


@kernel(types.void(TREE, GROUPINGS, LEDGER, types.int64, LAG))
def _settle(tree: Any, groupings: Any, ledger: Any, player: int, lag: Any) -> None:
    """Catches up at all nodes of a player."""
    for node in range(len(tree.player)):
        if tree.player[node] == player:
            size = (tree.first[node + 1] - tree.first[node]) * groupings.width[groupings.of_node[node], player]
            _catch_up(ledger, tree.slot[node], size, lag, node, lag.now)


@helper
def _is_nothing(mine: Any, theirs: Any, own_width: int, other_width: int) -> bool:
    """Whether neither player comes there with any hand."""
    total = np.float32(0)
    for h in range(own_width):
        total += mine[h]
    for h in range(other_width):
        total += theirs[h]
    return total == 0


@helper
def _learn(ledger: Any, rates: Any, slot: int, here: Any, mean: Any, actions: int, width: int) -> None:
    """Updates the regrets and the sum of strategies at a node, for every class; `mean` is what the strategy gained."""
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


@helper
def _go(reach: Any, chosen: Any, moves: bool, width: int, step: int, into: Any, out: Any, fewer: int) -> None:
    """How likely a player comes to a child: who moves chooses it, and classes are merged where there is a step."""
    if step < 0:
        multiply(reach, chosen, width, out)
    elif moves:
        multiply_merged(reach, chosen, width, into, out, fewer)
    else:
        merge(reach, width, into, out, fewer)


@helper
def _come_back(value: Any, step: int, into: Any, width: int, out: Any) -> None:
    """What a child is worth, by the classes of the node."""
    if step < 0:
        for h in range(width):
            out[h] = value[h]
    else:
        spread(value, into, width, out)


@kernel(types.void(UPDATE, PIECE, CUT, ROOM32, types.boolean))
def _walk(update: Any, piece: Any, cut: Any, arrays: Any, learn: bool) -> None:
    """Walks a subtree and updates the player's ledger in it; `piece.value` gets what it is worth to each of his hands.

    Where the subtree is cut further, its pieces are not walked: without `learn` it is written down how likely both
    players come there, with it their values are read.
    """
    tree, groupings, leaves, rates = update.tree, update.groupings, update.leaves, update.rates
    room, me, them, merges = pointers(arrays), update.player, 1 - update.player, first_of(groupings.merge.reshape(-1))
    own_most, other_most, levels = len(piece.mine), len(piece.theirs), len(arrays.node)
    plan_size, gain_size = len(arrays.plan) // levels, len(arrays.gains) // levels
    row_size, total = groupings.merge.shape[2], room.total
    arrays.mine[:own_most], arrays.theirs[:other_most] = piece.mine, piece.theirs
    room.my_row[0] = room.their_row[0] = room.tried[0] = 0
    room.node[0] = piece.root
    # Above the pieces everything is walked: they are counted.
    is_pruned = cut.grain == 0 and not rates.predictive
    level = pieces = 0
    while True:
        node, k = room.node[level], room.tried[level]
        first, slot, grouping = tree.first[node], tree.slot[node], groupings.of_node[node]
        actions, own = tree.first[node + 1] - first, tree.player[node] == me
        own_width, other_width = groupings.width[grouping, me], groupings.width[grouping, them]
        my_row, their_row = room.my_row[level], room.their_row[level]
        plan, gains = ahead(room.plan, level * plan_size), ahead(room.gains, level * gain_size)
        here = _Here(ahead(room.mine, my_row), ahead(room.theirs, their_row), plan, gains)
        if k == 0 and own:
            _plan(update.mine, slot, rates.predictive, actions, own_width, total, plan)
        elif k == 0:
            _plan(update.theirs, slot, rates.predictive, actions, other_width, total, plan)
        if k < actions:
            room.tried[level] = k + 1
            child = tree.child[first + k]
            if child < 0:
                gain, coming = ahead(gains, k * own_width), here.theirs
                if not own:
                    coming = ahead(room.theirs, (level + 1) * other_most)
                    multiply(here.theirs, ahead(plan, k * other_width), other_width, coming)
                gain_at(leaves, ~child, grouping, coming, other_width, own_width, gain)
                continue
            below = groupings.of_node[child]
            step = groupings.step[grouping, below]
            if own or step >= 0:
                my_row = (level + 1) * own_most
                chosen, into = ahead(plan, k * own_width), ahead(merges, (2 * step + me) * row_size)
                _go(here.mine, chosen, own, own_width, step, into, ahead(room.mine, my_row), groupings.width[below, me])
            if not own or step >= 0:
                their_row = (level + 1) * other_most
                chosen, into = ahead(plan, k * other_width), ahead(merges, (2 * step + them) * row_size)
                to, fewer = ahead(room.theirs, their_row), groupings.width[below, them]
                _go(here.theirs, chosen, not own, other_width, step, into, to, fewer)
            mine, theirs = ahead(room.mine, my_row), ahead(room.theirs, their_row)
            if is_pruned and _is_nothing(mine, theirs, groupings.width[below, me], groupings.width[below, them]):
                for h in range(own_width):
                    gains[k * own_width + h] = 0
                continue
            if cut.grain > 0 and tree.end[child] - child <= cut.grain:
                if learn:
                    into = ahead(merges, (2 * step + me) * row_size)
                    _come_back(first_of(cut.value[pieces]), step, into, own_width, ahead(gains, k * own_width))
                else:
                    cut.mine[pieces] = arrays.mine[my_row : my_row + own_most]
                    cut.theirs[pieces] = arrays.theirs[their_row : their_row + other_most]
                pieces += 1
            else:
                level += 1
                room.my_row[level], room.their_row[level] = my_row, their_row
                room.node[level], room.tried[level] = child, 0
            continue
        if own:
            mean(gains, plan, actions, own_width, total)
            if learn:
                _catch_up(update.mine, slot, actions * own_width, update.lag, node, update.lag.now - 1)
                _learn(update.mine, rates, slot, here, total, actions, own_width)
                update.lag.seen[node] = update.lag.now
        else:
            add_up(gains, actions, own_width, total)
        if level == 0:
            break
        level -= 1
        above = groupings.of_node[room.node[level]]
        width, step = groupings.width[above, me], groupings.step[above, grouping]
        gain = ahead(room.gains, level * gain_size + (room.tried[level] - 1) * width)
        _come_back(total, step, ahead(merges, (2 * step + me) * row_size), width, gain)
    piece.value[:] = arrays.total[:own_most]


@kernel(types.void(UPDATE, LONGS, CUT, ROOM32, types.int64, types.int64))
def _walk_pieces(update: Any, roots: Any, cut: Any, arrays: Any, part: int, parts: int) -> None:
    """Walks every so many pieces, from that one on."""
    uncut = Cut(0, cut.mine, cut.theirs, cut.value)
    for i in range(part, len(roots), parts):
        _walk(update, Piece(roots[i], cut.mine[i], cut.theirs[i], cut.value[i]), uncut, arrays, True)
