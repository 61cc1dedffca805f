"""CFR over public trees: the same numbers as over the sequence form, with half the digits, on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete.core import TapeteError, make
from tapete.solve import classes, leaves
from tapete.solve.cfr import CFR, _next_plan
from tapete.solve.classes import group_hands
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


def places(form: SequenceForm, public: PublicTree, player: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Where the number of each sequence but the empty one stands in a ledger of the tree, and how likely its hand is.

    Hands that are one share a number.
    """
    tree, groupings, weights = public.tree, public.groupings, public.weights[player]
    at = {}
    for node, keys in zip(np.flatnonzero(tree.player == player), public.keys(player).tolist(), strict=True):
        grouping, actions = groupings.of_node[node], int(tree.first[node + 1] - tree.first[node])
        width, labels = int(groupings.width[grouping, player]), groupings.label[grouping, player]
        for hand, key in enumerate(keys):
            slots = int(tree.slot[node]) + int(labels[hand]) + width * np.arange(actions)
            at[key] = slots, weights[hand]
    found = [at[key] for key in form.keys[player].tolist()]
    assert [len(slots) for slots, _ in found] == np.diff(form.plexes[player].first).tolist()
    return np.concatenate([slots for slots, _ in found]), np.concatenate([np.full(len(slots), w) for slots, w in found])


def expect_same_ledgers(one: CFR, two: Any, where: Any, within: float) -> None:
    """Regrets hand by hand; sums of strategies class by class."""
    two.settle()
    for player in range(2):
        mine, theirs, (at, weight) = one.ledgers[player], two.ledgers[player], where[player]
        assert weight * theirs.regrets[at] == pytest.approx(mine.regrets[1:], abs=within)
        sums = np.bincount(at, weight * mine.total[1:], minlength=len(theirs.total))
        assert theirs.total[at] == pytest.approx(sums[at], abs=within)


def draw_regrets(one: CFR, two: Any, where: Any) -> None:
    """The same for both, at random: no ties are left for rounding to decide."""
    rng = np.random.default_rng(1)
    for player, (at, weight) in enumerate(where):
        mine, theirs = one.ledgers[player], two.ledgers[player]
        drawn = rng.normal(size=len(theirs.regrets)).astype(np.float32)
        theirs.regrets[:] = abs(drawn) if one.scheme.floor else drawn
        mine.regrets[1:] = weight * theirs.regrets[at]
        _next_plan(one.form.plexes[player], mine, one.scheme.predictive)


@pytest.mark.parametrize("algorithm", SCHEMES)
@pytest.mark.parametrize("name", ["kuhn", "ocp(70)", "dudo(3,1,1)", ROUND, "dudo(2,2,2,one_round=true)"])
def test_both_engines_learn_alike(name, algorithm):
    """From nothing, then from the same regrets."""
    game = make(name)
    form, public = SequenceForm.of(game), PublicTree.of(game)
    one, two = CFR(form, SCHEMES[algorithm]), VectorCFR(public, SCHEMES[algorithm])
    one.run(1)
    two.run(1)
    where = [places(form, public, player) for player in range(2)]
    expect_same_ledgers(one, two, where, 1e-6)
    draw_regrets(one, two, where)
    for _ in range(3):
        one.run(1)
        two.run(1)
        expect_same_ledgers(one, two, where, 2e-5)
    assert two.prove() == pytest.approx(one.prove(), abs=1e-5)
    if all(len(np.unique(at)) == len(at) for at, _ in where):
        assert two.strategy().probs == pytest.approx(one.strategy().probs, abs=1e-3)


@pytest.mark.parametrize("algorithm", ["dcfr", "cfr+", "pcfr+"])
def test_nothing_is_lost_where_hands_are_one(algorithm, monkeypatch):
    """The same run with all hands told apart: the value and both best responses after every iteration."""
    name = "dudo(3,2,2,one_round=true)"  # where no tie is decided by rounding
    merged = PublicTree.of(make(name))
    monkeypatch.setattr(classes, "MOST", 0)
    apart = PublicTree.of(make(name))
    assert sum(merged.sizes) < 0.75 * sum(apart.sizes)
    assert (apart.groupings.label.max(axis=2) + 1 == apart.hands).all()
    runs = [VectorCFR(public, SCHEMES[algorithm]) for public in (merged, apart)]
    for _ in range(6):
        for run in runs:
            run.run(1)
        assert runs[0].prove() == pytest.approx(runs[1].prove(), abs=2e-6)


