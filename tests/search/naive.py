"""MCTS as the papers write it: a node is an object. It draws from the same stream as ours."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tapete.core import calls
from tapete.core.game import State, View
from tapete.core.rng import Rng


@dataclass
class Node:
    """A move, and what came of it."""

    action: int = -1
    visits: int = 0
    total: float = 0.0  # payoffs of who made the move
    prior: float = 0.0
    value: float = 0.0
    children: list[Node] = field(default_factory=list)


def shuffled(actions: list[int], rng: Rng) -> list[int]:
    """Inside out, by Durstenfeld."""
    found: list[int] = []
    for action in actions:
        found.append(action)
        j = rng.below(len(found))
        found[-1], found[j] = found[j], action
    return found


def playout(state: State, rng: Rng) -> list[float]:
    while not state.over:
        state.apply(rng.choice(state.actions()))
    return state.returns()


def uct(state: State, iterations: int, c: float, rng: Rng) -> Node:
    """UCT with random playouts."""
    root = Node()
    for _ in range(iterations):
        world, path, movers = state.copy(), [root], []
        while not world.over:
            node = path[-1]
            if not node.children:
                if node.visits == 0 and node is not root:
                    break
                node.children = [Node(action) for action in shuffled(world.actions(), rng)]
            untried = [child for child in node.children if child.visits == 0]
            parent = node.visits
            best = (
                untried[0]
                if untried
                else max(
                    node.children,
                    key=lambda v: v.total / v.visits + c * math.sqrt(2 * math.log(parent) / v.visits),
                )
            )
            movers.append(world.player)
            world.apply(best.action)
            path.append(best)
        back_up(path, movers, playout(world, rng))
    return root


def puct(state: State, iterations: int, c: float, first_play: float) -> Node:
    """PUCT with the judgement that `tests/search/opinion.py` gives."""
    root = Node()
    for _ in range(iterations):
        world, path, movers = state.copy(), [root], []
        while path[-1].children:
            node = path[-1]
            tries = 1 + sum(child.visits for child in node.children)
            average = (node.value + sum(child.total for child in node.children)) / tries

            def score(v: Node, tries: int = tries, average: float = average) -> float:
                q = v.total / v.visits if v.visits else average - first_play
                return q + c * v.prior * math.sqrt(tries) / (1 + v.visits)

            best = max(node.children, key=score)
            movers.append(world.player)
            world.apply(best.action)
            path.append(best)
        if world.over:
            values = world.returns()
        else:
            value, priors = opinion(world)
            path[-1].value = value
            path[-1].children = [Node(action, prior=p) for action, p in zip(world.actions(), priors, strict=True)]
            values = [value, -value] if world.player == 0 else [-value, value]
        back_up(path, movers, values)
    return root


def opinion(state: State) -> tuple[float, list[float]]:
    """A value and priors that depend on the position in no sensible way, in numbers that float32 holds exactly."""
    value = (state.infoset(state.player) % 1024) / 512 - 1
    n = len(state.actions())
    return value, [2.0 ** -min(i + 1, n - 1) if n > 1 else 1.0 for i in range(n)]


def back_up(path: list[Node], movers: list[int], values: list[float]) -> None:
    path[0].visits += 1
    for node, mover in zip(path[1:], movers, strict=True):
        node.visits += 1
        node.total += values[mover]


@dataclass
class Infoset:
    """What a mover knows: how often it came up, and of each move how often it was tried and what it brought."""

    actions: list[int]
    visits: int = 0
    tries: list[int] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)

    def choose(self, weight: float, rng: Rng) -> int:
        n = len(self.actions)
        if 0 in self.tries:
            start = rng.below(n)
            return next(i for k in range(n) if self.tries[i := (start + k) % n] == 0)
        bonus = weight * math.sqrt(2 * math.log(self.visits))
        return max(range(n), key=lambda i: self.totals[i] / self.tries[i] + bonus * (1 / math.sqrt(self.tries[i])))


@dataclass
class JudgedInfoset(Infoset):
    """One whose moves were judged when it came up first."""

    priors: list[float] = field(default_factory=list)

    def choose(self, weight: float, rng: Rng) -> int:
        raise NotImplementedError

    def choose_judged(self, c: float, first_play: float, half: float) -> int:
        average = sum(self.totals) / self.visits if self.visits else 0.0
        weight = c * half * math.sqrt(1 + self.visits)

        def score(i: int) -> tuple[float, float]:
            q = self.totals[i] / self.tries[i] if self.tries[i] else average - first_play * half
            return q + weight * self.priors[i] / (1 + self.tries[i]), self.priors[i]

        return max(range(len(self.actions)), key=score)


def draw_by(priors: list[float], rng: Rng) -> int:
    left = rng.uniform()
    for i, prior in enumerate(priors):
        left -= prior
        if left < 0:
            return i
    return priors.index(max(priors))


def judged_ismcts(
    view: View, world: State, iterations: int, c: float, first_play: float, plays_on: bool, rng: Rng
) -> dict[int, JudgedInfoset]:
    """IS-MCTS by PUCT with the judgement of `opinion`; `plays_on`: leaves are played out by its priors."""
    known: dict[int, JudgedInfoset] = {}
    low, high = math.inf, -math.inf
    for _ in range(iterations):
        state = world.copy()
        calls.redeal(state.game.rulebook, state.data, view.seat, rng.words)
        half = max(high - low, 0.0) / 2
        path: list[tuple[JudgedInfoset, int, int]] = []
        values: list[float] = []
        while not values and not state.deal(rng).over:
            who, legal = state.player, state.actions()
            key = state.infoset(who)
            if key not in known:
                value, priors = opinion(state)
                known[key] = JudgedInfoset(legal, 0, [0] * len(legal), [0.0] * len(legal), priors)
                values = [value, -value] if who == 0 else [-value, value]
                while plays_on and not state.deal(rng).over:
                    state.apply(state.actions()[draw_by(opinion(state)[1], rng)])
                break
            move = known[key].choose_judged(c, first_play, half)
            path.append((known[key], move, who))
            state.apply(legal[move])
        values = state.returns() if state.over else values
        low, high = min(low, *values), max(high, *values)
        for node, move, who in path:
            node.visits += 1
            node.tries[move] += 1
            node.totals[move] += values[who]
    return known


def ismcts(view: View, world: State, iterations: int, c: float, random_opponents: bool, rng: Rng) -> dict[int, Infoset]:
    """IS-MCTS with random playouts from a world that the seat takes for possible; what is known in the end, by key."""
    known: dict[int, Infoset] = {}
    low, high = math.inf, -math.inf
    for _ in range(iterations):
        state = world.copy()
        calls.redeal(state.game.rulebook, state.data, view.seat, rng.words)
        weight = c * max(high - low, 0.0) / 2
        path: list[tuple[Infoset, int, int]] = []
        is_new = False
        while not state.deal(rng).over and not is_new:
            who, legal = state.player, state.actions()
            if random_opponents and who != view.seat:
                state.apply(rng.choice(legal))
                continue
            key = state.infoset(who)
            is_new = key not in known
            node = known.setdefault(key, Infoset(legal, 0, [0] * len(legal), [0.0] * len(legal)))
            move = node.choose(weight, rng)
            path.append((node, move, who))
            state.apply(legal[move])
        while not state.deal(rng).over:
            state.apply(rng.choice(state.actions()))
        values = state.returns()
        low, high = min(low, *values), max(high, *values)
        for node, move, who in path:
            node.visits += 1
            node.tries[move] += 1
            node.totals[move] += values[who]
    return known
