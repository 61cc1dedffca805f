"""NFSP: who plays what in which game, what the average is made of, and that it approaches an equilibrium."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from tapete.core import Game, make
from tapete.learn import nfsp
from tapete.learn.dqn import decisions
from tapete.learn.episodes import Episodes
from tapete.learn.nfsp import Config, Training
from tapete.learn.policies import greedy_policy, softmax_policy
from tapete.learn.run import Run, read_metrics
from tapete.nets import Network
from tapete.solve.examiner import Examiner
from tests.learn.pieces import run_in_pieces

KUHN, LEDUC = make("kuhn"), make("leduc")
TINY = Config(
    iterations=5,
    explorers=0.0,
    tables=16,
    steps=2,
    policy_steps=2,
    batch=16,
    buffer=100,
    reservoir=30,
    hidden=8,
    target=2,
    every=2,
)


def training_of(folder: Path, config: Config, game: Game = LEDUC) -> Training:
    run = Run(folder, "nfsp", game, config)
    run.load()
    return Training(game, config, run)


def played(training: Training) -> Episodes:
    return training.play(np.random.default_rng(1))


def test_a_seat_keeps_to_its_mode_for_a_game_and_eta_is_how_often_it_is_the_best_response(tmp_path: Path) -> None:
    config = replace(TINY, tables=4000, eta=0.3)
    episodes = played(training_of(tmp_path, config))
    modes: dict[tuple[int, int], set[bool]] = {}
    for game, seat, best in zip(episodes.games, episodes.seats, episodes.notes["best"], strict=True):
        modes.setdefault((game, seat), set()).add(bool(best))
    assert all(len(mode) == 1 for mode in modes.values())
    count = sum(mode == {True} for mode in modes.values())
    assert stats.binomtest(count, len(modes), 0.3).pvalue > 1e-6
    pairs = [(modes.get((game, 0)), modes.get((game, 1))) for game in range(4000)]
    both = sum(pair == ({True}, {True}) for pair in pairs)
    assert stats.binomtest(both, sum(None not in pair for pair in pairs), 0.09).pvalue > 1e-6, (
        "seats draw by themselves"
    )


def test_best_responses_are_greedy_and_the_average_is_drawn(tmp_path: Path) -> None:
    config = replace(TINY, tables=3000, eta=0.5, explore=0.0)
    training = training_of(tmp_path, config)
    episodes = played(training)
    best, rows = episodes.notes["best"], np.arange(len(episodes))
    greedy = greedy_policy(training.best)(episodes.seen, episodes.mask).argmax(axis=1)
    assert (episodes.actions[best] == greedy[best]).all()
    said = softmax_policy(training.average)(episodes.seen, episodes.mask)[~best]
    drawn, expected = episodes.actions[~best], said[:, 1].sum()
    error = 4 * float(np.sqrt((said[:, 1] * (1 - said[:, 1])).sum()))
    assert int((drawn == 1).sum()) == pytest.approx(float(expected), abs=error)
    assert episodes.mask[rows, episodes.actions].all()


def what_the_average_is_made_of(training: Training) -> tuple[int, int]:
    """Rows in the reservoir that are what best responses did, and all its rows."""
    episodes = played(training)
    training.remember(episodes)
    best = episodes.notes["best"]
    wanted = {(row.tobytes(), int(a)) for row, a in zip(episodes.seen[best], episodes.actions[best], strict=True)}
    reservoir = training.reservoir
    kept = zip(reservoir.columns["seen"][: len(reservoir)], reservoir.columns["actions"], strict=False)
    assert len(training.ring) == len(episodes), "what moves are worth is learned from all of them"
    return sum((row.tobytes(), int(action)) in wanted for row, action in kept), len(reservoir)


def test_the_average_is_made_of_what_best_responses_did_and_of_nothing_else(tmp_path: Path) -> None:
    config = replace(TINY, tables=300, eta=0.2, reservoir=10_000, buffer=10_000)
    training = training_of(tmp_path, config)
    good, rows = what_the_average_is_made_of(training)
    assert 0 < good == rows
    nobody = training_of(tmp_path / "nobody", replace(config, eta=0.0))
    assert what_the_average_is_made_of(nobody) == (0, 0)
    everybody = training_of(tmp_path / "everybody", replace(config, eta=1.0))
    assert what_the_average_is_made_of(everybody) == (len(everybody.ring),) * 2


def test_a_reservoir_of_everything_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: what the average policy did itself is averaged too."""

    def remember(training: Training, episodes: Episodes) -> None:
        rows = decisions(episodes)
        training.ring.add(rows)
        training.reservoir.add({name: rows[name] for name in training.reservoir.columns})

    monkeypatch.setattr(Training, "remember", remember)
    config = replace(TINY, tables=300, eta=0.2, reservoir=10_000, buffer=10_000)
    good, rows = what_the_average_is_made_of(training_of(tmp_path, config))
    assert good < rows


