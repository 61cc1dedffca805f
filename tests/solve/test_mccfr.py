"""Monte Carlo CFR: unbiased samples, convergence with proof, exact resumption, tables that grow."""

from __future__ import annotations

import numpy as np
import pytest

from tapete.core import Rng, TapeteError, make
from tapete.solve.cfr import CFR, _next_plan
from tapete.solve.mccfr import BLOCKS, MCCFR, SAMPLINGS, plans
from tapete.solve.response import prove
from tapete.solve.schemes import scheme
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.walks import WALKER

# What the sums of both best responses must fall below; measured with seeds 1 to 5, then half as much again.
BOUNDS = [
    ("kuhn", "external", 300_000, 0.008),
    ("kuhn", "outcome", 1_000_000, 0.007),
    ("kuhn", "chance", 300_000, 0.006),
    ("leduc", "external", 300_000, 0.13),
    ("leduc", "outcome", 1_500_000, 0.35),
    ("leduc", "chance", 100_000, 0.20),
]
VALUES = {"kuhn": -1 / 18, "leduc": -0.0856064}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("name", "sampling", "iterations", "bound"), BOUNDS)
def test_exploitability_falls(name, sampling, iterations, bound, seed):
    run = MCCFR(make(name), sampling, Rng(seed))
    form = SequenceForm.of(run.game)
    run.run(iterations // 100)
    early = run.prove(form)
    run.run(iterations - iterations // 100)
    proof = run.prove(form)
    assert proof.exploitability < min(bound, early.exploitability / 2)
    assert proof.lower < VALUES[name] < proof.upper
    assert proof.value == pytest.approx(VALUES[name], abs=bound / 3)


def blocks(run):
    """Slices of every information set's regrets and sums in the numbers of a run, by key."""
    arrays = run.arrays()
    counts = np.diff(arrays["offsets"]) // BLOCKS[run.sampling][0]
    return {
        int(key): (slice(start, start + n), slice(start + n, start + 2 * n))
        for key, start, n in zip(arrays["keys"], arrays["offsets"], counts, strict=False)
    }


def exact(form, run):
    """Counterfactual regrets of one iteration of CFR from the regrets of a run, and the plans that it begins with."""
    cfr, where = CFR(form, scheme("cfr"), alternating=False), blocks(run)
    for plex, keys, ledger in zip(form.plexes, form.keys, cfr.ledgers, strict=True):
        ledger.regrets[1:] = np.concatenate([run._book.numbers[where[int(key)][0]] for key in keys])
        _next_plan(plex, ledger, False)
    before = [(ledger.regrets.copy(), ledger.plan.copy()) for ledger in cfr.ledgers]
    cfr.run(1)
    return [(after.regrets - regrets, plan) for after, (regrets, plan) in zip(cfr.ledgers, before, strict=True)]


def mean_update(run, walker, samples):
    """How the numbers of a run change in one iteration that begins with that walker: mean and standard error."""
    fixed = run._book.numbers.copy()
    total, squares = np.zeros_like(fixed), np.zeros_like(fixed)
    for _ in range(samples):
        run._counters[WALKER] = walker
        run.run(1)
        change = run._book.numbers - fixed
        total += change
        squares += change**2
        run._book.numbers[:] = fixed
    mean = total / samples
    return mean, np.sqrt((squares / samples - mean**2) / samples)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(("name", "hands"), [("kuhn", 3), ("dudo(2,1,1)", 2)])
def test_updates_are_unbiased(name, hands, sampling):
    """A mean of samples is within 5 standard errors of what CFR gets, for every regret and every sum.

    A walk begins with the player whose regrets are looked at, so that it meets the other with the regrets that CFR
    met; with the other one where the sums are looked at. All hands are as likely in both games, so that a sum grows by
    the plan / hands.
    """
    run = MCCFR(make(name), sampling, Rng(3, name), capacity=1)
    form = SequenceForm.of(run.game)
    run.run(300)
    assert run.infosets == form.infosets, "every information set is in the table, so that nothing moves"
    where, truth = blocks(run), exact(form, run)
    updates = [mean_update(run, walker, 40_000) for walker in range(2)]
    for player, (plex, keys) in enumerate(zip(form.plexes, form.keys, strict=True)):
        regrets, plan = truth[player]
        for i, key in enumerate(keys):
            own = slice(plex.first[i], plex.first[i + 1])
            for part, expected, (mean, error) in (
                (0, regrets[own], updates[player]),
                (1, plan[own] / hands, updates[1 - player]),
            ):
                at = where[int(key)][part]
                assert (error[at] < 0.05).all(), "precise enough to tell"
                assert (np.abs(mean[at] - expected) <= 5 * error[at] + 1e-12).all(), (player, i, part)


def test_chance_sampling_without_chance_is_cfr():
    """In a game of hidden moves the second player's information set is met once for every move of the first."""
    run = MCCFR(make("token_domino"), "chance", Rng(1))
    form = SequenceForm.of(run.game)
    cfr = CFR(form, scheme("cfr"), alternating=False)
    run.run(200)
    cfr.run(200)
    where = blocks(run)
    for ledger, keys in zip(cfr.ledgers, form.keys, strict=True):
        assert run._book.numbers[where[int(keys[0])][0]] == pytest.approx(ledger.regrets[1:], abs=1e-9)
    for ours, theirs in zip(plans(form, run.strategy()), cfr.average(), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_run_in_parts_is_the_same_run(sampling):
    whole, parts, resumed = (MCCFR(make("leduc"), sampling, Rng(7)) for _ in range(3))
    whole.run(500)
    parts.run(200)
    saved = parts.arrays()
    parts.run(300)
    assert same(whole.arrays(), parts.arrays())
    resumed.run(50)
    resumed.restore(saved)
    assert resumed.iterations == 200
    assert same(resumed.arrays(), saved)
    resumed.run(300)
    assert same(whole.arrays(), resumed.arrays())
    assert same(vars(whole.strategy()), vars(resumed.strategy()))


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("name", ["leduc", "dudo(3,1,1)"])
def test_growing_changes_nothing(name, sampling):
    small, large = (MCCFR(make(name), sampling, Rng(5), capacity=capacity) for capacity in (1, 100_000))
    for run in (small, large):
        run.run(1_000)
    assert small.bytes < large.bytes
    assert same(small.arrays(), large.arrays())


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_an_interrupted_iteration_is_finished_before_it_is_saved(sampling, monkeypatch):
    run, whole = (MCCFR(make("leduc"), sampling, Rng(5), capacity=64) for _ in range(2))
    with monkeypatch.context() as patch:
        patch.setattr(run, "_grow", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run.run(10_000)
    done = run.iterations + 1
    saved = run.arrays()
    whole.run(done)
    assert done < 10_000
    assert same(saved, whole.arrays())


@pytest.mark.parametrize(
    ("name", "sampling", "iterations"),
    [("doudizhu", "outcome", 30), ("holdem(players=3)", "external", 10), ("truco(hand=true)", "external", 10)],
)
def test_large_games_grow(name, sampling, iterations):
    run = MCCFR(make(name), sampling, Rng(1))
    run.run(iterations)
    before = run.infosets
    run.run(iterations)
    assert run.infosets > before > 1_000
    strategy = run.strategy()
    start, probs = strategy.start, strategy.probs
    assert len(strategy.keys) == run.infosets
    assert (np.diff(start) > 1).all()
    assert (probs >= 0).all()
    assert np.abs(np.add.reduceat(probs.astype(float), start[:-1]) - 1).max() < 1e-5


@pytest.mark.parametrize("sampling", ["external", "outcome"])
def test_every_player_learns(sampling):
    run = MCCFR(make("holdem(players=3)"), sampling, Rng(2))
    run.run(20)
    where = blocks(run)
    state, rng = run.game.start(), Rng(4)
    learnt = dict.fromkeys(range(3), False)
    averaged = dict.fromkeys(range(3), False)
    for _ in range(2_000):
        state = run.game.start().deal(rng)
        while not state.over:
            key, player = state.infoset(state.player), state.player
            if key in where:
                learnt[player] |= bool(run._book.numbers[where[key][0]].any())
                averaged[player] |= bool(run._book.numbers[where[key][1]].any())
            state.apply(rng.choice(state.actions())).deal(rng)
    assert all(learnt.values())
    assert all(averaged.values())


def test_a_strategy_is_sorted_and_looked_up_by_key():
    run = MCCFR(make("kuhn"), "external", Rng(1))
    run.run(1_000)
    strategy, where = run.strategy(game="kuhn"), blocks(run)
    assert (strategy.keys[1:] > strategy.keys[:-1]).all()
    assert strategy.about == {"game": "kuhn"}
    for i, key in enumerate(strategy.keys.tolist()):
        sums = run._book.numbers[where[key][1]]
        assert strategy.probs[strategy.start[i] : strategy.start[i + 1]] == pytest.approx(sums / sums.sum())
        assert strategy.lookup(key) == pytest.approx(sums / sums.sum())
    # The first player folds a jack to a bet, and calls with a king.
    for deal, call in (("J Q pass bet", 0.0), ("K Q pass bet", 1.0)):
        probs = strategy.lookup(run.game.read(deal).infoset(0))
        assert probs is not None
        assert probs[1] == pytest.approx(call, abs=0.05)


def test_an_unknown_information_set_is_uniform():
    form = SequenceForm.of(make("kuhn"))
    empty = MCCFR(form.game, "external", Rng(1)).strategy()
    assert prove(form, plans(form, empty)).exploitability == pytest.approx(11 / 12)


def test_what_it_refuses():
    kuhn = make("kuhn")
    with pytest.raises(TapeteError, match="no sampling 'average'"):
        MCCFR(kuhn, "average", Rng(1))  # type: ignore[arg-type]
    with pytest.raises(TapeteError, match="3 players"):
        MCCFR(make("doudizhu"), "chance", Rng(1))
    with pytest.raises(TapeteError, match="room"):
        MCCFR(kuhn, "external", Rng(1), capacity=0)
    run = MCCFR(kuhn, "external", Rng(1))
    with pytest.raises(TapeteError, match="go back 3"):
        run.run(-3)
    run.run(10)
    saved = run.arrays()
    with pytest.raises(TapeteError, match="needs the arrays"):
        run.restore({})
    for name, array in (
        ("numbers", saved["numbers"][:-1]),
        ("offsets", saved["offsets"][:0]),
        ("rng", saved["rng"][:3]),
    ):
        with pytest.raises(TapeteError, match="fit together"):
            run.restore({**saved, name: array})
    with pytest.raises(TapeteError, match="chance sampling"):
        MCCFR(kuhn, "chance", Rng(1)).restore(saved)
    assert same(run.arrays(), saved)
