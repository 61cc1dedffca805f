"""Every byte that goes to every socket, over whole games: what a seat may not know is in none of them.

Two people play and somebody watches. What each was sent is compared with what he would have been sent at that moment
in another world, which he can't tell from the real one: all that he can't know is dealt anew there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from tapete import Rng, State, make
from tapete.web.table import PERSON, Options, Seat, Table
from tests.web.browsers import CROWD, MUCH, Browser, Message, Place, Socket, serving

GAMES = ["kuhn", "leduc", "dudo(6,2,2)", "domino(6,7)", "truco", "holdem", "doudizhu", "rps"]
WORLDLY = ("ply", "seat", "player", "over", "returns", "scene", "told", "counted", "totals")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    limits = replace(CROWD, messages_each=MUCH, makes_each=MUCH, tables_each=10**9)
    with serving(tmp_path_factory.mktemp("leaks"), limits) as place:
        yield place


def play(browsers: list[Browser], game: str, rng: Rng) -> tuple[list[list[str]], list[int]]:
    """A random game of people only; all that each was sent (the last one watches), and what happened."""
    *people, _ = browsers
    made = people[0].make(game, "me", *["open"] * (len(people) - 1), clock=3600)
    with ExitStack() as stack:
        sockets = [stack.enter_context(browser.socket(made["table"])) for browser in browsers]
        for seat, socket in enumerate(sockets[1:-1], start=1):
            socket.say("sit", seat=seat, invite=made["invite"], name="")
        table = sockets[0].hear("table", complete=True)
        while not table["over"]:
            table = up_to(sockets[table["player"]], table["ply"])
            move = rng.choice(table["scene"]["moves"])
            sockets[table["player"]].say("act", ply=table["ply"], action=move["action"])
            table = up_to(sockets[table["player"]], table["ply"] + 1)
        for socket in sockets:
            up_to(socket, table["ply"])
    record = people[0].get(f"/api/record/{made['table']}")
    history = make(game).read(" ".join(record["moves"])).history or []
    return [socket.heard for socket in sockets], history


def up_to(socket: Socket, ply: int) -> Message:
    """The newest table, once so many moves have been made."""
    newest = json.loads(socket.heard[-1]) if socket.heard else socket.hear("table")
    while newest["ply"] < ply:
        newest = socket.hear("table")
    return newest


def check(game: str, sent: list[list[str]], history: list[int], rng: Rng) -> int:
    """Compares everything; how many messages there were."""
    messages = [[json.loads(text) for text in texts] for texts in sent]
    plies = {message["ply"] for each in messages for message in each}
    expected = elsewhere(game, history, plies, rng)
    checked = 0
    for viewer, each in enumerate(messages):
        for message in each:
            assert message["is"] == "table", "nothing else is sent to somebody who asks for nothing"
            if message["complete"]:
                assert worldly(message) == expected[message["ply"]][viewer]
                checked += 1
            else:
                assert message["ply"] == 0
    return checked


def elsewhere(game: str, history: list[int], plies: set[int], rng: Rng) -> dict[int, list[str]]:
    """What each seat would be sent if the cards lay otherwise, as far as it can't know; spectators last."""
    rules = make(game)
    table = Table("", rules, [Seat(PERSON, "", str(seat)) for seat in range(rules.players)], Options())
    found = {}
    for ply in sorted(plies):
        table.replay(history[table.ply : ply])
        found[ply] = [in_another_world(table, seat, rng) for seat in [*range(rules.players), None]]
    return found


def in_another_world(table: Table, seat: int | None, rng: Rng) -> str:
    real = table.state
    known = rng.below(table.game.players) if seat is None else seat  # spectators know no more than anybody
    table.state = State(table.game, real.view(known).sample(rng).data, real.history)
    message = json.loads(json.dumps(table.message(str(seat))))
    table.state = real
    return worldly(message)


def worldly(message: dict[str, Any]) -> str:
    """The part of a message that is about the game."""
    return json.dumps({key: message[key] for key in WORLDLY})


def attend(place: Place, game: str, games: int) -> int:
    browsers = [Browser(place) for _ in range(make(game).players + 1)]
    rng = Rng("leaks", game)
    return sum(check(game, *play(browsers, game, rng), rng) for _ in range(games))


@pytest.mark.parametrize("game", GAMES)
def test_nothing_leaks_to_a_socket(place: Place, game: str) -> None:
    assert attend(place, game, 1) > 3


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_nothing_leaks_to_a_socket_in_a_thousand_games(place: Place, game: str) -> None:
    checked = attend(place, game, 1000)
    print(f"\n{game}: {checked:,} messages to sockets in 1,000 games, the same in another world")
    assert checked > 3000


@pytest.mark.parametrize("game", ["truco", "holdem", "kuhn"])
def test_no_other_address_tells_of_a_game_that_is_not_over(place: Place, game: str) -> None:
    ana, blas = Browser(place), Browser(place)
    name = ana.make(game, "me", "random")["table"]
    with ana.socket(name) as socket:
        socket.my_turn()
        paths = [f"/api/{what}/{name}" for what in ("replay", "review", "record", "history", "session")]
        paths += [f"/api/history/{name}?ending=.txt", f"/api/session/{name}?ending=.phhs"]
        paths += [f"/api/replay/{name}?seat=1", f"/api/review/{name}?seat=1"]
        for browser in (ana, blas):
            for path in paths:
                status, _, body = browser.ask("GET", path)
                is_empty = body in (
                    b"",
                    b'{"hands":0,"curve":[0.0],"players":[]}',
                )  # a session has only hands that are over
                assert is_empty or status in (400, 403, 404), (path, body)


def test_a_message_that_depends_on_hidden_cards_is_noticed() -> None:
    history = make("kuhn").read("J Q pass").history or []
    honest = json.loads(elsewhere("kuhn", history, {3}, Rng(1))[3][0])
    message = {**honest, "is": "table", "complete": True}
    assert check("kuhn", [[json.dumps(message)]], history, Rng(2)) == 1
    message["scene"]["parts"][1]["faces"] = ["Q"]
    with pytest.raises(AssertionError):
        check("kuhn", [[json.dumps(message)]], history, Rng(2))
