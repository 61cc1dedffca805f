"""DQN: what it learns from, that it finds best responses, and that planted mistakes are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tapete.core import Rng, make
from tapete.core.players import random
from tapete.learn import dqn
from tapete.learn.buffers import Ring
from tapete.learn.dqn import Batch, Config, Training, columns, decisions, exploration, explore, goals, replay
from tapete.learn.episodes import END, Episodes, Moment, play_games, scale_of, self_play_tables
from tapete.learn.policies import greedy_policy
from tapete.learn.run import Run, read_metrics
from tapete.nets import Network
from tapete.nets.torch import to_torch
from tapete.nets.zoo import heads
from tapete.solve.examiner import Examiner
from tests.learn.pieces import run_in_pieces

KUHN, LEDUC = make("kuhn"), make("leduc")
TINY = Config(iterations=5, tables=16, steps=2, batch=16, buffer=100, hidden=8, layers=1, target=2, every=2)
QUICK = Config(iterations=80, tables=128, steps=8, batch=128, hidden=32, rate=0.005, target=4)


def begin(folder: Path, config: Config, game: Any = KUHN, **more: Any) -> Run:
    return Run(folder, "dqn", game, config, **more)


def any_legal(seed: int) -> Callable[[Moment], Any]:
    rng = np.random.default_rng(seed)
    return lambda moment: ((rng.random(moment.mask.shape) * moment.mask).argmax(axis=1), {})


def uniform(seen: Any, mask: Any) -> Any:
    return mask / mask.sum(axis=1, keepdims=True)


def some_episodes(seed: int = 1) -> Episodes:
    return play_games(self_play_tables(LEDUC, 60, Rng(seed)), any_legal(seed))


def some_network(seed: int) -> Any:
    return to_torch(heads(LEDUC.spec.observation_size, (16,), q=LEDUC.spec.actions), Rng(seed))


def q_of(module: Any, seen: Any) -> Any:
    return module(torch.from_numpy(seen)).detach().numpy()


class EveryRow:
    """Draws every row of a ring, in order."""

    def integers(self, most: int, size: int) -> Any:
        return (most - 1 - np.arange(size)) % most  # as `replay` counts, from the newest back


def worked_out(episodes: Episodes, target: Any, chooser: Any, gamma: float) -> list[float]:
    """What each decision was worth, from the definitions and game by game: no links, no batches."""
    scale, found = scale_of(LEDUC), []
    for i in range(len(episodes)):
        game, seat = episodes.games[i], episodes.seats[i]
        later = [j for j in range(i + 1, len(episodes)) if (episodes.games[j], episodes.seats[j]) == (game, seat)]
        if not later:
            found.append(episodes.payoffs[game, seat] / scale)
            continue
        seen = episodes.seen[later[0]][None]
        legal = np.flatnonzero(episodes.mask[later[0]])
        best = max(legal, key=lambda action: q_of(chooser, seen)[0, action])
        found.append(gamma * float(q_of(target, seen)[0, best]))
    return found


def difference(double: bool) -> float:
    """How far what `dqn` says that decisions are worth is from what they are."""
    episodes, target, chooser = some_episodes(), some_network(1), some_network(2)
    ring = Ring(1000, columns(LEDUC))
    ring.add(dqn.decisions(episodes))
    batch = dqn.replay(ring, len(episodes), EveryRow())  # type: ignore[arg-type]
    said = dqn.goals(batch, target, 0.9, chooser if double else None).numpy()
    return float(abs(said - worked_out(episodes, target, chooser if double else target, 0.9)).max())


@pytest.mark.parametrize("double", [False, True])
def test_what_a_decision_was_worth_is_worked_out_right(double: bool) -> None:
    assert difference(double) < 1e-6


def any_move_counts(batch: Batch, *more: Any) -> Any:
    """The wrong mask in the maximum."""
    return goals(batch._replace(legal=torch.ones_like(batch.legal)), *more)


def on_through_the_end(batch: Batch, *more: Any) -> Any:
    return goals(batch._replace(over=torch.zeros_like(batch.over)), *more)


def paid_to_the_first_seat(episodes: Episodes) -> Any:
    """The wrong sign for the other seat."""
    return {**decisions(episodes), "rewards": np.where(episodes.seats == 0, 1, -1) * episodes.rewards}


def whoever_is_next(episodes: Episodes) -> Any:
    """A stale seat: what follows is the next decision at the table, whose seat may be the other one."""
    ahead = np.zeros(len(episodes), dtype=np.int64)
    for i in range(len(episodes)):
        same = np.flatnonzero(episodes.games[i + 1 :] == episodes.games[i])
        ahead[i] = same[0] + 1 if len(same) and episodes.next[i] != END else 0
    return {**decisions(episodes), "ahead": ahead}


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("goals", any_move_counts),
        ("goals", on_through_the_end),
        ("decisions", paid_to_the_first_seat),
        ("decisions", whoever_is_next),
    ],
)
def test_planted_mistakes_are_found(name: str, mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dqn, name, mistake)
    assert difference(double=False) > 0.01


def test_successors_are_still_there_when_the_ring_has_gone_round() -> None:
    ring = Ring(150, columns(LEDUC))
    rows: dict[bytes, list[tuple[bytes, bool]]] = {}
    for seed in range(6):
        episodes = some_episodes(seed)
        ring.add(decisions(episodes))
        for i, after in enumerate(episodes.next):
            follows = episodes.seen[after].tobytes() if after != END else b""
            rows.setdefault(episodes.seen[i].tobytes(), []).append((follows, after == END))
    batch = replay(ring, 2000, np.random.default_rng(1))
    assert ring.seen > 5 * ring.capacity
    assert batch.over.any()
    assert not batch.over.all()
    for seen, after, over in zip(batch.seen.numpy(), batch.after.numpy(), batch.over.numpy(), strict=True):
        assert (b"" if over else after.tobytes(), bool(over)) in rows[seen.tobytes()]


def test_moves_at_random_are_legal_and_as_many_as_asked_for() -> None:
    module, episodes = some_network(3), some_episodes(3)
    seen, mask = np.tile(episodes.seen, (30, 1)), np.tile(episodes.mask, (30, 1))
    best = greedy_policy(module)(seen, mask).argmax(axis=1)
    for share in (0.0, 0.3, 1.0):
        taken = explore(module, seen, mask, share, np.random.default_rng(1))
        assert mask[np.arange(len(mask)), taken].all()
        other = share * (1 - 1 / mask.sum(axis=1))  # a move at random may be the best one
        error = 4 * np.sqrt(max(float((other * (1 - other)).sum()), 0.0))
        assert (taken != best).sum() == pytest.approx(float(other.sum()), abs=error)


def test_exploration_falls_along_a_line() -> None:
    config = Config(iterations=100, explore=1.0, explore_last=0.2, explore_until=0.5)
    assert [exploration(config, i) for i in (0, 25, 50, 99)] == pytest.approx([1.0, 0.6, 0.2, 0.2])


def share_of_best(game: Any, seat: int, config: Config, folder: Path) -> float:
    """What the published network wins against random play on a seat, as a share of what can be won."""
    examiner = Examiner(game)
    dqn.respond(game, seat, random, config, begin(folder, config, game))
    network = Network.load(folder / "network.safetensors")
    assert network.about["plays"] == "q"

    def response(seen: Any, mask: Any) -> Any:
        return np.eye(mask.shape[1])[np.where(mask, network.forward(seen), -np.inf).argmax(axis=1)]

    gain = examiner.value(response, uniform) if seat == 0 else -examiner.value(uniform, response)
    return gain / examiner.best_response(uniform, seat)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_best_response_to_random_play_is_found_in_kuhn(seat: int, tmp_path: Path) -> None:
    assert share_of_best(KUHN, seat, QUICK, tmp_path) > 0.98


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_a_best_response_to_random_play_is_found_in_leduc(seat: int, tmp_path: Path) -> None:
    assert share_of_best(LEDUC, seat, Config(), tmp_path) > 0.98


def test_who_does_not_learn_is_not_learned_from(tmp_path: Path) -> None:
    run = begin(tmp_path, TINY)
    run.load()
    training = Training(KUHN, TINY, run, [random, None])
    training.iterate()
    assert (training.ring.columns["seen"][: len(training.ring), 1] == 1).all(), "all of it is what seat 1 saw"


def test_self_play_learns_to_beat_random_play(tmp_path: Path) -> None:
    run = begin(tmp_path, QUICK)
    run.load()
    training = Training(KUHN, QUICK, run)
    examiner = Examiner(KUHN)
    while training.iteration < QUICK.iterations:
        training.iterate()
    learned = greedy_policy(training.module)
    gained = examiner.value(learned, uniform) - examiner.value(uniform, learned)
    assert gained > 0.4, "of 11/12 that a best response would gain"


def test_a_run_that_is_stopped_anywhere_ends_the_same(tmp_path: Path) -> None:
    dqn.train(KUHN, TINY, begin(tmp_path / "whole", TINY))
    stops = run_in_pieces(lambda run: dqn.train(KUHN, TINY, run), lambda **more: begin(tmp_path / "cut", TINY, **more))
    assert stops == 4
    files = [(tmp_path / name / "network.safetensors").read_bytes() for name in ("whole", "cut")]
    assert files[0] == files[1]
    lines = [[{**line, "seconds": 0} for line in read_metrics(tmp_path / name)] for name in ("whole", "cut")]
    assert lines[0] == lines[1]
    assert len(lines[0]) == 3


def test_three_may_learn_at_a_table(tmp_path: Path) -> None:
    game = make("holdem(players=3)")
    dqn.train(game, TINY, begin(tmp_path, TINY, game))
    assert read_metrics(tmp_path)[-1]["games"] == 80
