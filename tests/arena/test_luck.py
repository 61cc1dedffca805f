"""Luck taken out of payoffs: nothing but luck, whatever the values are."""

from __future__ import annotations

import numpy as np
import pytest

from tapete.agents.equilibrium import Equilibrium
from tapete.arena import Deal, match, play
from tapete.arena.luck import equilibrium, judged_by, playouts, read_value, surprise
from tapete.bench.calibration import World, holds, student
from tapete.core import CHANCE, Rng, TapeteError, Thought, make
from tapete.search.playout import playouts as one_playout
from tapete.solve import find
from tapete.solve.response import prove
from tapete.solve.sequence_form import SequenceForm
from tests.oracles.trees import choices, grow, plans, strategy_of


def any_value(state):
    """Nonsense, but the same nonsense for the same state."""
    rng = Rng("nonsense", state.data.tobytes().hex())
    return [20 * rng.uniform() - 10 for _ in range(state.game.players)]


def uneven(view):
    """A strategy that is nobody's: later moves are likelier, and the third is never made."""
    legal = view.actions()
    weights = [0.0 if i == 2 else i + 1.0 for i in range(len(legal))]
    return {action: weight / sum(weights) for action, weight in zip(legal, weights, strict=True)}


def expected(state, value, luck):
    """The mean payoffs, luck, and squares of both differences, over everything that chance and players may do."""
    if state.over:
        payoffs = np.array(state.returns())
        return np.array([payoffs, luck, payoffs**2, (payoffs - luck) ** 2])
    likely = dict(state.outcomes()) if state.player == CHANCE else uneven(state.view(state.player))
    total = np.zeros((4, state.game.players))
    for action, share in likely.items():
        if share > 0:
            after = state.copy().apply(action)
            lucky = luck + surprise(value, state, likely, after)
            total += share * expected(after, value, lucky)
    return total


@pytest.mark.parametrize("name", ["kuhn", "ocp(4)", "dudo(3,1,1)"])
def test_luck_is_nothing_on_the_average_whatever_the_values_are(name):
    """Over the whole tree: chance is listed, not drawn."""
    game = make(name)
    payoffs, luck, *_ = expected(game.start(), any_value, np.zeros(2))
    assert luck == pytest.approx([0, 0], abs=1e-12)
    assert np.abs(payoffs).max() > 0.01


def test_good_values_take_nearly_all_of_the_luck():
    """Exact ones all of it: a strategy judged by its own values."""
    game = make("kuhn")

    def own(state):
        if state.over:
            return np.array(state.returns())
        likely = dict(state.outcomes()) if state.player == CHANCE else uneven(state.view(state.player))
        return sum(share * own(state.copy().apply(action)) for action, share in likely.items())

    payoffs, _, squares, corrected = expected(game.start(), own, np.zeros(2))
    assert (squares - payoffs**2 > 1).all()
    assert corrected - payoffs**2 == pytest.approx([0, 0], abs=1e-12)


class Uneven:
    def think(self, view, rng):
        return Thought(probabilities=uneven(view))


def test_leduc_by_lots_has_luck_that_is_nothing_on_the_average():
    """Chance and moves drawn by the arena itself; nonsense for values."""
    result = match("leduc", lambda game: Uneven(), "random", games=1200, luck=any_value)
    luck = result.payoffs - result.corrected
    assert luck.std() > 1, "nonsense adds noise"
    assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(len(luck))
    low, high = result.corrected_interval
    assert low < result.mean_interval[1]
    assert high > result.mean_interval[0]


def test_luck_is_what_was_drawn_and_nothing_else():
    """By hand: king against jack, and both pass."""
    game = make("kuhn")

    def value(state):
        """The card of the first seat is worth itself, and passing costs a half."""
        return [float((state.data[0] + 1) % 7), -1.0]

    for number in range(10):
        played = play(game, "AB", dict.fromkeys("AB", lambda game: Uneven()), Deal(3, number), value=value)
        total, state = np.zeros(2), game.start()
        for action in played.actions:
            likely = dict(state.outcomes()) if state.player == CHANCE else uneven(state.view(state.player))
            worth = {}
            for other in likely:
                after = state.copy().apply(other)
                worth[other] = np.array(after.returns() if after.over else value(after))
            total += worth[action] - sum(share * worth[other] for other, share in likely.items())
            state.apply(action)
        assert played.luck == pytest.approx(total)


