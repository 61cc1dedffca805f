"""Makes the drawings that notebooks show, by the page's own code: .venv/bin/python -m docs.images.faces (Chromium)."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tapete.core.pictures import FACES
from tests.web.e2e.conftest import CHROMIUM, FLAGS
from tests.web.e2e.recorded import Files

RANKS = ["A", *"23456789TJQK"]
WANTED = {
    "french": ["", *(rank + suit for suit in "shdc" for rank in RANKS), *RANKS, "B", "R", "10", "1"],
    "number": ["", "J", "Q", "K", *map(str, range(21))],
    "spanish": ["", *(f"{rank}{suit}" for suit in "ebco" for rank in (1, 2, 3, 4, 5, 6, 7, 10, 11, 12))],
    "domino": ["", *(f"{a}-{b}" for a in range(7) for b in range(7))],
    "die": ["", *map(str, range(1, 10))],
    "disc": ["black", "white"],
}

DRAW = """async (wanted) => {
  const { draw } = await import("/static/js/draw/index.js");
  const signs = {};
  for (const [kind, file] of [["french", "cards-french"], ["spanish", "cards-spanish"], ["disc", "disc"]])
    signs[kind] = (await import(`/static/js/draw/${file}.js`)).SIGNS.trim();
  signs.spanish += signs.french.slice(signs.french.indexOf("<pattern"));  // the backs of both decks
  const faces = {};
  for (const [kind, list] of Object.entries(wanted)) {
    const drawn = list.map((face) => [face, draw(kind, face)]).filter(([, svg]) => !svg.classList.contains("unknown"));
    faces[kind] = Object.fromEntries(drawn.map(([face, svg]) => [face, svg.outerHTML]));
  }
  return { signs, faces };
}"""


def drawn(page: Page, address: str) -> Any:
    """All drawings as the page makes them."""
    page.goto(address)
    return page.evaluate(DRAW, WANTED)


if __name__ == "__main__":
    files = Files()
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
        FACES.write_text(json.dumps(drawn(page, files.address), indent=0, sort_keys=True) + "\n")
    files.shutdown()
