"""`tapete match`, `tapete tournament`: who is better, and how sure that is."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from tapete.cli.app import Address, ExecutorName, Json, app, progress_bar, telling_how_to_go_on
from tapete.core import TapeteError
from tapete.core.files import check_writable
from tapete.core.stopping import interruptible
from tapete.scale import open_executor

if TYPE_CHECKING:
    from tapete.arena import Match, Tournament
    from tapete.arena.teams import TeamResult

GameName = Annotated[str, typer.Argument(help="The game.")]
Games = Annotated[int, typer.Option("-n", "--games", min=1, help="Games a match; rounded up to whole deals.")]
Seed = Annotated[int, typer.Option(help="What deals, openings and agents are drawn by.")]
Openings = Annotated[int, typer.Option(min=0, help="The first so many plies are random, the same for both sides.")]
Lineups = Annotated[
    str, typer.Option(help="Who sits where in the games of a deal; else A on each seat or team in turn.")
]
Workers = Annotated[int, typer.Option(min=1, max=256, help="Games at a time.")]


@app.command()
def match(
    game: GameName,
    a: Annotated[str, typer.Argument(help="An agent; its results are told.")],
    b: Annotated[str, typer.Argument(help="The agent that it plays against.")],
    games: Games = 100,
    seed: Seed = 1,
    openings: Openings = 0,
    lineups: Lineups = "",
    workers: Workers = 2,
    executor: ExecutorName = "local",
    address: Address = "",
    luck: Annotated[
        str, typer.Option(help="Also tell payoffs less luck, judged by playouts(100), or by the equilibrium if known.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Write the result and all games to this file, as JSON.")] = None,
    histories: Annotated[
        Path | None, typer.Option(help="Write all hands of hold'em to this file: .txt (PokerStars) or .phhs (PHH).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play two agents against each other, seats swapped on the same deals."""
    from tapete import arena
    from tapete.arena.report import check_histories, write_histories, write_match

    if out:
        check_writable(out)
    if histories:
        check_histories(histories, game)
    with open_executor(executor, workers=workers, address=address) as where, progress_bar(as_json) as progress:
        task = progress.add_task(a, total=games)

        def watch(done: int, of: int, share: float) -> None:
            progress.update(task, completed=done, total=of, description=f"{a} {100 * share:.1f} %")

        result = arena.match(
            game,
            a,
            b,
            games=games,
            seed=seed,
            openings=openings,
            lineups=_split(lineups),
            executor=where,
            luck=luck or None,
            watch=watch,
        )
    if out:
        write_match(result, out)
    if histories:
        write_histories(result, histories)
    if as_json:
        print(json.dumps(result.to_json()))
    else:
        _show_match(result)


@app.command()
def tournament(
    game: GameName,
    agents: Annotated[list[str], typer.Argument(help="Two agents or more.")],
    games: Games = 100,
    seed: Seed = 1,
    openings: Openings = 0,
    lineups: Lineups = "",
    workers: Workers = 2,
    executor: ExecutorName = "local",
    address: Address = "",
    out: Annotated[Path | None, typer.Option(help="Write JSON, CSV and a plot to this folder.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a tournament with --out was stopped.")] = False,
    as_json: Json = False,
) -> None:
    """Play all pairs of agents against each other, and rate them."""
    from tapete import arena
    from tapete.arena.report import RESULT, write_tournament
    from tapete.core.plots import check_plots

    if out:
        check_plots()
        check_writable(out / RESULT)
    elif resume:
        raise TapeteError("--resume needs the --out of the tournament that was stopped")
    going_on = telling_how_to_go_on() if out else nullcontext()
    where = open_executor(executor, workers=workers, address=address)
    with where, interruptible(), going_on, progress_bar(as_json) as progress:
        task = progress.add_task("", total=None)

        def watch(title: str, done: int, of: int, share: float) -> None:
            progress.update(task, completed=done, total=of, description=f"{title} {100 * share:.1f} %")

        result = arena.tournament(
            game,
            agents,
            games=games,
            seed=seed,
            openings=openings,
            lineups=_split(lineups),
            executor=where,
            watch=watch,
            folder=out,
            resume=resume,
        )
    if out:
        write_tournament(result, out)
    if as_json:
        print(json.dumps(result.to_json()))
    else:
        _show_tournament(result)


def _split(lineups: str) -> list[str]:
    return [lineup.strip() for lineup in lineups.split(",")] if lineups else []


def _show_match(result: Match) -> None:
    from tapete.arena.telling import match_facts

    title, *facts = match_facts(result)
    print(title[1])
    for name, told in facts:
        print(f"  {name:17} {told}")


def _show_tournament(result: Tournament) -> None:
    """The cross table: what the agent of a row won against that of a column, in percent."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    elo, low, high = result.ratings
    order = result.ranking
    table.add_column("", justify="right")
    table.add_column("agent", no_wrap=True)
    for heading in ("Elo", "95 %", "points", "games", *map(str, range(1, len(order) + 1))):
        table.add_column(heading, justify="right", no_wrap=True)
    for rank, i in enumerate(order, start=1):
        shares = ["·" if i == j else f"{100 * result.share(i, j):.1f}" for j in order]
        rating, least, most = (f"{round(x):+d}" for x in (elo[i], low[i], high[i]))
        record = (f"{result.points(i):g}", str(result.games(i)))
        table.add_row(str(rank), result.agents[i], rating, f"{least} to {most}", *record, *shares)
    console = Console(markup=False, highlight=False)
    console.print(table)
    if result.game.spec.teams:
        _show_teams(result, console)
    for match in result.matches.values():
        for warning in match.warnings:
            print(f"mind, {' - '.join(match.agents)}: {warning}")


def _show_teams(result: Tournament, console: Console) -> None:
    """The cross tables of the literature: WP and ADP of the agent of a row against that of a column, team by team."""
    teams, order = result.game.spec.teams, result.ranking
    for heading, tell in (("WP", lambda won: f"{100 * won.wp:.1f}"), ("ADP", lambda won: f"{won.adp:+.3f}")):
        print(f"\n{heading} as {' / '.join(teams)}")
        table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("", justify="right")
        table.add_column("agent", no_wrap=True)
        for rank in range(1, len(order) + 1):
            table.add_column(str(rank), justify="right", no_wrap=True)
        for rank, i in enumerate(order, start=1):
            cells = [_by_team(result.teams(i, j), teams, tell) if i != j else "·" for j in order]
            table.add_row(str(rank), result.agents[i], *cells)
        console.print(table)


def _by_team(won: dict[str, TeamResult], teams: tuple[str, ...], tell: Callable[[TeamResult], str]) -> str:
    return " / ".join(tell(won[team]) if team in won else "-" for team in teams)
