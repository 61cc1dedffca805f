"""Lessons and puzzles: every position can be reached, every move that is expected can be made, in both languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tapete import Rng, make
from tapete.core.names import playable
from tapete.review.exercises import Exercise, lesson, puzzle_json, puzzles, puzzles_of
from tapete.web.learning import all_lessons, exercises, own_puzzles
from tests.conftest import Tapete

PACKAGES = sorted({make(name).package for name in playable()})
SHIPPED = [each for package in PACKAGES for each in puzzles(package)]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_game_has_a_first_lesson_of_five_positions(package: str) -> None:
    steps = lesson(package)
    assert len(steps) == 5
    for step in steps:
        state = step.state  # all moves are checked
        assert make(step.game).package == package
        assert step.right
        assert state.player >= 0
        for texts in (step.ask, step.why):
            assert set(texts) == {"en", "es"}
            assert texts["en"] != texts["es"]
            assert all(texts.values())


def test_puzzles_that_ship_can_be_asked() -> None:
    assert len(SHIPPED) >= 15
    assert len({(each.game, each.moves) for each in SHIPPED}) == len(SHIPPED), "each is asked once"
    for each in SHIPPED:
        state = each.state
        assert each.played not in each.right
        assert each.lost > each.doubt >= 0
        assert len(state.actions()) > len(each.right)


def test_a_puzzle_is_made_of_a_costly_decision() -> None:
    """Folding the king in Kuhn poker is a blunder; nothing else in this game is one."""
    game = make("kuhn")
    record = game.read("K J pass bet pass").record()
    (found,) = puzzles_of(game, [record])
    assert (found.moves, found.played, found.right) == (("K", "J", "pass", "bet"), "pass", ("bet",))
    assert found.lost == pytest.approx(3, abs=1e-3)
    assert list(puzzles_of(game, [game.read("K J pass bet bet").record()])) == []
    assert puzzle_json(found)["moves"] == "K J pass bet"


def told(name: str, moves: str, right: str) -> str:
    from tapete.web.learning import _exercise_json

    each = Exercise(game=name, moves=tuple(moves.split()), right=(right,), ask={}, why={})
    return json.dumps(_exercise_json(each))


def test_an_exercise_shows_nothing_hidden() -> None:
    """What is sent is the same, whatever the other holds."""
    assert told("kuhn", "K J pass bet", "bet") == told("kuhn", "K Q pass bet", "bet")
    assert told("kuhn", "K J pass bet", "bet") != told("kuhn", "Q J pass bet", "bet")
    assert told("holdem", "Ah Ad 7c 2d", "raise") == told("holdem", "Ah Ad Kc Ks", "raise")
    truco = ("truco(points=15)", "7e {} 6e {} 1b {}", "envido")
    first, second = (
        told(truco[0], truco[1].format(*cards), truco[2]) for cards in (("4c", "5o", "10b"), ("1e", "3o", "3b"))
    )
    assert first == second


def test_exercises_are_told_to_the_one_who_is_to_move() -> None:
    rng = Rng(1)
    listed = all_lessons()
    assert {each["lesson"] for each in listed} == {5}
    for name in (rng.choice(listed)["name"], "truco"):
        for each in exercises(name, "lesson"):
            table = each["table"]
            legal = {move["action"] for move in table["scene"]["moves"]}
            assert table["player"] == table["seat"]
            assert set(each["right"]) <= legal
            assert [seat["me"] for seat in table["seats"]].count(True) == 1


def test_a_review_of_an_older_kind_makes_no_puzzles() -> None:
    assert own_puzzles([(None, 0, {"decisions": [{"mark": "blunder"}]})]) == []  # type: ignore[list-item]


def test_where_nobody_went_wrong_there_are_no_puzzles(tapete: Tapete, tmp_path: Path) -> None:
    record = tmp_path / "kuhn.json"
    record.write_text(json.dumps(make("kuhn").read("J K pass bet pass").record().to_json()))
    done = tapete("puzzles", "kuhn", str(record))
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("nobody made a decision that surely cost something")


def test_puzzles_that_are_kept_are_not_replaced_by_none(tapete: Tapete, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "puzzles.json").write_text("kept")
    monkeypatch.setattr("tapete.cli.puzzles.resources.files", lambda package: tmp_path)
    record = tmp_path / "game.json"
    record.write_text(json.dumps(make("kuhn").read("J K pass bet pass").record().to_json()))
    assert tapete("puzzles", "kuhn", str(record), "--write").status == 0
    assert (tmp_path / "puzzles.json").read_text() == "kept"
