"""From a game to a proven strategy: rounds put together, files, runs that are stopped and go on, the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tapete.agents.equilibrium import Equilibrium
from tapete.core import State, TapeteError, make
from tapete.core.arrays import read_arrays, write_arrays
from tapete.solve import DEFAULT, Strategy, file_name, find, solve, store
from tapete.solve import solution as solving
from tapete.solve.cfr import CFR
from tapete.solve.linear import solve_form
from tapete.solve.response import prove
from tapete.solve.schemes import SCHEMES
from tapete.solve.sequence_form import SequenceForm
from tests.conftest import Tapete
from tests.oracles.trees import Probabilities, plans, strategy_of

TAPETE = str(Path(sys.executable).with_name("tapete"))


def lp_value(name: str) -> float:
    return solve_form(SequenceForm.of(make(name))).value


def agents_strategy(name: str) -> Probabilities:
    """What the equilibrium agent does at every information set of a game, asked by way of views."""
    game = make(name)
    agent = Equilibrium(game)
    found: Probabilities = {}

    def walk(state: State) -> None:
        actions = state.actions()
        if state.player >= 0 and len(actions) > 1:
            key = state.infoset(state.player)
            if key not in found:
                said = agent.at(state.view(state.player))
                found[key] = [said[action] for action in actions]
        for action in actions:
            walk(state.copy().apply(action))

    walk(game.start())
    return found


@pytest.mark.parametrize("vectors_from", [64, 0], ids=["sequence form", "vectors"])
@pytest.mark.parametrize("name", ["dudo(2,1,2)", "dudo(2,2,1)"])
def test_rounds_put_together_are_an_equilibrium_of_the_whole_game(name, vectors_from, monkeypatch):
    """The whole game is played out through the contract, without any notion of rounds."""
    monkeypatch.setattr(solving, "SMALL", vectors_from)
    whole = SequenceForm.of(make(name))
    exact = solve_form(whole).value
    progress, _ = solve(make(name), until=1e-3)
    assert progress.proof.exploitability <= 1e-3
    assert progress.proof.lower - 1e-9 <= exact <= progress.proof.upper + 1e-9
    proof = prove(whole, plans(whole, agents_strategy(name)))
    assert proof.exploitability <= progress.proof.exploitability + 1e-9
    assert proof == pytest.approx(progress.proof, abs=1e-9)  # not a bound only: the same numbers


def test_rounds_of_rounds():
    """Two against two dice is too large to be played out; its first round has exact values at its ends."""
    won, lost = -lp_value("dudo(2,1,2)"), lp_value("dudo(2,1,2)")
    exact = lp_value(f"dudo(2,2,2,one_round=true,win={won!r},lose={lost!r})")
    proof = solve(make("dudo(2,2,2)"), until=1e-4)[0].proof
    assert proof.lower - 1e-9 <= exact <= proof.upper + 1e-9
    assert proof.exploitability <= 1e-4
    assert sorted(path.name for path in store().iterdir()) == [
        "dudo(2,1,1).safetensors",
        "dudo(2,1,2).safetensors",
        "dudo(2,2,2).safetensors",
    ]


@pytest.mark.slow
def test_a_larger_game_of_rounds_as_a_whole():
    progress, _ = solve(make("dudo(3,1,2)"), until=1e-3)
    whole = SequenceForm.of(make("dudo(3,1,2)"))
    run = CFR(whole, SCHEMES["dcfr"])
    run.run(300)
    proof = run.prove()
    assert proof.exploitability < 5e-3
    assert proof.lower <= progress.proof.upper
    assert progress.proof.lower <= proof.upper


def test_a_coarse_solution_of_what_follows_still_gives_a_proof(monkeypatch):
    """What the games that follow lose counts in full: the interval is wider, and right."""
    name, exact = "dudo(2,1,2)", lp_value("dudo(2,1,2)")
    monkeypatch.setattr(solving, "SHARE", 300.0)
    progress, _ = solve(make(name), until=1e-3, iterations=2000)
    after = find(make("dudo(2,1,1)"))
    assert after is not None
    assert after.about["exploitability"] > 0.05
    assert progress.proof.lower <= exact <= progress.proof.upper
    whole = SequenceForm.of(make(name))
    assert prove(whole, plans(whole, agents_strategy(name))) == pytest.approx(progress.proof, abs=1e-9)


def test_what_is_known_is_not_solved_again():
    seen: list[str] = []
    solve(make("dudo(2,1,2)"), until=1e-2, watch=lambda progress: seen.append(progress.game))
    assert {*seen} == {"dudo(2,1,1)", "dudo(2,1,2)"}
    seen.clear()
    solve(make("dudo(2,1,2)"), until=1e-2, watch=lambda progress: seen.append(progress.game))
    assert {*seen} == {"dudo(2,1,2)"}
    seen.clear()
    solve(make("dudo(2,1,2)"), until=1e-4, watch=lambda progress: seen.append(progress.game))
    assert {*seen} == {"dudo(2,1,1)", "dudo(2,1,2)"}, "not good enough for a closer proof"


@pytest.mark.parametrize(("name", "value"), [("kuhn", -1 / 18), ("ocp(12)", -0.0618686869), ("domino(2,2)", 2.4)])
def test_a_solution_and_its_file(tmp_path, name, value):
    progress, strategy = solve(make(name), until=1e-4, folder=tmp_path)
    assert strategy is not None
    assert progress.proof.exploitability <= 1e-4
    assert progress.proof.lower - 1e-9 <= value <= progress.proof.upper + 1e-9
    path = tmp_path / file_name(make(name))
    assert [*tmp_path.iterdir()] == [path], "no checkpoint is left"
    again = Strategy.load(path)
    assert again.probs.tobytes() == strategy.probs.tobytes()
    assert again.about["parameters"] == dict(make(name).spec.parameters)
    expected = progress.to_json()
    del expected["seconds"]
    assert {key: again.about[key] for key in expected} == expected
    assert again.about["algorithm"] == DEFAULT
    assert len(again.keys) == progress.information_sets


def test_engines_of_both_kinds_end_where_they_should(tmp_path):
    progress, _ = solve(make("leduc"), iterations=25, until=0, folder=tmp_path)
    assert progress.iterations == 25
    progress, _ = solve(make("ocp(12)"), seconds=0, folder=tmp_path)
    assert progress.iterations == 0


class Stop(Exception):
    """Pulls the plug."""


@pytest.mark.parametrize("name", ["leduc", "ocp(12)", "dudo(3,1,2)"])
def test_a_run_that_is_stopped_ends_with_the_same_bytes(tmp_path, monkeypatch, name):
    """Stopped after every proof, again and again; in Dudo also while it solves what follows."""
    straight, halting = tmp_path / "straight", tmp_path / "halting"
    expected, _ = solve(make(name), algorithm="pdcfr+", until=2e-3, folder=straight)
    save = solving._Run._save_checkpoint
    stopped: list[str] = []

    def save_and_stop(run: solving._Run) -> None:
        save(run)
        stopped.append(f"{run.game} {run.engine.iterations}")
        raise Stop

    monkeypatch.setattr(solving._Run, "_save_checkpoint", save_and_stop)
    while True:
        try:
            progress, _ = solve(
                make(name), algorithm="pdcfr+", until=2e-3, folder=halting, resume=True, checkpoint_every=0
            )
            break
        except Stop:
            assert [*halting.glob("*.checkpoint")]
    assert len({*stopped}) == len(stopped) > 3, "every time it gets further"
    assert {text.split()[0] for text in stopped} == {
        path.name.removesuffix(".safetensors") for path in straight.iterdir()
    }
    assert progress.iterations == expected.iterations
    assert {path.name: path.read_bytes() for path in halting.iterdir()} == {
        path.name: path.read_bytes() for path in straight.iterdir()
    }


def test_a_checkpoint_of_something_else_is_refused(tmp_path, monkeypatch):
    def stop(run: solving._Run) -> None:
        save(run)
        raise Stop

    save = solving._Run._save_checkpoint
    monkeypatch.setattr(solving._Run, "_save_checkpoint", stop)
    path = tmp_path / "x.safetensors"
    for name, algorithm in (("kuhn", "cfr"), ("ocp(12)", "cfr+")):
        with pytest.raises(Stop):
            solve(make("kuhn"), algorithm="dcfr", save=path, checkpoint_every=0)
        with pytest.raises(TapeteError, match=r"x.safetensors.checkpoint is of kuhn by dcfr"):
            solve(make(name), algorithm=algorithm, save=path, resume=True)
    note = tmp_path / "x.safetensors.checkpoint"
    arrays, header = read_arrays(note, solving.CHECKPOINT)
    for wrong in (
        {"regrets0": arrays["regrets0"][1:]},
        {"gains1": arrays["gains1"].astype(np.float32)},
        {"x": np.ones(1)},
    ):
        write_arrays(note, {**arrays, **wrong}, header)
        with pytest.raises(TapeteError, match="does not fit"):
            solve(make("kuhn"), algorithm="dcfr", save=path, resume=True)
    note.write_bytes(note.read_bytes()[:-1])
    with pytest.raises(TapeteError, match="can't read"):
        solve(make("kuhn"), algorithm="dcfr", save=path, resume=True)
    solve(make("kuhn"), algorithm="dcfr", save=path)  # without --resume it is not looked at, and in the end it is gone
    assert [*tmp_path.iterdir()] == [path]


def test_a_run_that_is_killed_ends_with_the_same_bytes(tmp_path):
    """A real process, and SIGKILL, which nothing can prepare for."""
    line = [TAPETE, "solve", "leduc", "--until", "0", "--iterations", "12000", "--checkpoint-every", "0", "--json"]
    straight, halting = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    done = subprocess.run([*line, "--save", str(straight)], capture_output=True, text=True, check=True)
    note = halting.with_name("b.safetensors.checkpoint")
    before = b""
    for _ in range(2):
        process = subprocess.Popen([*line, "--save", str(halting), "--resume"], stdout=subprocess.DEVNULL)
        while process.poll() is None and (not note.exists() or note.read_bytes() == before):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was too fast to be killed"
        assert not halting.exists()
        before = note.read_bytes()
    again = subprocess.run([*line, "--save", str(halting), "--resume"], capture_output=True, text=True, check=True)
    assert halting.read_bytes() == straight.read_bytes()
    assert not note.exists()
    one, two = json.loads(done.stdout), json.loads(again.stdout)
    assert {**one, "seconds": 0} == {**two, "seconds": 0}
    assert one["iterations"] == 12_000


def test_files_in_the_store_are_what_they_say(tmp_path):
    solve(make("kuhn"), folder=tmp_path)
    os.rename(tmp_path / "kuhn.safetensors", tmp_path / "leduc.safetensors")
    with pytest.raises(TapeteError, match="is a solution of kuhn, not of leduc"):
        find(make("leduc"), tmp_path)
    assert find(make("kuhn"), tmp_path) is None
    assert find(make("kuhn")) is not None, "ships with the package"


@pytest.mark.parametrize("name", ["kuhn", "leduc", "ocp(13)", "dudo(6,1,1)", "domino(2,2)"])
def test_solutions_that_ship_are_as_good_as_they_say(name):
    form, shipped = SequenceForm.of(make(name)), find(make(name))
    assert shipped is not None
    strategy = strategy_of(shipped, np.concatenate(form.keys).tolist())
    proof = prove(form, plans(form, strategy))
    assert proof.exploitability == pytest.approx(shipped.about["exploitability"], abs=1e-7)
    assert proof.exploitability < 1.01e-5


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("battle", "battle is not zero-sum; only zero-sum games of two players can be solved"),
        ("doudizhu", "doudizhu has 3 players; only zero-sum games of two can be solved"),
        ("holdem(players=2)", "mccfr"),
    ],
)
def test_games_that_can_not_be_solved(name, why):
    with pytest.raises(TapeteError, match=why):
        solve(make(name))
    with pytest.raises(TapeteError, match="there is no algorithm 'x'; there are cfr, cfr\\+, linear"):
        solve(make("kuhn"), algorithm="x")


KEYS = [
    "game", "algorithm", "iterations", "seconds", "exploitability", "exploitability_percent", "value", "lower", "upper",
    "histories", "information_sets",
]  # fmt: skip


def test_the_command_in_json(tapete: Tapete) -> None:
    done = tapete("solve", "kuhn", "--json", "--until", "0.01%", "--algorithm", "cfr+")
    assert (done.status, done.err) == (0, "")
    result = json.loads(done.out)
    assert sorted(result) == sorted(KEYS)
    assert (result["game"], result["algorithm"]) == ("kuhn", "cfr+")
    assert (result["histories"], result["information_sets"]) == (55, 12)
    assert result["lower"] <= result["value"] <= result["upper"]
    assert result["lower"] <= -1 / 18 <= result["upper"]
    assert result["exploitability"] == pytest.approx(result["upper"] - result["lower"])
    assert result["exploitability_percent"] == pytest.approx(100 * result["exploitability"])
    assert result["exploitability_percent"] <= 0.01
    strategy = find(make("kuhn"))
    assert strategy is not None
    assert strategy.about["algorithm"] == "cfr+"


def test_the_command_for_people(tapete: Tapete, tmp_path: Path) -> None:
    path = tmp_path / "my kuhn.safetensors"
    done = tapete("solve", "kuhn", "--save", str(path))
    assert done.status == 0
    assert "kuhn: value -0.05" in done.out
    assert str(path) in done.out
    assert "55 histories, 12 information sets" in done.err
    assert path.exists()
    shown = tapete("solve", "--show", "kuhn: J Q bet", "--save", str(path))
    assert shown.status == 0
    first, *rows = shown.out.splitlines()
    assert "Q" in first
    assert "J" not in first.replace("Q J", "")
    shares = {row.split()[0]: float(row.split()[1]) for row in rows}
    assert shares.keys() == {"fold", "call"} or shares.keys() == {"pass", "bet"}
    assert sum(shares.values()) == pytest.approx(100, abs=0.02)
    assert max(shares.values()) == pytest.approx(200 / 3, abs=3)


def test_show_in_json(tapete: Tapete) -> None:
    tapete("solve", "dudo(2,1,2)", "--json")
    for arguments in (["--show", "dudo(2,1,2): 1 1-2"], ["dudo(2,1,2)", "--show", "1 1-2"]):
        done = tapete("solve", *arguments, "--json")
        assert done.status == 0, done.err
        result = json.loads(done.out)
        assert (result["game"], result["seat"]) == ("dudo(2,1,2)", 0)
        assert len(result["probabilities"]) == 6
        assert sum(result["probabilities"].values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "which game"),
        (["chess"], "chess"),
        (["kuhn", "--algorithm", "x"], "there is no algorithm 'x'"),
        (["kuhn", "--until", "x"], "--until must be a share"),
        (["kuhn", "--until", "-1%"], "--until must be a share"),
        (["kuhn", "--until", "nan"], "--until must be a share"),
        (["kuhn", "--iterations", "0"], "--iterations"),
        (["kuhn", "--checkpoint-every", "-1"], "--checkpoint-every"),
        (["kuhn", "--save", "/dev/null/x"], "can't write"),
        (["battle"], "not zero-sum"),
        (["--show", "J Q pass"], "not a state"),
        (["--show", "kuhn"], "chance"),
        (["--show", "kuhn: J"], "chance"),
        (["--show", "kuhn: J Q pass pass"], "the game is over"),
        (["--show", "kuhn: J J"], "can't be played"),
        (["leduc", "--show", "kuhn: J Q"], "'kuhn: J Q' is a state of kuhn, not of leduc"),
        (["--show", "truco:"], ""),
        (["--show", "kuhn: J Q", "--save", "/nowhere"], "there is no file /nowhere"),
        (["--show", "domino(2,3):"], ""),
    ],
)
def test_wrong_input_gets_one_line(tapete: Tapete, arguments: list[str], why: str) -> None:
    done = tapete("solve", *arguments)
    assert done.status == 2
    assert done.out == ""
    *_, last = done.err.strip().splitlines()
    assert last.startswith("tapete: ")
    assert why in last
