from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tapete import make
from tapete.core import Board, Note, Place, Scene, Score, Things
from tapete.terminal.draw import DISCS, FELT, draw, flow, named

NAMES = ("you", "random")


def drawn(scene: Scene, labels: dict[Place, str] | None = None, width: int = 80, boxes: bool = True) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(draw(scene, NAMES, labels or {}, width=width, boxes=boxes))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]


def test_a_hand_with_the_numbers_of_its_moves() -> None:
    scene = make("truco").read("1e 4c 1b 5o 7e 6b 1e").view(1).scene()
    labels = {Place(part="hand", index=i): str(i + 1) for i in range(3)}
    assert (
        drawn(scene, labels)
        == """\
              hand   played     points
  you         ▒▒ ▒▒  1 espadas       0
▸ random                             0
mano: you   the hand is worth: 1
              ┌──────────┐┌─────────┐┌────────┐
random: hand  │ 6 bastos ││ 4 copas ││ 5 oros │
              └──────────┘└─────────┘└────────┘
                   1           2         3"""
    )
    assert "random: hand  6 bastos 4 copas 5 oros" in drawn(scene, labels, boxes=False)


def test_cards_have_signs_and_many_backs_are_counted() -> None:
    scene = make("holdem").read("As Kh 2d 3c").view(0).scene()
    assert "│ K♥ ││ A♠ │" in drawn(scene)
    backs = Scene(seat=0, player=0, parts=(Things(name="hand", kind="french", faces=("",) * 17, owner=1),))
    assert "▒▒ x 17" in drawn(backs)


def test_a_long_line_of_things_is_broken_between_two_of_them() -> None:
    line = Things(name="line", kind="domino", faces=("3-4",) * 28)
    text = drawn(Scene(seat=0, player=0, parts=(line,)))
    rows = [row for row in text.splitlines() if "│" in row]
    assert [row.count("│3|4│") for row in rows] == [13, 13, 2]
    assert max(map(len, text.splitlines())) <= 80


def test_a_board_shows_discs_and_where_one_can_be_laid() -> None:
    scene = make("othello(size=4)").start().view(0).scene()
    labels = {move.place: str(i) for i, move in enumerate(scene.moves, start=1) if move.place}
    assert drawn(scene, labels).splitlines()[:5] == [
        "  a  b  c  d",
        "1 ·  1  ·  ·",
        "2 2  ○  ●  ·",
        "3 ·  ●  ○  3",
        "4 ·  ·  4  ·",
    ]


def test_a_board_that_is_too_wide_is_only_mentioned() -> None:
    board = Board(name="payoffs", kind="number", rows=("a",), columns=("column",) * 20, cells=("1",) * 20)
    scene = Scene(seat=0, player=0, parts=(board,))
    assert drawn(scene) == "payoffs: a table of 1 x 20, wider than this window"
    assert "column" in drawn(scene, width=200)


def test_scores_stand_in_columns_and_notes_in_a_line() -> None:
    parts = (
        Score(name="points", values=(3, -1.5)),
        Note(name="mano", text="seat 1"),
        Note(name="empty", text=""),
        Note(name="seat 0", text="x" * 70),
    )
    assert drawn(Scene(seat=0, player=1, parts=parts)).splitlines() == [
        "              points",
        "  you              3",
        "▸ random        -1.5",
        "mano: random",
        "you: " + "x" * 70,
    ]


def test_seats_are_called_by_name() -> None:
    assert named("seat 1 won, seat 0 and seat 10", ["a"] * 10 + ["z"]) == "a won, a and z"
    assert [line.plain for line in flow([Text("ab")] * 3, 7)] == ["ab   ab", "ab"]
    assert flow([], 10) == []


@pytest.mark.parametrize("face", ["black", "white", ""])
def test_discs_and_empty_squares_differ_from_their_felt_on_any_terminal(face: str) -> None:
    felt = Style.parse(FELT)
    sign, style = DISCS[face]
    assert felt.bgcolor is not None
    ink = Style.parse(style).color or felt.color
    assert ink is not None
    light = [sum(colour.get_truecolor()) / 3 for colour in (ink, felt.bgcolor)]
    assert abs(light[0] - light[1]) > 60
    assert [other for other, _ in DISCS.values()].count(sign) == 1  # without colours, too
