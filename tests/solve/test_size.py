"""What can't be solved is said before the work, in one line, and leaves nothing behind."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapete.core import TapeteError, make
from tapete.perft import perft
from tapete.solve import Progress, find, public_tree, size, solve, store
from tapete.solve import solution as solving
from tapete.solve.public_tree import PublicTree
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.size import check_ends, count_choices
from tests.conftest import Tapete


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("truco", "ways to end or more, where 8,000,000 are the most"),
        ("truco(hand=true)", "ways to end or more"),
        ("othello", "10^5"),
        ("holdem", "tapete play 'holdem' --against best) and so does what samples it"),
        ("domino(6,7)", "too large to be solved"),
        ("doudizhu", "doudizhu has 3 players; only zero-sum games of two can be solved"),
        ("holdem(players=4)", "has 4 players"),
        ("holdem(rake=0.05)", "is not zero-sum; only zero-sum games of two players can be solved"),
        ("dilemma", "is not zero-sum"),
    ],
)
def test_a_game_that_can_not_be_solved_says_why_at_once(name, why, tapete: Tapete, monkeypatch, tmp_path):
    """At once: neither are its deals listed, nor is it played out."""

    def fail(*_: object) -> None:
        raise AssertionError("work was begun")

    monkeypatch.setattr("tapete.solve.sequence_form._deal", fail)
    monkeypatch.setattr("tapete.solve.sequence_form._flatten", fail)
    done = tapete("solve", name, "--save", str(tmp_path / "new" / "x.safetensors"))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"tapete: {name} ")
    assert why in done.err
    assert done.err.count("\n") == 1
    assert [*tmp_path.iterdir()] == [], "nor is a folder made for its solution"


def test_a_search_is_offered_where_nothing_is_hidden():
    with pytest.raises(TapeteError, match="--against best") as error:
        SequenceForm.of(make("othello"))
    assert "mccfr" not in str(error.value)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "dudo(3,1,1)", "domino(2,2)", "ocp(12)", "othello(4)", "rps"])
def test_estimates_are_right_on_average(name, monkeypatch):
    """Knuth's: the mean of many is the number of ends below the deals that were drawn, which here are all."""
    game = make(name)
    kept = []

    def descend_and_keep(*arguments: Any) -> None:
        descend(*arguments)
        kept.append(arguments)

    monkeypatch.setattr(size, "ESTIMATES", 40)
    monkeypatch.setattr(size, "_descend", descend_and_keep)
    check_ends(game, 10**9)
    ((_, roots, _, _, estimates),) = kept
    ends = sum(perft(type(game.start())(game, root.copy(), [])).terminals for root in roots)
    error = estimates.std() / math.sqrt(len(estimates))
    assert estimates.mean() == pytest.approx(ends, abs=5 * error + 1e-9)
    assert estimates.mean() == pytest.approx(ends, rel=0.2)


descend = size._descend


def test_a_limit_is_a_limit():
    game = make("leduc")
    ends = perft(game.start(), merge=False).terminals
    assert SequenceForm.of(game, limit=ends).histories > ends
    with pytest.raises(TapeteError, match=f"more than {ends - 1:,} ways to end"):
        SequenceForm.of(game, limit=ends - 1)
    with pytest.raises(TapeteError, match=r"10\^4 ways to end or more, where 100 are the most"):
        SequenceForm.of(game, limit=100)


def test_deals_are_listed_up_to_a_limit(monkeypatch):
    for most in (30, 29):
        monkeypatch.setattr("tapete.solve.sequence_form.DEALS", most)
        if most == 30:
            assert SequenceForm.of(make("leduc")).infosets == 936
        else:
            with pytest.raises(TapeteError, match="leduc is too large to be solved: it has more than 29 deals"):
                SequenceForm.of(make("leduc"))


@pytest.mark.parametrize("name", ["kuhn", "ocp(70)", "dudo(3,2,2,one_round=true)"])
def test_moves_of_a_public_tree_are_counted_by_one_pair_of_hands(name):
    public = PublicTree.of(make(name))
    root = public.game.start().apply(int(public.deals[0][0])).apply(int(public.deals[1][1])).data
    edges = len(public.tree.child)
    assert count_choices(public.game, root, edges) == edges
    assert count_choices(public.game, root, edges - 1) == -1


