"""Attacks on a server of our own, from 127.0.0.9 to 127.0.0.1 and nowhere else, bounded in number and time.

Each is a process, so that whoever measures how the server bears it is not held up: `python -m tests.web.attacks KIND
PORT SECONDS COUNT`.
"""

from __future__ import annotations

import json
import socket as sockets
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin

HERE, ATTACKER = "127.0.0.1", "127.0.0.9"
FAILED = (OSError, HTTPException, WebSocketException, ValueError, KeyError)


class Attack:
    """Somebody who means harm, for so many seconds, with so many hands."""

    def __init__(self, port: int, seconds: float, count: int) -> None:
        self.port, self.count, self.end = port, count, time.monotonic() + seconds

    @property
    def time(self) -> bool:
        """Whether there is some left."""
        return time.monotonic() < self.end

    def dial(self) -> sockets.socket:
        """A connection that is cut off when it is closed: no port stays taken, so attacks can follow each other."""
        socket = sockets.create_connection((HERE, self.port), timeout=5, source_address=(ATTACKER, 0))
        socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
        return socket

    def ask(self, method: str, path: str, cookie: str = "", data: Any = None) -> tuple[int, dict[str, str], bytes]:
        connection = HTTPConnection(HERE, self.port)
        connection.sock = self.dial()
        headers = {"Origin": f"http://{HERE}:{self.port}", "Content-Type": "application/json", "Cookie": cookie}
        try:
            connection.request(method, path, None if data is None else json.dumps(data), headers)
            answer = connection.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def token(self) -> str:
        return self.ask("POST", "/api/token")[1]["set-cookie"].partition(";")[0]

    def make(self, cookie: str, game: str, *seats: str) -> str:
        answer = self.ask("POST", "/api/tables", cookie, {"game": game, "seats": seats, "pace": 0})[2]
        return str(json.loads(answer)["table"])

    def socket(self, cookie: str, table: str) -> Any:
        address = f"{HERE}:{self.port}"
        return connect(
            f"ws://{address}/ws/{table}",
            origin=Origin(f"http://{address}"),
            additional_headers={"Cookie": cookie},
            sock=self.dial(),
            legacy=True,
        )

    def repeat(self, doing: Callable[[], object]) -> None:
        """Does something again and again with all hands."""

        def hand() -> None:
            while self.time:
                with suppress(*FAILED):
                    doing()

        hands = [threading.Thread(target=hand) for _ in range(self.count)]
        for each in hands:
            each.start()
        for each in hands:
            each.join()

    def slow_loris(self) -> None:
        """Requests that never end, and new ones for those that are hung up on."""
        with ExitStack() as stack:
            held: list[sockets.socket] = []
            while self.time:
                while len(held) < self.count and self.time:
                    with suppress(OSError):
                        held.append(stack.enter_context(self.dial()))
                        held[-1].sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
                alive = []
                for each in held:
                    with suppress(OSError):
                        each.sendall(b"X-A: b\r\n")
                        alive.append(each)
                held = alive
                time.sleep(0.1)

    def flood(self) -> None:
        """Messages as fast as they can be sent, by many sockets of one browser at a table that it plays at."""
        cookie = self.token()
        table = self.make(cookie, "truco", "me", "random")

        def shout() -> None:
            with self.socket(cookie, table) as socket:
                while self.time:
                    for message in ('{"do":"pace","ms":1}', '{"do":"hint"}', '{"do":"act","ply":0,"action":1}', "{"):
                        socket.send(message)

        self.repeat(shout)

    def many_tables(self) -> None:
        """Tables of agents that search, each by a browser of its own, and somebody at all of them."""

        def sit() -> None:
            cookie = self.token()
            table = self.make(cookie, "truco", "me", "best(5)")
            with self.socket(cookie, table) as socket:
                for message in self._tables(socket):
                    if message["player"] == message["seat"] and not message["over"]:
                        move = message["scene"]["moves"][0]["action"]
                        socket.send(json.dumps({"do": "act", "ply": message["ply"], "action": move}))

        self.repeat(sit)

    def reviews(self) -> None:
        """Reviews of a finished game, by everybody who can be made up."""
        cookie = self.token()
        tables = [self.make(cookie, "othello", "random", "random") for _ in range(4)]
        for table in tables:
            with self.socket(cookie, table) as socket:
                next((message for message in self._tables(socket) if message["over"]), None)

        def ask() -> None:
            own = self.token()
            for table in tables:
                for seat in (0, 1):
                    self.ask("GET", f"/api/review/{table}?seat={seat}")
                    self.ask("GET", f"/api/review/{table}?seat={seat}", own)

        self.repeat(ask)

    def _tables(self, socket: Any) -> Iterator[Any]:
        while self.time:
            message = json.loads(socket.recv(timeout=5))
            if message["is"] == "table":
                yield message


KINDS = ("slow_loris", "flood", "many_tables", "reviews")

if __name__ == "__main__":
    kind, port, seconds, count = sys.argv[1:]
    getattr(Attack(int(port), float(seconds), int(count)), kind)()