@pytest.mark.parametrize("name", ["kuhn", ROUND, "dudo(3,2,2,one_round=true)"])
def test_hands_are_one_only_where_nothing_tells_them_apart(name):
    """By the payoffs of all terminals below each node, walked here with lists."""
    public = PublicTree.of(make(name))
    tree, groupings, payoffs = public.tree, public.groupings, public.even_payoffs()
    below: list[set[int]] = [set() for _ in tree.player]
    for node in reversed(range(len(tree.player))):
        for child in tree.child[tree.first[node] : tree.first[node + 1]].tolist():
            below[node] |= below[child] if child >= 0 else {~child}
    for kinds, grouping in {(frozenset(kinds), int(g)) for kinds, g in zip(below, groupings.of_node, strict=True)}:
        matrices = payoffs[sorted(kinds)]
        for player, rows in enumerate((matrices.transpose(1, 0, 2), matrices.transpose(2, 0, 1))):
            label = groupings.label[grouping, player, : public.hands[player]]
            for one, mine in enumerate(rows):
                for two, yours in enumerate(rows):
                    assert (label[one] == label[two]) == (mine == yours).all()


def test_payoffs_that_tell_more_hands_apart_than_the_tree_are_refused():
    public = PublicTree.of(make(ROUND))
    payoffs = public.even_payoffs()
    Leaves.of(payoffs, public.groupings)
    with pytest.raises(TapeteError, match="tell hands apart"):
        Leaves.of(payoffs + np.arange(payoffs.shape[2]), public.groupings)


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "linear", "dcfr"])
def test_subtrees_that_are_left_out_change_nothing(algorithm):
    """Against a run that walks everything: regrets and sums of strategies, when they are settled."""
    public = PublicTree.of(make("dudo(3,2,2,one_round=true)"))
    pruned, whole = (VectorCFR(public, SCHEMES[algorithm]) for _ in range(2))
    whole._pieces = whole._pieces[:0]
    whole._cuts = [cut._replace(grain=-1) for cut in whole._cuts]  # a walk that might be cut leaves nothing out
    for run in (pruned, whole):
        run.run(12)
    assert (pruned._seen < 12).mean() > 0.2
    assert (whole._seen == 12).all()
    for name, array in pruned.arrays().items():
        assert array == pytest.approx(whole.arrays()[name], rel=2e-3, abs=1e-6), name


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
    assert all(len(run._pieces) > 1 for run in runs)
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
            one, two = (getattr(ledger, name).reshape(-1, 72)[:, :70] for ledger in (mine, theirs))
            assert one == pytest.approx(two, abs=1e-5)
    matrix = np.triu(np.ones((70, 70)), 1) - np.tril(np.ones((70, 70)), -1)
    monkeypatch.undo()
    first, child = np.array([0, 1], dtype=np.int32), np.array([~0], dtype=np.int32)
    groupings = group_hands(first, child, (1, *matrix.shape), lambda: matrix[None])
    for player in range(2):
        assert Leaves.of(matrix[None], groupings)[player].ordered.tolist() == [[1, 0, -1]]
    matrix[69, 0] = 2
    groupings = group_hands(first, child, (1, *matrix.shape), lambda: matrix[None])
    assert Leaves.of(matrix[None], groupings)[0].ordered.size == 0


def test_runs_go_on_where_they_were():
    public = PublicTree.of(make("dudo(3,1,1)"))
    whole, parts = VectorCFR(public, SCHEMES["pdcfr+"]), VectorCFR(public, SCHEMES["pdcfr+"])
    whole.run(30)
    for n in (1, 19, 10):
        parts.run(n)
    for name, array in whole.arrays().items():
        assert (array == parts.arrays()[name]).all()
