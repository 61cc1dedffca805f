"""Connections: how many there may be, and how long a request may take to arrive.

uvicorn waits for ever for the end of a request, and for a browser that does not take what it is sent. Here every
connection has a clock. Whoever comes when there are too many is hung up on without a word, which costs next to nothing
and writes nothing into a log.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tapete.web.limits import Limits, address_of

SPARE = 400  # file descriptors for everything else: files, the store, those that are just being accepted
MOST_WANTED = 1 << 16
CHUNK = 512  # bytes that are read at once: twenty small messages, parsed in one go (left to the loop, ten thousand)
PAUSE = 0.25  # seconds that a socket is not read after it has filled that: no page says so much at once


def descriptors() -> int:
    """How many file descriptors this process may have, after it has asked for as many as it can get."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_WANTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_WANTED if hard == resource.RLIM_INFINITY else min(hard, MOST_WANTED)
    if soft == resource.RLIM_INFINITY:
        return MOST_WANTED
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


class Gate:
    """Counts connections, in all and by address. A proxy's are only counted in all: many people come through it."""

    def __init__(self, limits: Limits, proxies: frozenset[str] = frozenset()) -> None:
        self.most = max(1, min(limits.connections, descriptors() - SPARE))
        self.most_at = limits.connections_at
        self.seconds = limits.request
        self.proxies = proxies
        self.inside: dict[asyncio.BaseTransport, str] = {}
        self.by_address: Counter[str] = Counter()

    def enter(self, transport: asyncio.BaseTransport) -> bool:
        """Whether there is room for a connection."""
        host = (transport.get_extra_info("peername") or ("",))[0]
        address = address_of(host)
        if len(self.inside) >= self.most:
            return False
        if host not in self.proxies and self.by_address[address] >= self.most_at:
            return False
        self.inside[transport] = address
        self.by_address[address] += 1
        return True

    def leave(self, transport: asyncio.BaseTransport) -> None:
        """A connection has ended."""
        address = self.inside.pop(transport, None)
        if address is None:
            return
        self.by_address[address] -= 1
        if not self.by_address[address]:
            del self.by_address[address]


class Clock:
    """Hangs up when it runs out."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.timer: asyncio.TimerHandle | None = None

    def start(self, transport: asyncio.Transport) -> None:
        """Runs from now on, where it does not run already."""
        if self.timer is None:
            self.timer = asyncio.get_running_loop().call_later(self.seconds, transport.abort)

    def stop(self) -> None:
        """Does not run any more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Pieces(asyncio.BufferedProtocol):
    """Reads little at a time for a protocol that takes what it is given: into a small buffer of its own.

    Neither asyncio nor uvloop reads more at once than a buffer has room for; left to themselves, they have much.
    """

    def __init__(self, protocol: Any) -> None:
        self.protocol = protocol
        self.buffer = bytearray(CHUNK)
        for name in ("connection_made", "connection_lost", "eof_received", "pause_writing", "resume_writing"):
            setattr(self, name, getattr(protocol, name))

    def get_buffer(self, sizehint: int) -> bytearray:
        """Where the next bytes are written."""
        return self.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """So many bytes were."""
        self.protocol.data_received(bytes(self.buffer[:nbytes]))


def in_pieces(protocol: Callable[..., asyncio.Protocol]) -> Any:
    """Makes connections of a protocol that read little at a time."""
    return lambda *arguments, **named: Pieces(protocol(*arguments, **named))


def guarded(gate: Gate) -> tuple[type[H11Protocol], type[WebSocketsSansIOProtocol]]:
    """The protocols of uvicorn, behind a gate and by the clock."""

    class Counted(asyncio.Protocol):
        """A connection that is counted until it is lost, and whose browser must take in time what it is sent."""

        transport: asyncio.Transport

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.taking = Clock(gate.seconds)

        def pause_writing(self) -> None:
            """The browser takes nothing."""
            self.taking.start(self.transport)
            super().pause_writing()

        def resume_writing(self) -> None:
            """The browser takes something."""
            self.taking.stop()
            super().resume_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            """Somebody has gone."""
            self.taking.stop()
            gate.leave(self.transport)
            super().connection_lost(exc)

    class Requests(Counted, H11Protocol):
        """HTTP. A request, head and body, must be there in time."""

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.arriving = Clock(gate.seconds)

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Somebody has come."""
            super().connection_made(transport)
            if gate.enter(transport):
                self.arriving.start(transport)
            else:
                transport.abort()

        def data_received(self, data: bytes) -> None:
            """Some bytes of a request."""
            self.arriving.start(self.transport)
            super().data_received(data)
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):  # all of it is there
                self.arriving.stop()

        def handle_websocket_upgrade(self, event: h11.Request) -> None:
            """The connection becomes a socket, which has clocks of its own."""
            self.arriving.stop()
            super().handle_websocket_upgrade(event)
            self.transport.set_protocol(Pieces(self.transport.get_protocol()))

        def connection_lost(self, exc: Exception | None) -> None:
            """Somebody has gone, and nothing of him stays: garbage of many thousands takes half a second to collect."""
            self.arriving.stop()
            super().connection_lost(exc)
            self._unset_keepalive_if_required()  # uvicorn's own clock, which holds on to this where it was cut off

    class Sockets(Counted, WebSocketsSansIOProtocol):
        """WebSockets, which uvicorn pings.

        While a message waits for us nothing more is read; but of pings, and of what still comes after we have hung up,
        nothing ever waits, and whoever sends without end would be read without end.
        """

        def data_received(self, data: bytes) -> None:
            """Some bytes of messages."""
            super().data_received(data)
            if len(data) == CHUNK and not self.read_paused:
                self.transport.pause_reading()
                self.loop.call_later(PAUSE, self._listen)

        def _listen(self) -> None:
            if not (self.read_paused or self.transport.is_closing()):
                self.transport.resume_reading()

    return Requests, Sockets
