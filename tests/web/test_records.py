"""Replays, reviews and statistics, without a server."""

from __future__ import annotations

from typing import Any

import pytest

from tapete import Rng, make
from tapete.core import Thought
from tapete.web.records import choices, costliest, decision, known_value, replay, statistics
from tapete.web.table import AGENT, PERSON, Options, Seat, Table
from tapete.web.thinking import Explainer


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


def review(table: Table, seat: int, rng: Rng) -> dict[str, Any]:
    """As the server makes one, without its lines."""
    explainer = Explainer(table.game)
    found = [decision(choice, explainer.think(choice.view, rng)) for choice in choices(table, seat)]
    return {"decisions": costliest(table.game, [each for each in found if each])}


def test_a_review_finds_the_blunder() -> None:
    """Calling with the jack is never right, folding with the king neither."""
    for moves, blunder, right in (("J Q pass bet bet", "bet", "pass"), ("K Q pass bet pass", "pass", "bet")):
        worst = review(finished("kuhn", moves), 0, Rng(1))["decisions"][0]
        assert (worst["ply"], worst["text"], worst["best"]) == (4, blunder, right)
        assert worst["lost"] > 0.5
    assert all(each["ply"] != 4 for each in review(finished("kuhn", "K Q pass bet bet"), 0, Rng(1))["decisions"])


def test_a_review_does_not_look_at_hidden_cards() -> None:
    """The other has the queen or the king; nothing was shown, so both reviews are the same."""
    same = [review(finished("kuhn", f"J {card} pass bet pass"), 0, Rng(1)) for card in ("Q", "K")]
    assert same[0] == same[1]


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


def test_a_decision_without_a_value_is_none_and_small_losses_are_noise() -> None:
    (_, last) = choices(finished("kuhn", "J Q pass bet bet"), 0)
    assert (last.ply, last.action) == (4, 1)
    assert decision(last, Thought(probabilities={0: 1.0}, values={0: 1.0})) is None
    told = decision(last, Thought(probabilities={0: 0.75, 1: 0.25}, values={0: -1.0, 1: -2.0}))
    assert told is not None
    assert (told["text"], told["best"], told["value"], told["lost"]) == ("bet", "pass", -2.0, 1.0)
    assert told["moves"] == [
        {"text": "pass", "share": 0.75, "value": -1.0},
        {"text": "bet", "share": 0.25, "value": -2.0},
    ]
    losses = [{"lost": lost} for lost in (0.001, 0.5, 2.0, 0.1, 0.2, 0.3, 0.4)]
    assert [each["lost"] for each in costliest(make("kuhn"), losses)] == [2.0, 0.5, 0.4, 0.3, 0.2]
    assert costliest(make("kuhn"), [{"lost": 0.019}]) == []
