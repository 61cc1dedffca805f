"""Rules of the house that a mistake would break without any other test seeing it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tapete import Rng, make
from tapete.core import Thought, View
from tapete.web import thoughts
from tapete.web.house import House
from tapete.web.limits import Limits, Who
from tapete.web.making import continued
from tapete.web.room import Room
from tapete.web.server import LARGEST_BODY
from tapete.web.store import Store
from tapete.web.table import AGENT, PERSON, Options, Seat, Table
from tapete.web.thinking import REVIEWERS, Explainer, thought_json
from tests.web.browsers import CROWD, Browser, Place, apart, serving, wait_until


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with serving(tmp_path) as place:
        yield place


def over(game: str, moves: str, *seats: Seat, practice: bool = False) -> Table:
    table = Table("t", make(game), list(seats), Options(practice=practice), maker="ana")
    table.replay(make(game).read(moves).history or [])
    assert table.over
    return table


def test_nothing_is_taken_back_after_the_end(place: Place) -> None:
    at = over("kuhn", "J Q bet bet", Seat(PERSON, "Ana", "ana"), Seat(AGENT, "random"), practice=True)
    assert at.undo_to(0) is None
    assert not at.message("ana")["can_undo"]
    ana = Browser(place)
    with ana.socket(ana.make("kuhn", "me", "random", practice=True)["table"]) as socket:
        end = socket.play()
        socket.say("undo")
        assert socket.hear("error")["code"] == "undo"
        assert place.house.rooms[end["table"]].table.over


def doudizhu_to_the_end() -> str:
    rng, state = Rng(4), make("doudizhu").start()
    while not state.over:
        state.deal(rng)
        state.apply(rng.choice(state.actions()))
    return str(state).partition(": ")[2]


def test_three_who_swap_seats_move_on_by_one_and_their_totals_with_them() -> None:
    people = [Seat(PERSON, name, name) for name in ("ana", "blas", "cora")]
    at = over("doudizhu", doudizhu_to_the_end(), *people)
    at.before.returns = [1.0, 20.0, 300.0]
    got = dict(zip(("ana", "blas", "cora"), at.totals.returns, strict=True))
    assert len(set(got.values())) == 3
    after = continued(at, swap=True)
    assert [seat.owner for seat in after.seats] == ["blas", "cora", "ana"]
    assert dict(zip((seat.owner for seat in after.seats), after.before.returns, strict=True)) == got
    third = continued(over_again(after), swap=True)
    assert [seat.owner for seat in third.seats] == ["cora", "ana", "blas"]


def over_again(table: Table) -> Table:
    table.replay(make("doudizhu").read(doudizhu_to_the_end()).history or [])
    return table


class Gate:
    """An agent that moves when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.thinking, self.go, self.policies = threading.Event(), threading.Event(), list[Any]()
        gate = self

        def choose(policy: Any, view: View, rng: Rng) -> int:
            gate.policies.append(policy)
            gate.thinking.set()
            gate.go.wait(20)
            return view.actions()[-1]

        monkeypatch.setattr("tapete.web.turns.choose", choose)


