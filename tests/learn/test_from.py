"""A new run that begins from the weights of a network, `tapete train --from FILE`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tapete.cli  # noqa: F401 (which finds the commands)
from tapete import learn
from tapete.cli.app import app
from tapete.core import Rng, TapeteError, make
from tapete.learn import dmc, dqn, mcts_value, mmd, ntuple, policy_gradient, ppo, zero
from tapete.learn.mcts_value.training import Training as MctsValue
from tapete.learn.ntuple.training import Training as Tables
from tapete.learn.run import Description, Run
from tapete.learn.zero.training import Training as Zero
from tapete.nets import Network
from tapete.nets.moves import MoveNetwork
from tapete.nets.ntuple import NTuple

KUHN, BOARD = make("kuhn"), make("othello(size=4)")
SEEN = np.random.default_rng(1).random((5, KUHN.spec.observation_size), dtype=np.float32)
BOARDS = np.random.default_rng(1).integers(0, 2, (5, BOARD.spec.observation_size)).astype(np.float32)


def gradient(config: policy_gradient.Knobs, run: Run) -> policy_gradient.Training:
    return policy_gradient.Training(KUHN, config)


# Of each learner: its knobs with a seed, what it learns with, and what its networks say of five positions.
Case = tuple[Callable[..., Any], Callable[[Any, Run], Any], Callable[[Any], list[Any]]]
CASES: dict[str, Case] = {
    "dqn": (
        lambda seed: dqn.Config(hidden=8, seed=seed),
        lambda config, run: dqn.Training(KUHN, config, run),
        lambda training: [torch_says(part, SEEN) for part in (training.module, training.target)],
    ),
    "ppo": (
        lambda seed: ppo.Config(hidden=8, seed=seed),
        gradient,
        lambda training: [torch_says(part, SEEN) for part in (training.module, training.average)],
    ),
    "mmd": (
        lambda seed: mmd.Config(hidden=8, seed=seed),
        gradient,
        lambda training: [torch_says(part, SEEN) for part in (training.module, training.average)],
    ),
    "zero": (
        lambda seed: zero.Config(channels=4, blocks=1, seed=seed),
        lambda config, run: Zero(BOARD, config, run),
        lambda training: [torch_says(part.eval(), BOARDS) for part in (training.challenger, training.champion)],
    ),
    "mcts-value": (
        lambda seed: mcts_value.Config(seed=seed),
        lambda config, run: MctsValue(BOARD, config, run),
        lambda training: [torch_says(training.model.eval(), BOARDS)],
    ),
    "ntuple": (
        lambda seed: ntuple.Config(phases=2, seed=seed),
        lambda config, run: Tables(BOARD, config, run),
        lambda training: [training.network.weights],
    ),
    "dmc": (
        lambda seed: dmc.Config(units=8, trunk=8, seed=seed),
        lambda config, run: dmc.Training(KUHN, config, run),
        lambda training: [
            part.weights[name]
            for scorer in training.network().scorers
            for part in scorer
            for name in part.architecture.parameters
        ],
    ),
}


def torch_says(module: Any, rows: Any) -> Any:
    import torch

    with torch.inference_mode():
        return module(torch.from_numpy(rows)).numpy()


def test_a_learner_that_does_not_take_weights_refuses(tmp_path: Path) -> None:
    """Whichever it is: who only asks for what was remembered would begin from scratch, and nobody would notice."""
    config = ppo.Config()
    with pytest.raises(TapeteError, match="some-learner can't begin from a network"):
        Run(tmp_path / "run", "some-learner", KUHN, config, source=tmp_path / "network").load()
    assert not (tmp_path / "run").exists()


@pytest.fixture
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A network as the learner would have saved it."""
    name, path = request.getfixturevalue("name"), tmp_path / "network.safetensors"
    if name == "ntuple":
        tables = NTuple.blank(BOARD, phases=2)
        tables.weights[...] = 0.5
        tables.save(path)
        return path
    config, make_training, _ = CASES[name]
    training = make_training(config(seed=2), Run(tmp_path / "other", name, KUHN, config(seed=2)))
    if name == "dmc":
        training.network().save(path)
    else:
        part = "module" if name in ("dqn", "ppo", "mmd") else "model" if name == "mcts-value" else "champion"
        from tapete.nets.torch import from_torch

        from_torch(getattr(training, part)).save(path)
    return path


