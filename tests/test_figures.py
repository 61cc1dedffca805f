"""Figures of the documentation: all are listed with the command that printed them, and what differs is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tapete import TapeteError
from tapete.terminal import figures
from tapete.terminal.figures import Figure, differences, missing, read_figures
from tests.conftest import Tapete

DOCS = Path(__file__).parent.parent / "docs"
LISTED = read_figures(DOCS)
# Tables that no command of tapete printed: made from code, of words, or of what tests and scripts count.
OTHERS = {
    "adding-a-game.md", "games.md", "glossary.md", "learning.md", "mistakes.md",
    "proofs.md", "web.md", "design.md", "eight-tasks.md", "algorithms/ppo.md",
}  # fmt: skip


@pytest.mark.parametrize("figure", LISTED, ids=lambda figure: f"{figure.page}: {figure.command}")
def test_a_figure_is_on_its_page(figure: Figure) -> None:
    assert list(missing(figure, DOCS)) == []
    assert re.fullmatch(r"[0-9a-f]{7,}", figure.version)


def test_pages_with_tables_of_figures_are_listed() -> None:
    with_tables = {
        str(page.relative_to(DOCS))
        for page in DOCS.rglob("*.md")
        if page.parent.name != "games" and len(re.findall(r"^\|.*\|[^|]*\d[^|]*\|", page.read_text(), re.M)) > 2
    }
    assert with_tables - OTHERS - {figure.page for figure in LISTED} == set()


def page(tmp_path: Path, text: str, **about: str) -> Path:
    (tmp_path / "page.md").write_text(text)
    lines = "\n".join(f"{name} = {value}" for name, value in about.items())
    (tmp_path / "figures.toml").write_text(
        "[[figure]]\npage = 'page.md'\ncommand = 'tapete solve kuhn'\n"
        f"made = 2026-11-18\nversion = 'abcdef0'\n{lines}\n"
    )
    return tmp_path


PRINTED = "kuhn: value -0.0556\n  a move takes   3 ms\n"


def test_what_a_command_prints_now_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "run", lambda command: PRINTED)
    docs = page(
        tmp_path, "`tapete solve kuhn`\n```\nkuhn:  value -0.0556\na move takes 7 ms\n```", clock="['a move takes']"
    )
    (figure,) = read_figures(docs)
    assert differences(figure, docs) == []
    page(tmp_path, "`tapete solve kuhn`: kuhn: value -0.0557", clock="['a move takes']")
    assert differences(figure, docs) == ["printed now: kuhn: value -0.0556"]
    (shown,) = read_figures(page(tmp_path, "`tapete solve kuhn` says -0.0557", shows="['-0.0557']"))
    assert differences(shown, docs) == ["no longer printed: -0.0557"]
    assert list(missing(shown, page(tmp_path, "nothing"))) == ["tapete solve kuhn", "-0.0557"]


def test_the_command_says_what_differs(tapete: Tapete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "run", lambda command: PRINTED)
    docs = page(tmp_path, "`tapete solve kuhn`: kuhn: value -0.06", quick="true", clock="['a move takes']")
    done = tapete("docs-check", "--docs", str(docs))
    assert done.status == 1
    assert "DIFFERS  2026-11-18 abcdef0  page.md: tapete solve kuhn" in done.out
    assert "printed now: kuhn: value -0.0556" in done.out
    assert tapete("docs-check", "--docs", str(docs), "--list").status == 0
    assert tapete("docs-check", "--docs", str(docs), "--page", "other.md").status == 2


@pytest.mark.parametrize("text", ["", "[[figure]]\npage = 'x'", "[[figure]", "figure = [{nothing = 1}]"])
def test_a_list_that_is_none_is_refused_in_a_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "figures.toml").write_text(text)
    with pytest.raises(TapeteError, match="not a list of figures") as error:
        read_figures(tmp_path)
    assert "\n" not in str(error.value)


def test_other_programs_are_not_run(tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="only commands of tapete"):
        figures.run("ls /")
