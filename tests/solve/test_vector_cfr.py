"""CFR over public trees: the same numbers as over the sequence form, with half the digits, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete.core import make
from tapete.solve import leaves
from tapete.solve.cfr import CFR, _next_plan
from tapete.solve.leaves import Leaves
from tapete.solve.public_tree import PublicTree
from tapete.solve.response import prove
from tapete.solve.schemes import SCHEMES
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.vector_cfr import VectorCFR
from tests.oracles.trees import plans, strategy_of

ROUND = "dudo(3,1,2,one_round=true,win=0.5,lose=-0.25)"
VALUES = {
    "kuhn": -1 / 18,
    "ocp(4)": -1 / 24,
    "ocp(12)": -0.0618686869,
    "ocp(13)": -5 / 78,
    "dudo(4,1,1)": -1 / 8,
    "dudo(5,1,1)": -0.12,
    "dudo(6,1,1)": -1 / 9,
}


def places(form: SequenceForm, public: PublicTree, player: int) -> NDArray[np.int64]:
    """Where the number of each sequence but the empty one stands in the tables of a public tree."""
    tree, width = public.tree, public.widths[player]
    own = np.flatnonzero(tree.player == player)
    at = {
        key: (int(tree.slot[node]) + hand, int(tree.first[node + 1] - tree.first[node]))
        for node, keys in zip(own, public.keys(player).tolist(), strict=True)
        for hand, key in enumerate(keys)
    }
    found = []
    for key, count in zip(form.keys[player].tolist(), np.diff(form.plexes[player].first), strict=True):
        slot, actions = at[key]
        assert actions == count
        found += [slot + a * width for a in range(count)]
    return np.array(found)


@pytest.mark.parametrize("algorithm", SCHEMES)
@pytest.mark.parametrize("name", ["kuhn", "ocp(70)", "dudo(3,1,1)", ROUND, "dudo(2,2,2,one_round=true)"])
def test_both_engines_learn_alike(name, algorithm):
    """From the same regrets, drawn at random so that there are no ties for rounding to decide."""
    game, rng = make(name), np.random.default_rng(1)
    form, public = SequenceForm.of(game), PublicTree.of(game)
    one, two = CFR(form, SCHEMES[algorithm]), VectorCFR(public, SCHEMES[algorithm])
    one.run(1)
    two.run(1)
    where = [places(form, public, player) for player in range(2)]
    for player in range(2):
        mine, theirs = one.ledgers[player], two.ledgers[player]
        assert theirs.regrets[where[player]] == pytest.approx(mine.regrets[1:], abs=1e-6)
        assert theirs.total[where[player]] == pytest.approx(mine.total[1:], abs=1e-6)
        drawn = rng.normal(size=len(mine.regrets) - 1).astype(np.float32)
        mine.regrets[1:] = abs(drawn) if SCHEMES[algorithm].floor else drawn
        theirs.regrets[where[player]] = mine.regrets[1:]
        _next_plan(form.plexes[player], mine, SCHEMES[algorithm].predictive)
    for _ in range(3):
        one.run(1)
        two.run(1)
        for player in range(2):
            mine, theirs = one.ledgers[player], two.ledgers[player]
            assert theirs.regrets[where[player]] == pytest.approx(mine.regrets[1:], abs=2e-5)
            assert theirs.total[where[player]] == pytest.approx(mine.total[1:], abs=2e-5)
    assert two.prove() == pytest.approx(one.prove(), abs=1e-5)
    assert two.strategy().probs == pytest.approx(one.strategy().probs, abs=1e-3)


@pytest.mark.parametrize("name", VALUES)
def test_known_values_are_inside_every_interval(name):
    run = VectorCFR(PublicTree.of(make(name)), SCHEMES["dcfr"])
    widths = []
    for _ in range(4):
        proof = run.prove()
        assert proof.lower - 1e-9 <= VALUES[name] <= proof.upper + 1e-9
        assert proof.lower <= proof.value <= proof.upper
        widths.append(proof.exploitability)
        run.run(50)
    assert widths[-1] < widths[0] / 50


@pytest.mark.parametrize("algorithm", SCHEMES)
def test_all_schemes_converge(algorithm):
    for name in ("kuhn", "dudo(3,1,1)"):
        run = VectorCFR(PublicTree.of(make(name)), SCHEMES[algorithm])
        run.run(1000)
        assert run.prove().exploitability < 5e-3, name


@pytest.mark.parametrize("name", ["kuhn", "ocp(70)", "dudo(3,1,1)", ROUND])
def test_the_proof_is_that_of_the_sequence_form(name):
    """The strategy of a run, evaluated by the other engine."""
    game = make(name)
    run = VectorCFR(PublicTree.of(game), SCHEMES["dcfr"])
    form = SequenceForm.of(game)
    for _ in range(3):
        strategy = run.strategy()
        probabilities = strategy_of(strategy, np.concatenate(form.keys).tolist())
        assert run.prove() == pytest.approx(prove(form, plans(form, probabilities)), abs=1e-13)
        run.run(7)


def test_proofs_with_what_others_make_of_the_games_that_follow():
    """Bounds come from other payoffs on the same tree, in both engines alike."""
    middle, low, high = (make(ROUND.replace("0.5", win)) for win in ("0.5", "0.4375", "0.625"))
    one, two = CFR(SequenceForm.of(middle), SCHEMES["dcfr"]), VectorCFR(PublicTree.of(middle), SCHEMES["dcfr"])
    for run in (one, two):
        run.run(2)
    np.copyto(two.ledgers[0].total, 0)  # uniform, as the other's before its first iteration
    np.copyto(two.ledgers[1].total, 0)
    one = CFR(one.form, SCHEMES["dcfr"])
    expected = one.prove((SequenceForm.of(low), SequenceForm.of(high)))
    assert two.prove((low, high)) == pytest.approx(expected, abs=1e-13)
    assert expected.lower < one.prove().lower
    assert expected.upper > one.prove().upper


@pytest.mark.parametrize("algorithm", ["dcfr", "pdcfr+"])
def test_threads_change_nothing(algorithm):
    public = PublicTree.of(make("dudo(5,1,2,one_round=true)"))
    runs = [VectorCFR(public, SCHEMES[algorithm], threads=threads) for threads in (1, 2, 3)]
    assert [len(run._pieces) > 1 for run in runs] == [False, True, True]
    for run in runs:
        run.run(5)
    first, *others = runs
    for other in others:
        for name, array in first.arrays().items():
            assert (array == other.arrays()[name]).all(), name
        assert other.prove() == first.prove()
        assert (other.strategy().probs == first.strategy().probs).all()


def test_terminals_where_the_higher_hand_wins(monkeypatch):
    """Sums of lower and higher hands instead of a matrix."""
    public = PublicTree.of(make("ocp(70)"))
    quick = VectorCFR(public, SCHEMES["dcfr"])
    assert quick.leaves[0].dense.size == 0
    monkeypatch.setattr(leaves, "LARGE", 1000)
    slow = VectorCFR(public, SCHEMES["dcfr"])
    assert slow.leaves[0].ordered.size == 0
    for run in (quick, slow):
        run.run(2)
    assert quick.prove() == pytest.approx(slow.prove(), abs=1e-6)
    for mine, theirs in zip(quick.ledgers, slow.ledgers, strict=True):
        for name in ("regrets", "total"):
            one, two = (getattr(ledger, name).reshape(-1, public.widths[0])[:, :70] for ledger in (mine, theirs))
            assert one == pytest.approx(two, abs=1e-5)
    matrix = np.triu(np.ones((70, 70)), 1) - np.tril(np.ones((70, 70)), -1)
    monkeypatch.undo()
    assert Leaves.of(matrix[None], (80, 80))[0].ordered.tolist() == [[1, 0, -1]]
    assert Leaves.of(matrix[None], (80, 80))[1].ordered.tolist() == [[1, 0, -1]]
    matrix[69, 0] = 2
    assert Leaves.of(matrix[None], (80, 80))[0].ordered.size == 0


def test_runs_go_on_where_they_were():
    public = PublicTree.of(make("dudo(3,1,1)"))
    whole, parts = VectorCFR(public, SCHEMES["pdcfr+"]), VectorCFR(public, SCHEMES["pdcfr+"])
    whole.run(30)
    for n in (1, 19, 10):
        parts.run(n)
    for name, array in whole.arrays().items():
        assert (array == parts.arrays()[name]).all()
