"""The story, the bubbles and the status say who did what, in English and in Spanish that agrees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.web.e2e.recorded import Files, Message, game_told, open_table, sit_down

pytestmark = pytest.mark.xdist_group("e2e")
SPANISH = {  # a move: what somebody else does, what you do, what is said at the table
    "check": ("pasa", "pasás", "Paso"),
    "bet": ("apuesta", "apostás", "Apuesto"),
    "call": ("iguala", "igualás", "Pago"),
    "raise": ("sube", "subís", "Subo"),
    "fold": ("se va", "te vas", "Me voy"),
}


@pytest.fixture(scope="module", params=["en", "es"])
def page(request: pytest.FixtureRequest, browser: Browser, files: Files) -> Iterator[Page]:
    page = open_table(browser, files, 1280, 800, language=request.param)
    yield page
    page.context.close()


def hear(page: Page, message: Message) -> None:
    page.evaluate("message => hear(message)", message)


def expected(message: Message, language: str) -> list[str]:
    """Every move of a hand of poker, as the story should tell it: seats are counted from the one who looks."""
    mine, players = message["seat"], len(message["seats"])
    level = {"en": "Level 3", "es": "Nivel 3"}[language]
    lines = []
    for event in message["told"]:
        seat, text = event["seat"], event["text"]
        if seat is None:
            continue
        name = f"{level} ({(seat - mine) % players + 1})" if players > 2 else level
        if language == "en":
            lines.append(f"{'You' if seat == mine else name} {text}")
        else:
            lines.append(f"Vos {SPANISH[text][1]}" if seat == mine else f"{name} {SPANISH[text][0]}")
    return lines


@pytest.mark.parametrize(("game", "seat"), [("holdem(players=6)", 2), ("leduc", 1)])
def test_the_story_tells_who_did_what(page: Page, game: str, seat: int) -> None:
    sit_down(page)
    language = page.evaluate("document.documentElement.lang")
    told = [end for seed in range(1, 4) for end in game_told(game, seed, seat)[-1:]]
    for message in told:
        sit_down(page)
        hear(page, message)
        lines = page.locator(".story li.said-by")
        assert lines.all_inner_texts() == expected(message, language)
        mine = sum(event["seat"] == seat for event in message["told"])
        assert page.locator(".story li.mine").count() == mine
    assert any("call" == event["text"] for message in told for event in message["told"])


def test_what_is_said_stands_at_the_seat_that_said_it(page: Page) -> None:
    language = page.evaluate("document.documentElement.lang")
    sit_down(page)
    seen = 0
    for message in game_told("holdem(players=6)", 3, 0)[1:-1]:
        hear(page, message)
        last: Message = message["told"][-1] if message["told"] else {"seat": None}
        if message["over"] or last["seat"] is None:
            continue
        bubble = page.locator(f'.seat[data-seat="{last["seat"]}"] .bubble')
        said = SPANISH[last["text"]][2] if language == "es" else last["text"].capitalize()
        assert bubble.inner_text() == said
        seen += 1
    assert seen > 5
