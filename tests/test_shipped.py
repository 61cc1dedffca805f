"""What ships: every file is in the manifest and as it tells, and a file that was changed is not used."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from safetensors import safe_open

from tapete import TapeteError, learn, make, shipped
from tapete.agents import load, opponents
from tapete.agents.networks import shipped as network
from tapete.core.arrays import read_format
from tapete.solve import find
from tests.conftest import Tapete

MOST = 40_000_000  # bytes of all of it
FILES = sorted(str(path.relative_to(shipped.FOLDER)) for path in shipped.FOLDER.rglob("*.safetensors"))


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, to be changed by a test."""
    folder = tmp_path / "shipped"
    shutil.copytree(shipped.FOLDER, folder)
    monkeypatch.setattr(shipped, "FOLDER", folder)
    return folder


def test_every_file_is_in_the_manifest_and_nothing_else() -> None:
    assert FILES
    assert sorted(shipped.manifest()) == FILES
    other = {path.name for path in shipped.FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert other - {Path(name).name for name in FILES} == {"__init__.py", "manifest.toml", "strengths.toml"}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_as_the_manifest_tells(name: str) -> None:
    artefact, raw = shipped.manifest()[name], (shipped.FOLDER / name).read_bytes()
    assert (artefact.bytes, artefact.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert artefact.made_by.startswith("tapete ")
    assert all((artefact.seed, artefact.took, artefact.versions, artefact.strength, artefact.measured_by))
    assert shipped.find(name) == shipped.FOLDER / name
    assert read_format(shipped.FOLDER / name)


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("networks/")])
def test_a_network_carries_the_config_that_made_it(name: str, tapete: Tapete) -> None:
    artefact = shipped.manifest()[name]
    learner = Path(name).stem
    config = asdict(
        learn.configure(
            learner,
            [
                f"{knob}={value}".replace("=True", "=true").replace("=False", "=false")
                for knob, value in artefact.config.items()
            ],
        )
    )
    assert {knob: config[knob] for knob in artefact.config} == artefact.config  # today's learner understands it
    said = [word for word in artefact.made_by.split() if "=" in word]
    asked = asdict(learn.configure(learner, said))
    assert {word.partition("=")[0]: config[word.partition("=")[0]] for word in said}.items() <= asked.items()
    assert str(artefact.config["seed"]) == artefact.seed
    told = tapete("shipped").out
    assert all(f"{knob}={str(value).lower()}" in told for knob, value in artefact.config.items())


def test_the_config_of_a_network_that_tells_its_own_is_the_same() -> None:
    name = "networks/othello/ntuple.safetensors"
    with safe_open(shipped.FOLDER / name, "np") as file:
        about = json.loads(file.metadata()["tapete"])["about"]
    assert about["config"] == shipped.manifest()[name].config


def test_all_of_it_is_small() -> None:
    assert sum((shipped.FOLDER / name).stat().st_size for name in FILES) < MOST


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("equilibria/")])
def test_the_strength_of_an_equilibrium_is_what_was_proven(name: str, home: Path) -> None:
    game = make(Path(name).stem)
    solution = find(game)
    assert solution is not None
    told = shipped.manifest()[name]
    assert told.strength.startswith(f"exploitability {solution.about['exploitability_percent']:.5f} %")
    assert told.made_by.startswith(f"tapete solve '{game}' --algorithm {solution.about['algorithm']} ")
    assert told.took.startswith(f"{solution.about['iterations']} iterations")


@pytest.mark.parametrize("learner", ["mcts-value", "ntuple", "zero"])
def test_a_changed_network_is_not_used(copied: Path, learner: str) -> None:
    path = network(make("othello"), learner)
    assert path == copied / "networks" / "othello" / f"{learner}.safetensors"
    load(f"{learner}(10)", make("othello"))
    raw = bytearray(path.read_bytes())
    raw[-5] ^= 1  # of a weight: the file is still one that could be read
    path.write_bytes(raw)
    with pytest.raises(TapeteError, match=r"^[^\n]*is not the file that ships[^\n]*$"):
        load(f"{learner}(10)", make("othello"))
    path.unlink()
    with pytest.raises(TapeteError, match=r"^[^\n]*is missing[^\n]*$"):
        load(f"{learner}(10)", make("othello"))


def test_a_changed_equilibrium_is_not_used(copied: Path, home: Path) -> None:
    assert find(make("kuhn")) is not None
    other = copied / "equilibria" / "leduc.safetensors"
    os.replace(other, copied / "equilibria" / "kuhn.safetensors")
    with pytest.raises(TapeteError, match=r"^[^\n]*is not the file that ships[^\n]*$"):
        find(make("kuhn"))


def test_a_file_is_read_for_its_checksum_once(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, digest = [], hashlib.file_digest

    def counted(*about: Any) -> Any:
        reads.append(about)
        return digest(*about)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    for _ in range(5):
        shipped.find("equilibria/kuhn.safetensors")
    assert len(reads) == 1
    os.utime(copied / "equilibria" / "kuhn.safetensors", ns=(1, 1))
    shipped.find("equilibria/kuhn.safetensors")
    assert len(reads) == 2, "it was touched"


def test_what_does_not_ship_is_told_so() -> None:
    assert shipped.find("equilibria/truco.safetensors") is None
    assert shipped.find("manifest.toml") is None
    with pytest.raises(TapeteError, match=r"no network of othello\(size=4\) ships; `tapete train"):
        network(make("othello(size=4)"), "zero")


def test_the_command_shows_all_of_it(tapete: Tapete, copied: Path) -> None:
    done = tapete("shipped")
    assert done.status == 0
    for name, artefact in shipped.manifest().items():
        assert name in done.out
        assert artefact.strength in done.out
    told = json.loads(tapete("shipped", "--json").out)
    assert [entry["sha256"] for entry in told.values()] == [a.sha256 for a in shipped.manifest().values()]
    (copied / "networks" / "othello" / "zero.safetensors").write_bytes(b"another")
    assert "zero.safetensors is not the file that ships" in tapete("shipped").err


def test_strengths_are_told_of_opponents_that_are_offered() -> None:
    for game, told in shipped.strengths().items():
        assert set(told) <= set(opponents(make(game)))
