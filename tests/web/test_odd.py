"""Old and odd data: one row that can't be read hides nothing else, and is listed as what it is."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.web.browsers import Browser, serving

HARM = {
    "a move that is none": "update moves set action = 99 where name = ? and ply = 0",
    "a game that is gone": "update tables set game = 'gone(3)' where name = ?",
    "parameters that are wrong": "update tables set game = 'kuhn(1)' where name = ?",
    "options that are none": "update tables set options = '{' where name = ?",
    "options of another kind": "update tables set options = '{\"color\": 1}' where name = ?",
    "a seat too few": "delete from seats where name = ? and seat = 1",
}


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("finished", [True, False])
def test_a_table_that_can_not_be_opened_hides_nothing_else(tmp_path: Path, harm: str, finished: bool) -> None:
    with serving(tmp_path) as place:
        ana = Browser(place)
        good, bad = (ana.make("kuhn", "me", "random")["table"] for _ in range(2))
        for name in (good, bad):
            with ana.socket(name) as socket:
                if finished:
                    socket.play()
                else:
                    socket.my_turn()
    with closing(sqlite3.connect(tmp_path / "tables.sqlite")) as db:
        db.execute(HARM[harm], (bad,))
        db.commit()
    with serving(tmp_path) as place:
        again = Browser(place, ana.cookie)
        with again.socket(bad) as socket:
            refused = socket.hear()
            assert refused["code"] == "broken"
            with pytest.raises(Exception, match="4404"):
                socket.hear()
        if finished:
            status, _, content = again.ask("GET", f"/api/replay/{bad}")
            assert (status, json.loads(content)["code"]) == (410, "broken")
            assert sum(row["games"] for row in again.get("/api/stats")) == 2
        listed = {table["table"]: table for table in again.get("/api/tables")}
        assert set(listed) == {good, bad}
        assert listed[good]["broken"] == ""
        assert listed[bad]["broken"]
        assert (listed[bad]["over"], listed[bad]["ply"] > 0) == (finished, True)
        with again.socket(good) as socket:
            assert socket.play()["over"]


def test_a_game_that_is_gone_is_told_before_anybody_opens_its_table(tmp_path: Path) -> None:
    with serving(tmp_path) as place:
        ana = Browser(place)
        name = ana.make("kuhn", "me", "random")["table"]
        place.house.store.db.execute("update tables set game = 'gone' where name = ?", (name,))
        (listed,) = ana.get("/api/tables")
        assert (listed["title"], listed["turn"]) == ("gone", True)
        assert "gone" in listed["broken"]


def test_an_agent_that_is_gone_stops_the_game_and_not_its_replay(tmp_path: Path) -> None:
    with serving(tmp_path) as place:
        ana = Browser(place)
        over, under_way = (ana.make("kuhn", "me", "random")["table"] for _ in range(2))
        with ana.socket(over) as socket:
            socket.play()
    with closing(sqlite3.connect(tmp_path / "tables.sqlite")) as db:
        db.execute("update seats set called = 'nobody(3)' where kind = 'agent'")
        db.commit()
    with serving(tmp_path) as place:
        ana = Browser(place, ana.cookie)
        assert ana.get(f"/api/replay/{over}")["seats"][1]["name"] == "nobody(3)"
        with ana.socket(under_way) as socket:
            socket.act(socket.my_turn())
            error = socket.hear("error")
            assert (error["code"], "nobody" in error["text"]) == ("agent", True)
