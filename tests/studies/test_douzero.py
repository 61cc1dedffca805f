"""The study of DouZero (2021): the paper's numbers, and all of it run for real, small."""

from __future__ import annotations

import csv
import json
import math
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tapete.agents.compiled import seated
from tapete.arena.teams import team_result
from tapete.core import TapeteError, make
from tapete.studies import douzero

# The table of WP of Zha et al. 2021, read anew from the document: agent, opponent, as landlord and as peasants.
WP = {
    "DouZero": {"DouZero": ".4159 .5841", "RLCard": ".8695 .9089", "Random": ".9858 .9920"},
    "RLCard": {"DouZero": ".0911 .1305", "RLCard": ".4465 .5535", "Random": ".9314 .9539"},
    "Random": {"DouZero": ".0080 .0142", "RLCard": ".0461 .0686", "Random": ".3461 .6539"},
}
OURS = {"DouZero": "dmc", "RLCard": "rlcard", "Random": "random"}


def test_the_papers_figures_are_copied_right() -> None:
    read = {
        (OURS[a], OURS[b]): tuple(map(float, figures.split())) for a, row in WP.items() for b, figures in row.items()
    }
    assert {pair: theirs.wp for pair, theirs in douzero.PAPER.items()} == read
    for (a, b), theirs in douzero.PAPER.items():
        other = douzero.PAPER[b, a]
        assert theirs.wp[0] + other.wp[1] == pytest.approx(1, abs=2e-4), "what one wins as landlord, others lose"
        assert theirs.adp[0] + other.adp[1] == pytest.approx(0, abs=2e-3)
    assert douzero.REPEAT["dmc", "rlcard"].wp == (0.8391, 0.8740)
    assert douzero.REPEAT["dmc", "rlcard"].adp == (2.2212, 2.4672)


def test_figures_are_those_of_the_arena() -> None:
    """WP and ADP of random play, near those of the paper."""
    random = seated("random", make("doudizhu"))
    landlord, peasants = douzero.judge(random, random, 2000)
    assert landlord.wp + peasants.wp == 1
    assert landlord.adp + peasants.adp == 0
    assert landlord.wp_interval[0] < 0.3461 < landlord.wp_interval[1]
    assert peasants.adp_interval[0] < 0.883 < peasants.adp_interval[1]


def test_all_of_it_runs_and_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scale = douzero.Scale(deals=4, curve_deals=4, asked=4, minutes=0.002, snapshots=1)
    monkeypatch.setattr(douzero, "QUICK", scale)
    monkeypatch.setattr(douzero, "KNOBS", ("every=1", "games=2", "units=8", "trunk=8", "batch=8", "trace=1"))
    monkeypatch.setattr(douzero, "AGENTS", ("dmc", "rules", "random"))
    douzero.run(tmp_path, quick=True, say=lambda text: None)
    monkeypatch.setattr(douzero, "QUICK", replace(scale, minutes=0.03))
    said: list[str] = []
    douzero.run(tmp_path, row="curves", quick=True, say=said.append)
    data = json.loads((tmp_path / "results.json").read_text())
    assert {point["run"] for point in data["curves"]} == {"wp", "adp"}
    assert {point["objective"] for point in data["curves"]} == {"wp", "adp"}
    assert all(point["frames"] > 0 and point["hours"] > 0 for point in data["curves"])
    assert [entry["agent"] for entry in data["table"]] == ["dmc"] * 3 + ["rules"] * 2 + ["random"], "kept as it was"
    for name in ("table", "curves"):
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [float(row["landlord_wp"]) for row in rows] == [entry["landlord"]["wp"] for entry in data[name]]
    assert zipfile.is_zipfile(tmp_path / "douzero.ods")
    page = (tmp_path / "README.md").read_text()
    assert "0.986 / 0.992 | 0.982 / 0.992" in page, "the paper's and the repetition's against random"
    assert all((tmp_path / f"{measure}.png").stat().st_size > 1000 for measure in ("wp", "adp"))


def test_the_line_goes_on_as_it_went() -> None:
    """A share whose odds double with every doubling of the hours."""
    points = []
    for hours in (1.0, 2.0, 4.0, 8.0):
        share = hours / (1 + hours)
        won = team_result([[1.0], [-1.0]])._replace(wp=share)
        points.append(douzero.Point("x", "wp", int(1e6 * hours), hours, "random", won, won))
    assert douzero.foresee(points, "landlord") == pytest.approx(80 / 81)
    assert douzero.foresee(points[:1], "landlord") is None
    assert not math.isnan(douzero.foresee(points, "peasants", times=1e9) or 0)


def test_an_unknown_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="there are curves, table"):
        douzero.run(tmp_path / "out", row="elo")
    assert not (tmp_path / "out").exists()
