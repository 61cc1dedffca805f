"""`tapete serve`: what can go wrong before anybody comes."""

from __future__ import annotations

import logging
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import uvicorn

from tapete.bench import web
from tapete.web import serving
from tapete.web.serving import addresses, data_folder, introduction, listen
from tapete.web.store import Store
from tests.conftest import Tapete


@pytest.mark.parametrize("proxy", ["*", "proxy.example.org", "10.0.0.0/8", ""])
def test_a_proxy_is_an_address(proxy: str, tapete: Tapete, tmp_path: Path) -> None:
    done = tapete("serve", "--port", "0", "--data", str(tmp_path / "tables"), "--proxy", proxy)
    assert done == (2, "", f"tapete: --proxy is the address of a proxy, like 127.0.0.1, not {proxy!r}\n")
    assert not (tmp_path / "tables").exists()


def test_a_port_that_is_taken_is_told_in_one_line(tapete: Tapete, tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        done = tapete("serve", "--port", str(taken.getsockname()[1]), "--data", str(tmp_path))
    assert done.status == 2
    assert done.err.startswith("tapete: can't listen at 127.0.0.1:")
    assert done.err.count("\n") == 1


def test_a_host_that_is_none(tapete: Tapete, tmp_path: Path) -> None:
    done = tapete("serve", "--host", "256.1.1.1", "--data", str(tmp_path))
    assert (done.status, done.err.count("\n")) == (2, 1)


def test_a_folder_that_is_in_use(tapete: Tapete, tmp_path: Path) -> None:
    store = Store(tmp_path)
    done = tapete("serve", "--port", "0", "--data", str(tmp_path))
    store.close()
    assert done.status == 2
    assert "another server" in done.err


def test_packages_that_are_missing(tapete: Tapete, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tapete.web.serving", None)
    done = tapete("serve")
    assert done.status == 2
    assert "tapete[web]" in done.err


def test_tables_are_kept_where_data_is(home: Path) -> None:
    assert data_folder() == home / "data" / "tapete" / "web"


def test_small_messages_are_sent_at_once() -> None:
    """Accepted sockets inherit it; without it every answer waits 40 ms for an acknowledgement."""
    with (
        listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_others_are_told_where_to_find_it_and_that_it_is_plain_http() -> None:
    lines = introduction("0.0.0.0", 8770).splitlines()
    assert lines[0].startswith("tapete is at http://127.0.0.1:8770/ ")
    assert all(line.startswith("tapete is at http://") and ":8770/" in line for line in lines[:-1])
    assert "plain HTTP" in lines[-1]
    assert not any("0.0.0.0" in line for line in lines)


def test_who_plays_alone_is_not_warned() -> None:
    for host, address in (("127.0.0.1", "127.0.0.1"), ("localhost", "localhost"), ("::1", "[::1]")):
        assert introduction(host, 5) == f"tapete is at http://{address}:5/   (Ctrl-C stops it; tables are kept)"


class Probe:
    """A socket that knows which way would be taken."""

    def __init__(self, family: int, kind: int) -> None:
        self.family = family

    def __enter__(self) -> Probe:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def connect(self, target: object) -> None:
        if self.family == socket.AF_INET6 and not Probe.has_six:
            raise OSError("no route")

    has_six = True

    def getsockname(self) -> tuple[str, int]:
        return ("192.0.2.44" if self.family == socket.AF_INET else "2001:db8::44", 1)


def test_the_addresses_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapete.web.serving.socket.socket", Probe)
    assert addresses("0.0.0.0") == ["127.0.0.1", "192.0.2.44"]
    assert addresses("::") == ["127.0.0.1", "192.0.2.44", "2001:db8::44"]
    assert addresses("192.0.2.1") == ["192.0.2.1"]
    monkeypatch.setattr(Probe, "has_six", False)
    assert addresses("::") == ["127.0.0.1", "192.0.2.44"]


def test_a_server_that_is_stopped_has_kept_everything_and_can_be_begun_again(tmp_path: Path) -> None:
    """By Ctrl-C and by SIGTERM, with somebody at a table."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        with web.server(tmp_path) as (process, port):
            web.sit_down(port, 1)
            process.send_signal(stop)
            assert process.wait(20) in (0, 130, -stop)
    with closing(sqlite3.connect(tmp_path / "tables.sqlite")) as db:
        assert db.execute("select count(*) from tables").fetchone() == (2,)
    assert (tmp_path / "log").exists()


STEADY = """
import gc, sys
from tapete.web.serving import RARELY, SWITCH, keep_steady
before, (young, middle, _) = len(gc.get_objects()), gc.get_threshold()
keep_steady()
assert abs(sys.getswitchinterval() - SWITCH) < 1e-6 and SWITCH < 0.005
assert gc.get_threshold() == (young, middle, RARELY) and RARELY > 10
assert gc.isenabled() and gc.get_freeze_count() > 0.9 * before
garbage = []
garbage.append(garbage)
del garbage
assert gc.collect() > 0, "what came later is still looked through"
"""


def test_what_is_loaded_is_not_looked_through_for_garbage() -> None:
    """In a process of its own, because it is for good."""
    subprocess.run([sys.executable, "-c", STEADY], check=True)


def test_a_server_keeps_steady(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    order: list[str] = []
    monkeypatch.setattr(serving, "keep_steady", lambda: order.append("steady"))
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: order.append("runs"))
    root, handlers = logging.getLogger(), list(logging.getLogger().handlers)
    serving.serve("127.0.0.1", 0, tmp_path, (), (), open_page=False)
    for handler in [each for each in root.handlers if each not in handlers]:
        root.removeHandler(handler)
        handler.close()
    assert order == ["steady", "runs"]
