"""Sits down at what `make play` serves, and makes a first move in two games: one small, one that needs a network."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.web.browsers import Browser  # noqa: E402

PATIENCE = 120.0  # seconds for an answer: what the opponent needs is compiled first, perhaps on a machine that is busy


def move(browser: Browser, game: str) -> None:
    """A table against the usual opponent, a first move, and its answer."""
    opponent = browser.get(f"/api/game?name={game}")["opponents"][0]["text"]
    with browser.socket(browser.make(game, "me", opponent)["table"]) as socket:
        table = socket.my_turn(PATIENCE)
        socket.act(table)
        after = socket.my_turn(PATIENCE)
        if not after["over"] and after["ply"] < table["ply"] + 2:
            raise SystemExit(f"{game}: nobody answered the first move")
    print(f"{game}: a first move, and {opponent} answered it", flush=True)


def main() -> None:
    """Stops the server in any case, and fails if anything did."""
    # A port that is free, and no browser window on a machine that nobody looks at.
    environment = {**os.environ, "BROWSER": "true"}
    command = ["make", "play", "PORT=0"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        try:
            output: Any = server.stdout
            line = next(line for line in output if "tapete is at" in line)
            browser = Browser(SimpleNamespace(host=line.split("//")[1].split("/")[0]))  # type: ignore[arg-type]
            status, _, page = browser.ask("GET", "/")
            assert status == 200, status
            assert b"<html" in page
            for game in ("kuhn", "othello"):
                move(browser, game)
        finally:
            os.killpg(server.pid, signal.SIGINT)


if __name__ == "__main__":
    main()
