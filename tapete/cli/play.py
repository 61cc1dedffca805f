"""`tapete play`: a table in the terminal."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer
from rich.console import Console

from tapete.cli.app import app
from tapete.core import Game, TapeteError, make
from tapete.core.names import playable


@app.command()
def play(
    game: Annotated[str, typer.Argument(help="The game; asked for where it is not given.")] = "",
    against: Annotated[
        str | None, typer.Option(help="Who sits on the other seats: an agent, or `person`; usually `best`.")
    ] = None,
    level: Annotated[
        int | None, typer.Option(min=1, max=5, help="How strong the usual opponent, `best`, is; 5 is the strongest.")
    ] = None,
    seat: Annotated[int | None, typer.Option(help="The seat you take; 0, the usual one, moves first.")] = None,
    seed: Annotated[int | None, typer.Option(help="Deal the cards by this seed.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Begin anew, even if a game was left in the middle.")] = False,
) -> None:
    """Sit down and play in the terminal. A game that you leave is continued the next time."""
    from tapete.terminal.play import sit_down
    from tapete.terminal.sitting import Sitting, saved_game

    if level is not None:
        if against is not None:
            raise TapeteError(f"levels are those of the usual opponent: leave out --level, or --against {against}")
        against = f"best({level})"
    console = Console()
    rules = make(game) if game else _ask_game(console)
    path = saved_game(rules)
    if new or not path.exists():
        sitting = Sitting.begin(
            rules, seat or 0, "best" if against is None else against, secrets.randbits(63) if seed is None else seed
        )
    else:
        sitting = Sitting.load(path)
        if str(sitting.state.game) != str(rules) or not sitting.is_wanted(seat, against, seed):
            raise TapeteError(
                f"another game waits in {path}; `tapete play '{rules}'` goes on with it, --new begins anew"
            )
        console.print("going on with the game that was left in the middle; --new begins another", style="dim")
    sit_down(sitting, console)


def _ask_game(console: Console) -> Game:
    """Shows the games, those that last longest first, and asks for one until it gets a good answer."""
    from tapete.terminal.play import read_number
    from tapete.terminal.sitting import saved_game

    known = sorted(map(make, playable()), key=lambda game: -game.spec.longest)
    for i, game in enumerate(known, start=1):
        waits = "   (left in the middle)" if saved_game(game).exists() else ""
        console.print(f"{i:3} {game!s:14} {game.spec.title}{waits}", highlight=False)
    while True:
        try:
            text = console.input("which game? ").strip()
            number = read_number(text, len(known))
            return known[number - 1] if number else make(text)
        except EOFError:
            raise TapeteError("no game was chosen; write it as in: tapete play truco") from None
        except TapeteError as error:
            console.print(str(error), style="yellow", markup=False, highlight=False)
