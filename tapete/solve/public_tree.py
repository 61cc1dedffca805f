"""A game in which chance deals each player something private at the start, and all that follows is public.

One-card poker and a round of Dudo are such games. Their tree is walked once for all hands: a node is what everybody has
seen, and holds a vector over the private hands of the player who moves. A terminal holds a matrix, hands against hands;
there are few different ones, so each is kept once. The tree is derived from the contract by playing; whether a game is
of this kind is checked on the way.

Nodes are numbered as they are met, children after their parent, a subtree without gaps. Moves without a choice are left
out.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import BYTES, DOUBLES, INTS, LONGS, STATES, float64_ptr, helper, int32_ptr, kernel, state_ptr
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import TapeteError
from tapete.core.game import Game, State
from tapete.core.hashmap import find, grown, new_map, put
from tapete.core.rng import mix
from tapete.solve.sequence_form import longer
from tapete.solve.size import check_kind, count_choices, physical_memory, too_large

LANES = 16  # vectors are padded to a multiple of this, so that vector code over hands has no rest
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
    slot: NDArray[np.int64]  # [nodes] where its block [actions, hands] begins in the ledger of its player


class Grown(NamedTuple):
    """What playing pairs of hands side by side finds: fields of `Tree`, and what else is known of it."""

    player: NDArray[np.int32]
    first: NDArray[np.int32]
    child: NDArray[np.int32]
    end: NDArray[np.int32]
    depth: int  # most decisions in a row; -1 where the pairs don't have the same moves
    forced: int  # moves without a choice


TREE = types.NamedTuple([INTS, INTS, INTS, INTS, LONGS], Tree)
GROWN = types.NamedTuple([INTS, INTS, INTS, INTS, types.int64, types.int64], Grown)
Deals = tuple[NDArray[np.int32], NDArray[np.int32]]  # what chance may deal to each player


@dataclass(frozen=True)
class PublicTree:
    """A game of that kind, ready to be solved."""

    game: Game
    tree: Tree
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
    def widths(self) -> tuple[int, int]:
        """The same, padded."""
        return padded(self.hands[0]), padded(self.hands[1])

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers in an array of each player's ledger: one a sequence."""
        counts = np.diff(self.tree.first)
        return tuple(int(counts[self.tree.player == p].sum()) * self.widths[p] for p in range(2))  # type: ignore[return-value]

    @property
    def infosets(self) -> int:
        """Information sets with more than one action, of both players."""
        return sum(int((self.tree.player == p).sum()) * self.hands[p] for p in range(2))

    @property
    def bytes(self) -> int:
        """Memory of the tree and of the ledgers that CFR keeps for it."""
        return sum(array.nbytes for array in self.tree) + (NUMBERS + 1) * 4 * sum(self.sizes)

    def payoffs(self, game: Game | None = None) -> NDArray[np.float64]:
        """What the first player gains at each kind of terminal, times chance: [leaves, hands of 0, hands of 1].

        Another game may be given that differs in its payoffs only.
        """
        game = game or self.game
        out = np.zeros((len(self.paths), *self.hands))
        rulebook, start, chance = game.rulebook, game.start().data, self.chance.ravel()

        def pay(leaf: int) -> None:
            moves = np.array(self.paths[leaf], dtype=np.int32)
            _pay(rulebook, start, moves, *self.deals, chance, out[leaf].reshape(-1))

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(pay, range(len(self.paths))))
        return out

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
    def of(cls, game: Game) -> PublicTree:
        """Derives the tree from the rules; raises where the game is not of this kind."""
        check_kind(game)
        deals, chance = private_deals(game)
        check_size(game)
        pairs = np.argwhere(chance > 0)
        tree, depth, forced = _grow_all(game, deals, pairs)
        ends = np.flatnonzero(tree.child < 0)
        one_of_each = ends[np.unique(~tree.child[ends], return_index=True)[1]]
        root = _dealt(game, deals, pairs[:1])[0]
        paths = [_path(tree, State(game, root.copy(), []), edge) for edge in one_of_each.tolist()]
        self = cls(game, tree, deals, chance, paths, depth, forced)
        for p in range(2):
            sizes = np.where(tree.player == p, np.diff(tree.first), 0).astype(np.int64) * self.widths[p]
            np.copyto(tree.slot, np.cumsum(sizes) - sizes, where=tree.player == p)
        return self


