"""Co-evolution: the operators by what they must keep and change, planted errors, and small runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
from tapete.learn.coevolution.training import Training, rows_of, train
from tapete.learn.run import Run, read_metrics
from tests.conftest import Tapete
from tests.learn.pieces import run_in_pieces

TABLE = "holdem(players=10,rake=0.05,rake_cap=3)"
GENES = 400
SMALL = Config(replacements=4, generations=6, population=8, deals=3, test_deals=2, points=2520, seed=5)


def parents(draws: np.random.Generator) -> tuple[Any, Any]:
    """Two individuals that differ in every gene."""
    a = draws.integers(-MOST, 0, size=(GENES, 2), dtype=np.int8)
    b = draws.integers(1, MOST, size=(GENES, 2), dtype=np.int8)
    return a, b


def chosen(times: int, choose: Callable[[Any], None]) -> Any:
    """[times, GENES] genes that an operator has chosen, where dirt lay before."""
    genes = np.arange(times * GENES).reshape(times, GENES) % 2 == 0
    for row in genes:
        choose(row)
    return genes


def check_exchange(module: Any) -> None:
    """Each child has every gene of one parent or the other, whole, and the other child has what is left."""
    draws = np.random.default_rng(1)
    a, b = parents(draws)
    genes = draws.random(GENES) < 0.3
    first, second = np.empty_like(a), np.empty_like(b)
    module.exchange(*(individual.reshape(-1).view(np.int16) for individual in (first, second, a, b)), genes)
    assert (first[genes] == b[genes]).all()
    assert (first[~genes] == a[~genes]).all()
    assert (second[genes] == a[genes]).all()
    assert (second[~genes] == b[~genes]).all()


def check_random_point(module: Any) -> None:
    words, begins = Rng(2).words, set()
    for genes in chosen(2000, lambda genes: module.from_random_point(genes, words)):
        begin = int(np.argmax(genes))
        assert genes[begin:].all()
        assert not genes[:begin].any()
        begins.add(begin)
    assert {1, GENES - 1} <= begins <= set(range(1, GENES))
    assert len(begins) > 0.9 * GENES


def check_middle_of_used(module: Any) -> None:
    used = np.array([300, 310, 320, 330])
    (genes,) = chosen(1, lambda genes: module.from_middle(genes, used))
    assert np.array_equal(np.flatnonzero(genes), np.arange(320, GENES))
    (genes,) = chosen(1, lambda genes: module.from_middle(genes, used[:0]))
    assert not genes.any(), "who used nothing gives nothing away"


def check_random_genes(module: Any) -> None:
    words = Rng(4).words
    shares = chosen(300, lambda genes: module.random_genes(genes, GENES // 2, words)).mean(axis=0)
    assert abs(shares.mean() - (1 - np.exp(-0.5))) < 0.01  # of so many draws, with those that come twice
    assert shares.min() > 0.2
    assert shares.max() < 0.6


def check_used_genes(module: Any) -> None:
    words, used = Rng(5).words, np.arange(1, GENES, 4)
    shares = chosen(300, lambda genes: module.used_genes(genes, used, 50, words)).mean(axis=0)
    assert not np.delete(shares, used).any()
    assert abs(shares[used].mean() - (1 - np.exp(-0.5))) < 0.02
    assert not chosen(1, lambda genes: module.used_genes(genes, used[:0], 50, words)).any()


def check_choice(module: Any) -> None:
    """Each crossover has a number of its own, and is handed what it needs."""
    words, used = Rng(9).words, np.arange(1, GENES, 4)
    point, middle, anything, from_used = (
        chosen(20, partial(module.choose_genes, crossover=which, used=used, points=200, rng=words))
        for which in range(module.CROSSOVERS)
    )
    assert len({int(np.argmax(genes)) for genes in point}) > 10
    assert (middle == (np.arange(GENES) >= 201)).all()
    assert 0.35 < np.delete(anything, used, axis=1).mean() < 0.45
    assert not np.delete(from_used, used, axis=1).any()
    assert from_used[:, used].mean() > 0.8


def check_mutation(module: Any) -> None:
    words, used, genes = Rng(6).words, np.arange(40), np.ones(GENES, dtype=bool)
    changed = np.full((400, GENES, 2), 90, dtype=np.int8)
    for individual in changed:
        module.mutate(individual, used, 20, 20, genes, words)
    assert (changed[:, 40:] == 90).all()
    steps = changed[:, :40].astype(int) - 90
    assert steps.min() == -20, "a gene that is drawn twice goes no further"
    assert steps.max() == MOST - 90
    assert (steps[..., 0] != steps[..., 1]).any(), "each threshold goes its own way"
    assert abs((steps != 0).any(axis=2).mean() - (1 - np.exp(-0.5))) < 0.02
    assert abs((steps == -20).mean() - (1 - np.exp(-0.5)) / 41) < 0.003
    low = np.full((GENES, 2), -90, dtype=np.int8)
    module.mutate(low, used, 200, 20, genes, words)
    assert low.min() == -MOST
    before = low.copy()
    module.mutate(low, used[:0], 200, 20, genes, words)
    assert (low == before).all()


def check_founders(module: Any) -> None:
    """Those that are mutated before anybody has played: any genes, and as far as the variance says."""
    first = np.zeros((30, GENES, 2), dtype=np.int8)
    changed = module.mutated(first, mutations=GENES // 2, variance=0.1, rng=Rng(8)).astype(int)
    assert not first.any(), "a parent stays as it is"
    assert (changed.min(), changed.max()) == (-20, 20)
    assert 0.36 < (changed != 0).any(axis=2).mean() < 0.42
    assert (changed != changed[0]).any(axis=(1, 2))[1:].all()


def check_tournament(module: Any) -> None:
    words, fitness = Rng(7).words, np.array([3.0, 1.0, 2.0, 0.0])
    wins = np.bincount([module.tournament(fitness, 3, words) for _ in range(6000)], minlength=4)
    expected = [1 - (3 / 4) ** 3, (2 / 4) ** 3 - (1 / 4) ** 3, (3 / 4) ** 3 - (2 / 4) ** 3, (1 / 4) ** 3]
    assert np.abs(wins / 6000 - expected).max() < 0.03


def generation(module: Any, seed: int, mutations: int = 0) -> Any:
    """Children of nine individuals, of which each has its own threshold in all genes and its own used genes."""
    population = np.stack([np.full((GENES, 2), 10 * i, dtype=np.int8) for i in range(9)])
    used = np.arange(GENES) % 9 == np.arange(9)[:, None]
    return module.breed(
        population, np.arange(9.0), used, size=3, points=40, mutations=mutations, variance=0.01, rng=Rng(seed)
    )


def check_breed(module: Any) -> None:
    """All four crossovers come up, and children get their genes from parents that won their tournaments."""
    seen = set()
    for seed in range(40):
        children = generation(module, seed).astype(int)
        assert children.shape == (9, GENES, 2)
        assert children.mean() > 47, "the better have more children"
        assert not (children % 10).any()
        for one, other in zip(children[::2], children[1::2], strict=False):  # the last has no twin
            kinds = {*np.unique(one)}
            assert kinds == {*np.unique(other)}, "twins have the same parents"
            assert len(kinds) <= 2
            assert (one + other == sum(kinds) * (3 - len(kinds))).all(), "and what one lacks"
            changes = np.flatnonzero(np.diff(one[:, 0]))
            taken = {*(np.flatnonzero(one[:, 0] != np.median(one)) % 9)}
            assert len(taken) != 1 or taken == {np.median(one) // 10}, "genes that the first parent used"
            seen.add("none" if not len(changes) else "one cut" if len(changes) == 1 else "many")
    assert seen == {"none", "one cut", "many"}


def check_mutations(module: Any) -> None:
    """A child is mutated in genes that its own first parent used: the one that it has most genes of, or the first."""
    for seed in range(20):
        before, after = generation(module, seed)[:2], generation(module, seed, mutations=30)[:2]
        for child, twin in zip(after, before, strict=True):
            has_one_cut = len(np.flatnonzero(np.diff(twin[:, 0]))) == 1
            parent = (twin[0, 0] if has_one_cut else np.median(twin)) // 10
            moved = np.flatnonzero((child % 10 != 0).any(axis=1))
            assert len(moved) > 10
            assert {*(moved % 9)} == {parent}


CHECKS = [
    check_exchange, check_random_point, check_middle_of_used, check_random_genes, check_used_genes, check_choice,
    check_mutation, check_founders, check_tournament, check_breed, check_mutations,
]  # fmt: skip


def plain(old: str = "", new: str = "") -> ModuleType:
    """The operators as Python runs them, so that each can be asked alone; with something replaced."""
    source = Path(operators.__file__).read_text()
    assert old in source
    for place in ("compile", "rng"):
        source = source.replace(f"from tapete.core.{place} import", "from tests.learn.plain import")
    module = ModuleType("plain")
    exec(compile(source.replace(old, new) if old else source, "plain", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_operators(check: Callable[[Any], None]) -> None:
    check(plain())


def test_compiled_operators_do_as_they_are_written() -> None:
    written = plain()
    for seed in range(12):
        assert np.array_equal(generation(operators, seed, mutations=30), generation(written, seed, mutations=30))
    many = np.concatenate([generation(operators, seed) for seed in range(20)])
    terms: dict[str, Any] = {"size": 3, "points": 40, "mutations": 20, "variance": 0.1}
    born = [
        module.breed(many, np.arange(180.0), many[..., 0] > 40, **terms, rng=Rng(2), threads=threads)
        for module, threads in ((operators, 1), (operators, 3), (written, 1))
    ]
    assert np.array_equal(born[0], born[1])
    assert np.array_equal(born[0], born[2])
    assert len(np.unique(born[0], axis=0)) > 170, "no two litters are the same"
    first = many[:9]
    few: dict[str, Any] = {"mutations": 50, "variance": 0.1}
    assert np.array_equal(operators.mutated(first, **few, rng=Rng(3)), written.mutated(first, **few, rng=Rng(3)))


MUTANTS = [
    ("first[gene] = b[gene] if", "first[gene] = a[gene] if"),
    ("second[gene] = a[gene] if genes[gene] else b[gene]", "second[gene] = b[gene]"),
    ("for which in range(2):", "for which in range(1):"),
    ("if not genes[gene]:", "if True:"),
    ("            genes[gene] = True\n            for", "            for"),
    ("1 + below(rng, len(genes) - 1)", "below(rng, len(genes))"),
    ("1 + below(rng, len(genes) - 1)", "2 + below(rng, len(genes) - 2)"),
    ("genes[:point] = False", "pass"),
    ("used[len(used) // 2]", "len(genes) // 2"),
    ("used[len(used) // 2]", "used[0]"),
    ("genes[below(rng, len(genes))] = True", "genes[below(rng, len(genes) // 2)] = True"),
    ("genes[used[below(rng, len(used))]] = True", "genes[below(rng, len(used))] = True"),
    ("for _ in range(points if len(used) else 0)", "for _ in range(points // 2 if len(used) else 0)"),
    ("crossover == RANDOM_POINT", "crossover != RANDOM_POINT"),
    ("crossover == RANDOM_GENES", "crossover == USED_GENES"),
    ("round(variance * 200)", "round(variance * 100)"),
    ("below(rng, 2 * step + 1) - step", "below(rng, step + 1)"),
    ("below(rng, 2 * step + 1) - step", "below(rng, 2 * step) - step"),
    ("min(max(moved, -MOST), MOST)", "min(moved, MOST)"),
    ("min(max(moved, -MOST), MOST)", "moved"),
    ("changed = individuals.copy()", "changed = individuals"),
    ("fitness[drawn] > fitness[best]", "fitness[drawn] < fitness[best]"),
    ("range(size - 1)", "range(size - 2)"),
    ("rng.below(CROSSOVERS)", "rng.below(2)"),
    ("population[a], population[b], genes", "population[a], population[a], genes"),
    ("mutate(children[child + 1], used_b", "mutate(children[child + 1], used_a"),
    ("choose_genes(genes, crossover, used_a", "choose_genes(genes, crossover, used_b"),
    ("for _ in range(times if len(used) else 0)", "for _ in range(times // 2 if len(used) else 0)"),
]


def notices(check: Callable[[Any], None], module: Any) -> bool:
    try:
        check(module)
    except (AssertionError, IndexError, ValueError, TypeError, OverflowError):
        return True
    return False


@pytest.mark.parametrize(("old", "new"), MUTANTS)
def test_a_planted_error_is_caught(old: str, new: str) -> None:
    mutant = plain(old, new)
    assert any(notices(check, mutant) for check in CHECKS), "nobody noticed"


def test_rows_are_chosen_from_groups_as_if_they_were_one() -> None:
    draws = np.random.default_rng(1)
    groups = [draws.integers(100, size=(n, 3, 2)) for n in (4, 1, 6)]
    order = draws.permutation(11)[:7]
    assert np.array_equal(rows_of(groups, order), np.concatenate(groups)[order])


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
