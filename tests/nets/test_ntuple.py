"""Pattern tables: the fast sums against slow ones, symmetry, files, and what a search is told."""

from __future__ import annotations

import ctypes
import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from tapete.core import Game, Rng, State, TapeteError, make
from tapete.core.evaluator import Evaluator
from tapete.nets.ntuple import NTuple
from tapete.nets.patterns import LONGEST, MOVES, board_patterns, lay_out, symmetries
from tapete.search import MCTS
from tapete.search.spending import Budget

SIZES = (4, 6, 8)
POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64
EVALUATE = ctypes.CFUNCTYPE(None, POINTER, POINTER, NUMBER, POINTER, NUMBER, POINTER, POINTER, POINTER, POINTER)


def board(size: int) -> Game:
    return make(f"othello(size={size})")


def random_network(size: int, phases: int = 5, patterns: object = None, spread: float = 0.1) -> NTuple:
    """Every weight another number, but for those that symmetry makes equal."""
    blank = NTuple.blank(board(size), patterns, phases=phases)  # type: ignore[arg-type]
    weights = np.random.default_rng(size).normal(size=blank.weights.shape).astype(np.float32) * spread
    weights[:, -1] = 0
    return NTuple(size, blank.patterns, np.ascontiguousarray(weights[:, blank.layout.first]), {"game": "x"})


def random_states(game: Game, count: int, seed: int = 1) -> list[State]:
    """Positions with a choice, from all stages of the game."""
    rng, found = Rng(seed), list[State]()
    while len(found) < count:
        state = game.start()
        for _ in range(rng.below(game.spec.longest)):
            if state.over:
                break
            state.apply(rng.choice(state.actions()))
        if len(state.actions()) > 1:
            found.append(state)
    return found


