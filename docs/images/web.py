"""Makes the pictures of the page in the browser: .venv/bin/python -m docs.images.web (Chromium and Pillow needed)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.e2e.conftest import CHROMIUM, FLAGS, Server
from tests.web.e2e.table import TableDriver

HERE = Path(__file__).parent
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 360, "height": 740}
SECONDS = 6_000  # ms that a thought may take


def lobby(page: Page) -> None:
    page.wait_for_selector(".game-card")


def truco(page: Page) -> None:
    """A hand in which three cards lie on the table."""
    table = TableDriver(page)
    for _ in range(20):
        table.sit("truco(points=15,score0=7,score1=6)", ["me", "best(2)"])
        while table.wait_for_turn() and page.locator(".story li").count() < 12:
            if page.locator(".lane .piece").count() == 3 and page.locator(".tray .legal").count() > 1:
                page.wait_for_selector(".bars", timeout=SECONDS)
                return
            ply = table.ply
            card = page.locator(".own .legal")
            (card if card.count() else page.locator(".tray .legal")).first.click()
            table.wait_for_answer(ply)


def othello(page: Page) -> None:
    table = TableDriver(page)
    table.sit("othello", ["me", "best(1)"])
    for _ in range(8):
        table.wait_for_turn()
        table.click_something()
    table.wait_for_turn()
    page.keyboard.press("h")
    page.wait_for_selector(".worth", timeout=5 * SECONDS)


def domino(page: Page) -> None:
    table = TableDriver(page, seed=5)
    table.sit("domino", ["me", "best(1)"])
    for _ in range(5):
        table.wait_for_turn()
        table.click_something()
    table.wait_for_turn()


def doudizhu(page: Page) -> None:
    table = TableDriver(page)
    table.sit("doudizhu", ["me", "best(1)", "best(1)"])
    table.wait_for_turn()
    page.click(".own .legal >> nth=2", position={"x": 10, "y": 12})


def dudo(page: Page) -> None:
    table = TableDriver(page)
    table.sit("dudo(6,3,3)", ["best(1)", "me"])
    table.wait_for_turn()


def holdem(page: Page) -> None:
    """The second hand of a session, at the showdown."""
    table = TableDriver(page)
    table.sit("holdem(players=6)", ["me", "best(1)", "random", "best(1)", "random", "best(1)"])
    for hand in range(2):
        if hand:
            page.click("text=Next hand")
            page.wait_for_selector('.table-page[data-turn="mine"], .table-page[data-turn="other"]')
        while table.wait_for_turn():
            ply = table.ply
            page.click('.tray [data-key="move/call"], .tray [data-key="move/check"]')
            table.wait_for_answer(ply)
    page.wait_for_selector(".players")


def replay(page: Page) -> None:
    """A game of Othello with its review, where most was lost."""
    table = TableDriver(page, seed=3)
    table.sit("othello", ["me", "best(2)"])
    while table.wait_for_turn():
        table.click_something()
    page.click("text=Replay")
    page.click("text=Review my decisions")
    page.wait_for_selector(".review-part .graph", timeout=15 * SECONDS)
    page.click(".decision summary")


PICTURES: dict[str, tuple[Callable[[Page], None], dict[str, Any]]] = {
    "web-lobby": (lobby, {"viewport": DESKTOP}),
    "web-truco": (truco, {"viewport": DESKTOP, "locale": "es-AR"}),
    "web-truco-phone": (truco, {"viewport": PHONE, "color_scheme": "dark"}),
    "web-holdem": (holdem, {"viewport": DESKTOP}),
    "web-othello": (othello, {"viewport": DESKTOP, "color_scheme": "dark"}),
    "web-domino": (domino, {"viewport": DESKTOP}),
    "web-replay": (replay, {"viewport": DESKTOP}),
    "web-doudizhu-phone": (doudizhu, {"viewport": PHONE}),
    "web-dudo-phone": (dudo, {"viewport": PHONE, "color_scheme": "dark"}),
}


def take(browser: Browser, address: str, name: str) -> None:
    """One picture, with as many colours as it needs to be small."""
    scene, options = PICTURES[name]
    context = browser.new_context(base_url=address, reduced_motion="reduce", **options)
    page = context.new_page()
    page.goto("/")
    scene(page)
    page.mouse.move(4, 400)
    page.wait_for_timeout(500)
    path = HERE / f"{name}.png"
    page.screenshot(path=path)
    context.close()
    picture = Image.open(path).convert("RGB")
    palette = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3)
    picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)


def main() -> None:
    """Makes all of them, or those that are named."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        server.start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in sys.argv[1:] or PICTURES:
            take(browser, server.address, name)
        browser.close()
        server.kill()


if __name__ == "__main__":
    main()
