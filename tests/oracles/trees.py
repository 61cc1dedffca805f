"""Games as explicit trees, and CFR over them as the papers write it: slow, recursive, plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tapete.core.contract import CHANCE
from tapete.core.game import Game, State
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.strategy import Strategy

Probabilities = dict[int, list[float]]  # probabilities of the actions at an information set, by its key


@dataclass
class Node:
    """A history."""

    player: int
    payoff: float = 0.0  # to seat 0, where the game is over
    key: int = 0  # of the mover's information set
    chances: list[float] = field(default_factory=list)  # of the children, where chance moves
    children: list[Node] = field(default_factory=list)


def grow(game: Game) -> Node:
    """The whole tree below the start."""
    return _node(game.start())


def _node(state: State) -> Node:
    if state.over:
        return Node(state.player, payoff=state.returns()[0])
    children = [_node(state.copy().apply(action)) for action in state.actions()]
    if state.player == CHANCE:
        return Node(CHANCE, chances=[share for _, share in state.outcomes()], children=children)
    return Node(state.player, key=state.infoset(state.player), children=children)


def nodes(root: Node) -> Iterator[Node]:
    """All histories, parents first."""
    yield root
    for child in root.children:
        yield from nodes(child)


def choices(root: Node, player: int) -> dict[int, int]:
    """A player's information sets with more than one action, and how many there are."""
    return {node.key: len(node.children) for node in nodes(root) if node.player == player and len(node.children) > 1}


def shares(node: Node, strategy: Probabilities) -> list[float]:
    """How likely each child is."""
    if node.player == CHANCE:
        return node.chances
    return strategy[node.key] if len(node.children) > 1 else [1.0]


def value(node: Node, strategy: Probabilities) -> float:
    """What seat 0 expects; the strategy has both players' information sets."""
    if not node.children:
        return node.payoff
    return sum(p * value(child, strategy) for p, child in zip(shares(node, strategy), node.children, strict=True) if p)


def pure_strategies(root: Node, player: int) -> Iterator[Probabilities]:
    """Every way to choose one action at each information set of a player."""
    counts = choices(root, player)
    for chosen in itertools.product(*(range(n) for n in counts.values())):
        yield {
            key: [float(a == choice) for a in range(n)] for (key, n), choice in zip(counts.items(), chosen, strict=True)
        }


def random_strategy(root: Node, seed: int) -> Probabilities:
    """Any probabilities, some of them zero, at all information sets of both players."""
    rng = np.random.default_rng(seed)
    found: Probabilities = {}
    for key, n in (choices(root, 0) | choices(root, 1)).items():
        weights = rng.exponential(size=n) * (rng.random(n) < 0.8)
        found[key] = (weights / weights.sum()).tolist() if weights.any() else [1 / n] * n
    return found