@pytest.mark.parametrize("name", CASES)
def test_it_begins_with_what_the_file_says(name: str, file: Path, tmp_path: Path) -> None:
    config, make_training, says = CASES[name]
    game = KUHN if name in ("dqn", "ppo", "mmd", "dmc") else BOARD
    run = Run(tmp_path / "run", name, game, config(seed=1), source=file)
    training = make_training(config(seed=1), run)
    before = [said.copy() for said in says(training)]
    run.open(training.restore, training.begin)
    run.close()
    after = says(training)
    assert not any(np.allclose(old, new, atol=1e-3) for old, new in zip(before, after, strict=True) if new.size > 1)
    if name == "dmc":
        found = MoveNetwork.load(file)
        wanted = [part.weights[k] for scorer in found.scorers for part in scorer for k in part.architecture.parameters]
        assert all(np.array_equal(old, new) for old, new in zip(wanted, after, strict=True))
    elif name == "ntuple":
        assert np.allclose(after[0], 0.5, atol=1e-4)
    else:
        expected = Network.load(file).forward(SEEN if game is KUHN else BOARDS)
        assert all(np.allclose(expected, said, atol=1e-4) for said in after), "all of its networks begin there"
    assert Description.read(run.folder).source == str(file)


def train(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["train", *map(str, words)])
    return done.exit_code, str(done.exception) if done.exception else ""


SMALL = ("tables=4", "hidden=8", "layers=1", "every=1")


def test_a_run_goes_on_where_another_ended(tmp_path: Path) -> None:
    """Here by a folder, by another learner of the same kind, and with a step size at which nothing changes."""
    assert train("kuhn", "--with", "mmd", "iterations=3", *SMALL, "--run", tmp_path / "a") == (0, "")
    more = ("iterations=1", "rate=0", *SMALL, "--run", tmp_path / "b", "--from", tmp_path / "a")
    assert train("kuhn", "--with", "ppo", *more) == (0, "")
    a, b = (Network.load(tmp_path / name / "network.safetensors") for name in "ab")
    assert all(np.array_equal(a.weights[name], b.weights[name]) for name in a.weights)
    assert (a.about["learner"], b.about["learner"]) == ("mmd", "ppo")


def test_stopped_before_its_first_checkpoint_it_begins_there_again(tmp_path: Path) -> None:
    assert train("kuhn", "--with", "ppo", "iterations=1", *SMALL, "--run", tmp_path / "a") == (0, "")
    config = learn.configure("ppo", ["iterations=1", "rate=0", *SMALL])
    run = Run(tmp_path / "b", "ppo", KUHN, config, source=tmp_path / "a/network.safetensors")
    run.open(lambda checkpoint: None, lambda file: None)  # the folder is there, and nothing is remembered
    run.close()
    assert train("--run", tmp_path / "b", "--resume") == (0, "")
    a, b = (Network.load(tmp_path / name / "network.safetensors") for name in "ab")
    assert all(np.array_equal(a.weights[name], b.weights[name]) for name in a.weights)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kuhn", "--with", "ppo", "hidden=4"], "hidden0.weight is [8, 9] there and [4, 9] here"),
        (["leduc", "--with", "ppo", "hidden=8"], "the layer seen has 9 numbers there and 38 here"),
        (["kuhn", "--with", "dqn", "hidden=8"], "the layer policy is not here"),
        (["kuhn", "--with", "dmc"], "moves 1"),
        (["kuhn", "--with", "nfsp"], "nfsp can't begin from a network"),
        (["kuhn", "--with", "deep-cfr"], "deep-cfr can't begin from a network"),
    ],
)
def test_what_does_not_fit_gets_one_line_and_leaves_nothing(words: list[str], said: str, tmp_path: Path) -> None:
    shape = policy_gradient.architecture(KUHN, ppo.Config(hidden=8))
    Network.random(shape, Rng(1), game="kuhn").save(tmp_path / "a")
    code, error = train(*words, "--run", tmp_path / "run", "--from", tmp_path / "a")
    assert code
    assert said in error
    assert "\n" not in error
    assert not (tmp_path / "run").exists()


def test_a_run_that_has_begun_begins_from_nothing_else(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        assert train("kuhn", "--with", "ppo", "iterations=1", *SMALL, "--run", folder) == (0, "")
    assert "has begun already" in train("--run", a, "--resume", "--from", b)[1]
    assert "--resume" in train("kuhn", "--with", "ppo", "--run", a, "--from", b)[1]
    assert train("--run", a, "--resume") == (0, "")


def test_a_file_that_is_not_there_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="nowhere"):
        Run(tmp_path / "run", "ppo", KUHN, ppo.Config(), source=tmp_path / "nowhere").open(
            lambda checkpoint: None, policy_gradient.Training(KUHN, ppo.Config(tables=4)).begin
        )
    assert not (tmp_path / "run").exists()
