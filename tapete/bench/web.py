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
from numpy.typing import NDArray

from tapete.core import Rng, TapeteError
from tapete.core.plots import picture
from tapete.web.rehearsal import rehearse

# Agents that don't search: what is measured is the table. Those that do keep the machine busy meanwhile.
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
SEARCHING = (("truco", "best(3)"), ("othello", "best(4)"), ("domino(6,7)", "best(3)"), ("doudizhu", "best(3)"))
READY = 60.0  # seconds that a server may take to begin
LOOK = 0.01  # seconds between two looks at the clock
Message = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Load:
    """What came out."""

    tables: int
    searching: int  # of them, with agents that search
    seconds: float
    moves: int  # of people, answered
    games: int  # played to the end
    p50: float  # milliseconds from a move to the answer, of agents that don't search
    p95: float
    p99: float
    worst: float
    first_p95: float | None  # the same before that, while the server loaded what opponents need
    search_p50: float | None  # and of agents that search
    search_p95: float | None
    cpu: float  # milliseconds of the server's own processor time a move of a person, the agents' answer included
    bots: float  # processors that the people took here, on the average
    late: float  # milliseconds that the people themselves were late, 95th percentile: what measuring adds to an answer
    others: float  # and all other processes: about none on a quiet machine
    stolen: float  # processors that a virtual machine did not get from its host, when it wanted them
    memory: tuple[float, float]  # megabytes of the server, after a tenth of the time and the most since
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
    address: str = "127.0.0.1"  # as a proxy would tell it
    searching: bool = False  # whether the agents search
    last: Message = field(default_factory=lambda: {"ply": 0, "told": []})
    waits: list[float] = field(default_factory=list)
    games: int = 0


@dataclass
class Gauge:
    """What the server took, every second."""

    pid: int
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)  # megabytes
    cpu: float = 0.0  # seconds of processor time
    bots: float = 0.0  # of this process
    others: float = 0.0  # of all others
    stolen: float = 0.0  # of nobody here
    late: list[float] = field(default_factory=list)  # seconds that this process was late, every few milliseconds

    async def look_at_the_clock(self) -> None:
        """How late somebody is who wants to be woken: that is no fault of the server."""
        while True:
            wanted = time.perf_counter() + LOOK
            await asyncio.sleep(LOOK)
            self.late.append(time.perf_counter() - wanted)

    async def watch(self, seconds: float) -> None:
        """Looks once a second, for so long."""
        began, spent, own = time.perf_counter(), processor(self.pid), time.process_time()
        everybody, stolen = processors()
        while (passed := time.perf_counter() - began) < seconds:
            self.seconds.append(passed)
            self.memory.append(resident(self.pid))
            await asyncio.sleep(min(1.0, seconds - passed))
        self.cpu, self.bots = processor(self.pid) - spent, time.process_time() - own
        everybody_then, stolen_then = processors()
        self.others = max(0.0, everybody_then - everybody - self.cpu - self.bots)
        self.stolen = stolen_then - stolen


def run(
    *,
    tables: int = 200,
    seconds: float = 20.0,
    settle: float = 10.0,
    pause: float = 1.0,
    searching: float = 0.0,
    plot: Path | None = None,
) -> Load:
    """Plays at so many tables for so long, kills the server in the middle of it, and looks what is left.

    :param settle: seconds of play before that, told apart: the server loads what opponents need.
    :param pause: seconds that a person thinks, on the average.
    :param searching: the share of tables at which agents search.
    :param plot: where a picture of the server's memory is written.
    """
    for game, agent in dict.fromkeys((*GAMES, *(SEARCHING if searching else ()))):
        rehearse(game, agent)  # what compiles here need not compile while others wait
    with tempfile.TemporaryDirectory() as folder:
        with server(Path(folder)) as (process, port):
            people = sit_down(port, tables, round(searching * tables))
            gauge = Gauge(process.pid)
            before = asyncio.run(play(port, people, settle, seconds, pause, gauge))
        with server(Path(folder)) as (_, port):
            lost = asyncio.run(count_lost(port, people))
    if plot:
        draw_memory(gauge, tables, plot)
    waits = [_waits(people, searching=False), _waits(people, searching=True)]
    if not len(waits[0]):
        raise TapeteError("nobody got an answer; more seconds are needed")
    p50, p95, p99 = np.percentile(waits[0], [50, 95, 99]).tolist()
    search_p50, search_p95 = np.percentile(waits[1], [50, 95]).tolist() if len(waits[1]) else (None, None)
    moves, first = sum(map(len, waits)), len(gauge.memory) // 10
    return Load(
        tables=tables,
        searching=sum(person.searching for person in people),
        seconds=seconds,
        moves=moves,
        games=sum(person.games for person in people),
        p50=p50,
        p95=p95,
        p99=p99,
        worst=float(waits[0].max()),
        first_p95=float(np.percentile(before, 95)) if len(before) else None,
        search_p50=search_p50,
        search_p95=search_p95,
        cpu=1000 * gauge.cpu / moves,
        bots=gauge.bots / seconds,
        late=1000 * float(np.percentile(gauge.late, 95)),
        others=gauge.others / seconds,
        stolen=gauge.stolen / seconds,
        memory=(gauge.memory[first], max(gauge.memory[first:])),
        acknowledged=sum(person.last["ply"] for person in people),
        lost=lost,
    )


