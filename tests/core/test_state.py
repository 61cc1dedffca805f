from __future__ import annotations

import copy
import dataclasses
import json
import os
from pathlib import Path

import pytest

import tapete
from tapete import IllegalAction, Record, Rng, TapeteError

GAMES = [
    "kuhn",
    "leduc",
    "dudo(4,1,2)",
    "domino(3,3)",
    "truco",
    "holdem(players=4)",
    "doudizhu",
    "othello(size=4)",
    "rps",
]


def played(name: str, moves: int, seed: int = 1) -> tapete.State:
    rng = Rng(seed, name)
    state = tapete.make(name).start().deal(rng)
    for _ in range(moves):
        if not state.over:
            state.apply(rng.choice(state.actions())).deal(rng)
    return state


@pytest.mark.parametrize("name", GAMES)
def test_an_illegal_move_changes_nothing(name: str) -> None:
    state = played(name, 1)
    before, history = state.data.copy(), list(state.history or [])
    legal = set(state.actions())
    illegal = [action for action in (-1, 10**9, *range(state.game.spec.actions)) if action not in legal]
    for action in [*illegal[:20], "nonsense", "", "💥", "x" * 10_000]:
        with pytest.raises(IllegalAction, match="can't be played"):
            state.apply(action)
    assert (state.data == before).all()
    assert state.history == history


def test_nothing_can_be_played_when_the_game_is_over() -> None:
    state = tapete.make("kuhn").read("J Q pass pass")
    assert state.over
    assert state.actions() == []
    assert state.outcomes() == []
    with pytest.raises(IllegalAction, match="the game is over"):
        state.apply("pass")


@pytest.mark.parametrize("name", GAMES)
def test_a_state_is_read_back_from_its_text(name: str) -> None:
    state = played(name, 5)
    again = state.game.read(str(state))
    assert again == state
    assert again.history == state.history
    assert hash(again) == hash(state)


def test_a_state_of_another_game_is_refused() -> None:
    with pytest.raises(TapeteError, match=r"a state of 'kuhn', not of ocp\(4\)"):
        tapete.make("ocp(4)").read("kuhn: J Q")


@pytest.mark.parametrize("seat", [-1, 2, 100])
def test_there_is_no_view_from_a_seat_that_does_not_exist(seat: int) -> None:
    state = tapete.make("kuhn").read("J Q")
    for ask in (state.view, state.infoset):
        with pytest.raises(TapeteError, match="seats 0 to 1"):
            ask(seat)


@pytest.mark.parametrize("name", GAMES)
def test_a_view_is_the_same_in_worlds_that_the_seat_cannot_tell_apart(name: str) -> None:
    for moves in range(6):
        state = played(name, moves)
        for seat in range(state.game.players):
            view = state.view(seat)
            other = view.sample(Rng("another world", moves)).view(seat)
            assert str(view) == str(other)
            assert view.scene() == other.scene()
            assert view.infoset == other.infoset == state.infoset(seat)
            assert (view.observation() == other.observation()).all()


def test_a_view_does_not_hold_the_state() -> None:
    """Everything that can be reached from a view, followed to the end, has no trace of the other's card."""
    game = tapete.make("ocp(1000)")
    for card in ("1", "500", "1000"):
        views = [game.read(f"{card} {other}").view(0) for other in ("2", "77", "999")]
        assert len({view._world.tobytes() for view in views}) == 1
        assert set(type(views[0]).__slots__) == {"_world", "game", "seat"}


def test_only_the_mover_sees_legal_actions() -> None:
    state = tapete.make("kuhn").read("J Q")
    assert state.view(0).actions() == [0, 1]
    assert state.view(1).actions() == []
    assert state.view(0).features().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("name", GAMES)
def test_imagining_a_world_leaves_the_view_as_it_is(name: str) -> None:
    view = played(name, 3).view(1)
    before = view._world.tobytes()
    worlds = [view.sample(Rng(seed)) for seed in range(5)]
    assert view._world.tobytes() == before
    assert all(world.data is not other.data for world in worlds for other in worlds if world is not other)


def test_a_seat_sees_as_many_numbers_as_its_own_observation_has() -> None:
    state = played("doudizhu", 5)
    seen = [len(state.view(seat).observation()) for seat in range(3)]
    assert seen == [sum(part.size for part in state.game.spec.observation(seat)) for seat in range(3)]
    assert len(set(seen)) > 1


