"""The folder of a run: what it keeps, what it refuses, and that hostile ones get one line."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tapete.cli  # noqa: F401 (which finds the commands)
from tapete import learn
from tapete.agents import load
from tapete.cli.app import app
from tapete.core import Rng, TapeteError, make
from tapete.core.arrays import read_arrays, write_arrays
from tapete.learn.run import CHECKPOINT, Description, Run, read_metrics
from tapete.nets import Network
from tapete.nets.zoo import residual
from tapete.solve import find, solve
from tests.disk import watch_disk

GAME = make("othello(size=4)")


@dataclass(frozen=True)
class Config:
    """Two knobs."""

    steps: int = 3  # how many
    rate: float = 0.5  # how fast


def begin(folder: Path, config: Config | None = None, **more: object) -> Run:
    return Run(folder, "counting", GAME, config or Config(), **more)  # type: ignore[arg-type]


def one_line(error: pytest.ExceptionInfo[TapeteError], *words: str) -> None:
    text = str(error.value)
    assert "\n" not in text
    assert all(word in text for word in words), text


def test_the_config_tells_what_is_learned(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", Config(steps=7))
    assert not run.folder.exists(), "nothing is written before the run is opened"
    assert run.load() is None
    known = Description.read(run.folder)
    assert (known.learner, known.game, known.config) == ("counting", "othello(size=4)", {"steps": 7, "rate": 0.5})
    assert {"python", "numpy", "numba"} <= known.versions.keys()


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.load()
    arrays = {"words": np.array([2**64 - 1], np.uint64), "one": np.array(1.5), "rows": np.arange(6).reshape(2, 3)}
    run.save(arrays, step=5)
    run.close()
    checkpoint = begin(tmp_path, resume=True).load()
    assert checkpoint is not None
    assert checkpoint.count("step") == 5
    for name, array in arrays.items():
        back = checkpoint.take(name, array.dtype, *array.shape)
        assert back.tobytes() == array.tobytes()
        assert back.shape == array.shape


def test_a_run_goes_on_that_is_older_than_a_knob(tmp_path: Path) -> None:
    """It was made as the knob usually is; anything else is another run."""
    begin(tmp_path).load()
    config = tmp_path / "config.json"
    known = json.loads(config.read_text())
    del known["config"]["rate"]
    config.write_text(json.dumps(known))
    assert begin(tmp_path, resume=True)
    with pytest.raises(TapeteError) as error:
        begin(tmp_path, Config(rate=0.1), resume=True)
    one_line(error, "has rate=0.5, not rate=0.1")


def test_metrics_after_the_checkpoint_are_forgotten(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.load()
    run.log(step=1, loss=0.5)
    run.save({})
    run.log(step=2, loss=0.25)
    run.close()
    begin(tmp_path, resume=True).load()
    assert [line["step"] for line in read_metrics(tmp_path)] == [1]


def test_time_goes_on_where_it_stopped(tmp_path: Path) -> None:
    run = begin(tmp_path, seconds=0.0)
    run.load()
    assert run.out_of_time
    assert run.due
    run.save({})
    arrays, header = read_arrays(tmp_path / "checkpoint.safetensors", CHECKPOINT)
    header["notes"]["seconds"] = 1000.0
    write_arrays(tmp_path / "checkpoint.safetensors", arrays, header)
    run.close()
    again = begin(tmp_path, resume=True, seconds=math.inf)
    again.load()
    assert 1000 <= again.seconds < 1100
    assert not again.out_of_time


def test_a_run_is_not_begun_over_another(tmp_path: Path) -> None:
    begin(tmp_path).load()
    with pytest.raises(TapeteError) as error:
        begin(tmp_path)
    one_line(error, "--resume")


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.load()
    with pytest.raises(TapeteError) as error:
        begin(tmp_path, resume=True).load()
    one_line(error, "another process")
    run.close()
    assert begin(tmp_path, resume=True).load() is None


@pytest.mark.parametrize(
    ("learner", "game", "config", "words"),
    [
        ("counting", "othello(size=4)", Config(steps=4), ("steps=3", "steps=4")),
        ("counting", "othello", Config(), ("othello(size=4)", "othello")),
        ("guessing", "othello(size=4)", Config(), ("counting", "guessing")),
    ],
)
def test_a_run_goes_on_as_it_was_begun(
    tmp_path: Path, learner: str, game: str, config: Config, words: tuple[str, ...]
) -> None:
    run = begin(tmp_path)
    run.load()
    run.close()
    with pytest.raises(TapeteError) as error:
        Run(tmp_path, learner, make(game), config, resume=True)
    one_line(error, *words)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"format": "run-2"}',
        '{"format": "run-1", "learner": 3, "game": "ocp", "config": {}}',
        '{"format": "run-1", "learner": "zero", "game": "ocp", "config": []}',
        "\x00\xff",
        " " * 100_000,
    ],
)
def test_damaged_configs_get_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text, encoding="latin-1")
    with pytest.raises(TapeteError) as error:
        begin(tmp_path, resume=True)
    one_line(error, "config.json")


def test_damaged_checkpoints_get_one_line(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.load()
    run.log(loss=1.0)
    run.save({"rows": np.zeros((2, 3))}, step=1)
    run.close()
    path = tmp_path / "checkpoint.safetensors"
    whole = path.read_bytes()
    for cut in (0, 1, 8, 9, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        run = begin(tmp_path, resume=True)
        with pytest.raises(TapeteError) as error:
            run.load()
        one_line(error, "checkpoint")
        run.close()
    turned = bytearray(whole)
    turned[-3] ^= 1
    path.write_bytes(turned)
    run = begin(tmp_path, resume=True)
    with pytest.raises(TapeteError) as error:
        run.load()
    one_line(error, "checkpoint", "not those that were saved")
    run.close()
    nothing = hashlib.sha256().hexdigest()
    for wrong in ({}, {"metrics_length": -1}, {"metrics_length": 10**6}, {"seconds": "x"}, {"seconds": math.nan}):
        notes = {"metrics_length": 0, "seconds": 1.0, **wrong} if wrong else {}
        write_arrays(path, {}, {"format": CHECKPOINT, "sha256": nothing, "notes": notes})
        run = begin(tmp_path, resume=True)
        with pytest.raises(TapeteError) as error:
            run.load()
        one_line(error, "checkpoint")
        run.close()


def save_steps(folder: Path, *steps: int, **more: Any) -> None:
    """A run that logs and saves at these steps."""
    run = begin(folder, **more)
    run.load()
    for step in steps:
        run.log(loss=float(step))
        run.save({"rows": np.full(3, step)}, step=step)
    run.close()


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_the_newest_checkpoints_are_kept(tmp_path: Path, keep: int) -> None:
    save_steps(tmp_path, 1, 2, 3, 4, keep=keep)
    names = ["checkpoint.safetensors", "checkpoint-1.safetensors", "checkpoint-2.safetensors"][:keep]
    assert {path.name for path in tmp_path.glob("*checkpoint*")} == set(names)
    assert [read_arrays(tmp_path / name, CHECKPOINT)[0]["rows"][0] for name in names] == [4, 3, 2][:keep]


def test_where_the_newest_checkpoint_is_damaged_the_one_before_is_used(tmp_path: Path) -> None:
    save_steps(tmp_path, 1, 2)
    torn = (tmp_path / "checkpoint.safetensors").read_bytes()[:-1]
    (tmp_path / "checkpoint.safetensors").write_bytes(torn)
    said: list[str] = []
    run = begin(tmp_path, resume=True, say=said.append)
    checkpoint = run.load()
    assert checkpoint is not None
    assert (checkpoint.count("step"), checkpoint.take("rows", np.int64, 3).tolist()) == (1, [1, 1, 1])
    assert [line["loss"] for line in read_metrics(tmp_path)] == [1.0], "what was logged since did not happen"
    assert len(said) == 1
    assert "checkpoint.safetensors" in said[0]
    assert "goes on from checkpoint-1.safetensors" in said[0]
    run.save({"rows": np.full(3, 5)}, step=5)
    run.close()
    assert (tmp_path / "checkpoint.damaged").read_bytes() == torn, "nothing replaces it"
    again = begin(tmp_path, resume=True).load()
    assert again is not None
    assert again.count("step") == 5


def test_other_versions_are_told(tmp_path: Path) -> None:
    save_steps(tmp_path, 1)
    config = json.loads((tmp_path / "config.json").read_text())
    config["versions"]["numpy"] = "0.1"
    (tmp_path / "config.json").write_text(json.dumps(config))
    said: list[str] = []
    begin(tmp_path, resume=True, say=said.append).close()
    assert len(said) == 1
    assert f"numpy 0.1, not {np.__version__}" in said[0]


def test_what_is_taken_from_a_checkpoint_is_checked(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.load()
    run.save({"rows": np.zeros((2, 3)), "bad": np.array([np.inf])}, step=1)
    run.close()
    checkpoint = begin(tmp_path, resume=True).load()
    assert checkpoint is not None
    assert checkpoint.take("rows", np.float64, None, 3).shape == (2, 3)
    for name, kind, shape in (
        ("none", np.float64, (2, 3)),
        ("rows", np.float32, (2, 3)),
        ("rows", np.float64, (3, 3)),
        ("rows", np.float64, (6,)),
        ("bad", np.float64, (1,)),
    ):
        with pytest.raises(TapeteError, match=name):
            checkpoint.take(name, kind, *shape)
    with pytest.raises(TapeteError, match="step"):
        checkpoint.count("step", 0)


def test_every_learner_has_knobs_that_are_explained() -> None:
    assert {"mcts-value", "ntuple", "zero"} <= learn.learners().keys()
    for name, found in learn.learners().items():
        assert found.name == name
        assert len(found.about) > 20
        assert callable(found.training())
        assert len(found.knobs) > 5
        for knob in found.knobs:
            assert len(knob.about) > 10, f"{name}: {knob.name} says nothing"
            assert getattr(found.config(), knob.name) == knob.usual


def test_knobs_are_set_by_name() -> None:
    config = learn.configure("zero", ["games=3", "rate=0.5", "symmetries=false", "games=4"])
    assert (config.games, config.rate, config.symmetries) == (4, 0.5, False)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("zero", ["gamez=3"], ("gamez", "games=")),
        ("zero", ["games=many"], ("games", "whole number")),
        ("zero", ["games=0"], ("games", "between")),
        ("zero", ["games"], ("KEY=VALUE",)),
        ("mcts-value", ["opponent=me"], ("random", "mcts")),
        ("nothing", [], ("mcts-value", "zero")),
    ],
)
def test_wrong_knobs_get_one_line(name: str, settings: list[str], words: tuple[str, ...]) -> None:
    with pytest.raises(TapeteError) as error:
        learn.configure(name, settings)
    one_line(error, *words)


@pytest.mark.parametrize("learner", ["mcts-value", "zero"])
def test_a_game_that_does_not_fit_leaves_nothing_behind(tmp_path: Path, learner: str) -> None:
    result = CliRunner().invoke(app, ["train", "kuhn", "--with", learner, "--run", str(tmp_path / "run")])
    assert isinstance(result.exception, TapeteError)
    assert "kuhn" in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_the_command_trains_resumes_and_says_how_to_play(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    knobs = [
        "generations=1",
        "games=4",
        "tables=4",
        "simulations=4",
        "short=2",
        "channels=4",
        "blocks=1",
        "gate_games=2",
    ]
    first = ["train", "othello(size=4)", *knobs, "--with", "zero", "--run", folder]
    stopped = CliRunner().invoke(app, [*first, "--time", "0"])
    assert "--resume" in stopped.stdout
    assert "tapete play" not in stopped.stdout, "there is nothing to play against yet"
    done = CliRunner().invoke(app, ["train", "--run", folder, "--resume"])
    assert f"tapete play 'othello(size=4)' --against {folder}" in done.stdout
    wrong = CliRunner().invoke(app, ["train", "--run", folder, "--resume", "games=5"])
    assert "games=4" in str(wrong.exception)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["config"]["channels"] == 4


def test_all_of_a_run_is_on_the_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the lines of metrics before a checkpoint that counts them."""
    events = watch_disk(monkeypatch)
    run = begin(tmp_path / "run")
    run.load()
    config, folder = (run.folder / "config.json").stat().st_ino, run.folder.stat().st_ino
    assert events == [("disk", config), ("config.json", config), ("disk", folder)]
    events.clear()
    run.log(loss=1.0)
    run.save({"a": np.zeros(3)})
    metrics, saved = ((run.folder / f"{name}").stat().st_ino for name in ("metrics.jsonl", "checkpoint.safetensors"))
    assert events == [("disk", metrics), ("disk", saved), ("checkpoint.safetensors", saved), ("disk", folder)]


