"""The drawings that notebooks show are those of the page."""

from __future__ import annotations

from playwright.sync_api import Browser

from docs.images.faces import drawn
from tapete.core.pictures import drawings
from tests.web.e2e.recorded import Files


def test_notebooks_have_the_drawings_of_the_page(browser: Browser, files: Files) -> None:
    page = browser.new_page()
    assert drawn(page, files.address) == drawings(), "python -m docs.images.faces"
    page.close()
