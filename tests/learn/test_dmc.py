"""Deep Monte Carlo: it learns best responses on games that can be solved, and goes on where it was stopped."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from tapete.core import Rng, State, TapeteError, calls, make
from tapete.core.players import judge_moves, opinion, random
from tapete.learn import dmc
from tapete.learn.critic import Critic, trace_returns
from tapete.learn.dmc import Config, Training, read_fields, target, train
from tapete.learn.recording import Recorder, look, look_at_all
from tapete.learn.run import Run, read_metrics
from tapete.nets.moves import MoveNetwork, Scorer, architectures
from tapete.nets.network import Network
from tapete.nets.torch import to_torch
from tapete.scale import Executor, Jobs, Local, Serial
from tapete.scale.lots import AHEAD
from tapete.solve.examiner import Examiner
from tapete.testing import check_player
from tests.learn.pieces import run_in_pieces

TINY = Config(frames=3000, games=16, units=16, trunk=8, batch=64, memory=500, every=2)


def some_network(name: str, units: int = 16, seed: int = 1) -> MoveNetwork:
    game = make(name)
    scorers = []
    for seat in range(game.players):
        inputs = sum(part.size for part in game.spec.observation(seat))
        shapes = architectures(inputs, game.spec.feature_size, units=units, trunk=(8,))
        scorers.append(Scorer(*(Network.random(shape, Rng(seed, seat, i)) for i, shape in enumerate(shapes))))
    return MoveNetwork(scorers, {"game": name, "plays": "q"})


def begin(folder: Path, game: str = "kuhn", config: Config = TINY, **more) -> Run:
    return Run(folder, "dmc", make(game), config, **more)


def greedy(examiner: Examiner, network: MoveNetwork):
    """The network as a policy for the examiner: what its compiled player does at every information set."""
    game, player = examiner.game, network.evaluator(examiner.game)
    states = np.concatenate(examiner.form.states)
    table = np.zeros(examiner.mask.shape)
    for row, mask, state, seat in zip(table, examiner.mask, states, examiner.seats, strict=True):
        legal = np.flatnonzero(mask).tolist()
        row[legal] = judge_moves(player, game, state, int(seat), legal)
    return lambda seen, mask: table


def uniform(seen, mask):
    return mask / mask.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "frames", "share", "trace"),
    [
        ("kuhn", 40_000, 0.98, 1.0),
        ("kuhn", 40_000, 0.98, 0.8),
        ("leduc", 100_000, 0.8, 0.8),
        pytest.param("leduc", 200_000, 0.95, 0.8, marks=pytest.mark.slow),
    ],
)
def test_it_learns_the_best_response_to_random_play(tmp_path: Path, name: str, frames: int, share: float, trace: float):
    config = Config(
        frames=frames, games=256, units=64, trunk=64, batch=128, memory=frames // 4, rate=0.003,
        rate_frames=frames // 4, first_epsilon=0.3, epsilon=0.02, epsilon_frames=frames // 2,
        every=10**6, objective="adp", trace=trace,
    )  # fmt: skip
    game, examiner = make(name), Examiner(make(name))
    for seat in range(2):
        run = begin(tmp_path / str(seat), name, config)
        run.load()
        training = Training(game, config, run, [None, random] if seat == 0 else [random, None])
        while training.frames < frames:
            training.iterate()
        policy = greedy(examiner, training.network())
        value = examiner.value(policy, uniform) if seat == 0 else -examiner.value(uniform, policy)
        before = prove_random(examiner, seat)
        assert value - before > share * (examiner.best_response(uniform, seat) - before)


def prove_random(examiner: Examiner, seat: int) -> float:
    return examiner.value(uniform, uniform) * (1 - 2 * seat)


def test_the_compiled_player_takes_the_move_that_pytorch_rates_highest():
    game, network = make("doudizhu"), some_network("doudizhu", 40)
    player = network.evaluator(game)
    modules = [tuple(map(to_torch, scorer)) for scorer in network.scorers]
    rng, checked = Rng(3), 0
    for _ in range(3):
        state = game.start().deal(rng)
        while not state.over:
            seat, legal = state.player, state.actions()
            if len(legal) > 1:
                seen, features = look(
                    game, np.repeat(state.data[None], len(legal), 0), np.full(len(legal), seat, np.int32),
                    np.array(legal, np.int32),
                )  # fmt: skip
                see, move = modules[seat]
                with torch.inference_mode():
                    vector = see(torch.from_numpy(seen))
                    said = move(torch.cat([vector, torch.from_numpy(features)], dim=1))[:, 0].numpy()
                chosen = judge_moves(player, game, state.data, seat, legal)
                assert chosen.sum() == 1
                assert said[chosen.argmax()] >= said.max() - 1e-4
                checked += 1
            state.apply(rng.choice(legal)).deal(rng)
    assert checked > 50


def test_a_larger_run_begins_with_what_a_smaller_network_says(tmp_path: Path) -> None:
    game, small = make("leduc"), some_network("leduc")
    small.save(tmp_path / "small.safetensors")
    config = replace(TINY, units=24, hidden=3, trunk=12, trunks=2, skip="")
    training = Training(game, config, begin(tmp_path / "run", "leduc", config))
    before = training.network()
    training.begin(tmp_path / "small.safetensors")
    for seat in range(game.players):
        rows = np.random.default_rng(seat).random((20, small.of(seat).state.architecture.inputs))
        features = np.eye(20, game.spec.feature_size)

        def score(scorer: Scorer, rows=rows, features=features):
            return scorer.move.forward(np.hstack([scorer.state.forward(rows), features]))

        assert np.allclose(score(training.network().of(seat)), score(small.of(seat)), atol=1e-6)
        assert not np.allclose(score(before.of(seat)), score(small.of(seat)), atol=1e-3)


def test_the_player_looks_at_nothing_hidden():
    for name in ("leduc", "doudizhu", "truco(points=15)"):
        check_player(partial(some_network(name).evaluator, make(name)), name, games=3)


def test_what_is_recorded_is_what_was_played():
    game = make("leduc")
    network = some_network("leduc")
    recorder = Recorder(game, [network.evaluator(game), random()], [True, False], 50)
    decisions = recorder.play(Rng(1), 0.3)
    assert set(decisions.seats) == {0}
    for data, action, number, gain in zip(
        decisions.states, decisions.actions, decisions.games, decisions.gains, strict=True
    ):
        state = State(game, data.copy(), None)
        assert state.player == 0
        assert len(state.actions()) > 1
        assert action in state.actions()
        assert gain == decisions.payoffs[number, 0]
    greedily = recorder.play(Rng(1), 0.0)
    for data, action in zip(greedily.states, greedily.actions, strict=True):
        state = State(game, data.copy(), None)
        view = state.view(0)
        assert opinion(network.evaluator(game), view)[int(action)] == 1.0


def test_targets():
    gains = np.array([-4.0, -1.0, 0.0, 2.0])
    assert target(gains, "wp").tolist() == [-1, -1, 0, 1]
    assert target(gains, "adp").tolist() == [-4, -1, 0, 2]
    assert target(gains, "logadp").tolist() == [-3, -1, 0, 2]


def test_each_seat_learns_what_it_was_paid_itself(tmp_path: Path):
    run = begin(tmp_path)
    run.load()
    training = Training(make("doudizhu"), TINY, run)
    recorder = Recorder(training.game, [training.network().evaluator(training.game)] * 3, [True] * 3, 8)
    decisions = recorder.play(Rng(1), 0.5)
    paid = target(decisions.payoffs, "wp")[decisions.games]
    for seat, student in training.students.items():
        student.remember(decisions, paid)
        own = decisions.seats == seat
        wanted = np.sign(decisions.payoffs[decisions.games[own], seat])
        memory = student.fit.memory
        assert len(memory) == own.sum()
        assert (memory.columns["target"][: own.sum()] == wanted).all()
        assert (memory.columns["action"][: own.sum()] == decisions.actions[own]).all()


def test_the_critic_sees_who_moves_and_what_all_seats_see():
    game = make("doudizhu")
    recorder = Recorder(game, [some_network("doudizhu").evaluator(game)] * 3, [True] * 3, 3)
    decisions = recorder.play(Rng(1), 0.2)
    widths = np.array([sum(part.size for part in read_fields(game, seat, "history")) for seat in range(3)])
    rows = look_at_all(game, decisions.states, decisions.seats, widths)
    for row, data, mover in zip(rows, decisions.states, decisions.seats, strict=True):
        state = State(game, data.copy(), None)
        seen = np.zeros((3, game.spec.observation_size), dtype=np.float32)
        for seat in range(3):
            calls.observe(game.rulebook, state.data, seat, seen[seat])
        parts = [np.eye(3)[mover], *(numbers[:width] for numbers, width in zip(seen, widths, strict=True))]
        assert (row[: 3 + widths.sum()] == np.concatenate(parts)).all()


def test_what_is_foreseen_of_a_later_moment_counts_and_other_games_do_not():
    games = np.array([0, 0, 0, 1, 1], dtype=np.int32)
    said = np.array([[9, 9], [0.5, -0.5], [0.2, -0.2], [9, 9], [-0.4, 0.4]], dtype=np.float32)
    paid = np.array([[1, -1]] * 3 + [[-1, 1]] * 2, dtype=np.float32)
    found = trace_returns(games, said, paid, 0.75)
    third, fifth = 1.0, -1.0
    second = 0.25 * 0.2 + 0.75 * third
    wanted = [0.25 * 0.5 + 0.75 * second, second, third, 0.25 * -0.4 + 0.75 * fifth, fifth]
    assert np.allclose(found[:, 0], wanted)
    assert np.allclose(found[:, 1], np.negative(wanted))
    assert (trace_returns(games, said, paid, 1.0) == paid).all()


def test_a_critic_takes_luck_out_of_targets_and_keeps_their_mean():
    game = make("leduc")
    widths = np.array([game.spec.observation_size] * 2)
    critic = Critic(game, widths, units=32, memory=200_000, batch=512, rng=Rng(1))
    recorder = Recorder(game, [random(), random()], [True, True], 20_000)
    decisions = recorder.play(Rng(2), 1.0)
    critic.remember(decisions, target(decisions.payoffs, "adp")[decisions.games], 8.0)
    critic.learn(Rng(3), 0.003)
    decisions = recorder.play(Rng(4), 1.0)  # others than those that it learned from
    paid = target(decisions.payoffs, "adp")[decisions.games]
    wanted = trace_returns(decisions.games, critic.foresight().of(decisions), paid, 0.5)
    assert wanted.std() < 0.8 * paid.std()
    for action in range(3):  # by what was done: the mean of each is what learning would find
        own = (decisions.seats == 0) & (decisions.actions == action)
        error = (wanted[own, 0] - paid[own, 0]).std() / own.sum() ** 0.5
        assert abs(wanted[own, 0].mean() - paid[own, 0].mean()) < 4 * error + 0.15


def test_the_critic_is_not_published(tmp_path: Path):
    train(make("kuhn"), TINY, begin(tmp_path))
    kept, published = (load_file(tmp_path / f"{name}.safetensors") for name in ("checkpoint", "network"))
    assert any("critic" in name for name in kept)
    assert not any("critic" in name for name in published)


def test_only_the_last_field_can_be_skipped(tmp_path: Path):
    with pytest.raises(TapeteError, match="to_beat is not the last field"):
        Training(make("doudizhu"), replace(TINY, skip="to_beat"), begin(tmp_path, "doudizhu"))


def test_a_run_that_is_stopped_anywhere_ends_the_same(tmp_path: Path):
    game = make("kuhn")
    train(game, TINY, begin(tmp_path / "whole"))
    stops = run_in_pieces(partial(train, game, TINY), partial(begin, tmp_path / "pieces"), 3)
    assert stops > 3
    one, two = (tmp_path / name / "network.safetensors" for name in ("whole", "pieces"))
    assert one.read_bytes() == two.read_bytes()
    assert [{k: v for k, v in line.items() if k != "seconds"} for line in read_metrics(tmp_path / "whole")] == [
        {k: v for k, v in line.items() if k != "seconds"} for line in read_metrics(tmp_path / "pieces")
    ]


def test_threads_change_nothing(tmp_path: Path):
    game = make("kuhn")
    for threads in (1, 2):
        train(game, TINY, begin(tmp_path / str(threads), threads=threads))
    one, two = (tmp_path / str(threads) / "network.safetensors" for threads in (1, 2))
    assert one.read_bytes() == two.read_bytes()


def test_files_come_back_and_damaged_ones_are_refused(tmp_path: Path):
    network = some_network("leduc")
    network.save(tmp_path / "a.safetensors")
    again = MoveNetwork.load(tmp_path / "a.safetensors")
    for one, two in zip(network.scorers, again.scorers, strict=True):
        assert all((one.state.weights[name] == two.state.weights[name]).all() for name in one.state.weights)
    with pytest.raises(TapeteError, match="reads"):
        network.evaluator(make("kuhn"))
    Network.random(architectures(9, 2)[0], Rng(1)).save(tmp_path / "b.safetensors")
    with pytest.raises(TapeteError):
        MoveNetwork.load(tmp_path / "b.safetensors")


def test_an_unknown_objective_is_refused():
    with pytest.raises(TapeteError, match="objective must be one of wp, adp, logadp"):
        dmc.Config(objective="money")


class Backwards(Serial):
    """Does the last parcel first."""

    def spread(self, job: Jobs, parcels: Iterable[Any]) -> Generator[tuple[int, Any]]:
        yield from sorted(super().spread(job, parcels), reverse=True)


def test_it_makes_no_difference_who_plays_and_when(tmp_path: Path) -> None:
    """Before what the first group has played is counted, or afterwards: workers may do it either way."""
    config = replace(TINY, first_epsilon=1.0, epsilon_frames=100, every=10)
    states: list[np.ndarray] = []
    weights: list[bytes] = []
    for executor in (Serial(), Backwards(), Local(1), Local(2), Local(5)):
        run = begin(tmp_path / str(len(states)), config=config)
        run.executor = executor
        with closing(Training(make("kuhn"), config, run)) as training:
            for _ in range(3):
                training.iterate()
            states.append(training.students[0].fit.memory.columns["state"].copy())
            weights.append(b"".join(w.tobytes() for w in training.network().of(0).move.weights.values()))
        run.close()
    assert all((other == states[0]).all() for other in states)
    assert len(set(weights)) == 1


@pytest.mark.parametrize("executor", [Serial(), Local(3)], ids=["serial", "3"])
def test_actors_may_go_on_with_the_weights_that_they_have(
    tmp_path: Path, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapete.scale.local.SLICE", 0.0)  # batches of this game take no time, and would travel together
    config = replace(TINY, asynchronous=True, frames=10**9)
    run = begin(tmp_path, config=config)
    run.load()
    run.executor = executor
    with closing(Training(make("kuhn"), config, run)) as training:
        for done in range(1, 30):
            training.iterate()
            assert training.games == done * config.games
            ahead = 2 * AHEAD * executor.workers  # lots under way, and those that have just come back
            assert training.asked <= 2 * done + ahead, "nobody plays far ahead of those who learn"
        training.save()
    numbers = training.asked
    run.close()
    again = Training(make("kuhn"), config, run := begin(tmp_path, config=config, resume=True))
    checkpoint = run.load()
    assert checkpoint
    again.restore(checkpoint)
    assert (again.frames, again.asked) == (training.frames, numbers), "no batch is played twice"
    again.iterate()
    assert again.asked > numbers
    again.close()
    run.close()


def test_networks_wait_for_their_critic(tmp_path: Path) -> None:
    config = replace(TINY, wait=400)
    training = Training(make("kuhn"), config, begin(tmp_path, config=config))

    def weights() -> list[bytes]:
        return [part.tobytes() for seat in (0, 1) for part in training.network().of(seat).move.weights.values()]

    first, losses = weights(), 0
    while training.frames < config.wait - 2 * config.games:
        training.iterate()
        losses += len(training.learners["critic"].fit.take_losses())
        assert weights() == first
    assert losses > 0
    while training.frames <= config.wait + 10 * config.batch:
        training.iterate()
    assert weights() != first


def test_strangers_sit_on_all_seats_of_the_other_side(tmp_path: Path) -> None:
    """The landlord at home meets two of them, the peasants one; as often as was asked for."""
    game, nobody = make("doudizhu"), [None, None, None]
    config = Config(strangers=0.5, randoms=0.2)
    found = [dmc.guests(game, config, nobody, Rng(number)) for number in range(600)]
    seats = [tuple(player is None for player in sitting) for _, sitting in found]
    assert set(seats) == {(True, True, True), (True, False, False), (False, True, True)}
    assert seats.count((True, False, False)) == pytest.approx(seats.count((False, True, True)), abs=70)
    assert [sum(abroad == kind for abroad, _ in found) for kind in range(3)] == pytest.approx([180, 300, 120], abs=45)
    assert all((random in sitting) == (abroad == 2) for abroad, sitting in found)
    assert all(sitting == nobody for abroad, sitting in found if not abroad)
    assert dmc.guests(game, Config(), nobody, Rng(1)) == (0, nobody)
    config = replace(TINY, strangers=0.1)
    with pytest.raises(TapeteError, match="rules of thumb for kuhn"):
        Training(make("kuhn"), config, begin(tmp_path, config=config))


def test_a_side_may_learn_alone(tmp_path: Path) -> None:
    """The landlord's decisions are learned from, at home and abroad; the peasants stay as they are."""
    game, config = make("doudizhu"), replace(TINY, strangers=0.5, learns="landlord", games=8, memory=20_000)
    with closing(Training(game, config, begin(tmp_path, "doudizhu", config))) as training:
        before = [training.network().of(seat).move.weights["meet.weight"].copy() for seat in range(3)]
        for _ in range(20):
            training.iterate()
        after = [training.network().of(seat).move.weights["meet.weight"] for seat in range(3)]
        memories = [student.fit.memory for student in training.students.values()]
        act = training._acting().open(Event())
    assert [bool((one == two).all()) for one, two in zip(before, after, strict=True)] == [False, True, True]
    assert len(memories[0])
    assert [len(memory) for memory in memories[1:]] == [0, 0]
    assert {act(dmc.Batch(number, 0.0)).abroad for number in range(8)} == {0, 1}
    config = replace(TINY, learns="banker")
    with pytest.raises(TapeteError, match="learns must be one of landlord, peasants, not 'banker'"):
        Training(game, config, begin(tmp_path / "other", "doudizhu", config))


