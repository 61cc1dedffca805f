"""Slow and many connections: each has its time, and there are only so many."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket as sockets
import struct
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tapete.web import guard
from tapete.web.guard import SPARE, Gate, descriptors
from tapete.web.limits import Limits
from tapete.web.serving import LOG_BYTES, LOGS, keep_log
from tests.web.browsers import CROWD, Browser, Place, apart, serving, wait_until

SOON = 0.4  # seconds for a request, here


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with serving(tmp_path, replace(CROWD, request=SOON, connections=30, connections_at=20)) as place:
        yield place


def dial(place: Place, source: str = "127.0.0.1") -> sockets.socket:
    host, port = place.host.split(":")
    return sockets.create_connection((host, int(port)), timeout=10, source_address=(source, 0))


def is_hung_up(connection: sockets.socket) -> bool:
    """Whether the server ends a connection, sooner or later."""
    try:
        return connection.recv(1000) == b""
    except ConnectionError:
        return True


HEAD = b"POST /api/tables HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "first",
    [b"", b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-", HEAD + b"Content-Length: 50\r\nCookie: %s\r\n\r\n{"],
)
def test_a_request_that_does_not_come_in_time_is_given_up(place: Place, first: bytes) -> None:
    cookie = Browser(place).cookie.encode()
    began = time.monotonic()
    with dial(place) as connection:
        connection.sendall(first.replace(b"%s", cookie))
        assert is_hung_up(connection)
    assert SOON * 0.9 <= time.monotonic() - began < 5


def test_a_byte_now_and_then_does_not_make_a_request_last(place: Place) -> None:
    began = time.monotonic()
    with dial(place) as connection, pytest.raises(ConnectionError):  # noqa: PT012
        connection.sendall(b"GET / HTTP/1.1\r\n")
        while time.monotonic() < began + 8:
            connection.sendall(b"X-A: b\r\n")
            time.sleep(SOON / 8)
    assert time.monotonic() - began < 5


def test_the_second_request_of_a_connection_has_its_time_too(place: Place) -> None:
    whole = b"GET /api/stats HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with dial(place) as connection:
        for _ in range(3):  # that take longer together than one may
            connection.sendall(whole)
            answer = b""
            while not answer.endswith(b"[]"):
                answer += connection.recv(4000)
            assert answer.startswith(b"HTTP/1.1 200")
            time.sleep(SOON / 2)
        began = time.monotonic()
        connection.sendall(whole[:20])
        assert is_hung_up(connection)
        assert time.monotonic() - began < 3  # before uvicorn's own patience between requests is at its end


@pytest.mark.parametrize("which", [0, 1], ids=["requests", "sockets"])
def test_who_does_not_take_what_he_is_sent_is_given_up(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kind: Any = guard.guarded(Gate(Limits(request=0.05)))[which]
    for name in ("pause_writing", "resume_writing"):
        monkeypatch.setattr(kind.__mro__[2], name, lambda self: None)  # uvicorn's own part

    async def is_given_up(*, takes: bool) -> bool:
        protocol, aborted = kind.__new__(kind), asyncio.Event()
        protocol.taking, protocol.transport = guard.Clock(0.05), SimpleNamespace(abort=aborted.set)
        protocol.pause_writing()
        if takes:
            protocol.resume_writing()
        await asyncio.sleep(0.2)
        return aborted.is_set()

    assert apart(lambda: asyncio.run(is_given_up(takes=False)))
    assert not apart(lambda: asyncio.run(is_given_up(takes=True)))


def test_nothing_stays_of_a_connection_that_was_cut_off(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even as garbage, of which a flood leaves so much that collecting it stops everybody."""
    protocols: list[weakref.ref[asyncio.BaseProtocol]] = []
    enter = Gate.enter

    def note(self: Gate, transport: asyncio.Transport) -> bool:
        protocols.append(weakref.ref(transport.get_protocol()))
        return enter(self, transport)

    monkeypatch.setattr(Gate, "enter", note)
    gc.disable()
    try:
        for _ in range(5):
            with dial(place) as connection:
                connection.sendall(b"GET /api/stats HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(100).startswith(b"HTTP/1.1 200")
                connection.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
        wait_until(lambda: len(protocols) == 5 and not any(protocol() for protocol in protocols), seconds=4)
    finally:
        gc.enable()


def test_a_socket_lasts_longer_than_a_request_may_take(place: Place) -> None:
    ana = Browser(place)
    with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
        table = socket.my_turn()
        time.sleep(2 * SOON)
        socket.act(table)
        assert socket.my_turn()


def test_half_open_connections_are_bounded_by_address_and_stop_nobody_else(place: Place) -> None:
    """Of loopback all of 127.0.0.0/8 is ours: the attacker has an address, and so has everybody else."""
    with ExitStack() as stack:
        flood = []
        for _ in range(60):
            connection = stack.enter_context(dial(place, "127.0.0.9"))
            try:
                connection.sendall(b"GET / HT")
            except ConnectionError:
                continue
            flood.append(connection)
        ana = Browser(place)
        with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
            assert socket.play()["over"]
        for connection in flood:
            assert is_hung_up(connection)


def test_connections_are_bounded_in_all(place: Place) -> None:
    with ExitStack() as stack:
        open_ones = [stack.enter_context(dial(place, f"127.0.1.{i}")) for i in range(30)]
        time.sleep(0.05)
        assert is_hung_up(stack.enter_context(dial(place, "127.0.2.1")))
        open_ones[0].close()
        time.sleep(0.05)
        with dial(place, "127.0.2.1") as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")


def enter(gate: Gate, host: str) -> Any:
    """A connection that was let in, or None."""
    came = Transport(host)
    return came if gate.enter(came) else None  # type: ignore[arg-type]


class Transport:
    """As much of one as a gate looks at."""

    def __init__(self, host: str) -> None:
        self.host = host

    def get_extra_info(self, name: str) -> tuple[str, int]:
        return (self.host, 1)


def test_a_gate_counts_by_household_and_not_by_proxy() -> None:
    gate = Gate(Limits(connections=7, connections_at=2), frozenset({"10.0.0.1"}))
    assert [bool(enter(gate, "2001:db8::1")), bool(enter(gate, "2001:db8::2"))] == [True, True]
    assert not enter(gate, "2001:db8::3")
    assert all(enter(gate, "10.0.0.1") for _ in range(5))
    assert not enter(gate, "10.0.0.1")
    assert not enter(gate, "192.0.2.1")


def test_a_gate_lets_others_in_when_somebody_leaves() -> None:
    gate = Gate(Limits(connections=5, connections_at=1))
    first = enter(gate, "a")
    assert not enter(gate, "a")
    gate.leave(first)
    gate.leave(first)
    second = enter(gate, "a")
    assert second
    gate.leave(second)
    assert (dict(gate.by_address), gate.inside) == ({}, {})


def test_connections_stay_below_the_file_descriptors_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "descriptors", lambda: 1024)
    assert Gate(Limits(connections=5000)).most == 1024 - SPARE
    assert Gate(Limits(connections=100)).most == 100


