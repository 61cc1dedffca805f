"""The compiled forward pass, against PyTorch on the same weights."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tapete.core import Rng, TapeteError
from tapete.nets import Architecture, Layer, Network
from tapete.nets.torch import Module, from_torch, to_torch
from tapete.nets.zoo import lstm_mlp, mlp, paper_cnn, residual

CLOSE = 1e-5

torch.set_num_threads(1)


def planes(*layers: Layer, shape: tuple[int, int, int] = (3, 6, 6)) -> Architecture:
    """These layers on a board, and a dense one that tells of everything in them."""
    return Architecture((Layer("input", shape=shape), *layers, Layer("dense", units=40, name="value")))


ARCHITECTURES = {
    "the paper's": paper_cnn(),
    "the paper's, small": paper_cnn(4, channels=(5, 7), hidden=10),
    "residual": residual((3, 8, 8), 65),
    "residual, odd": residual((2, 6, 6), 37, channels=17, blocks=2, policy=3, value=2, hidden=9),
    "residual, 4x4": residual((3, 4, 4), 17, channels=40, blocks=1),
    "mlp": mlp(9, (33, 150), actions=5, values=3),
    "lstm": lstm_mlp(5, 11, 20, memory=23, hidden=(50, 20), activation="sigmoid"),
    "lstm, DouZero's": lstm_mlp(5, 162, 484),
    "lstm, one step": lstm_mlp(1, 3, 2, memory=1, hidden=(4,)),
    "1x1": planes(Layer("conv", units=33, size=1, activation="tanh")),
    "not square": planes(Layer("conv", units=3), Layer("conv", units=50, activation="sigmoid"), shape=(1, 3, 7)),
    "one square": planes(Layer("conv", units=20), shape=(16, 1, 1)),
    "nothing between": planes(),
    "residual before tanh": planes(
        Layer("conv", units=4, name="first"), Layer("conv", units=4, norm=True, add="first", activation="tanh")
    ),
    "dense, normed, residual": Architecture(
        (
            Layer("input", shape=(4, 5), offset=3),
            Layer("dense", units=30, norm=True, activation="relu", name="first"),
            Layer("dropout", rate=0.5),
            Layer("dense", units=30, norm=True, add="first", activation="sigmoid"),
            Layer("dense", units=2, name="value"),
        )
    ),
    "residual behind many squares": Architecture(  # more weights than are kept at hand: summed up in several parts
        (
            Layer("input", shape=(20, 8, 8), name="board"),
            Layer("dense", units=24, name="first"),
            Layer("dense", units=24, of=("board",), add="first", activation="relu", name="value"),
        )
    ),
    "dropout, read again later": Architecture(
        (
            Layer("input", shape=(30,)),
            Layer("dense", units=30, activation="relu", name="first"),
            Layer("dropout", rate=0.5, name="kept"),
            Layer("dense", units=30, activation="relu", name="second"),
            Layer("dense", units=30, activation="relu", name="third"),
            Layer("dense", units=30, of=("kept",), add="third", activation="relu", name="fourth"),
            Layer("dense", units=30, activation="relu", name="fifth"),
            Layer("dense", units=30, add="kept", name="value"),
            Layer("concat", of=("fourth", "fifth", "kept", "value"), name="all"),
        ),
        heads=("value", "all", "kept"),
    ),
    "dropout, and layers that stay": Architecture(
        (
            Layer("input", shape=(30,)),
            Layer("dense", units=30, activation="relu", name="first"),
            Layer("dropout", rate=0.5, name="kept"),
            *(Layer("dense", units=30, of=("kept",), name=f"branch{i}") for i in range(2)),
            *(Layer("dense", units=30, of=(f"branch{i}",), name=f"leaf{i}") for i in range(2)),
            Layer("concat", of=("leaf0", "leaf1"), name="value"),
        )
    ),
    "several inputs, one twice": Architecture(
        (
            Layer("input", shape=(2, 3, 3), offset=5, name="board"),
            Layer("conv", units=6, of=("board",)),
            Layer("dense", units=7, name="seen"),
            Layer("input", shape=(5,), name="rest"),
            Layer("concat", of=("rest", "seen", "rest")),
            Layer("dense", units=3, name="value"),
            Layer("dense", units=4, of=("concat4",), name="policy"),
        ),
        heads=("policy", "value", "seen"),
    ),
}


def trained(architecture: Architecture, seed: int) -> Module:
    """A module in evaluation, with weights and statistics as training might leave them."""
    module = to_torch(architecture, Rng(seed)).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        norms: list[Any] = list(module.norms.values())
        for norm in norms:
            norm.running_mean.normal_(generator=generator)
            norm.running_var.uniform_(0.3, 3, generator=generator)
            norm.weight.normal_(generator=generator)
            norm.bias.normal_(generator=generator)
        for name, parameter in module.named_parameters():
            if "bias_hh" in name:
                parameter.normal_(generator=generator)
    return module


def rows(n: int, width: int, seed: int) -> np.ndarray:
    """Half of the numbers are zero, as in what games show."""
    draws = np.random.default_rng(seed)
    return (draws.normal(size=(n, width)) * draws.integers(0, 2, (n, width))).astype(np.float32)


def torch_says(module: Module, x: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return module(torch.from_numpy(x)).numpy()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_equals_pytorch(name: str, seed: int) -> None:
    architecture = ARCHITECTURES[name]
    module = trained(architecture, seed)
    network = from_torch(module)
    x = rows(21, architecture.inputs + seed, seed)  # rows may be longer than what is read of them
    theirs, ours = torch_says(module, x), network.forward(x)
    assert ours.shape == (21, architecture.width)
    assert abs(ours).max() > 1e-3
    assert abs(ours - theirs).max() <= CLOSE


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_answer_does_not_depend_on_its_neighbours(name: str) -> None:
    architecture = ARCHITECTURES[name]
    network = from_torch(trained(architecture, 1))
    x = rows(19, architecture.inputs, 1)
    together = network.forward(x)
    for n in (1, 2, 5, 8, 13):
        for start in range(0, 19 - n, 3):
            assert (network.forward(x[start : start + n]) == together[start : start + n]).all()
    assert network.forward(x[:0]).shape == (0, architecture.width)


def random_architectures(n: int) -> Iterator[Architecture]:
    for seed in range(n):
        draws = np.random.default_rng(seed)
        shape = tuple(int(draws.integers(1, 10)) for _ in range(3))
        layers = [Layer("input", shape=shape)]
        for i in range(draws.integers(0, 5)):
            activation = str(draws.choice(["", "relu", "tanh", "sigmoid"]))
            norm, units, size = bool(draws.integers(2)), int(draws.integers(1, 70)), int(draws.choice([1, 3]))
            add = layers[-1].name if i > 0 and draws.integers(2) else ""
            conv = Layer("conv", units=units, size=size, norm=norm, add=add, activation=activation, name=f"conv{i}")
            layers.append(replace(conv, units=layers[-1].units) if add else conv)
        layers.append(Layer("dense", units=int(draws.integers(1, 300)), activation="relu"))
        layers.append(Layer("dense", units=3, name="value"))
        yield Architecture(tuple(layers))


@pytest.mark.parametrize("architecture", list(random_architectures(40)), ids=lambda a: str(len(a.layers)))
def test_equals_pytorch_whatever_the_layers(architecture: Architecture) -> None:
    module = trained(architecture, 3)
    x = rows(5, architecture.inputs, 4)
    theirs, ours = torch_says(module, x), from_torch(module).forward(x)
    assert abs(ours - theirs).max() <= CLOSE * max(1, abs(theirs).max())


def test_several_threads_at_once() -> None:
    network = Network.random(paper_cnn(4, channels=(20, 20), hidden=10), Rng(1))
    batches = [rows(11, network.architecture.inputs, seed) for seed in range(40)]
    right = [network.forward(batch) for batch in batches]
    with ThreadPoolExecutor(4) as threads:
        assert all((a == b).all() for a, b in zip(right, threads.map(network.forward, batches), strict=True))


def test_large_and_small_arguments_of_the_activations() -> None:
    x = np.concatenate([np.linspace(-200, 200, 4001), np.geomspace(1e-30, 80, 200)]).astype(np.float32)
    for activation in ("tanh", "sigmoid", "relu"):
        layers = (Layer("input", shape=(1,)), Layer("dense", units=1, activation=activation, name="value"))
        weights = {"value.weight": np.ones((1, 1), np.float32), "value.bias": np.zeros(1, np.float32)}
        ours = Network(Architecture(layers), weights).forward(x[:, None])[:, 0]
        assert abs(ours - getattr(torch, activation)(torch.from_numpy(x)).numpy()).max() <= 2e-7


def test_what_has_overflown_leaves_no_trace() -> None:
    architecture = lstm_mlp(3, 4, 2, memory=5, hidden=())
    network = Network.random(architecture, Rng(1))
    x = rows(1, architecture.inputs, 1)
    right = network.forward(x)
    assert not np.isfinite(network.forward(np.full_like(x, np.nan))).any()
    assert (network.forward(x) == right).all()


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_to_torch_and_back(name: str) -> None:
    network = from_torch(trained(ARCHITECTURES[name], 5), learner="test")
    again = from_torch(to_torch(network))
    assert network.about == {"learner": "test"}
    for part, weights in network.weights.items():
        assert abs(weights - again.weights[part]).max() <= 1e-6
    x = rows(6, network.architecture.inputs, 6)
    assert abs(torch_says(to_torch(network).eval(), x) - network.forward(x)).max() <= CLOSE


def test_a_new_module_depends_on_its_generator_alone() -> None:
    before = torch.random.get_rng_state()
    one, same, other = (to_torch(residual((3, 4, 4), 17), Rng(seed)).state_dict() for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)
    with pytest.raises(TapeteError, match="generator"):
        to_torch(paper_cnn())


def test_a_module_can_learn() -> None:
    module = to_torch(residual((2, 4, 4), 5, channels=8, blocks=1), Rng(1)).train()
    optimiser = torch.optim.Adam(module.parameters(), lr=0.01)
    x, y = torch.from_numpy(rows(32, 32, 1)), torch.from_numpy(np.tanh(rows(32, 6, 2)))
    losses = []
    for _ in range(60):
        loss = ((module(x) - y) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.3 * losses[0]
    network = from_torch(module)
    assert abs(network.forward(x.numpy()) - torch_says(module.eval(), x.numpy())).max() <= CLOSE


@pytest.mark.slow
def test_machines_without_wide_vectors_say_the_same(tmp_path) -> None:
    """The whole of this file, compiled for a processor without AVX-512."""
    narrow = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+bmi,+bmi2,+sse4.2,+popcnt"}
    environment = {**os.environ, **narrow, "NUMBA_CACHE_DIR": str(tmp_path)}
    check = "from tapete.nets.vectors import WIDE; import pytest, sys; sys.exit(WIDE or pytest.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", check, "-p", "no:cacheprovider", "-n", "0", __file__], env=environment, check=False
    )
    assert done.returncode == 0
