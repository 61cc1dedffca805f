"""What the first page weighs and how soon it can be used: `python -m tests.web.e2e.measure`."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Request, sync_playwright

from tests.web.e2e.conftest import CHROMIUM, FLAGS, Server

TIMES = 9


def visit(browser: Browser, address: str) -> tuple[int, int, float]:
    """Requests, bytes (headers too) and milliseconds until a game can be picked, in a browser that was never here."""
    sizes: list[int] = []

    def weigh(request: Request) -> None:
        size = request.sizes()
        sizes.append(size["responseBodySize"] + size["responseHeadersSize"])

    page = browser.new_context().new_page()
    page.on("requestfinished", weigh)
    page.goto(address, wait_until="commit")
    ready = page.wait_for_function("() => document.querySelector('.game-card') && performance.now()")
    milliseconds = float(ready.json_value())
    page.wait_for_load_state("networkidle")
    page.context.close()
    return len(sizes), sum(sizes), milliseconds


def main() -> None:
    """Prints a line."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        server.start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        visits = [visit(browser, server.address) for _ in range(TIMES)]
        requests, weight, _ = visits[-1]
        times = sorted(milliseconds for *_, milliseconds in visits)
        print(
            f"first page: {requests} requests, {weight / 1000:.0f} kB; can be used after "
            f"{statistics.median(times):.0f} ms (median of {TIMES}; {times[0]:.0f} to {times[-1]:.0f})"
        )
        browser.close()
        server.kill()


if __name__ == "__main__":
    main()
