"""Addresses and sockets: everything that a browser can ask for."""

from __future__ import annotations

import asyncio
import inspect
import json
import socket as sockets
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from tapete.core import TapeteError, make, variants
from tapete.core.names import playable
from tapete.web import records
from tapete.web.door import Doorman, Shield
from tapete.web.house import House, fresh
from tapete.web.limits import Bucket, Limits
from tapete.web.making import read_game
from tapete.web.room import Room
from tapete.web.store import Store
from tapete.web.table import Refused
from tapete.web.thinking import about, offered

STATIC = Path(__file__).parent / "static"
LARGEST_BODY = 4096  # bytes
LARGEST_MESSAGE = 2048
SHOWN = 40  # tables in a list
WAITING = 64  # messages that may wait for a slow browser
PATIENCE = 200  # messages over the limit, after which a socket is closed
POLICY = 1008  # of WebSocket's codes: who talks too much
GONE = 4404  # of ours: there is no such table, or no room at it
SWEEP = 60.0  # seconds between two looks for tables that nobody uses


class Connection:
    """A browser that looks at a table. It gets the newest table whenever it can take one, so nobody waits for it."""

    def __init__(self, socket: WebSocket, owner: str, house: House, room: Room) -> None:
        self.socket, self.owner, self.house, self.room = socket, owner, house, room
        self.bucket = Bucket(house.limits.rate, house.limits.burst)
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
                    await self._put(self.house.message(self.room, self.owner))
                while self.waiting:
                    await self._put(self.waiting.popleft())

    async def _put(self, message: dict[str, Any]) -> None:
        await self.socket.send_text(json.dumps(message, separators=(",", ":")))

    async def _read(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while self.patience > 0:
                text = await read_text(self.socket)
                await asyncio.sleep(0)  # somebody else's turn, however much this one has to say
                if not self.bucket.take():
                    self.patience -= 1
                    self.send(error_json(Refused("slow", "too many messages")))
                    continue
                try:
                    await self.house.do(self.room, self, json.loads(text))
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
    """JSON in ASCII: whatever somebody has written into a name, it can be sent."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return json.dumps(content, separators=(",", ":")).encode()


Handler = Callable[[Request, str], Awaitable[Any]]


class Server:
    """Everything that can be asked for."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.doorman = Doorman(house.store.secret)
        self.reviews: dict[tuple[str, int], asyncio.Future[Any]] = {}

    def routes(self) -> list[Any]:
        """The addresses."""
        pages = [Route(path, self.page) for path in ("/", "/t/{table}", "/g/{game}", "/stats")]
        api: dict[str, Handler] = {
            "games": self.games,
            "game": self.game,
            "rules": self.rules,
            "tables": self.tables,
            "replay/{game}": self.replay,
            "review/{game}": self.review,
            "record/{game}": self.record,
            "stats": self.stats,
        }
        return [
            *pages,
            *(Route(f"/api/{path}", self._json(handler)) for path, handler in api.items()),
            Route("/api/tables", self._json(self.make_table), methods=["POST"]),
            WebSocketRoute("/ws/{table}", self.socket),
            Mount("/static", StaticFiles(directory=STATIC, check_dir=False)),
        ]

    def _json(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                result = await handler(request, self.doorman.owner(request))
                response = result if isinstance(result, Response) else Json(result)
            except TapeteError as error:
                missing = isinstance(error, Refused) and error.code in ("no-table", "no-game")
                response = Json(error_json(error), 404 if missing else 400)
            return self.doorman.welcome(request, response)

        return answer

    async def page(self, request: Request) -> Response:
        """The page; it looks at its address itself."""
        return self.doorman.welcome(request, FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"}))

    async def games(self, request: Request, owner: str) -> Any:
        """All games, with their parameters."""
        return await self.house.thread(all_games)

    async def game(self, request: Request, owner: str) -> Any:
        """One game, with its parameters said, and who can play it."""
        return await self.house.thread(one_game, request.query_params.get("name", ""))

    async def rules(self, request: Request, owner: str) -> Any:
        """The rules, for somebody who has never played."""
        game = read_game(request.query_params.get("name", ""))
        return PlainTextResponse(resources.files(game.package).joinpath("README.md").read_text())

    async def tables(self, request: Request, owner: str) -> Any:
        """The tables of this browser."""
        known = self.house.store.tables_of(owner, SHOWN) if owner else []
        return [await self._glance(name, owner, is_finished=is_finished) for name, is_finished in known]

    async def _glance(self, name: str, owner: str, *, is_finished: bool) -> Any:
        """A table in a list; only of one that is not finished it must be known whose turn it is."""
        found = self.house.store.load(name) if is_finished else None
        table, moves = found or ((await self.house.room(name)).table, [])
        return {
            "table": name,
            "game": str(table.game),
            "title": table.game.spec.title,
            "ply": len(moves) or table.ply,
            "turn": not is_finished and table.player is not None and table.player == table.seat_of(owner),
            "over": is_finished,
            "seats": [{"name": seat.name, "kind": seat.kind, "me": seat.owner == owner} for seat in table.seats],
        }

    async def make_table(self, request: Request, owner: str) -> Any:
        """A new table."""
        if not owner:
            raise Refused("token", "open the page first")
        return await self.house.make_table(owner, await read_object(request))

    async def replay(self, request: Request, owner: str) -> Any:
        """A finished game, all hands open."""
        table = (await self._finished(request)).table
        return await self.house.thread(records.replay, table, owner, self.house.store.made(table.name), slow=True)

    async def record(self, request: Request, owner: str) -> Any:
        """A finished game to keep."""
        table = (await self._finished(request)).table
        name = f"{table.game.file_name}-{table.name[:8]}.json"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Json(table.record().to_json(), headers=headers)

    async def review(self, request: Request, owner: str) -> Any:
        """What a person could have done better."""
        table = (await self._finished(request)).table
        usual = next((seat for seat in (table.seat_of(owner), *table.people) if seat is not None), 0)
        text = request.query_params.get("seat", str(usual))
        if text not in map(str, range(table.game.players)):
            raise Refused("seat", "there is no such seat")
        seat = int(text)
        return self.house.store.review(table.name, seat) or await self._review(table, seat)

    async def _review(self, table: Any, seat: int) -> Any:
        """A review is thought of once, however many ask for it meanwhile."""
        key = (table.name, seat)
        if key not in self.reviews:
            self.reviews[key] = asyncio.ensure_future(
                self.house.thread(records.review, table, seat, fresh(), slow=True)
            )
        try:
            result = await asyncio.shield(self.reviews[key])
        finally:
            self.reviews.pop(key, None)
        self.house.store.keep_review(table.name, seat, result)
        return result

    async def stats(self, request: Request, owner: str) -> Any:
        """How this browser's games went."""
        results = self.house.store.results(owner) if owner else []
        return await self.house.thread(records.statistics, results)

    async def _finished(self, request: Request) -> Room:
        room = await self.house.room(request.path_params["game"])
        if not room.table.over:
            raise Refused("no-game", "this game is not over")
        return room

    async def socket(self, socket: WebSocket) -> None:
        """A table, live."""
        owner = self.doorman.owner(socket)
        if not owner:
            await socket.close()
            return
        await socket.accept()
        with suppress(WebSocketDisconnect, RuntimeError):  # the browser has gone first
            try:
                room = await self.house.room(socket.path_params["table"])
                connection = Connection(socket, owner, self.house, room)
                await connection.run()
                await socket.close(1000 if connection.patience else POLICY)
            except TapeteError as error:
                await socket.send_json(error_json(error))
                await socket.close(GONE)


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


def all_games() -> list[dict[str, Any]]:
    """Every game that can be played without saying more."""
    games = []
    for name in playable():
        function, spec = variants()[name].spec, make(name).spec
        parameters = inspect.signature(function, eval_str=True).parameters.values()
        games.append(
            {
                "name": spec.name,
                "title": spec.title,
                "players": spec.players,
                "hidden": spec.hidden,
                "zero_sum": spec.zero_sum,
                "longest": spec.longest,
                "about": inspect.getdoc(function) or "",
                "parameters": [
                    {"name": p.name, "kind": p.annotation.__name__, "default": p.default} for p in parameters
                ],
            }
        )
    return games


def one_game(name: str) -> dict[str, Any]:
    """A game with its parameters said."""
    game = read_game(name)
    return {
        "name": str(game),
        "title": game.spec.title,
        "players": game.players,
        "hidden": game.spec.hidden,
        "opponents": [{"text": text, "about": about(text)} for text in offered(str(game))],
        "value": records.known_value(str(game)),
    }


def application(folder: Path, *, names: tuple[str, ...] = (), limits: Limits | None = None) -> Starlette:
    """The whole server, with its tables in a folder; `names` are hosts under which it is reached, besides addresses."""
    house = House(Store(folder), limits)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.ensure_future(_sweep(house))
        yield
        sweeper.cancel()
        house.close()

    app = Starlette(routes=Server(house).routes(), lifespan=lifespan)
    known = frozenset({"localhost", sockets.gethostname().lower(), *(name.lower() for name in names)})
    app.add_middleware(Shield, names=known)
    app.state.house = house
    return app


async def _sweep(house: House) -> None:
    while True:
        await asyncio.sleep(SWEEP)
        house.sweep(house.limits.idle)
