"""Nothing that axe-core finds fault with, on any page; it comes with a package, and nothing is fetched."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.web.e2e.conftest import NewPage
from tests.web.e2e.recorded import Files, game_told, open_table, sit_down
from tests.web.e2e.table import TableDriver

pytestmark = pytest.mark.xdist_group("e2e")

GAMES = ["truco(mazo=true)", "domino", "dudo(6,3,3)", "holdem(players=6)", "doudizhu", "othello", "leduc", "goofspiel"]


def violations(page: Page) -> list[Any]:
    """What axe complains of: the rule, and the first few elements."""
    found = Axe().run(page).response["violations"]
    return [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found]


def test_the_first_page_and_its_dialogs_are_accessible(page: Page) -> None:
    page.goto("/")
    page.wait_for_selector("[data-game]")
    assert violations(page) == []
    page.click("[data-game=truco]")
    page.wait_for_selector(".start:not([disabled])")
    assert violations(page) == []


@pytest.mark.parametrize("game", GAMES)
def test_every_table_is_accessible(browser: Browser, files: Files, game: str) -> None:
    page = open_table(browser, files, 1280, 800)
    try:
        sit_down(page)
        messages = game_told(game)
        for message in (messages[0], messages[len(messages) // 2], messages[-1]):
            page.evaluate("(message) => hear(message)", message)
            assert violations(page) == []
    finally:
        page.context.close()


def test_replay_statistics_and_invitation_are_accessible(page: Page) -> None:
    table = TableDriver(page)
    table.sit("kuhn", ["me", "random"])
    while table.wait_for_turn():
        table.click_something()
    page.get_by_role("button", name="Replay").click()
    page.wait_for_selector(".replay, .felt")
    assert violations(page) == []
    page.goto("/stats")
    page.wait_for_selector("#page > *")
    assert violations(page) == []
    table.sit("kuhn", ["me", "open"])
    page.get_by_role("button", name="Invite").click()
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_lessons_and_puzzles_are_accessible(new_page: NewPage, width: int, scheme: str) -> None:
    page = new_page(width=width, height=844, color_scheme=scheme)
    page.goto("/learn")
    page.wait_for_selector(".courses a")
    assert violations(page) == []
    page.goto("/learn/kuhn")
    page.wait_for_selector(".stage .felt")
    assert violations(page) == []
    for move, answer in (("pass", "wrong"), ("bet", "right")):
        page.click(f'.tray [data-key="move/{move}"]')
        page.wait_for_selector(f".answer.{answer}")
        assert violations(page) == []
    page.goto("/learn/truco?kind=puzzles")
    page.wait_for_selector(".stage .felt")
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_review_is_accessible(new_page: NewPage, scheme: str) -> None:
    page = new_page(color_scheme=scheme)
    table = TableDriver(page)
    table.sit("kuhn", ["me", "random"])
    while table.wait_for_turn():
        table.click_something()
    page.get_by_role("button", name="Replay").click()
    page.click("text=Review my decisions")
    page.wait_for_selector(".review-part .graph")
    page.locator(".decision summary").first.click()
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_runs_rules_and_small_dialogs_are_accessible(new_page: NewPage, scheme: str) -> None:
    page = new_page(color_scheme=scheme)
    page.goto("/runs")
    page.wait_for_selector(".runs h1")
    assert violations(page) == []
    page.goto("/")
    page.wait_for_selector("[data-game]")
    assert violations(page) == []
    for opened in ("Help", "Settings"):
        page.get_by_role("button", name=opened, exact=True).click()
        page.wait_for_selector("dialog[open]")
        assert violations(page) == []
        page.keyboard.press("Escape")
    TableDriver(page).sit("kuhn", ["me", "random"])
    page.get_by_role("button", name="Rules").click()
    page.wait_for_selector("dialog[open] h2, dialog[open] h1")
    assert violations(page) == []
