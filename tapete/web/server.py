"""Addresses and sockets: everything that a browser can ask for."""

from __future__ import annotations

import asyncio
import json
import socket as sockets
import sqlite3
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from tapete.core import TapeteError
from tapete.web import catalogue, curves, learning, records, sessions
from tapete.web.doings import do
from tapete.web.door import Doorman, Shield, who_is
from tapete.web.house import House
from tapete.web.limits import Limits, Who
from tapete.web.making import read_game
from tapete.web.room import Room, to_text
from tapete.web.store import Store
from tapete.web.table import Refused, Table
from tapete.web.thinking import offered

STATIC = Path(__file__).parent / "static"
LARGEST_BODY = 4096  # bytes
LARGEST_MESSAGE = 2048
SHOWN = 40  # tables in a list
WAITING = 64  # messages that may wait for a slow browser
PATIENCE = 100  # messages over the limit, after which a socket is closed
PENALTY = 0.02  # seconds that a socket is not listened to after each of them
POLICY = 1008  # of WebSocket's codes: who talks too much
LATER = 1013  # who should try again later: there is no room now
GONE = 4404  # of ours: there is no such table, or it can't be opened
STATUS = {"no-table": 404, "no-game": 404, "broken": 410, "slow": 429}  # of refusals; else 400
SWEEP = 60.0  # seconds between two looks for tables that nobody uses