def test_without_best_responses_there_is_nothing_to_imitate(tmp_path: Path) -> None:
    training = training_of(tmp_path, replace(TINY, eta=0.0))
    before = softmax_policy(training.average)(*some_rows())
    training.iterate()
    assert (softmax_policy(training.average)(*some_rows()) == before).all()


def test_imitation_is_by_cross_entropy_over_legal_moves(tmp_path: Path) -> None:
    training = training_of(tmp_path, replace(TINY, hidden=16))
    with torch.no_grad():
        for weight in training.average.parameters():
            weight.mul_(3.0)  # an opinion, or an illegal move would hardly count
    seen, mask = some_rows()
    narrow = np.flatnonzero(~mask.all(axis=1))[:8]
    rows = {"seen": seen[narrow], "mask": mask[narrow], "actions": mask[narrow].argmax(axis=1).astype(np.int32)}

    def said() -> Any:
        return softmax_policy(training.average)(rows["seen"], rows["mask"])[np.arange(8), rows["actions"]]

    before = said()
    found = nfsp.imitate(training.average, training.average_optimiser, rows, 1)
    assert found == pytest.approx(-np.log(before).mean(), rel=1e-4)
    for _ in range(20):
        nfsp.imitate(training.average, training.average_optimiser, rows, 1)
    assert -np.log(said()).mean() < found - 0.01, "what was done becomes more likely"


def some_rows() -> tuple[Any, Any]:
    examiner = Examiner(LEDUC)
    return examiner.seen, examiner.mask


def test_a_run_that_is_stopped_anywhere_ends_the_same(tmp_path: Path) -> None:
    nfsp.train(KUHN, TINY, Run(tmp_path / "whole", "nfsp", KUHN, TINY))
    stops = run_in_pieces(
        lambda run: nfsp.train(KUHN, TINY, run), lambda **more: Run(tmp_path / "cut", "nfsp", KUHN, TINY, **more)
    )
    assert stops == 4
    files = [(tmp_path / name / "network.safetensors").read_bytes() for name in ("whole", "cut")]
    assert files[0] == files[1]
    assert Network.load(tmp_path / "cut" / "network.safetensors").about["plays"] == "policy"
    lines = [[{**line, "seconds": 0} for line in read_metrics(tmp_path / name)] for name in ("whole", "cut")]
    assert lines[0] == lines[1]


def test_three_may_learn_at_a_table(tmp_path: Path) -> None:
    game = make("holdem(players=3)")
    nfsp.train(game, TINY, Run(tmp_path, "nfsp", game, TINY))
    assert read_metrics(tmp_path)[-1]["games"] == 80


def test_who_explores_learns_from_it_alone_and_is_not_averaged(tmp_path: Path) -> None:
    config = replace(TINY, tables=2000, eta=0.5, explorers=0.5, explore=1.0)
    training = training_of(tmp_path, config)
    episodes = played(training)
    best, learned = episodes.notes["best"], episodes.notes["learned"]
    keys = episodes.games * 2 + episodes.seats
    who = {key: set(learned[keys == key].tolist()) for key in np.unique(keys)[:200]}
    assert all(len(mode) == 1 for mode in who.values()), "all that a seat decides in a game, or nothing"
    dropped = set(episodes.games[~learned].tolist())
    explored = np.isin(episodes.games, list(dropped))
    assert stats.binomtest(len(dropped), 2000, 0.5).pvalue > 1e-6
    assert not (best & explored).any()
    greedy = greedy_policy(training.best)(episodes.seen, episodes.mask).argmax(axis=1)
    assert (episodes.actions[best] == greedy[best]).all(), "best responses make no random moves"
    at_random = learned & explored
    assert 0.3 < (episodes.actions[at_random] == greedy[at_random]).mean() < 0.6
    training.remember(episodes)
    assert training.ring.seen == learned.sum()
    assert training.reservoir.seen == best.sum()


def test_the_average_approaches_the_equilibrium_of_kuhn(tmp_path: Path) -> None:
    """From 0.9167, where all moves are as likely; docs/algorithms/nfsp.md has where it ends."""
    config = Config(
        iterations=300, tables=256, steps=8, buffer=6000, hidden=64, layers=2, rate=0.005, policy_rate=0.005
    )
    training = training_of(tmp_path, config, KUHN)
    examiner = Examiner(KUHN)
    while training.iteration < config.iterations:
        training.iterate()
    assert examiner.prove(softmax_policy(training.average)).exploitability < 0.2
