"""Deep CFR: unbiased walks, networks that play by regret matching, averages of two kinds, and that it learns."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete.agents.files import player
from tapete.arena.learning import against_random, evaluation
from tapete.core import Game, Rng, State, TapeteError, make
from tapete.core.players import judge_moves, random
from tapete.core.thought import Mixture
from tapete.learn import traversals
from tapete.learn.deep_cfr import Config, Training, choose, lessons_of, regret_matching, softmax, train
from tapete.learn.dense import CROSS_ENTROPY, SQUARED_ERROR
from tapete.learn.episodes import scale_of
from tapete.learn.run import Run, read_metrics
from tapete.learn.traversals import Rows, Traversed, traverse
from tapete.nets import Network
from tapete.nets.zoo import heads
from tapete.solve.examiner import Examiner
from tests.learn.pieces import run_in_pieces
from tests.oracles.trees import NaiveCFR, Probabilities

KUHN, LEDUC = make("kuhn"), make("leduc")
TINY = Config(iterations=4, walks=60, steps=10, average_steps=20, batch=64, hidden=16, layers=1, every=2)
WALKS = {"kuhn": 40_000, "dudo(2,1,1)": 40_000, "leduc": 20_000}


def networks(game: Game, seed: int, head: str = "advantage") -> list[Network]:
    """One a seat, with weights drawn at random, and so loud that strategies are far from uniform."""
    made = []
    for seat in range(game.players):
        network = Network.random(
            heads(game.spec.observation_size, (32, 32), **{head: game.spec.actions}), Rng(seed, seat)
        )
        louder = {name: array * np.float32(3) for name, array in network.weights.items()}
        made.append(Network(network.architecture, louder))
    return made


def players(game: Game, seed: int) -> list[Any]:
    return [partial(network.evaluator, game) for network in networks(game, seed)]


def met(game: Game) -> dict[bytes, State]:
    """A state of every information set in which there is a choice, by what its mover sees."""
    found: dict[bytes, State] = {}

    def walk(state: State) -> None:
        if state.player >= 0 and len(state.actions()) > 1:
            found.setdefault(state.view(state.player).observation().tobytes(), state)
        for action in state.actions():
            walk(state.copy().apply(action))

    walk(game.start())
    return found


def exact_regrets(game: Game, seed: int, seat: int) -> Probabilities:
    """Counterfactual regrets of a seat by their definition, a sum over all histories, in units of payoff."""
    cfr, playing = NaiveCFR(game, "cfr"), networks(game, seed)
    for seen, state in met(game).items():
        legal = state.actions()
        said = playing[state.player].forward(np.frombuffer(seen, np.float32)[None].copy())[0][legal].astype(np.float64)
        positive = np.maximum(said, 0)
        shares = positive / positive.sum() if positive.any() else np.eye(len(legal))[said.argmax()]
        cfr.strategy[state.infoset(state.player)] = shares.tolist()
    return cfr._gains(seat)


def worst(game: Game, made: Traversed, walks: int, seed: int, seat: int) -> float:
    """How many standard errors the mean of the sampled advantages is from exact regrets, at the worst action.

    A walk comes to an information set of the walker once at most, so that walks are independent samples of its regrets:
    0 where the walk doesn't come there. Infinite where rows are not of the seat, or tell of moves that are not legal.
    """
    states, exact, far = met(game), exact_regrets(game, seed, seat), 0.0
    rows: dict[bytes, list[int]] = {}
    for i, seen in enumerate(made.advantages.seen):
        rows.setdefault(seen.tobytes(), []).append(i)
    for seen, state in states.items():
        if state.player != seat:
            if seen in rows:
                return np.inf
            continue
        legal = state.actions()
        found = np.zeros((1, len(legal)))
        if seen in rows:
            own = rows[seen]
            if not (np.flatnonzero(made.advantages.mask[own].any(axis=0)) == legal).all():
                return np.inf
            found = made.advantages.numbers[own][:, legal].astype(np.float64)
        mean = found.sum(axis=0) / walks
        error = np.sqrt(np.maximum((found**2).sum(axis=0) / walks - mean**2, 0) / walks)
        error = np.maximum(error, 1 / walks)  # one visit; nobody may have come where people seldom go
        assert error.max() < 0.01, "precise enough to tell"
        wanted = np.array(exact[state.infoset(seat)]) / scale_of(game)
        far = max(far, float(np.abs((mean - wanted) / error).max()))
    return far


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", WALKS)
def test_sampled_advantages_are_counterfactual_regrets(name: str, seat: int) -> None:
    """Within 5 standard errors, of up to 0.01 of the highest payoff, at every action of every information set."""
    game, walks = make(name), WALKS[name]
    made = traverse(game, players(game, 1), seat, walks, Rng(1, name, seat))
    assert worst(game, made, walks, 1, seat) < 5


def changed(made: Traversed, **columns: Any) -> Traversed:
    return made._replace(advantages=made.advantages._replace(**columns))


@pytest.mark.parametrize("mistake", ["none", "sign", "seat", "mask", "strategy", "reach"])
def test_mistakes_in_walks_are_found(mistake: str) -> None:
    """So that the test above means something."""
    playing, walks, walker = players(KUHN, 2), 20_000, 0
    if mistake == "seat":  # the advantages of the other player
        walker = 1
    if mistake == "strategy":  # that of another iteration
        playing = players(KUHN, 3)
    if mistake == "reach":  # others move as often one way as the other
        playing = [playing[0], random]
    made = traverse(KUHN, playing, walker, walks, Rng(2))
    rows = made.advantages
    if mistake == "sign":
        made = changed(made, numbers=-rows.numbers)
    if mistake == "mask":
        made = changed(made, legal=rows.legal[:, ::-1] * np.array([0, 1], np.uint8))
    far = worst(KUHN, made, walks, 2, 0)
    assert (far < 5) if mistake == "none" else far > 20


def test_strategies_are_those_of_the_player_after_the_walker_as_often_as_he_goes_there() -> None:
    walks, playing = 20_000, networks(LEDUC, 1)
    made = traverse(LEDUC, players(LEDUC, 1), 0, walks, Rng(3)).strategies
    states = met(LEDUC)
    own = regret_matching(playing[1])(made.seen, made.mask)
    np.testing.assert_allclose(made.numbers, own, atol=1e-5)
    policy = {seen: regret_matching(playing[state.player]) for seen, state in states.items()}
    expected: dict[bytes, float] = {}

    def walk(state: State, reach: float) -> None:
        """Adds up how likely chance and seat 1 go there, whatever seat 0 does."""
        shares = [1.0] * len(state.actions())
        if state.player == -1:
            shares = [share for _, share in state.outcomes()]
        elif state.player == 1 and len(shares) > 1:
            seen = state.view(1).observation()
            expected[seen.tobytes()] = expected.get(seen.tobytes(), 0.0) + reach
            legal = state.actions()
            mask = np.isin(np.arange(LEDUC.spec.actions), legal)[None]
            shares = policy[seen.tobytes()](seen[None], mask)[0][legal].tolist()
        for action, share in zip(state.actions(), shares, strict=True):
            if share > 0:
                walk(state.copy().apply(action), reach * share)

    walk(LEDUC.start(), 1.0)
    seen, counts = np.unique(made.seen, axis=0, return_counts=True)
    found = {row.tobytes(): count / walks for row, count in zip(seen, counts, strict=True)}
    assert found.keys() <= expected.keys()
    for key, often in expected.items():
        assert abs(found.get(key, 0.0) - often) < 6 * np.sqrt(4 * often / walks) + 1e-3


def test_threads_and_room_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one = traverse(LEDUC, players(LEDUC, 1), 1, 300, Rng(1))
    monkeypatch.setattr(traversals, "ROOM", 1)
    other = traverse(LEDUC, players(LEDUC, 1), 1, 300, Rng(1), threads=3)
    assert one.nodes == other.nodes
    for a, b in zip((*one.advantages, *one.strategies), (*other.advantages, *other.strategies), strict=True):
        np.testing.assert_array_equal(a, b)
    more = traverse(LEDUC, players(LEDUC, 1), 1, 400, Rng(1))
    np.testing.assert_array_equal(more.advantages.numbers[: len(one.advantages.numbers)], one.advantages.numbers)
    rows = traverse(LEDUC, players(LEDUC, 1), 1, 300, Rng(2)).advantages
    assert len(rows.seen) != len(one.advantages.seen) or (rows.seen != one.advantages.seen).any()


def test_any_number_of_seats() -> None:
    game = make("holdem(players=3)")
    made = traverse(game, [random] * 3, 2, 2, Rng(1))
    assert len(made.advantages.seen) > 0
    assert len(made.strategies.seen) > 0
    both = [rows for rows in made[:2] if isinstance(rows, Rows)]
    assert all((rows.numbers[~rows.mask] == 0).all() and (rows.mask.sum(axis=1) > 1).all() for rows in both)


def test_a_network_of_advantages_plays_by_regret_matching() -> None:
    network, ways = networks(LEDUC, 5)[0], set[str]()
    evaluator = network.evaluator(LEDUC)
    for seen, state in met(LEDUC).items():
        legal, row = state.actions(), np.frombuffer(seen, np.float32)[None].copy()
        said, mask = network.forward(row)[0][legal], np.isin(np.arange(LEDUC.spec.actions), legal)[None]
        priors = judge_moves(evaluator, LEDUC, state.data, state.player, legal)
        np.testing.assert_allclose(priors, regret_matching(network)(row, mask)[0][legal], atol=1e-6)
        if (said > 0).any():
            np.testing.assert_allclose(priors, np.maximum(said, 0) / np.maximum(said, 0).sum(), atol=1e-5)
        else:
            assert priors[said.argmax()] == 1
        ways.add("positive" if (said > 0).any() else "best")
    assert ways == {"positive", "best"}


def test_a_mixture_is_worth_the_mean_of_its_policies() -> None:
    examiner = Examiner(LEDUC)
    one, two, against = (regret_matching(networks(LEDUC, seed)[0]) for seed in (1, 2, 3))
    weights = np.array([0.25, 0.75])
    mixed = examiner.plans(Mixture([[one, two], [one, two]], weights))
    for seat in range(2):
        parts = [examiner.plans(policy)[seat] for policy in (one, two)]
        np.testing.assert_allclose(mixed[seat], 0.25 * parts[0] + 0.75 * parts[1])
    alone = examiner.prove(Mixture([[one], [one]], np.ones(1)))
    assert alone == pytest.approx(examiner.prove(one))
    far = [against_random(LEDUC, Mixture([[p, q], [p, q]], weights), 2000) for p, q in ((one, one), (one, against))]
    assert far[0]["against_random"] == pytest.approx(against_random(LEDUC, one, 2000)["against_random"], abs=0.4)
    assert far[0] != far[1]


def begin(folder: Path, game: Game, config: Config, **more: Any) -> Run:
    return Run(folder, "deep-cfr", game, config, evaluate=evaluation(game), **more)


@pytest.mark.parametrize("average", ["network", "stored"])
def test_it_learns_kuhn_and_what_it_learned_plays(tmp_path: Path, average: str) -> None:
    config = Config(
        iterations=10, walks=400, steps=60, average_steps=150, batch=256, rate=0.02, hidden=32, layers=1,
        average=average, every=10,
    )  # fmt: skip
    train(KUHN, config, begin(tmp_path, KUHN, config))
    lines = read_metrics(tmp_path)
    assert [line["iteration"] for line in lines] == [*range(1, 11)]
    assert lines[-1]["exploitability"] < 0.4, "any move is 0.92; seeds 1 to 3 gave 0.20 to 0.32"
    plays = Network.load(tmp_path / "network.safetensors")
    assert plays.about == {"game": "kuhn", "learner": "deep-cfr", "plays": "policy"}
    agent = player(str(tmp_path), KUHN)()
    view = KUHN.read("K Q pass bet").view(0)
    shares = {view.write(action): share for action, share in agent.think(view, Rng(1)).probabilities.items()}
    assert shares["bet"] > 0.8, shares


def test_what_is_stored_is_mixed_by_weight(tmp_path: Path) -> None:
    config = replace(TINY, average="stored", iterations=3)
    training = Training(KUHN, config, begin(tmp_path, KUHN, config))
    training.run.load()
    for _ in range(3):
        training.iterate()
    mixture = training.mixture()
    assert mixture.weights.tolist() == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    assert [len(own) for own in mixture.seats] == [3, 3]
    states = met(KUHN)
    for seat, reservoir in enumerate(training.advantages):
        kept = {name: column[: len(reservoir)] for name, column in reservoir.columns.items()}
        assert set(kept["iteration"].tolist()) == {1, 2, 3}
        assert {states[row.tobytes()].player for row in kept["inputs"]} == {seat}, "its own, not another's"
    for seen, state in states.items():  # everybody plays by the last network
        row = np.frombuffer(seen, np.float32)[None].copy()
        said = judge_moves(training.player(state.player)(), KUHN, state.data, state.player, state.actions())
        last = training.networks[state.player][-1]
        np.testing.assert_allclose(said, regret_matching(last)(row, np.ones((1, 2), np.bool_))[0], atol=1e-6)


def told(training: Training, rows: list[tuple[int, float, float]]) -> NDArray[np.float32]:
    """Gives rows to a reservoir: which decision, in which iteration, what the first of two legal moves was found to be.

    Returns what decisions 0, 1, ... look like. The third move is illegal, and nonsense is said of it.
    """
    looks = np.eye(LEDUC.spec.observation_size, dtype=np.float32)
    for decision, t, first in rows:
        training.iteration = int(t)
        seen, legal = looks[decision : decision + 1], np.array([[1, 1, 0]], np.uint8)
        training.remember(training.advantages[0], Rows(seen, legal, np.array([[first, 1 - first, 9.0]], np.float32)))
    return looks


@pytest.mark.parametrize("batch", [256, 2])
@pytest.mark.parametrize(("head", "loss"), [("advantage", SQUARED_ERROR), ("policy", CROSS_ENTROPY)])
def test_iterations_have_their_weight_and_illegal_moves_none(tmp_path: Path, head: str, loss: int, batch: int) -> None:
    """The first move is said to be 1 in iteration 1, and 0 in iteration 3; so 1/4 is learned of it. All decisions at
    once, or two of three drawn for each step."""
    config = replace(TINY, steps=600, batch=batch, rate=0.02)
    training = Training(LEDUC, config, begin(tmp_path, LEDUC, config))
    looks = told(training, [(0, 1, 1.0), (0, 3, 0.0), (1, 1, 0.5), (1, 3, 0.5), (2, 2, 1.0), (2, 2, 0.0)])
    if head == "policy":  # of probabilities none is left for what is illegal
        training.advantages[0].columns["numbers"][:, 2] = 0
    learned, _ = training.fit(training.advantages[0], head, loss, config.steps, Rng(1))
    said = learned.network().forward(looks[:3])
    if head == "policy":
        said = softmax(learned.network())(looks[:3], np.array([[True, True, False]] * 3))
        assert (said[:, 2] == 0).all()
    np.testing.assert_allclose(said[:, :2], [[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]], atol=0.05)


def test_a_decision_weighs_as_much_as_its_rows(tmp_path: Path) -> None:
    """Of decisions that a network can't tell apart, it learns the mean, each with the weights of its rows."""
    training = Training(LEDUC, TINY, begin(tmp_path, LEDUC, TINY))
    told(training, [(0, 1, 1.0), (0, 3, 0.0), (1, 6, 1.0)])
    lessons, weight = lessons_of(training.advantages[0])
    assert lessons.inputs.argmax(axis=1).tolist() == [0, 1]
    np.testing.assert_allclose(lessons.wanted[:, 0], [0.25, 1.0])
    np.testing.assert_allclose(weight, [0.4, 0.6])
    every, share = choose(weight, 7, 2, np.random.default_rng(1))
    assert every.tolist() == [[0, 1]]
    np.testing.assert_allclose(share, weight)
    drawn, share = choose(weight, 2000, 1, np.random.default_rng(1))
    assert drawn.shape == (2000, 1)
    assert share.tolist() == [1]
    np.testing.assert_allclose(np.bincount(drawn[:, 0]) / 2000, [0.4, 0.6], atol=0.05)


