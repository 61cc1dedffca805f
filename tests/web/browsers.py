"""A server in a thread, and browsers without a screen: a cookie, requests, sockets."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from websockets.sync.client import ClientConnection, connect

from tapete.web.house import House
from tapete.web.limits import Allowance, Limits
from tapete.web.serving import listen, server

Result = TypeVar("Result")

Message = dict[str, Any]


# Everybody in a test comes from one address, and faster than people do.
MUCH = Allowance(1e9, 1e9)
CROWD = Limits(messages_at=MUCH, makes_at=MUCH, listeners_at=10**9, connections_at=10**9)


def wait_until(is_so: Callable[[], bool], seconds: float = 20.0) -> None:
    """Until something is so, which must not take too long."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.005)


class Place:
    """Where a server listens."""

    def __init__(self, port: int, house: House, loop: asyncio.AbstractEventLoop) -> None:
        self.host = f"127.0.0.1:{port}"
        self.house = house  # looked at by tests, never touched
        self.loop = loop


def apart(work: Callable[[], Result]) -> Result:
    """In a thread of its own: Playwright, where it has run before in this process, leaves a loop running in ours."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


@contextmanager
def serving(folder: Path, limits: Limits = CROWD, **options: Any) -> Iterator[Place]:
    """The whole server, listening."""
    listening = listen("127.0.0.1", 0)
    running = server(folder, limits=limits, **options)
    loops: list[asyncio.AbstractEventLoop] = []

    async def run() -> None:
        loops.append(asyncio.get_running_loop())
        await running.serve(sockets=[listening])

    def listen_on_its_loop() -> None:
        with asyncio.Runner(loop_factory=running.config.get_loop_factory()) as runner:  # uvloop, where it is there
            runner.run(run())

    thread = threading.Thread(target=listen_on_its_loop)
    thread.start()
    try:
        wait_until(lambda: running.started)
        app: Any = running.config.app
        yield Place(listening.getsockname()[1], app.state.house, loops[0])
    finally:
        running.should_exit = True
        thread.join()
        listening.close()


class Browser:
    """Keeps its cookie, as browsers do."""

    def __init__(self, place: Place, cookie: str | None = None, address: str = "") -> None:
        """With an address, it comes through a proxy."""
        self.host = place.host
        self.forwarded = {"X-Forwarded-For": address} if address else {}
        self.cookie = cookie if cookie is not None else self._first_cookie()

    def _first_cookie(self) -> str:
        _, headers, _ = self.ask("POST", "/api/token", cookie="", Origin=f"http://{self.host}")
        return headers["set-cookie"].partition(";")[0]

    def ask(
        self, method: str, path: str, body: bytes = b"", cookie: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """One request: status, headers and body of the answer."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        if cookie is None:
            cookie = self.cookie
        sent = {
            **({"Cookie": cookie} if cookie else {}),
            **self.forwarded,
            **{key.replace("_", "-"): value for key, value in headers.items()},
        }
        connection.request(method, path, body or None, sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {key.lower(): value for key, value in answer.getheaders()}, content

    def get(self, path: str) -> Any:
        """What an address gives, which must be there."""
        status, _, content = self.ask("GET", path)
        assert status == 200, content
        return json.loads(content)

    def post(self, path: str, data: Any, **headers: str) -> tuple[int, Any]:
        """Sends JSON as the page does."""
        usual = {"Origin": f"http://{self.host}", "Content_Type": "application/json"}
        status, _, content = self.ask("POST", path, json.dumps(data).encode(), **{**usual, **headers})
        return status, json.loads(content) if content.startswith(b"{") else content

    def make(self, game: str, *seats: str, **more: Any) -> Message:
        """A new table, as fast as it goes."""
        status, answer = self.post(
            "/api/tables", {"game": game, "seats": list(seats), "pace": 0, "name": "Ana", **more}
        )
        assert status == 200, answer
        return answer

    def socket(self, table: str, **changes: Any) -> Socket:
        """Looks at a table."""
        usual: dict[str, Any] = {
            "origin": f"http://{self.host}",
            "additional_headers": {"Cookie": self.cookie, **self.forwarded},
            "close_timeout": 1.0,  # some are not heard any more, and would wait for ten seconds
        }
        return Socket(connect(f"ws://{self.host}/ws/{table}", legacy=True, max_queue=None, **{**usual, **changes}))


class Socket:
    """A socket that remembers every byte, and the newest table."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.heard: list[str] = []

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def say(self, do: str, **fields: Any) -> None:
        """Sends a message."""
        self.connection.send(json.dumps({"do": do, **fields}))

    def hear(self, what: str = "", timeout: float = 30.0, **wanted: Any) -> Message:
        """The next message of that kind in which these fields are so."""
        end = time.monotonic() + timeout
        while True:
            text = self.connection.recv(timeout=max(0.0, end - time.monotonic()))
            assert isinstance(text, str)
            self.heard.append(text)
            message = json.loads(text)
            if what in ("", message["is"]) and all(message.get(key) == value for key, value in wanted.items()):
                return message

    def hear_any(self) -> str:
        """What the next message is: of an error its code."""
        message = self.hear()
        return message["code"] if message["is"] == "error" else message["is"]

    def my_turn(self, timeout: float = 30.0) -> Message:
        """The table when it is one's turn, or the game is over."""
        while True:
            message = self.hear("table", timeout)
            if message["over"] or (message["player"] is not None and message["player"] == message["seat"]):
                return message

    def act(self, table: Message, index: int = 0) -> None:
        """Makes one of the moves that a table offers."""
        self.say("act", ply=table["ply"], action=table["scene"]["moves"][index]["action"])

    def play(self) -> Message:
        """Makes the first move that there is, until the game is over."""
        table = self.my_turn()
        while not table["over"]:
            self.act(table)
            self.hear("table", seat=table["seat"])  # the acknowledgement, or already what came after it
            table = self._newest()
        return table

    def _newest(self) -> Message:
        message = json.loads(self.heard[-1])
        if message["over"] or message["player"] == message["seat"]:
            return message
        return self.my_turn()
