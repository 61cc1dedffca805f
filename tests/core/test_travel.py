"""What goes to another process arrives as what it was."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import tapete
from tapete import Rng, Thought, View

CODE = """
import pickle, sys
import tapete
things = pickle.loads(sys.stdin.buffer.read())
for game, state, view, record, rng in things:
    assert record.replay() == state, state
    assert str(state) == game.read(str(state)).__str__()
    assert view.infoset == state.infoset(view.seat), view
    assert view.actions() == state.view(view.seat).actions()
    print(game, state.infoset(0), repr(view), rng.below(1000))
"""


def travellers() -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for name in ["kuhn", "dudo(4,1,2)", "holdem(players=3)", "doudizhu", "truco", "othello(size=6)", "rps"]:
        rng = Rng(1, name)
        state = tapete.make(name).start().deal(rng)
        for _ in range(3):
            if not state.over:
                state.apply(rng.choice(state.actions())).deal(rng)
        seat = max(state.player, 0)
        found.append((state.game, state, state.view(seat), state.record(), rng))
    return found


def test_games_states_views_records_and_streams_travel() -> None:
    things = travellers()
    there = subprocess.run(
        [sys.executable, "-c", CODE], input=pickle.dumps(things), capture_output=True, check=True
    ).stdout.decode()
    here = "".join(
        f"{game} {state.infoset(0)} {view!r} {rng.below(1000)}\n"  # type: ignore[attr-defined]
        for game, state, view, _, rng in things
    )
    assert there == here


def test_a_game_from_a_file_travels_without_the_file(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    path.write_text("1 -1\n-1 2\n")
    game = tapete.make(f"matrix({path})")
    packed = pickle.dumps(game.start())
    path.unlink()
    assert pickle.loads(packed).apply("r2").apply("c2").returns() == [2.0, -2.0]


def test_a_view_takes_no_secret_along() -> None:
    """The bytes that travel are the same in worlds that the seat can't tell apart."""
    game = tapete.make("truco")
    one = game.read("truco: 1e 4c 7e 5b 7o 6o envido")
    other = one.view(0).sample(Rng(5))
    assert one.data.tobytes() != other.data.tobytes()
    assert pickle.dumps(one.view(0)) == pickle.dumps(other.view(0))


def test_equal_games_are_equal() -> None:
    assert tapete.make("ocp( 5 )") == tapete.make("ocp(5)") != tapete.make("ocp(6)")
    assert len({tapete.make("ocp(5)"), tapete.make("ocp(5)"), tapete.make("kuhn")}) == 2
    assert tapete.make("kuhn") != "kuhn"


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        ("", "<State of kuhn, at the start, chance to move>"),
        ("J Q pass", "<State of kuhn, after J Q pass, seat 1 to move>"),
        ("J Q pass pass", "<State of kuhn, after J Q pass pass, over>"),
    ],
)
def test_a_state_says_what_it_is(moves: str, said: str) -> None:
    assert repr(tapete.make("kuhn").read(moves)) == said


def test_a_long_game_is_told_in_short() -> None:
    state = tapete.make("othello").start()
    for _ in range(12):
        state.apply(state.actions()[0])
    assert repr(state).startswith("<State of othello, after 12 moves, ")
    assert len(repr(state)) < 80
    assert repr(state.view(0).sample(Rng(1))) == "<State of othello, imagined, seat 0 to move>"


def test_a_view_says_what_it_is() -> None:
    view = tapete.make("kuhn").read("J Q pass").view(1)
    assert repr(view) == f"<View of kuhn from seat 1, seat 1 to move: {view}>"
    assert isinstance(view, View)


def test_a_thought_is_made_by_keywords() -> None:
    assert Thought(probabilities={1: 1.0}).value is None
    with pytest.raises(TypeError):
        Thought({1: 1.0})  # type: ignore[call-arg]
