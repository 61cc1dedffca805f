"""`tapete serve`: what can go wrong before anybody comes."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from tapete.web.serving import data_folder, listen
from tapete.web.store import Store
from tests.conftest import Tapete


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
