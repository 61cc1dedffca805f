"""Whoever sends what a page would never send: every table stays as it was, and the server up."""

from __future__ import annotations

import json
import socket as sockets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tapete import Rng
from tests.web.browsers import CROWD, MUCH, Browser, Place, Socket, serving, wait_until

GAMES = [("truco", 2), ("kuhn", 2), ("doudizhu", 3), ("othello", 2), ("rps", 2)]
DOINGS = ["act", "sit", "undo", "hint", "thinking", "pace", "step", "run", "again", "swap", "react"]
DOINGS += ["", "ACT", "__class__"]
OWN = ("pace", "thinking", "hint", "act", "undo", "again", "swap")
FIELDS = [
    "do",
    "ply",
    "action",
    "seat",
    "invite",
    "name",
    "when",
    "ms",
    "on",
    "sign",
    "clock",
    "table",
    "owner",
    "is",
    "__proto__",
]
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 6, 2**31, 2**63, -(2**64), 10**300, 1.5, -0.0, 1e308, float("nan"), float("inf"),
    "", "0", "1", "never", "always", "act", "x" * 300, "\ud800", "\u202e\x00", "'; drop table moves; --",
    "../../etc/passwd",
    "<script>alert(1)</script>", [], [0], [[[]]], {}, {"do": "act"}, {"ply": {}},
]  # fmt: skip
TEXTS = [
    "", " ", "null", "true", "0", "[]", '"act"', "{", "}", '{"do"}', '{"do": "act"', "{'do': 'act'}", '{"do":"act",}',
    "[" * 2000, '{"a":' * 400, "9" * 2000, "1e999", "-", "NaN", "\ufeff{}", "\x00", '{"do": "act"}{"do": "act"}',
    "é" * 900,
]  # fmt: skip


def hostile(rng: Rng) -> str | bytes:
    """A message that nothing good can come of."""
    kind = rng.below(8)
    if kind == 0:
        return rng.choice(TEXTS)
    if kind == 1:
        return bytes(rng.below(256) for _ in range(rng.below(60)))
    message = {rng.choice(FIELDS): rng.choice(VALUES) for _ in range(rng.below(5))}
    message["do"] = rng.choice(DOINGS) if kind < 7 else rng.choice(VALUES)
    text = json.dumps(message)
    return text if kind < 6 else text[: rng.below(len(text) + 1)]


def is_allowed(text: str | bytes) -> bool:
    """Whether the person who sits there may say this, and something might then be otherwise, rightly."""
    try:
        message = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and message.get("do") in OWN


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with serving(tmp_path / "data", replace(CROWD, messages_each=MUCH, makes_each=MUCH)) as place:
        yield place


def everything(place: Place, *who: Browser) -> list[Any]:
    """All that is stored, and what everybody would see."""
    db = place.house.store.db
    names = [name for (name,) in db.execute("select name from tables order by name")]
    stored = [db.execute(f"select * from {table} order by 1, 2").fetchall() for table in ("tables", "seats", "moves")]
    return [stored, [seen(browser, name) for browser in who for name in names]]


def seen(browser: Browser, table: str) -> str:
    with browser.socket(table) as socket:
        message = socket.hear("table")
    for seat in message["seats"]:
        del seat["here"]
    del message["left"]  # time goes on
    return json.dumps(message)


def tables_of(ana: Browser) -> list[str]:
    """A table of each kind, a few moves in; one waits for somebody."""
    names = [ana.make(game, "me", *["random"] * (players - 1))["table"] for game, players in GAMES]
    for name in names:
        with ana.socket(name) as socket:
            socket.act(socket.my_turn())
            socket.my_turn()
    return [*names, ana.make("truco", "me", "open")["table"], ana.make("kuhn", "me", "random", clock=3600)["table"]]


BREATH = 4  # messages at a time: who says more than the server reads at once is heard slowly (`guard.PAUSE`)


def shout(socket: Socket, messages: list[str | bytes]) -> None:
    """Sends all of them; each must be answered by one refusal."""
    for message in messages:
        socket.connection.send(message)
    for _ in messages:
        assert socket.hear("error")["text"]


def attack(place: Place, count: int) -> None:
    """So many messages, at all tables at once by who sits there and by a stranger: each socket is heard slowly."""
    ana, blas = Browser(place), Browser(place)
    names = tables_of(ana)
    before = everything(place, ana, blas)
    share = count // (2 * len(names))

    def pester(name: str, browser: Browser) -> None:
        rng = Rng("hostile", count, names.index(name), browser is ana)
        messages = [hostile(rng) for _ in range(share)]
        if browser is ana:
            messages = [message if not is_allowed(message) else '{"do": "act"}' for message in messages]
        with browser.socket(name) as socket:
            socket.hear("table")
            for start in range(0, share, BREATH):
                shout(socket, messages[start : start + BREATH])

    with ThreadPoolExecutor(2 * len(names)) as pool:
        list(pool.map(pester, 2 * names, [ana] * len(names) + [blas] * len(names)))
    assert everything(place, ana, blas) == before
    with ana.socket(names[0]) as socket:
        assert socket.play()["over"]


