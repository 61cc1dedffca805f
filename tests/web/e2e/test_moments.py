"""Pace and voice: what ends something stays until it was seen, calls are said at the seat, and what can be heard."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tapete.core import Rng, make
from tapete.games.truco.bets import NO_QUIERO, RAISE
from tapete.web.table import AGENT, PERSON, Options, Seat, Table
from tests.web.e2e.recorded import ME, Files, Message, game_told, open_table, sit_down

pytestmark = pytest.mark.xdist_group("e2e")

SEEN = 1800  # ms, as the page has it

# Sounds are counted, not heard: every node of an AudioContext does nothing.
SILENT = """
  globalThis.heard = 0;
  globalThis.AudioContext = class {
    currentTime = 0; sampleRate = 8000; destination = {};
    node() {
      const fade = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
      return { frequency: {}, gain: fade, connect() {}, start() { globalThis.heard += 1; }, stop() {} };
    }
    createOscillator() { return this.node(); }
    createBufferSource() { return this.node(); }
    createBiquadFilter() { return this.node(); }
    createGain() { return this.node(); }
    createBuffer() { return { getChannelData: () => [] }; }
    resume() {}
  };
"""


@pytest.fixture(scope="module")
def shared(browser: Browser, files: Files) -> Iterator[Page]:
    page = open_table(browser, files, 1280, 800, pace=400)
    page.add_init_script(SILENT)
    page.reload()
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    yield page
    page.context.close()


@pytest.fixture
def page(shared: Page) -> Page:
    """A table where nothing was told yet; its clock stands still."""
    sit_down(shared)
    shared.evaluate("async () => (await import('/static/js/settings.js')).change('pace', 400)")
    return shared


def hear(page: Page, *messages: Message) -> None:
    for message in messages:
        page.evaluate("message => hear(message)", message)


def moves_between(before: Message, after: Message) -> list[dict[str, Any]]:
    return [event for event in after["told"] if event["ply"] >= before["ply"] and event["seat"] is not None]


def ends(game: str, words: str) -> Iterator[tuple[Message, Message, dict[str, Any]]]:
    """A table, the next one, and the move between them that ended something."""
    for seed in range(1, 4):
        told = game_told(game, seed)
        for before, after in pairwise(told):
            [event] = moves_between(before, after)
            if any(words in text for text in event["news"]) and not after["over"]:
                yield before, after, event


def played(page: Page) -> int:
    return page.locator(".lane .piece").count()


def cards(message: Message) -> int:
    return sum(len(part["faces"]) for part in message["scene"]["parts"] if part["name"] == "played")


def is_card(event: dict[str, Any]) -> bool:
    return event["text"][0].isdigit()


def test_the_card_that_ends_a_hand_of_truco_is_drawn(page: Page) -> None:
    before, after, event = next(end for end in ends("truco", "won the hand") if is_card(end[2]))
    hear(page, before, after)
    assert played(page) == cards(before) + 1
    winner = next(text for text in event["news"] if "won the hand" in text).split()[1]
    expect(page.locator(".seat.winner")).to_have_attribute("data-seat", winner)
    assert page.locator(".winner .plate").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(238, 197, 104)"
    assert page.locator(".legal").count() == 0, "nobody moves before the next deal"
    page.clock.run_for(SEEN - 300)
    assert played(page) == cards(before) + 1, "it stays until it was seen"
    page.clock.run_for(400)
    assert played(page) == cards(after) == 0
    assert page.get_attribute(".table-page", "data-ply") == str(after["ply"])


@pytest.mark.parametrize("way", ["click", "key"])
def test_who_has_seen_enough_goes_on(page: Page, way: str) -> None:
    before, after, _ = next(end for end in ends("truco", "won the hand") if is_card(end[2]))
    hear(page, before, after)
    assert page.get_attribute(".table-page", "data-turn") == "moment"
    if way == "click":
        page.dispatch_event(".stage", "pointerdown")  # a mouse of two browsers at a time is not always heard
    else:
        page.keyboard.press("Enter")
    expect(page.locator(".table-page")).to_have_attribute("data-ply", str(after["ply"]))  # asks without a frame drawn
    assert page.get_attribute(".table-page", "data-turn") != "moment"


def test_what_happens_meanwhile_comes_after_it_in_order(page: Page) -> None:
    told = game_told("truco", 1)
    at = next(i for i, message in enumerate(told) if message in [end[1] for end in ends("truco", "won the hand")])
    hear(page, *told[at - 1 : at + 3])
    assert page.get_attribute(".table-page", "data-turn") == "moment"
    for _ in range(4):
        page.clock.run_for(SEEN)
    assert page.get_attribute(".table-page", "data-ply") == str(told[at + 2]["ply"])
    assert page.locator(".story li:not(.news)").count() == sum(e["seat"] is not None for e in told[at + 2]["told"])


def test_a_trick_shows_who_won_it(page: Page) -> None:
    before, after, event = next(end for end in ends("truco", "won trick") if len(end[2]["news"]) == 1)
    hear(page, before, after)
    expect(page.locator(".seat.winner")).to_have_attribute("data-seat", event["news"][0].split()[1])
    page.clock.run_for(SEEN)
    assert page.locator(".seat.winner").count() == 0


def test_nothing_is_dealt_after_a_trick(page: Page) -> None:
    """The hand goes on; only after its end the next one is dealt."""
    hear(page, *next(end for end in ends("truco", "won trick") if len(end[2]["news"]) == 1)[:2])
    assert page.get_attribute(".table-page", "data-turn") == "moment"
    assert page.locator(".status").inner_text() == "…"
    page.clock.run_for(SEEN)
    hear(page, *next(ends("truco", "won the hand"))[:2])
    assert page.locator(".status").inner_text() == "dealing"


def test_what_was_declined_waits_for_no_answer(page: Page) -> None:
    table = Table(
        "recorded", make("truco"), [Seat(PERSON, "Ana", ME), Seat(AGENT, "best(3)")], Options(pace=0), maker=ME
    )
    table.deal(Rng(1))
    table.move(RAISE)
    before = table.message(ME)
    table.move(NO_QUIERO)
    table.deal(Rng(2))
    after = table.message(ME)
    hear(page, before)
    waits = page.get_by_text("waits for an answer")
    expect(waits).to_have_count(1)
    hear(page, after)
    assert page.get_attribute(".table-page", "data-turn") == "moment"
    expect(waits).to_have_count(0)


def test_points_can_be_read_on_the_plate_of_the_winner(page: Page) -> None:
    """The matches are wood on felt, and dark on gold."""
    before, after, event = next(end for end in ends("truco", "won the hand") if is_card(end[2]))
    hear(page, before, after)
    lines = page.locator(".winner .plate .matches path")
    assert lines.count() > 0, event
    assert lines.first.evaluate("e => getComputedStyle(e).stroke") == "rgb(107, 67, 18)"


def test_dice_are_open_after_a_doubt(page: Page) -> None:
    before, after, _ = next(ends("dudo(6,3,3)", "lost a die"))
    hear(page, before, after)
    shown = [part["faces"] for part in after["scene"]["parts"] if part["name"] == "last round"]
    assert page.locator(".things.die:not(.lane) .piece").count() == sum(map(len, shown))
    assert page.locator(".cup").count() == 0
    page.clock.run_for(SEEN)
    assert page.locator(".cup").count() == 1


def test_nobody_waits_where_agents_answer_at_once(page: Page) -> None:
    page.evaluate("async () => (await import('/static/js/settings.js')).change('pace', 0)")
    before, after, _ = next(ends("truco", "won the hand"))
    hear(page, before, after)
    assert page.get_attribute(".table-page", "data-ply") == str(after["ply"])


@pytest.mark.parametrize(("game", "word"), [("truco", "envido"), ("holdem(players=6)", "raise"), ("dudo(6,3,3)", "x")])
def test_a_call_is_said_at_the_seat(page: Page, game: str, word: str) -> None:
    told = game_told(game)
    pairs = ((a, b, moves_between(a, b)[0]) for a, b in pairwise(told))
    before, after, event = next(
        x for x in pairs if word in x[2]["text"] and not x[2]["news"] and x[1]["ply"] == x[2]["ply"] + 1
    )
    hear(page, before, after)
    bubble = page.locator(f'.seat[data-seat="{event["seat"]}"] .bubble')
    said = event["text"].replace("-", " ").replace("x", " × ")
    expect(bubble).to_have_text(said[0].upper() + said[1:])


def test_cards_are_laid_without_a_word(page: Page) -> None:
    told = game_told("truco")
    before, after = next(
        (a, b) for a, b in pairwise(told) if is_card(moves_between(a, b)[0]) and b["ply"] == a["ply"] + 1
    )
    hear(page, before, after)
    seat = moves_between(before, after)[0]["seat"]
    assert page.locator(f'.seat[data-seat="{seat}"] .bubble').count() == 0


def test_sounds_can_be_turned_off(page: Page) -> None:
    told = game_told("othello")
    page.mouse.click(5, 300)  # no sound before somebody has done something
    hear(page, *told[:2])
    first = page.evaluate("() => heard")
    assert first > 0
    page.click(".tool.sound")
    hear(page, *told[2:5])
    assert page.evaluate("() => heard") == first
    page.click(".tool.sound")
    hear(page, told[5])
    assert page.evaluate("() => heard") > first


# Pitches of all tones, in their order.
PITCHES = """() => {
    globalThis.pitches = [];
    const make = AudioContext.prototype.createOscillator;
    AudioContext.prototype.createOscillator = function () {
        const source = make.call(this);
        const start = source.start.bind(source);
        source.start = (at) => { globalThis.pitches.push(source.frequency.value); start(at); };
        return source;
    };
}"""


@pytest.mark.parametrize("won", [True, False], ids=["won", "lost"])
def test_a_game_that_was_won_sounds_like_it(browser: Browser, files: Files, won: bool) -> None:
    told = next(
        told for told in (game_told("kuhn", seed) for seed in range(1, 20)) if (told[-1]["returns"][0] > 0) == won
    )
    page = open_table(browser, files, 1280, 800, pace=0)
    page.evaluate(PITCHES)
    page.mouse.click(5, 300)
    hear(page, *told[:-1])
    page.evaluate("() => globalThis.pitches = []")
    hear(page, told[-1])
    last = page.evaluate("() => globalThis.pitches")[-3:]
    assert len(last) == 3
    assert last == sorted(last, reverse=not won)
    page.context.close()


def test_the_story_follows_the_game_when_the_panel_above_it_grows(browser: Browser, files: Files) -> None:
    page = open_table(browser, files, 1280, 800)
    told = game_told("othello")
    hear(page, *told[:40])
    page.evaluate("() => document.querySelector('.thinking-part').style.setProperty('min-height', '420px')")
    page.wait_for_timeout(100)
    hear(page, *told[40:44])
    rest = "() => { const s = document.querySelector('.story'); return s.scrollHeight - s.scrollTop - s.clientHeight; }"
    page.wait_for_function(f"() => ({rest})() < 3")
    page.evaluate(
        """() => new Promise((done) => {
            const story = document.querySelector(".story");
            story.addEventListener("scroll", () => requestAnimationFrame(() => requestAnimationFrame(done)));
            story.scrollTop = 0;
        })"""
    )
    hear(page, *told[44:46])
    assert page.evaluate("() => document.querySelector('.story').scrollTop") == 0, "who reads is left in peace"
    page.context.close()


def test_chips_go_to_the_pot_and_to_the_winner(browser: Browser, files: Files) -> None:
    page = open_table(browser, files, 1280, 800, pace=0, motion="on")
    told = game_told("holdem(players=6)")
    street = next(i for i, (a, b) in enumerate(pairwise(told)) if bets(a) and not bets(b))
    hear(page, *told[street : street + 2])
    assert page.locator(".ghost.chips").count() == bets(told[street])
    hear(page, *told[-2:])
    assert page.locator(".ghost.pot").count() == 1
    page.wait_for_function("() => !document.querySelector('.ghost')")
    page.context.close()


def bets(message: Message) -> int:
    return sum(
        value > 0
        for part in message["scene"]["parts"]
        if part["name"] == "bet on this street"
        for value in part["values"]
    )
