"""Two agents, many deals, and on each deal one game for every way in which they may sit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, product
from threading import Event
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tapete.agents import Policy, load
from tapete.arena.lineups import SIDES, check_lineups, lineups_of
from tapete.arena.luck import Value, read_value
from tapete.arena.playing import Deal, Played, play
from tapete.arena.statistics import LEVEL, Interval, mean_interval, p_value
from tapete.arena.teams import TeamResult, team_results
from tapete.arena.telling import match_facts
from tapete.core import Game, Record, TapeteError, make
from tapete.core.pictures import facts_html
from tapete.scale import Executor, Job, Serial, given_or_local

# A name; a function that makes a fresh one for every game; or one that remembers nothing, and plays in all of them.
Agent = str | Callable[[Game], Policy] | Policy
Item = TypeVar("Item")
OnDeal = Callable[[int, int, float], None]  # games played, games in all, A's share of wins so far

QUICK = 0.0005  # seconds a move
MOST_GAMES = 10_000_000  # a match keeps them all: some gigabytes


@dataclass(frozen=True, repr=False)
class Match:
    """What came of a match. Shares and payoffs are those of the first agent, A."""

    game: Game
    agents: tuple[str, str]
    seed: int
    openings: int
    lineups: tuple[str, ...]
    games: tuple[Played, ...]  # deal by deal, the lineups in order

    def __repr__(self) -> str:
        (a, b), (low, high) = self.agents, self.mean_interval
        paid = f"{self.mean:+.4g} a game, 95 % interval {low:+.4g} to {high:+.4g}"
        return f"<Match of {self.game}, {a} against {b}, {len(self.games):,} games: {paid}>"

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """What A won of each deal, draws counting half: [deals]."""
        return self._by_deal(map(share, self.games))

    @cached_property
    def payoffs(self) -> NDArray[np.float64]:
        """What the seats of A were paid together in a game of each deal, on average: [deals]."""
        return self._by_deal(sum(_of(played, "A", played.returns)) for played in self.games)

    @cached_property
    def corrected(self) -> NDArray[np.float64]:
        """The same less what luck brought them, where it was judged: [deals]."""
        if not self.games[0].luck:
            raise TapeteError("luck was not judged in this match; `luck=` says by what")
        return self.payoffs - self._by_deal(sum(_of(played, "A", played.luck)) for played in self.games)

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """By how much a seat of A was paid more than a seat of B in a game of each deal, on average: [deals]."""
        return self._by_deal(map(margin, self.games))

    def _by_deal(self, values: Iterable[Fraction | int]) -> NDArray[np.float64]:
        """The means over deals. Fractions are exact: what cancels leaves nothing, not 1e-17."""
        return np.array([float(Fraction(sum(games)) / len(games)) for games in self._deals(list(values))])

    def _deals(self, games: Sequence[Item]) -> list[Sequence[Item]]:
        """What belongs to games, deal by deal."""
        return [games[i : i + len(self.lineups)] for i in range(0, len(games), len(self.lineups))]

    @cached_property
    def different(self) -> int:
        """How many different games were played."""
        return len({(played.lineup, played.actions) for played in self.games})

    @cached_property
    def independent(self) -> int:
        """How many deals tell something of their own.

        Where neither chance nor an agent has drawn anything, deals with the same games are one deal that was repeated.
        """
        deals = [
            (any(game.draws for game in games), [game.actions for game in games]) for games in self._deals(self.games)
        ]
        return sum(drawn for drawn, _ in deals) + len({tuple(actions) for drawn, actions in deals if not drawn})

    @property
    def warnings(self) -> list[str]:
        """What somebody should know before believing the figures, and what to do."""
        found, deals = [], len(self.shares)
        if self.independent < deals:
            found.append(
                f"only {self.independent:,} of {deals:,} deals differ, because nothing is drawn; the others count for"
                " nothing. --openings 8 begins each deal with 8 random plies"
            )
        if not self.interval[0] <= 0.5 <= self.interval[1] and self.p > 1 - LEVEL:
            low, high = self._bounds
            found.append(
                f"who wins more often is sure, who is paid more is not: payoffs of {low:+,g} to {high:+,g} are"
                " possible, and so few deals don't exclude that rare ones decide. More games (-n) do"
            )
        return found

    @property
    def win_share(self) -> float:
        """Games won, draws counting half; with more than two seats, seats of B that a seat of A did better than."""
        return float(self.shares.mean())

    @cached_property
    def interval(self) -> Interval:
        """Where the win share is expected, at 95 %."""
        return mean_interval(self.shares, 0, 1, self.independent)

    @property
    def mean(self) -> float:
        """What A was paid a game, on all its seats together."""
        return float(self.payoffs.mean())

    @cached_property
    def mean_interval(self) -> Interval:
        """Where that is expected, at 95 %."""
        return mean_interval(self.payoffs, *self._bounds, self.independent)

    @property
    def corrected_mean(self) -> float:
        """What A was paid a game, less luck."""
        return float(self.corrected.mean())

    @cached_property
    def corrected_interval(self) -> Interval:
        """Where what A is paid is expected, at 95 %, by payoffs less luck."""
        return mean_interval(self.corrected, *self._bounds, self.independent)

    @property
    def _bounds(self) -> Interval:
        """The least and the most that the seats of A can be paid together in a deal, on average."""
        return self._mean_of_lineups(lambda most, ours, theirs: most)

    @property
    def _difference_bounds(self) -> Interval:
        """The least and the most by which a seat of A can be paid more than a seat of B in a deal, on average."""
        low, high = self.game.spec.utility
        if not self.game.spec.zero_sum:
            return low - high, high - low
        return self._mean_of_lineups(lambda most, ours, theirs: most / ours + most / theirs)

    def _mean_of_lineups(self, change: Callable[[float, int, int], float]) -> Interval:
        """The mean of both bounds over lineups, changed by how many seats are ours and theirs."""
        both = []
        for ours, theirs in ((lineup.count("A"), lineup.count("B")) for lineup in self.lineups):
            least, most = (ours * bound for bound in self.game.spec.utility)
            if self.game.spec.zero_sum:  # what is won is lost by the others, who can't lose more than all of theirs
                low, high = (-theirs * bound for bound in reversed(self.game.spec.utility))
                least, most = max(least, low), min(most, high)
            both.append([change(least, ours, theirs), change(most, ours, theirs)])
        least, most = np.mean(both, axis=0).tolist()
        return least, most

    @cached_property
    def p(self) -> float:
        """How well luck alone explains the differences, if a seat of A expects to be paid as much as a seat of B."""
        return p_value(self.differences, 0, *self._difference_bounds, self.independent)

    @cached_property
    def share_p(self) -> float:
        """How well luck alone explains the shares, if A expects to win half."""
        return p_value(self.shares, 0.5, 0, 1, self.independent)

    @cached_property
    def results(self) -> tuple[int, int, int]:
        """Games in which A was paid more than B, as much, less."""
        margins = list(map(margin, self.games))
        return sum(x > 0 for x in margins), sum(x == 0 for x in margins), sum(x < 0 for x in margins)

    def teams(self, side: str = "A") -> dict[str, TeamResult]:
        """What A (or B) won as each team, by the team's name; nothing in games that each plays for himself."""
        deals = self._deals(self.games) if self.game.spec.teams else []
        return team_results(deals, side, self.independent / len(self.shares))

    @property
    def milliseconds(self) -> tuple[float, float]:
        """How long A and B thought about a move."""
        moves = np.sum([played.moves for played in self.games], axis=0)
        a, b = 1000 * np.sum([played.seconds for played in self.games], axis=0) / np.maximum(moves, 1)
        return float(a), float(b)

    def record(self, played: Played) -> Record:
        """The log of a game of this match."""
        return self.game.replay(list(played.actions)).record(*self.names(played))

    def names(self, played: Played) -> list[str]:
        """Which agent sat on each seat of a game."""
        return [self.agents[SIDES.index(side)] for side in played.lineup]

    def _repr_html_(self) -> str:
        (_, title), *facts = match_facts(self)
        return facts_html(title, facts)

    def to_json(self) -> dict[str, Any]:
        """The figures, as plain data; all but the milliseconds are the same in every run with this seed."""
        wins, draws, losses = self.results
        return {
            "game": str(self.game),
            "agents": list(self.agents),
            "seed": self.seed,
            "openings": self.openings,
            "lineups": list(self.lineups),
            "games": len(self.games),
            "deals": len(self.shares),
            "different": self.different,
            "independent": self.independent,
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "win_share": self.win_share,
            "interval": list(self.interval),
            "mean": self.mean,
            "mean_interval": list(self.mean_interval),
            "difference": float(self.differences.mean()),
            "p": self.p,
            "share_p": self.share_p,
            **self._corrected_json(),
            **(
                {"teams": {team: result.to_json() for team, result in teams.items()}} if (teams := self.teams()) else {}
            ),
            "warnings": self.warnings,
            "milliseconds": list(self.milliseconds),
        }

    def _corrected_json(self) -> dict[str, Any]:
        if not self.games[0].luck:
            return {}
        return {"corrected_mean": self.corrected_mean, "corrected_interval": list(self.corrected_interval)}


