"""What matters at a table lies in the window, at every size and every step of whole games, and stays in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.web.e2e.recorded import Files, Message, game_told, open_table, sit_down

pytestmark = pytest.mark.xdist_group("e2e")

SIZES = {
    "1280x800": (1280, 800),
    "1366x768": (1366, 768),
    "1440x900": (1440, 900),
    "phone": (390, 844),
    "phone on its side": (844, 390),
    "tablet": (820, 1180),
}
GAMES = ["truco(mazo=true)", "truco(flor=true)", "domino", "dudo(6,3,3)", "dudo(6,5,5)", "holdem", "holdem(players=6)"]
GAMES += [
    "holdem(players=10)",
    "doudizhu",
    "doudizhu(bidding=true)",
    "othello",
    "kuhn",
    "leduc",
    "rps",
    "ocp",
    "blotto",
]
GAMES += ["goofspiel", "goofspiel(players=3)", "battle"]
COMMON = ["1280x800", "phone", "phone on its side"]  # of the normal run
STEPS = 5  # of a game in the normal run

# What must be seen whole: not outside of the window, not cut off by what it lies in, not under something else. Lists
# that are meant to be scrolled (hundreds of sets of cards, payoffs of 21 by 21, the story) are seen as a whole.
LOOK = """(messages) => {
  const SEEN = ".plate, .plate .name, .things, .piece, .cell, .board, .note, .said, .pot, .snake, .bubble, .bet, .score"
    + ", .tray button, .bar .tool, .status, .status strong, .recent, .claim, .search, h1";
  const FRONT = ".name, .tray button, .bar .tool, .legal";
  const APART = ".plate, .bet .score, .pot, .common .things, .middle > .board, .snake";
  const SCROLLED = ".list *, .payoffs *";
  const STILL = [".stage", ".banner", ".tray-holder", ".bar", ".board", ".plate"];
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const name = (e) => `${e.className.baseVal ?? e.className} ${e.dataset.key ?? ""} "${e.textContent.slice(0, 20)}"`;
  const box = (e) => {
    const { left, top, right, bottom } = e.getBoundingClientRect();
    return [left, top, right, bottom].map(Math.round);
  };
  const cutters = (e, known) => { // what may cut it off
    if (!e) return [];
    if (!known.has(e))
      known.set(e, [...(getComputedStyle(e).overflowX === "visible" ? [] : [e]), ...cutters(e.parentElement, known)]);
    return known.get(e);
  };
  const faults = [];
  let still = new Map();
  messages.forEach((message, step) => {
    hear(message);
    const fault = (what, e, more = "") => faults.push(`step ${step}: ${what}: ${name(e)} ${box(e)} ${more}`);
    const known = new Map();
    for (const e of document.querySelectorAll(SEEN)) {
      if (e.matches(SCROLLED) || !shown(e)) continue;
      const [left, top, right, bottom] = box(e);
      if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) fault("outside", e);
      for (const p of cutters(e.parentElement, known)) {
        const [l, t, r, b] = box(p);
        if (left < l - 1 || top < t - 1 || right > r + 1 || bottom > b + 1) fault("cut off", e, `by ${p.className}`);
      }
      if (e.matches(".name") && e.scrollWidth > e.clientWidth + 1) fault("shortened", e);
    }
    for (const e of document.querySelectorAll(FRONT)) {
      if (e.matches(SCROLLED) || !shown(e)) continue;
      const [left, top, right, bottom] = box(e);
      const [x, y] = e.matches(".piece") ? [left + 8, top + 10] : [(left + right) / 2, (top + bottom) / 2];
      const front = document.elementFromPoint(x, y);
      if (front && front !== e && !e.contains(front)) fault("covered", e, `by ${name(front)}`);
    }
    const apart = [...document.querySelectorAll(APART)].filter(shown);
    apart.forEach((e, i) => {
      const [left, top, right, bottom] = box(e);
      for (const other of apart.slice(i + 1)) {
        const [l, t, r, b] = box(other);
        if (Math.min(right, r) - Math.max(left, l) > 2 && Math.min(bottom, b) - Math.max(top, t) > 2)
          fault("overlaps", e, name(other));
      }
    });
    const places = new Map();
    for (const selector of STILL)
      document.querySelectorAll(selector).forEach((e, i) => {
        const [left, top, right, bottom] = box(e);
        // a plate that says more than before is larger, and with fewer dice there are fewer claims
        const end = e.matches(".claims") ? 0 : bottom;
        const place = selector === ".plate" ? [(top + bottom) / 2] : [left, top, right, end];
        if (shown(e)) places.set(`${selector} ${i}`, place);
      });
    for (const [key, place] of places) {
      const before = still.get(key);
      if (before?.some((x, i) => Math.abs(x - place[i]) > 2))
        faults.push(`step ${step}: ${key} jumped from ${before} to ${place}`);
    }
    still = places;
  });
  return faults;
}"""


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest, browser: Browser, files: Files) -> Iterator[Page]:
    """The page in a window of each size; the same for all games, as if one table followed the other."""
    page = open_table(browser, files, *SIZES[request.param])
    yield page
    page.context.close()


def look(page: Page, messages: list[Message]) -> list[Any]:
    """What can't be seen of these positions, or jumps between them."""
    sit_down(page)
    found: list[Any] = page.evaluate(LOOK, messages)
    return found


def some(messages: list[Message]) -> list[Message]:
    """A few positions of a game: the first, the last, and those with the most moves and things on the table."""
    crowded = sorted(messages[1:-1], key=lambda message: -len(str(message["scene"])))
    chosen = [messages[0], *crowded[: STEPS - 2], messages[-1]]
    return [message for message in messages if message in chosen]


@pytest.mark.parametrize("page", COMMON, indirect=True)
@pytest.mark.parametrize("game", GAMES)
def test_everything_is_in_sight(page: Page, game: str) -> None:
    assert look(page, some(game_told(game))) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", SIZES, indirect=True)
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", GAMES)
def test_everything_is_in_sight_at_every_step(page: Page, game: str, seat: int) -> None:
    assert look(page, game_told(game, seed=2, seat=seat)) == []


@pytest.mark.parametrize("page", ["1280x800", "1366x768", "1440x900", "phone"], indirect=True)
def test_the_board_of_othello_uses_the_window(page: Page) -> None:
    look(page, game_told("othello")[:1])
    share = page.evaluate("""() => {
        const [board, stage] = [".board", ".stage"].map((name) => document.querySelector(name).getBoundingClientRect());
        return Math.min(board.width, board.height) / Math.min(stage.width, stage.height);
    }""")
    assert share > 0.88
