"""A table with friends: the host's name, who is away, clocks, and a word to the others; and the way to the table."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.web.e2e.conftest import NewPage
from tests.web.e2e.recorded import Files, Message, game_told, open_table, sit_down

pytestmark = pytest.mark.xdist_group("e2e")


@pytest.fixture
def page(told: Page) -> Page:
    return told


def with_friend(ply: int = 3, **friend: Any) -> Message:
    """A table of Othello with another person in seat 1."""
    message = next(each for each in game_told("othello") if each["ply"] == ply)
    other = {"kind": "person", "name": "Beto", "called": "", "me": False, "here": True, "host": False, **friend}
    return {**message, "seats": [message["seats"][0], other]}


def hear(page: Page, message: Message) -> None:
    page.evaluate("message => hear(message)", message)


def test_who_is_away_is_said(page: Page) -> None:
    hear(page, with_friend(here=True))
    assert page.locator(".plate .gone").count() == 0
    assert page.locator(".status strong").inner_text() == "Beto is thinking"
    hear(page, with_friend(here=False))
    assert page.locator('[data-seat="1"] .gone').inner_text() == "is away"
    assert page.locator(".status strong").inner_text() == "Waiting for Beto"


def test_a_host_without_a_name_is_called_so(page: Page) -> None:
    message = with_friend(name="", host=True)
    hear(page, message)
    assert page.locator('[data-seat="1"] .name').inner_text() == "The host"
    open_seat = {"kind": "open", "name": "", "called": "", "me": False, "here": False, "host": False}
    asked = {**with_friend(host=True), "seat": None, "player": None, "complete": False}
    hear(page, {**asked, "seats": [open_seat, asked["seats"][1]]})
    assert page.locator(".status strong").inner_text() == "Beto invites you: sit down"


def test_a_clock_runs_down(browser: Browser, files: Files) -> None:
    page = open_table(browser, files, 1280, 800)
    page.clock.install()
    sit_down(page)
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    hear(page, {**with_friend(ply=4), "clock": 60, "left": 12_000})
    assert page.locator(".clock").inner_text() == "0:12"
    page.clock.run_for(8_000)
    assert page.locator(".clock").inner_text() == "0:04"
    assert page.locator(".clock.short").count() == 1
    page.clock.run_for(20_000)
    assert page.locator(".clock").inner_text() == "0:00"
    hear(page, {**with_friend(ply=5), "clock": 0, "left": None})
    assert page.locator(".clock").count() == 0
    page.context.close()


def test_a_word_stands_at_the_seat_that_said_it(page: Page) -> None:
    hear(page, with_friend())
    hear(page, {"is": "reaction", "seat": 1, "sign": "nice"})
    assert page.locator('[data-seat="1"] .reaction').inner_text() == "Well played"
    assert page.locator('[data-seat="0"] .reaction').count() == 0
    page.evaluate("() => globalThis.sent = []")
    page.select_option(".say", "wow")
    assert page.evaluate("() => globalThis.sent") == [{"do": "react", "sign": "wow"}]
    hear(page, game_told("othello")[3])
    assert page.locator(".say").count() == 0  # agents don't listen


def test_who_was_late_is_told(page: Page) -> None:
    hear(page, with_friend())
    hear(page, {"is": "late", "seat": 1})
    assert page.locator(".play .alert").inner_text() == "Beto: the time is over, and any move was made."


def test_the_way_to_a_table_is_short_by_keyboard(new_page: NewPage) -> None:
    page = new_page()
    page.goto("/")
    page.locator("[data-game=holdem]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".start:focus")  # Enter would deal now

    def focused() -> str:
        found: str = page.evaluate("document.activeElement?.dataset.key ?? ''")
        return found

    page.locator("[data-key=quick-6]").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.seat-row').length === 3")
    assert focused() == "quick-3"  # it stays where it was
    page.locator("[data-key=seat-2]").focus()
    page.select_option("#seat-2", "random")
    assert focused() == "seat-2"
    page.keyboard.press("Enter")
    assert focused() == "start"
    page.locator("[data-key=seat-2]").focus()
    tabs = 0
    while focused() != "start":
        page.keyboard.press("Tab")
        tabs += 1
        assert tabs <= 3