def match(
    game: Game | str,
    a: Agent,
    b: Agent,
    *,
    games: int = 100,
    seed: int = 1,
    openings: int = 0,
    lineups: Sequence[str] = (),
    workers: int = 2,
    executor: Executor | None = None,
    luck: str | Value | None = None,
    watch: OnDeal | None = None,
    known: Mapping[int, list[Played]] | None = None,
    keep: Callable[[list[Played]], None] | None = None,
) -> Match:
    """Plays two agents against each other, on every deal one game for every way in which they may sit.

    :param a: the agent whose results are told: a name, or a function that makes a fresh policy for every seat of every
        game, or a policy that remembers nothing of a game, which then plays on all seats of its side.
    :param b: the agent that it plays against.
    :param games: how many, rounded up to whole deals.
    :param seed: what deals, openings and the agents' own draws come from; the same seed gives the same games.
    :param openings: how many plies of players are random at the beginning, the same in all games of a deal.
    :param lineups: who sits where in the games of a deal. Without it, A takes each seat in turn, or each team where
        the game is played in teams, and copies of B the others. Every seat must be worth the same to both sides, as in
        "AB", "BA" or in "ABB", "BAA".
    :param workers: threads or processes; the result doesn't depend on how many. A policy that was handed in as it is
        plays in one thread.
    :param executor: where games are played, instead of such threads; the result doesn't depend on it either. Agents
        that play elsewhere than here are names.
    :param luck: what judges how lucky everybody was, so that `Match.corrected` can be told: a function that says what a
        state is worth to each seat, or the name of one, as in `tapete.arena.luck`.
    :param watch: called after every deal.
    :param known: games of deals that were played before, by number: those are not played again.
    :param keep: called with the games of every deal that is played now.

    >>> match("kuhn", "random", "random", games=20).mean
    0.0
    """
    game = make(game) if isinstance(game, str) else game
    lineups = check_lineups(game, lineups or lineups_of(game))
    check_numbers(games=games, openings=openings, workers=workers)
    travels = isinstance(a, str) and isinstance(b, str) and isinstance(luck, str | None)
    if executor and not executor.is_here and not travels:
        raise TapeteError("agents and values that are functions can't be sent elsewhere; name them, or play here")
    if is_policy(a) or is_policy(b):
        executor = Serial()
    job = Job(
        f"{__name__}:open_deals",
        {"game": game, "agents": (a, b), "lineups": lineups, "seed": seed, "openings": openings, "luck": luck},
        threads_pay,
        travels,
    )
    deals = -(-games // len(lineups))
    played = [games for number, games in (known or {}).items() if number < deals]
    won = Fraction(sum(share(game) for games in played for game in games))
    done = {games[0].deal for games in played}
    left = [number for number in range(deals) if number not in done]
    with given_or_local(executor, workers) as where, closing(where.spread(job, left)) as results:
        for _, result in results:
            if keep:
                keep(result)
            played.append(result)
            won += sum(map(share, result))
            if watch:
                watch(len(played) * len(lineups), deals * len(lineups), float(won) / (len(played) * len(lineups)))
    played.sort(key=lambda result: result[0].deal)
    return Match(game, (name_of(a), name_of(b)), seed, openings, lineups, tuple(chain.from_iterable(played)))


def check_numbers(*, games: int, openings: int, workers: int) -> None:
    """A match keeps all its games in memory, so there can't be any number of them."""
    for name, number, least in (("games", games, 1), ("openings", openings, 0), ("workers", workers, 1)):
        if number < least:
            raise TapeteError(f"{name} must be {least} or more, not {number}")
    if games > MOST_GAMES:
        raise TapeteError(f"a match keeps all its games, and has {MOST_GAMES:,} at most, not {games:,}")


def open_deals(
    stop: Event,
    *,
    game: Game,
    agents: tuple[Agent, Agent],
    lineups: Sequence[str],
    seed: int,
    openings: int,
    luck: str | Value | None,
) -> Callable[[int], list[Played]]:
    """What plays all games of a deal, by its number: the job of a match."""
    sides = {side: maker(game, agent) for side, agent in zip(SIDES, agents, strict=True)}
    value = read_value(luck, game) if isinstance(luck, str) else luck

    def play_deal(number: int) -> list[Played]:
        deal = Deal(seed, number)
        return [play(game, lineup, sides, deal, openings=openings, value=value, stop=stop) for lineup in lineups]

    return play_deal


def threads_pay(first: list[Played]) -> bool:
    """Whether agents think long enough, as the games of a first deal show: quick ones only wait for the interpreter."""
    return sum(first[-1].seconds) >= QUICK * sum(first[-1].moves)


def share(played: Played) -> Fraction:
    """The seats of B that a seat of A did better than, as a share; as good counts half."""
    pairs = list(product(*(_of(played, side, played.returns) for side in SIDES)))
    return Fraction(sum(2 * (ours > theirs) + (ours == theirs) for ours, theirs in pairs), 2 * len(pairs))


def margin(played: Played) -> Fraction:
    """By how much a seat of A was paid more than a seat of B, on average."""
    ours, theirs = (_of(played, side, played.returns) for side in SIDES)
    return Fraction(sum(ours), len(ours)) - Fraction(sum(theirs), len(theirs))


def _of(played: Played, side: str, numbers: Sequence[float]) -> list[Fraction]:
    """Of numbers that belong to seats, those of a side."""
    return [Fraction(number) for who, number in zip(played.lineup, numbers, strict=True) if who == side]


def maker(game: Game, agent: Agent) -> Callable[[Game], Policy]:
    """The function that makes an agent. It is tried once, so that what is wrong is said before the first game."""
    if isinstance(agent, str):
        make_policy: Callable[[Game], Policy] = partial(load, agent)
    elif is_policy(agent):
        return _always(cast(Policy, agent))
    else:
        make_policy = cast(Callable[[Game], Policy], agent)
    if not callable(make_policy):
        raise TapeteError(f"{agent!r:.60} is no agent; it needs a name, a function of the game, or think(view, rng)")
    if not isinstance(agent, str):
        _check_maker(make_policy, game)
    made = make_policy(game)
    if not is_policy(made):
        raise TapeteError(f"{_name(make_policy)} made {made!r:.60} of the game, which has no think(view, rng)")
    return make_policy


def _check_maker(make_policy: Callable[[Game], Policy], game: Game) -> None:
    """Says it where something is handed over that can't be called with a game: a class, or `think` itself."""
    try:
        signature = inspect.signature(make_policy)
    except (TypeError, ValueError):  # one that Python can't look into
        return
    try:
        signature.bind(game)
    except TypeError:
        name = _name(make_policy)
        made = f"; {name}() may be one" if isinstance(make_policy, type) else ""
        raise TapeteError(
            f"{name}{signature} can't be called with the game, to make an agent; "
            f"an agent is an object with think(view, rng){made}"
        ) from None


def _name(thing: object) -> str:
    return getattr(thing, "__name__", type(thing).__name__)


def is_policy(agent: Agent) -> bool:
    """Whether it is one that plays, not the name of one or what makes one."""
    return hasattr(agent, "think") and not isinstance(agent, type)


def _always(policy: Policy) -> Callable[[Game], Policy]:
    """The same one in every game, which one that remembers its searches can't be."""
    if hasattr(policy, "bytes"):
        raise TapeteError(
            f"this {type(policy).__name__} remembers a game, and a match has many: "
            "give its name, as in 'ismcts(100)', or a function that makes one of a game"
        )
    return lambda game: policy


def name_of(agent: Agent) -> str:
    """The name under which an agent is shown."""
    return agent if isinstance(agent, str) else getattr(agent, "__name__", type(agent).__name__)
