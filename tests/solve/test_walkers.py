"""Walkers: the same book wherever they walk, and an equilibrium in the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapete.core import Rng, TapeteError, make
from tapete.scale import Executor, Local, Serial
from tapete.solve import solve
from tapete.solve.mccfr import MCCFR, Sampling
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.walkers import Walkers, added, open_walks

KUHN, LEDUC = make("kuhn"), make("leduc")


def walked(executor: Executor, *, walkers: int = 3, epochs: int = 4) -> dict[str, np.ndarray]:
    run = Walkers(LEDUC, "external", Rng(1), walkers=walkers, executor=executor)
    for _ in range(epochs):
        run.epoch()
    return run.book.arrays()


def test_the_book_is_the_same_wherever_they_walk() -> None:
    books = [walked(executor) for executor in (Serial(), Local(1), Local(2), Local(5))]
    for book in books[1:]:
        assert all(np.array_equal(book[name], books[0][name]) for name in books[0])
    other = walked(Serial(), walkers=2)
    assert not np.array_equal(other["keys"], books[0]["keys"]), "but not for any number of them"


@pytest.mark.parametrize("sampling", ["external", "outcome", "chance"])
def test_what_one_walker_adds_is_what_it_learned(sampling: Sampling) -> None:
    """One walker and a book: as if it had walked on by itself."""
    whole = MCCFR(LEDUC, sampling, Rng(1))
    whole.run(30)
    before = whole.arrays()
    walk = open_walks(None, game=LEDUC, sampling=sampling, book=before, iterations=90)  # type: ignore[arg-type]
    rng = Rng("next")
    after = added(before, [walk(rng)], 120)
    alone = MCCFR(LEDUC, sampling, rng)
    alone.restore({**before, "rng": rng.words.copy()})
    alone.run(90)
    wanted = alone.arrays()
    assert len(wanted["keys"]) > len(before["keys"]) > 0 or sampling == "chance"  # whose first walk meets nearly all
    assert np.array_equal(after["keys"], wanted["keys"])
    assert np.array_equal(after["offsets"], wanted["offsets"])
    assert np.allclose(after["numbers"], wanted["numbers"], rtol=1e-12, atol=1e-9)


def test_many_walkers_find_an_equilibrium() -> None:
    run = Walkers(KUHN, "external", Rng(1), walkers=8)
    run.run(100_000)
    proof = run.book.prove(SequenceForm.of(KUHN))
    assert proof.exploitability < 0.02
    assert proof.value == pytest.approx(-1 / 18, abs=0.003)


class Stop(Exception):
    """Raised in the middle of a run."""


def stopping(looks: int) -> Callable[[object], None]:
    left = [1] * looks

    def watch(progress: object) -> None:
        if not left:
            raise Stop
        left.pop()

    return watch


def test_a_run_that_was_stopped_ends_the_same(tmp_path: Path) -> None:
    def run(name: str, **more: Any) -> None:
        order: dict[str, Any] = {"algorithm": "mccfr-external", "until": 0.0, "iterations": 20_000, "walkers": 3}
        solve(KUHN, save=tmp_path / name, resume=True, checkpoint_every=0, **order, **more)

    run("whole", executor=Local(2))
    for looks in (8, 3, 2):
        with pytest.raises(Stop):
            run("cut", watch=stopping(looks))
        assert (tmp_path / "cut.checkpoint").exists()
    run("cut")
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


def test_what_can_not_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="walkers are for algorithms that sample, not for dcfr"):
        solve(KUHN, walkers=2, save=tmp_path / "x")
    order: dict[str, Any] = {"algorithm": "mccfr-external", "until": 0.0, "save": tmp_path / "run"}
    with pytest.raises(Stop):
        solve(KUHN, walkers=3, watch=stopping(6), checkpoint_every=0, **order)
    with pytest.raises(TapeteError, match="is of 3 walkers, not 2"):
        solve(KUHN, walkers=2, resume=True, **order)
