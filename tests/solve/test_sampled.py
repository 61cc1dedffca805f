"""Monte Carlo CFR by the command: proven where it can be, honest elsewhere, stopped by time and memory, and resumed."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from tapete.agents.equilibrium import Equilibrium
from tapete.core import Rng, TapeteError, make
from tapete.core.arrays import read_arrays, write_arrays
from tapete.solve import Strategy, find, solve
from tapete.solve import solution as solving
from tapete.solve.mccfr import MCCFR, plans
from tapete.solve.response import prove
from tapete.solve.sampled import ALGORITHMS
from tapete.solve.sequence_form import SequenceForm
from tests.conftest import Tapete
from tests.oracles import trees
from tests.solve.test_solution import agents_strategy

COMMAND = [sys.executable, "-c", "from tapete.cli import main; main()", "solve"]
HOLDEM = "holdem(players=3)"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_small_game_is_proven(tmp_path: Path, algorithm: str) -> None:
    progress, strategy = solve(make("kuhn"), algorithm=algorithm, until=0.05, folder=tmp_path)
    assert progress.proof.exploitability <= 0.05
    assert progress.proof.lower <= -1 / 18 <= progress.proof.upper
    assert (progress.histories, progress.information_sets) == (55, 12)
    assert strategy is not None
    form = SequenceForm.of(make("kuhn"))
    said = trees.strategy_of(strategy, np.concatenate(form.keys).tolist())
    assert prove(form, trees.plans(form, said)) == pytest.approx(progress.proof, abs=1e-6), (
        "the file is what was proven"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["kuhn.safetensors"], "no checkpoint is left"
    assert (strategy.about["algorithm"], strategy.about["sampled"]) == (algorithm, True)


def test_plans_by_arrays_are_plans_by_loops() -> None:
    """Of a strategy that doesn't know all of the game: elsewhere, any move."""
    form, run = SequenceForm.of(make("leduc")), MCCFR(make("leduc"), "outcome", Rng(1))
    run.run(40)
    strategy = run.strategy()
    assert 20 < run.infosets < form.infosets
    said = {}
    for plex, keys in zip(form.plexes, form.keys, strict=True):
        for key, n in zip(keys.tolist(), np.diff(plex.first).tolist(), strict=True):
            known = strategy.lookup(key)
            said[key] = [1 / n] * n if known is None else known.tolist()
    for ours, theirs in zip(plans(form, strategy), trees.plans(form, said), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_another_seed_draws_otherwise(tmp_path: Path) -> None:
    found = [
        solve(make("kuhn"), algorithm="mccfr-external", until=0, iterations=50, folder=tmp_path, seed=seed)[1]
        for seed in (1, 1, 2)
    ]
    bits = [strategy.probs.tobytes() for strategy in found if strategy]
    assert bits[0] == bits[1] != bits[2]


def test_rounds_are_part_of_the_game() -> None:
    """No shorter game is solved, and the agent plays all rounds by the one strategy that there is."""
    name = "dudo(2,1,2)"
    progress, _ = solve(make(name), algorithm="mccfr-external", until=0.2)
    assert find(make("dudo(2,1,1)")) is None
    whole = SequenceForm.of(make(name))
    proof = prove(whole, trees.plans(whole, agents_strategy(name)))
    assert proof == pytest.approx(progress.proof, abs=1e-6)
    solve(make("dudo(2,1,1)"), algorithm="mccfr-external", until=0.01)
    solve(make(name), until=0.05)
    after = find(make("dudo(2,1,1)"))
    assert after is not None
    assert "sampled" not in after.about, "what has no rounds in it is of no use to the game before it"


def test_what_is_too_large_is_not_proven_and_goes_on(tmp_path: Path) -> None:
    save, game = tmp_path / "x", make(HOLDEM)
    progress, strategy = solve(game, algorithm="mccfr-external", iterations=4, save=save)
    assert strategy is not None
    assert math.isinf(progress.proof.exploitability)
    assert progress.histories == 0
    assert progress.information_sets == len(strategy.keys) > 1000
    assert (tmp_path / "x.checkpoint").exists()
    solve(game, algorithm="mccfr-external", iterations=9, save=save, resume=True)
    solve(game, algorithm="mccfr-external", iterations=9, save=tmp_path / "straight")
    assert save.read_bytes() == (tmp_path / "straight").read_bytes()
    agent, rng, known = Equilibrium(game, Strategy.load(save)), Rng(1), set[bool]()
    for _ in range(30):
        state = game.start().deal(rng)
        while not state.over:
            view = state.view(state.player)
            said = agent.at(view)
            assert sum(said.values()) == pytest.approx(1)
            if strategy.lookup(view.infoset) is None and len(said) > 1:
                assert len(set(said.values())) == 1, "any move"
            known.add(strategy.lookup(view.infoset) is not None)
            state.apply(rng.choice(view.actions())).deal(rng)
    assert known == {True, False}


def test_a_strategy_that_was_not_sampled_must_know_everything() -> None:
    view = make("kuhn").read("J Q").view(0)
    nothing = np.zeros(0)
    about = {"game": "kuhn"}
    empty = Strategy(nothing.astype(np.uint64), nothing.astype(np.uint8), nothing.astype(np.float32), about)
    with pytest.raises(TapeteError, match="not one of today's rules"):
        Equilibrium(make("kuhn"), empty).at(view)
    about["sampled"] = True  # type: ignore[assignment]
    assert Equilibrium(make("kuhn"), empty).at(view) == {0: 0.5, 1: 0.5}


def test_it_stops_before_memory_runs_out(tmp_path: Path) -> None:
    progress, strategy = solve(
        make(HOLDEM), algorithm="mccfr-external", iterations=10**6, memory=8e6, save=tmp_path / "x"
    )
    assert progress.is_full
    assert strategy is not None
    assert progress.iterations < 10**6
    assert progress.bytes < 8e6
    assert (tmp_path / "x.checkpoint").exists()
    more, _ = solve(
        make(HOLDEM), algorithm="mccfr-external", iterations=progress.iterations + 5, save=tmp_path / "x", resume=True
    )
    assert (more.is_full, more.iterations) == (False, progress.iterations + 5)


def test_it_stops_in_the_middle_and_ends_with_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two proofs, too: a long run would not look up for minutes otherwise."""
    order = {"algorithm": "mccfr-external", "until": 0.0, "iterations": 3000}
    solve(make("leduc"), **order, save=tmp_path / "whole")  # type: ignore[arg-type]
    monkeypatch.setattr(solving, "MOMENT", 1e-9)
    stop, cuts = Event(), list[int]()
    save = solving._Run._save_checkpoint

    def stop_soon(run: solving._Run) -> None:
        save(run)
        cuts.append(run.engine.iterations)
        stop.set()

    monkeypatch.setattr(solving._Run, "_save_checkpoint", stop_soon)
    for _ in range(4):
        stop.clear()
        with pytest.raises(KeyboardInterrupt):
            solve(make("leduc"), **order, save=tmp_path / "cut", resume=True, checkpoint_every=0, stop=stop)  # type: ignore[arg-type]
    assert cuts == sorted(cuts)
    assert {*cuts} - {solving.next_proof(cut - 1) for cut in cuts}, "not only where something was proven"
    monkeypatch.undo()
    solve(make("leduc"), **order, save=tmp_path / "cut", resume=True)  # type: ignore[arg-type]
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_run_that_is_killed_ends_with_the_same_bytes(tmp_path: Path) -> None:
    line = [*COMMAND, "leduc", "--algorithm", "mccfr-external", "--until", "0", "--iterations", "60000"]
    line += ["--checkpoint-every", "0", "--json"]
    straight, halting = tmp_path / "a", tmp_path / "b"
    subprocess.run([*line, "--save", str(straight)], capture_output=True, check=True)
    note = halting.with_name("b.checkpoint")
    process = subprocess.Popen([*line, "--save", str(halting), "--resume"], stdout=subprocess.DEVNULL)
    while process.poll() is None and not note.exists():
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was too fast to be killed"
    assert not halting.exists()
    subprocess.run([*line, "--save", str(halting), "--resume"], capture_output=True, check=True)
    assert halting.read_bytes() == straight.read_bytes()


def test_checkpoints_that_do_not_fit(tmp_path: Path) -> None:
    save, game = tmp_path / "x", make(HOLDEM)
    solve(game, algorithm="mccfr-external", iterations=2, save=save)
    note = tmp_path / "x.checkpoint"
    with pytest.raises(TapeteError, match=r"is of holdem.* by mccfr-external"):
        solve(game, algorithm="mccfr-outcome", iterations=2, save=save, resume=True)
    arrays, header = read_arrays(note, solving.CHECKPOINT)
    for wrong in ({"offsets": arrays["offsets"][1:]}, {"rng": arrays["rng"][:1]}, {"iterations": np.array([7])}):
        write_arrays(note, {**arrays, **wrong}, header)
        with pytest.raises(TapeteError, match="does not fit this game"):
            solve(game, algorithm="mccfr-external", iterations=4, save=save, resume=True)


def test_the_command_for_people(tapete: Tapete, tmp_path: Path) -> None:
    path = str(tmp_path / "h")
    done = tapete("solve", HOLDEM, "--algorithm", "mccfr-external", "--iterations", "2", "--save", path)
    assert done.status == 0, done.err
    assert "nothing is proven" in done.out
    assert "information sets were met" in done.out
    assert "any move is played" in done.out
    assert "exploitability" not in done.out + done.err
    shown = tapete("solve", HOLDEM, "--show", "2c 3d 4h 5s 6c 7d", "--save", path)
    assert shown.status == 0, shown.err
    assert "no walk has come here: any move" in shown.out


def test_the_command_in_json(tapete: Tapete, tmp_path: Path) -> None:
    arguments = ["solve", HOLDEM, "--algorithm", "mccfr-outcome", "--iterations", "5", "--json"]
    done = tapete(*arguments, "--save", str(tmp_path / "h"))
    assert (done.status, done.err) == (0, "")
    result = json.loads(done.out)
    assert (result["iterations"], result["exploitability"], result["value"], result["histories"]) == (
        5,
        None,
        None,
        None,
    )
    assert result["information_sets"] > 10
    small = json.loads(tapete("solve", "kuhn", "--algorithm", "mccfr-external", "--until", "5%", "--json").out)
    assert small["exploitability"] <= 0.05


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([HOLDEM, "--algorithm", "mccfr-external"], "so say when to stop, by --time or --iterations"),
        ([HOLDEM, "--algorithm", "mccfr-chance", "--time", "1"], "chance sampling is for two"),
        (["kuhn", "--algorithm", "mccfr"], "there are cfr, cfr+, linear, dcfr, pcfr+, pdcfr+, mccfr-external"),
        (["kuhn", "--algorithm", "mccfr-external", "--memory", "-1"], "--memory"),
        (["battle", "--algorithm", "mccfr-outcome"], "battle is not zero-sum: nothing can be proven"),
    ],
)
def test_wrong_input_gets_one_line(tapete: Tapete, arguments: list[str], why: str) -> None:
    done = tapete("solve", *arguments)
    assert (done.status, done.out) == (2, "")
    *_, last = done.err.strip().splitlines()
    assert last.startswith("tapete: ")
    assert why in last
