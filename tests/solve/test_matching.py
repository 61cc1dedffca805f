"""Regret matching: the procedures against their definitions, play by play, and what they converge to."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tapete.core import Rng, TapeteError, make
from tapete.games.matrix import payoffs
from tapete.solve.linear import solve_matrix
from tapete.solve.matching import (
    CHECK,
    PROCEDURES,
    Matching,
    correlated_regret,
    exploitability,
    invariant_vector,
    match,
    unconditional_regrets,
)

ROCK, PAPER, SCISSORS = range(3)
SLIDES = [(ROCK, SCISSORS), (ROCK, PAPER), (SCISSORS, SCISSORS)]  # the three plays that Rojas explains regrets with

Strategy = list[list[float]]  # [own, other]
Plays = list[tuple[int, int]]  # (own, other) each


def tables(name: str) -> tuple[Strategy, Strategy]:
    """What each player gets, [own, other], as plain Python."""
    first, second = payoffs(make(name))
    return first.tolist(), second.T.tolist()


# ---- the definitions, as naive as they can be written


def conditional(u: Strategy, plays: Plays) -> Strategy:
    """D(j, k)."""
    actions, t = range(len(u)), len(plays)
    return [[sum(u[k][c] - u[own][c] for own, c in plays if own == j) / t for k in actions] for j in actions]


def unconditional(u: Strategy, plays: Plays) -> list[float]:
    """D(k)."""
    return [sum(u[k][c] - u[own][c] for own, c in plays) / len(plays) for k in range(len(u))]


def normaliser(u: Strategy) -> float:
    """The largest sum of gains over one play: mu."""
    actions, others = range(len(u)), range(len(u[0]))
    return max(sum(max(u[k][c] - u[j][c], 0.0) for k in actions) for j in actions for c in others)


def transition(d: Strategy, mu: float) -> Strategy:
    """M(j, k)."""
    matrix = [[max(x, 0.0) / mu for x in row] for row in d]
    for j, row in enumerate(matrix):
        row[j] = 1.0 - (sum(row) - row[j])
    return matrix


def next_strategy(procedure: str, u: Strategy, plays: Plays) -> list[float]:
    n = len(u)
    if not plays:
        return [1.0 / n] * n
    if procedure == "unconditional":
        positive = [max(x, 0.0) for x in unconditional(u, plays)]
        return [x / sum(positive) for x in positive] if sum(positive) > 0 else [1.0 / n] * n
    matrix = transition(conditional(u, plays), normaliser(u))
    if procedure == "conditional":
        return matrix[plays[-1][0]]
    q = invariant_vector(np.array(conditional(u, plays)))
    assert np.abs(q @ np.array(matrix) - q).max() < 1e-12
    return q.tolist()


def drawn(procedure: str, strategy: list[float], last: int | None, draw: float) -> int:
    """The action in whose share the draw falls: in their order, but to play the same again comes last."""
    order = list(range(len(strategy)))
    if procedure == "conditional" and last is not None:
        order.remove(last)
        order.append(last)
    reached = 0.0
    for action in order:
        reached += strategy[action]
        if draw < reached:
            return action
    return order[-1]


# ---- the procedures follow them


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("name", ["rps", "token_domino", "battle", "benefit"])
def test_every_play_is_the_one_that_the_definitions_draw(name, procedure):
    first, second = tables(name)
    matching, rng, oracle = Matching(payoffs(make(name)), procedure), Rng(5, name), Rng(5, name)
    rows: Plays = []
    columns: Plays = []
    for t in range(200):
        row, column = (
            drawn(procedure, next_strategy(procedure, u, plays), plays[-1][0] if plays else None, oracle.uniform())
            for u, plays in ((first, rows), (second, columns))
        )
        rows.append((row, column))
        columns.append((column, row))
        matching.play(rng, t + 1)
        assert matching.meeting.last.tolist() == [row, column], f"play {t}"
    assert matching.iterations == 200


@pytest.mark.parametrize("name", ["rps", "token_domino", "dilemma", "blotto(3,3)"])
def test_regrets_after_given_plays(name):
    first, second = tables(name)
    rng = Rng(7, name)
    rows = [(rng.below(len(first)), rng.below(len(second))) for _ in range(200)]
    columns = [(column, row) for row, column in rows]
    for procedure in PROCEDURES:
        matching = Matching(payoffs(make(name)), procedure)
        matching.watch(rows[:60])
        matching.watch(rows[60:])
        for matcher, u, plays in zip(matching.meeting[:2], (first, second), (rows, columns), strict=True):
            wanted = [unconditional(u, plays)] if procedure == "unconditional" else conditional(u, plays)
            np.testing.assert_allclose(matcher.regrets / 200, wanted, atol=1e-12)
        for regret, u, plays in zip(
            unconditional_regrets(*matching.payoffs, matching.joint), (first, second), (rows, columns), strict=True
        ):
            assert regret == pytest.approx(max(0.0, *unconditional(u, plays)), abs=1e-12)
        gaps = [max(map(max, conditional(u, plays))) for u, plays in ((first, rows), (second, columns))]
        assert correlated_regret(*matching.payoffs, matching.joint) == pytest.approx(max(gaps), abs=1e-12)


def test_the_plays_of_the_slides():
    matching = Matching(payoffs(make("rps")), "conditional")
    matching.watch(SLIDES)
    regrets = matching.meeting.rows.regrets / 3
    assert regrets[ROCK].tolist() == pytest.approx([0, -1 / 3, 1 / 3])
    assert regrets[PAPER].tolist() == [0, 0, 0]
    matching = Matching(payoffs(make("rps")), "unconditional")
    matching.watch(SLIDES)
    assert (matching.meeting.rows.regrets[0, [PAPER, SCISSORS]] / 3).tolist() == pytest.approx([-2 / 3, 1 / 3])


@pytest.mark.parametrize("name", ["rps", "token_domino", "blotto", "battle", "dilemma"])
def test_mu_is_the_smallest_that_keeps_probabilities_valid(name):
    for matcher, u in zip(Matching(payoffs(make(name)), "conditional").meeting[:2], tables(name), strict=True):
        assert matcher.mu == normaliser(u)
        numbers = np.array(u)
        assert 0 < matcher.mu <= (len(u) - 1) * (numbers.max() - numbers.min())


# ---- invariant vectors


def assert_invariant(regrets):
    rates = np.maximum(regrets, 0.0)
    np.fill_diagonal(rates, 0.0)
    q = invariant_vector(regrets)
    assert q.min() >= 0
    assert q.sum() == pytest.approx(1.0, abs=1e-14)
    flow = q @ rates - q * rates.sum(axis=1)
    assert np.abs(flow).max() <= 1e-13 * rates.max()
    return q


@pytest.mark.parametrize("n", [1, 2, 3, 8, 21, 60])
def test_invariant_vectors_of_all_kinds_of_chains(n):
    random = np.random.default_rng(n)
    for dense in (1.0, 0.5, 1.5 / n, 0.0):
        for _ in range(20):
            regrets = random.normal(size=(n, n)) * (random.random((n, n)) < dense)
            np.fill_diagonal(regrets, 0.0)
            assert_invariant(regrets)


def test_invariant_vectors_keep_small_shares_to_the_last_digit():
    regrets = np.array([[0.0, 1e-12, 0.0], [1.0, 0.0, 1e-12], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(assert_invariant(regrets)[1:], [1e-12, 1e-24], rtol=1e-11)


def test_an_invariant_vector_does_not_depend_on_the_scale():
    regrets = np.random.default_rng(3).random((5, 5))
    np.fill_diagonal(regrets, 0.0)
    np.testing.assert_allclose(invariant_vector(regrets), invariant_vector(1e9 * regrets), rtol=1e-13)


# ---- what comes of it


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize(("name", "value"), [("rps", 0), ("pennies", 0), ("token_domino", 1 / 3), ("blotto", 0)])
def test_zero_sum_games_converge_to_an_equilibrium(name, value, procedure):
    first, second = payoffs(make(name))
    bound = 0.005
    matched = match((first, second), procedure, Rng(1), bound=bound)
    assert max(matched.regrets) < bound
    assert matched.regrets == unconditional_regrets(first, second, matched.joint)
    assert matched.exploitability == exploitability(first, second, matched.x, matched.y) <= 2 * bound + 1e-12
    assert matched.x @ first @ matched.y == pytest.approx(value, abs=2 * bound)
    assert solve_matrix(first, second).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("procedure", ["conditional", "invariant"])
@pytest.mark.parametrize("name", ["battle", "dilemma", "benefit", "monopoly"])
def test_any_game_converges_to_correlated_equilibria(name, procedure):
    both = payoffs(make(name))
    gaps = [correlated_regret(*both, match(both, procedure, Rng(2), bound=0, limit=n).joint) for n in (1000, 4_000_000)]
    assert gaps[1] < 0.02
    assert gaps[1] <= gaps[0]


def test_unconditional_regrets_vanish_in_any_game():
    for name in ("battle", "dilemma", "benefit", "monopoly"):
        assert max(match(payoffs(make(name)), "unconditional", Rng(2), bound=0, limit=500_000).regrets) < 0.005


def test_the_dilemma_ends_in_accusations():
    for procedure in PROCEDURES:
        assert match(payoffs(make("dilemma")), procedure, Rng(4), bound=0, limit=100_000).joint[1, 1] > 0.99


# ---- measures, by hand


def test_measures():
    battle = payoffs(make("battle"))
    together, apart = np.array([[0.5, 0.0], [0.0, 0.5]]), np.full((2, 2), 0.25)
    assert correlated_regret(*battle, together) == 0
    assert correlated_regret(*battle, apart) == 0.25  # who went to the other's place gains 0.5 - 0.25 at the own one
    assert unconditional_regrets(*battle, together) == (0, 0)
    assert unconditional_regrets(*battle, apart) == (0.25, 0.25)
    ballet, baseball = np.eye(2)
    assert exploitability(*battle, ballet, ballet) == exploitability(*battle, baseball, baseball) == 0
    assert exploitability(*battle, baseball, ballet) == 2 + 2  # she gains 2 by going to the ballet, he 2 by leaving it
    assert exploitability(*battle, ballet, baseball) == 1 + 1
    rps = payoffs(make("rps"))
    third, rock = np.full(3, 1 / 3), np.eye(3)[ROCK]
    assert exploitability(*rps, third, third) == pytest.approx(0, abs=1e-15)
    assert exploitability(*rps, rock, rock) == 2
    assert exploitability(*rps, rock, third) == 1


# ---- runs


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_seeded_runs_are_the_same_in_one_piece_or_in_many(procedure):
    both = payoffs(make("token_domino"))
    whole, pieces, other = (Matching(both, procedure) for _ in range(3))
    whole.play(Rng(8), 5000)
    rng = Rng(8)
    for until in (1, 2, 50, 777, 5000):
        pieces.play(rng, until)
    other.play(Rng(9), 5000)
    assert (whole.meeting.counts == pieces.meeting.counts).all()
    assert (whole.meeting.counts != other.meeting.counts).any()
    assert (match(both, procedure, Rng(8), bound=0, limit=5000).joint == whole.joint).all()


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_run_stops_at_the_first_look_that_finds_both_regrets_below_the_bound(procedure):
    both = payoffs(make("rps"))
    matched = match(both, procedure, Rng(6), bound=0.03)
    assert matched.iterations % CHECK == 0
    matching, rng, looks = Matching(both, procedure), Rng(6), []
    while matching.iterations < matched.iterations:
        matching.play(rng, matching.iterations + CHECK)
        looks.append(max(unconditional_regrets(*both, matching.joint)))
    assert looks[-1] < 0.03 <= min(looks[:-1])


def test_the_history_of_a_run():
    matched = match(payoffs(make("rps")), "unconditional", Rng(6), bound=0, limit=12_345)
    iterations = [point.iterations for point in matched.history]
    assert iterations[0] == CHECK
    assert iterations[-1] == matched.iterations == 12_345
    assert all(1.2 < later / earlier < 1.3 for earlier, later in pairwise(iterations[:-1]))
    assert matched.history[-1].regret == max(matched.regrets)
    assert matched.history[-1].exploitability == matched.exploitability
    assert matched.history[-1].seconds == matched.seconds > matched.history[0].seconds > 0
    assert match(payoffs(make("rps")), "conditional", Rng(6), limit=1).joint.sum() == 1


def test_players_without_a_choice():
    for procedure in PROCEDURES:
        assert match(([[2.0]], [[-2.0]]), procedure, Rng(1)).iterations == CHECK
        assert match(([[3.0, 3.0]], [[3.0, 3.0]]), procedure, Rng(1)).exploitability == pytest.approx(0, abs=1e-12)


def test_wrong_input():
    good = [[0.0, 1.0]]
    for bad in ([[0.0]], [0.0, 1.0], [[0.0, float("nan")]]):
        with pytest.raises(TapeteError, match="payoffs"):
            Matching((good, bad), "conditional")
    with pytest.raises(TapeteError, match="there are conditional, invariant, unconditional"):
        Matching((good, good), "best")  # type: ignore[arg-type]
    with pytest.raises(TapeteError, match="bound"):
        match((good, good), "conditional", Rng(1), bound=-1)
    with pytest.raises(TapeteError, match="limit"):
        match((good, good), "conditional", Rng(1), limit=0)
    with pytest.raises(TapeteError, match="row and a column"):
        Matching((good, good), "conditional").watch([(1, 0)])