class Connection:
    """A browser that looks at a table. It gets the newest table whenever it can take one, so nobody waits for it."""

    def __init__(self, socket: WebSocket, who: Who, house: House, room: Room) -> None:
        self.socket, self.who, self.house, self.room = socket, who, house, room
        self.patience = PATIENCE
        self.is_stale = False
        self.waiting: deque[dict[str, Any]] = deque(maxlen=WAITING)
        self.news = asyncio.Event()

    def refresh(self) -> None:
        """The table has changed."""
        self.is_stale = True
        self.news.set()

    def send(self, message: dict[str, Any]) -> None:
        """Something besides the table."""
        self.waiting.append(message)
        self.news.set()

    async def run(self) -> None:
        """Listens and tells until one side has enough."""
        self.house.join(self.room, self)
        tasks = [asyncio.ensure_future(self._write()), asyncio.ensure_future(self._read())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.house.leave(self.room, self)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await self.news.wait()
                self.news.clear()
                if self.is_stale:
                    self.is_stale = False
                    await self.socket.send_text(self.room.text(self.who.owner))
                while self.waiting:
                    await self.socket.send_text(to_text(self.waiting.popleft()))

    async def _read(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while self.patience > 0:
                text = await read_text(self.socket)
                async with self.house.speaking[self.who.owner]:  # one at a time, however many sockets a browser has
                    await asyncio.sleep(0)  # and then it is everybody else's turn
                    if may := self.house.messages.take(self.who):
                        await self._do(text)
                if not may:
                    self.patience -= 1
                    self.send(error_json(Refused("slow", "too many messages")))
                    await asyncio.sleep(PENALTY)  # nothing more is read of it meanwhile, and the network holds it back

    async def _do(self, text: str) -> None:
        try:
            await do(self.house, self.room, self, json.loads(text))
        except TapeteError as error:
            self.send(error_json(error))
        except (ValueError, RecursionError):
            self.send(error_json(Refused("malformed", "this is not JSON")))


async def read_text(socket: WebSocket) -> str:
    """What a browser says; bytes are nothing."""
    message = await socket.receive()
    if message["type"] != "websocket.receive":
        raise WebSocketDisconnect(message.get("code", 1000))
    return message.get("text") or ""


def error_json(error: TapeteError) -> dict[str, Any]:
    """A refusal as it is sent."""
    code = error.code if isinstance(error, Refused) else "illegal"
    return {"is": "error", "code": code, "text": str(error)}


class Json(JSONResponse):
    """JSON as sockets send it."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return to_text(content).encode()


Handler = Callable[[Request, Who], Awaitable[Any]]


class Server:
    """Everything that can be asked for."""

    def __init__(self, house: House, runs: Path | None = None) -> None:
        """`runs` is the folder whose trainings are shown, if any."""
        self.house, self.folder = house, runs
        self.began = time.monotonic()
        self.doorman = Doorman(house.store.secret)

    def routes(self) -> list[Any]:
        """The addresses."""
        paths = ("/", "/t/{table}", "/g/{game}", "/stats", "/runs", "/learn", "/learn/{game}")
        pages = [Route(path, self.page) for path in paths]
        api: dict[str, tuple[Handler, float]] = {  # and what they cost more than any request does
            "games": (self.games, 0),
            "game": (self.game, 4),
            "rules": (self.rules, 0),
            "tables": (self.tables, 4),
            "replay/{game}": (self.replay, 4),
            "review/{game}": (self.review, 9),
            "record/{game}": (self.record, 0),
            "history/{game}": (self.history, 0),
            "session/{table}": (self.session, 9),
            "stats": (self.stats, 9),
            "runs": (self.runs, 4),
            "lessons": (self.lessons, 0),
            "exercises": (self.exercises, 4),
        }
        return [
            *pages,
            Route("/health", self.health),
            *(Route(f"/api/{path}", self._json(handler, cost)) for path, (handler, cost) in api.items()),
            Route("/api/tables", self._json(self.make_table), methods=["POST"]),
            Route("/api/token", self._json(self.token), methods=["POST"]),
            WebSocketRoute("/ws/{table}", self.socket),
            Mount("/static", StaticFiles(directory=STATIC, check_dir=False)),
        ]

    def _json(self, handler: Handler, cost: float = 0) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            who = who_is(request, self.doorman.owner(request))
            try:
                if cost and not self.house.messages.take(who, cost):
                    raise Refused("slow", "too much in too short a time")
                result = await handler(request, who)
                return result if isinstance(result, Response) else Json(result)
            except TapeteError as error:
                return Json(error_json(error), STATUS.get(getattr(error, "code", ""), 400))

        return answer

    async def page(self, request: Request) -> Response:
        """The page; it looks at its address itself, and asks for a token."""
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    async def token(self, request: Request, who: Who) -> Any:
        """A token for a browser that has none. Shield lets nobody ask for one but a page of ours."""
        if not who.owner and not self.house.makes.take(who):
            raise Refused("slow", "too many browsers in too short a time")
        return self.doorman.welcome(request, Response(status_code=204))

    async def games(self, request: Request, who: Who) -> Any:
        """All games, with their parameters."""
        return await self.house.errands.run(who, catalogue.all_games)

    async def game(self, request: Request, who: Who) -> Any:
        """One game, with its parameters said, and who can play it."""
        game = str(await self.house.errands.run(who, read_game, request.query_params.get("name", "")))
        await self.house.readiness.ready(who, offered, game)
        return await self.house.errands.run(who, catalogue.one_game, game)

    async def rules(self, request: Request, who: Who) -> Any:
        """The rules, for somebody who has never played."""
        name, language = (request.query_params.get(key, "") for key in ("name", "language"))
        return PlainTextResponse(await self.house.errands.run(who, catalogue.rules, name, language))

    async def tables(self, request: Request, who: Who) -> Any:
        """The tables of this browser."""
        return await self.house.errands.run(who, self._tables, who.owner) if who.owner else []

    def _tables(self, owner: str) -> list[dict[str, Any]]:
        return [records.glance(table, owner) for table in self.house.reader.tables_of(owner, SHOWN)]

    async def make_table(self, request: Request, who: Who) -> Any:
        """A new table."""
        self._know(who)
        return await self.house.make_table(who, await read_object(request))

    async def replay(self, request: Request, who: Who) -> Any:
        """A finished game, all hands open; with `seat`, as that seat saw it."""
        table = (await self._finished(request, who)).table
        eyes = _read_seat(request, table) if "seat" in request.query_params else None
        made = self.house.store.made(table.name)
        return await self.house.errands.run(who, records.replay, table, who.owner, made, eyes)

    async def record(self, request: Request, who: Who) -> Any:
        """A finished game to keep."""
        table = (await self._finished(request, who)).table
        name = f"{table.game.file_name}-{table.name[:8]}.json"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Json(table.record().to_json(), headers=headers)

    async def history(self, request: Request, who: Who) -> Any:
        """A finished hand of hold'em as a hand history."""
        table, ending = (await self._finished(request, who)).table, request.query_params.get("ending", "")
        text = await self.house.errands.run(who, records.history, table, who.owner, ending)
        name = f"{table.game.file_name}-{table.name[:8]}{ending}"
        return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})

    async def session(self, request: Request, who: Who) -> Any:
        """The hands of poker up to this table: figures, or all of them as a hand history (`ending`)."""
        self._know(who)
        table = (await self.house.room(request.path_params["table"], who)).table
        ending = request.query_params.get("ending", "")
        sessions.checked(str(table.game), ending)
        found = await self.house.errands.run(who, self._session, table.name, who.owner, ending)
        if not ending:
            return found
        name = f"session-{table.name[:8]}{ending}"
        return PlainTextResponse(found, headers={"content-disposition": f'attachment; filename="{name}"'})

    def _session(self, name: str, owner: str, ending: str) -> Any:
        played = [sessions.Played(*hand) for hand in self.house.reader.chain(name, sessions.MOST)]
        return sessions.text(played, owner, ending) if ending else sessions.session(played, owner)

    async def review(self, request: Request, who: Who) -> Any:
        """What a person could have done better."""
        self._know(who)
        table = (await self._finished(request, who)).table
        usual = next((seat for seat in (table.seat_of(who.owner), *table.people) if seat is not None), 0)
        seat = _read_seat(request, table, usual)

        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        return await self.house.reviews.get(table, seat, who, gone)

    async def lessons(self, request: Request, who: Who) -> Any:
        """What can be learned."""
        return await self.house.errands.run(who, learning.all_lessons)

    async def exercises(self, request: Request, who: Who) -> Any:
        """The lesson (`kind=lesson`) or the puzzles of a game; without one, puzzles of one's own costly decisions."""
        name, kind = request.query_params.get("name", ""), request.query_params.get("kind", "puzzles")
        if name:
            return await self.house.errands.run(who, learning.exercises, name, kind)
        return await self.house.errands.run(who, self._own_puzzles, who.owner) if who.owner else []

    def _own_puzzles(self, owner: str) -> list[dict[str, Any]]:
        return learning.own_puzzles(self.house.reader.reviews(owner, learning.MOST))

    async def stats(self, request: Request, who: Who) -> Any:
        """How this browser's games went."""
        return await self.house.errands.run(who, self._stats, who.owner) if who.owner else []

    def _stats(self, owner: str) -> list[dict[str, Any]]:
        return records.statistics(self.house.reader.results(owner))

    async def runs(self, request: Request, who: Who) -> Any:
        """The curves of trainings."""
        return await self.house.errands.run(who, curves.all_runs, self.folder) if self.folder else []

    async def health(self, request: Request) -> Response:
        """For those who keep a table running: whether it is well, which is 200, or can't reach what it keeps, 503."""
        try:
            self.house.reader.check()
        except (sqlite3.Error, OSError) as error:
            return Json({"is": "ill", "why": type(error).__name__}, 503)
        seconds = round(time.monotonic() - self.began)
        about = {"version": version("tapete"), "tables": len(self.house.rooms), "seconds": seconds}
        return Json({"is": "well", **about}, headers={"cache-control": "no-store"})

    def _know(self, who: Who) -> None:
        if not who.owner:
            raise Refused("token", "open the page first")

    async def _finished(self, request: Request, who: Who) -> Room:
        room = await self.house.room(request.path_params["game"], who)
        if not room.table.over:
            raise Refused("no-game", "this game is not over")
        return room

    async def socket(self, socket: WebSocket) -> None:
        """A table, live."""
        who = who_is(socket, self.doorman.owner(socket))
        if not who.owner:
            await socket.close()
            return
        await socket.accept()
        with suppress(WebSocketDisconnect, RuntimeError):  # the browser has gone first
            try:
                room = await self.house.room(socket.path_params["table"], who)
                connection = Connection(socket, who, self.house, room)
                await connection.run()
                await socket.close(1000 if connection.patience else POLICY)
            except TapeteError as error:
                told = error_json(error)
                await socket.send_json(told)
                await socket.close(LATER if told["code"] in ("full", "memory", "sockets") else GONE)