def test_luck_changes_no_game():
    plain, judged = (match("leduc", "random", "equilibrium", games=20, luck=luck) for luck in (None, "playouts(3)"))
    assert [played.actions for played in plain.games] == [played.actions for played in judged.games]
    assert (plain.mean, plain.p, plain.interval) == (judged.mean, judged.p, judged.interval)
    with pytest.raises(TapeteError, match="luck was not judged"):
        plain.corrected  # noqa: B018


def test_corrected_payoffs_are_those_of_a_less_luck():
    result = match("doudizhu", "random", lambda game: Uneven(), games=6, lineups=("ABB", "BAA"), luck="playouts(2)")
    for deal, corrected in enumerate(result.corrected):
        total = 0.0
        for played in result.games[2 * deal : 2 * deal + 2]:
            for side, payoff, luck in zip(played.lineup, played.returns, played.luck, strict=True):
                total += payoff - luck if side == "A" else 0
        assert corrected == pytest.approx(total / 2)
    assert result.corrected_mean == pytest.approx(result.corrected.mean())


def test_leduc_by_its_equilibrium_is_told_with_a_third_of_the_variance():
    """And around the exact value of the equilibrium against random play, by the sequence form."""
    game = make("leduc")
    form, root = SequenceForm.of(game), grow(game)
    keys = choices(root, 0) | choices(root, 1)
    strategy = find(game)
    assert strategy is not None
    best = plans(form, strategy_of(strategy, keys))
    uniform = plans(form, {key: [1 / n] * n for key, n in keys.items()})
    exact = (prove(form, (best[0], uniform[1])).value - prove(form, (uniform[0], best[1])).value) / 2
    result = match(game, lambda game: Equilibrium(game, strategy), "random", games=1000, luck="equilibrium")
    assert result.corrected.var() < result.payoffs.var() / 2.5
    low, high = result.corrected_interval
    assert low < exact < high
    assert high - low < 0.75 * (result.mean_interval[1] - result.mean_interval[0])
    _check_coverage(result.corrected, *game.spec.utility)


def _check_coverage(corrected, low, high):
    """Of matches drawn from these deals, whose expectation is then their mean."""
    world = World("corrected", corrected.mean(), low, high, lambda rng, shape: rng.choice(corrected, shape), student)
    for deals in (10, 40):
        coverage, _ = holds(world, world.draw(np.random.default_rng(deals), (200, deals)))
        assert coverage >= 0.9


def test_the_values_of_an_equilibrium_are_exact():
    game = make("kuhn")
    assert equilibrium(game)(game.start()) == pytest.approx([-1 / 18, 1 / 18], abs=1e-4)


def test_playouts_are_a_function_of_the_state_and_their_mean_is_that_of_random_play():
    game = make("kuhn")
    value = playouts(game, 20_000)
    state = game.read("K J")
    assert np.array_equal(value(state), value(state.copy()))
    # Pass or bet, each in half of all games: +1, +1 or -1 after pass; bet: +1 or +2.
    by_hand = 0.5 * (0.5 * 1 + 0.5 * (0.5 * -1 + 0.5 * 2)) + 0.5 * (0.5 * 1 + 0.5 * 2)
    assert value(state) == pytest.approx([by_hand, -by_hand], abs=0.03)
    assert value(game.start()) == pytest.approx([0.125, -0.125], abs=0.04), "chance is played out too"
    assert np.sum(judged_by(game, one_playout)(state)) == 0


@pytest.mark.parametrize("text", ["playouts(7)", "playouts", "equilibrium", "playouts(times=3)"])
def test_values_have_names(text):
    assert np.shape(read_value(text, make("kuhn"))(make("kuhn").read("K J"))) == (2,)
