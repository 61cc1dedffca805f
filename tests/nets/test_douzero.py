"""The paper's network against DouZero's own module, number by number, and its checkpoints as files from anywhere."""

from __future__ import annotations

import pickle
import runpy
from pathlib import Path

import douzero
import numpy as np
import pytest
import torch

from tapete.agents import load, opponents
from tapete.arena import match
from tapete.core import Rng, State, TapeteError, make
from tapete.core.players import judge_moves
from tapete.nets.douzero import POSITIONS, load_checkpoints, paper, scorer
from tapete.nets.torch import to_torch

GAME = make("doudizhu")
model_dict = runpy.run_path(str(Path(douzero.__path__[0]) / "dmc" / "models.py"))["model_dict"]  # imports nothing else


def module_of(position: str, seed: int) -> torch.nn.Module:
    """DouZero's own, with weights that say something: those that PyTorch draws say 0.02 of everything."""
    module = model_dict[position]()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * (2 / weight.shape[-1]) ** 0.5)
    return module.eval()


@pytest.fixture(scope="module")
def modules() -> list[torch.nn.Module]:
    torch.set_num_threads(1)  # a batch is small, and others want the cores
    return [module_of(position, seed) for seed, position in enumerate(POSITIONS)]


@pytest.fixture
def folder(tmp_path: Path, modules: list[torch.nn.Module]) -> Path:
    """Checkpoints as DouZero writes them: the newest, and older ones of other weights."""
    for position, module in zip(POSITIONS, modules, strict=True):
        torch.save(module_of(position, 99).state_dict(), tmp_path / f"{position}_weights_900.ckpt")
        torch.save(module.state_dict(), tmp_path / f"{position}_weights_1000.ckpt")
    return tmp_path


def positions(games: int) -> list[State]:
    """Positions of random play in which there is a choice."""
    rng, found = Rng(5), []
    for _ in range(games):
        state = GAME.start().deal(rng)
        while not state.over:
            if len(state.actions()) > 1:
                found.append(state.copy())
            state.apply(rng.choice(state.actions())).deal(rng)
    return found


def douzero_says(module: torch.nn.Module, state: State) -> np.ndarray:
    """What DouZero's module says of each legal move, handed over as DouZero does."""
    view = state.view(state.player)
    seen, cards = view.observation(), view.features()[:, :54]
    n = len(cards)
    z = torch.from_numpy(np.repeat(seen[None, -810:].reshape(1, 5, 162), n, axis=0))
    x = torch.from_numpy(np.concatenate([np.repeat(seen[None, :-810], n, axis=0), cards], axis=1))
    with torch.inference_mode():
        return module(z, x, return_value=True)["values"][:, 0].numpy()


def test_the_compiled_network_is_douzeros(modules, folder):
    network = load_checkpoints(GAME, folder)
    player, seats, spread = network.evaluator(GAME), set(), 0.0
    for state in positions(2):
        seat, legal = state.player, state.actions()
        view = state.view(seat)
        expected = douzero_says(modules[seat], state)
        said = network.of(seat).state.forward(view.observation()[None])
        rows = np.concatenate([np.repeat(said, len(legal), axis=0), view.features()], axis=1)
        assert network.of(seat).move.forward(rows)[:, 0] == pytest.approx(expected, rel=1e-4, abs=1e-4)
        chosen = judge_moves(player, GAME, state.data, seat, legal).argmax()
        assert expected[chosen] >= expected.max() - 1e-4
        seats.add(seat)
        spread = max(spread, np.ptp(expected))
    assert spread > 0.1, "moves differ"
    assert seats == {0, 1, 2}


def test_the_module_that_is_trained_is_douzeros(modules):
    weights = [{name: array.numpy() for name, array in module.state_dict().items()} for module in modules]
    ours = [tuple(map(to_torch, scorer(GAME, seat, each))) for seat, each in enumerate(weights)]
    for state in positions(1):
        seat = state.player
        see, move = ours[seat]
        view = state.view(seat)
        with torch.inference_mode():
            vector = see(torch.from_numpy(view.observation()[None])).expand(len(view.actions()), -1)
            said = move(torch.cat([vector, torch.from_numpy(view.features())], dim=1))[:, 0].numpy()
        assert said == pytest.approx(douzero_says(modules[seat], state), rel=1e-4, abs=1e-4)