def _read_seat(request: Request, table: Table, usual: int = 0) -> int:
    text = request.query_params.get("seat", str(usual))
    if text not in map(str, range(table.game.players)):
        raise Refused("seat", "there is no such seat")
    return int(text)


async def read_object(request: Request) -> dict[str, Any]:
    """The JSON object that a request brings, if it is not too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused("malformed", "the body must be application/json")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise Refused("malformed", f"the body has more than {LARGEST_BODY} bytes")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise Refused("malformed", "the body is not a JSON object")
    return data


def application(
    folder: Path, *, names: tuple[str, ...] = (), limits: Limits | None = None, runs: Path | None = None
) -> Starlette:
    """The whole server, with its tables in a folder; `names` are hosts under which it is reached, besides addresses.

    :param runs: the folder of trainings whose curves are shown.
    """
    house = House(Store(folder), limits)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.ensure_future(_sweep(house))
        yield
        sweeper.cancel()
        house.close()

    app = Starlette(routes=Server(house, runs).routes(), lifespan=lifespan)
    known = frozenset({"localhost", sockets.gethostname().lower(), *(name.lower() for name in names)})
    app.add_middleware(Shield, names=known, requests=house.messages)
    app.state.house = house
    return app


async def _sweep(house: House) -> None:
    while True:
        await asyncio.sleep(SWEEP)
        house.sweep(house.limits.idle)
