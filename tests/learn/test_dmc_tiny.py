"""Deep Monte Carlo on a Dou Dizhu that can be played out: it comes near to the exact best response to random play.

And it doesn't with a mistake in it, so this would find one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tapete.core import CHANCE, Game, State, calls, make
from tapete.core.players import judge_moves, random
from tapete.learn.dmc import Config, Student, Training
from tapete.learn.run import Run
from tapete.nets.moves import MoveNetwork
from tapete.solve.examiner import Examiner
from tests.tiny import tiny

Weighed = list[tuple[State, float]]  # states that a seat can't tell apart, each with how likely it is
Choose = Callable[[Weighed, list[int], list[float]], int]  # which of the moves is made, by what each is worth
CONFIG = Config(
    objective="adp", games=64, units=64, trunk=32, batch=64, memory=4000, rate=0.003, rate_frames=3000, passes=3,
    first_epsilon=0.4, epsilon=0.05, epsilon_frames=6000, every=10**9, trace=1.0,
)  # fmt: skip


def deals(game: Game) -> Weighed:
    """Every state after the deal; the order in which cards were dealt is forgotten."""
    now = {game.start().data.tobytes(): 1.0}
    while True:
        after: dict[bytes, float] = defaultdict(float)
        for data, probability in now.items():
            state = state_of(game, data)
            if state.player != CHANCE:
                return [(state_of(game, each), weight) for each, weight in now.items()]
            for outcome, share in state.outcomes():
                end = state.copy()
                calls.apply(game.rulebook, end.data, outcome)
                after[end.data.tobytes()] += probability * share
        now = after


def state_of(game: Game, data: bytes) -> State:
    return State(game, np.frombuffer(data, dtype=np.uint8).copy(), None)


def worth(states: Weighed, seat: int, choose: Choose) -> float:
    """What a seat gains from these states, where others make any move, if it chooses so at each information set."""
    gained, sets = 0.0, defaultdict(list)
    todo = list(states)
    while todo:
        state, probability = todo.pop()
        if state.over:
            gained += probability * state.returns()[seat]
        elif state.player == seat:
            sets[state.infoset(seat)].append((state, probability))
        else:
            options = state.outcomes() or [(action, 1 / len(state.actions())) for action in state.actions()]
            todo += [(played(state, action), probability * share) for action, share in options]
    return gained + sum(_decide(each, seat, choose) for each in sets.values())


def _decide(states: Weighed, seat: int, choose: Choose) -> float:
    legal = states[0][0].actions()
    gains = [worth([(played(state, action), p) for state, p in states], seat, choose) for action in legal]
    return gains[choose(states, legal, gains)]


def played(state: State, action: int) -> State:
    end = State(state.game, state.data.copy(), None)
    calls.apply(state.game.rulebook, end.data, action)
    return end


def best(states: Weighed, legal: list[int], gains: list[float]) -> int:
    return int(np.argmax(gains))


def by_network(network: MoveNetwork, game: Game, seat: int) -> Choose:
    player = network.evaluator(game)
    return lambda states, legal, gains: int(judge_moves(player, game, states[0][0].data, seat, legal).argmax())


def at_random(states: Weighed, seat: int) -> float:
    """What a seat gains that makes any move, as the others do."""
    gained, todo = 0.0, list(states)
    while todo:
        state, probability = todo.pop()
        if state.over:
            gained += probability * state.returns()[seat]
            continue
        options = state.outcomes() or [(action, 1 / len(state.actions())) for action in state.actions()]
        todo += [(played(state, action), probability * share) for action, share in options]
    return gained


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("seat", [0, 1])
def test_the_best_response_is_the_solvers(name, seat):
    """What is played out here against the sequence form, in games that both can do."""
    game = make(name)
    examiner = Examiner(game)
    exact = examiner.best_response(lambda seen, mask: mask / mask.sum(axis=1, keepdims=True), seat)
    assert worth([(game.start(), 1.0)], seat, best) == pytest.approx(exact)


def share_of_best(folder: Path, seat: int, frames: int) -> float:
    """How much of what the best response gains over random play a trained network gains."""
    game = tiny()
    run = Run(folder, "dmc", game, CONFIG)
    run.load()
    players = [None if other == seat else random for other in range(3)]
    training = Training(game, CONFIG, run, players)
    while training.frames < frames:
        training.iterate()
    states = deals(game)
    low, high = at_random(states, seat), worth(states, seat, best)
    return (worth(states, seat, by_network(training.network(), game, seat)) - low) / (high - low)


@pytest.mark.parametrize(("seat", "frames"), [(0, 10_000), (1, 3000)])
def test_learned_play_comes_near_to_the_best_response(tmp_path, seat, frames):
    assert 0.95 < share_of_best(tmp_path, seat, frames) <= 1 + 1e-9


def of_another_seat(decisions, wanted):
    return decisions, np.roll(wanted, 1, axis=1)


def of_the_next_move(decisions, wanted):
    """A move is taken for the one behind it in the list of legal moves."""
    lists = [tiny().actions(state) for state in decisions.states]
    shifted = [
        legal[(legal.index(made) + 1) % len(legal)] for legal, made in zip(lists, decisions.actions, strict=True)
    ]
    return decisions._replace(actions=np.array(shifted, dtype=np.int32)), wanted


@pytest.mark.parametrize("mistake", [of_another_seat, of_the_next_move])
def test_a_planted_mistake_is_noticed(tmp_path, monkeypatch, mistake):
    """Returns of the wrong seat; actions shifted by one."""
    remember = Student.remember
    monkeypatch.setattr(Student, "remember", lambda self, *decisions: remember(self, *mistake(*decisions)))
    assert share_of_best(tmp_path, 0, 4000) < 0.5
