"""How much there may be of everything: by browser, and by address, because tokens are free."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from tapete.web.limits import Allowance, Bucket, Meter, Who, address_of
from tests.web.browsers import CROWD, Browser, serving, wait_until


class Hands:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_lets_so_much_through_and_never_more_than_its_burst_at_once() -> None:
    clock = Hands()
    bucket = Bucket(Allowance(2, 5), clock)
    assert [bucket.take() for _ in range(7)] == [True] * 5 + [False] * 2
    clock.now += 1
    assert [bucket.take() for _ in range(4)] == [True] * 2 + [False] * 2
    clock.now += 10_000
    assert [bucket.take() for _ in range(7)] == [True] * 5 + [False] * 2


def test_what_may_not_pass_costs_nothing() -> None:
    clock = Hands()
    bucket = Bucket(Allowance(1, 5), clock)
    assert [bucket.take(4), bucket.take(4), bucket.take(1), bucket.take(1)] == [True, False, True, False]


def test_a_meter_counts_browsers_and_addresses() -> None:
    clock = Hands()
    meter = Meter(Allowance(1, 2), Allowance(1, 5), clock)
    ana, blas, far = Who("a", "ana"), Who("a", "blas"), Who("b", "ana")
    assert [meter.take(ana) for _ in range(3)] == [True, True, False]
    assert [meter.take(blas) for _ in range(3)] == [True, True, False]
    assert [meter.take(Who("a", "eva")) for _ in range(2)] == [True, False]  # the fifth and the sixth of that address
    assert [meter.take(far) for _ in range(3)] == [True, True, False]
    assert [meter.take(Who("c")) for _ in range(6)] == [True] * 5 + [False]


def test_a_meter_forgets_who_has_not_done_anything() -> None:
    clock = Hands()
    meter = Meter(Allowance(1, 2), Allowance(1, 5), clock)
    meter.take(Who("a", "ana"), 2)
    meter.sweep()
    assert set(meter.buckets) == {"a", Who("a", "ana")}
    clock.now += 1.5
    meter.sweep()
    assert len(meter.buckets) == 2
    clock.now += 1
    meter.sweep()
    assert not meter.buckets


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::2", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_counted_by_household(host: str, counted: str) -> None:
    assert address_of(host) == counted


TABLE = {"game": "kuhn", "seats": ["me", "random"], "pace": 0}


def test_tokens_are_free_but_an_address_makes_only_so_many_tables(tmp_path: Path) -> None:
    limits = replace(CROWD, makes_at=Allowance(0.001, 12))
    with serving(tmp_path, limits, proxies=("127.0.0.1",)) as place:
        codes = []
        for _ in range(4):  # each takes one to be known, and then two tables
            browser = Browser(place, address="192.0.2.1")
            codes += [browser.post("/api/tables", TABLE)[0] for _ in range(2)]
        assert codes == [200] * 8
        assert browser.post("/api/tables", TABLE)[1]["code"] == "slow"
        refused = browser.ask("POST", "/api/token", cookie="", Origin=f"http://{place.host}")
        assert refused[0] == 429
        assert "set-cookie" not in refused[1]
        assert browser.ask("POST", "/api/token", Origin=f"http://{place.host}")[0] == 204  # who has one, keeps it
        assert Browser(place, address="192.0.2.2").post("/api/tables", TABLE)[0] == 200


def test_a_browser_has_only_so_many_unfinished_tables(tmp_path: Path) -> None:
    with serving(tmp_path, replace(CROWD, tables_each=3)) as place:
        ana = Browser(place)
        answers = [ana.post("/api/tables", TABLE)[1] for _ in range(4)]
        assert [answer.get("code") for answer in answers] == [None, None, None, "tables"]
        with ana.socket(answers[0]["table"]) as socket:
            socket.play()
        assert ana.post("/api/tables", TABLE)[0] == 200


def test_another_game_is_a_table_too(tmp_path: Path) -> None:
    with serving(tmp_path, replace(CROWD, makes_each=Allowance(0.001, 2))) as place:
        ana = Browser(place)
        name = ana.make("kuhn", "me", "random")["table"]
        with ana.socket(name) as socket:
            socket.play()
            socket.say("again")
            following = socket.hear("moved")["table"]
        with ana.socket(following) as socket:
            socket.play()
            socket.say("again")
            assert socket.hear("error")["code"] == "slow"
            socket.say("swap")
            assert socket.hear("error")["code"] == "slow"


@pytest.mark.parametrize(
    ("do", "fields", "most"),
    [("pace", {"ms": 0}, 10), ("thinking", {"when": "never"}, 10), ("hint", {}, 2), ("undo", {}, 4), ("run", {}, 20)],
)
def test_what_costs_more_is_limited_sooner(tmp_path: Path, do: str, fields: dict[str, object], most: int) -> None:
    with serving(tmp_path, replace(CROWD, messages_each=Allowance(0.001, 20))) as place:
        ana = Browser(place)
        with ana.socket(ana.make("kuhn", "me", "random", practice=True)["table"]) as socket:
            socket.my_turn()
            for _ in range(25):
                socket.say(do, **fields)
            passed = 0
            while socket.hear_any() != "slow":
                passed += 1
        assert passed <= most


def test_all_sockets_of_a_browser_have_one_allowance_and_all_browsers_of_an_address(tmp_path: Path) -> None:
    limits = replace(CROWD, messages_each=Allowance(0.001, 30), messages_at=Allowance(0.001, 65))
    with serving(tmp_path, limits, proxies=("127.0.0.1",)) as place:
        ana, eva = (Browser(place, address="192.0.2.1") for _ in range(2))
        name = ana.make("kuhn", "me", "random")["table"]
        heard = 0
        for browser in (ana, ana, eva, eva):
            with browser.socket(name) as socket:
                for _ in range(25):
                    socket.say("nothing")
                heard += sum(socket.hear("error")["code"] == "malformed" for _ in range(25))
        assert heard == 30 + 65 - 30 - 7  # seven were spent on requests
        assert ana.ask("GET", "/")[0] == 429
        with pytest.raises(InvalidStatus):
            ana.socket(name)
        assert Browser(place, address="192.0.2.2").ask("GET", "/")[0] == 200


def test_requests_that_cost_more_are_limited_sooner(tmp_path: Path) -> None:
    limits = replace(CROWD, messages_each=Allowance(0.001, 40))
    for path, most in (("/api/stats", 4), ("/api/tables", 10), ("/api/game?name=kuhn", 10)):
        with serving(tmp_path / path[5:9], limits) as place:
            ana = Browser(place)
            codes = [ana.ask("GET", path)[0] for _ in range(most + 2)]
            assert codes[0] == 200
            assert codes[most:] == [429] * 2


def test_an_address_has_only_so_many_sockets_at_tables(tmp_path: Path) -> None:
    with serving(tmp_path, replace(CROWD, listeners_at=3), proxies=("127.0.0.1",)) as place:
        ana, eva = (Browser(place, address="192.0.2.1") for _ in range(2))
        name = ana.make("kuhn", "me", "random")["table"]
        sockets = [browser.socket(name) for browser in (ana, eva, ana)]
        for socket in sockets:
            assert socket.hear()["is"] == "table"
        with eva.socket(name) as refused:
            assert refused.hear()["code"] == "sockets"
        with Browser(place, address="192.0.2.2").socket(name) as other:
            assert other.hear()["is"] == "table"
        for socket in sockets:
            socket.connection.close()
        wait_until(lambda: not place.house.listening and not place.house.listening_at)


def test_forwarded_addresses_are_believed_only_where_asked_for(tmp_path: Path) -> None:
    """Else whoever writes a header would have an allowance of his own for each."""
    with serving(tmp_path, replace(CROWD, messages_at=Allowance(0.001, 10))) as place:
        status = [Browser(place, "x", address=f"192.0.2.{i}").ask("GET", "/")[0] for i in range(12)]
    assert status == [200] * 10 + [429] * 2


def test_a_cookie_is_secure_behind_a_proxy_with_tls(tmp_path: Path) -> None:
    with serving(tmp_path, proxies=("127.0.0.1",)) as place:
        ana = Browser(place, "")
        for scheme, is_secure in (("https", True), ("http", False)):
            headers = ana.ask("POST", "/api/token", Origin=f"{scheme}://{place.host}", X_Forwarded_Proto=scheme)[1]
            assert ("secure" in headers["set-cookie"].lower()) == is_secure