@pytest.mark.parametrize("warm", [False, True])
def test_networks_begin_from_scratch_unless_they_are_to_go_on(tmp_path: Path, warm: bool) -> None:
    """With a step size of nearly nothing a network stays where it begins."""
    config = replace(TINY, average="stored", warm=warm, rate=1e-9, iterations=2, every=100)
    training = Training(KUHN, config, begin(tmp_path, KUHN, config))
    training.run.load()
    for _ in range(2):
        training.iterate()
    first, second = (network.weights for network in training.networks[0])
    assert warm == all(np.allclose(first[name], second[name], atol=1e-6) for name in first)


@pytest.mark.parametrize("average", ["network", "stored"])
def test_a_run_that_is_stopped_anywhere_ends_the_same(tmp_path: Path, average: str) -> None:
    config = replace(TINY, average=average, buffer=150)
    train(KUHN, config, begin(tmp_path / "whole", KUHN, config))
    cut = partial(begin, tmp_path / "cut", KUHN, config)
    assert run_in_pieces(lambda run: train(KUHN, config, run), cut) >= 3
    whole, pieces = ((tmp_path / name / "network.safetensors").read_bytes() for name in ("whole", "cut"))
    assert whole == pieces
    lines = [[{**line, "seconds": 0} for line in read_metrics(tmp_path / name)] for name in ("whole", "cut")]
    assert lines[0] == lines[1]


def test_out_of_time_it_publishes_what_it_has_and_goes_on(tmp_path: Path) -> None:
    config = replace(TINY, every=100)
    train(KUHN, config, begin(tmp_path / "whole", KUHN, config))
    run = begin(tmp_path / "cut", KUHN, config, seconds=0.0)
    train(KUHN, config, run)
    run.close()
    assert not run.network.exists(), "nothing was learned"
    train(KUHN, config, begin(tmp_path / "cut", KUHN, config, resume=True))
    assert (tmp_path / "whole/network.safetensors").read_bytes() == run.network.read_bytes()


def test_what_it_refuses(tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="actions, more than a network can score"):
        Training(make("doudizhu"), TINY, begin(tmp_path, KUHN, TINY))
    with pytest.raises(TapeteError, match="average must be one of network, stored"):
        replace(TINY, average="both")
