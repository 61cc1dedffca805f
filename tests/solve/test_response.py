"""Best responses and values against enumeration: of all pure strategies, of all histories."""

from __future__ import annotations

import numpy as np
import pytest

from tapete.core import make
from tapete.solve.linear import solve_matrix
from tapete.solve.response import best_response, prove
from tapete.solve.sequence_form import SequenceForm
from tests.oracles.trees import choices, grow, nodes, plans, pure_strategies, random_strategy, value


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["kuhn", "dudo(2,1,1)"])
def test_no_pure_strategy_gains_more_than_the_best_response(name, seed):
    game = make(name)
    form, root = SequenceForm.of(game), grow(game)
    strategy = random_strategy(root, seed)
    for player, sign in ((0, 1), (1, -1)):
        gains = [sign * value(root, strategy | pure) for pure in pure_strategies(root, player)]
        gain, plan = best_response(form, player, plans(form, strategy)[1 - player])
        assert gain == pytest.approx(max(gains), abs=1e-12)
        assert set(np.unique(plan)) <= {0.0, 1.0}
        both = [*plans(form, strategy)]
        both[player] = plan
        assert prove(form, (both[0], both[1])).value == pytest.approx(sign * gain, abs=1e-12)


def test_kuhn_as_a_matrix_of_all_pure_strategies():
    root = grow(make("kuhn"))
    matrix = [[value(root, x | y) for y in pure_strategies(root, 1)] for x in pure_strategies(root, 0)]
    assert np.shape(matrix) == (64, 64)
    assert solve_matrix(matrix).value == pytest.approx(-1 / 18, abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn", "dudo(2,1,1)", "dudo(3,1,1)", "domino(2,2)", "leduc", "rps"])
def test_values_are_those_of_enumeration(name):
    game = make(name)
    form, root = SequenceForm.of(game), grow(game)
    assert {*form.keys[0].tolist()} == {*choices(root, 0)}
    assert {*form.keys[1].tolist()} == {*choices(root, 1)}
    for seed in range(3):
        strategy = random_strategy(root, seed)
        proof = prove(form, plans(form, strategy))
        assert proof.value == pytest.approx(value(root, strategy), abs=1e-12)
        assert proof.lower - 1e-12 <= proof.value <= proof.upper + 1e-12


@pytest.mark.parametrize("name", ["kuhn", "dudo(3,1,1)", "leduc"])
def test_histories_are_counted_as_rojas_counts_them(name):
    """States of players and ends, and one for the start."""
    game = make(name)
    assert SequenceForm.of(game).histories == 1 + sum(node.player != -1 for node in nodes(grow(game)))
