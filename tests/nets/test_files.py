"""Networks in files: the same when they come back, and refused in one line when they are not networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapete.core import Rng, TapeteError
from tapete.core.arrays import read_arrays, write_arrays
from tapete.nets import Architecture, Layer, Network
from tapete.nets.network import FORMAT
from tapete.nets.zoo import lstm_mlp, mlp, paper_cnn, residual

SMALL = residual((3, 4, 4), 17, channels=5, blocks=1, hidden=4)
X = np.random.default_rng(1).random((4, 60), dtype=np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "network.safetensors"
    Network.random(SMALL, Rng(1), game="othello(size=4)").save(path)
    return path


def change(path: Path, header: dict[str, Any] | None = None, **arrays: Any) -> None:
    """Writes the file again with something else in it; None leaves an array out."""
    found, about = read_arrays(path, FORMAT)
    left = {name: array for name, array in {**found, **arrays}.items() if array is not None}
    write_arrays(path, left, {**about, **(header or {})})


@pytest.mark.parametrize("architecture", [SMALL, paper_cnn(4), mlp(9, actions=2), lstm_mlp(5, 4, 6)])
def test_comes_back_as_it_was(architecture: Architecture, tmp_path: Path) -> None:
    network = Network.random(architecture, Rng(2), game="some", steps=7)
    network.save(tmp_path / "a")
    again = Network.load(tmp_path / "a")
    again.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert again.architecture == architecture
    assert again.about == {"game": "some", "steps": 7}
    assert all((again.weights[name] == network.weights[name]).all() for name in architecture.parameters)
    assert (again.forward(X) == network.forward(X)).all()


def test_half_the_size(tmp_path: Path) -> None:
    network = Network.random(paper_cnn(4), Rng(2))
    network.save(tmp_path / "whole")
    network.save(tmp_path / "half", half=True)
    assert (tmp_path / "half").stat().st_size < 0.51 * (tmp_path / "whole").stat().st_size
    rounded = Network.load(tmp_path / "half")
    for name, weights in network.weights.items():
        assert (rounded.weights[name] == weights.astype(np.float16).astype(np.float32)).all()
    assert 0 < abs(rounded.forward(X) - network.forward(X)).max() < 1e-3
    large = {name: weights * 1e6 for name, weights in network.weights.items()}
    with pytest.raises(TapeteError, match="too large for 16 bits"):
        Network(network.architecture, large).save(tmp_path / "half", half=True)


def says(path: Path) -> str:
    """What loading the file is refused with."""
    with pytest.raises(TapeteError) as error:
        Network.load(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_weights_that_are_not_the_architectures(path: Path) -> None:
    original = path.read_bytes()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"value.bias": None}, "missing"),
        ({"more.bias": np.zeros(1, np.float32)}, "not of this network"),
        ({"value.bias": np.zeros(2, np.float32)}, "float32"),
        ({"value.bias": np.zeros(1, np.float64)}, "float32 or float16"),
        ({"value.bias": np.full(1, np.nan, np.float32)}, "finite"),
        ({"value.bias": np.full(1, np.inf, np.float16)}, "finite"),
        ({"block0.weight": np.zeros((5, 3, 3), np.float32)}, "float32"),
    ]
    for wrong, words in cases:
        path.write_bytes(original)
        change(path, **wrong)
        assert words in says(path)


LAYERS = SMALL.to_json()["layers"]


INPUTS: list[dict[str, Any]] = [
    *(
        {"shape": shape}
        for shape in ([3, 4], [], [3, 0, 4], [3, -4, 4], [3, 4, 4, 1], [3, 4.0, 4], [True, 4, 4], "345")
    ),
    *({"shape": shape} for shape in ([2**16] * 3, [1, 2**16, 2], [10**40, 4, 4])),
    *({"offset": offset} for offset in (-1, 2**40, 0.5, [1])),
    *({"kind": kind} for kind in ("conv", "pool", ["input"], None)),
    *({"of": ["input0"]}, {"norm": 1}, {"activation": "relu"}, {"units": "3"}, {"more": 1}),
]
CONVOLUTIONS: list[dict[str, Any]] = [
    *({"size": 5}, {"size": 0}, {"units": 0}, {"units": 2**16}, {"units": 2}, {"activation": "gelu"}),
    *({"of": ["value"]}, {"of": ["input0", "block0"]}, {"add": "input0"}, {"add": "value"}),
    *({"kind": kind} for kind in ("lstm", "concat", "dropout", "dense", "input")),
    *({"name": name} for name in ("block0", "a.b", "x" * 100)),
    *({"rate": rate} for rate in (2, "1", float("nan"))),
]
LISTS: list[Any] = [3, [], [{}], [3], LAYERS[1:], LAYERS * 200, LAYERS + LAYERS[-1:]]
HEADS: list[Any] = [[], ["value", "value"], ["nobody"], ["block0"], [["value"]], None]
HEADERS: list[dict[str, Any]] = [
    *({"format": "1"}, {"about": 3}),
    *({"layers": layers} for layers in LISTS),
    *({"heads": heads} for heads in HEADS),
    *({"layers": [{**LAYERS[0], **wrong}, *LAYERS[1:]]} for wrong in INPUTS),
    *({"layers": [*LAYERS[:2], {**LAYERS[2], **wrong}, *LAYERS[3:]]} for wrong in CONVOLUTIONS),
]


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_are_not_of_a_network(path: Path, header: dict[str, Any]) -> None:
    change(path, header)
    assert len(says(path)) < 400


def test_cut_files(path: Path) -> None:
    whole = path.read_bytes()
    for n in [*range(0, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:n])
        says(path)


@pytest.fixture
def saved(path: Path) -> bytes:
    """A small network as its file has it; written once, because the disk is waited for."""
    Network.random(SMALL, Rng(1), game="othello(size=4)").save(path)
    return path.read_bytes()


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_flipped_bytes(path: Path, saved: bytes, data: st.DataObject) -> None:
    """Whatever is flipped, it is refused, or it is a network that answers."""
    raw = bytearray(saved)
    end = 8 + int.from_bytes(raw[:8], "little")  # of the header
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, end - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    try:
        network = Network.load(path)
    except TapeteError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        x = np.zeros((2, network.architecture.inputs), dtype=np.float32)
        assert np.isfinite(network.forward(x)).all()


def test_what_is_not_a_file(tmp_path: Path) -> None:
    assert "there is no file" in says(tmp_path / "nothing")
    assert "there is no file" in says(tmp_path)
    (tmp_path / "text").write_text("hello")
    assert "can't read" in says(tmp_path / "text")


def test_rows_of_the_wrong_size() -> None:
    network = Network.random(SMALL, Rng(1))
    for wrong in (X[:, :47], X[0], X[None]):
        with pytest.raises(TapeteError, match="rows of 48 numbers"):
            network.forward(wrong)


def test_architectures_that_do_not_fit_together() -> None:
    with pytest.raises(TapeteError, match="too many numbers"):
        Architecture((Layer("input", shape=(2**12, 2**12, 2)), Layer("dense", units=1, name="value")))
    with pytest.raises(TapeteError, match="weights"):
        Architecture(
            (Layer("input", shape=(2**15,)), *(Layer("dense", units=2**15) for _ in range(2))), heads=("dense2",)
        )
    with pytest.raises(TapeteError, match="not before it"):
        Architecture((Layer("input", shape=(2,)), Layer("dense", units=3, of=("value",), name="value")))
