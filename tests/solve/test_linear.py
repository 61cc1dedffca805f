"""Linear programs: known values, exact best responses, and the intervals that CFR proves."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tapete.core import TapeteError, make
from tapete.games.matrix import payoffs
from tapete.solve import linear
from tapete.solve.cfr import CFR
from tapete.solve.linear import solve_form, solve_matrix
from tapete.solve.matching import exploitability
from tapete.solve.response import prove
from tapete.solve.schemes import scheme
from tapete.solve.sequence_form import SequenceForm

VALUES = {
    "kuhn": -1 / 18,
    "ocp(4)": -0.0416667,
    "ocp(12)": -0.0618687,
    "ocp(13)": -0.0641026,
    "leduc": -0.0856064,
    "dudo(4,1,1)": -0.125,
    "domino(2,2)": 2.4,
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_extensive_games(name):
    form = SequenceForm.of(make(name))
    solution = solve_form(form)
    assert solution.value == pytest.approx(VALUES[name], abs=1e-7)
    proof = prove(form, (solution.x, solution.y))
    assert abs(proof.exploitability) < 1e-8
    assert proof.lower - 1e-9 <= solution.value <= proof.upper + 1e-9
    cfr = CFR(form, scheme("pcfr+"))
    cfr.run(500)
    interval = prove(form, cfr.average())
    assert interval.lower - 1e-9 <= solution.value <= interval.upper + 1e-9
    assert interval.exploitability < 0.01


@pytest.mark.parametrize("name", ["kuhn", "domino(2,2)"])
def test_plans_are_plans(name):
    form = SequenceForm.of(make(name))
    for plex, plan in zip(form.plexes, solve_form(form)[1:], strict=True):
        assert plan[0] == pytest.approx(1, abs=1e-12)
        assert plan.min() >= 0
        assert np.add.reduceat(plan, plex.first[:-1]) == pytest.approx(plan[plex.parent], abs=1e-12)


@pytest.mark.parametrize(("name", "value"), [("rps", 0), ("pennies", 0), ("token_domino", 1 / 3), ("blotto", 0)])
def test_values_of_matrix_games(name, value):
    first, second = payoffs(make(name))
    found = solve_matrix(first, second)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert exploitability(first, second, found.x, found.y) < 1e-12
    assert found.x.sum() == pytest.approx(1)
    assert found.y.sum() == pytest.approx(1)
    assert solve_form(SequenceForm.of(make(name))).value == pytest.approx(value, abs=1e-12)


def test_strategies_by_hand():
    value, x, y = solve_matrix([[3, -1], [-2, 1]])  # x: 3p - 2(1-p) = -p + (1-p); y: 3q - (1-q) = -2q + (1-q)
    assert value == pytest.approx(1 / 7)
    assert x == pytest.approx([3 / 7, 4 / 7])
    assert y == pytest.approx([2 / 7, 5 / 7])
    value, x, y = solve_matrix([[1, 5, 4], [0, 9, -7]])  # a saddle
    assert (value, x.tolist(), y.tolist()) == (1, [1, 0], [1, 0, 0])


def test_moving_and_scaling_payoffs_moves_and_scales_the_value():
    table = np.random.default_rng(5).normal(size=(6, 9))
    value, x, y = solve_matrix(table)
    assert solve_matrix(3 * table + 10).value == pytest.approx(3 * value + 10)
    assert solve_matrix(-table.T).value == pytest.approx(-value)
    assert (x @ table).min() == pytest.approx(value) == pytest.approx((table @ y).max())


def test_wrong_input(monkeypatch):
    with pytest.raises(TapeteError, match="zero-sum"):
        solve_matrix(*payoffs(make("battle")))
    with pytest.raises(TapeteError, match="250000 payoffs are too many"):
        solve_matrix(np.zeros((500, 500)))
    with pytest.raises(TapeteError, match="same shape"):
        solve_matrix([1.0, 2.0])
    form = SequenceForm.of(make("kuhn"))
    monkeypatch.setattr(linear, "LIMIT", 10)
    with pytest.raises(TapeteError, match="too many"):
        solve_form(form)
    monkeypatch.undo()
    monkeypatch.setattr(linear, "linprog", lambda *_, **__: SimpleNamespace(success=False, message="it gave up"))
    with pytest.raises(TapeteError, match="it gave up"):
        solve_form(form)