def test_a_network_that_is_trained_on_is_read_anew(tmp_path: Path) -> None:
    """Whoever plays by the folder of a run plays by what is there now, whatever the clock says."""
    game, thoughts = make("othello(size=4)"), []
    path = tmp_path / "network.safetensors"
    for seed in (1, 2, 1):
        Network.random(residual((3, 4, 4), 17, channels=4, blocks=1), Rng(seed), game=str(game)).save(path)
        os.utime(path, ns=(seed, seed))
        policy = load(f"{tmp_path}(50)", game)
        thought = policy.think(game.start().view(0), Rng(1))
        thoughts.append(thought.values)
    assert thoughts[0] == thoughts[2] != thoughts[1]


def test_a_solution_that_is_solved_on_is_read_anew(tmp_path: Path) -> None:
    kuhn, found = make("kuhn"), []
    for iterations in (10, 200):
        solve(kuhn, until=0.0, iterations=iterations, folder=tmp_path)
        solution = find(kuhn, tmp_path)
        assert solution is not None
        found.append(solution.about["iterations"])
    assert found == [10, 200]


WITHOUT = """
import sys
sys.modules["torch"] = None
from tapete.cli import main
sys.argv = ["tapete", *sys.argv[1:]]
main()
"""


def without_pytorch(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False)


