"""The server as browsers meet it: playing, watching, coming back, and being refused."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from tapete import Record, Rng, make
from tapete.core import Thought, View
from tapete.core.names import playable
from tapete.games.holdem import histories
from tapete.web.door import is_ours, is_same
from tapete.web.thinking import Explainer
from tests.web.browsers import CROWD, Browser, Place, serving


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with serving(tmp_path_factory.mktemp("web")) as place:
        yield place


@pytest.fixture
def ana(place: Place) -> Browser:
    return Browser(place)


@pytest.fixture
def blas(place: Place) -> Browser:
    return Browser(place)


@pytest.mark.parametrize("game", playable())
def test_a_whole_game_is_played_replayed_and_counted(ana: Browser, game: str) -> None:
    told = ana.get(f"/api/game?name={game}")
    table = ana.make(game, "me", *["random"] * (told["players"] - 1))["table"]
    with ana.socket(table) as socket:
        end = socket.play()
    assert end["game_id"] == table
    replay = ana.get(f"/api/replay/{table}")
    assert len(replay["steps"]) == end["ply"] + 1
    assert replay["returns"] == end["returns"]
    assert replay["mine"] == 0
    record = Record.from_json(ana.get(f"/api/record/{table}"))
    assert record.replay().returns() == end["returns"]
    assert record.seats[0] == "Ana"
    (stats,) = ana.get("/api/stats")
    assert (stats["games"], stats["against"], stats["mean"]) == (1, "random", end["returns"][0])
    (listed,) = ana.get("/api/tables")
    assert (listed["table"], listed["over"], listed["ply"]) == (table, True, end["ply"])


def test_a_hand_of_holdem_is_kept_as_a_history(ana: Browser, blas: Browser, tmp_path: Path) -> None:
    """In both formats, with the cards that whoever asks knows, and no others."""
    table = ana.make("holdem(players=3)", "me", "random", "random")["table"]
    assert ana.ask("GET", f"/api/history/{table}?ending=.txt")[0] == 404, "nothing is told before the end"
    with ana.socket(table) as socket:
        end = socket.play()
    assert ana.get(f"/api/replay/{table}")["histories"] == [".txt", ".phhs"]
    for browser, seat in ((ana, 0), (blas, None)):
        for ending in (".txt", ".phhs"):
            status, headers, text = browser.ask("GET", f"/api/history/{table}?ending={ending}")
            assert status == 200
            assert f'{ending}"' in headers["content-disposition"]
            (tmp_path / f"hand{ending}").write_bytes(text)
            (hand,) = histories.read(tmp_path / f"hand{ending}", lambda problem: pytest.fail(str(problem)))
            assert [cents / 100 for cents in hand.net] == pytest.approx(end["returns"])
            assert hand.players[0].name == "Ana"
            assert set(hand.holes) == {*hand.shown, *([] if seat is None else [seat])}
    assert ana.ask("GET", f"/api/history/{table}?ending=.exe")[0] == 400
    other = ana.make("rps", "me", "random")["table"]
    with ana.socket(other) as socket:
        socket.play()
    assert ana.get(f"/api/replay/{other}")["histories"] == []
    assert ana.ask("GET", f"/api/history/{other}?ending=.txt")[0] == 400


def test_games_and_their_rules_are_told(ana: Browser) -> None:
    games = {game["name"].partition("(")[0]: game for game in ana.get("/api/games")}
    assert sorted(games) == playable()
    assert games["dudo"]["parameters"][0] == {"name": "faces", "kind": "int", "default": 6}
    game = ana.get("/api/game?name=domino(3,3)")
    assert game["value"] == pytest.approx(2.153, abs=1e-3)
    assert "random" in [opponent["text"] for opponent in game["opponents"]]
    assert all(opponent["about"] for opponent in game["opponents"])
    status, _, text = ana.ask("GET", "/api/rules?name=truco")
    assert (status, text.decode()) == (200, Path("tapete/games/truco/README.md").read_text())


def test_an_act_with_an_old_ply_is_refused_and_changes_nothing(ana: Browser) -> None:
    with ana.socket(ana.make("othello", "me", "random")["table"]) as socket:
        table = socket.my_turn()
        socket.say("act", ply=table["ply"] - 1, action=19)
        assert socket.hear("error")["code"] == "stale"
        socket.say("act", ply=table["ply"], action=0)
        assert socket.hear("error")["code"] == "illegal"
        socket.act(table)
        assert socket.hear("table")["ply"] > table["ply"]


def test_two_people_and_a_spectator(ana: Browser, blas: Browser, place: Place) -> None:
    made = ana.make("truco", "me", "open")
    name = made["table"]
    with ana.socket(name) as a, blas.socket(name) as b, Browser(place).socket(name) as c:
        assert a.hear("table")["invite"] == made["invite"]
        assert b.hear("table")["invite"] is None
        for invite in ("", "wrong", made["invite"] + "x"):
            b.say("sit", seat=1, invite=invite, name="Blas")
            assert b.hear("error")["code"] == "invite"
        b.say("sit", seat=1, invite=made["invite"], name="<b>Blas</b>")
        assert b.hear("table", complete=True)["seat"] == 1
        c.say("sit", seat=1, invite=made["invite"], name="Cora")
        assert c.hear("error")["code"] == "taken"
        table = a.hear("table", complete=True)
        assert [seat["name"] for seat in table["seats"]] == ["Ana", "<b>Blas</b>"]
        assert [seat["me"] for seat in table["seats"]] == [True, False]
        b.act(table)
        assert b.hear("error")["code"] == "turn"
        c.act(table)
        assert c.hear("error")["code"] == "turn"
        for do in ("undo", "hint", "again", "step"):
            c.say(do)
            assert c.hear("error")["code"] in ("undo", "turn", "seat")
        c.say("pace", ms=1)
        assert c.hear("error")["code"] == "seat"
        a.act(table)
        after = c.hear("table", ply=7)
        assert after["seat"] is None
        assert after["scene"]["moves"] == []
        hands = [part for part in after["scene"]["parts"] if part["name"] == "hand"]
        assert [set(hand["faces"]) for hand in hands] == [{""}, {""}]
        a.say("hint")
        assert a.hear("error")["code"] in ("help", "turn")
        assert table["seats"][1]["here"]
    with ana.socket(name) as a:
        assert [seat["here"] for seat in a.hear("table")["seats"]] in ([True, False], [True, True])


def test_practice_undo_and_hints(ana: Browser) -> None:
    with ana.socket(ana.make("kuhn", "me", "random", practice=True)["table"]) as socket:
        table = socket.my_turn()
        assert not table["can_undo"]
        socket.say("undo")
        assert socket.hear("error")["code"] == "undo"
        socket.say("hint")
        thought = socket.hear("thought")
        assert (thought["kind"], thought["seat"], thought["ply"]) == ("hint", 0, table["ply"])
        assert sum(move["share"] for move in thought["moves"]) == pytest.approx(1)
        assert {move["action"] for move in thought["moves"]} == {0, 1}
        assert "equilibrium" in thought["by"]


def test_undo_takes_back_to_the_own_last_decision(ana: Browser) -> None:
    with ana.socket(ana.make("othello", "me", "random", practice=True)["table"]) as socket:
        first = socket.my_turn()
        socket.act(first)
        second = socket.my_turn()
        assert second["can_undo"]
        socket.say("undo")
        back = socket.hear("table", ply=0)
        assert back["scene"] == first["scene"]
        assert back["told"] == []
        assert not back["counted"]


def test_thoughts_after_a_move_are_about_the_position_before_it(ana: Browser) -> None:
    with ana.socket(ana.make("othello", "me", "random")["table"]) as socket:
        table = socket.my_turn()
        socket.say("thinking", when="after")
        assert socket.hear("table", thinking="after")["counted"]
        socket.act(table, 1)
        thought = socket.hear("thought")
        assert (thought["kind"], thought["ply"]) == ("after", table["ply"])
        assert thought["chosen"] == table["scene"]["moves"][1]["action"]
        assert {m["action"] for m in thought["moves"]} == {m["action"] for m in table["scene"]["moves"]}
        assert all(move["place"]["part"] == "board" for move in thought["moves"])
        socket.say("thinking", when="always")
        assert socket.hear("thought", kind="hint")["chosen"] is None
        socket.say("thinking", when="sometimes")
        assert socket.hear("error")["code"] == "malformed"


def test_one_thought_at_a_time(ana: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """An explainer remembers, in memory that two threads must not write to: that would end the process."""
    busy, overlaps = threading.Lock(), []

    def think(self: Explainer, view: View, rng: Rng) -> Thought:
        overlaps.append(not busy.acquire(blocking=False))
        time.sleep(0.05)
        if not overlaps[-1]:
            busy.release()
        return Thought(probabilities=dict.fromkeys(view.actions(), 1.0))

    monkeypatch.setattr(Explainer, "think", think)
    with ana.socket(ana.make("othello", "me", "random")["table"]) as socket:
        table = socket.my_turn()
        socket.say("thinking", when="after")
        for _ in range(3):
            socket.act(table)
            table = socket.my_turn()
        for _ in range(3):
            socket.say("hint")
        thoughts = [socket.hear("thought") for _ in range(2)]
    assert thoughts
    assert len(overlaps) >= 2
    assert not any(overlaps)


def test_a_game_with_help_is_not_counted(ana: Browser) -> None:
    with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
        socket.my_turn()
        socket.say("hint")
        assert not socket.hear("table", counted=False)["over"]
        socket.say("pace", ms=0)
        socket.play()
    assert ana.get("/api/stats") == []


def test_agents_among_themselves_are_watched_at_ones_own_pace(ana: Browser, blas: Browser) -> None:
    table = ana.make("othello", "random", "random", pace=10_000)["table"]
    with ana.socket(table) as socket, blas.socket(table) as other:
        first = socket.hear("table")
        assert (first["watching"], first["running"], first["seat"]) == (True, True, None)
        socket.say("run", on=False)
        socket.hear("table", running=False)
        for ply in (1, 2):
            socket.say("step")
            assert socket.hear("table", ply=ply)["running"] is False
        other.say("run", on=True)
        assert other.hear("error")["code"] == "seat"
        socket.say("pace", ms=0)
        socket.say("run", on=True)
        assert socket.hear("table", over=True)["returns"]
        socket.say("again")
        assert socket.hear("moved")["table"] != table


def test_another_game_with_the_seats_swapped(ana: Browser) -> None:
    table = ana.make("kuhn", "me", "random")["table"]
    with ana.socket(table) as socket:
        socket.my_turn()
        socket.say("again")
        assert socket.hear("error")["code"] == "early"
        socket.say("pace", ms=1)
        end = socket.play()
        socket.say("swap")
        moved = socket.hear("moved")["table"]
        socket.say("again")
        assert socket.hear("moved")["table"] == moved
    with ana.socket(moved) as socket:
        following = socket.hear("table")
        assert following["seat"] == 1
        assert following["totals"] == {"games": 1, "returns": end["returns"][::-1]}


def test_a_review_lists_what_was_lost_and_is_made_once(ana: Browser) -> None:
    table = ana.make("othello(size=4)", "me", "random")["table"]
    with ana.socket(table) as socket:
        socket.play()
    review = ana.get(f"/api/review/{table}")
    plies = [decision["ply"] for decision in review["decisions"]]
    assert plies == sorted(plies)
    assert len(plies) == review["of"] == sum(review["marks"].values()) > 1
    for decision in review["decisions"]:
        assert decision["lost"] == decision["moves"][0]["value"] - next(
            move["value"] for move in decision["moves"] if move["action"] == decision["action"]
        )
    assert 0 <= review["accuracy"] <= 100
    told = ana.get(f"/api/replay/{table}")
    assert review["curve"][-1] == [len(told["steps"]) - 1, told["returns"][0]]
    assert ana.get(f"/api/review/{table}?seat=0") == review
    assert ana.ask("GET", f"/api/review/{table}?seat=2")[0] == 400
    assert ana.ask("GET", f"/api/review/{table}?seat=x")[0] == 400


def test_a_game_that_is_not_over_is_not_replayed(ana: Browser) -> None:
    table = ana.make("truco", "me", "random")["table"]
    for what in ("replay", "review", "record"):
        assert ana.ask("GET", f"/api/{what}/{table}")[0] == 404
        assert ana.ask("GET", f"/api/{what}/nothing")[0] == 404


def test_tables_survive_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as place:
        ana = Browser(place)
        table = ana.make("truco", "me", "random")["table"]
        with ana.socket(table) as socket:
            socket.act(socket.my_turn())
            before = socket.my_turn()
    with serving(tmp_path) as place:
        again = Browser(place, ana.cookie)
        assert again.get("/api/tables")[0]["table"] == table
        with again.socket(table) as socket:
            after = socket.hear("table")
            assert after == before
            socket.act(after)
            assert socket.my_turn()["ply"] > after["ply"]


# Who is not let in.


def test_without_a_token_there_is_no_socket_and_no_table(ana: Browser, place: Place) -> None:
    table = ana.make("kuhn", "me", "random")["table"]
    word, _, signature = ana.cookie.partition("=")[2].partition(".")
    forged = ["", "tapete=", "tapete=x.y", f"tapete={word}", f"tapete={word}.{signature[:-1]}0x", f"other={word}"]
    for cookie in forged:
        nobody = Browser(place, cookie)
        with pytest.raises(InvalidStatus) as refused:
            nobody.socket(table)
        assert refused.value.response.status_code == 403
        status, answer = nobody.post("/api/tables", {"game": "kuhn", "seats": ["me", "random"]})
        assert (status, answer["code"]) == (400, "token")
        assert nobody.get("/api/tables") == nobody.get("/api/stats") == []


def test_another_token_neither_sees_nor_moves(ana: Browser, blas: Browser) -> None:
    with blas.socket(ana.make("truco", "me", "random")["table"]) as socket:
        table = socket.hear("table")
        assert (table["seat"], table["scene"]["moves"]) == (None, [])
        for action in range(60):
            socket.say("act", ply=table["ply"], action=action)
            assert socket.hear("error")["code"] == "turn"


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_sockets_and_posts_from_other_sites_are_refused(ana: Browser, origin: str | None) -> None:
    table = ana.make("kuhn", "me", "random")["table"]
    with pytest.raises(InvalidStatus) as refused:
        ana.socket(table, origin=origin)
    assert refused.value.response.status_code == 403
    headers = {"Content_Type": "application/json", **({"Origin": origin} if origin else {})}
    status, _, _ = ana.ask("POST", "/api/tables", b"{}", **headers)
    assert status == 403
    if origin:
        assert ana.ask("GET", "/api/games", Origin=origin)[0] == 403
    assert ana.ask("GET", "/api/games", Sec_Fetch_Site="cross-site")[0] == 403


def test_other_hosts_are_refused(ana: Browser) -> None:
    assert ana.ask("GET", "/api/games", Host="evil.example")[0] == 403
    assert ana.ask("GET", "/api/games", Host="localhost:1")[0] == 200
    names = frozenset({"localhost", "play.example"})
    for host in ("localhost", "LOCALHOST:80", "127.0.0.1:8770", "[::1]:8770", "192.168.0.7", "play.example:8770"):
        assert is_ours(host, names)
    for host in ("", "evil.example", "play.example.evil", "localhost.evil", "[::1", "1.2.3.4.5", "a b", "@localhost@x"):
        assert not is_ours(host, names)
    assert is_same("http://a:1", "a:1")
    for origin in ("http://a", "http://a:2", "ftp://a:1", "a:1", "null", "", "http://a:1/", "http://x@a:1"):
        assert not is_same(origin, "a:1")


def test_a_token_is_given_to_a_page_that_asks_for_it_and_never_with_a_page(ana: Browser) -> None:
    """A page opened by a link elsewhere is asked for without the cookie: one that came with it would lie over it."""
    for path in ("/", "/t/x", "/g/x", "/stats", "/api/games", "/api/tables", "/static/js/main.js"):
        assert "set-cookie" not in ana.ask("GET", path, cookie="", Sec_Fetch_Site="none")[1]
    assert "set-cookie" not in ana.ask("GET", "/api/token", cookie="")[1]
    status, headers, _ = ana.ask("POST", "/api/token", cookie="", Origin=f"http://{ana.host}")
    cookie = headers["set-cookie"].lower()
    assert status == 204
    for part in ("httponly", "samesite=strict", "path=/", "max-age=31536000"):
        assert part in cookie
    assert "secure" not in cookie
    assert not cookie.startswith(ana.cookie.lower())


def test_a_token_that_is_there_is_kept(ana: Browser) -> None:
    headers = ana.ask("POST", "/api/token", Origin=f"http://{ana.host}")[1]
    assert headers["set-cookie"].partition(";")[0] == ana.cookie
    forged = ana.cookie[:-1] + ("0" if ana.cookie[-1] != "0" else "1")
    headers = ana.ask("POST", "/api/token", cookie=forged, Origin=f"http://{ana.host}")[1]
    assert headers["set-cookie"].partition(";")[0] not in (forged, ana.cookie)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_another_site_gets_no_token(ana: Browser, origin: str) -> None:
    for answer in (
        ana.ask("POST", "/api/token", cookie="", Origin=origin),
        ana.ask("POST", "/api/token", cookie=""),
    ):
        assert answer[0] == 403
        assert "set-cookie" not in answer[1]


def test_every_answer_has_the_headers_that_protect_it(ana: Browser) -> None:
    for path in ("/", "/api/games", "/nothing", "/static/nothing", "/api/replay/x"):
        headers = ana.ask("GET", path)[1]
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd", "/static/..%2fserver.py"]
)
def test_nothing_but_the_page_is_served(ana: Browser, path: str) -> None:
    assert ana.ask("GET", path)[0] == 404


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"game": "chess"}, "game"),
        ({"game": "matrix(/etc/passwd)"}, "game"),
        ({"game": " matrix (/etc/passwd)"}, "game"),
        ({"game": "ocp(1000000)"}, "game"),
        ({"game": "kuhn(1)"}, "illegal"),
        ({"game": 7}, "malformed"),
        ({"seats": ["me"]}, "seats"),
        ({"seats": ["me", "me"]}, "seats"),
        ({"seats": ["me", "mcts(100000000)"]}, "seats"),
        ({"seats": ["me", "/tmp/x.safetensors"]}, "seats"),
        ({"seats": ["me", ["random"]]}, "seats"),
        ({"seats": "me"}, "malformed"),
        ({"pace": -1}, "malformed"),
        ({"pace": True}, "malformed"),
        ({"pace": 1e3}, "malformed"),
        ({"practice": 1}, "malformed"),
        ({"name": None}, "malformed"),
    ],
)
def test_a_table_that_can_not_be(ana: Browser, changes: dict[str, object], code: str) -> None:
    status, answer = ana.post("/api/tables", {"game": "kuhn", "seats": ["me", "random"], **changes})
    assert (status, answer["code"]) == (400, code)
    assert ana.get("/api/tables") == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b"[" * 4000, b'{"game": "' + b"x" * 5000 + b'"}', b"\xff"])
def test_a_body_that_is_no_table(ana: Browser, body: bytes) -> None:
    headers = {"Origin": f"http://{ana.host}", "Content_Type": "application/json"}
    status, _, content = ana.ask("POST", "/api/tables", body, **headers)
    assert (status, json.loads(content)["code"]) == (400, "malformed")
    headers["Content_Type"] = "text/plain"
    status, _, content = ana.ask("POST", "/api/tables", b"{}", **headers)
    assert (status, json.loads(content)["code"]) == (400, "malformed")


def test_tables_and_sockets_are_limited(ana: Browser, place: Place) -> None:
    answers = [ana.post("/api/tables", {"game": "kuhn", "seats": ["me", "random"]})[1] for _ in range(40)]
    codes = [answer.get("code") for answer in answers]
    assert codes[:10] == [None] * 10
    assert "slow" in codes
    table = answers[0]["table"]
    limit = place.house.limits.listeners_each
    sockets = [ana.socket(table) for _ in range(limit)]
    assert sockets[-1].hear()["is"] == "table"
    one_more = ana.socket(table)
    assert one_more.hear()["code"] == "sockets"
    for socket in [*sockets, one_more]:
        socket.connection.close()


def test_who_talks_too_much_is_not_heard_and_then_shut_out(ana: Browser) -> None:
    with ana.socket(ana.make("kuhn", "me", "random")["table"]) as socket:
        for _ in range(120):
            socket.say("nothing")
        assert socket.hear("error", code="slow")
        for _ in range(2000):
            socket.say("nothing")
        with pytest.raises(Exception, match="1008"):  # noqa: PT012
            while True:
                socket.hear()


def test_tables_that_nobody_uses_leave_memory_and_come_back(tmp_path: Path) -> None:

    with serving(tmp_path, replace(CROWD, tables=3)) as place:
        ana = Browser(place)
        tables = [ana.make("kuhn", "me", "random")["table"] for _ in range(6)]
        assert len(place.house.rooms) <= 3
        for table in tables:
            with ana.socket(table) as socket:
                assert socket.hear("table")["table"] == table
        sockets = [ana.socket(table) for table in tables[:3]]
        for socket in sockets:
            socket.hear("table")
        with ana.socket(tables[3]) as refused:
            assert refused.hear()["code"] == "full"
        for socket in sockets:
            socket.connection.close()


def test_all_agents_that_are_offered_can_be_seated(ana: Browser) -> None:
    for text in [opponent["text"] for opponent in ana.get("/api/game?name=leduc")["opponents"]]:
        if text != "best(5)":  # thinks for a second
            with ana.socket(ana.make("leduc", "me", text)["table"]) as socket:
                assert socket.play()["over"]
    assert make("leduc").players == 2
