"""A review as a person sees it: what is said, what is marked on the table, playing on; lessons and puzzles."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.e2e.conftest import NewPage
from tests.web.e2e.table import TableDriver

pytestmark = pytest.mark.xdist_group("e2e")


def play(page: Page, game: str, seats: list[str], text: str) -> None:
    """Always makes the move with that text where it can, until the game is over, and opens the replay."""
    table = TableDriver(page)
    table.sit(game, seats)
    while table.wait_for_turn():
        ply = table.ply
        wanted = page.locator(f'.tray [data-key="move/{text}"]')
        (wanted if wanted.count() else page.locator(".stage .legal, .tray .legal").first).click()
        table.wait_for_answer(ply)
    page.click("text=Replay")
    page.wait_for_selector(".review-part button")


def reviewed(page: Page) -> dict[str, Any]:
    """Asks for the review by clicking; what the server said."""
    with page.expect_response("**/api/review/**") as answer:
        page.click(".review-part button")
    page.wait_for_selector(".review-part .graph, .review-part .figures")
    told: dict[str, Any] = answer.value.json()
    return told


def test_a_blunder_is_told_and_drawn(page: Page) -> None:
    """Somebody folds every hand of Kuhn poker until one of them was the king."""
    for _ in range(40):
        play(page, "kuhn", ["random", "me"], "pass")
        review = reviewed(page)
        bad = [each for each in review["decisions"] if each["mark"] == "blunder"]
        if bad:
            break
    worst = max(bad, key=lambda each: each["lost"])
    lost = f"{worst['lost']:.2f}".rstrip("0").rstrip(".")
    sentence = f"You played pass; bet was worth {lost} more."
    expect(page.locator(".verdict")).to_contain_text(sentence)
    expect(page.locator(".decision")).to_contain_text(sentence)
    expect(page.locator(".decision .mark")).to_have_attribute("data-mark", "blunder")
    expect(page.locator(".pill.played")).to_contain_text("pass")
    expect(page.locator(".pill.better")).to_contain_text("bet")
    expect(page.locator(".accuracy b")).to_have_text(f"{round(review['accuracy'])} %")
    expect(page.locator(".decision")).to_contain_text("Judged by the solution of the game: exact.")
    assert page.locator(".graph circle").count() == len(review["decisions"])
    page.click(".decision summary")
    rows = page.locator(".moves-worth tbody tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == [move["text"] for move in worst["moves"]]
    assert page.locator(".moves-worth .own th").inner_text().startswith("pass")


def test_a_replay_has_its_title_on_a_phone(new_page: NewPage) -> None:
    page = new_page(width=390, height=844)
    play(page, "kuhn", ["random", "me"], "pass")
    assert page.locator(".bar h1").evaluate("title => title.scrollWidth <= title.clientWidth")


def test_a_review_is_by_ones_own_eyes(page: Page) -> None:
    """The other's card lies open in the replay; once it is reviewed, only if the game has shown it."""
    for _ in range(40):
        play(page, "kuhn", ["random", "me"], "pass")
        if (
            page.locator(".result-line").inner_text() == "1 chip"
            and page.locator(".panel h2").first.inner_text() == "You lost"
        ):
            story = page.locator(".story li").all_inner_texts()
            if "bet" in story[-2]:
                break
    other = page.locator(".others .piece")
    shown = other.get_attribute("aria-label")
    page.keyboard.press("End")
    assert other.get_attribute("aria-label") == shown, "a replay has all hands open"
    reviewed(page)
    page.keyboard.press("End")
    assert other.get_attribute("aria-label") != shown, "who folded never saw it"


def test_one_can_play_on_from_a_decision(page: Page) -> None:
    play(page, "othello(size=4)", ["me", "random"], "")
    reviewed(page)
    page.keyboard.press("Home")
    page.locator(".story li.mine .link").nth(2).click()
    page.keyboard.press("ArrowLeft")
    discs = page.locator(".stage [data-disc=black], .stage [data-disc=white]").count()
    page.click(".play-on button")
    page.wait_for_selector('.table-page[data-turn="mine"]')
    assert page.locator(".stage [data-disc=black], .stage [data-disc=white]").count() == discs
    expect(page.locator(".bar .tag")).to_have_text("practice")
    assert TableDriver(page).ply > 0


def test_the_better_square_is_marked_on_the_board(page: Page) -> None:
    for _ in range(20):
        play(page, "othello(size=4)", ["me", "random"], "")
        review = reviewed(page)
        bad = [each for each in review["decisions"] if each["mark"] in ("inaccuracy", "mistake", "blunder")]
        if bad:
            break
    worst = max(bad, key=lambda each: each["lost"])
    assert page.locator(".square.better").get_attribute("data-move") == str(worst["moves"][0]["action"])
    assert page.locator(".square.played").get_attribute("data-move") == str(worst["action"])
    assert page.locator(".square.better .worth").inner_text() in ("+1.00", "0.00")


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_lesson_is_learned_by_doing(new_page: NewPage, language: str) -> None:
    page = new_page()
    page.goto("/learn")
    if language == "es":
        page.evaluate('localStorage.setItem("tapete", JSON.stringify({ language: "es", pace: 0 }))')
        page.reload()
    page.click('a[href="/learn/kuhn"]')
    expect(page.locator(".lesson .tag")).to_have_text("1 of 5" if language == "en" else "1 de 5")
    page.click('.tray [data-key="move/pass"]')
    expect(page.locator(".lesson .wrong")).to_be_visible()
    assert page.locator(".lesson button").count() == 0
    for right in ("bet", "pass", "pass", "bet", "bet"):
        page.click(f'.tray [data-key="move/{right}"]')
        expect(page.locator(".lesson .right")).to_contain_text("Right." if language == "en" else "Correcto.")
        page.click(".lesson button")
    page.wait_for_url("**/learn")


def test_own_mistakes_become_puzzles(page: Page) -> None:
    for _ in range(40):
        play(page, "kuhn", ["random", "me"], "pass")
        if any(each["mark"] in ("mistake", "blunder") for each in reviewed(page)["decisions"]):
            break
    page.goto("/learn")
    page.click('a[href="/learn/own?kind=puzzles"]')
    expect(page.locator(".lesson .ask")).to_have_text("What is the best move?")
    page.click('.tray [data-key="move/bet"]')
    expect(page.locator(".lesson .right")).to_contain_text("more than pass, which was played.")


def test_opponents_have_names_and_measured_strengths(page: Page) -> None:
    page.goto("/")
    page.click("[data-game=dudo]")
    page.wait_for_selector(".start:not([disabled])")
    expect(page.locator("#seat-1 option:checked")).to_contain_text("Mapache")
    expect(page.locator(".person").first).to_contain_text("Elo 1")
    expect(page.locator("#seat-1 optgroup option[value='ismcts(100)']")).to_have_count(1)
    page.click(".start")
    page.wait_for_selector(".felt")
    expect(page.locator(".others .name")).to_have_text("Mapache")
