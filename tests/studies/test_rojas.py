"""The study of Rojas (2020): the paper's numbers, and the small rows of both experiments run for real."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tapete.core import TapeteError, make
from tapete.solve.sequence_form import SequenceForm
from tapete.studies import rojas
from tests.conftest import Tapete

# As the paper prints it: N, I, u and e in %; two figures of e are of 10 and of 200 hours.
PRINTED = """
    ocp(3) 55 12 -0.056 0.0098 | ocp(12) 1,189 48 -0.062 0.0032 | ocp(50) 22,051 200 -0.058 0.0099
    ocp(200) 358,201 800 -0.056 0.0078 | ocp(1000) 8,991,001 4,000 -0.056 0.0098
    ocp(5000) 224,955,001 20,000 -0.056 0.0241
    dudo(4,1,1) 8,177 512 -0.125 0.0259 | dudo(4,1,2) 327,641 14,336 -0.508 0.0971
    dudo(4,2,1) 327,641 14,336 0.552 0.3701 | dudo(4,2,2) 13,107,101 327,680 0.00875 0.2382
    dudo(5,1,1) 51,176 2,560 -0.120 0.1186 | dudo(5,1,2) 4,915,126 163,840 -0.565 0.6197
    dudo(5,2,1) 4,915,126 163,840 0.581 1.22 | dudo(5,2,2) 471,858,976 7,864,320 -0.00004 1.7695
    dudo(6,1,1) 294,877 12,288 -0.111 0.0975 | dudo(6,1,2) 66,060,163 1,769,472 -0.597 0.5102
    dudo(6,2,1) 66,060,163 1,769,472 0.597 0.6727
    domino(2,2) 7,321 102 2.4 0 | domino(3,2) 46,534,657 88,947 2.8767 0.0315
    domino(3,3) 246,760,993 107,854 2.1539 0.3854 | domino(3,4) 1,547,645,185 104,050 3.2027 0.1812
