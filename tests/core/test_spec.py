"""What a game declares: sizes that follow from the fields, seats that see different things, scenes as plain data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tapete import make
from tapete.core import Field, TapeteError
from tapete.core.scene import Board, Move, Note, Place, Scene, Score, Things
from tapete.core.spec import within

COMMON = (Field(name="cards", shape=(4, 13)), Field(name="pot"))
LARGER = (*COMMON, Field(name="bid", shape=(2, 3, 2)))


def test_seats_may_see_different_things() -> None:
    alike = replace(make("kuhn").spec, players=3, observations=(COMMON,), features=LARGER)
    assert [alike.observation(seat) for seat in range(3)] == [COMMON] * 3
    assert (alike.observation_size, alike.feature_size) == (53, 65)
    unlike = replace(alike, observations=(COMMON, LARGER, COMMON))
    assert [unlike.observation(seat) for seat in range(3)] == [COMMON, LARGER, COMMON]
    assert unlike.observation_size == 65, "the longest"
    assert unlike.to_json()["observation_size"] == 65
    assert unlike.to_json()["feature_size"] == 65


def test_a_spec_as_plain_data_leaves_out_what_is_large() -> None:
    data = json.loads(json.dumps(make("rps").spec.to_json()))
    assert data["players"] == 2
    assert data["name"] == "rps"
    assert not {"params", "tail", "labels"} & data.keys()


def test_chance_moves_where_there_are_outcomes() -> None:
    assert make("kuhn").spec.has_chance
    assert not make("othello").spec.has_chance


@pytest.mark.parametrize("value", [2, 3, 4, 2.5])
def test_the_ends_of_a_range_belong_to_it(value: float) -> None:
    within("players", value, 2, 4)


@pytest.mark.parametrize("value", [1, 5, 4.001, float("nan"), float("inf")])
def test_what_is_outside_is_refused(value: float) -> None:
    with pytest.raises(TapeteError, match=f"players must be between 2 and 4, not {value}"):
        within("players", value, 2, 4)


def test_a_scene_as_plain_data() -> None:
    parts = (
        Things(name="hand", kind="french", faces=("Ah", ""), owner=2),
        Board(name="board", kind="disc", rows=("1",), columns=("a", "b"), cells=("black", ""), last=1),
        Score(name="chips", values=(1.0, 2.5, 0.0)),
        Note(name="pot", text="3"),
    )
    moves = (Move(action=7, text="Ah", place=Place(part="hand", index=1)), Move(action=0, text="fold"))
    data = json.loads(json.dumps(Scene(seat=2, player=1, parts=parts, moves=moves).to_json()))
    assert (data["seat"], data["player"]) == (2, 1)
    assert [part["is"] for part in data["parts"]] == ["things", "board", "score", "note"]
    assert data["parts"][0] == {"name": "hand", "kind": "french", "faces": ["Ah", ""], "owner": 2, "is": "things"}
    assert data["parts"][1]["last"] == 1
    assert data["moves"] == [
        {"action": 7, "text": "Ah", "place": {"part": "hand", "index": 1}},
        {"action": 0, "text": "fold", "place": None},
    ]
    assert Scene(seat=None, player=-1, parts=()).to_json()["seat"] is None