def test_learners_are_listed_without_pytorch(tmp_path: Path) -> None:
    with_it, without = CliRunner().invoke(app, ["train"]).stdout.splitlines(), without_pytorch("train")
    assert without.returncode == 0
    lines = without.stdout.splitlines()
    hints = [line.strip() for line in lines if line not in with_it]
    assert hints == [
        f"{name} needs torch, which is not installed: pip install 'tapete[learn]'"
        for name in learn.learners()
        if name not in ("coevolution", "deep-cfr", "hindsight", "ntuple")
    ]
    assert [line for line in lines if line in with_it] == with_it
    for name, found in learn.learners().items():
        assert f"{name}: {found.about}" in lines
        for knob in found.knobs:
            assert any(line.strip().startswith(f"{knob.name}=") and line.endswith(knob.about) for line in lines)
    refused = without_pytorch("train", "othello", "--with", "zero", "--run", str(tmp_path / "run"))
    assert refused.returncode == 2
    assert refused.stderr == f"tapete: {next(hint for hint in hints if hint.startswith('zero'))}\n"
    assert not (tmp_path / "run").exists()


def test_listing_learners_imports_no_pytorch() -> None:
    code = "import sys; from tapete import learn; learn.learners(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_range_of_every_knob_is_kept() -> None:
    """One step beyond each end is refused, with the knob's name; the ends themselves are not."""
    for name, found in learn.learners().items():
        bounded = 0
        parts: Any = fields(found.config)
        for part in parts:
            for end, beyond in zip(part.metadata["range"], (-1, 1), strict=True):
                if math.isfinite(end):
                    bounded += 1
                    kind = type(part.default)
                    assert getattr(found.config(**{part.name: kind(end)}), part.name) == end
                    with pytest.raises(TapeteError, match=f"^{part.name} must be between"):
                        found.config(**{part.name: end + beyond * (1 if kind is int else 1e-3)})
        assert bounded > 10, name
