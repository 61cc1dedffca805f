"""Poker looks like poker: stacks, folded hands, the own hand by its name, the cards that won; hand after hand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.e2e.conftest import NewPage
from tests.web.e2e.recorded import Message, game_told
from tests.web.e2e.table import TableDriver

pytestmark = pytest.mark.xdist_group("e2e")

GAME = "holdem(players=6)"
CHIPS = 200


@pytest.fixture
def page(told: Page) -> Page:
    return told


def hear(page: Page, message: Message) -> None:
    page.evaluate("message => hear(message)", message)


def part(message: Message, name: str) -> Any:
    found = next(part for part in message["scene"]["parts"] if part["name"] == name)
    return found["values"] if found["is"] == "score" else found["text"]


def stacks(page: Page) -> dict[int, int]:
    return {
        int(seat.get_attribute("data-seat") or -1): int(seat.query_selector(".stack").inner_text())  # type: ignore[union-attr]
        for seat in page.query_selector_all(".seat")
    }


def showdown() -> Message:
    """The end of a hand that was shown."""
    ends = (game_told(GAME, seed)[-1] for seed in range(1, 20))
    return next(end for end in ends if any(part["name"] == "won by" for part in end["scene"]["parts"]))


def test_seats_are_around_the_table_in_order(page: Page) -> None:
    hear(page, game_told(GAME)[0])
    boxes = {int(s.get_attribute("data-seat") or -1): s.bounding_box() for s in page.query_selector_all(".seat")}
    middle = {seat: (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for seat, box in boxes.items() if box}
    assert middle[0][1] > max(y for seat, (_, y) in middle.items() if seat), "one's own is at the lower edge"
    assert middle[1][0] < middle[2][0] + 1 < middle[3][0] < middle[4][0] < middle[5][0] + 1, "clockwise"
    assert middle[3][1] < middle[1][1]
    expect(page.locator(".dealer")).to_have_count(1)
    assert page.locator('.seat[data-seat="5"] .dealer').count() == 1


def test_what_is_put_in_leaves_the_stack_and_lies_before_the_seat(page: Page) -> None:
    message = next(m for m in game_told(GAME) if sum(map(bool, part(m, "bet on this street"))) >= 3 and not m["over"])
    hear(page, message)
    paid = part(message, "in the pot")
    assert stacks(page) == {seat: CHIPS - chips for seat, chips in enumerate(paid)}
    for seat, bet in enumerate(part(message, "bet on this street")):
        shown = page.locator(f'.seat[data-seat="{seat}"] .bet').inner_text()
        assert shown == (f"{bet:g}" if bet else "")
    expect(page.locator(".pot b")).to_have_text(f"{sum(paid):g}")


def test_stacks_are_carried_on(page: Page) -> None:
    start = game_told(GAME)[0]
    before = {"games": 3, "returns": [40, -30, -250, 0, 240, 0]}
    hear(page, {**start, "totals": before})
    paid = part(start, "in the pot")
    bought = [0, 0, CHIPS, 0, 0, 0]  # who had nothing left has bought chips again
    assert stacks(page) == {i: CHIPS + bought[i] + before["returns"][i] - paid[i] for i in range(6)}  # type: ignore[index]
    end = showdown()
    hear(page, end)
    assert stacks(page) == {i: CHIPS + won for i, won in enumerate(end["returns"])}


def test_folded_hands_are_dimmed(page: Page) -> None:
    message = next(m for m in game_told(GAME, 3) if any(p["name"] == "folded" for p in m["scene"]["parts"]))
    hear(page, message)
    folded = {int(s.get_attribute("data-seat") or -1) for s in page.query_selector_all(".seat.folded")}
    assert folded == {int(seat) for seat in re.findall(r"\d+", part(message, "folded"))}
    assert page.locator(".seat.folded > .plate").first.evaluate("e => +getComputedStyle(e).opacity") < 0.7


def test_one_is_told_what_one_holds(page: Page) -> None:
    for message in game_told(GAME)[::6]:
        hear(page, message)
        said = part(message, "your hand")
        expect(page.locator(".bottom .hand-name")).to_have_text(said.capitalize())
    assert page.locator(".others .hand-name").count() == 0


def test_the_cards_that_won_are_lit(page: Page) -> None:
    end = showdown()
    hear(page, end)
    lit = {
        re.sub(r"^.*:", "", key or "")
        for key in page.locator(".piece.lit").evaluate_all("all => all.map((e) => e.dataset.fly)")
    }
    assert lit == set(part(end, "won by").split())
    winners = {seat for seat, won in enumerate(end["returns"]) if won > 0}
    marked = {int(s.get_attribute("data-seat") or -1) for s in page.query_selector_all(".seat.winner")}
    assert marked == winners


def test_the_button_says_what_a_call_costs(page: Page) -> None:
    told = game_told(GAME)
    message = next(m for m in told if m["player"] == 0 and any(x["text"] == "call" for x in m["scene"]["moves"]))
    hear(page, message)
    button = page.locator('.tray [data-key="move/call"]')
    expect(button).to_have_text(re.compile(rf"^Call\s*{part(message, 'to call')}$"))


@pytest.mark.parametrize("way", ["click", "key"])
def test_the_button_moves_on_with_the_next_hand(page: Page, way: str) -> None:
    hear(page, showdown())
    if way == "click":
        page.click("text=Next hand")
    else:
        page.keyboard.press("a")
    assert page.evaluate("() => sent.filter(({ do: what }) => what !== 'thinking')") == [{"do": "swap"}]


def test_a_session_of_two_hands(new_page: NewPage) -> None:
    table = TableDriver(new_page())
    table.sit("holdem(players=3)", ["me", "random", "random"])
    page = table.page
    for hand in (1, 2):
        while table.wait_for_turn():
            ply = table.ply
            page.click('.tray [data-key="move/call"], .tray [data-key="move/check"]')
            table.wait_for_answer(ply)
        expect(page.locator(".session-part h2")).to_have_text("Session · 1 hand" if hand == 1 else "Session · 2 hands")
        if hand == 1:
            page.click("text=Next hand")
            page.wait_for_selector('.table-page[data-turn="mine"], .table-page[data-turn="other"]')
    assert page.locator(".players tbody tr").count() == 3
    won = [row.inner_text() for row in page.query_selector_all(".players tbody td:last-child")]
    assert sum(float(text.replace("−", "-")) for text in won) == 0
    assert page.locator(".players tbody tr td").first.inner_text() == "100 %", "who always calls puts money in"
    assert len(page.locator(".session-curve polyline").get_attribute("points").split()) == 3  # type: ignore[union-attr]
    with page.expect_download() as download:
        page.click(".downloads >> text=PokerStars")
    text = download.value.path().read_text()
    assert len(re.findall(r"^PokerStars", text, re.M)) == 2
