"""The study of co-evolution (2012): its figures, and a small one run for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tapete.core import TapeteError
from tapete.games.holdem.histories.statistics import Statistics
from tapete.learn.coevolution import Config
from tapete.studies import coevolution
from tests.conftest import Tapete


def test_the_studys_figures_are_copied_right() -> None:
    """Section 5.5: its last player, and the class that they make it."""
    assert coevolution.THEIRS == {
        "VP$IP": 21.91, "PFR": 9.07, "AF": 1.34, "WTSD": 54.43, "W$SD": 53.41, "W$WSF": 44.83, "style": "mouse",
    }  # fmt: skip
    knobs = Config()
    assert (knobs.replacements, knobs.generations, knobs.population, knobs.deals) == (500, 200, 100, 200)
    assert (knobs.tournament, knobs.points, knobs.mutations, knobs.variance) == (3, 2520, 504, 0.1)
    assert coevolution.LAST == {"generations": 500, "deals": 520}
    theirs = Statistics()
    theirs.counts.update(chances=10000, paid=2191, raised=907, bets=134, calls=100)
    assert theirs.style == "dangerous", "by its own bounds, the study's player raises enough to be more than a mouse"


@pytest.mark.slow
def test_a_small_study_is_run_and_written(tapete: Tapete, tmp_path: Path) -> None:
    done = tapete("reproduce", "coevolution", "--row", "ours-short", "--quick", "--out", str(tmp_path))
    assert done.status == 0, done.err
    result, control, mended = json.loads((tmp_path / "results.json").read_text())
    assert (control["way"], control["runs"][0]["generation"]) == ("ours-short-cma", 3)
    assert control["runs"][0]["hands"] == result["runs"][-1]["hands"], "both have had as many hands"
    assert (mended["way"], mended["runs"][0]["round"]) == ("ours-short-mended", 2)
    assert len(result["runs"]) == 10
    assert result["profile"]["hands"] == result["profile_hands"] == 40
    for measured in result["measured"].values():
        assert measured["low"] <= measured["mean"] <= measured["high"]
    told = tapete("stats", str(tmp_path / "ours-short" / "last" / "hands.txt"), "--json")
    assert json.loads(told.out)["players"]["0"] == result["profile"]
    page = (tmp_path / "README.md").read_text()
    assert "| VP$IP | 21.91 |" in page
    assert "--row ours-short`" in page
    for name in ("ours-short.png", "ours-short-cma.png", "ours-short-mended.png"):
        assert (tmp_path / name).stat().st_size > 1000
    before = (tmp_path / "ours-short" / "last" / "network.safetensors").read_bytes()
    again = tapete("reproduce", "coevolution", "--row", "ours-short", "--quick", "--out", str(tmp_path))
    assert again.status == 0
    assert (tmp_path / "ours-short" / "last" / "network.safetensors").read_bytes() == before


def test_rows_from_before_stay_in_the_order_of_the_ways(tmp_path: Path) -> None:
    names = ("study", "study-cma", "ours-short", "ours-short-mended")
    (tmp_path / "results.json").write_text(json.dumps([{"way": name, "is": "old"} for name in names]))
    found = coevolution._with_earlier_rows(
        tmp_path / "results.json", [{"way": "ours-short", "is": "new"}, {"way": "ours", "is": "new"}]
    )
    assert [(result["way"], result["is"]) for result in found] == [
        ("study", "old"), ("study-cma", "old"), ("ours", "new"), ("ours-short", "new"),
    ]  # fmt: skip
    assert coevolution._with_earlier_rows(tmp_path / "none.json", found) == found


def test_an_unknown_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match=r"study, ours"):
        coevolution.run(tmp_path / "out", row="none")
    assert not (tmp_path / "out").exists()
