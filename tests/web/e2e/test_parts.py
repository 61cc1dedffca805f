"""Single functions of the page, asked in a real browser with what they are handed there."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.web.e2e.recorded import game_told

pytestmark = pytest.mark.xdist_group("e2e")


def ask(page: Page, module: str, function: str, *given: Any) -> Any:
    """What an exported function of a module of the page gives."""
    return page.evaluate(
        "async ([module, name, given]) => (await import(`/static/js/${module}`))[name](...given)",
        [module, function, given],
    )


def moves(*texts: str) -> list[dict[str, Any]]:
    return [{"action": i, "text": text, "place": {"name": "hand"}} for i, text in enumerate(texts)]


def seats(*names: str, me: int | None = None) -> list[dict[str, Any]]:
    return [{"kind": "person", "name": name, "me": i == me} for i, name in enumerate(names)]


def test_moves_that_match_come_with_the_shortest_first(told: Page) -> None:
    listed = ask(told, "tray.js", "matching", moves("33344", "3", "44", "33", "T"), [], "3")
    assert [move["text"] for move in listed] == ["3", "33", "33344"]
    listed = ask(told, "tray.js", "matching", moves("33344", "3", "33"), ["3", "3"], "")
    assert [move["text"] for move in listed] == ["33", "33344"]


def test_a_card_can_be_picked_where_a_move_has_one_more_of_it(told: Page) -> None:
    hand = ["3", "3", "4"]
    assert ask(told, "tray.js", "usable", moves("3", "4"), hand, [0]) == [True, False, False]
    assert ask(told, "tray.js", "usable", moves("33", "4"), hand, [0]) == [True, True, False]
    assert ask(told, "tray.js", "usable", moves("334"), hand, [2]) == [True, True, True]


@pytest.mark.parametrize(
    ("returns", "title"),
    [
        ([3, 1, -4], "Ana won"),
        ([-1, 2, -1], "Blas won"),
        ([2, -4, 2], "Ana and Ciro won"),
        ([0, 0, 0], "A draw"),
    ],
)
def test_spectators_are_told_who_won_most(told: Page, returns: list[int], title: str) -> None:
    assert ask(told, "story.js", "result", returns, seats("Ana", "Blas", "Ciro"))["title"] == title


def test_who_won_last_is_the_winner_of_the_moment(told: Page) -> None:
    assert ask(told, "moments.js", "winnersOf", ["seat 0 won the trick", "seat 1 won the hand"]) == [1]
    assert ask(told, "moments.js", "winnersOf", ["the cards are dealt"]) == []


def test_a_moment_shows_the_hand_without_the_card_that_was_played(told: Page) -> None:
    """Which was not the first of them."""
    checked = 0
    for seed in range(1, 40):
        for before, after in pairwise(game_told("truco", seed)):
            event = next(each for each in after["told"] if each["ply"] >= before["ply"] and each["seat"] is not None)
            hand = next(
                part["faces"] for part in before["scene"]["parts"] if (part["name"], part["owner"]) == ("hand", 0)
            )
            if event["seat"] != 0 or event["text"] not in hand[1:] or after["over"]:
                continue
            if moment := ask(told, "moments.js", "momentOf", before, after):
                shown = next(p["faces"] for p in moment["scene"]["parts"] if (p["name"], p["owner"]) == ("hand", 0))
                assert shown == [face for face in hand if face != event["text"]]
                checked += 1
        if checked > 2:
            return
    raise AssertionError("no hand ended so")


def test_black_has_the_black_disc(told: Page) -> None:
    told.evaluate("message => hear(message)", game_told("othello")[0])
    marks = told.evaluate(
        "[...document.querySelectorAll('.seat')].map(e => [e.dataset.seat, e.querySelector('.disc-mark').innerHTML])"
    )
    found = {seat: [shade for shade in ("black", "white") if f"disc-{shade}" in mark] for seat, mark in marks}
    assert found == {"0": ["black"], "1": ["white"]}


@pytest.mark.parametrize("across", [8, 11, 24])
def test_tiles_of_a_line_never_lie_on_each_other(told: Page, across: int) -> None:
    lines = [
        part["faces"]
        for seed in range(1, 9)
        for part in game_told("domino", seed)[-1]["scene"]["parts"]
        if part["name"] == "line"
    ]
    assert max(map(len, lines)) > 20
    for line in lines:
        boxes = []
        for place in ask(told, "draw/domino.js", "snake", line, across):
            wide, high = (1, 2) if place["turn"] == 0 else (2, 1)
            boxes.append((place["x"], place["y"], wide, high))
        for i, (x, y, wide, high) in enumerate(boxes):
            for u, v, broad, tall in boxes[i + 1 :]:
                assert abs(x - u) >= (wide + broad) / 2 - 1e-9 or abs(y - v) >= (high + tall) / 2 - 1e-9, line