def plans(form: SequenceForm, strategy: Probabilities) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A strategy as plans of both players: the product of its probabilities along each sequence."""
    found = []
    for plex, keys in zip(form.plexes, form.keys, strict=True):
        plan = np.ones(plex.sequences)
        for i, key in enumerate(keys.tolist()):
            plan[plex.first[i] : plex.first[i + 1]] = plan[plex.parent[i]] * np.array(strategy[key])
        found.append(plan)
    return found[0], found[1]


def strategy_of(strategy: Strategy, keys: Iterable[int]) -> Probabilities:
    """What a strategy says at these information sets, as an agent plays it."""
    found: Probabilities = {}
    for key in keys:
        probs = strategy.lookup(key)
        assert probs is not None
        found[key] = (probs / probs.sum(dtype=np.float64)).tolist()
    return found


class NaiveCFR:
    """CFR by its definition: regrets are sums over histories, one dictionary each for regrets and sums of strategies.

    Every algorithm is written as in its own paper, with growing weights where the paper has them.
    """

    def __init__(self, game: Game, algorithm: str, *, alternating: bool = True) -> None:
        self.root, self.algorithm, self.alternating = grow(game), algorithm, alternating
        self.t = 0
        self.counts = [choices(self.root, player) for player in range(2)]
        both = self.counts[0] | self.counts[1]
        self.strategy: Probabilities = {key: [1 / n] * n for key, n in both.items()}
        self.regrets: Probabilities = {key: [0.0] * n for key, n in both.items()}
        self.sums: Probabilities = {key: [0.0] * n for key, n in both.items()}

    def run(self, iterations: int) -> None:
        """So many more iterations."""
        for _ in range(iterations):
            self.t += 1
            if self.alternating:
                for player in range(2):
                    self._update(player, self._gains(player))
            else:
                gains = [self._gains(player) for player in range(2)]
                for player in range(2):
                    self._update(player, gains[player])

    def average(self) -> Probabilities:
        """The weighted average of all strategies."""
        return {
            key: [x / sum(sums) for x in sums] if sum(sums) > 0 else [1 / len(sums)] * len(sums)
            for key, sums in self.sums.items()
        }

    def _gains(self, player: int) -> Probabilities:
        """Counterfactual regrets of this iteration; adds the current strategy to the sum on the way."""
        gains = {key: [0.0] * n for key, n in self.counts[player].items()}
        visited: set[int] = set()

        def walk(node: Node, mine: float, others: float) -> float:
            if not node.children:
                return node.payoff if player == 0 else -node.payoff
            likely = shares(node, self.strategy)
            own = node.player == player
            values = [
                walk(child, mine * p if own else mine, others if own else others * p)
                for p, child in zip(likely, node.children, strict=True)
            ]
            expected = sum(p * v for p, v in zip(likely, values, strict=True))
            if own and len(values) > 1:
                for a, v in enumerate(values):
                    gains[node.key][a] += others * (v - expected)
                if node.key not in visited:  # his own reach is the same in all histories of an information set
                    visited.add(node.key)
                    self._add(node.key, mine)
            return expected

        walk(self.root, 1.0, 1.0)
        return gains

    def _add(self, key: int, reach: float) -> None:
        power = {"cfr": 0, "cfr+": 1, "linear": 1, "dcfr": 2, "pcfr+": 2, "pdcfr+": 5}[self.algorithm]
        for a, share in enumerate(self.strategy[key]):
            self.sums[key][a] += self.t**power * reach * share

    def _update(self, player: int, gains: Probabilities) -> None:
        for key in self.counts[player]:
            old = self.regrets[key]
            self.regrets[key] = [self._regret(r, g) for r, g in zip(old, gains[key], strict=True)]
            hopes = [max(self._hope(r, g), 0) for r, g in zip(self.regrets[key], gains[key], strict=True)]
            n = len(hopes)
            self.strategy[key] = [hope / sum(hopes) if sum(hopes) > 0 else 1 / n for hope in hopes]

    def _regret(self, old: float, gain: float) -> float:
        """R at iteration t from R at t - 1."""
        match self.algorithm:
            case "cfr":  # Zinkevich et al. 2007
                return old + gain
            case "cfr+" | "pcfr+":  # Tammelin 2014; Farina, Kroer and Sandholm 2021
                return max(old + gain, 0)
            case "linear":  # Brown and Sandholm 2019: iteration t counts t times
                return old + self.t * gain
            case "dcfr":  # the same: DCFR(3/2, 0, 2)
                return old * (self._discount(1.5) if old > 0 else 1 / 2) + gain
            case "pdcfr+":  # Xu et al. 2024
                return max(old * self._discount(2.3) + gain, 0)
        raise ValueError(self.algorithm)

    def _hope(self, regret: float, gain: float) -> float:
        """What the next strategy is proportional to, where it is positive."""
        if self.algorithm == "pcfr+":
            return regret + gain
        if self.algorithm == "pdcfr+":
            return regret * self._discount(2.3, after=0) + gain
        return regret

    def _discount(self, alpha: float, after: int = 1) -> float:
        grown = (self.t - after) ** alpha
        return grown / (grown + 1)
