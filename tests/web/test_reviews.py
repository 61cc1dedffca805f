"""Reviews: for those who are known, one at a time, as long as somebody waits, and never before a move at a table."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tapete import Rng
from tapete.review import Choice, Judgement, Strongest
from tapete.web import lines, reviews
from tapete.web.rehearsal import rehearse_judge
from tests.web.browsers import Browser, Place, serving, wait_until


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with serving(tmp_path) as place:
        yield place


class Slow:
    """Thoughts that take until they are let go; what they say is that the last move is the best."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go = 0, threading.Semaphore(0)
        slow = self

        def judge(self: Strongest, choice: Choice, rng: Rng) -> Judgement:
            slow.begun += 1
            slow.go.acquire(timeout=20)
            moves = choice.view.actions()
            return Judgement(by="", how="", best=moves[-1], values={move: float(i) for i, move in enumerate(moves)})

        monkeypatch.setattr(Strongest, "judge", judge)

    def release(self) -> None:
        self.go.release(10_000)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    return Slow(monkeypatch)


def finished(browser: Browser, game: str = "othello(size=4)") -> str:
    name = browser.make(game, "me", "random")["table"]
    with browser.socket(name) as socket:
        socket.play()
    return str(name)


def ask(browser: Browser, path: str) -> http.client.HTTPConnection:
    """Asks, and does not wait."""
    connection = http.client.HTTPConnection(browser.host, timeout=30)
    connection.request("GET", path, headers={"Cookie": browser.cookie})
    return connection


def test_who_is_not_known_gets_no_review(place: Place) -> None:
    ana = Browser(place)
    name = finished(ana)
    status, _, content = ana.ask("GET", f"/api/review/{name}", cookie="")
    assert (status, b'"token"' in content) == (400, True)
    assert not place.house.reviews.tasks


def test_one_at_a_time_for_each_person(place: Place, slow: Slow) -> None:
    ana, blas = Browser(place), Browser(place)
    names = [finished(ana) for _ in range(2)]
    first = ask(ana, f"/api/review/{names[0]}")
    wait_until(lambda: slow.begun > 0)
    status, _, content = ana.ask("GET", f"/api/review/{names[1]}")
    assert (status, b'"busy"' in content) == (400, True)
    second = ask(blas, f"/api/review/{names[0]}")  # the same one: it is thought of once
    wait_until(lambda: list(place.house.reviews.waiting.values()) == [2])
    slow.release()
    answers = [connection.getresponse().read() for connection in (first, second)]
    assert answers[0] == answers[1]
    assert b'"decisions":[{' in answers[0]
    begun = slow.begun
    assert ana.ask("GET", f"/api/review/{names[0]}")[2] == answers[0]
    assert slow.begun == begun, "it was kept"
    assert ana.ask("GET", f"/api/review/{names[1]}")[0] == 200, "and the next may come"
    left = place.house.reviews
    assert (left.tasks, left.waiting, left.busy) == ({}, {}, set())


def test_a_review_that_nobody_waits_for_ends(place: Place, slow: Slow) -> None:
    ana = Browser(place)
    name = finished(ana)
    connection = ask(ana, f"/api/review/{name}")
    wait_until(lambda: slow.begun == 1)
    connection.close()
    wait_until(lambda: not place.house.reviews.tasks)
    slow.release()
    wait_until(lambda: not place.house.slow.inside)
    assert slow.begun == 1
    assert place.house.store.review(name, 0) is None
    assert place.house.ledger.total == 0
    assert ana.ask("GET", f"/api/review/{name}")[0] == 200, "who asks again, gets one"


def test_a_review_goes_on_for_the_one_who_still_waits(place: Place, slow: Slow) -> None:
    ana, blas = Browser(place), Browser(place)
    name = finished(ana)
    first = ask(ana, f"/api/review/{name}")
    wait_until(lambda: slow.begun == 1)
    second = ask(blas, f"/api/review/{name}")
    wait_until(lambda: list(place.house.reviews.waiting.values()) == [2])
    first.close()
    wait_until(lambda: list(place.house.reviews.waiting.values()) == [1])
    slow.release()
    assert second.getresponse().status == 200


def test_moves_at_tables_go_before_reviews(place: Place, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thoughts of four reviews wait in line; when one of them ends, the move comes first, though it came last."""
    monkeypatch.setattr("tapete.agents.best.SECONDS", 0.02)
    people = [Browser(place) for _ in range(4)]
    connections = [ask(person, f"/api/review/{finished(person)}") for person in people]
    for thought in range(1, 9):  # until all of them have thought, and want to think again
        wait_until(lambda thought=thought: slow.begun >= thought)  # type: ignore[misc]
        slow.go.release()
    wait_until(lambda: slow.begun == 9)
    eva = Browser(place)
    with eva.socket(eva.make("othello(size=4)", "me", "best(5)")["table"]) as socket:
        socket.act(socket.my_turn())
        owner = next(room.table.maker for room in place.house.rooms.values() if not room.table.over)
        wait_until(lambda: any(owner in who for who in place.house.slow.rings[lines.MOVE].addresses.values()))
        slow.go.release()
        assert socket.my_turn()["ply"] == 2
        assert slow.begun <= 10
        slow.release()
    for connection in connections:
        assert connection.getresponse().status == 200


def test_all_of_a_review_waits_behind_the_tables(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks: list[int] = []
    real = lines.Line.run_held

    async def note(self: lines.Line, *arguments: Any, rank: int = lines.MOVE) -> Any:
        ranks.append(rank)
        return await real(self, *arguments, rank=rank)

    ana = Browser(place)
    name = finished(ana)
    monkeypatch.setattr(lines.Line, "run_held", note)
    assert ana.ask("GET", f"/api/review/{name}")[0] == 200
    assert len(ranks) > 3
    assert set(ranks) == {lines.REVIEW}


def test_a_review_thinks_only_for_so_long(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews, "PATIENCE", 1e-9)
    rehearse_judge("othello(size=4)")  # once in a process: a thought that belongs to no review
    ana, thoughts = Browser(place), list[Choice]()
    real = Strongest.judge

    def judge(self: Strongest, choice: Choice, rng: Rng) -> Judgement | None:
        thoughts.append(choice)
        return real(self, choice, rng)

    monkeypatch.setattr(Strongest, "judge", judge)
    review = ana.get(f"/api/review/{finished(ana)}")
    assert len(thoughts) == len(review["decisions"]) == 1
    assert review["of"] > 1, "and says that there was more"


def test_other_seats_can_be_looked_through_and_the_own_is_usual(place: Place) -> None:
    ana = Browser(place)
    name = ana.make("leduc", "random", "me")["table"]
    with ana.socket(name) as socket:
        socket.play()
    assert ana.get(f"/api/review/{name}")["seat"] == 1
    assert ana.get(f"/api/review/{name}?seat=0")["seat"] == 0
    assert Browser(place).get(f"/api/review/{name}")["seat"] == 1, "a person's, where there is one"
