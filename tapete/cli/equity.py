"""`tapete equity`: how likely a match is won from a score."""

from __future__ import annotations

import importlib
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapete.cli.app import Json, app
from tapete.core import Game, TapeteError, make

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEPS = 7  # rows and columns that are printed, about


@app.command()
def equity(
    game: Annotated[str, typer.Argument(help="The game, as truco or truco(points=15,mazo=true).")] = "truco",
    score: Annotated[str, typer.Option(help="Only this score, mano's points first: 29-28.")] = "",
    plot: Annotated[Path | None, typer.Option(help="Draw the whole table into this PNG file.")] = None,
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
    if score:
        mano, other = _read(score, len(chances))
        found = {"game": str(rules), "score": f"{mano}-{other}", "mano": float(chances[mano, other])}
        found["other"] = 1 - float(chances[mano, other])
        print(json.dumps(found) if as_json else f"{rules} at {mano}-{other}: mano wins {found['mano']:.1%} of matches")
    elif as_json:
        print(json.dumps({"game": str(rules), "points": len(chances), "mano": chances.round(5).tolist()}))
    else:
        _print(chances, rules)


def _chances(game: Game) -> NDArray[np.float64]:
    name = f"{game.package}.equity"
    if not importlib.util.find_spec(name):
        raise TapeteError(f"nothing is known of the match equity of {game}; truco has a table")
    chances: NDArray[np.float64] = importlib.import_module(name).chances(game.spec)
    return chances


def _read(score: str, points: int) -> tuple[int, int]:
    mano, dash, other = score.partition("-")
    if not (dash and mano.isdecimal() and other.isdecimal() and int(mano) < points and int(other) < points):
        raise TapeteError(f"a score is written like {points - 1}-0, both below {points}; not {score!r}")
    return int(mano), int(other)


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
