"""`tapete strength`: how strong a hand of hold'em is."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tapete.cli.app import Json, app


@app.command()
def strength(
    hand: Annotated[str, typer.Argument(help="Two cards, as in AhKd.")],
    board: Annotated[str, typer.Argument(help="Three, four or five cards, as in 2c7d9h; none before the flop.")] = "",
    opponents: Annotated[int, typer.Option(help="How many, 1 to 9.")] = 1,
    samples: Annotated[int, typer.Option(help="Deals that are simulated where not everything can be tried.")] = 100_000,
    as_json: Json = False,
) -> None:
    """Tell what share of the pot a hand of hold'em wins if nobody folds."""
    from tapete.games.holdem import equity

    share = equity(hand, board, opponents=opponents, samples=samples)
    if as_json:
        print(json.dumps({"hand": hand, "board": board, "opponents": opponents, "share": float(share)}))
    else:
        print(f"{100 * share:.2f} %")