def test_a_tree_that_does_not_fit_into_memory_is_refused_before_what_follows_is_solved(monkeypatch):
    monkeypatch.setattr(public_tree, "physical_memory", lambda: 10**6)
    seen: list[str] = []
    with pytest.raises(TapeteError, match=r"^dudo\(4,2,2\) is too large .* this machine's 0.001 GB of memory"):
        solve(make("dudo(4,2,2)"), watch=lambda progress: seen.append(progress.game))
    assert seen == []
    assert not store().exists()
    monkeypatch.setattr(public_tree, "physical_memory", lambda: 10**9)
    solve(make("dudo(3,2,2)"), until=0.1)


def test_private_hands_with_chance_after_the_deal_are_solved_in_sequence_form(monkeypatch):
    monkeypatch.setattr(solving, "SMALL", 4)
    progress, _ = solve(make("leduc"), iterations=50, until=0)
    assert progress.information_sets == 936
    assert progress.proof.lower < -0.0856 < progress.proof.upper


class Clock:
    """Every look at it takes ten seconds."""

    def __init__(self) -> None:
        self.ticks = itertools.count(step=10)

    def perf_counter(self) -> float:
        return float(next(self.ticks))


def test_time_is_that_of_all_that_has_to_be_solved(monkeypatch):
    """A game that follows a round gets half of what is left, and so on."""
    monkeypatch.setattr(solving, "time", Clock())
    last: dict[str, Progress] = {}
    solve(make("dudo(2,2,2)"), until=0, seconds=600, watch=lambda progress: last.update({progress.game: progress}))
    assert [*last] == ["dudo(2,1,1)", "dudo(2,1,2)", "dudo(2,2,2)"]
    assert all(progress.iterations >= 1 for progress in last.values())
    for name, most in (("dudo(2,1,1)", 150), ("dudo(2,1,2)", 300), ("dudo(2,2,2)", 600)):
        assert last[name].seconds <= most + 50, name


def test_without_time_for_it_a_better_solution_stays_in_the_store(monkeypatch):
    solve(make("dudo(2,1,1)"), until=1e-3)
    before = (store() / "dudo(2,1,1).safetensors").read_bytes()
    progress, _ = solve(make("dudo(2,1,2)"), until=1e-6, seconds=0)
    assert (store() / "dudo(2,1,1).safetensors").read_bytes() == before
    assert progress.iterations == 0
    assert progress.proof.lower <= progress.proof.value <= progress.proof.upper
    fine = find(make("dudo(2,1,1)"))
    assert fine is not None
    uniform, _ = solve(make("dudo(2,1,2)"), until=1e-6, seconds=0, folder=store() / "empty")
    assert progress.proof.exploitability < uniform.proof.exploitability, "and it counts"
    assert np.isfinite(uniform.proof.exploitability)


@pytest.mark.parametrize("place", ["/proc/none/x.safetensors", "FOLDER", "FILE/x.safetensors"])
def test_a_place_that_can_not_be_written_is_refused_before_the_work(place, tmp_path, tapete: Tapete, monkeypatch):
    (tmp_path / "file").write_text("mine")
    path = place.replace("FOLDER", str(tmp_path)).replace("FILE", str(tmp_path / "file"))
    monkeypatch.setattr(solving, "_solve", lambda *_: pytest.fail("work was begun"))
    done = tapete("solve", "leduc", "--save", path)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"tapete: can't write {path}: ")
    assert done.err.count("\n") == 1
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("file", "mine")]


def test_the_store_is_asked_too(home: Path, monkeypatch):
    (home / "data").write_text("a file where a folder should be")
    monkeypatch.setattr(solving, "_solve", lambda *_: pytest.fail("work was begun"))
    with pytest.raises(TapeteError, match=r"can't write .*kuhn\.safetensors"):
        solve(make("kuhn"))


def test_a_draw_of_deals_is_the_same_every_time():
    """What is refused today is refused tomorrow."""
    for name in ("truco(hand=true)", "holdem"):
        said = set()
        for _ in range(2):
            with pytest.raises(TapeteError) as error:
                check_ends(make(name), 8_000_000)
            said.add(str(error.value))
        assert len(said) == 1