def test_a_hidden_choice_is_secret_and_an_open_one_is_not() -> None:
    state = tapete.make("rps").start()
    assert [state.view(seat).is_secret for seat in range(2)] == [False, True]
    assert not state.apply("rock").view(0).is_secret
    assert not tapete.make("kuhn").read("J Q").view(1).is_secret


def test_an_imagined_world_has_no_history() -> None:
    world = tapete.make("kuhn").read("J Q").view(0).sample(Rng(1))
    assert world.apply("bet").history is None
    with pytest.raises(TapeteError, match="no history"):
        str(world)


@pytest.mark.parametrize("name", GAMES)
def test_a_record_survives_text_and_json_and_replays(name: str, tmp_path: Path) -> None:
    state = played(name, 10_000)
    assert state.over
    record = state.record()
    assert record.replay() == state
    for text in (record.to_text(), json.dumps(record.to_json())):
        (tmp_path / "game").write_text(text)
        assert Record.load(tmp_path / "game") == record
    assert [type(s) for s in record.states()] == [tapete.State] * (len(record.moves) + 1)


GOOD = tapete.make("kuhn").read("J Q pass pass").record().to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, 'no "format": 1'),
        ({"game": "chess"}, "there is no game 'chess'"),
        ({"game": 3}, '"game" is not a text'),
        ({"moves": "J Q"}, '"moves" is not a list of texts'),
        ({"moves": ["J", 3]}, '"moves" is not a list of texts'),
        ({"moves": ["J", "J", "pass", "pass"]}, "move 2 of the record: 'J' can't be played"),
        ({"moves": ["J", "Q", "pass", "pass", "pass"]}, "move 5 of the record"),
        ({"moves": ["J", "Q", "pass"]}, "the rules give None"),
        ({"returns": [1.0, -1.0]}, "the rules give"),
        ({"returns": [True, False]}, '"returns" is not a list of numbers'),
        ({"returns": "1"}, '"returns" is not a list of numbers'),
        ({"seats": None}, '"seats" is not a list of texts'),
    ],
)
def test_a_damaged_record_is_refused_with_one_line(change: dict[str, object], message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps({**copy.deepcopy(GOOD), **change}))
    with pytest.raises(TapeteError) as error:
        Record.load(tmp_path / "bad.json").replay()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "raw",
    [b"", b"\xff\xfe\x00", b"{", b'{"format": 1', b"[" * 100_000, b"game: kuhn\n", b"{}" * 10, b"x" * 4_000_001],
    ids=lambda raw: repr(raw[:12]),
)
def test_a_hostile_file_is_refused_with_one_line(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(raw)
    with pytest.raises(TapeteError) as error:
        Record.load(tmp_path / "bad")
    assert "\n" not in str(error.value)


def test_a_record_with_a_truncated_tail_never_replays(tmp_path: Path) -> None:
    text = json.dumps(GOOD)
    for cut in range(len(text)):
        (tmp_path / "bad").write_text(text[:cut])
        with pytest.raises(TapeteError):
            Record.load(tmp_path / "bad").replay()


def test_a_copy_goes_its_own_way() -> None:
    state = tapete.make("kuhn").read("J Q")
    other = state.copy()
    other.apply("bet")
    assert str(state) == "kuhn: J Q"
    assert str(other) == "kuhn: J Q bet"
    assert state.history == [0, 1]


def test_views_of_different_situations_imagine_different_cards() -> None:
    """The generator is named by all that the seat knows, not by the seat alone: imagined cards have no pattern."""
    game = tapete.make("ocp(13)")
    imagined = {int(game.record(game.replay([own, (own + 1) % 13]).view(0)._world)["card"][1]) for own in range(13)}
    assert len(imagined) > 4


@pytest.mark.parametrize("letter", ["x", "ñ"])
def test_the_name_of_a_file_is_never_too_long(letter: str) -> None:
    """A file system takes 255 bytes, and something may come behind it."""
    kuhn = tapete.make("kuhn")

    def named(name: str) -> str:
        return tapete.Game(dataclasses.replace(kuhn.spec, name=name), kuhn.package).file_name

    names = [named(f"a/{letter * n}") for n in (1, 150, 400, 401)]
    assert len(set(names)) == 4
    assert all(len(os.fsencode(name)) < 205 and "/" not in name for name in names)
    assert named("dudo(6,1,1)") == "dudo(6,1,1)"
