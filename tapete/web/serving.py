"""Listening: one process, one socket, until somebody stops it."""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from pathlib import Path

import uvicorn

from tapete.core import TapeteError
from tapete.web.limits import Limits
from tapete.web.server import LARGEST_MESSAGE, application


def data_folder() -> Path:
    """Where tables are kept, if nothing else is said."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "tapete" / "web"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens."""
    try:
        family = socket.getaddrinfo(host, port)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=512)
        # Those that are accepted inherit it. asyncio would set it only on sockets that name their protocol, and without
        # it every second small message waits 40 ms for the browser's acknowledgement of the first.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        raise TapeteError(f"can't listen at {host}:{port}: {error.strerror or error}") from None


def server(folder: Path, names: tuple[str, ...] = (), limits: Limits | None = None) -> uvicorn.Server:
    """A server that has not begun to listen."""
    config = uvicorn.Config(
        application(folder, names=names, limits=limits),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def serve(host: str, port: int, data: Path | None, names: tuple[str, ...], *, open_page: bool) -> None:
    """Serves until it is stopped."""
    listening = listen(host, port)
    running = server(data or data_folder(), (*names, host))
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}/"
    print(f"tapete is at {address}   (Ctrl-C stops it; tables are kept)", flush=True)
    if open_page:
        threading.Timer(0.5, webbrowser.open, (address,)).start()
    running.run(sockets=[listening])