def test_a_move_that_was_thought_of_before_an_undo_is_not_made(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, ana = Gate(monkeypatch), Browser(place)
    with ana.socket(ana.make("othello", "me", "random", practice=True)["table"]) as socket:
        table = socket.my_turn()
        socket.act(table, 0)
        assert gate.thinking.wait(20)
        socket.say("undo")
        assert socket.hear("table", ply=0)["player"] == 0
        socket.act(table, 1)  # the same ply again, after another move
        socket.hear("table", ply=1)
        gate.go.set()
        after = socket.my_turn()
        own = [event["text"] for event in after["told"] if event["seat"] == 0]
        assert own == [table["scene"]["moves"][1]["text"]]
        assert after["ply"] == 2
        state = place.house.rooms[after["table"]].table.state
        assert state.history == state.game.replay(state.history or []).history
    assert len(gate.policies) == 2


def test_agents_forget_what_was_taken_back(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, ana = Gate(monkeypatch), Browser(place)
    gate.go.set()
    with ana.socket(ana.make("othello", "me", "random", practice=True)["table"]) as socket:
        table = socket.my_turn()
        for _ in range(2):
            socket.act(table)
            table = socket.my_turn()
        assert gate.policies[0] is gate.policies[1]
        socket.say("hint")
        socket.hear("thought")
        room = place.house.rooms[table["table"]]
        assert room.explainers
        socket.say("undo")
        back = socket.hear("table", ply=2)
        assert not room.explainers
        socket.act(back)
        socket.my_turn()
    assert gate.policies[2] is not gate.policies[1]


def test_only_so_many_thoughts_wait_at_a_table(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hints are refused, and thoughts after moves are left out."""
    go, begun = threading.Event(), list[int]()

    def think(self: Explainer, view: View, rng: Rng) -> Thought:
        begun.append(1)
        go.wait(20)
        return Thought(probabilities=dict.fromkeys(view.actions(), 1.0))

    monkeypatch.setattr(Explainer, "think", think)
    ana = Browser(place)
    with ana.socket(ana.make("othello", "me", "random")["table"]) as socket:
        table = socket.my_turn()
        socket.say("thinking", when="after")
        for _ in range(thoughts.MOST_ASKED + 3):
            socket.act(table)
            table = socket.my_turn()
        room = place.house.rooms[table["table"]]
        assert room.asked == thoughts.MOST_ASKED
        socket.say("hint")
        assert socket.hear("error")["code"] == "busy"
        go.set()
        wait_until(lambda: room.asked == 0)
    assert len(begun) == thoughts.MOST_ASKED


def test_reads_from_the_same_site_are_not_let_in(place: Place) -> None:
    """Another port of the same machine is the same site, and not us."""
    ana = Browser(place)
    for site, status in (("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)):
        assert ana.ask("GET", "/api/tables", Sec_Fetch_Site=site)[0] == status
        assert ana.ask("GET", "/", Sec_Fetch_Site=site)[0] == 200  # a link


def test_shares_are_the_equilibriums_and_values_the_searchs() -> None:
    """With the jack, betting into a bet is never right; the search alone would give it some share."""
    view = make("kuhn").read("J Q pass bet").view(0)
    explainer = Explainer(make("kuhn"))
    thought = explainer.think(view, Rng(1))
    assert explainer.exact is not None
    assert thought.probabilities == explainer.exact.think(view, Rng(1)).probabilities
    assert thought.probabilities[1] < 1e-3
    assert set(thought.values) == {0, 1}
    assert explainer.by == f"equilibrium + {REVIEWERS[0]}"


def test_without_an_equilibrium_shares_are_how_often_a_move_was_tried() -> None:
    state = make("truco(flor=true)").start().deal(Rng(3))
    thought = Explainer(state.game).think(state.view(state.player), Rng(1))
    tries = sum(thought.visits.values())
    assert thought.probabilities == {move: n / tries for move, n in thought.visits.items()}


def test_tables_in_memory_are_limited_and_those_who_are_idle_go_first(tmp_path: Path) -> None:
    with serving(tmp_path, replace(CROWD, tables=2)) as place:
        ana = Browser(place)
        first, second = (ana.make("kuhn", "me", "random")["table"] for _ in range(2))
        with ana.socket(first) as socket:
            socket.hear("table")
            third = ana.make("kuhn", "me", "random")["table"]
            assert set(place.house.rooms) == {first, third}
            with ana.socket(third) as other:
                other.hear("table")
                status, answer = ana.post("/api/tables", {"game": "kuhn", "seats": ["me", "random"]})
                assert (status, answer["code"]) == (400, "full")
        assert second in {table["table"] for table in ana.get("/api/tables")}


def test_only_who_sits_at_a_table_is_missed(place: Place) -> None:
    """Others' coming and going is told to nobody: forty sockets that come and go would be told of each other."""
    ana, eva = Browser(place), Browser(place)
    with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
        name = socket.my_turn()["table"]
        for browser in (eva, ana):  # a stranger, and the same person once more
            with browser.socket(name) as other:
                other.hear("table")
        with eva.socket(name) as other:
            assert other.hear("table")["seats"][0]["here"]
            heard = len(socket.heard)
            socket.say("pace", ms=3)
            assert socket.hear("table")["pace"] == 3, "nothing else was told meanwhile"
            assert len(socket.heard) == heard + 1
            socket.connection.close()
            other.hear("table", pace=3)
            assert not other.hear("table")["seats"][0]["here"]


def test_agents_that_are_stopped_stay_stopped_and_a_step_is_one_move(place: Place) -> None:
    ana = Browser(place)
    with ana.socket(ana.make("othello", "random", "random", pace=10_000)["table"]) as socket:
        socket.hear("table")
        socket.say("run", on=False)
        socket.say("pace", ms=0)
        before = socket.hear("table", running=False, pace=0)["ply"]
        time.sleep(0.2)
        room = place.house.rooms[next(iter(place.house.rooms))]
        assert room.table.ply == before
        socket.say("step")
        socket.hear("table", ply=before + 1)
        time.sleep(0.2)
        assert room.table.ply == before + 1


class Ear:
    """Somebody who listens, and remembers what he was told."""

    def __init__(self, owner: str) -> None:
        self.who, self.heard, self.times = Who("a", owner), list[Any](), 0

    def refresh(self) -> None:
        self.times += 1

    def send(self, message: Any) -> None:
        self.heard.append(message)


def test_what_is_told_to_one_is_not_told_to_others() -> None:
    room = Room(over("kuhn", "J Q bet bet", Seat(PERSON, "Ana", "ana"), Seat(AGENT, "random")))
    ana, twin, blas = Ear("ana"), Ear("ana"), Ear("blas")
    room.listeners = {ana, twin, blas}
    room.tell({"is": "secret"}, "ana")
    room.tell({"is": "news"})
    assert [len(ear.heard) for ear in (ana, twin, blas)] == [2, 2, 1]
    room.refresh()
    assert [ear.times for ear in (ana, twin, blas)] == [1, 1, 1]
    assert room.stirred.is_set()


def test_a_pause_is_the_pace_since_the_turn_began_and_none_for_a_step() -> None:
    room = Room(over("kuhn", "J Q bet bet", Seat(AGENT, "random"), Seat(AGENT, "random")))
    room.table.options.pace = 2000
    assert 1.5 < room.pause(time.perf_counter()) <= 2.0
    assert 0.5 < room.pause(time.perf_counter() - 1) <= 1.0
    room.steps = 1
    assert room.pause(time.perf_counter()) == 0.0


def test_limits_are_what_they_are() -> None:
    """By address there is more than by browser, and a burst is more than a second's worth."""
    usual = Limits()
    for each, at in ((usual.messages_each, usual.messages_at), (usual.makes_each, usual.makes_at)):
        assert each.rate < at.rate
        assert each.burst < at.burst
        assert each.burst > each.rate
    assert usual.memory_at < usual.memory
    assert usual.connections_at < usual.connections
    assert usual.listeners_each < usual.listeners_at < usual.listeners


def test_agents_among_themselves_are_watched_and_nobody_else_is() -> None:
    person, agent, free = Seat(PERSON, "Ana", "ana"), Seat(AGENT, "random"), Seat("open")
    for seats, watched in (((agent, agent), True), ((person, agent), False), ((free, agent), False)):
        at = Table("t", make("kuhn"), list(seats), Options(), maker="ana")
        assert at.watching == at.message("ana")["watching"] == watched
        assert Room(at).may_play == (not watched), "agents among themselves wait for somebody who looks"


def test_it_is_told_who_looks_at_the_table() -> None:
    people = [Seat(PERSON, "Ana", "ana"), Seat(PERSON, "Blas", "blas"), Seat(AGENT, "random")]
    at = Table("t", make("doudizhu"), people, Options(), maker="ana")
    assert [seat["here"] for seat in at.message("ana", {"ana"})["seats"]] == [True, False, True]
    assert [seat["here"] for seat in at.message("blas", {"ana", "blas"})["seats"]] == [True, True, True]


def test_agents_think_for_those_who_play_and_not_for_who_looks(place: Place) -> None:
    ana, blas = Browser(place), Browser(place)
    name = ana.make("kuhn", "me", "random")["table"]
    with ana.socket(name) as socket:
        socket.my_turn()
        with blas.socket(name) as other:
            other.hear("table")
            room = place.house.rooms[name]
            assert room.who.owner == room.table.seats[0].owner != ""


def test_who_has_not_done_anything_for_a_while_is_forgotten(place: Place) -> None:
    ana, house = Browser(place), place.house
    with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
        socket.act(socket.my_turn())
        socket.my_turn()
    assert house.messages.buckets
    assert house.makes.buckets
    assert house.speaking

    def is_forgotten() -> bool:
        place.loop.call_soon_threadsafe(house.sweep, 900.0)
        time.sleep(0.1)
        return not (house.messages.buckets or house.makes.buckets or house.speaking)

    wait_until(is_forgotten)


def test_who_stops_waiting_for_a_table_takes_it_from_nobody(tmp_path: Path) -> None:
    async def wait_for_it() -> None:
        house, ana, blas = House(Store(tmp_path)), Who("a", "ana"), Who("b", "blas")
        try:
            name = (await house.make_table(ana, {"game": "kuhn", "seats": ["me", "random"]}))["table"]
            house.rooms.clear()
            first = asyncio.ensure_future(house.room(name, ana))
            second = asyncio.ensure_future(house.room(name, blas))
            await asyncio.sleep(0)
            first.cancel()
            assert (await second).table.name == name
        finally:
            house.close()

    apart(lambda: asyncio.run(wait_for_it()))


def test_help_is_not_always_there_against_people_and_does_not_follow_into_the_next_game(place: Place) -> None:
    ana, blas = Browser(place), Browser(place)
    made = ana.make("kuhn", "me", "open")
    with ana.socket(made["table"]) as socket, blas.socket(made["table"]) as other:
        other.say("sit", seat=1, name="Blas", invite=made["invite"])
        socket.hear("table", complete=True)
        socket.say("thinking", when="always")
        assert socket.hear("error")["code"] == "help"
        socket.say("thinking", when="after")
        assert socket.hear("table", thinking="after")["counted"]
    at = over("kuhn", "J Q bet bet", Seat(PERSON, "Ana", "ana"), Seat(AGENT, "random"))
    at.options.helped = True
    assert continued(at, swap=False).counted


def test_the_likeliest_move_is_told_first() -> None:
    view = make("kuhn").read("J Q").view(0)
    told = thought_json(view, Thought(probabilities={0: 0.25, 1: 0.75}), by="somebody")
    assert [move["share"] for move in told["moves"]] == [0.75, 0.25]


@pytest.mark.parametrize(
    ("game", "by", "name", "in_wins"),
    [
        ("truco(points=15)", "best(5)", "Don Aldo", True),
        ("truco", "ismcts(1000)", "", True),
        ("kuhn", "random", "Pibe", False),
    ],
)
def test_a_thought_has_the_name_of_who_thinks_and_the_measure_of_its_values(
    game: str, by: str, name: str, in_wins: bool
) -> None:
    state = make(game).start().deal(Rng(3))
    told = thought_json(state.view(state.player), Thought(probabilities={}), by=by)
    assert (told["called"], told["in_wins"]) == (name, in_wins)


def test_a_step_changes_nothing_while_agents_run_by_themselves(place: Place) -> None:
    ana = Browser(place)
    name = ana.make("othello", "random", "random", pace=10_000)["table"]
    with ana.socket(name) as socket:
        socket.hear("table")
        socket.say("step")
        socket.hear("table")
        time.sleep(0.3)
        assert (place.house.rooms[name].steps, place.house.rooms[name].table.ply) == (0, 0)


def test_a_body_is_read_up_to_its_bound_and_no_further(place: Place) -> None:
    ana = Browser(place)
    request = {"game": "kuhn", "seats": ["me", "random"], "name": ""}
    room = LARGEST_BODY - len(json.dumps(request))
    assert ana.post("/api/tables", {**request, "name": "x" * room})[0] == 200
    status, answer = ana.post("/api/tables", {**request, "name": "x" * (room + 1)})
    assert (status, answer["code"]) == (400, "malformed")
