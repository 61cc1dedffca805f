"""One server and one real Chromium for all tests here; every page reports what its console says."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from tests.web.e2e.recorded import Files, open_table, sit_down
from tests.web.e2e.table import TableDriver

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 15_000  # ms, for machines that do something else at the same time

# A page remembers its sockets, so that a test can cut them; agents answer at once.
PREPARE = """
  globalThis.sockets = [];
  globalThis.WebSocket = class extends WebSocket {
    constructor(...all) { super(...all); globalThis.sockets.push(this); }
  };
  if (!localStorage.getItem("tapete")) localStorage.setItem("tapete", JSON.stringify({ language: "en", pace: 0 }));
"""


class Server:
    """`tapete serve` in a process of its own, which can be killed and begun again where it was."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it listens."""
        command = [sys.executable, "-c", "from tapete.cli import main; main()", "serve"]
        command += ["--port", str(self.port), "--data", str(self.folder), *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise RuntimeError("the server does not listen")

    def kill(self) -> None:
        """As if the power went off."""
        if self.process:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("web"))
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def playwright_of() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright_of: Playwright) -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.fail("Chromium is missing: `apt-get install chromium`, or set CHROMIUM to its path")
    browser = playwright_of.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def files() -> Iterator[Files]:
    """The page without a server, for tests that tell it themselves what happens."""
    files = Files()
    yield files
    files.shutdown()


@pytest.fixture(scope="module")
def shared(browser: Browser, files: Files) -> Iterator[Page]:
    """One such page for all tests of a file."""
    page = open_table(browser, files, 1280, 800)
    yield page
    page.context.close()


@pytest.fixture
def told(shared: Page) -> Page:
    """The same, at a table at which nothing has been told yet."""
    sit_down(shared)
    return shared


NewPage = Callable[..., Page]


@pytest.fixture
def new_page(browser: Browser, server: Server) -> Iterator[NewPage]:
    """Pages of a browser of their own each (or of a `context`); in the end no console may have said a word of error."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def note(message: Any) -> None:
        # a socket that is refused while the server is down is what two of the tests are about
        if message.type == "error" and "WebSocket connection to" not in message.text:
            complaints.append(message.text)

    def make(context: BrowserContext | None = None, *, width: int = 1280, height: int = 800, **options: Any) -> Page:
        if context is None:
            context = browser.new_context(
                base_url=server.address,
                viewport={"width": width, "height": height},
                reduced_motion=options.pop("reduced_motion", "reduce"),
                **options,
            )
            context.add_init_script(PREPARE)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


@pytest.fixture
def table(page: Page) -> TableDriver:
    return TableDriver(page)
