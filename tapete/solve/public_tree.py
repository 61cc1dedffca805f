"""A game in which chance deals each player something private at the start, and all that follows is public.

One-card poker and a round of Dudo are such games. Their tree is walked once for all hands: a node is what everybody has
seen, and holds a vector over the private hands of the player who moves, those that can still be told apart. A terminal
holds a matrix, hands against hands; there are few different ones, so each is kept once. The tree is derived from the
contract by playing; whether a game is of this kind is checked on the way.

Nodes are numbered as they are met, children after their parent, a subtree without gaps. Moves without a choice are left
out.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    INTS,
    LONGS,
    STATES,
    ahead,
    float64_ptr,
    helper,
    int32_ptr,
    kernel,
    state_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import TapeteError
from tapete.core.game import Game, State
from tapete.core.hashmap import find, grown, new_map, put
from tapete.core.rng import mix
from tapete.solve.classes import DIGITS, Groupings, group_hands, padded
from tapete.solve.sequence_form import longer
from tapete.solve.size import check_kind, count_choices, physical_memory, too_large

MOMENT = 1.0  # seconds between two looks at how far the work is
CACHE = 2**20  # bytes; so many pairs of hands are played side by side that their states fit
NUMBERS = 2  # of float32 that CFR keeps for every sequence at least; with prediction one more


class NotPublic(TapeteError):
    """The game is not of the kind that has a public tree."""


class Tree(NamedTuple):
    """The public tree as kernels take it."""

    player: NDArray[np.int32]  # [nodes] who moves
    first: NDArray[np.int32]  # [nodes + 1] its first edge; edges are numbered one after another
    child: NDArray[np.int32]  # [edges] the node it leads to, or ~leaf
    end: NDArray[np.int32]  # [nodes] the first node behind its subtree
    slot: NDArray[np.int64]  # [nodes] where its block [actions, classes] begins in the ledger of its player


class Pairs(NamedTuple):
    """Pairs of hands that are played side by side."""

    roots: NDArray[np.uint8]  # [pairs, bytes] states after both deals
    one_of_each: tuple[NDArray[np.int64], NDArray[np.int64]]  # pairs in which each player has all his hands once
    gauge: NDArray[np.int64]  # [2] edges met so far; whether to stop, which another thread says


class Grown(NamedTuple):
    """What playing pairs of hands side by side finds: fields of `Tree`, and what else is known of it."""

    player: NDArray[np.int32]
    first: NDArray[np.int32]
    child: NDArray[np.int32]
    end: NDArray[np.int32]
    depth: int  # most decisions in a row; -1 where the pairs don't have the same moves
    forced: int  # moves without a choice


PAIRS = types.NamedTuple([STATES, types.UniTuple(LONGS, 2), LONGS], Pairs)
TREE = types.NamedTuple([INTS, INTS, INTS, INTS, LONGS], Tree)
GROWN = types.NamedTuple([INTS, INTS, INTS, INTS, types.int64, types.int64], Grown)
Deals = tuple[NDArray[np.int32], NDArray[np.int32]]  # what chance may deal to each player


@dataclass(frozen=True)
class PublicTree:
    """A game of that kind, ready to be solved."""

    game: Game
    tree: Tree
    groupings: Groupings  # which hands can be told apart at each node
    deals: Deals  # a hand is an index into this
    chance: NDArray[np.float64]  # [hands of 0, hands of 1] how likely both are dealt
    paths: list[list[int]]  # the moves that lead to one terminal of each kind
    depth: int  # most decisions in a row
    forced: int  # moves without a choice, which are not in the tree

    @property
    def hands(self) -> tuple[int, int]:
        """How many hands each player may have."""
        return len(self.deals[0]), len(self.deals[1])

    @property
    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How likely each player is dealt each of his hands."""
        return self.chance.sum(axis=1), self.chance.sum(axis=0)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers in an array of each player's ledger: one a move of a class, and padding."""
        blocks = [block_sizes(self.tree, self.groupings, p) for p in range(2)]
        return int(blocks[0].sum()), int(blocks[1].sum())

    @property
    def infosets(self) -> int:
        """Information sets with more than one action, of both players."""
        return sum(int((self.tree.player == p).sum()) * self.hands[p] for p in range(2))

    @property
    def bytes(self) -> int:
        """Memory of the tree and of the ledgers that CFR keeps for it."""
        arrays = sum(array.nbytes for array in (*self.tree, *self.groupings))
        return arrays + NUMBERS * 4 * sum(self.sizes)

    def payoffs(self, game: Game | None = None) -> NDArray[np.float64]:
        """What the first player gains at each kind of terminal, times chance: [leaves, hands of 0, hands of 1].

        Another game may be given that differs in its payoffs only.
        """
        return _payoffs(game or self.game, self.paths, self.deals, self.chance)

    def even_payoffs(self, game: Game | None = None) -> NDArray[np.float64]:
        """The same as if each player were dealt every hand as often as any other."""
        return _evened(self.payoffs(game), self.chance)

    @property
    def histories(self) -> int:
        """States of players and ends, forced moves included, in every deal, and one for the start."""
        ends = int((self.tree.child < 0).sum())
        return 1 + int((self.chance > 0).sum()) * (len(self.tree.player) + ends + self.forced)

    def keys(self, player: int) -> NDArray[np.uint64]:
        """The information sets of a player, node by node and hand by hand: [his nodes, hands]."""
        partner = self.chance.argmax(axis=1 - player)
        hands = np.arange(self.hands[player])
        pairs = np.stack([hands, partner] if player == 0 else [partner, hands], axis=1)
        states = _dealt(self.game, self.deals, pairs)
        out = np.empty((int((self.tree.player == player).sum()), len(hands)), dtype=np.uint64)
        _name(self.game.rulebook, states, player, self.game.spec.longest, self.game.spec.max_actions, out)
        return out

    @classmethod
    def of(cls, game: Game, *, watch: Callable[[float], None] = lambda share: None) -> PublicTree:
        """Derives the tree from the rules; raises where the game is not of this kind.

        :param watch: called about once a second with the share that is done; what it raises ends the work.
        """
        check_kind(game)
        deals, chance = private_deals(game)
        edges = check_size(game)
        pairs = np.argwhere(chance > 0)
        tree, depth, forced = _grow_all(game, deals, pairs, lambda met: watch(met / max(edges, 1)))
        ends = np.flatnonzero(tree.child < 0)
        one_of_each = ends[np.unique(~tree.child[ends], return_index=True)[1]]
        root = _dealt(game, deals, pairs[:1])[0]
        paths = [_path(tree, State(game, root.copy(), []), edge) for edge in one_of_each.tolist()]
        shape = (len(paths), len(chance), len(chance[0]))
        groupings = group_hands(
            tree.first, tree.child, shape, lambda: _evened(_payoffs(game, paths, deals, chance), chance)
        )
        for p in range(2):
            sizes = block_sizes(tree, groupings, p)
            np.copyto(tree.slot, np.cumsum(sizes) - sizes, where=tree.player == p)
        return cls(game, tree, groupings, deals, chance, paths, depth, forced)


