"""Listening: one process, one socket, until somebody stops it."""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import socket
import sys
import threading
import webbrowser
from logging.handlers import RotatingFileHandler
from pathlib import Path

import uvicorn

from tapete.core import TapeteError
from tapete.core.machine_code import keep_in
from tapete.web.guard import Gate, guarded, in_pieces
from tapete.web.limits import Limits
from tapete.web.server import LARGEST_MESSAGE, application

EVERYWHERE = ("0.0.0.0", "::")
BACKLOG = 100  # connections that the system keeps until they are taken, and that are taken at once
LOG_BYTES, LOGS = 1 << 20, 3
SWITCH = 0.001  # seconds after which a thread must let another have the interpreter: the loop waits for it all the time
RARELY = 20  # of the younger collections of garbage, before one of all: too often, or too much at once, holds the loop


def data_folder() -> Path:
    """Where tables are kept, if nothing else is said."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "tapete" / "web"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens."""
    try:
        family = socket.getaddrinfo(host, port)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
        # Those that are accepted inherit it. asyncio would set it only on sockets that name their protocol, and without
        # it every second small message waits 40 ms for the browser's acknowledgement of the first.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        raise TapeteError(f"can't listen at {host}:{port}: {error.strerror or error}") from None


def server(
    folder: Path,
    names: tuple[str, ...] = (),
    limits: Limits | None = None,
    proxies: tuple[str, ...] = (),
    runs: Path | None = None,
) -> uvicorn.Server:
    """A server that has not begun to listen; `proxies` are addresses whose X-Forwarded-* are believed."""
    limits = limits or Limits()
    requests, sockets = guarded(Gate(limits, frozenset(proxies)))
    config = uvicorn.Config(
        application(folder, names=names, limits=limits, runs=runs),
        http=in_pieces(requests),
        ws=sockets,
        backlog=BACKLOG,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def keep_log(path: Path) -> RotatingFileHandler:
    """Whatever goes wrong is written to a file, which can't grow without end."""
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOGS - 1)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    return handler


def addresses(host: str) -> list[str]:
    """The addresses of this machine at which others reach what listens at `host`."""
    if host not in EVERYWHERE:
        return [host]
    found = ["127.0.0.1"]
    for family, target in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:  # nothing is sent: it asks which way would be taken
                probe.connect((target, 9))
                found.append(probe.getsockname()[0])
        except OSError:
            continue
    return [address for address in dict.fromkeys(found) if host == "::" or ":" not in address]


def introduction(host: str, port: int) -> str:
    """What is told when the server begins."""
    lines = [
        f"tapete is at http://{f'[{address}]' if ':' in address else address}:{port}/" for address in addresses(host)
    ]
    lines[0] += "   (Ctrl-C stops it; tables are kept)"
    if host not in ("127.0.0.1", "::1", "localhost"):
        lines.append(
            "This is plain HTTP: whoever is on the way can read and change it. docs/web.md tells how to add TLS."
        )
    return "\n".join(lines)


def keep_steady() -> None:
    """Nothing holds the loop for long that can be had in small pieces, or once and for all, before anybody comes."""
    sys.setswitchinterval(SWITCH)
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, RARELY)
    gc.collect()
    gc.freeze()  # what is loaded now stays: to look through all of it for garbage takes 150 ms each time


def check_proxy(text: str) -> None:
    """Whoever is believed is named by his address: a name would never match, and a star would be everybody."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise TapeteError(f"--proxy is the address of a proxy, like 127.0.0.1, not {text!r}") from None


def serve(
    host: str,
    port: int,
    data: Path | None,
    names: tuple[str, ...],
    proxies: tuple[str, ...],
    *,
    open_page: bool,
    runs: Path | None = None,
) -> None:
    """Serves until it is stopped."""
    for proxy in proxies:
        check_proxy(proxy)
    listening = listen(host, port)
    folder = data or data_folder()
    running = server(folder, (*names, host), proxies=proxies, runs=runs)
    keep_log(folder / "log")
    keep_in(folder / "machine-code")
    told = introduction(host, listening.getsockname()[1])
    print(told, flush=True)
    if open_page:
        threading.Timer(0.5, webbrowser.open, (told.split()[3],)).start()
    keep_steady()
    running.run(sockets=[listening])
