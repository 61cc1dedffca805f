"""`tapete puzzles`: positions to learn from, made of costly decisions of recorded games."""

from __future__ import annotations

import json
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from tapete.cli.app import Json, app
from tapete.core import Record, TapeteError, make


@app.command()
def puzzles(
    game: Annotated[str, typer.Argument(help="The game.")],
    records: Annotated[list[Path] | None, typer.Argument(help="Records of games; else games are played.")] = None,
    agent: Annotated[str, typer.Option(help="Who plays where no records are given.")] = "best(2)",
    most: Annotated[int, typer.Option("-n", min=1, help="How many puzzles.")] = 5,
    seed: Annotated[int, typer.Option(help="What games are played by.")] = 1,
    write: Annotated[bool, typer.Option("--write", help="Keep them in the folder of the game.")] = False,
    as_json: Json = False,
) -> None:
    """Make puzzles of decisions that surely cost something; the best move is what is asked for."""
    from tapete.arena import match
    from tapete.review.exercises import PUZZLES, puzzle_json, puzzles_of

    rules = make(game)
    kept = [Record.load(path) for path in records or []]
    if any(record.game != str(rules) for record in kept):
        raise TapeteError(f"not all of these records are of {rules}")
    games = () if kept else match(rules, agent, agent, games=4 * most, seed=seed).games
    different = dict.fromkeys(each.actions for each in games)  # an agent plays a deal alike on all seats
    played = [rules.replay(list(actions)).record() for actions in different]
    found: list[dict[str, Any]] = []
    for record in kept or played:  # at most two of a game, so that they differ
        found += map(puzzle_json, islice(puzzles_of(rules, [record]), 2))
        if len(found) >= most:
            break
    data = {"made_by": f"tapete puzzles '{game}' --agent '{agent}' -n {most} --seed {seed}", "puzzles": found[:most]}
    if write and found:  # what was kept before is better than nothing
        Path(str(resources.files(rules.package).joinpath(PUZZLES))).write_text(json.dumps(data, indent=1) + "\n")
    if as_json:
        print(json.dumps(data))
        return
    if not found:
        print("nobody made a decision that surely cost something; other games may have one: --seed, or records")
    for each in found[:most]:
        print(f"{each['moves']}\n  {each['played']} costs {each['lost']:.3f} (± {each['doubt']:.3f})", end="; ")
        print(f"right: {', '.join(each['right'])}")
