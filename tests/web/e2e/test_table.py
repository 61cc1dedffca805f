"""Everything else that is done at a table: help, undo, friends, watching; and what happens when something breaks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.e2e.conftest import NewPage, Server
from tests.web.e2e.table import TableDriver

pytestmark = pytest.mark.xdist_group("e2e")


def test_a_hint_puts_values_on_the_squares(table: TableDriver) -> None:
    table.sit("othello(size=4)", ["me", "random"])
    assert table.wait_for_turn()
    table.page.keyboard.press("h")
    table.page.wait_for_selector(".square .worth.best")
    assert table.page.locator(".square .worth").count() == table.page.locator(".square.legal").count()
    assert table.page.locator(".square.hinted").count() == 1
    expect(table.page.locator(".bar .tag")).to_have_text("not counted")


def test_thinking_is_shown_after_a_move(table: TableDriver) -> None:
    table.sit("kuhn", ["me", "random"])
    assert table.wait_for_turn()
    assert table.page.locator(".bars tbody tr").count() == 0
    table.page.click(".tray .legal >> nth=0")
    expect(table.page.locator(".bars tbody tr.own")).to_have_count(1)
    assert table.page.locator(".bars tbody tr").count() == 2


def test_a_move_is_taken_back_in_practice(table: TableDriver) -> None:
    table.sit("othello(size=4)", ["me", "random"], practice=True)
    table.wait_for_turn()
    table.click_something()
    table.wait_for_turn()
    expect(table.page.locator(".story li")).to_have_count(2)
    table.page.keyboard.press("u")
    expect(table.page.locator(".story li")).to_have_count(0)
    assert table.ply == 0


def test_agents_are_watched_step_by_step(table: TableDriver) -> None:
    table.sit("domino", ["random", "random"], pace=1000)
    page = table.page
    page.click("text=Pause")
    page.wait_for_selector("text=Run")
    before = table.ply
    page.click("text=One move")
    table.wait_for_answer(before)
    page.wait_for_timeout(1200)
    assert page.locator(".stage .legal").count() == 0
    assert page.locator(".thinking-part").is_hidden()
    told = page.locator(".story li:not(.news)").count()
    page.click("text=One move")
    expect(page.locator(".story li:not(.news)")).to_have_count(told + 1)
    page.click("text=Run")
    page.evaluate("() => sockets[0].send(JSON.stringify({ do: 'pace', ms: 0 }))")
    page.wait_for_selector('.table-page[data-turn="over"]')


def test_two_people_and_a_spectator(new_page: NewPage) -> None:
    ana, bea, eve = (TableDriver(new_page(), seed) for seed in range(3))
    ana.sit("kuhn", ["me", "open"])
    invite = ana.page.evaluate("""() => new Promise((resolve) => {
        const socket = new WebSocket(`ws://${location.host}/ws/${location.pathname.slice(3)}`);
        socket.onmessage = (event) => { resolve(JSON.parse(event.data).invite); socket.close(); };
    })""")
    expect(ana.page.get_by_role("button", name="Invite")).to_be_visible()
    path = re.sub(r"^\w+://[^/]+", "", ana.page.url)
    bea.page.goto("/")
    bea.page.evaluate(
        """() => localStorage.setItem("tapete", JSON.stringify({ language: "en", name: "<b>Bea</b>" }))"""
    )
    bea.page.goto(f"{path}?invite={invite}")
    bea.page.click("text=Sit here")
    eve.page.goto("/")
    eve.page.goto(path)
    eve.page.wait_for_selector(".felt")
    expect(ana.page.locator(".others .name")).to_have_text("<b>Bea</b>")
    assert ana.wait_for_turn()
    assert eve.page.locator(".legal, .sit").count() == 0
    assert eve.page.locator('.piece:not([aria-label="face down"])').count() == 0, "spectators see no cards"
    while ana.page.get_attribute(".table-page", "data-turn") != "over":
        for person in (ana, bea):
            if person.page.get_attribute(".table-page", "data-turn") == "mine":
                person.click_something()
        ana.page.wait_for_timeout(50)
    for person in (ana, bea, eve):
        person.page.wait_for_selector(".status.over")


def test_a_socket_that_is_cut_comes_back(table: TableDriver) -> None:
    table.sit("othello(size=4)", ["me", "random"])
    table.wait_for_turn()
    table.click_something()
    table.wait_for_turn()
    before = table.page.inner_text(".story")
    table.page.evaluate("() => sockets.at(-1).close()")
    table.page.wait_for_function("() => sockets.length === 2 && sockets[1].readyState === WebSocket.OPEN")
    assert table.page.inner_text(".story") == before
    while table.wait_for_turn():
        table.click_something()


def test_a_game_survives_the_death_of_the_server(table: TableDriver, server: Server) -> None:
    table.sit("othello(size=4)", ["me", "random"])
    for _ in range(2):
        table.wait_for_turn()
        table.click_something()
    table.wait_for_turn()
    before, ply = table.page.inner_text(".story"), table.ply
    server.kill()
    expect(table.page.locator(".alert")).to_contain_text("Connection lost")
    server.start()
    expect(table.page.locator(".alert")).to_be_hidden(timeout=30_000)
    assert (table.page.inner_text(".story"), table.ply) == (before, ply)
    while table.wait_for_turn():
        table.click_something()


@pytest.fixture
def finished(table: TableDriver) -> Page:
    """A game of Kuhn poker that a person has just lost or won."""
    table.sit("kuhn", ["me", "random"])
    while table.wait_for_turn():
        table.page.keyboard.press("2")
        table.page.wait_for_selector('.table-page[data-turn="over"]')
    return table.page


def test_replay_with_all_hands_open(finished: Page) -> None:
    finished.click("text=Replay")
    finished.wait_for_selector(".replay .felt")
    assert finished.locator('.piece[aria-label="face down"]').count() == 0
    assert finished.locator(".piece").count() == 2
    last = finished.inner_text(".replay .status")
    finished.keyboard.press("Home")
    expect(finished.locator(".replay .status")).to_contain_text("Move 1 of")
    assert finished.locator(".piece").count() in (0, 2)
    finished.keyboard.press("End")
    expect(finished.locator(".replay .status")).to_have_text(last)
    finished.click("text=Review my decisions")
    finished.wait_for_selector(".review-part .by", timeout=60_000)
    with finished.expect_download() as download:
        finished.click("text=Download")
    assert '"kuhn"' in download.value.path().read_text()
    address = finished.url.split("#")[0]
    finished.goto(address)
    finished.wait_for_selector(".replay .felt")


def test_statistics_count_the_game(finished: Page) -> None:
    finished.goto("/stats")
    row = finished.locator(".stats tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("Kuhn poker")
    expect(row).to_contain_text("Pibe")
    expect(row).to_contain_text("−0.056")


def test_many_moves_are_found_by_cards_and_by_search(table: TableDriver) -> None:
    table.sit("doudizhu", ["me", "random", "random"])
    assert table.wait_for_turn()
    page = table.page
    page.click(".own .piece >> nth=0", position={"x": 10, "y": 12})
    lowest = page.inner_text("[data-key=exact] .mini")
    assert page.locator(".own .picked").count() == 1
    moves = [mini.inner_text().split() for mini in page.query_selector_all(".list .minis")]
    assert all(lowest in move for move in moves)
    page.keyboard.press("Escape")
    expect(page.locator(".own .picked")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type(lowest.replace("10", "T"))
    assert page.evaluate("() => document.activeElement.type") == "search"
    moves = [mini.inner_text().split() for mini in page.query_selector_all(".list .minis")]
    assert moves
    assert all(lowest in move for move in moves)
