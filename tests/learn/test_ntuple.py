"""Learning pattern tables: the search against plain minimax, targets and steps by hand, runs that are interrupted."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from tapete.agents.networks import shipped
from tapete.core import Game, Rng, State, TapeteError, make
from tapete.core.compile import state_ptr, uint64_ptr
from tapete.core.evaluator import Evaluator
from tapete.learn import Progress, Run, configure, read_metrics
from tapete.learn.ntuple import Config
from tapete.learn.ntuple.games import Batch, Play, look_ahead, mix_returns, play_games, room
from tapete.learn.ntuple.training import Training, annealed, learn, train
from tapete.nets.ntuple import NTuple
from tapete.search import MCTS, Budget

SMALL = Config(games=1000, deep_games=400, depth=2, measures=3, measure_games=2, measure_simulations=20, opening=2)


@numba.njit  # type: ignore[untyped-decorator]
def search(rulebook: Any, model: Any, state: Any, depth: int, low: float, high: float) -> float:
    return look_ahead(uint64_ptr(rulebook), uint64_ptr(model), state_ptr(state), 0, depth, low, high)


def random_network(game: Game) -> NTuple:
    blank = NTuple.blank(game, phases=3)
    weights = np.random.default_rng(1).normal(size=blank.weights.shape).astype(np.float32) * 0.1
    weights[:, -1] = 0
    return NTuple(blank.size, blank.patterns, np.ascontiguousarray(weights[:, blank.layout.first]))


def batch_of(network: NTuple, positions: int) -> Batch:
    lanes = network.layout.patterns + 2
    return Batch(
        np.zeros((positions, lanes), dtype=np.int32),
        np.zeros(positions, dtype=np.float32),
        np.zeros(positions, dtype=np.int8),
        np.zeros(positions, dtype=np.bool_),
    )


def settled(state: State) -> State:
    while len(state.actions()) == 1:
        state.apply(state.actions()[0])
    return state


def minimax(network: NTuple, state: State, seat: int, depth: int) -> float:
    """The value for a seat, so many choices ahead; moves without a choice don't count."""
    state = settled(state.copy())
    if state.over:
        return state.returns()[seat]
    if depth == 0:
        return network.value(state.view(seat))
    values = [minimax(network, state.copy().apply(action), seat, depth - 1) for action in state.actions()]
    return max(values) if state.player == seat else min(values)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_looking_ahead_is_minimax(depth: int) -> None:
    game = make("othello(size=6)")
    network, rng = random_network(game), Rng(depth)
    player = Evaluator(None, (*network.arrays(game), *room(game, depth)))
    ends = 0
    for i in range(12):
        state = game.start()
        for _ in range((5, 12, 24, 29)[i % 4]):
            if not state.over:
                state.apply(rng.choice(state.actions()))
        if settled(state).over:
            continue
        value = math.tanh(search(game.rulebook, player.model, state.data.copy(), depth, -np.inf, np.inf))
        assert value == pytest.approx(minimax(network, state, state.player, depth), abs=1e-5)
        chosen = int(player.arrays[-3][0])  # the level's choice
        assert minimax(network, state.copy().apply(chosen), state.player, depth - 1) == pytest.approx(value, abs=1e-5)
        ends += abs(value) > 0.9999
    assert depth < 3 or ends > 0, "some of them see the end of the game"


@pytest.mark.parametrize("depth", [2, 3])
def test_a_window_cuts_off_nothing_that_lies_in_it(depth: int) -> None:
    """Inside of it the value is exact; outside, it is told on which side."""
    game = make("othello(size=6)")
    network, rng = random_network(game), Rng("window", depth)
    player = Evaluator(None, (*network.arrays(game), *room(game, depth)))
    for _ in range(12):
        state = game.start()
        for _ in range(9):
            state.apply(rng.choice(state.actions()))
        if settled(state).over:
            continue
        value, inside, above, below = (
            search(game.rulebook, player.model, state.data.copy(), depth, *window)
            for window in _windows(search(game.rulebook, player.model, state.data.copy(), depth, -np.inf, np.inf))
        )
        assert inside == value
        assert above <= value + 0.1
        assert below >= value - 0.1


def _windows(value: float) -> list[tuple[float, float]]:
    return [
        (-np.inf, np.inf),
        (value - 0.01, value + 0.01),
        (value + 0.1, value + 0.2),
        (value - 0.2, value - 0.1),
    ]


def test_what_came_later_is_mixed_in_until_a_random_move() -> None:
    """Seats 0, 1, 1, 0; the third move was random; seat 0 won."""
    batch = batch_of(random_network(make("othello(size=4)")), 5)
    batch.targets[:] = [9, 0.1, 0.2, 0.3, 0.4]
    batch.seats[:] = [0, 0, 1, 1, 0]
    batch.strayed[:] = [False, False, False, True, False]
    mix_returns(batch, 1, 5, 1.0, 0.75)
    last = 1.0  # nothing is better known than the result
    third = 0.3
    second = 0.25 * 0.2 + 0.75 * third  # the same seat
    first = 0.25 * 0.1 - 0.75 * second  # the other one
    assert batch.targets.tolist() == pytest.approx([9, first, second, third, last])


