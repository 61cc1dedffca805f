"""`tapete serve`: the table in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tapete.cli.app import app
from tapete.core import TapeteError


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 lets others in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8770,
    data: Annotated[Path | None, typer.Option(help="The folder in which tables are kept.")] = None,
    name: Annotated[list[str] | None, typer.Option(help="A name under which this machine is reached.")] = None,
    proxy: Annotated[
        list[str] | None, typer.Option(help="The address of a proxy whose X-Forwarded-For and -Proto are believed.")
    ] = None,
    runs: Annotated[Path, typer.Option(help="The folder of trainings whose curves /runs shows.")] = Path("runs"),
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Play in the browser: one page with every game, against people and agents."""
    try:
        from tapete.web.serving import serve as run
    except ImportError:
        raise TapeteError("the page needs more packages: pip install 'tapete[web]'") from None
    run(host, port, data, tuple(name or ()), tuple(proxy or ()), open_page=open_page, runs=runs)
