"""Makes the picture of what a notebook shows: .venv/bin/python -m docs.images.notebook (Chromium needed)."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright

import tapete
from tests.web.e2e.conftest import CHROMIUM, FLAGS

CELL = "break-inside:avoid;border:1px solid #ccc;border-radius:6px;padding:8px;margin:0 0 8px"
BODY = "font:14px system-ui,sans-serif;columns:3;column-gap:8px;margin:8px;width:1240px"


def cells() -> list[str]:
    """What some cells show."""
    view = tapete.make("truco").read("1e 4c 7e 5b 7o 6o envido").view(1)
    thought = tapete.agent("ismcts(500)", view.game).think(view, tapete.Rng(1))
    hold = tapete.make("holdem").read("Ah 7c Kd 7d call check 2s 7h Jc")
    shown = [
        view.show(thought),
        hold.view(0),
        tapete.make("othello").read("d3 c3 c4").view(1),
        tapete.make("dudo(6,2,2)").start().deal(tapete.Rng(1)).apply("1x4").view(1),
        tapete.match("leduc", "equilibrium", "random", games=1000),
    ]
    return [each._repr_html_() for each in shown]


if __name__ == "__main__":
    boxes = "".join(f'<div style="{CELL}">{cell}</div>' for cell in cells())
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page(
            viewport={"width": 1260, "height": 100}
        )
        page.set_content(f'<!doctype html><meta charset="utf-8"><body style="{BODY}">{boxes}')
        page.screenshot(path=Path(__file__).with_suffix(".png"), full_page=True)
