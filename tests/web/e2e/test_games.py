"""In every game a person plays to the end, once with the mouse and once without touching it."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.web.e2e.table import TableDriver

pytestmark = pytest.mark.xdist_group("e2e")


class Case(NamedTuple):
    """A game from the lobby, with seats and parameters."""

    name: str
    seats: int
    parameters: dict[str, str]


CASES = [
    Case("rps", 2, {}),
    Case("kuhn", 2, {}),
    Case("leduc", 2, {}),
    Case("dudo", 2, {"dice1": "2", "dice2": "2"}),
    Case("domino", 2, {}),
    Case("truco", 2, {"hand": "true"}),
    Case("holdem", 6, {}),
    Case("doudizhu", 3, {}),
    Case("othello", 2, {"size": "4"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_whole_game_by_clicking(table: TableDriver, case: Case) -> None:
    table.choose(case.name, case.seats, **case.parameters)
    while table.wait_for_turn():
        table.click_something()
    table.page.wait_for_selector(".status.over strong")
    # in poker seats move on by themselves
    assert table.page.locator(".tray.after button").count() == (3 if case.name == "holdem" else 4)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_whole_game_by_keyboard(table: TableDriver, case: Case) -> None:
    page = table.page
    page.goto("/")
    page.wait_for_selector(".game-card")
    table.tab_to(f"[data-game={case.name}]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".start:not([disabled])")
    for seat in range(1, case.seats):
        table.tab_to(f"#seat-{seat}")
        page.keyboard.type("Random")
    if case.name == "truco":  # one hand of it
        table.tab_to("summary")
        page.keyboard.press("Enter")
        table.tab_to("[data-key=hand]")
        page.keyboard.press("Space")
        page.wait_for_function("() => !document.querySelector('.setup .empty')")
    table.tab_to(".start")
    page.keyboard.press("Enter")
    page.wait_for_selector(".felt")
    while table.wait_for_turn():
        table.press_something()
    page.wait_for_selector(".status.over strong")
    was = page.url
    page.keyboard.press("a")
    page.wait_for_function("was => location.href !== was && document.querySelector('.felt')", arg=was)
