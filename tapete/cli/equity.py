"""`tapete equity`: how likely a match is won from a score."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapete.cli.app import Json, app, read_score
from tapete.core import Game, TapeteError, make

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What mano and the other lack, where the table is checked against self-play.
CHECKED = (
    (1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (1, 5), (5, 1), (4, 4), (5, 5), (10, 5), (5, 10), (8, 8), (12, 12),
    (15, 15), (16, 16), (10, 20), (20, 10), (25, 20), (20, 25), (30, 30),
)  # fmt: skip
STEPS = 7  # rows and columns that are printed, about
MOST_MATCHES = 10_000_000  # from each of those scores


@app.command()
def equity(
    game: Annotated[str, typer.Argument(help="The game, as truco or truco(points=15,mazo=true).")] = "truco",
    score: Annotated[str, typer.Option(help="Only this score, mano's points first: 29-28.")] = "",
    plot: Annotated[Path | None, typer.Option(help="Draw the whole table into this PNG file.")] = None,
    check: Annotated[
        int,
        typer.Option(min=0, max=MOST_MATCHES, help="Let the blueprint play so many matches from each of 20 scores."),
    ] = 0,
    seed: Annotated[int, typer.Option(help="What those matches are drawn by.")] = 1,
    as_json: Json = False,
) -> None:
    """Print how likely mano, who leads the next hand, wins the match, by both scores."""
    from tapete.core.plots import check_plots

    if plot:
        check_plots(plot)
    rules = make(game)
    chances = _chances(rules)  # [mano's points, the other's points]
    if plot:
        draw(chances, rules, plot)
    if check:
        _compare(list(self_play(rules, chances, check, seed)), rules, as_json=as_json)
    elif score:
        mano, other = read_score(score, len(chances))
        found = {"game": str(rules), "score": f"{mano}-{other}", "mano": float(chances[mano, other])}
        found["other"] = 1 - float(chances[mano, other])
        print(json.dumps(found) if as_json else f"{rules} at {mano}-{other}: mano wins {found['mano']:.1%} of matches")
    elif as_json:
        print(json.dumps({"game": str(rules), "points": len(chances), "mano": chances.round(5).tolist()}))
    else:
        _print(chances, rules)


def self_play(game: Game, chances: NDArray[np.float64], matches: int, seed: int) -> Iterator[dict[str, Any]]:
    """What the table says at 20 scores, and the share that mano wins when the blueprint plays itself from there."""
    from tapete.agents.compiled import seated
    from tapete.arena.statistics import mean_interval
    from tapete.core import Rng
    from tapete.core.names import changed
    from tapete.core.players import play

    for lacks in CHECKED:
        mano, other = (len(chances) - lack for lack in lacks)
        if min(mano, other) < 0:
            continue
        match = changed(game, score0=mano, score1=other)
        player = seated("blueprint", match).player
        played = play(match, [player, player], matches, Rng(seed, "equity", *lacks), duplicate=False)
        won = played.returns[:, 0, 0] / 2 + 0.5
        low, high = mean_interval(won, 0, 1)
        table = float(chances[mano, other])
        agrees = low <= table <= high
        yield {"score": f"{mano}-{other}", "table": table, "played": float(won.mean()), "interval": [low, high],
               "agrees": agrees}  # fmt: skip


def _compare(found: list[dict[str, Any]], game: Game, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"game": str(game), "scores": found}))
        return
    print(f"{game}: how likely mano wins, in %: the table, and the blueprint against itself with a 95 % interval")
    for each in found:
        low, high = (100 * bound for bound in each["interval"])
        played = f"{100 * each['played']:6.2f} ({low:.2f} to {high:.2f})"
        print(f"{each['score']:>6}{100 * each['table']:8.2f}{played}{'' if each['agrees'] else '  outside'}")
    print(f"{sum(each['agrees'] for each in found)} of {len(found)} scores are inside their intervals")


def _chances(game: Game) -> NDArray[np.float64]:
    name = f"{game.package}.equity"
    if not importlib.util.find_spec(name):
        raise TapeteError(f"nothing is known of the match equity of {game}; truco has a table")
    chances: NDArray[np.float64] = importlib.import_module(name).chances(game.spec)
    return chances


def _print(chances: NDArray[np.float64], game: Game) -> None:
    points = len(chances)
    steps = sorted({*range(0, points - 5, points // STEPS + 1), *range(points - 5, points)})
    print(f"{game}: how likely mano wins the match, in %; rows: mano's points, columns: the other's")
    print("     " + "".join(f"{other:6d}" for other in steps))
    for mano in steps:
        print(f"{mano:5d}" + "".join(f"{100 * chances[mano, other]:6.1f}" for other in steps))


def draw(chances: NDArray[np.float64], game: Game, path: Path) -> None:
    """The whole table, and what a point is worth where the scores are equal."""
    import numpy as np

    from tapete.core.plots import picture

    points = len(chances)
    with picture(path, columns=2, size=(11, 4.6)) as (left, right):
        image = left.imshow(100 * chances, origin="lower", cmap="RdBu", vmin=0, vmax=100)
        left.contour(100 * chances, levels=range(10, 100, 10), colors="black", linewidths=0.6)
        left.set(xlabel="the other's points", ylabel="mano's points", title=f"{game}: mano wins, in % of matches")
        left.figure.colorbar(image, ax=left)
        level = np.arange(points)
        right.plot(level, 100 * np.diagonal(chances), label="equal scores", linestyle="none", marker=".")
        right.plot(level[:-1], 100 * np.diagonal(chances, -1), label="one point ahead", linestyle="none", marker=".")
        right.plot(level[1:], 100 * np.diagonal(chances, 1), label="one point behind", linestyle="none", marker=".")
        right.set(xlabel="the other's points", ylabel="mano wins, in %", title="what a point is worth")
        right.legend()
