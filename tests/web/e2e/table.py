"""A person at the page: what fingers and eyes do."""

from __future__ import annotations

import random
from typing import Any

from playwright.sync_api import Page, Position

LEGAL = ".stage .legal, .tray .legal"
CORNER = Position(x=10, y=12)  # of a card in a hand: the rest lies under its neighbour


class TableDriver:
    """Sits down and plays, by mouse or by keyboard."""

    def __init__(self, page: Page, seed: int = 1) -> None:
        self.page = page
        self.random = random.Random(seed)

    def sit(self, game: str, seats: list[str], *, practice: bool = False, pace: int = 0, base: str = "") -> None:
        """Opens a table without going through the lobby."""
        if self.page.url == "about:blank":
            self.page.goto("/")
        self.page.wait_for_selector("#page > *")  # it is known to the server by now
        request = {"game": game, "seats": seats, "name": "Ana", "practice": practice, "pace": pace}
        answer: dict[str, Any] = self.page.evaluate(
            """async (request) => (await fetch("/api/tables", {
                method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request),
            })).json()""",
            request,
        )
        self.page.goto(f"{base}/t/{answer['table']}")
        self.page.wait_for_selector(".felt")

    def choose(self, game: str, seats: int, **parameters: str) -> None:
        """From the first page to a game against random players, by clicking."""
        self.page.goto("/")
        self.page.click(f"[data-game={game}]")
        self.page.wait_for_selector(".start:not([disabled])")
        if parameters:
            self.page.click("summary")
        for name, value in parameters.items():
            field = self.page.locator(f"[data-key={name}]")
            if value == "true":
                field.check()
            else:
                field.fill(value)
                field.press("Tab")
        for seat in range(1, seats):
            self.page.select_option(f"#seat-{seat}", "random")
        self.page.click(".start:not([disabled])")
        self.page.wait_for_selector(".felt")

    @property
    def ply(self) -> int:
        return int(self.page.get_attribute(".table-page", "data-ply") or -1)

    def wait_for_turn(self) -> bool:
        """Whether the game goes on."""
        selector = '.table-page[data-turn="mine"], .table-page[data-turn="over"]'
        self.page.wait_for_selector(selector)
        return self.page.get_attribute(".table-page", "data-turn") == "mine"

    def wait_for_answer(self, ply: int) -> None:
        """Until a move was taken."""
        self.page.wait_for_selector(f'.table-page:not([data-ply="{ply}"])')

    def click_something(self) -> None:
        """Any legal thing; where that only picks it, the first move that it can be part of."""
        ply = self.ply
        self.random.choice(self.page.query_selector_all(LEGAL)).click(position=CORNER)
        self.wait_for_effect(ply)
        if self.ply == ply:
            self.page.click(".tray .legal >> nth=0")
        self.wait_for_answer(ply)

    def wait_for_effect(self, ply: int) -> None:
        """Until a move was taken, or a thing picked."""
        self.page.wait_for_selector(f'.table-page:not([data-ply="{ply}"]), .picked')

    def press_something(self) -> None:
        """A number, or arrows to a move and Enter: on a thing with several moves, Enter again."""
        ply, keyboard = self.ply, self.page.keyboard
        if self.random.random() < 0.5:
            keyboard.press(str(self.random.randint(1, min(9, len(self.page.query_selector_all("[data-digit]"))))))
        else:
            keyboard.press(self.random.choice(["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"]))
            keyboard.press("Enter")
            self.wait_for_effect(ply)
            if self.ply == ply:
                keyboard.press("1")
        self.wait_for_answer(ply)

    def tab_to(self, selector: str) -> None:
        """Presses Tab until something has the focus."""
        for _ in range(60):
            if self.page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab leads to {selector}")