def test_learning_the_same_positions_again_and_again_ends_with_their_targets() -> None:
    game = make("othello(size=6)")
    network = NTuple.blank(game, phases=2)
    player = Evaluator(None, (*network.arrays(game), *room(game, 6)))
    batch, layout = batch_of(network, 20 * game.spec.longest), network.layout
    play = Play(depth=1, endgame=4, opening=6, epsilon=0.1, trace=0.5)
    positions = play_games(game.rulebook, game.params, player.model, play, batch, 20, Rng(1).words)
    assert 20 * 15 < positions < 20 * 32
    assert (np.abs(batch.targets[:positions]) <= 1).all()
    batch.targets[:positions] = np.random.default_rng(1).uniform(-0.9, 0.9, positions)
    coherence = np.zeros((network.weights.size, 2), dtype=np.float32)
    first = learn(player.model, coherence, layout.twins, batch, positions, 1.0)
    assert first == pytest.approx(np.square(batch.targets[:positions]).mean(), rel=0.2), "blank tables say zero"
    for _ in range(300):
        last = learn(player.model, coherence, layout.twins, batch, positions, 1.0)
    assert last < first / 10
    assert (network.weights == network.weights[:, layout.first]).all(), "what symmetry makes equal stays so"
    assert (network.weights[:, -1] == 0).all(), "padding adds nothing"


def test_a_first_step_by_hand() -> None:
    """Every weight of a position moves by the same, and all of them together by rate times error."""
    game = make("othello(size=4)")
    network = NTuple.blank(game, phases=1)
    player, layout = Evaluator(None, (*network.arrays(game), *room(game, 4))), network.layout
    batch = batch_of(network, game.spec.longest)
    play = Play(depth=1, endgame=0, opening=0, epsilon=0.0, trace=1.0)
    play_games(game.rulebook, game.params, player.model, play, batch, 1, Rng(1).words)
    batch.targets[0] = 0.5
    coherence = np.zeros((network.weights.size, 2), dtype=np.float32)
    assert learn(player.model, coherence, layout.twins, batch, 1, 2.0) == pytest.approx(0.25)
    touched = np.unique(layout.first[batch.found[0]])
    assert np.flatnonzero(network.weights[0, layout.first == np.arange(len(layout.first))]).size == touched.size
    alone = batch.found[0, -2:]  # the lanes of discs and of moves: no pattern shares them
    assert network.weights[0, alone].tolist() == pytest.approx([2 * 0.5 / batch.found.shape[1]] * 2)
    assert coherence[alone].tolist() == [[0.5, 0.5]] * 2


def run_in(folder: Path, config: Config, **terms: Any) -> None:
    game = make("othello(size=4)")
    run = Run(folder, "ntuple", game, config, **terms)
    try:
        train(game, config, run)
    finally:
        run.close()


def results(folder: Path) -> tuple[bytes, list[dict[str, float]]]:
    metrics = [{key: value for key, value in line.items() if key != "seconds"} for line in read_metrics(folder)]
    return (folder / "network.safetensors").read_bytes(), metrics


@pytest.mark.parametrize("games", [300, 1000, 1200])
def test_a_run_that_was_killed_ends_as_if_it_had_not_been(tmp_path: Path, games: int) -> None:
    """In the first part, between the two, in the second; checkpoints are written now and then."""

    def kill(progress: Progress) -> None:
        if progress.done >= games:
            raise KeyboardInterrupt

    run_in(tmp_path / "whole", SMALL)
    with pytest.raises(KeyboardInterrupt):
        run_in(tmp_path / "killed", SMALL, watch=kill, every=0.0 if games == 1000 else 0.05)
    run_in(tmp_path / "killed", SMALL, resume=True)
    network, metrics = results(tmp_path / "whole")
    assert len(metrics) == SMALL.measures
    assert metrics[-1]["games"] == SMALL.games + SMALL.deep_games
    assert results(tmp_path / "killed") == (network, metrics)
    assert NTuple.load(tmp_path / "whole" / "network.safetensors").about["config"]["depth"] == SMALL.depth


def test_a_run_that_is_out_of_time_goes_on_later(tmp_path: Path) -> None:
    run_in(tmp_path / "whole", SMALL)
    for _ in range(20):
        run_in(tmp_path / "parts", SMALL, seconds=0.05, resume=True)
    run_in(tmp_path / "parts", SMALL, resume=True)
    assert results(tmp_path / "parts") == results(tmp_path / "whole")


def test_another_seed_gives_other_tables(tmp_path: Path) -> None:
    tables: list[NDArray[np.float32]] = []
    for seed in (1, 1, 2):
        run_in(tmp_path / str(len(tables)), Config(games=200, deep_games=0, measures=1, measure_games=2, seed=seed))
        tables.append(NTuple.load(tmp_path / str(len(tables)) / "network.safetensors").weights)
    assert (tables[0] == tables[1]).all()
    assert (tables[0] != tables[2]).any()


