"""Games that are played in teams: who sits where, and WP and ADP as each team."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tapete.arena import match, tournament
from tapete.arena.lineups import lineups_of
from tapete.arena.statistics import mean_interval
from tapete.core import Game, Thought, make
from tests.conftest import Tapete

AUCTION = "doudizhu(bidding=true)"


class Fixed:
    """Makes the first move or the last one."""

    def __init__(self, which):
        self.which = which

    def think(self, view, rng):
        return Thought(probabilities={view.actions()[self.which]: 1.0})


def last(game):
    return Fixed(-1)


def first(game):
    return Fixed(0)


def test_teams_are_swapped_without_being_told():
    result = match("doudizhu", "random", last, games=8)
    told = match("doudizhu", "random", last, games=8, lineups=("ABB", "BAA"))
    assert [played[:4] for played in result.games] == [played[:4] for played in told.games]
    assert result.to_json() | {"milliseconds": 0} == told.to_json() | {"milliseconds": 0}


def test_a_team_may_sit_anywhere(monkeypatch):
    game = make("doudizhu")
    for teams, lineups in ((("p", "q", "p"), ("ABA", "BAB")), (("p", "q", "r"), ("ABB", "BAB", "BBA"))):
        monkeypatch.setattr(Game, "teams", lambda self, data, teams=teams: teams)
        assert lineups_of(game) == lineups


@pytest.mark.parametrize("name", ["doudizhu", AUCTION])
@pytest.mark.parametrize("side", "AB")
def test_figures_of_teams_are_those_of_the_games(name, side):
    """Computed again by loops, from games that are replayed."""
    result = match(name, "random", "random" if name == AUCTION else last, games=60, seed=2)
    found: dict[str, list[list[float]]] = {"landlord": [], "peasants": []}
    step = len(result.lineups)
    for start in range(0, len(result.games), step):
        of_deal: dict[str, list[float]] = {"landlord": [], "peasants": []}
        for played in result.games[start : start + step]:
            final = result.game.replay(list(played.actions))
            landlord = int(final.game.record(final.data)["landlord"])
            peasants = [seat for seat in range(3) if seat != landlord]
            if {played.lineup[seat] for seat in peasants} != {"AB".replace(played.lineup[landlord], "")}:
                continue  # a mixed team
            if played.lineup[landlord] == side:
                of_deal["landlord"].append(played.returns[landlord])
            else:
                of_deal["peasants"].append(sum(played.returns[seat] for seat in peasants))
        for team, points in of_deal.items():
            found[team] += [points] if points else []
    results = result.teams(side)
    assert list(results) == ["landlord", "peasants"]
    for team, deals in found.items():
        means = [sum(points) / len(points) for points in deals]
        shares = [sum(x > 0 for x in points) / len(points) for points in deals]
        most = max(map(abs, means))
        assert results[team].games == sum(map(len, deals)) > 3
        assert results[team].wp == pytest.approx(sum(shares) / len(shares))
        assert results[team].adp == pytest.approx(sum(means) / len(means))
        assert results[team].wp_interval == pytest.approx(mean_interval(shares, 0, 1))
        assert results[team].adp_interval == pytest.approx(mean_interval(means, -most, most))
        assert -50 < results[team].adp_interval[0] < results[team].adp < results[team].adp_interval[1] < 50


def test_what_a_team_wins_the_other_loses():
    result = match("doudizhu", "random", last, games=40)
    ours, theirs = result.teams("A"), result.teams("B")
    for team, other in (("landlord", "peasants"), ("peasants", "landlord")):
        assert ours[team].wp == pytest.approx(1 - theirs[other].wp)
        assert ours[team].adp == pytest.approx(-theirs[other].adp)
    assert result.win_share == pytest.approx((ours["landlord"].wp + ours["peasants"].wp) / 2)
    assert result.mean == pytest.approx((ours["landlord"].adp + ours["peasants"].adp) / 2)


def test_repeated_deals_make_no_interval_narrower():
    result = match("doudizhu", first, last, games=20)
    assert result.independent == 10
    alone = replace(result, games=tuple(played._replace(draws=0) for played in result.games[:2] * 10))
    assert alone.independent == 1
    assert alone.teams()["landlord"].wp_interval == match("doudizhu", first, last, games=2).teams()["landlord"][2]


def test_landlord_and_peasants_of_random_play_are_those_of_the_paper():
    """Zha et al. 2021 in 10,000 deals: .3461 and .6539, -0.883 and 0.883."""
    won = match("doudizhu", "random", "random", games=600).teams()
    assert won["landlord"].wp_interval[0] < 0.3461 < won["landlord"].wp_interval[1]
    assert won["peasants"].adp_interval[0] < 0.883 < won["peasants"].adp_interval[1]


def test_everybody_is_even_with_himself_after_an_auction():
    result = match(AUCTION, "random", "random", games=12)
    assert result.lineups == ("ABB", "BAB", "BBA", "BAA", "ABA", "AAB")
    assert (result.shares == 0.5).all()
    assert (result.differences == 0).all()


def test_games_without_teams_tell_nothing_of_them():
    result = match("holdem(players=3)", "random", last, games=6)
    assert (result.lineups, result.teams()) == (("ABB", "BAB", "BBA"), {})
    assert "teams" not in result.to_json()


def test_a_match_tells_its_teams(tapete: Tapete) -> None:
    command = ("match", "doudizhu", "random", "ismcts(3)", "-n", "20")
    data, told = json.loads(tapete(*command, "--json").out), tapete(*command).out
    assert data["lineups"] == ["ABB", "BAA"]
    for team in ("landlord", "peasants"):
        won = data["teams"][team]
        low, high = won["wp_interval"]
        assert f"as {team}       WP {100 * won['wp']:.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f};" in told
        assert f"ADP {won['adp']:+.3f}, {won['adp_interval'][0]:+.3f} to" in told
    assert "  wins    " in told
    assert "as landlord" not in tapete("match", "kuhn", "random", "random", "-n", "4").out


def test_a_tournament_has_the_tables_of_the_paper(tapete: Tapete, tmp_path: Path) -> None:
    agents = ("random", "ismcts(3)", "ismcts(1)")
    told = tapete("tournament", "doudizhu", *agents, "-n", "8", "--out", str(tmp_path)).out
    result = tournament("doudizhu", agents, games=8)
    with (tmp_path / "teams.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2 * 2
    for row in rows:
        won = result.teams(*(agents.index(row[key]) for key in ("agent", "against")))[row["team"]]
        assert (float(row["wp"]), float(row["adp"]), int(row["games"])) == (won.wp, won.adp, won.games)
        assert (float(row["wp_low"]), float(row["adp_high"])) == (won.wp_interval[0], won.adp_interval[1])
    wp, adp = told.partition("WP as landlord / peasants")[2].split("ADP as landlord / peasants")
    for i, j in ((0, 1), (1, 0), (2, 1)):
        landlord, peasants = result.teams(i, j).values()
        assert f"{100 * landlord.wp:.1f} / {100 * peasants.wp:.1f}" in _row(wp, agents[i])
        assert f"{landlord.adp:+.3f} / {peasants.adp:+.3f}" in _row(adp, agents[i])


def _row(table: str, agent: str) -> str:
    return next(line for line in table.splitlines() if f" {agent} " in line)
