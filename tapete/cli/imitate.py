"""`tapete imitate`: a strategy of truco that does what an agent did in games that it played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tapete.cli.app import app, progress_bar


@app.command()
def imitate(
    games: Annotated[Path, typer.Argument(help="Games of truco, as `tapete match --out` writes them.")],
    agent: Annotated[str, typer.Argument(help="Who is looked at, as the games name him.")],
    save: Annotated[Path, typer.Option(help="Write the strategy here.")],
) -> None:
    """Make a strategy of truco that does what an agent was seen to do, whoever that is.

    It plays; `tapete blueprint` responds to it with --against, or meets it now and then with --stranger.
    """
    from tapete.arena.report import read_records
    from tapete.core.files import check_writable
    from tapete.solve.truco.blueprint import write
    from tapete.solve.truco.imitation import counted, likely
    from tapete.solve.truco.knowledge import knowledge

    check_writable(save)
    records = read_records(games)
    known = knowledge()
    with progress_bar(False) as progress:
        counts = counted(progress.track(records, description=f"games of {agent}"), agent, known)
    write(save, likely(counts), known, game=records[0].game, hands=0)
    print(f"{save}: {counts.sum():,} choices seen; play against it with: tapete match truco blueprint {save}")