def test_damaged_checkpoints_get_one_line(tmp_path: Path) -> None:
    run_in(tmp_path, SMALL)
    path = tmp_path / "checkpoint.safetensors"
    raw = path.read_bytes()
    for damaged in (raw[:-8], raw[:100], b"", raw.replace(b"coherence", b"incoherent"[:9])):
        path.write_bytes(damaged)
        with pytest.raises(TapeteError) as error:
            run_in(tmp_path, SMALL, resume=True)
        assert "\n" not in str(error.value)


def wins(network: NTuple, game: Game, simulations: int, plain: int, games: int) -> float:
    """Points with the network in the tree against plain MCTS, after two random moves, with both colours."""
    won = 0.0
    for i in range(games):
        state, rng = game.start(), Rng("wins", i // 2)
        searches = [(MCTS(game, lambda: network.evaluator(game)), simulations), (MCTS(game), plain)]
        for _ in range(2):
            state.apply(rng.choice(state.actions()))
        while not state.over:
            tree, count = searches[state.player ^ i % 2]
            chances = tree.run(state.view(state.player), rng, Budget(iterations=count)).probabilities
            state.apply(max(chances, key=lambda action: chances[action]))
        won += 0.5 + 0.5 * state.returns()[i % 2]
    return won


def test_it_learns_to_beat_plain_search_on_six_by_six(tmp_path: Path) -> None:
    game = make("othello(size=6)")
    config = Config(games=6000, deep_games=0, measures=1, measure_games=2, measure_simulations=1, opening=4)
    run = Run(tmp_path, "ntuple", game, config)
    train(game, config, run)
    run.close()
    assert wins(NTuple.load(run.network), game, 40, 40, 20) >= 16
    assert wins(NTuple.blank(game), game, 40, 40, 20) < 12, "not without having learned"


def test_the_network_that_ships_is_small_and_strong() -> None:
    path = shipped(make("othello"), "ntuple")
    assert path.stat().st_size <= 4_000_000
    network = NTuple.load(path)
    assert network.about["game"] == "othello"
    assert wins(network, make("othello"), 20, 100, 10) >= 8


@pytest.mark.parametrize(
    "knob", ["games=-1", "depth=0", "depth=13", "epsilon=2", "trace=-0.1", "measures=0", "phases=x", "nonsense=1"]
)
def test_knobs_that_are_wrong_get_one_line(knob: str) -> None:
    assert configure("ntuple", ["games=10"]).games == 10
    with pytest.raises(TapeteError) as error:
        configure("ntuple", [knob])
    assert knob.partition("=")[0] in str(error.value)


def test_other_games_are_refused(tmp_path: Path) -> None:
    game = make("kuhn")
    run = Run(tmp_path, "ntuple", game, SMALL)
    with pytest.raises(TapeteError, match="pattern tables are for two players"):
        train(game, SMALL, run)
    run.close()


@pytest.mark.parametrize(
    ("anneal", "rates"), [(0.5, [3, 3, 3, 1.5, 0]), (1.0, [3, 2.25, 1.5, 0.75, 0]), (0.25, [3, 3, 3, 3, 0])]
)
def test_the_rate_goes_down_to_zero_in_the_last_part(anneal: float, rates: list[float]) -> None:
    assert [annealed(3.0, anneal, left) for left in (1, 0.75, 0.5, 0.25, 0)] == pytest.approx(rates)


def test_without_annealing_the_rate_stays() -> None:
    assert [annealed(3.0, 0.0, left) for left in (1, 0.5, 0.01)] == [3, 3, 3]


def test_either_part_of_a_run_has_its_rate_and_its_depth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(games=800, deep_games=400, depth=3, rate=2.0, deep_rate=0.5, anneal=0.5, endgame=5, trace=0.6)
    game = make("othello(size=4)")
    training = Training(game, config, Run(tmp_path, "ntuple", game, config))
    rates: list[float] = []
    plays: list[Play] = []
    begun: list[bool] = []

    def watched_learn(*about: Any) -> float:
        rates.append(about[-1])
        begun.append(not training.coherence.any())
        return float(learn(*about))

    def watched_play(*about: Any) -> int:
        plays.append(about[3])
        return int(play_games(*about))

    monkeypatch.setattr("tapete.learn.ntuple.training.learn", watched_learn)
    monkeypatch.setattr("tapete.learn.ntuple.training.play_games", watched_play)
    while training.done < training.total:
        training.play_and_learn()
    assert rates == pytest.approx([2, 2, 2, 1, 0.5, 0.5])
    assert [play.depth for play in plays] == [1, 1, 1, 1, 3, 3]
    assert {(play.endgame, play.trace) for play in plays} == {(5, 0.6)}
    assert begun == [True, False, False, False, True, False], "what was remembered of errors is forgotten once"
