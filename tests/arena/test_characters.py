"""Opponents with names: every game has some, they can be loaded, and strength is told only as it was measured."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from tapete import make
from tapete.agents import load
from tapete.arena import characters as people
from tapete.arena.characters import Character, called, cast_of, characters
from tapete.core import TapeteError
from tapete.core.names import playable

PACKAGES = sorted({make(name).package for name in playable()})


@pytest.mark.parametrize("package", PACKAGES)
def test_every_game_has_three_to_seven_characters(package: str) -> None:
    cast = cast_of(package)
    assert cast is not None
    assert 3 <= len(cast.characters) <= 7
    assert len({each.name for each in cast.characters}) == len({each.agent for each in cast.characters})
    assert cast.usual in {each.name for each in cast.characters}
    for each in cast.characters:
        assert set(each.about) == {"en", "es"}
        assert each.about["en"] != each.about["es"]
        assert all(10 < len(text) < 100 for text in each.about.values())


@pytest.mark.parametrize("package", PACKAGES)
def test_ratings_are_of_the_game_and_of_those_who_play_it(package: str) -> None:
    cast = cast_of(package)
    assert cast is not None
    game = make(cast.measured)
    assert game.package == package
    assert 3 <= len(characters(game)) <= 6
    data = json.loads(resources.files(package).joinpath(people.RATINGS).read_text())
    assert (data["game"], data["games"]) == (str(game), cast.games)
    assert {row["agent"] for row in data["ratings"]} == {each.agent for each in characters(game)}
    for each in characters(game):
        assert each.strength is not None
        assert each.interval is not None
        assert each.interval[0] <= each.strength <= each.interval[1]


@pytest.mark.parametrize(
    "name", ["holdem(players=6)", "holdem(players=10)", "doudizhu(bidding=true,around=true)", "rps"]
)
def test_variants_have_those_who_can_play_them(name: str) -> None:
    game = make(name)
    found = characters(game)
    assert len(found) >= 3
    for each in found:
        load(each.agent, game)
    assert called(game, found[0].agent) == found[0].name
    assert called(game, "nobody") == ""


def test_the_strongest_is_who_surely_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def rated(*rows: tuple[float, float, float]) -> list[bool]:
        text = json.dumps({"ratings": [{"agent": str(i), "elo": row} for i, row in enumerate(rows)]})
        monkeypatch.setattr("tapete.arena.characters.resources.files", lambda _: Folder(text))
        return [row["strongest"] for row in people._ratings("", "elo").values()]

    assert rated((100, 80, 120), (0, -20, 20)) == [True, False]
    assert rated((100, 10, 190), (0, -20, 20)) == [False, False]
    assert rated((100, 80, 120)) == [False], "alone, nobody is strongest"


class Folder:
    def __init__(self, text: str) -> None:
        self.text = text

    def joinpath(self, name: str) -> Folder:
        return self

    def is_file(self) -> bool:
        return True

    def read_text(self) -> str:
        return self.text


def test_a_damaged_network_is_an_error_and_no_weaker_player(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapete.shipped._sha256", lambda *_: "damaged")
    for name, agent in (("othello", "best(2)"), ("truco", "best(5)"), ("holdem", "bucketed"), ("doudizhu", "best(3)")):
        with pytest.raises(TapeteError, match="checksum"):
            load(agent, make(name))


def test_an_unmeasured_character_says_so() -> None:
    assert Character(name="A", agent="random", about={}).to_json()["strength"] is None