def test_the_critic_is_told_of_strangers() -> None:
    """Where nothing but that differs, what it says does."""
    game = make("kuhn")
    widths = np.array([game.spec.observation_size] * 2)
    critic = Critic(game, widths, units=16, memory=20_000, batch=256, rng=Rng(1))
    decisions = Recorder(game, [random(), random()], [True, True], 4000).play(Rng(2), 1.0)
    paid = np.ones((len(decisions.seats), 2), dtype=np.float32)
    for abroad in range(3):
        critic.remember(decisions, paid * (abroad - 1), 4.0, abroad=abroad)
    critic.learn(Rng(3), 0.003)
    assert [critic.foresight().of(decisions, abroad).mean() for abroad in range(3)] == pytest.approx(
        [-1, 0, 1], abs=0.5
    )


def test_with_strangers_a_run_that_is_stopped_ends_the_same(tmp_path: Path) -> None:
    config = replace(TINY, strangers=0.5, frames=1500)
    start = partial(begin, game="doudizhu", config=config)
    train(make("doudizhu"), config, start(tmp_path / "whole"))
    assert run_in_pieces(partial(train, make("doudizhu"), config), partial(start, tmp_path / "pieces"), 2) > 1
    one, two = (tmp_path / name / "network.safetensors" for name in ("whole", "pieces"))
    assert one.read_bytes() == two.read_bytes()