def padded(hands: int) -> int:
    """The length of a vector over so many hands."""
    return -(-hands // LANES) * LANES


def check_size(game: Game, *, asked: Game | None = None) -> None:
    """Raises where the ledgers would not fit into this machine's memory, by the moves of one pair of hands.

    `asked` is the game that the error names, where this is a round of it.
    """
    deals, chance = private_deals(game)
    root = _dealt(game, deals, np.argwhere(chance > 0)[:1])[0]
    available = physical_memory()
    sequence = NUMBERS * 4 * padded(min(map(len, deals)))  # bytes of one move of a node, at least
    if count_choices(game, root, available // sequence) < 0:
        raise too_large(asked or game, f"more moves than this machine's {available / 1e9:.3g} GB of memory can hold")


def _dealt(game: Game, deals: Deals, pairs: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The states after both deals, for pairs of hands that are possible: [pairs, bytes]."""
    out = np.empty((len(pairs), game.size), dtype=np.uint8)
    _deal(game.rulebook, game.start().data, deals[0][pairs[:, 0]], deals[1][pairs[:, 1]], out)
    return out


def _grow_all(game: Game, deals: Deals, pairs: NDArray[np.int64]) -> tuple[Tree, int, int]:
    """The tree, its depth and the forced moves; the pairs of hands are played a part at a time, on both cores."""
    size = min(-(-len(pairs) // 2), CACHE // (game.size * (game.spec.longest + 1)))

    def grow(start: int) -> Grown:
        # The first pair is in every part, and all have its moves: the parts differ in the kinds of terminals only.
        part = np.concatenate([pairs[:1], pairs[start : start + size]])
        grown: Grown = _grow(game.rulebook, _dealt(game, deals, part), game.spec.longest, game.spec.max_actions)
        return grown

    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(grow, range(0, len(pairs), size)))
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


@helper
def _same_turn(rules: Any, states: Any, size: int, who: int, actions: Any, other: Any, n: int) -> bool:
    """Whether all pairs of hands leave the same player with the same moves."""
    for k in range(1, len(states) // size):
        p = state_ptr(states[k * size :])
        if rules.player(p) != who or (who >= 0 and rules.actions(p, int32_ptr(other)) != n):
            return False
        for a in range(n):
            if other[a] != actions[a]:
                return False
    return True


@helper
def _signature(rules: Any, states: Any, size: int, payoff: Any) -> Any:
    """A key of what the first player gains in each pair of hands."""
    key = np.uint64(0)
    for k in range(len(states) // size):
        rules.returns(state_ptr(states[k * size :]), float64_ptr(payoff))
        key = mix(key, payoff.view(np.uint64)[0])
    return key


@kernel(GROWN(RULEBOOK, STATES, types.int64, types.int64))
def _grow(rulebook: Any, roots: Any, longest: int, width: int) -> Any:
    """Plays pairs of hands side by side, from `roots` [pairs, bytes]; `longest` and `width` are the most moves in a row
    and in a state.

    Terminals are of one kind where all pairs gain the same.
    """
    rules = open_rules(rulebook)
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
            if who == CHANCE or not _same_turn(rules, frames[level], size, who, actions[level], other, n):
                return Grown(player, first, child, end, -1, 0)
            if who == TERMINAL:
                key = _signature(rules, frames[level], size, payoff)
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
                    choices += 1
                    depth = max(depth, choices)
        k = tried[level]
        if k < total[level]:
            tried[level] += 1
            if at[level] >= 0:
                pending = first[at[level]] + k
            frames[level + 1] = frames[level]
            for pair in range(0, total_size, size):
                rules.apply(state_ptr(frames[level + 1, pair:]), actions[level, k])
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
