"""The documentation tells what is: pages made from code are current, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tapete import make
from tapete.core.names import needs_parameters, variants
from tapete.terminal.pages import games_page

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("tapete/games/*/README.md")])


def test_the_page_of_the_games_is_current() -> None:
    names = sorted(name for name, variant in variants().items() if not needs_parameters(variant.spec))
    expected = games_page(make(name).spec for name in names)
    assert (ROOT / "docs" / "games.md").read_text().strip() == expected.strip(), (
        "tapete games --markdown > docs/games.md"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_names_both_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make play" in text
    assert "make test" in text
