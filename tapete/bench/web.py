"""The table in the browser under load: many people at once, how long agents take to answer, and a kill in the middle.

The server is a process of its own; the people are coroutines here, on the same machine, with the protocol of
docs/web.md and nothing else. Each thinks for a moment, makes any legal move, and waits for the agents' answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from tapete.core import Rng, TapeteError

# Agents that don't search: what is measured is the table.
GAMES = (
    ("truco", "random"),
    ("kuhn", "equilibrium"),
    ("othello", "random"),
    ("leduc", "equilibrium"),
    ("domino(6,7)", "random"),
    ("dudo(6,1,1)", "equilibrium"),
    ("holdem", "random"),
    ("domino(3,3)", "equilibrium"),
    ("doudizhu", "random"),
    ("rps", "random"),
)
EACH = 20  # tables of one browser
READY = 60.0  # seconds that a server may take to begin
Message = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Load:
    """What came out."""

    tables: int
    seconds: float
    moves: int  # of people, answered
    games: int  # played to the end
    p50: float  # milliseconds from a move to the answer
    p95: float
    p99: float
    worst: float
    cpu: float  # milliseconds of the server's own processor time a move of a person, the agents' answer included
    acknowledged: int  # moves of all, chance too, that people had been told of when the server was killed
    lost: int  # of those, not there after the restart

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass
class Person:
    """Somebody at a table, what he was told last, and how long he waited."""

    cookie: str
    table: str
    rng: Rng
    last: Message = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    games: int = 0


def run(*, tables: int = 200, seconds: float = 20.0, pause: float = 1.0) -> Load:
    """Plays at so many tables for so long, kills the server in the middle of it, and looks what is left."""
    with tempfile.TemporaryDirectory() as folder:
        with server(Path(folder)) as (process, port):
            people = sit_down(port, tables)
            cpu = asyncio.run(play(port, people, seconds, pause, process))
        with server(Path(folder)) as (_, port):
            lost = asyncio.run(count_lost(port, people))
    waits = 1000 * np.array([wait for person in people for wait in person.waits])
    if not len(waits):
        raise TapeteError("nobody got an answer; more seconds are needed")
    p50, p95, p99 = np.percentile(waits, [50, 95, 99]).tolist()
    return Load(
        tables=tables,
        seconds=seconds,
        moves=len(waits),
        games=sum(person.games for person in people),
        p50=p50,
        p95=p95,
        p99=p99,
        worst=float(waits.max()),
        cpu=1000 * cpu / len(waits),
        acknowledged=sum(person.last["ply"] for person in people),
        lost=lost,
    )


@contextmanager
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`tapete serve` as a process, and its port."""
    command = [sys.executable, "-c", "from tapete.cli import main; main()", "serve", "--port", "0", "--data"]
    process = subprocess.Popen([*command, str(folder)], stdout=subprocess.PIPE, text=True)
    with process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if "http://" not in line:
                raise TapeteError("the server did not begin")
            yield process, int(line.partition("http://")[2].partition("/")[0].rpartition(":")[2])
        finally:
            process.terminate()


def sit_down(port: int, tables: int) -> list[Person]:
    """Browsers that make tables, each a few."""
    people: list[Person] = []
    cookie = ""
    for i in range(tables):
        if i % EACH == 0:
            with _ask(port, "/api/games", "") as answer:
                cookie = answer.headers["set-cookie"].partition(";")[0]
        game, agent = GAMES[i % len(GAMES)]
        seats = ["me", agent, *([agent] if game == "doudizhu" else [])]
        with _ask(port, "/api/tables", cookie, {"game": game, "seats": seats, "pace": 0}) as answer:
            people.append(Person(cookie, json.load(answer)["table"], Rng("load", i)))
    return people


def _ask(port: int, path: str, cookie: str, data: Message | None = None) -> Any:
    host = f"http://127.0.0.1:{port}"
    headers = {"Cookie": cookie, "Origin": host, "Content-Type": "application/json"}
    body = None if data is None else json.dumps(data).encode()
    return urllib.request.urlopen(urllib.request.Request(host + path, body, headers), timeout=READY)


def _connect(port: int, person: Person) -> Any:
    from websockets.asyncio.client import connect

    headers = {"Cookie": person.cookie}
    address = f"127.0.0.1:{port}"
    return connect(f"ws://{address}/ws/{person.table}", origin=f"http://{address}", additional_headers=headers)  # type: ignore[arg-type]


async def play(port: int, people: list[Person], seconds: float, pause: float, process: Any) -> float:
    """Everybody plays; then the server is killed, without a warning. Seconds of processor time that it took."""
    began = _processor(process.pid)
    games = [asyncio.ensure_future(_sit(port, person, pause)) for person in people]
    await asyncio.sleep(seconds)
    spent = _processor(process.pid) - began
    os.kill(process.pid, signal.SIGKILL)
    await asyncio.gather(*games)
    return spent


def _processor(pid: int) -> float:
    """Seconds of processor time of a process, where the system tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _sit(port: int, person: Person, pause: float) -> None:
    """One game after another, until the connection breaks."""
    from websockets.exceptions import WebSocketException

    try:
        while True:
            async with _connect(port, person) as socket:
                await _game(socket, person, pause)
    except (OSError, EOFError, WebSocketException):
        return


async def _game(socket: Any, person: Person, pause: float) -> None:
    """To the end of the game, and on to the next table."""
    asked, acted = 0.0, -1  # when he moved, and where the game was
    while True:
        message = json.loads(await socket.recv())
        if message["is"] == "moved":
            person.table, person.last = message["table"], {"ply": 0, "told": []}
            return
        if message["is"] != "table":
            raise TapeteError(f"the server refused a move: {message}")
        person.last = message
        if not (message["player"] == message["seat"] or message["over"]) or message["ply"] == acted:
            continue  # an agent thinks, or somebody has come to the table
        if asked:
            person.waits.append(time.perf_counter() - asked)
            asked = 0.0
        if message["over"]:
            person.games += 1
            await socket.send('{"do": "again"}')
            continue
        await asyncio.sleep(2 * pause * person.rng.uniform())
        move = person.rng.choice(message["scene"]["moves"])
        asked, acted = time.perf_counter(), message["ply"]
        await socket.send(json.dumps({"do": "act", "ply": message["ply"], "action": move["action"]}))


async def count_lost(port: int, people: list[Person]) -> int:
    """How many moves somebody had been told of that are not there any more, or are other moves."""
    lost = 0
    for person in people:
        async with _connect(port, person) as socket:
            now = json.loads(await socket.recv())
        told, kept = person.last["told"], now["told"]
        other = sum(a != b for a, b in zip_longest(told, kept[: len(told)]))
        lost += max(other, person.last["ply"] - now["ply"], 0)
    return lost
