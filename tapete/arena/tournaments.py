"""Everybody against everybody, on the same deals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import Any

from tapete.arena.diary import Diary
from tapete.arena.matches import Agent, Match, check_numbers, maker, match, name_of
from tapete.arena.ratings import Ratings, rate
from tapete.arena.teams import TeamResult
from tapete.core import Game, TapeteError, make
from tapete.scale import Executor, given_or_local

OnGame = Callable[[str, int, int, float], None]  # the match, games played, games in all, the share of its first agent


@dataclass(frozen=True)
class Tournament:
    """What came of a tournament."""

    game: Game
    agents: tuple[str, ...]
    seed: int
    matches: dict[tuple[int, int], Match]  # (i, j), i < j: agent i was A

    def share(self, i: int, j: int) -> float:
        """What agent i won against agent j, draws counting half."""
        return self.matches[i, j].win_share if i < j else 1 - self.matches[j, i].win_share

    def teams(self, i: int, j: int) -> dict[str, TeamResult]:
        """What agent i won against agent j as each team, by the team's name."""
        return self._match(i, j).teams("A" if i < j else "B")

    def points(self, i: int) -> float:
        """What agent i won in all: a game 1, a draw a half."""
        return sum(self.share(i, j) * len(self._match(i, j).games) for j in self._others(i))

    def difference(self, i: int) -> float:
        """What a seat of agent i was paid more than a seat of those it played against, a game."""
        differences = [(1 if i < j else -1) * self._match(i, j).differences.mean() for j in self._others(i)]
        return float(sum(differences) / len(differences))

    def games(self, i: int) -> int:
        """How many games agent i played."""
        return sum(len(self._match(i, j).games) for j in self._others(i))

    def _others(self, i: int) -> list[int]:
        return [j for j in range(len(self.agents)) if j != i]

    def _match(self, i: int, j: int) -> Match:
        return self.matches[min(i, j), max(i, j)]

    @cached_property
    def ratings(self) -> Ratings:
        """Elo, with intervals."""
        shares = {pair: match.shares for pair, match in self.matches.items()}
        independent = {pair: match.independent for pair, match in self.matches.items()}
        return rate(len(self.agents), shares, self.seed, independent)

    @property
    def ranking(self) -> list[int]:
        """The agents, the strongest first."""
        return sorted(range(len(self.agents)), key=lambda i: -self.ratings.elo[i])

    def to_json(self) -> dict[str, Any]:
        """Ratings, the strongest first, and every match."""
        elo, low, high = (numbers.tolist() for numbers in self.ratings)
        return {
            "game": str(self.game),
            "seed": self.seed,
            "ratings": [
                {
                    "agent": self.agents[i],
                    "elo": elo[i],
                    "interval": [low[i], high[i]],
                    "points": self.points(i),
                    "games": self.games(i),
                    "difference": self.difference(i),
                }
                for i in self.ranking
            ],
            "matches": [match.to_json() for match in self.matches.values()],
        }


def tournament(
    game: Game | str,
    agents: Sequence[Agent],
    *,
    games: int = 100,
    seed: int = 1,
    openings: int = 0,
    lineups: Sequence[str] = (),
    workers: int = 2,
    executor: Executor | None = None,
    watch: OnGame | None = None,
    folder: Path | None = None,
    resume: bool = False,
) -> Tournament:
    """Plays a match for every pair of agents, all with the same seed: every pair plays the same deals.

    :param agents: two or more, all different: names, or functions that make a policy.
    :param games: of each match; this and all else is as in `match`.
    :param watch: called after every deal of every match.
    :param folder: where deals are written down as they are played, until all of them are.
    :param resume: go on with what is written there. The result is that of a tournament that was never stopped.
    """
    game = make(game) if isinstance(game, str) else game
    check_numbers(games=games, openings=openings, workers=workers)
    names = tuple(map(name_of, agents))
    if len(names) < 2:
        raise TapeteError("a tournament needs two agents or more")
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise TapeteError(f"{twice[0]} is in the tournament twice; a match tells how it does against itself")
    for agent in agents:
        maker(game, agent)
    terms = {"agents": list(names), "games": games, "seed": seed, "openings": openings, "lineups": list(lineups)}
    diary = Diary(folder, game, terms, resume=resume) if folder else None
    pairs = list(combinations(range(len(agents)), 2))
    matches: dict[tuple[int, int], Match] = {}
    try:
        with given_or_local(executor, workers) as where:
            for i, j in pairs:
                title = f"{names[i]} - {names[j]}"

                def tell(done: int, of: int, share: float, title: str = title) -> None:
                    if watch:
                        watch(title, len(matches) * of + done, len(pairs) * of, share)

                matches[i, j] = match(
                    game,
                    agents[i],
                    agents[j],
                    games=games,
                    seed=seed,
                    openings=openings,
                    lineups=lineups,
                    executor=where,
                    watch=tell,
                    known=diary.deals.get(title) if diary else None,
                    keep=partial(diary.write, title) if diary else None,
                )
    finally:
        if diary:
            diary.close(finished=len(matches) == len(pairs))
    return Tournament(game, names, seed, matches)
