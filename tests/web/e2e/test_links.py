"""Links from elsewhere: over plain HTTP, under a name, nobody's seats are taken away."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect

from tests.web.e2e.conftest import CHROMIUM, FLAGS, PATIENCE, Server
from tests.web.e2e.table import TableDriver

pytestmark = pytest.mark.xdist_group("e2e")

OURS, THEIRS = "tapete.example", "other.example"
MAP = f"--host-resolver-rules=MAP {OURS} 127.0.0.1, MAP {THEIRS} 127.0.0.1"


@pytest.fixture
def named(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path, "--name", OURS)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def abroad(browser: Browser, playwright_of: Playwright) -> Iterator[BrowserContext]:
    """A Chromium that finds both names on this machine; not a secure context, so it sends no Sec-Fetch-Site."""
    found = playwright_of.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, MAP])
    context = found.new_context(reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    yield context
    found.close()


@pytest.fixture
def elsewhere(named: Server) -> Iterator[str]:
    """Another site, with links to ours."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f'<a id=link href="http://{OURS}:{named.port}{self.path}">a game</a>'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://{THEIRS}:{site.server_address[1]}"
    site.shutdown()


def tokens(context: BrowserContext) -> list[str]:
    return [cookie.get("value", "") for cookie in context.cookies() if cookie.get("name") == "tapete"]


def test_a_link_from_another_site_leaves_the_seats_to_those_who_have_them(
    abroad: BrowserContext, named: Server, elsewhere: str
) -> None:
    page = abroad.new_page()
    page.goto(f"http://{OURS}:{named.port}/")
    page.wait_for_selector(".game-card")
    before = tokens(abroad)
    assert len(before) == 1
    table = TableDriver(page)
    table.sit("othello(size=4)", ["me", "random"], base=f"http://{OURS}:{named.port}")
    assert table.wait_for_turn()
    path = page.evaluate("location.pathname")

    for address in ("/", path):
        page.goto(elsewhere + address)
        page.click("#link")
        page.wait_for_selector(".game-card" if address == "/" else ".felt")
        assert page.evaluate("location.host").startswith(OURS)
        assert tokens(abroad) == before
    assert table.wait_for_turn()
    table.click_something()
    page.goto(elsewhere + "/")
    page.click("#link")
    expect(page.locator(".mine li")).to_have_count(1)


def test_a_stranger_who_comes_by_a_link_is_given_a_token_by_the_page(
    abroad: BrowserContext, named: Server, elsewhere: str
) -> None:
    page = abroad.new_page()
    page.goto(elsewhere + "/")
    page.click("#link")
    page.wait_for_selector(".game-card")
    first = tokens(abroad)
    assert len(first) == 1
    page.reload()
    page.wait_for_selector(".game-card")
    assert tokens(abroad) == first
