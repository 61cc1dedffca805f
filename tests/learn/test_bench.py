"""`tapete bench learn`: what is counted, what is not, and who is compared with whom."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pyspiel
import pytest

from tapete import learn
from tapete.bench import learn as bench
from tapete.bench import spiel_learners
from tapete.bench.learn import Duel, Point, Timed, Trace, duels, markdown, train_peer
from tapete.bench.spiel_learners import GAMES, PEERS, DeepCfr, Dqn, Nfsp, nash_conv
from tapete.core import Game, make
from tapete.core.thought import BatchPolicy
from tapete.learn.run import Run
from tapete.solve.examiner import Examiner

KUHN = make("kuhn")


class Clock:
    """Time that passes only when somebody says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Config:
    every: int = 1000
    rate: float = 0.5


def always(number: float) -> BatchPolicy:
    return lambda seen, mask: mask * number


def learner(clock: Clock) -> ModuleType:
    """Takes a second an iteration, of 100 steps, and halves what it loses."""
    module = ModuleType("tests.learn.halving")

    def train(game: Game, config: Config, run: Run) -> None:
        run.load()
        for i in range(1, 50):
            if run.out_of_time:
                return
            clock.now += 1
            run.log(iteration=i, steps=100 * i, **run.evaluate(always(0.5**i)))

    module.train = train  # type: ignore[attr-defined]
    return module


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setitem(sys.modules, "tests.learn.halving", learner(clock))
    found = learn.Learner("halving", "tests.learn.halving", "halves what it loses", Config, ())
    monkeypatch.setattr(learn, "learner", lambda name: found)
    return clock


def judge(clock: Clock) -> Any:
    def evaluate(policy: BatchPolicy) -> dict[str, float]:
        clock.now += 100  # which is not the learner's time
        return {"exploitability": float(policy(Examiner(KUHN).seen, Examiner(KUHN).mask).max())}

    return evaluate


def test_ours_stop_at_the_target_and_looking_is_not_counted(clock: Clock) -> None:
    trace = bench.train("halving", KUHN, judge(clock), seconds=1000, target=0.1, clock=clock)
    assert trace.points == [Point(i, 100 * i, 0.5**i) for i in range(1, 5)]
    assert (trace.reach(0.3), trace.reach(0.0625), trace.reach(0.06)) == (2, 4, None)
    assert (trace.best, trace.rate) == (Point(4, 400, 0.0625), 100)


def test_figures_that_differ_by_rounding_are_the_same(clock: Clock) -> None:
    trace = bench.train("halving", KUHN, judge(clock), seconds=1000, target=0.25 - 1e-15, clock=clock)
    assert (len(trace.points), trace.reach(0.25 - 1e-15), trace.reach(0.25 - 1e-6)) == (2, 2, None)


def test_ours_stop_when_their_time_is_over(clock: Clock) -> None:
    assert len(bench.train("halving", KUHN, judge(clock), seconds=3, target=0, clock=clock).points) == 3


def test_looks_are_a_tenth_later_each_and_a_good_start_is_not_all(clock: Clock) -> None:
    trace = bench.train("halving", KUHN, judge(clock), seconds=25, target=0, clock=clock)
    assert [point.seconds for point in trace.points] == [*range(1, 12), 13, 15, 17, 19, 21, 24]
    began = clock()
    bench.train("halving", KUHN, judge(clock), seconds=25, target=math.inf, clock=clock)
    assert clock() - began == 101, "one iteration, which takes as long as any learner learns, and a look"


def test_ours_are_set_as_usual_but_looked_at_often(clock: Clock) -> None:
    assert bench.usual("halving") == Config(every=bench.LOOK_OFTEN["every"])


def test_a_run_that_is_timed_is_a_run(tmp_path: Path, clock: Clock) -> None:
    run = Timed(tmp_path, "halving", KUHN, Config(), evaluate=judge(clock), seconds=math.inf, target=-1, clock=clock)
    assert isinstance(run, Run)
    run.load()
    run.log(iteration=1, loss=0.5)
    run.close()
    assert run.points == [], "there is nothing to note where nobody looked"
    assert not run.out_of_time


