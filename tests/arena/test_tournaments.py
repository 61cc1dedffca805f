"""Tournaments: every pair on the same deals, and sums that are those of the matches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tapete.arena import Agent, match, tournament
from tapete.arena.ratings import rate
from tapete.core import CHANCE, TapeteError, Thought


class Fixed:
    """Makes the same kind of move all the time."""

    def __init__(self, move):
        self.move = move

    def think(self, view, rng):
        return Thought(probabilities={self.move(view): 1.0})


def first(game):
    return Fixed(lambda view: view.actions()[0])


def last(game):
    return Fixed(lambda view: view.actions()[-1])


def named(view, move):
    return next(action for action in view.actions() if view.write(action) == move)


def rock(game):
    return Fixed(lambda view: named(view, "rock"))


def paper(game):
    return Fixed(lambda view: named(view, "paper"))


def half(game):
    """Rock in the first seat and paper in the second: somewhere between."""
    return Fixed(lambda view: named(view, "paper" if view.seat else "rock"))


def chance_of(result, played):
    """What chance did in a game, in order."""
    state, drawn = result.game.start(), []
    for action in played.actions:
        if state.player == CHANCE:
            drawn.append(action)
        state.apply(action)
    return drawn


@pytest.mark.parametrize(("name", "dealt"), [("leduc", 2), ("holdem(players=3)", 6), ("truco", 6)])
def test_every_pair_plays_the_same_deals(name, dealt):
    result = tournament(name, [first, "random", last], games=12, seed=3)
    assert [*result.matches] == [(0, 1), (0, 2), (1, 2)]
    deals = [[tuple(chance_of(result, played)[:dealt]) for played in one.games] for one in result.matches.values()]
    assert deals[0] == deals[1] == deals[2]
    assert len(set(deals[0])) > 1, "and not one deal all the time"
    assert {one.seed for one in result.matches.values()} == {3}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("leduc", {"games": 10, "seed": 4}),
        ("othello(4)", {"games": 6, "seed": 2, "openings": 3}),
        ("doudizhu", {"games": 4, "seed": 1, "lineups": ("ABB", "BAA")}),
    ],
)
def test_a_match_of_a_tournament_is_that_match(name, options):
    agents: list[Agent] = [first, "random", last]
    result = tournament(name, agents, **options)
    assert result.seed == options["seed"]
    for (i, j), one in result.matches.items():
        alone = match(name, agents[i], agents[j], **options)
        assert [played[:4] for played in one.games] == [played[:4] for played in alone.games]
        assert one.to_json() | {"milliseconds": 0} == alone.to_json() | {"milliseconds": 0}


def test_sums_are_those_of_the_matches():
    """Three agents, of whom it is known who beats whom by how much."""
    result = tournament("rps", [rock, half, paper], games=10)
    assert result.agents == ("rock", "half", "paper")
    # Paper beats rock in all games, half plays a draw with either in every second game and wins or loses the other.
    assert [[result.share(i, j) for j in range(3) if j != i] for i in range(3)] == [[0.25, 0], [0.75, 0.25], [1, 0.75]]
    assert [result.points(i) for i in range(3)] == [2.5, 10, 17.5]
    assert [result.games(i) for i in range(3)] == [20, 20, 20]
    assert [result.difference(i) for i in range(3)] == [-1.5, 0, 1.5]
    assert result.ranking == [2, 1, 0]
    data = result.to_json()
    assert [row["agent"] for row in data["ratings"]] == ["paper", "half", "rock"]
    assert [row["points"] for row in data["ratings"]] == [17.5, 10, 2.5]
    assert [row["games"] for row in data["ratings"]] == [20, 20, 20]
    assert [row["difference"] for row in data["ratings"]] == [1.5, 0, -1.5]
    elo = [row["elo"] for row in data["ratings"]]
    assert elo == sorted(elo, reverse=True)
    assert all(row["interval"][0] < row["elo"] < row["interval"][1] for row in data["ratings"])
    assert [one["agents"] for one in data["matches"]] == [["rock", "half"], ["rock", "paper"], ["half", "paper"]]


def test_ratings_are_those_of_the_shares_and_of_the_seed():
    result = tournament("leduc", [first, "random", last], games=20, seed=6)
    expected = rate(3, {pair: one.shares for pair, one in result.matches.items()}, 6)
    for ours, theirs in zip(result.ratings, expected, strict=True):
        assert (ours == theirs).all()
    other = rate(3, {pair: one.shares for pair, one in result.matches.items()}, 7)
    assert (other.elo == expected.elo).all()
    assert (other.low != expected.low).any(), "intervals are drawn by the seed"
    assert np.isfinite(expected.high).all()


def test_deals_that_are_repeated_count_once_in_ratings():
    result = tournament("rps", [rock, half, paper], games=10)
    shares = {pair: one.shares for pair, one in result.matches.items()}
    expected = rate(3, shares, 1, dict.fromkeys(shares, 1))
    for ours, theirs in zip(result.ratings, expected, strict=True):
        assert (ours == theirs).all()
    assert (expected.elo != rate(3, shares, 1).elo).any()


def test_progress_is_that_of_all_matches():
    told = []
    result = tournament("leduc", [first, "random", last], games=5, watch=lambda *now: told.append(now))
    assert [title for title, *_ in told] == ["first - random"] * 3 + ["first - last"] * 3 + ["random - last"] * 3
    assert [(done, of) for _, done, of, _ in told] == [(done, 18) for done in range(2, 19, 2)]
    for (_, _, _, share), one in zip(told[2::3], result.matches.values(), strict=True):
        assert share == pytest.approx(one.win_share)


def test_agents_are_tried_before_the_first_match():
    begun = itertools.count()

    def counting(game):
        return Fixed(lambda view: next(begun) and 0)

    cases: list[tuple[list[Agent], str]] = [
        ([counting, "random", "nobody"], "there is no agent 'nobody'"),
        ([counting], "two agents or more"),
        ([counting, "random", counting], "counting is in the tournament twice"),
    ]
    for agents, complaint in cases:
        with pytest.raises(TapeteError, match=complaint):
            tournament("leduc", agents, games=4)
    assert next(begun) == 0
