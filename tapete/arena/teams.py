"""How an agent does as each team of a game: WP and ADP as the literature of Dou Dizhu has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tapete.arena.playing import Played
from tapete.arena.statistics import Interval, mean_interval


class TeamResult(NamedTuple):
    """What an agent won as a team, against a team of the other agent."""

    games: int
    wp: float  # winning percentage: the share of games won, draws counting half
    wp_interval: Interval  # at 95 %
    adp: float  # average difference in points: what the team was paid a game, all its seats together
    adp_interval: Interval  # at 95 %, if stakes beyond the highest that was seen don't come

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**self._asdict(), "wp_interval": list(self.wp_interval), "adp_interval": list(self.adp_interval)}


def team_results(deals: Iterable[Sequence[Played]], side: str, weight: float = 1.0) -> dict[str, TeamResult]:
    """By the team's name, what a side ("A" or "B") won as that team; games of mixed teams don't count.

    Deals are independent and their games are not, so intervals are by deals, each with the mean of its games.

    :param weight: how many independent deals a deal is worth.
    """
    paid: dict[str, list[list[Fraction]]] = {}  # by team, of each deal, of each game
    for games in deals:
        for team, payoffs in _paid(games, side).items():
            paid.setdefault(team, []).append(payoffs)
    return {team: team_result(paid[team], weight) for team in sorted(paid)}


def _paid(games: Sequence[Played], side: str) -> dict[str, list[Fraction]]:
    """By team, what a side was paid as that team in each of these games."""
    paid: dict[str, list[Fraction]] = {}
    for played in games:
        seats = list(zip(played.teams, played.lineup, map(Fraction, played.returns), strict=True))
        if len({(team, who) for team, who, _ in seats}) == len(set(played.teams)):  # none is mixed
            for ours in {team for team, who, _ in seats if who == side}:
                paid.setdefault(ours, []).append(sum((pay for team, _, pay in seats if team == ours), Fraction()))
    return paid


def team_result(paid: Sequence[Sequence[Fraction | float]], weight: float = 1.0) -> TeamResult:
    """Of what a team was paid in each game of each deal."""
    wins = [[Fraction((pay > 0) + (pay >= 0), 2) for pay in games] for games in paid]
    shares, points = (np.array([float(sum(games) / len(games)) for games in each]) for each in (wins, paid))
    most = float(np.abs(points).max())
    return TeamResult(
        sum(map(len, paid)),
        float(shares.mean()),
        mean_interval(shares, 0, 1, weight * len(shares)),
        float(points.mean()),
        mean_interval(points, -most, most, weight * len(points)),
    )