def test_hostile_messages_change_nothing(place: Place) -> None:
    attack(place, 3_000)


@pytest.mark.slow
def test_a_hundred_thousand_hostile_messages_change_nothing(place: Place) -> None:
    attack(place, 100_800)


def test_messages_that_are_too_large_end_the_connection(place: Place) -> None:
    ana = Browser(place)
    table = ana.make("kuhn", "me", "random")["table"]
    with ana.socket(table) as socket:
        socket.hear("table")
        socket.connection.send(json.dumps({"do": "act", "name": "x" * 2500}))
        with pytest.raises(Exception, match="1009"):
            socket.hear("error")
    with ana.socket(table) as socket:
        assert socket.hear("table")["table"] == table


def handshake(browser: Browser, table: str) -> sockets.socket:
    """A socket on which anything can be written."""
    raw = sockets.create_connection(browser.host.split(":"), timeout=30)  # type: ignore[arg-type]
    raw.sendall(
        f"GET /ws/{table} HTTP/1.1\r\nHost: {browser.host}\r\nOrigin: http://{browser.host}\r\n"
        f"Cookie: {browser.cookie}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    assert raw.recv(12) == b"HTTP/1.1 101"
    return raw


def frame(rng: Rng) -> bytes:
    """A frame with any opcode, any flags, any length that may be a lie, masked or not."""
    content = bytes(rng.below(256) for _ in range(rng.below(40)))
    claimed = rng.choice([len(content), len(content), 126, 127, 0])
    more = {126: rng.choice([b"\xff\xff", b"\x00\x05"]), 127: rng.choice([b"\xff" * 8, b"\x00" * 7 + b"\x05"])}
    mask = bytes(4) if rng.below(2) else b""
    return bytes([rng.below(256), claimed | (0x80 if mask else 0)]) + more.get(claimed, b"") + mask + content


def attack_with_frames(place: Place, count: int) -> None:
    ana = Browser(place)
    table = ana.make("truco", "me", "random")["table"]
    before = everything(place, ana)
    rng = Rng("frames")
    for _ in range(count):
        raw = handshake(ana, table)
        with raw:
            raw.sendall(b"".join(frame(rng) for _ in range(1 + rng.below(4))))
            if rng.below(2):
                raw.shutdown(sockets.SHUT_WR)
    assert everything(place, ana) == before


def test_hostile_frames_change_nothing(place: Place) -> None:
    attack_with_frames(place, 150)


@pytest.mark.slow
def test_two_thousand_connections_with_hostile_frames_change_nothing(place: Place) -> None:
    attack_with_frames(place, 2_000)


def test_hostile_requests_change_nothing(place: Place) -> None:
    ana = Browser(place)
    table = ana.make("truco", "me", "random")["table"]
    before = everything(place, ana)
    rng = Rng("requests")
    paths = ["/", "/api/tables", "/api/game?name=", "/api/rules?name=", "/api/replay/", "/api/review/", "/t/"]
    paths += ["/api/session/", "/api/history/", "/api/record/", "/api/exercises?name=", "/api/exercises?kind=own&name="]
    paths += ["/api/rules?name=kuhn&language=", "/api/lessons", "/api/stats"]
    ends = f"{table} %00 %ff ../../etc/passwd matrix(/etc/passwd) {'x' * 3000} kuhn( ocp(99999999999) {{".split()
    for _ in range(400):
        method = rng.choice(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"])
        headers = {"Origin": f"http://{ana.host}"} if rng.below(2) else {}
        body = rng.choice([b"", b"{}", b'{"game": {}}', b"x" * 5000])
        status, _, _ = ana.ask(method, rng.choice([*paths, f"/ws/{table}"]) + rng.choice(["", *ends]), body, **headers)
        assert status in (200, 400, 403, 404, 405, 426)
    assert everything(place, ana) == before


def test_hostile_tables_are_not_made(place: Place) -> None:
    ana = Browser(place)
    rng = Rng("tables")
    games: list[Any] = ["kuhn(\ud800)", "othello(position=\ud800)", "kuhn(\x00)", "dudo(x)", "truco(points=1e9)"]
    before = everything(place)
    for _ in range(300):
        request = {"game": rng.choice(games), "seats": ["me", "random"], "pace": 0}
        if rng.below(2):
            request = {
                **request,
                "game": "kuhn",
                rng.choice(["game", "seats"]): rng.choice([*VALUES, *games, ["me", []]]),
            }
        status, answer = ana.post("/api/tables", request)
        assert (status, answer["is"]) == (400, "error")
    assert everything(place) == before


@pytest.mark.parametrize(
    "first", [b"\x00" * 1000, b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"x" * 100_000, b"\x16\x03\x01", b"\r\n\r\n\r\n"]
)
def test_bytes_that_are_no_request(place: Place, first: bytes) -> None:
    answer = b""
    with sockets.create_connection(place.host.split(":"), timeout=30) as raw:  # type: ignore[arg-type]
        try:
            raw.sendall(first)
            raw.shutdown(sockets.SHUT_WR)
            answer = raw.recv(100)
        except TimeoutError:
            raise
        except OSError:  # it may hang up while it is talked to, but must not keep silent
            answer = b""
    assert b"200" not in answer[:15]
    assert Browser(place).get("/api/stats") == []


def test_a_store_that_fails_refuses_the_move_and_the_table_goes_on(place: Place) -> None:
    ana = Browser(place)
    with ana.socket(ana.make("othello", "me", "random")["table"]) as socket:
        table = socket.my_turn()
        db = place.house.store.db
        db.execute("create trigger full before insert on moves begin select raise(abort, 'disk full'); end")
        socket.act(table)
        assert socket.hear("error")["code"] == "store"
        db.execute("drop trigger full")
        socket.act(table)
        assert socket.my_turn()["ply"] == 2


def test_a_store_that_fails_leaves_seats_and_options_as_they_were(place: Place) -> None:
    ana, blas = Browser(place), Browser(place)
    made = ana.make("othello", "me", "open")
    db = place.house.store.db
    with ana.socket(made["table"]) as a, blas.socket(made["table"]) as b:
        before = b.hear("table")
        db.execute("create trigger full before insert on seats begin select raise(abort, 'disk full'); end")
        a.say("pace", ms=9)
        assert a.hear("error")["code"] == "store"
        a.say("thinking", when="after")
        assert a.hear("error")["code"] == "store"
        b.say("sit", seat=1, invite=made["invite"], name="Blas")
        assert b.hear("error")["code"] == "store"
        db.execute("drop trigger full")
        b.say("sit", seat=1, invite=made["invite"], name="Blas")
        after = b.hear("table", complete=True)
    assert (after["pace"], after["seat"], before["seat"]) == (before["pace"], 1, None)
    assert place.house.store.load(made["table"]).seats[0][3] == "never"  # type: ignore[union-attr]


def broken_agents(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("tapete.web.turns.choose", lambda *_: [][0])


def test_an_agent_that_fails_is_asked_again_while_somebody_waits(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = Browser(place)
    monkeypatch.setattr("tapete.web.turns.AGAIN", 0.05)
    with ana.socket(ana.make("othello", "me", "random")["table"]) as socket:
        table = socket.my_turn()
        with monkeypatch.context() as patch:
            broken_agents(patch)
            socket.act(table)
            assert socket.hear("error")["code"] == "agent"
            assert socket.hear("error")["code"] == "agent"
        assert socket.my_turn()["ply"] == 2


def test_an_agent_that_fails_while_nobody_waits_is_asked_when_somebody_comes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = Browser(place)
    name = ana.make("othello", "me", "random")["table"]
    with monkeypatch.context() as patch:
        broken_agents(patch)
        with ana.socket(name) as socket:
            socket.act(socket.my_turn())
            assert socket.hear("error")["code"] == "agent"
        wait_until(lambda: not place.house.rooms[name].listeners)
    with ana.socket(name) as socket:
        assert socket.my_turn()["ply"] == 2


def test_a_disk_that_has_room_again_lets_the_agent_move(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's move is stored, the agent's can't be; nobody has to touch anything for it to go on."""
    monkeypatch.setattr("tapete.web.turns.AGAIN", 0.05)
    ana, db = Browser(place), place.house.store.db
    with ana.socket(ana.make("othello", "me", "random", pace=0)["table"]) as socket:
        table = socket.my_turn()
        db.execute("create trigger full before insert on moves when new.ply = 1 begin select raise(abort, 'full'); end")
        socket.act(table)
        error = socket.hear("error")
        assert (error["code"], "can't be saved" in error["text"]) == ("agent", True)
        db.execute("drop trigger full")
        assert socket.my_turn()["ply"] == 2


def test_a_slow_reader_delays_nobody(place: Place) -> None:
    """Somebody connects, and never reads."""
    ana, blas = Browser(place), Browser(place)
    name = ana.make("truco", "me", "random")["table"]
    with handshake(blas, name), ana.socket(name) as socket:
        assert socket.play()["over"]