def test_as_many_file_descriptors_are_asked_for_as_can_be_had() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (600, before[1]))
        assert descriptors() == min(before[1], guard.MOST_WANTED)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(before[1], guard.MOST_WANTED)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_log_does_not_grow_without_end(tmp_path: Path) -> None:
    root = logging.getLogger()
    level = root.level
    handler = keep_log(tmp_path / "log")
    try:
        logging.getLogger("uvicorn.error").warning("once")
        assert "once" in (tmp_path / "log").read_text()
        for _ in range(100):
            logging.getLogger("asyncio").error("x" * LOG_BYTES)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= LOGS * 1.1 * LOG_BYTES


def test_hanging_up_is_not_worth_a_line(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(50):
        with dial(place) as connection:
            connection.sendall(b"GET / HT")
    with ExitStack() as stack:
        for _ in range(25):
            stack.enter_context(dial(place, "127.0.0.9"))
        time.sleep(SOON * 1.5)
    assert not caplog.records


@pytest.mark.parametrize("frame", [b"\x89\x80\x00\x00\x00\x00", b"\x81\x82\x00\x00\x00\x00{}"])
def test_who_sends_without_end_is_read_little_by_little(
    place: Place, monkeypatch: pytest.MonkeyPatch, frame: bytes
) -> None:
    """Pings never wait for anybody, nor does what comes after the server has hung up (the second frame: 1008)."""
    seen: list[int] = []
    real = WebSocketsSansIOProtocol.data_received

    def note(self: WebSocketsSansIOProtocol, data: bytes) -> None:
        seen.append(len(data))
        real(self, data)

    monkeypatch.setattr("tapete.web.server.PATIENCE", 1)
    monkeypatch.setattr("tapete.web.server.PENALTY", 0.0)
    monkeypatch.setattr(WebSocketsSansIOProtocol, "data_received", note)
    ana = Browser(place)
    with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
        socket.hear("table")
        monkeypatch.setattr(place.house.messages, "take", lambda who, cost=1.0: False)
        seen.clear()
        socket.connection.socket.sendall(frame * (100 * guard.CHUNK // len(frame)))
        time.sleep(3 * guard.PAUSE)
        assert 1 <= len(seen) <= 8


def test_only_a_little_is_read_at_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else ten thousand small messages are parsed in one go, and nobody else is heard meanwhile."""
    seen: list[int] = []
    real = WebSocketsSansIOProtocol.data_received

    def note(self: WebSocketsSansIOProtocol, data: bytes) -> None:
        seen.append(len(data))
        real(self, data)

    monkeypatch.setattr(WebSocketsSansIOProtocol, "data_received", note)
    ana = Browser(place)
    with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
        socket.hear("table")
        socket.connection.socket.sendall(b"\x81\x82\x00\x00\x00\x00{}" * 3000)
        wait_until(lambda: sum(seen) > 8000)
    assert max(seen) <= guard.CHUNK
