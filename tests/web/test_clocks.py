"""Clocks and reactions at a table of friends: who is late, who may speak, and who is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.browsers import Browser, Place, serving, wait_until


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with serving(tmp_path_factory.mktemp("clocks")) as place:
        yield place


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks of a second, so that nobody waits for a test."""
    monkeypatch.setattr("tapete.web.making.SHORTEST_CLOCK", 1)


def test_who_does_not_move_in_time_has_a_move_made_for_him(place: Place, short: None) -> None:
    ana, beto = Browser(place), Browser(place)
    made = ana.make("othello", "me", "open", clock=1)
    with ana.socket(made["table"]) as first, beto.socket(made["table"]) as second:
        assert first.hear("table")["left"] is None  # nobody's time runs before all are there
        second.say("sit", seat=1, invite=made["invite"], name="Beto")
        table = first.my_turn()
        assert (table["clock"], table["ply"]) == (1, 0)
        assert 0 < table["left"] <= 1000
        assert first.hear("late")["seat"] == 0
        after = second.my_turn()
        assert (after["ply"], after["player"]) == (1, 1)
        assert after["told"][0]["seat"] == 0
        second.act(after)
        assert second.hear("table", ply=2)["left"] > 0  # the other's time


def test_whoever_moves_in_time_is_left_in_peace(place: Place, short: None) -> None:
    ana = Browser(place)
    with ana.socket(ana.make("othello", "me", "random", clock=1)["table"]) as socket:
        for _ in range(3):
            socket.act(socket.my_turn())
        assert not any('"late"' in text for text in socket.heard)


def test_a_clock_stands_still_while_nobody_looks(place: Place, short: None) -> None:
    ana = Browser(place)
    name = ana.make("othello", "me", "random", clock=1)["table"]
    with ana.socket(name) as socket:
        assert socket.my_turn()["ply"] == 0
    room = place.house.rooms[name]
    wait_until(lambda: room.clock is None)
    assert room.table.ply == 0
    with ana.socket(name) as socket:
        table = socket.my_turn()
        assert table["ply"] == 0
        assert table["left"] > 500


@pytest.mark.parametrize("clock", [1, -5, 4, 3601, 10**9, "15", 1.5, True, None])
def test_a_clock_that_is_none_is_refused(place: Place, clock: object) -> None:
    body = {"game": "kuhn", "seats": ["me", "random"], "pace": 0, "clock": clock}
    status, answer = Browser(place).post("/api/tables", body)
    assert (status, answer["code"]) == (400, "malformed")


def test_a_clock_goes_on_with_the_next_game(place: Place) -> None:
    ana = Browser(place)
    with ana.socket(ana.make("kuhn", "me", "random", clock=60)["table"]) as socket:
        socket.play()
        socket.say("again")
        following = socket.hear("moved")["table"]
    with ana.socket(following) as socket:
        assert socket.hear("table")["clock"] == 60


def test_a_word_is_heard_by_all_and_said_only_by_those_who_sit_there(place: Place) -> None:
    ana, beto = Browser(place), Browser(place)
    made = ana.make("kuhn", "me", "random")
    with ana.socket(made["table"]) as first, beto.socket(made["table"]) as second:
        first.say("react", sign="nice")
        assert first.hear("reaction") == second.hear("reaction") == {"is": "reaction", "seat": 0, "sign": "nice"}
        second.say("react", sign="nice")
        assert second.hear("error")["code"] == "seat"
        for sign in ("<b>", "", 3, None):
            first.say("react", sign=sign)
            assert first.hear("error")["code"] == "malformed"


def test_the_one_who_made_the_table_is_its_host(place: Place) -> None:
    ana, beto = Browser(place), Browser(place)
    made = ana.make("kuhn", "open", "me")
    with beto.socket(made["table"]) as socket:
        assert [seat["host"] for seat in socket.hear("table")["seats"]] == [False, True]


def test_tables_of_before_have_no_clock(tmp_path: Path) -> None:
    with serving(tmp_path) as place:
        name = Browser(place).make("kuhn", "me", "random")["table"]
        db = place.house.store.db
        place.loop.call_soon_threadsafe(
            lambda: db.execute("update tables set options = ?", ('{"practice": true, "pace": 5, "helped": false}',))
        )
    with serving(tmp_path) as place, Browser(place).socket(name) as socket:
        table = socket.hear("table")
        assert (table["clock"], table["left"], table["practice"]) == (0, None, True)
