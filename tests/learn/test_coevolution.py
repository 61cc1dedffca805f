"""Co-evolution: the operators by what they must keep and change, planted errors, and small runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tapete.agents import load
from tapete.core import Rng, TapeteError, make
from tapete.core.breeding import MOST
from tapete.games.holdem import histories
from tapete.games.holdem.chromosome import Chromosome
from tapete.games.holdem.histories.statistics import study
from tapete.learn.coevolution import Config, operators
from tapete.learn.coevolution.separable import Separable
from tapete.learn.coevolution.training import Training, train
from tapete.learn.run import Run, read_metrics
from tests.conftest import Tapete
from tests.learn.pieces import run_in_pieces

TABLE = "holdem(players=10,rake=0.05,rake_cap=3)"
GENES = 400
SMALL = Config(replacements=4, generations=6, population=8, deals=3, test_deals=2, points=2520, seed=5)


def parents(draws: np.random.Generator) -> tuple[Any, Any, Any]:
    """Two individuals that differ in every gene, and the used genes of the first."""
    a = draws.integers(-MOST, 0, size=(GENES, 2), dtype=np.int8)
    b = draws.integers(1, MOST, size=(GENES, 2), dtype=np.int8)
    return a, b, np.isin(np.arange(GENES), draws.choice(GENES, size=60, replace=False))


def check_exchange(module: Any) -> None:
    """Each child has every gene of one parent or the other, whole, and the other child has what is left."""
    draws = np.random.default_rng(1)
    a, b, _used = parents(draws)
    genes = draws.random(GENES) < 0.3
    first, second = module.exchange(a, b, genes)
    assert (first[genes] == b[genes]).all()
    assert (first[~genes] == a[~genes]).all()
    assert (second[genes] == a[genes]).all()
    assert (second[~genes] == b[~genes]).all()


def check_random_point(module: Any) -> None:
    draws = np.random.default_rng(2)
    begins = set()
    for _ in range(2000):
        genes = module.from_random_point(np.zeros(GENES, dtype=bool), 9, draws)
        begin = int(np.argmax(genes))
        assert genes[begin:].all()
        assert not genes[:begin].any()
        begins.add(begin)
    assert {1, GENES - 1} <= begins <= set(range(1, GENES))
    assert len(begins) > 0.9 * GENES


def check_middle_of_used(module: Any) -> None:
    draws = np.random.default_rng(3)
    used = np.zeros(GENES, dtype=bool)
    used[[300, 310, 320, 330]] = True
    genes = module.from_middle_of_used(used, 9, draws)
    assert np.array_equal(np.flatnonzero(genes), np.arange(320, GENES))
    assert not module.from_middle_of_used(~used & False, 9, draws).any(), "who used nothing gives nothing away"


def check_random_genes(module: Any) -> None:
    draws = np.random.default_rng(4)
    used = np.arange(GENES) < 5
    chosen = np.mean([module.random_genes(used, GENES // 2, draws) for _ in range(300)], axis=0)
    assert abs(chosen.mean() - (1 - np.exp(-0.5))) < 0.01  # of so many draws, with those that come twice
    assert chosen.min() > 0.2
    assert chosen.max() < 0.6


def check_used_genes(module: Any) -> None:
    draws = np.random.default_rng(5)
    used = np.arange(GENES) % 4 == 1
    chosen = np.mean([module.used_genes(used, 50, draws) for _ in range(300)], axis=0)
    assert not chosen[~used].any()
    assert abs(chosen[used].mean() - (1 - np.exp(-0.5))) < 0.02
    assert not module.used_genes(used & False, 50, draws).any()


def check_mutation(module: Any) -> None:
    draws = np.random.default_rng(6)
    used = np.arange(GENES) < 40
    first = np.full((GENES, 2), 90, dtype=np.int8)
    changed = np.stack([module.mutate(first, used, 20, 0.1, draws) for _ in range(400)]).astype(int)
    assert (first == 90).all(), "a parent stays as it is"
    assert (changed[:, ~used] == 90).all()
    steps = changed[:, used] - 90
    assert steps.min() == -20
    assert steps.max() == MOST - 90
    assert (steps[..., 0] != steps[..., 1]).any(), "each threshold goes its own way"
    assert 0.25 < (steps != 0).any(axis=2).mean() < 0.42


def check_tournament(module: Any) -> None:
    draws = np.random.default_rng(7)
    wins = np.bincount([module.tournament(np.array([3.0, 1.0, 2.0, 0.0]), 3, draws) for _ in range(6000)], minlength=4)
    expected = [1 - (3 / 4) ** 3, (2 / 4) ** 3 - (1 / 4) ** 3, (3 / 4) ** 3 - (2 / 4) ** 3, (1 / 4) ** 3]
    assert np.abs(wins / 6000 - expected).max() < 0.03


def check_breed(module: Any) -> None:
    """All four crossovers come up, and children get their genes from parents that won their tournaments."""
    seen = set()
    for seed in range(40):
        draws = np.random.default_rng(seed)
        population = np.stack([np.full((GENES, 2), i, dtype=np.int8) for i in range(8)])
        fitness = np.arange(8.0)
        used = np.tile(np.arange(GENES) % 7 == 0, (8, 1))
        children = module.breed(population, fitness, used, size=3, points=40, mutations=0, variance=0.1, draws=draws)
        assert children.shape == population.shape
        assert children.mean() > 4.2, "the better have more children"
        for child in children:
            changes = np.flatnonzero(np.diff(child[:, 0]))
            seen.add("one cut" if len(changes) == 1 else "used" if set(child[::7, 0]) != set(child[1::7, 0]) else "any")
    assert {"one cut", "used", "any"} <= seen


CHECKS = [
    check_exchange, check_random_point, check_middle_of_used, check_random_genes, check_used_genes, check_mutation,
    check_tournament, check_breed,
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_operators(check: Callable[[Any], None]) -> None:
    check(operators)


MUTANTS = [
    (
        "np.where(genes, pairs_b, pairs_a), np.where(genes, pairs_a, pairs_b)",
        "np.where(genes, pairs_b, pairs_a), pairs_a",
    ),
    ("np.where(genes, pairs_b, pairs_a),", "np.where(genes, pairs_a, pairs_b),"),
    ("draws.integers(1, len(used))", "draws.integers(0, len(used))"),
    (">= draws.integers(1, len(used))", "> draws.integers(1, len(used))"),
    ("places[len(places) // 2]", "len(used) // 2"),
    ("places[len(places) // 2]", "places[0]"),
    ("return _drawn(np.arange(len(used)), points", "return _drawn(np.flatnonzero(used), points"),
    ("return _drawn(np.flatnonzero(used), points", "return _drawn(np.arange(len(used)), points"),
    ("size=points)]", "size=points // 2)]"),
    ("used_genes(used, times, draws)", "random_genes(used, times, draws)"),
    ("round(variance * 200)", "round(variance * 100)"),
    ("draws.integers(-step, step,", "draws.integers(0, step,"),
    ("size=(len(places), 2)", "size=(len(places), 1)"),
    ("np.clip(moved, -MOST, MOST)", "moved"),
    ("changed = individual.copy()", "changed = individual"),
    ("np.argmax(fitness[drawn])", "np.argmin(fitness[drawn])"),
    ("size=size)", "size=size - 1)"),
    ("CROSSOVERS[draws.integers(len(CROSSOVERS))]", "CROSSOVERS[draws.integers(2)]"),
    ("exchange(population[a], population[b],", "exchange(population[a], population[a],"),
]


def notices(check: Callable[[Any], None], module: Any) -> bool:
    try:
        check(module)
    except (AssertionError, IndexError, ValueError, TypeError):
        return True
    return False


@pytest.mark.parametrize(("old", "new"), MUTANTS)
def test_a_planted_error_is_caught(old: str, new: str) -> None:
    source = Path(operators.__file__).read_text()
    assert source.count(old) >= 1
    mutant = ModuleType("mutant")
    exec(compile(source.replace(old, new), "mutant", "exec"), mutant.__dict__)
    assert any(notices(check, mutant) for check in CHECKS), "nobody noticed"


def bred(folder: Path, config: Config = SMALL, **terms: Any) -> Path:
    run = Run(folder, "coevolution", make(TABLE), config, **terms)
    try:
        train(make(TABLE), config, run)
    finally:
        run.close()
    return folder


def test_a_run_is_the_same_on_any_threads_and_in_pieces(tmp_path: Path) -> None:
    whole, two = bred(tmp_path / "one"), bred(tmp_path / "two", threads=2)
    cut = tmp_path / "cut"

    def begin(**terms: Any) -> Run:
        return Run(cut, "coevolution", make(TABLE), SMALL, **terms)

    assert run_in_pieces(lambda run: train(make(TABLE), SMALL, run), begin, steps=2) > 1
    timed = ("seconds", "hands_per_second", "simulated_per_second")
    lines = [[{k: v for k, v in line.items() if k not in timed} for line in read_metrics(x)] for x in (whole, two, cut)]
    assert lines[0] == lines[1] == lines[2]
    assert lines[0]
    players = [(folder / "network.safetensors").read_bytes() for folder in (whole, two, cut)]
    assert players[0] == players[1] == players[2]
    about = Chromosome.load(whole / "network.safetensors").about
    assert (about["game"], about["learner"]) == (str(make(TABLE)), "coevolution")
    state = make(TABLE).start().deal(Rng(1))
    assert sum(load(str(whole), make(TABLE)).think(state.view(2), Rng(1)).probabilities.values()) == 1


def test_the_other_optimiser_finds_what_wins_and_remembers_by_what_it_was_told() -> None:
    first = operators.random_individuals(12, 30, np.random.default_rng(1))
    wanted = np.where(np.arange(30) % 2, 50, -50)[:, None]
    before = str(np.random.get_state())  # noqa: NPY002

    def far(children: Any) -> Any:
        return np.abs(children.astype(float) - wanted).mean(axis=(1, 2))

    separable = Separable(first, np.random.default_rng(2))
    begins = far(first).mean()
    for _ in range(150):
        children = separable.children()
        assert children.dtype == np.int8
        assert np.abs(children.astype(int)).max() <= MOST
        separable.tell(-far(children))
    again = Separable(first, np.random.default_rng(2))
    again.remember(separable.told)
    other = Separable(first, np.random.default_rng(2))
    other.remember([-gains for gains in separable.told])
    ends = [one.children() for one in (separable, again, other)]
    assert np.array_equal(ends[0], ends[1])
    assert far(ends[0]).mean() < begins / 4 < far(ends[2]).mean()
    assert str(np.random.get_state()) == before, "no other stream is touched"  # noqa: NPY002


def test_a_run_of_the_other_optimiser_is_the_same_in_pieces(tmp_path: Path) -> None:
    knobs = {**SMALL.__dict__, "optimiser": "cma", "replacements": 4, "deals": 2}
    config = Config(**knobs)
    whole, cut = bred(tmp_path / "one", config), tmp_path / "cut"

    def begin(**terms: Any) -> Run:
        return Run(cut, "coevolution", make(TABLE), config, **terms)

    assert run_in_pieces(lambda run: train(make(TABLE), config, run), begin, steps=2) > 1
    players = [(folder / "network.safetensors").read_bytes() for folder in (whole, cut)]
    assert players[0] == players[1]
    with pytest.raises(TapeteError, match="optimiser must be one of genetic, cma"):
        Config(optimiser="adam")


def test_hands_of_a_run_are_written(tapete: Tapete, tmp_path: Path) -> None:
    """Those of the best at the end, also of a run that is over, or every hand; the best wins what was logged."""
    knobs = ("replacements=1", "generations=2", "population=4", "deals=2", "test_deals=1")
    begin = ("train", TABLE, "--with", "coevolution", "--run", str(tmp_path / "run"), *knobs)
    done = tapete(*begin, "--histories", str(tmp_path / "all.txt"), "--every-hand")
    assert done.status == 0, done.err
    last = read_metrics(tmp_path / "run")[-1]
    found = study(histories.read(tmp_path / "all.txt", problem=print)).players
    assert {name.partition(" ")[0] for name in found} == {"individual", "trainer"}
    assert sum(s.counts["hands"] for name, s in found.items() if "individual" in name) == last["hands"] == 2400
    done = tapete(*begin, "--resume", "--histories", str(tmp_path / "best.phhs"))
    assert done.status == 0, done.err
    best = study(histories.read(tmp_path / "best.phhs", problem=print)).players["best"]
    assert best.counts["hands"] == 200
    for wrong, said in (
        (("train", "kuhn", "--with", "coevolution", "--histories", "a.txt"), "hand histories are for hold'em"),
        (("train", TABLE, "--with", "hindsight", "--histories", "a.txt"), "--histories is for coevolution"),
        (("train", TABLE, "--with", "coevolution", "--every-hand"), "needs --histories"),
    ):
        refused = tapete(*wrong, "--run", str(tmp_path / "none"))
        assert refused.status == 2
        assert said in refused.err
    assert not (tmp_path / "none").exists()


def test_who_wins_replaces_the_worst(tmp_path: Path) -> None:
    training = Training(make(TABLE), SMALL, Run(tmp_path / "run", "coevolution", make(TABLE), SMALL))
    training.get_ready()
    training.judge_all()
    assert (np.diff(training.fitness) <= 0).all()
    before, fitness = training.trainers.copy(), training.fitness.copy()
    training.trainer_gains[0] = [5, 4, -9, 3, 2, 1, 0, -1, -2]
    for best, beats in ((5.0, False), (5.5, True)):
        training.fitness[0] = best
        assert training.beats_trainers == beats
    training.trainer_gains[0] -= 20
    for best, beats in ((0.0, False), (-1.0, False), (1.0, True)):
        training.fitness[0] = best
        assert training.beats_trainers == beats
    training.replace_worst()
    changed = [i for i in range(9) if not np.array_equal(before[i], training.trainers[i])]
    assert changed == [2]
    assert np.array_equal(training.trainers[2], training.population[0])
    assert np.array_equal(training.hall, training.population[:1])
    training.fitness[:] = fitness
    training.judge_all()
    best = training.fitness[0]
    for _ in range(2):
        training.next_generation()
        assert training.fitness[0] >= best, "a generation never loses its best"
        best = training.fitness[0]


def test_a_last_player_is_bred_against_players_from_files(tmp_path: Path) -> None:
    trainer = bred(tmp_path / "trainer")
    config = Config(
        **{
            **SMALL.__dict__,
            "trainers": "+".join([str(trainer)] * 9),
            "hall": 0,
            "guests": 3,
            "pool": 5,
            "generations": 3,
        }
    )
    folder = bred(tmp_path / "last", config)
    assert read_metrics(folder)[-1]["generation"] == 3
    with pytest.raises(TapeteError, match="trainers must be 9 players, not 1"):
        bred(tmp_path / "few", Config(trainers=str(trainer)))
    with pytest.raises(TapeteError, match="leave no seat"):
        bred(tmp_path / "full", Config(hall=5, guests=4))
    with pytest.raises(TapeteError, match="can't be bred"):
        train(make("kuhn"), SMALL, Run(tmp_path / "kuhn", "coevolution", make("kuhn"), SMALL))
    assert not (tmp_path / "few").exists()
    assert not (tmp_path / "kuhn").exists()
