"""The study of Othello (2025): the paper's numbers, and a match of it run for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tapete.core import TapeteError
from tapete.studies import othello
from tests.conftest import Tapete

# Sancho Cebrero and Fernández Limárquez, "Búsqueda adversaria para aprender a jugar a Othello" (Sevilla): the network's
# wins, draws and losses of fifteen games (figure 1), its average lead in discs (the text below figure 2), and how long
# a move took (the list behind it): in milliseconds without the network, in seconds with it, by iterations.
GAMES = {"80-80": (10, 0, 5), "50-100": (9, 2, 4), "100-50": (12, 0, 3)}
DISCS = {"80-80": 5.46, "50-100": 5.6, "100-50": 14.87}
PLAIN_MILLISECONDS = {100: 59, 80: 30, 50: 28}
NETWORK_SECONDS = {100: 5.1, 80: 3.1, 50: 1.42}


def test_the_papers_figures_are_copied_right() -> None:
    *played, more = othello.PAPER
    assert {theirs.row: (theirs.wins, theirs.draws, theirs.losses) for theirs in played} == GAMES
    assert {theirs.row: theirs.discs for theirs in played} == DISCS
    for theirs in played:
        assert theirs.network_ms == pytest.approx(1000 * NETWORK_SECONDS[theirs.ours])
        assert theirs.plain_ms == PLAIN_MILLISECONDS[theirs.others]
    assert [theirs.win_share for theirs in played] == pytest.approx([10 / 15, 10 / 15, 12 / 15])
    assert (more.row, more.win_share) == ("100-100", None)


def test_a_row_is_played_and_written(tapete: Tapete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(othello, "QUICK", 6)
    done = tapete("reproduce", "othello", "--row", "50-100", "--quick", "--out", str(tmp_path))
    assert done.status == 0, done.err
    matches = json.loads((tmp_path / "results.json").read_text())["matches"]
    assert {entry["learner"] for entry in matches} == set(othello.LEARNERS)
    for entry in matches:
        assert entry["wins"] + entry["draws"] + entry["losses"] == len(entry["discs"]) == othello.QUICK
        assert entry["wins"] == sum(lead > 0 for lead in entry["discs"])
        assert entry["losses"] == sum(lead < 0 for lead in entry["discs"])
    page = (tmp_path / "README.md").read_text()
    assert "| 50 against 100 |" in page
    assert (tmp_path / "shares.png").stat().st_size > 1000
    assert (tmp_path / "discs.png").stat().st_size > 1000


def test_an_unknown_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="80-80, 50-100"):
        othello.run(tmp_path / "out", row="1-2")
    assert not (tmp_path / "out").exists()