def test_a_peer_is_looked_at_on_its_way_and_what_it_takes_to_be_judged_counts_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()

    class Peer:
        def __init__(self, game: str) -> None:
            assert game == "kuhn_poker"
            self.games = 0

        def advance(self) -> int:
            clock.now += 0.5
            self.games += 1
            return 7

        def settle(self) -> None:
            clock.now += 3

        def probabilities(self, state: Any, player: Any = None) -> dict[int, float]:
            clock.now += 10
            return {0: 0.5, 1: 0.5}

    monkeypatch.setitem(PEERS, "nfsp", Peer)
    trace = train_peer("nfsp", "kuhn", seconds=8, clock=clock)
    assert [point.seconds for point in trace.points] == [look + 3 for look in range(1, bench.LOOKS + 1)]
    assert trace.points[-1].steps == 7 * 16
    assert trace.points[0].exploitability == pytest.approx(11 / 12), "as of any player who tosses a coin"


def test_only_learners_of_that_name_are_trained_and_a_try_that_only_compiles_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def train(name: str, game: Game, evaluate: Any, *, seconds: float, target: float) -> Trace:
        tried.append(name)
        is_judged = name == "deep-cfr" and tried.count(name) > 1
        return Trace("kuhn", name, "ours", [Point(1, 10, 0.5)] if is_judged else [])

    monkeypatch.setattr(bench, "train", train)
    monkeypatch.setattr(bench, "train_peer", lambda name, game, seconds: Trace(game, name, "X", [Point(9, 9, 0.9)]))
    told: list[Trace] = []
    found = bench.run(rivals=True, case="kuhn", learner="cfr", seconds=1, tell=told.append)
    assert told == found
    assert [(trace.learner, trace.whose) for trace in found] == [("deep-cfr", "X"), ("deep-cfr", "ours")]
    assert tried == ["deep-cfr"] * 3
    assert list(bench.learners(KUHN, judge(Clock()), only="mmd")) == [], "it was never judged"


def test_theirs_are_compared_with_all_of_ours_in_the_same_game() -> None:
    their = Trace("kuhn", "nfsp", "OpenSpiel", [Point(10, 1000, 0.9), Point(60, 6000, 0.5), Point(70, 7000, 0.6)])
    soon = Trace("kuhn", "mmd", "ours", [Point(1, 40_000, 0.7), Point(2, 80_000, 0.4)])
    never = Trace("kuhn", "dqn", "ours", [Point(1, 40_000, 0.7)])
    other = Trace("leduc", "mmd", "ours", [Point(1, 40_000, 0.1)])
    found = duels([their, soon, never, other, Trace("kuhn", "mute", "ours")])
    assert found == [Duel(their, soon), Duel(their, never)]
    assert (found[0].seconds, found[0].sooner, found[0].faster) == (2, 30, 400)
    assert (found[1].seconds, found[1].sooner) == (None, None)
    lines = list(markdown(found))
    assert lines[2] == "| kuhn | nfsp | 0.5000 | 60.0 | mmd | 2.00 | 30.0x | 40,000 to 100 (400x) |"
    assert "| never |  |" in lines[3]


@pytest.mark.parametrize("peer", [Nfsp, Dqn, DeepCfr])
def test_peers_learn_and_can_be_judged(peer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapete.bench.spiel_learners.TRAVERSALS", 20)
    monkeypatch.setitem(spiel_learners.DEEP_CFR, "policy_network_train_steps", 2)
    at_work = peer(GAMES["leduc"])
    assert sum(at_work.advance() for _ in range(3)) >= 6
    at_work.settle()
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    state.apply_action(0)
    state.apply_action(2)
    shares = at_work.probabilities(state)
    assert list(shares) == state.legal_actions() == [1, 2], "folding is not one of them yet"
    assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
    assert 0 <= nash_conv("leduc_poker", at_work) <= 26
