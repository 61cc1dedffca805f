"""The loop is never held, and one browser's messages are taken in turn with others'."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tapete import make
from tapete.web import doings, records, store
from tapete.web.making import new_table
from tapete.web.room import Room
from tapete.web.store import Reader
from tapete.web.table import Options, Table
from tests.web.browsers import CROWD, MUCH, Browser, Place, serving, wait_until


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with serving(tmp_path, replace(CROWD, messages_each=MUCH)) as place:
        yield place


@contextmanager
def stuck(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Iterator[threading.Event]:
    """A function that does not return before it is let go; the event tells that somebody has called it."""
    called, go = threading.Event(), threading.Event()
    real = getattr(owner, name)

    def wait(*arguments: Any) -> Any:
        called.set()
        go.wait(20)
        return real(*arguments)

    monkeypatch.setattr(owner, name, wait)
    try:
        yield called
    finally:
        go.set()


@pytest.mark.parametrize(
    ("path", "owner", "name"),
    [
        ("/api/stats", Reader, "results"),
        ("/api/stats", records, "statistics"),
        ("/api/tables", Reader, "tables_of"),
        ("/api/replay/{}", records, "replay"),
    ],
)
def test_others_play_while_somebody_waits_for_a_list(
    place: Place, monkeypatch: pytest.MonkeyPatch, path: str, owner: Any, name: str
) -> None:
    ana, blas = Browser(place), Browser(place)
    table = blas.make("kuhn", "me", "random")["table"]
    with blas.socket(table) as socket:
        socket.play()
    other = ana.make("kuhn", "me", "random")["table"]
    with stuck(monkeypatch, owner, name) as called:
        asking = threading.Thread(target=blas.ask, args=("GET", path.format(table)))
        asking.start()
        assert called.wait(20)
        with ana.socket(other) as socket:
            assert socket.play()["over"]
    asking.join()


def test_others_play_while_a_kept_table_is_opened(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have to compile its game, which takes seconds."""
    ana, blas = Browser(place), Browser(place)
    table, other = blas.make("leduc", "me", "random")["table"], ana.make("kuhn", "me", "random")["table"]
    with ana.socket(other) as socket:
        turn = socket.my_turn()
        place.loop.call_soon_threadsafe(place.house.sweep, 0.0)
        wait_until(lambda: table not in place.house.rooms)
        with stuck(monkeypatch, store, "make") as called:
            opening = threading.Thread(target=lambda: blas.socket(table).my_turn())
            opening.start()
            assert called.wait(20)
            began = time.monotonic()
            socket.act(turn)
            assert socket.hear("table")["ply"] > turn["ply"]
            assert time.monotonic() - began < 15, "the loop waited until the game was let go"
        opening.join()


def test_statistics_of_twenty_thousand_games_are_one_query(place: Place) -> None:
    ana = Browser(place)
    owner = place.house.rooms[ana.make("kuhn", "me", "random")["table"]].table.maker
    table = new_table("kuhn", ["me", "random"], Options(), owner, "Ana")
    db = place.house.store.db
    rows = [(f"g{i}", "kuhn", owner, i, "[1.0, -1.0]") for i in range(20_000)]
    db.execute("begin")
    insert = "insert into tables (name, game, maker, invite, options, before, made, counted, returns)"
    db.executemany(f"{insert} values (?, ?, ?, '', '{{}}', '{{}}', ?, 1, ?)", rows)
    seats = [(name, i, s.kind, s.name, s.owner, s.thinking) for name, *_ in rows for i, s in enumerate(table.seats)]
    db.executemany("insert into seats values (?, ?, ?, ?, ?, ?)", seats)
    db.execute("commit")
    queries: list[str] = []
    place.house.reader.db.set_trace_callback(queries.append)
    (row,) = ana.get("/api/stats")
    assert (row["games"], row["wins"], len(row["curve"])) == (20_000, 20_000, 200)
    assert len([query for query in queries if query.lstrip().startswith("select")]) == 1
    queries.clear()
    assert len(ana.get("/api/tables")) == 40
    assert len([query for query in queries if query.lstrip().startswith("select")]) == 1


def test_a_browser_says_one_thing_at_a_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sockets it has: between two of its messages, one of everybody else's is taken."""
    order: list[str] = []
    names: dict[str, str] = {}

    async def note(house: Any, room: Room, listener: Any, message: Any) -> None:
        order.append(names[listener.who.owner])

    monkeypatch.setitem(doings.DOINGS, "step", (note, 0))
    loud, quiet = Browser(place), Browser(place)
    tables = {browser: browser.make("kuhn", "me", "random")["table"] for browser in (loud, quiet)}
    for browser, name in ((loud, "loud"), (quiet, "quiet")):
        names[place.house.rooms[tables[browser]].table.maker] = name
    sockets = [loud.socket(tables[loud]) for _ in range(30)]
    with quiet.socket(tables[quiet]) as other:
        for socket in [*sockets, other]:
            socket.hear("table")
        held = threading.Event()
        place.loop.call_soon_threadsafe(held.wait, 20)  # the loop is busy, and everything arrives meanwhile
        for _ in range(3):
            for socket in sockets:
                socket.say("step")
            other.say("step")
        time.sleep(0.2)
        held.set()
        wait_until(lambda: len(order) == 93)
    for socket in sockets:
        socket.connection.close()
    last = max(i for i, name in enumerate(order) if name == "quiet")
    assert last < 12, "three messages of one, three of the other, and what had come before"


def test_a_table_is_written_once_for_all_who_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = new_table("kuhn", ["me", "random"], Options(), "ana", "Ana")
    table.replay(make("kuhn").read("J Q").history or [])
    calls: list[str] = []
    real = Table.message

    def message(self: Table, owner: str, here: Any = ()) -> dict[str, Any]:
        calls.append(owner)
        return real(self, owner, here)

    monkeypatch.setattr(Table, "message", message)
    room = Room(table)
    own, *strangers = [room.text(owner) for owner in ("ana", "blas", "cora", "")]
    assert [room.text("ana"), room.text("blas")] == [own, strangers[0]]
    assert len(set(strangers)) == 1
    assert '"J"' in own
    assert '"J"' not in strangers[0]
    assert sorted(calls) == ["", "ana"]
    room.refresh()
    room.text("ana")
    assert len(calls) == 3