def block_sizes(tree: Tree, groupings: Groupings, player: int) -> NDArray[np.int64]:
    """Numbers in the block of every node in a player's ledger; zero where he doesn't move."""
    sizes = np.diff(tree.first) * groupings.width[groupings.of_node, player]
    return np.where(tree.player == player, sizes, 0)


def check_size(game: Game, *, asked: Game | None = None) -> int:
    """Counts edges by the moves of one pair of hands; raises where ledgers would not fit into this machine's memory.

    `asked` is the game that the error names, where this is a round of it.
    """
    deals, chance = private_deals(game)
    root = _dealt(game, deals, np.argwhere(chance > 0)[:1])[0]
    available = physical_memory()
    sequence = NUMBERS * 4 * padded(1)  # bytes of one move of a node, at least
    edges = count_choices(game, root, available // sequence)
    if edges < 0:
        raise too_large(asked or game, f"more moves than this machine's {available / 1e9:.3g} GB of memory can hold")
    return edges


def _dealt(game: Game, deals: Deals, pairs: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The states after both deals, for pairs of hands that are possible: [pairs, bytes]."""
    out = np.empty((len(pairs), game.size), dtype=np.uint8)
    _deal(game.rulebook, game.start().data, deals[0][pairs[:, 0]], deals[1][pairs[:, 1]], out)
    return out


def _grow_all(
    game: Game, deals: Deals, pairs: NDArray[np.int64], watch: Callable[[float], None]
) -> tuple[Tree, int, int]:
    """The tree, its depth and the forced moves; the pairs of hands are played a part at a time, on both cores.

    `watch` is called with how many edges all parts have met, on average.
    """
    size = min(-(-len(pairs) // 2), CACHE // (game.size * (game.spec.longest + 1)))
    starts = range(0, len(pairs), size)
    gauges = np.zeros((len(starts), 2), dtype=np.int64)

    def grow(number: int) -> Grown:
        # The first pair is in every part, and all have its moves: the parts differ in the kinds of terminals only.
        part = np.concatenate([pairs[:1], pairs[starts[number] : starts[number] + size]])
        hands = tuple(np.unique(part[:, p], return_index=True)[1] for p in range(2))
        played = Pairs(_dealt(game, deals, part), hands, gauges[number])  # type: ignore[arg-type]
        grown: Grown = _grow(game.rulebook, played, game.spec.longest, game.spec.max_actions)
        return grown

    with ThreadPoolExecutor(2) as pool:
        working = [pool.submit(grow, number) for number in range(len(starts))]
        try:
            while wait(working, MOMENT).not_done:
                watch(float(gauges[:, 0].mean()))
        finally:
            gauges[:, 1] = 1  # where `watch` has raised
        parts = [future.result() for future in working]
    if any(part.depth < 0 for part in parts):
        raise NotPublic(f"{game} has hidden moves, or chance after the deal: not a public tree")
    player, first, child, end, depth, forced = parts[0]
    is_end = child < 0
    for part in parts[1:]:  # terminals are of one kind where they are in all parts
        kinds = ~child[is_end].astype(np.int64) * len(child) + ~part.child[is_end]
        child[is_end] = ~np.unique(kinds, return_inverse=True)[1]
    return Tree(player, first, child, end, np.zeros(len(player), dtype=np.int64)), int(depth), int(forced)


def _path(tree: Tree, state: State, edge: int) -> list[int]:
    """The moves from the root to the terminal at the end of an edge."""
    goal = int(np.searchsorted(tree.first, edge, side="right")) - 1
    moves, node = [], 0
    while not state.over:
        move, *others = state.actions()
        if others:
            edges = range(tree.first[node], tree.first[node + 1])
            below = [tree.child[e] for e in edges]
            k = next(i for i, e in enumerate(edges) if e == edge or 0 <= below[i] <= goal < tree.end[below[i]])
            move, node = [move, *others][k], below[k]
        moves.append(move)
        state.apply(move)
    return moves


def _payoffs(game: Game, paths: list[list[int]], deals: Deals, chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the first player gains at the end of each path, times chance: [paths, hands of 0, hands of 1]."""
    out = np.zeros((len(paths), *chance.shape))
    rulebook, start, odds = game.rulebook, game.start().data, chance.ravel()

    def pay(leaf: int) -> None:
        _pay(rulebook, start, np.array(paths[leaf], dtype=np.int32), *deals, odds, out[leaf].reshape(-1))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(pay, range(len(paths))))
    return out


def _evened(payoffs: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Payoffs times chance, divided by how likely each player is dealt his hand; in place.

    What is left of chance is how a hand of one makes those of the other more or less likely.
    """
    payoffs /= chance.sum(axis=1)[:, None]
    payoffs /= chance.sum(axis=0)
    return np.round(payoffs, DIGITS, out=payoffs)


def private_deals(game: Game) -> tuple[Deals, NDArray[np.float64]]:
    """What each player may be dealt, and how likely both are; raises where that is not how the game begins."""
    wrong = NotPublic(f"{game} does not begin with a private deal to each player: not a public tree")
    start = game.start()
    if start.player != CHANCE:
        raise wrong
    mine = start.actions()
    after = [start.copy().apply(outcome) for outcome in (mine[0], mine[-1])]
    if any(state.player != CHANCE for state in after) or after[0].infoset(1) != after[1].infoset(1):
        raise wrong
    yours = sorted({*after[0].actions(), *after[1].actions()})
    both = [after[0].copy().apply(outcome) for outcome in (after[0].actions()[0], after[0].actions()[-1])]
    if any(state.player == CHANCE for state in both) or both[0].infoset(0) != both[1].infoset(0):
        raise wrong
    rows, columns = np.array(mine, dtype=np.int32), np.array(yours, dtype=np.int32)
    chance = np.zeros((len(rows), len(columns)))
    if not _list_deals(game.rulebook, start.data, columns, game.spec.outcomes, chance):
        raise wrong
    return (rows, columns), chance


@kernel(types.boolean(RULEBOOK, BYTES, INTS, types.int64, types.float64[:, ::1]))
def _list_deals(rulebook: Any, start: Any, columns: Any, width: int, chance: Any) -> bool:
    """Fills in how likely each pair is; false where somebody may be dealt something unexpected."""
    rules = open_rules(rulebook)
    outcomes, probs = np.empty(width, np.int32), np.empty(width)
    yours, more = np.empty(width, np.int32), np.empty(width)
    rules.outcomes(state_ptr(start), int32_ptr(outcomes), float64_ptr(probs))
    state = np.empty_like(start)
    for i in range(len(chance)):
        state[:] = start
        rules.apply(state_ptr(state), outcomes[i])
        j = 0
        for k in range(rules.outcomes(state_ptr(state), int32_ptr(yours), float64_ptr(more))):
            while j < len(columns) and columns[j] < yours[k]:
                j += 1
            if j == len(columns) or columns[j] != yours[k]:
                return False
            chance[i, j] = probs[i] * more[k]
    return True


@kernel(types.void(RULEBOOK, BYTES, INTS, INTS, STATES))
def _deal(rulebook: Any, start: Any, first: Any, second: Any, out: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(out)):
        out[i] = start
        rules.apply(state_ptr(out[i]), first[i])
        rules.apply(state_ptr(out[i]), second[i])


@kernel(types.void(RULEBOOK, BYTES, INTS, INTS, INTS, DOUBLES, DOUBLES))
def _pay(rulebook: Any, start: Any, path: Any, rows: Any, columns: Any, chance: Any, out: Any) -> None:
    """Plays one path for every pair of hands; `chance` and `out` are [rows * columns]."""
    rules = open_rules(rulebook)
    dealt, state = np.empty_like(start), np.empty_like(start)
    payoff = np.zeros(2)
    for i in range(len(rows)):
        dealt[:] = start
        rules.apply(state_ptr(dealt), rows[i])
        for j in range(len(columns)):
            cell = i * len(columns) + j
            if chance[cell] > 0:
                state[:] = dealt
                rules.apply(state_ptr(state), columns[j])
                for k in range(len(path)):
                    rules.apply(state_ptr(state), path[k])
                rules.returns(state_ptr(state), float64_ptr(payoff))
                out[cell] = chance[cell] * payoff[0]


class _Side(NamedTuple):
    """States side by side, behind a pointer: slices of arrays cost more than the rules do."""

    first: Any
    pairs: int
    size: int  # bytes of each


@helper
def _same_turn(rules: Any, side: Any, who: int, pairs: Any, actions: Any, other: Any, n: int) -> bool:
    """Whether all pairs of hands leave the same player with the same moves.

    What he may do he knows, so that it is enough to ask with each of his hands once: those are `pairs`.
    """
    for k in range(1, side.pairs):
        if rules.player(ahead(side.first, k * side.size)) != who:
            return False
    for i in range(len(pairs) if who >= 0 else 0):
        if rules.actions(ahead(side.first, pairs[i] * side.size), int32_ptr(other)) != n:
            return False
        for a in range(n):
            if other[a] != actions[a]:
                return False
    return True


@helper
def _signature(rules: Any, side: Any, payoff: Any) -> Any:
    """A key of what the first player gains in each pair of hands."""
    key = np.uint64(0)
    for k in range(side.pairs):
        rules.returns(ahead(side.first, k * side.size), float64_ptr(payoff))
        key = mix(key, payoff.view(np.uint64)[0])
    return key


@kernel(GROWN(RULEBOOK, PAIRS, types.int64, types.int64))
def _grow(rulebook: Any, pairs: Any, longest: int, width: int) -> Any:
    """Plays pairs of hands side by side; `longest` and `width` are the most moves in a row and in a state.

    Terminals are of one kind where all pairs gain the same.
    """
    rules, roots, gauge = open_rules(rulebook), pairs.roots, pairs.gauge
    size, total_size = roots.shape[1], roots.size
    frames = np.empty((longest + 1, total_size), np.uint8)  # [level, pair * bytes]
    frames[0] = roots.reshape(total_size)
    actions, other = np.empty((longest + 1, width), np.int32), np.empty(width, np.int32)
    total, tried, at = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    payoff = np.zeros(2)

    player, first, end = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int32)
    child = np.empty(4096, np.int32)
    keys, values = new_map(64)
    nodes = edges = leaves = depth = level = choices = forced = 0
    pending = -1  # the edge that waits for the node or leaf it leads to
    entering = True
    while level >= 0:
        p = state_ptr(frames[level])
        if entering:
            who = rules.player(p)
            n = rules.actions(p, int32_ptr(actions[level])) if who >= 0 else 0
            total[level], tried[level], at[level] = n, 0, -1
            side, asked = _Side(p, len(roots), size), pairs.one_of_each[max(who, 0)]
            if who == CHANCE or not _same_turn(rules, side, who, asked, actions[level], other, n):
                return Grown(player, first, child, end, -1, 0)
            if who == TERMINAL:
                key = _signature(rules, side, payoff)
                slot = find(keys, key)
                if keys[slot] == 0:
                    put(keys, values, slot, key, leaves)
                    leaves += 1
                    if 2 * leaves > len(keys):
                        keys, values = grown(keys, values)
                    slot = find(keys, key)
                child[pending] = ~values[slot]
            else:
                forced += n == 1
                if n > 1:
                    if nodes + 1 >= len(player):
                        player, first, end = longer(player), longer(first), longer(end)
                    while edges + n > len(child):
                        child = longer(child)
                    if pending >= 0:
                        child[pending] = nodes
                    player[nodes], first[nodes], at[level] = who, edges, nodes
                    nodes += 1
                    edges += n
                    gauge[0] = edges
                    if gauge[1] > 0:
                        return Grown(player, first, child, end, -1, 0)
                    choices += 1
                    depth = max(depth, choices)
        k = tried[level]
        if k < total[level]:
            tried[level] += 1
            if at[level] >= 0:
                pending = first[at[level]] + k
            frames[level + 1] = frames[level]
            below, action = state_ptr(frames[level + 1]), actions[level, k]
            for pair in range(0, total_size, size):
                rules.apply(ahead(below, pair), action)
            level += 1
            entering = True
        else:
            if at[level] >= 0:
                end[at[level]] = nodes
                choices -= 1
            level -= 1
            entering = False
    first[nodes] = edges
    return Grown(
        player[:nodes].copy(), first[: nodes + 1].copy(), child[:edges].copy(), end[:nodes].copy(), depth, forced
    )  # fmt: skip


@kernel(types.void(RULEBOOK, STATES, types.int64, types.int64, types.int64, types.uint64[:, ::1]))
def _name(rulebook: Any, roots: Any, player: int, longest: int, width: int, out: Any) -> None:
    """Plays the tree again, in the same order, with one state for each hand of a player; writes down what he knows."""
    rules = open_rules(rulebook)
    size, total_size = roots.shape[1], roots.size
    frames = np.empty((longest + 1, total_size), np.uint8)  # [level, hand * bytes]
    frames[0] = roots.reshape(total_size)
    actions = np.empty((longest + 1, width), np.int32)
    total, tried = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    node = level = 0
    entering = True
    while level >= 0:
        p = state_ptr(frames[level])
        if entering:
            who = rules.player(p)
            total[level] = 0 if who == TERMINAL else rules.actions(p, int32_ptr(actions[level]))
            tried[level] = 0
            if who == player and total[level] > 1:
                for hand in range(len(roots)):
                    out[node, hand] = rules.infoset(state_ptr(frames[level, hand * size :]), player)
                node += 1
        if tried[level] < total[level]:
            action = actions[level, tried[level]]
            tried[level] += 1
            frames[level + 1] = frames[level]
            for pair in range(0, total_size, size):
                rules.apply(state_ptr(frames[level + 1, pair:]), action)
            level += 1
            entering = True
        else:
            level -= 1
            entering = False