def slow_value(network: NTuple, observation: NDArray[np.float32], moves: int) -> float:
    """As the definition has it: square by square, pattern by pattern."""
    squares = network.size**2
    trits = (observation[:squares] + 2 * observation[squares : 2 * squares]).astype(int)
    discs = int((trits > 0).sum())
    table = network.weights[discs * len(network.weights) // (squares + 1)].astype(float)
    total, start = 0.0, 0
    for pattern in network.patterns:
        copies = {frozenset(order[list(pattern)].tolist()): order[list(pattern)] for order in symmetries(network.size)}
        for copy in copies.values():
            total += table[start + sum(int(trits[square]) * 3**i for i, square in enumerate(copy))]
        start += 3 ** len(pattern)
    return math.tanh(total + table[start + discs] + table[start + squares + 1 + min(moves, MOVES)])


def settled(state: State) -> State:
    while len(state.actions()) == 1:
        state.apply(state.actions()[0])
    return state


def slow_judgement(network: NTuple, state: State, seat: int) -> float:
    state = settled(state.copy())
    if state.over:
        return state.returns()[seat]
    view = state.view(state.player)
    value = slow_value(network, view.observation(), len(view.actions()))
    return value if state.player == seat else -value


def judged(judge: Evaluator, state: State) -> tuple[float, NDArray[np.float32]]:
    """What a search is told: the mover's value, and priors of its moves."""
    game, legal = state.game, np.array(state.actions(), dtype=np.int32)
    values, priors, model = np.full(2, np.nan), np.full(len(legal), np.nan, dtype=np.float32), judge.model
    spoilt, room, words = state.data.copy(), np.resize(legal, game.spec.max_actions), Rng(0).words
    evaluate = EVALUATE(judge.address)
    before, moves = (game.rulebook.ctypes.data, spoilt.ctypes.data, state.player), (room.ctypes.data, len(legal))
    evaluate(*before, *moves, *(array.ctypes.data for array in (model, words, values, priors)))
    assert values[0] == -values[1]
    assert room[: len(legal)].tolist() == legal.tolist(), "whoever wants priors still needs the moves"
    return float(values[state.player]), priors


@pytest.mark.parametrize("size", SIZES)
def test_values_are_those_of_the_definition(size: int) -> None:
    network = random_network(size)
    for state in random_states(board(size), 60):
        view = state.view(state.player)
        expected = slow_value(network, view.observation(), len(view.actions()))
        assert network.value(view) == pytest.approx(expected, abs=2e-6)
        assert network.value(state.view(1 - state.player)) == pytest.approx(-expected, abs=2e-6)


@pytest.mark.parametrize("size", SIZES)
def test_a_search_is_told_the_value_of_the_best_move_and_how_the_moves_compare(size: int) -> None:
    network, temperature = random_network(size), 0.4
    game = board(size)
    judge = network.evaluator(game, temperature=temperature)
    ends = 0
    for state in random_states(game, 40, seed=2):
        after = [state.copy().apply(action) for action in state.actions()]
        ends += sum(settled(child.copy()).over for child in after)
        values = np.array([slow_judgement(network, child, state.player) for child in after])
        sums = np.arctanh(np.clip(values, -math.tanh(9), math.tanh(9)))
        shares = np.exp((sums - sums.max()) / temperature)
        value, priors = judged(judge, state)
        assert value == pytest.approx(values.max(), abs=1e-5)
        assert priors == pytest.approx(shares / shares.sum(), abs=1e-4)
        assert judged(judge, state)[0] == value, "the same judgement every time"
    assert size > 4 or ends > 0, "some moves end the game: they count what they bring"


@pytest.mark.parametrize("size", SIZES)
def test_without_priors_it_is_the_value_alone(size: int) -> None:
    network = random_network(size)
    judge = network.evaluator(board(size), priors=False)
    assert not judge.priors
    for state in random_states(board(size), 20, seed=3):
        value, priors = judged(judge, state)
        assert value == pytest.approx(slow_judgement(network, state, state.player), abs=2e-6)
        assert np.isnan(priors).all(), "untouched"


def test_forced_moves_are_made_before_anything_is_judged() -> None:
    """Black has to pass twice; in the end white has won, and both evaluators know it."""
    state = board(4).read("")
    rng, seen = Rng(9), 0
    network = random_network(4)
    judges = [network.evaluator(board(4), priors=priors) for priors in (True, False)]
    while seen < 5:
        state = board(4).start()
        while not state.over:
            if len(state.actions()) == 1:
                expected = slow_judgement(network, state, state.player)
                seen += settled(state.copy()).over
                for judge in judges:
                    assert judged(judge, state)[0] == pytest.approx(expected, abs=1e-5)
                assert judged(judges[0], state)[1].tolist() == [1]
            state.apply(rng.choice(state.actions()))


@pytest.mark.parametrize("size", SIZES)
def test_the_value_is_the_same_from_all_eight_sides(size: int) -> None:
    """Played on a board that is turned or mirrored: with the moves that are the same then."""
    network, game = random_network(size), board(size)
    keeping = [order for order in symmetries(size) if order[size * (size // 2) + size // 2] in _black(game)]
    for state in random_states(game, 12, seed=4):
        assert state.history is not None
        value = network.value(state.view(state.player))
        for order in keeping:
            where = np.append(order, size * size)  # a pass stays a pass
            turned = game.replay([int(where[action]) for action in state.history])
            assert network.value(turned.view(state.player)) == pytest.approx(value, abs=2e-6)
    assert len(keeping) == 4


def _black(game: Game) -> set[int]:
    """The squares of the last row of the middle on which the start has a disc of its colour there."""
    size = math.isqrt(game.spec.actions - 1)
    plane = game.start().view(0).observation()[size * size : 2 * size * size]
    return set(np.flatnonzero(plane).tolist())


def test_entries_that_symmetry_makes_equal_form_circles() -> None:
    layout = lay_out(6, board_patterns(6))
    first, twins = layout.first, layout.twins
    assert sorted(twins.tolist()) == list(range(len(first))), "each entry comes after one other"
    assert (first[twins] == first).all()
    for entry in (0, 1, 5, 100, 3**8, 2 * 3**8 + 7, len(first) - 1):
        circle, at = [entry], int(twins[entry])
        while at != entry:
            circle.append(at)
            at = int(twins[at])
        assert sorted(circle) == np.flatnonzero(first == first[entry]).tolist()


@pytest.mark.parametrize("size", SIZES)
def test_the_patterns_of_a_board_cover_it(size: int) -> None:
    patterns = board_patterns(size)
    assert all(1 <= len(set(pattern)) == len(pattern) <= LONGEST for pattern in patterns)
    squares = {int(order[square]) for pattern in patterns for order in symmetries(size) for square in pattern}
    assert squares == set(range(size * size))
    assert size < 8 or lay_out(size, patterns).patterns == 54


def test_patterns_of_ones_own() -> None:
    """A block in the middle, which all eight sides turn onto itself, and a single square."""
    network = random_network(6, phases=3, patterns=[(14, 15, 20, 21), (0,), (1, 6, 7)])
    assert network.layout.patterns == 1 + 4 + 4
    for state in random_states(board(6), 30):
        view = state.view(state.player)
        assert network.value(view) == pytest.approx(
            slow_value(network, view.observation(), len(view.actions())), abs=2e-6
        )


def test_files_keep_the_values(tmp_path: Path) -> None:
    network = random_network(6)
    path = tmp_path / "x.safetensors"
    network.save(path)
    again = NTuple.load(path)
    assert (again.size, again.patterns, again.about) == (network.size, network.patterns, network.about)
    step = float(np.abs(network.weights).max()) / 32767
    assert np.abs(again.weights - network.weights).max() <= 0.51 * step
    again.save(tmp_path / "y.safetensors")
    assert (tmp_path / "y.safetensors").read_bytes() == path.read_bytes(), "the same content gives the same bytes"
    for state in random_states(board(6), 20):
        view = state.view(state.player)
        assert again.value(view) == pytest.approx(network.value(view), abs=64 * step)


GOOD = {"format": "ntuple-1", "size": 4, "patterns": [[0, 1, 4]], "scale": 0.5, "about": {}}
ENTRIES = 18 + 17 + 33 + 1  # a corner of three squares, of which one axis makes two equal; discs, moves, nothing


@pytest.mark.parametrize(
    "change",
    [
        {"size": 5.0},
        {"size": 1},
        {"size": 10**9},
        {"size": "4"},
        {"size": None},
        {"patterns": []},
        {"patterns": [[]]},
        {"patterns": [[0, 0, 1]]},
        {"patterns": [[0, 1, 16]]},
        {"patterns": [[0, 1, -1]]},
        {"patterns": [[0, 1, "4"]]},
        {"patterns": [list(range(11))]},
        {"patterns": 7},
        {"patterns": [7]},
        {"patterns": [[0, 1, 4]] * 65},
        {"patterns": [[0, 1, 2]]},
        {"scale": 0},
        {"scale": -0.5},
        {"scale": float("nan")},
        {"scale": float("inf")},
        {"scale": None},
        {"about": 3},
        {"format": "ntuple-2"},
    ],
    ids=repr,
)
def test_headers_that_are_wrong_get_one_line(tmp_path: Path, change: dict[str, object]) -> None:
    weights = np.ones((3, ENTRIES), dtype=np.int16)
    path = tmp_path / "x.safetensors"
    for header, right in ((GOOD, True), ({**GOOD, **change}, False)):
        save_file({"weights": weights}, path, {"tapete": json.dumps(header)})
        if right:
            assert NTuple.load(path).weights.shape == (3, 27 + 17 + 33 + 1)
            continue
        with pytest.raises(TapeteError) as error:
            NTuple.load(path)
        assert "\n" not in str(error.value)
        assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "weights",
    [
        np.ones((3, ENTRIES + 1), dtype=np.int16),
        np.ones((3, ENTRIES), dtype=np.float32),
        np.ones(3 * ENTRIES, dtype=np.int16),
        np.ones((0, ENTRIES), dtype=np.int16),
        np.ones((17, ENTRIES), dtype=np.int16),
    ],
    ids=lambda weights: f"{weights.dtype}{weights.shape}",
)
def test_tables_that_do_not_fit_get_one_line(tmp_path: Path, weights: NDArray[np.int16]) -> None:
    save_file({"weights": weights}, tmp_path / "x.safetensors", {"tapete": json.dumps(GOOD)})
    with pytest.raises(TapeteError, match="don't fit together"):
        NTuple.load(tmp_path / "x.safetensors")


def test_damaged_files_are_refused_or_give_numbers(tmp_path: Path) -> None:
    network, path, rng = random_network(4), tmp_path / "x.safetensors", Rng(5)
    network.save(path)
    raw, view = path.read_bytes(), board(4).start().view(0)
    assert network.value(view) == pytest.approx(NTuple.load(path).value(view), abs=1e-3)
    refused, accepted = 0, 0
    for i in range(300):
        damaged = bytearray(raw[: rng.below(len(raw))] if i % 3 == 0 else raw)
        for _ in range(min(3, len(damaged)) if i % 3 else 0):
            damaged[rng.below(min(len(damaged), 1500))] = rng.below(256)
        path.write_bytes(bytes(damaged))
        try:
            value = NTuple.load(path).value(view)
        except TapeteError as error:
            refused += "\n" not in str(error)
            continue
        assert abs(value) <= 1
        accepted += 1
    assert refused + accepted == 300
    assert refused > 100


def test_other_games_are_refused() -> None:
    for name in ("kuhn", "dudo(4,1,1)", "leduc"):
        with pytest.raises(TapeteError, match="pattern tables"):
            NTuple.blank(make(name))
    with pytest.raises(TapeteError, match="board of 6x6"):
        random_network(6).evaluator(board(8))
    with pytest.raises(TapeteError, match="1 to 16 phases"):
        NTuple.blank(board(4), phases=17)
    for patterns in ([], [(0, 0)], [(16,)], [tuple(range(11))]):
        with pytest.raises(TapeteError):
            NTuple.blank(board(4), patterns)


def test_a_search_with_tables_finds_the_value_of_a_small_endgame() -> None:
    """Whatever the tables say, a search that sees the end knows better."""
    game, network = board(4), random_network(4)
    state = game.start()
    rng = Rng(3)
    for _ in range(5):
        state.apply(rng.choice(state.actions()))
    exact = _exact(state, state.player)
    for priors in (True, False):
        search = MCTS(game, lambda priors=priors: network.evaluator(game, priors=priors))  # type: ignore[misc]
        thought = search.run(state.view(state.player), Rng(1), Budget(iterations=20_000))
        best = max(thought.probabilities, key=lambda action: thought.probabilities[action])
        assert _exact(state.copy().apply(best), state.player) == exact


def _exact(state: State, seat: int) -> float:
    if state.over:
        return state.returns()[seat]
    values = [_exact(state.copy().apply(action), seat) for action in state.actions()]
    return max(values) if state.player == seat else min(values)