def test_a_weight_in_a_wrong_place_is_noticed(modules):
    """The history first, then what is seen, then the move: anything else says something else."""
    state = positions(1)[0]
    weights = {name: array.numpy().copy() for name, array in modules[0].state_dict().items()}
    weights["dense1.weight"] = np.roll(weights["dense1.weight"], 1, axis=1)
    view = state.view(0)
    said = scorer(GAME, 0, weights).state.forward(view.observation()[None])
    rows = np.concatenate([np.repeat(said, len(view.actions()), axis=0), view.features()], axis=1)
    wrong = scorer(GAME, 0, weights).move.forward(rows)[:, 0]
    assert abs(wrong - douzero_says(modules[0], state)).max() > 0.01


def test_as_many_weights_as_the_paper_has(modules):
    for seat, module in enumerate(modules):
        ours = sum(np.prod(shape) for each in paper(GAME, seat) for shape in each.parameters.values())
        theirs = sum(weight.numel() for weight in module.parameters())
        assert ours == theirs, "512 for the move's own bias, 512 less because the LSTM has one in place of two"


def test_checkpoints_play_by_name(folder):
    result = match(GAME, f"douzero({folder})", "random", games=4)
    assert len(result.games) == 4
    assert "douzero" not in opponents(GAME)
    with pytest.raises(TapeteError, match=r"douzero\(FOLDER\) reads its checkpoints"):
        load("douzero", GAME)


def test_files_that_are_none_get_one_line_and_run_nothing(folder, tmp_path):
    target = folder / "landlord_weights_1000.ckpt"
    ran = tmp_path / "ran"

    class Hostile:
        def __reduce__(self):
            return Path.touch, (ran,)

    for content in (b"", b"nonsense", pickle.dumps({"lstm": Hostile()}), target.read_bytes()[:5000]):
        target.write_bytes(content)
        with pytest.raises(TapeteError, match=r"landlord_weights_1000.ckpt is not a checkpoint") as caught:
            load(f"douzero({folder})", GAME)
        assert "\n" not in str(caught.value)
    assert not ran.exists()
    torch.save({"dense1.weight": torch.zeros(3)}, target)
    with pytest.raises(TapeteError, match="not the weights of DouZero's network"):
        load(f"douzero({folder})", GAME)
    torch.save(model_dict["landlord_up"]().state_dict(), target)
    with pytest.raises(TapeteError, match="float32"):
        load(f"douzero({folder})", GAME)
    target.unlink()
    assert load_checkpoints(GAME, folder), "the one before it"
    with pytest.raises(TapeteError, match=r"there is no landlord\.ckpt or landlord_weights"):
        load_checkpoints(GAME, tmp_path / "none")
    with pytest.raises(TapeteError, match="play doudizhu, not kuhn"):
        load_checkpoints(make("kuhn"), folder)
    with pytest.raises(TapeteError, match="reads a history"):
        paper(make("othello"), 0)


def test_the_papers_network_learns(tmp_path):
    """What it says of moves that were made comes nearer to what their games paid."""
    from tapete.learn.dmc import Config, Training
    from tapete.learn.run import Run

    config = Config(network="paper", games=8, batch=64, memory=64, passes=12, rate=3e-4, optimiser="rmsprop", trace=1)
    run = Run(tmp_path, "dmc", GAME, config)
    run.load()
    training = Training(GAME, config, run)
    student = training.students[0]
    assert (student.state.architecture, student.move.architecture) == paper(GAME, 0)
    before = {name: weight.clone() for name, weight in student.state.named_parameters()}
    training.iterate()
    losses = student.fit.losses
    assert np.mean(losses[-3:]) < 0.8 * np.mean(losses[:3])
    assert all((weight != before[name]).any() for name, weight in student.state.named_parameters()), "the LSTM too"