"""
COUNTED = ("ocp(3)", "ocp(12)", "ocp(50)", "dudo(4,1,1)", "dudo(5,1,1)", "dudo(6,1,1)")


def test_the_papers_table_is_copied_right():
    rows = [row.split() for row in re.split(r"\||\n", PRINTED) if row.strip()]
    expected = [
        (name, int(n.replace(",", "")), int(i.replace(",", "")), float(u), float(e)) for name, n, i, u, e in rows
    ]
    assert [(row.game, row.histories, row.infosets, row.value, row.percent) for row in rojas.SOLVED] == expected
    assert {row.game for row in rojas.SOLVED if row.hours == 200} == {
        "dudo(4,2,2)", "dudo(5,2,2)", "dudo(6,1,2)", "dudo(6,2,1)", "domino(3,4)"
    }  # fmt: skip
    printed = {
        "rps": (0, 12.2, 4.5e6, 0.345, 6_601, 0.049, 19_321),
        "pennies": (0, 10.3, 3.9e6, 0.777, 25_617, 0.042, 16_261),
        "token_domino": (1 / 3, 319, 108e6, 11.3, 75_250, 0.237, 84_319),
        "blotto(5,3)": (0, 876, 190e6, 70.5, 58_794, 0.166, 48_614),
    }
    for game, (value, procedures) in rojas.MATCHED.items():
        assert [*procedures] == ["conditional", "invariant", "unconditional"]
        numbers = [value, *(number for pair in procedures.values() for number in pair)]
        assert numbers == pytest.approx(printed[game], rel=0.013)


@pytest.mark.parametrize("name", COUNTED)
def test_histories_and_information_sets_are_the_papers(name):
    theirs = next(row for row in rojas.SOLVED if row.game == name)
    form = SequenceForm.of(make(name))
    assert (form.histories, form.infosets) == (theirs.histories, theirs.infosets)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], list[str]]:
    """`tapete reproduce rojas --quick`, without the two matrix games that take longest."""
    out = tmp_path_factory.mktemp("study") / "rojas"
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rojas, "MATCHED", {name: rojas.MATCHED[name] for name in ("rps", "pennies")})
        rojas.run(out, quick=True, say=said.append)
    return out, json.loads((out / "results.json").read_text()), said


def test_small_rows_agree_with_the_paper(quick):
    _, results, _ = quick
    assert [row["theirs"]["game"] for row in results["solving"]] == [*rojas.QUICK]
    for row in results["solving"]:
        theirs, ours, name = row["theirs"], row["ours"], row["theirs"]["game"]
        assert row["agrees"] is True, name
        assert ours["game"] == name
        assert ours["exploitability_percent"] <= 0.1
        slack = theirs["percent"] / 100 + 0.0005
        assert ours["lower"] - slack <= theirs["value"] <= ours["upper"] + slack
        assert ours["information_sets"] == theirs["infosets"], name
        if "domino" not in name:  # whose boneyard the paper counts in every order
            assert ours["histories"] == theirs["histories"], name
        iterations, seconds, exploitability = zip(*row["curve"], strict=True)
        assert list(iterations) == sorted({*iterations})
        assert list(seconds) == sorted(seconds)
        assert exploitability[-1] == pytest.approx(ours["exploitability"])


def test_matrix_games_are_matched(quick):
    _, results, _ = quick
    assert len(results["matching"]) == 2 * 3
    for row in results["matching"]:
        assert row["gain"] == pytest.approx(row["value"], abs=0.005)
        assert 0 <= row["exploitability"] <= 2 * rojas.BOUND
        assert row["curve"][-1][2] < rojas.BOUND
        per_iteration = row["seconds"] / row["iterations"]
        assert row["times_less"] == pytest.approx(row["their_seconds"] / row["their_iterations"] / per_iteration)


def test_files_are_written(quick):
    out, results, said = quick
    assert sorted(path.name for path in out.iterdir()) == [
        "README.md", "exploitability.png", "regret.png", "results.json"
    ]  # fmt: skip
    for plot in out.glob("*.png"):
        assert plot.read_bytes().startswith(b"\x89PNG")
        assert plot.stat().st_size > 10_000
    text = (out / "README.md").read_text()
    for row in results["solving"]:
        ours = row["ours"]
        line = next(line for line in text.splitlines() if line.startswith(f"| {ours['game']} |"))
        for shown in (f"{ours['lower']:.5f} to {ours['upper']:.5f}", f"{row['theirs']['infosets']:,}", "| yes |"):
            assert shown in line
    assert "| no |" not in text
    assert len(said) == 6 + 6 + 1
    assert str(out) in said[-1]


def test_a_value_outside_of_the_interval_does_not_agree(quick):
    _, results, _ = quick
    row = next(row for row in results["solving"] if row["theirs"]["game"] == "dudo(4,1,1)")
    theirs = next(theirs for theirs in rojas.SOLVED if theirs.game == "dudo(4,1,1)")
    for value, agrees in ((-0.125, True), (-0.1262, False), (-0.1231, False), (0.125, False)):
        changed = rojas.SolvedRow(theirs=replace(theirs, value=value), ours=row["ours"], curve=[])
        assert changed.agrees is agrees, value


def test_one_row_by_command(tapete: Tapete, tmp_path: Path) -> None:
    done = tapete("reproduce", "rojas", "--row", "ocp(3)", "--out", str(tmp_path))
    assert (done.status, done.err) == (0, "")
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["matching"] == []
    assert [row["ours"]["histories"] for row in data["solving"]] == [55]
    for arguments, why in (
        (["reproduce", "rojas", "--row", "chess"], "there is no row 'chess'; there are rps"),
        (["reproduce", "einstein"], "there is no study 'einstein'"),
    ):
        done = tapete(*arguments)
        assert done.status == 2
        assert done.err.startswith("tapete: ")
        assert why in done.err


def test_rows_do_not_profit_from_what_was_solved_before(tmp_path):
    """A study begins with an empty folder."""
    rojas.run(tmp_path, row="dudo(4,1,1)", say=lambda text: None)
    first = json.loads((tmp_path / "results.json").read_text())["solving"][0]["ours"]
    rojas.run(tmp_path, row="dudo(4,1,1)", say=lambda text: None)
    second = json.loads((tmp_path / "results.json").read_text())["solving"][0]["ours"]
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    assert first["iterations"] > 0
    with pytest.raises(TapeteError, match="there is no row"):
        rojas.run(tmp_path, row="dudo(9,9,9)")
