"""The study of Othello (2025): the paper's numbers, and a match of it run for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tapete.core import TapeteError
from tapete.studies import othello
from tests.conftest import Tapete


def test_the_papers_figures_are_copied_right() -> None:
    text = Path(__file__).parents[3].joinpath("shared/papers/othello-mcts.txt")
    rows = {theirs.row: theirs for theirs in othello.PAPER}
    assert [(t.wins, t.draws, t.losses) for t in othello.PAPER[:3]] == [(10, 0, 5), (9, 2, 4), (12, 0, 3)]
    assert all(sum((t.wins, t.draws, t.losses)) == 15 for t in othello.PAPER[:3])
    assert (rows["80-80"].discs, rows["50-100"].discs, rows["100-50"].discs) == (5.46, 5.6, 14.87)
    assert rows["50-100"].win_share == pytest.approx(10 / 15)
    assert rows["100-100"].win_share is None
    if text.exists():
        for figure in ("5,46", "5,6", "14,87", "59 milisegundos", "5,1 segundos", "3,1 segundos", "1,42 segundos"):
            assert figure in text.read_text()


def test_a_row_is_played_and_written(tapete: Tapete, tmp_path: Path) -> None:
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
