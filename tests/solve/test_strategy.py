"""Strategies as files: exact, the same bytes every time, all of a file or nothing, and no nonsense is read."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from tapete.core import TapeteError
from tapete.core.arrays import read_arrays, write_arrays
from tapete.solve.strategy import Strategy

ABOUT = {"game": "kuhn", "algorithm": "dcfr", "iterations": 7, "exploitability": 0.1 + 0.2, "parameters": {"x": "ä"}}


def random_strategy(infosets: int = 50) -> Strategy:
    rng = np.random.default_rng(infosets)
    keys = rng.permutation(np.unique(rng.integers(0, 2**64, size=infosets, dtype=np.uint64)))
    counts = rng.integers(2, 256, size=len(keys))
    probs = np.concatenate([rng.dirichlet(np.ones(n)) for n in counts])
    return Strategy.of(keys, counts, probs, **ABOUT)


def test_of_sorts_and_looks_up():
    keys = np.array([2**64 - 1, 5, 2**63, 0], dtype=np.uint64)
    strategy = Strategy.of(keys, np.array([2, 3, 1, 2]), np.array([0.25, 0.75, 0.5, 0.25, 0.25, 1, 0, 1]))
    assert strategy.keys.tolist() == [0, 5, 2**63, 2**64 - 1]
    assert strategy.counts.tolist() == [2, 3, 1, 2]
    expected = {2**64 - 1: [0.25, 0.75], 5: [0.5, 0.25, 0.25], 2**63: [1], 0: [0, 1]}
    for key, probs in expected.items():
        found = strategy.lookup(key)
        assert found is not None
        assert found.tolist() == probs
    for key in (1, 4, 6, 2**63 - 1, 2**63 + 1, 2**64 - 2):
        assert strategy.lookup(key) is None
    assert Strategy.of(*(np.zeros(0, dtype=t) for t in ("uint64", "int64", "float32"))).lookup(3) is None


@pytest.mark.parametrize(("actions", "dtype"), [(255, "uint8"), (256, "uint16"), (65_535, "uint16")])
def test_any_number_of_actions_has_room(tmp_path, actions, dtype):
    keys, counts = np.array([7, 1], dtype=np.uint64), np.array([actions, 2])
    strategy = Strategy.of(keys, counts, np.append(np.full(actions, 1 / actions), [0.25, 0.75]))
    assert (strategy.counts.tolist(), strategy.counts.dtype) == ([2, actions], dtype)
    strategy.save(tmp_path / "x")
    again = Strategy.load(tmp_path / "x")
    assert (again.counts.tolist(), again.counts.dtype) == ([2, actions], dtype)
    assert again.probs.tobytes() == strategy.probs.tobytes()
    assert again.start.tolist() == [0, 2, 2 + actions]


def test_a_strategy_has_room_for_65_535_actions():
    with pytest.raises(TapeteError, match="65,536 actions in one place; a strategy has room for 65,535"):
        Strategy.of(np.array([1], dtype=np.uint64), np.array([65_536]), np.full(65_536, 1 / 65_536))


@pytest.mark.parametrize("infosets", [1, 50, 2000])
def test_round_trip_is_exact(tmp_path, infosets):
    path, strategy = tmp_path / "new" / "folder" / "x.safetensors", random_strategy(infosets)
    strategy.save(path)
    again = Strategy.load(path)
    for name in ("keys", "counts", "probs"):
        one, two = getattr(strategy, name), getattr(again, name)
        assert one.dtype == two.dtype
        assert one.tobytes() == two.tobytes()
    assert again.about == ABOUT
    for key, probs in zip(strategy.keys.tolist(), np.split(strategy.probs, strategy.start[1:-1]), strict=True):
        found = again.lookup(key)
        assert found is not None
        assert found.tolist() == probs.tolist()


def test_the_header_is_json_that_anybody_can_read(tmp_path):
    random_strategy().save(tmp_path / "x.safetensors")
    raw = (tmp_path / "x.safetensors").read_bytes()
    header = json.loads(raw[8 : 8 + struct.unpack("<Q", raw[:8])[0]])
    assert json.loads(header["__metadata__"]["tapete"]) == {"format": "1", "about": ABOUT}
    assert {"keys", "counts", "probs"} == header.keys() - {"__metadata__"}


def test_the_same_strategy_gives_the_same_bytes_in_any_process(tmp_path):
    """Rust's hash tables have another order in every process."""
    code = "from tests.solve.test_strategy import random_strategy; import sys; random_strategy().save(sys.argv[1])"
    files = [tmp_path / f"{i}.safetensors" for i in range(3)]
    for file in files[:2]:
        subprocess.run([sys.executable, "-c", code, str(file)], check=True, cwd=Path(__file__).parents[2])
    random_strategy().save(files[2])
    assert len({file.read_bytes() for file in files}) == 1


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch, broken):
    path = tmp_path / "x.safetensors"
    random_strategy(50).save(path)
    before = path.read_bytes()

    def crash(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, broken, crash)
    with pytest.raises(TapeteError, match=f"can't write {path}: No space left on device"):
        random_strategy(60).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name], "drafts are cleaned up"
    monkeypatch.setattr(os, broken, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        random_strategy(60).save(path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [before]


def test_files_that_can_not_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "x", tmp_path):
        with pytest.raises(TapeteError, match="can't write") as error:
            random_strategy().save(path)
        assert "\n" not in str(error.value)


def test_what_is_not_a_strategy_is_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    for nothing in (path, tmp_path):
        with pytest.raises(TapeteError, match="there is no file"):
            Strategy.load(nothing)
    for raw in (b"", b"garbage", struct.pack("<Q", 2**62) + b"{}"):
        path.write_bytes(raw)
        with pytest.raises(TapeteError, match="can't read"):
            Strategy.load(path)
    random_strategy().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(TapeteError, match="can't read"):
        Strategy.load(path)
    save_file({"keys": np.zeros(1)}, path)
    with pytest.raises(TapeteError, match="has not the format '1'"):
        Strategy.load(path)
    save_file({"keys": np.zeros(1)}, path, {"tapete": "{"})
    with pytest.raises(TapeteError, match="can't read"):
        Strategy.load(path)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"keys": np.array([2, 1], dtype=np.uint64)}, "not in order"),
        ({"keys": np.array([1, 1], dtype=np.uint64)}, "not in order"),
        ({"keys": np.array([1, 2])}, "don't fit"),
        ({"counts": np.array([2, 1], dtype=np.uint8)}, "don't fit"),
        ({"counts": np.array([2, 2], dtype=np.int64)}, "don't fit"),
        ({"counts": np.array([4, 0], dtype=np.uint8)}, "not probabilities"),
        ({"probs": np.array([0.5, 0.5, 1.5, -0.5], dtype=np.float32)}, "not probabilities"),
        ({"probs": np.array([0.5, 0.5, np.nan, 1], dtype=np.float32)}, "not probabilities"),
        ({"probs": np.array([0.5, 0.5, 0, 0], dtype=np.float32)}, "not probabilities"),
        ({"probs": np.array([np.inf, 0.5, 0, 0], dtype=np.float32)}, "not probabilities"),
    ],
)
def test_arrays_that_are_not_a_strategy(tmp_path, wrong, why):
    right: dict[str, NDArray[Any]] = {
        "keys": np.array([1, 2], dtype=np.uint64),
        "counts": np.array([2, 2], dtype=np.uint8),
        "probs": np.array([0.5, 0.5, 1, 0], dtype=np.float32),
    }
    path = tmp_path / "x.safetensors"
    write_arrays(path, right, {"format": "1", "about": {}})
    Strategy.load(path)
    write_arrays(path, {**right, **wrong}, {"format": "1", "about": {}})
    with pytest.raises(TapeteError, match=why):
        Strategy.load(path)


@pytest.mark.parametrize("missing", ["keys", "counts", "probs", "about"])
def test_what_is_missing_is_missed(tmp_path, missing):
    path = tmp_path / "x.safetensors"
    random_strategy().save(path)
    arrays, header = read_arrays(path, "1")
    for part in (arrays, header):
        part.pop(missing, None)
    write_arrays(path, arrays, header)
    with pytest.raises(TapeteError, match="something is missing"):
        Strategy.load(path)
