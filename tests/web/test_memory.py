"""Memory has a bound: of a tree, of all trees, and nobody's stays when it is not needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tapete import Rng, make
from tapete.agents import load, opponents
from tapete.web.limits import Limits, Who
from tapete.web.memory import LARGEST, SMALLEST, Ledger, bound, seat_agent, table_bytes, tree_bytes
from tapete.web.table import AGENT, OPEN, PERSON, Options, Refused, Seat, Table
from tests.web.browsers import CROWD, Browser, Place, serving, wait_until

MB = 1 << 20


@pytest.mark.parametrize("game", ["truco", "othello", "holdem(players=4)", "doudizhu", "kuhn"])
def test_a_tree_never_takes_more_than_is_said(game: str) -> None:
    rules = make(game)
    state = rules.start().deal(Rng(1))
    for text in opponents(rules):
        policy = seat_agent(text, rules)
        said = tree_bytes(text, game)
        assert 0 <= said <= LARGEST
        if "100)" not in text.replace("1000)", "") and text not in ("random", "best(2)"):
            continue  # they are of the same kind as others, and think longer
        policy.think(state.view(state.player), Rng(2))
        taken = getattr(policy, "bytes", 0)
        assert taken <= said, text
        assert bool(taken) == bool(said)


def test_more_thought_takes_more_memory_up_to_a_bound() -> None:
    sizes = [tree_bytes(text, "domino(6,7)") for text in ("random", "ismcts(100)", "ismcts(10000)", "best(5)")]
    assert sizes == [0, SMALLEST, LARGEST, LARGEST]
    assert tree_bytes("best(5)", "truco") == 0, "a solved strategy grows no tree"
    assert tree_bytes("no-such-agent", "truco") == 0
    assert bound(load("mcts(1000)", make("othello"))) == 8 * 512 * 1000
    assert bound(load("mcts(1000, megabytes=2)", make("othello"))) == 2 * MB


def test_a_table_takes_what_its_agents_take() -> None:
    seats = [Seat(AGENT, "best(5)"), Seat(PERSON, "best(5)", "ana"), Seat(AGENT, "random"), Seat(OPEN, "best(5)")]
    seats += [Seat(AGENT, "best(5)")]
    assert table_bytes(Table("t", make("holdem(players=5)"), seats, Options())) == 2 * LARGEST


def test_the_ledger_keeps_to_its_bounds() -> None:
    ledger = Ledger(Limits(memory=100, memory_at=60))
    ledger.promise("x", Who("a"), 60)
    ledger.promise("x", Who("a"), 60)  # the same
    ledger.promise("nothing", Who("a"), 0)
    assert (ledger.total, len(ledger.promised)) == (60, 1)
    for who, size in ((Who("a"), 1), (Who("b"), 41)):
        with pytest.raises(Refused, match="memory"):
            ledger.check(who, size)
        with pytest.raises(Refused, match="memory"):
            ledger.promise("y", who, size)
    ledger.promise("y", Who("b"), 40)
    ledger.check(Who("a"), 0)
    ledger.release("x")
    ledger.release("x")
    ledger.release("never")
    assert (ledger.total, dict(ledger.by_address)) == (40, {"b": 40})
    ledger.promise("z", Who("a"), 60)


def small(tmp_path: Path, trees: int) -> Limits:
    """Memory for so many trees of `ismcts(100)`."""
    return replace(CROWD, memory=trees * SMALLEST, memory_at=trees * SMALLEST)


TEN = ["me", *["ismcts(100)"] * 9]


def test_a_table_that_would_not_fit_is_refused_with_a_word(tmp_path: Path) -> None:
    with serving(tmp_path, small(tmp_path, 8)) as place:
        ana = Browser(place)
        status, answer = ana.post("/api/tables", {"game": "holdem(players=10)", "seats": TEN})
        assert (status, answer["code"]) == (400, "memory")
        assert "memory" in answer["text"]
        assert ana.get("/api/tables") == []
        assert ana.post("/api/tables", {"game": "kuhn", "seats": ["me", "ismcts(100)"]})[0] == 200


def test_tables_that_are_played_at_share_one_budget(tmp_path: Path) -> None:
    """Who can't be let in is told to come later, and is let in when somebody has left."""
    with serving(tmp_path, small(tmp_path, 2)) as place:
        ana = Browser(place)
        names = [ana.make("kuhn", "me", "ismcts(100)")["table"] for _ in range(3)]
        first, second = ana.socket(names[0]), ana.socket(names[1])
        assert [first.hear()["is"], second.hear()["is"]] == ["table"] * 2
        with ana.socket(names[2]) as third:
            assert third.hear()["code"] == "memory"
            with pytest.raises(Exception, match="1013"):
                third.hear()
        assert ana.post("/api/tables", {"game": "kuhn", "seats": ["me", "ismcts(100)"]})[1]["code"] == "memory"
        assert ana.post("/api/tables", {"game": "kuhn", "seats": ["me", "random"]})[0] == 200
        with ana.socket(names[0]) as again:  # the same table again takes nothing
            assert again.hear()["is"] == "table"
        second.connection.close()
        wait_until(lambda: place.house.ledger.total < 2 * SMALLEST)
        with ana.socket(names[2]) as third:
            assert third.hear()["is"] == "table"
        first.connection.close()


def trees(place: Place, name: str) -> int:
    room = place.house.rooms[name]
    return len(room.policies) + len(room.explainers)


def test_policies_of_a_table_that_is_over_are_dropped(tmp_path: Path) -> None:
    with serving(tmp_path) as place:
        ana = Browser(place)
        name = ana.make("leduc", "me", "ismcts(100)")["table"]
        with ana.socket(name) as socket:
            table = socket.my_turn()
            socket.say("hint")
            socket.hear("thought")
            assert place.house.ledger.total >= SMALLEST
            while not table["over"]:
                socket.act(table)
                table = socket.my_turn()
            wait_until(lambda: trees(place, name) == 0 and place.house.ledger.total == 0)
            assert place.house.rooms[name].listeners


def test_policies_of_a_table_that_everybody_has_left_are_dropped(tmp_path: Path) -> None:
    with serving(tmp_path) as place:
        ana = Browser(place)
        name = ana.make("othello", "me", "mcts(100)")["table"]
        with ana.socket(name) as socket:
            socket.act(socket.my_turn())
            socket.my_turn()
            assert trees(place, name) == 1
            assert place.house.ledger.total == tree_bytes("mcts(100)", "othello")
        wait_until(lambda: trees(place, name) == 0 and place.house.ledger.total == 0)
        with ana.socket(name) as socket:  # and come back when somebody does
            socket.act(socket.my_turn())
            socket.my_turn()
            assert trees(place, name) == 1


def test_one_address_does_not_take_all_memory(tmp_path: Path) -> None:
    limits = replace(CROWD, memory=4 * MB, memory_at=2 * MB)
    with serving(tmp_path, limits, proxies=("127.0.0.1",)) as place:
        greedy, other = Browser(place, address="192.0.2.1"), Browser(place, address="192.0.2.2")
        sockets = [greedy.socket(greedy.make("kuhn", "me", "ismcts(100)")["table"]) for _ in range(2)]
        for socket in sockets:
            assert socket.hear()["is"] == "table"
        assert greedy.post("/api/tables", {"game": "kuhn", "seats": ["me", "ismcts(100)"]})[1]["code"] == "memory"
        assert other.post("/api/tables", {"game": "kuhn", "seats": ["me", "ismcts(100)"]})[0] == 200
        for socket in sockets:
            socket.connection.close()
