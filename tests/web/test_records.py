"""Replays and statistics, without a server."""

from __future__ import annotations

import json

import pytest

from tapete import make
from tapete.review import choices, decide, judge_of
from tapete.web.records import known_value, replay, statistics
from tapete.web.reviews import review_json
from tapete.web.table import AGENT, PERSON, Options, Seat, Table


def finished(game: str, moves: str) -> Table:
    table = Table("name", make(game), [Seat(PERSON, "Ana", "ana"), Seat(AGENT, "random")], Options())
    table.replay(make(game).read(moves).history or [])
    assert table.over
    return table


def result(seat: int, *returns: float, game: str = "kuhn", against: str = "random") -> dict[str, object]:
    return {"game": game, "seat": seat, "against": [against], "returns": list(returns)}


def test_a_replay_has_all_hands_open_and_every_step() -> None:
    steps = replay(finished("kuhn", "J Q pass bet bet"), "ana", 5.0)
    assert [step["text"] for step in steps["steps"]] == [None, "J", "Q", "pass", "bet", "bet"]
    assert [step["seat"] for step in steps["steps"]] == [None, None, None, 0, 1, 0]
    hands = [part["faces"] for part in steps["steps"][2]["scene"]["parts"] if part["name"] == "card"]
    assert hands == [("J",), ("Q",)]
    assert (steps["mine"], steps["when"], steps["returns"]) == (0, 5.0, [-2.0, 2.0])
    assert replay(finished("kuhn", "J Q pass bet bet"), "nobody", 5.0)["mine"] is None


def test_a_replay_by_a_seats_eyes_shows_what_it_saw() -> None:
    """The other has the queen or the king; nothing was shown, so both replays are the same."""
    told = [replay(finished("kuhn", f"J {card} pass bet pass"), "ana", 5.0, 0) for card in ("Q", "K")]
    assert told[0] == told[1]
    assert (told[0]["eyes"], [step["text"] for step in told[0]["steps"]][-3:]) == (0, ["pass", "bet", "pass"])
    hands = [part["faces"] for part in told[0]["steps"][-1]["scene"]["parts"] if part["name"] == "card"]
    assert hands == [("J",), ("",)]
    shown = replay(finished("kuhn", "J Q pass bet bet"), "ana", 5.0, 0)["steps"][-1]["scene"]["parts"]
    assert [part["faces"] for part in shown if part["name"] == "card"] == [("J",), ("Q",)], "what was shown, is"


def test_statistics_count_wins_draws_and_means() -> None:
    won, drawn, lost = result(0, 2.0, -2.0), result(0, 0.0, 0.0), result(1, 1.0, -1.0)
    (row,) = statistics([won, drawn, lost])
    assert (row["games"], row["wins"], row["draws"]) == (3, 1, 1)
    assert row["mean"] == pytest.approx(1 / 3)
    assert row["interval"][0] < row["mean"] < row["interval"][1]
    assert row["curve"] == [[1, 2.0], [2, 1.0], [3, pytest.approx(1 / 3)]]
    assert row["value"] == pytest.approx(-1 / 18 / 3, abs=1e-5)  # twice seat 0, once seat 1


def test_statistics_are_by_game_and_opponent() -> None:
    rows = statistics([result(0, 1.0, -1.0), result(0, 1.0, -1.0, against="best(5)"), result(0, 1, 0, game="battle")])
    assert [(row["game"], row["against"]) for row in rows] == [
        ("battle", "random"),
        ("kuhn", "best(5)"),
        ("kuhn", "random"),
    ]
    assert rows[0]["value"] is None
    assert statistics([]) == []


def test_curves_have_not_too_many_points() -> None:
    (row,) = statistics([result(0, 1.0, -1.0)] * 1000)
    assert len(row["curve"]) == 200
    assert row["curve"][-1] == [1000, 1.0]


def test_values_are_those_of_the_solutions() -> None:
    assert known_value("domino(3,3)") == pytest.approx(2.153, abs=1e-3)
    assert known_value("kuhn") == pytest.approx(-1 / 18, abs=1e-5)
    assert known_value("truco") is None


def test_statistics_of_a_game_that_is_not_there_any_more() -> None:
    rows = statistics([result(0, 1.0, -1.0, game="gone(3)"), result(0, 1.0, -1.0)])
    assert [(row["title"], row["games"], row["mean"], row["interval"] is None) for row in rows] == [
        ("gone(3)", 1, 1.0, True),
        ("Kuhn poker", 1, 1.0, False),
    ]


def reviewed(game: str, moves: str, seat: int) -> str:
    """A review as it is sent, without the server's lines."""
    table = finished(game, moves)
    judge = judge_of(table.game)
    made = choices(table.game, table.state.history or [], seat)
    decisions = [decide(choice, judge.judge(choice, choice.rng)) for choice in made]
    return json.dumps(review_json(table, seat, decisions, len(made)))


@pytest.mark.parametrize(
    ("game", "one", "two"),
    [
        ("kuhn", "J Q pass bet pass", "J K pass bet pass"),
        ("leduc", "Jh Ks bet raise fold", "Jh Qs bet raise fold"),
        ("holdem", "7c 2d Ah Ad call raise fold", "7c 2d 9s 8s call raise fold"),
    ],
)
def test_a_review_shows_nothing_that_the_game_did_not_show(game: str, one: str, two: str) -> None:
    """All that is sent is the same, whatever the other held: his cards were never shown."""
    told = [reviewed(game, moves, 0) for moves in (one, two)]
    assert told[0] == told[1]
    assert '"mark"' in told[0]


def test_a_review_finds_the_blunder_and_says_what_was_better() -> None:
    """Calling with the jack is never right, folding with the king neither."""
    for moves, blunder, right in (("J Q pass bet bet", "bet", "pass"), ("K Q pass bet pass", "pass", "bet")):
        review = json.loads(reviewed("kuhn", moves, 0))
        worst = max(review["decisions"], key=lambda each: each["lost"])
        assert (worst["ply"], worst["text"], worst["moves"][0]["text"], worst["mark"]) == (4, blunder, right, "blunder")
        assert worst["lost"] == pytest.approx(worst["moves"][0]["value"] - worst["moves"][1]["value"])
        assert review["accuracy"] < 70
    best = json.loads(reviewed("kuhn", "K Q pass bet bet", 0))
    assert (best["accuracy"], best["marks"]["best"]) == (100, 2)
