"""Games that were played before, told to the page step by step: a real browser, no server, nobody to wait for.

The messages are those of `tapete.web.table`; only the socket is ours. So a test can put any position of any game before
a person, in a second, and look at what the page makes of it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tapete.core import Rng, State, make
from tapete.web.table import AGENT, PERSON, Options, Seat, Table

STATIC = Path("tapete/web/static")
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
ME = "me"
SHORT = (
    "fold",
    "mazo",
    "no-quiero",
    "pass",
    "dudo",
)  # moves that end a hand soon: a person who looks around avoids them

# The page's socket is in the hands of the test: `hear` is what the server says, `sent` what the page said.
SOCKET = """
  globalThis.sent = [];
  globalThis.WebSocket = class {
    static OPEN = 1;
    readyState = 1;
    constructor() { globalThis.hear = (message) => this.onmessage({ data: JSON.stringify(message) }); }
    send(text) { globalThis.sent.push(JSON.parse(text)); }
    close() {}
  };
"""

Message = dict[str, Any]


def choose(state: State, rng: Rng) -> int:
    """Any legal move, but seldom one that ends a hand at once."""
    legal = state.actions()
    long = [action for action in legal if state.write(action) not in SHORT]
    return int(rng.choice(long if long and rng.uniform() < 0.9 else legal))


@cache
def game_told(name: str, seed: int = 1, seat: int = 0) -> list[Message]:
    """All that a person at a seat is told in a whole game against agents."""
    return list(_telling(name, Rng(seed), seat))


def _telling(name: str, rng: Rng, seat: int) -> Iterator[Message]:
    game = make(name)
    seats = [Seat(PERSON, "Ana", ME) if i == seat else Seat(AGENT, "best(3)") for i in range(game.players)]
    table = Table("recorded", game, seats, Options(pace=0), maker=ME)
    while not table.over:
        table.deal(rng)
        yield table.message(ME)
        if not table.over:
            table.move(choose(table.state, rng))
    yield table.message(ME)


class Files(ThreadingHTTPServer):
    """The files of the page, as the server has them, and nothing else."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answers(BaseHTTPRequestHandler):
    """A token for everybody, files, no data, and the page at any other address."""

    def do_POST(self) -> None:
        self.send_response(204)
        self.end_headers()

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path.startswith("/api/"):
            self.send_error(404)
            return
        file = STATIC / (path.removeprefix("/static/") if path.startswith("/static/") else "index.html")
        self.send_response(200)
        self.send_header("Content-Type", KINDS[file.suffix])
        self.end_headers()
        self.wfile.write(file.read_bytes())

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


def open_table(browser: Browser, files: Files, width: int, height: int, **settings: Any) -> Page:
    """The page at a table where nothing was told yet."""
    context = browser.new_context(
        base_url=files.address, viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    remembered = json.dumps({"language": "en", "pace": 0, **settings})
    context.add_init_script(f"{SOCKET}; localStorage.setItem('tapete', {json.dumps(remembered)})")
    page = context.new_page()
    page.goto("/t/recorded")
    page.wait_for_function("() => globalThis.hear")
    return page


def sit_down(page: Page) -> None:
    """At another table."""
    page.evaluate("""async () => {
        globalThis.hear = null;
        globalThis.sent = [];
        (await import("/static/js/main.js")).go("/t/recorded");
    }""")
    page.wait_for_function("() => globalThis.hear")