def _waits(people: list[Person], *, searching: bool) -> NDArray[np.float64]:
    """Milliseconds that people waited for agents that search, or don't."""
    return 1000 * np.array([wait for person in people if person.searching == searching for wait in person.waits])


def draw_memory(gauge: Gauge, tables: int, path: Path) -> None:
    """The server's memory over time, as a picture that is there as a whole or not at all."""
    with picture(path, size=(8, 4)) as axes:
        axes.plot(np.array(gauge.seconds) / 60, gauge.memory)
        axes.set(xlabel="minutes", ylabel="MB of the server", ylim=(0, None))
        axes.set_title(f"{tables} tables, played at by bots")


@contextmanager
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`tapete serve` as a process, and its port."""
    command = [sys.executable, "-c", "from tapete.cli import main; main()", "serve", "--port", "0", "--data"]
    command += [str(folder), "--proxy", "127.0.0.1"]  # so that every person has an address
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if "http://" not in line:
                raise TapeteError("the server did not begin")
            yield process, int(line.partition("http://")[2].partition("/")[0].rpartition(":")[2])
        finally:
            process.terminate()


def sit_down(port: int, tables: int, searching: int = 0) -> list[Person]:
    """People at tables of their own, each with an address, a few of them against agents that search."""
    people = []
    for i in range(tables):
        address = f"10.0.{i // 250}.{i % 250 + 1}"
        game, agent = SEARCHING[i % len(SEARCHING)] if i < searching else GAMES[i % len(GAMES)]
        seats = ["me", agent, *([agent] if game == "doudizhu" else [])]
        with _ask(port, "/api/token", "", address, {}) as answer:
            cookie = answer.headers["set-cookie"].partition(";")[0]
        with _ask(port, "/api/tables", cookie, address, {"game": game, "seats": seats, "pace": 0}) as answer:
            table = json.load(answer)["table"]
        people.append(Person(cookie, table, Rng("load", i), address, i < searching))
    return people


def _ask(port: int, path: str, cookie: str, address: str, data: Message) -> Any:
    host = f"http://127.0.0.1:{port}"
    headers = {"Cookie": cookie, "Origin": host, "Content-Type": "application/json", "X-Forwarded-For": address}
    request = urllib.request.Request(host + path, json.dumps(data).encode(), headers)
    return urllib.request.urlopen(request, timeout=READY)


def _connect(port: int, person: Person) -> Any:
    from websockets.asyncio.client import connect

    headers = {"Cookie": person.cookie, "X-Forwarded-For": person.address}
    address = f"127.0.0.1:{port}"
    return connect(f"ws://{address}/ws/{person.table}", origin=f"http://{address}", additional_headers=headers)  # type: ignore[arg-type]


async def play(
    port: int, people: list[Person], settle: float, seconds: float, pause: float, gauge: Gauge
) -> NDArray[np.float64]:
    """Everybody plays; then the server is killed, without a warning. Returns what was waited before it was measured."""
    games = [asyncio.ensure_future(_sit(port, person, pause)) for person in people]
    await asyncio.sleep(settle)
    first = _waits(people, searching=False)
    for person in people:
        person.waits.clear()
        person.games = 0
    clock = asyncio.ensure_future(gauge.look_at_the_clock())
    await gauge.watch(seconds)
    clock.cancel()
    os.kill(gauge.pid, signal.SIGKILL)
    await asyncio.gather(*games)
    return first


def processor(pid: int) -> float:
    """Seconds of processor time of a process, where the system tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processors() -> tuple[float, float]:
    """Seconds of processor time of everything on this machine, and what its host kept, where the system tells."""
    try:
        times = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:]))
    except OSError:
        return 0.0, 0.0
    user, nice, system, _, _, _, _, stolen = times[:8]
    return (user + nice + system) / os.sysconf("SC_CLK_TCK"), stolen / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Megabytes of memory of a process, where the system tells."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


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
            person.table, person.last = message["table"], {"ply": 0, "told": []}  # nothing was told of it yet
            return
        if message["is"] == "error" and message["code"] == "slow":  # too many games in too short a time
            await asyncio.sleep(1.0)
            await socket.send('{"do": "again"}')
            continue
        if message["is"] == "error" and message["code"] == "preparing":  # the answer comes, later
            continue
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
        if message["is"] == "error" and message["code"] == "preparing":  # the answer comes, later
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
