"""Curves drawn with characters."""

from __future__ import annotations

import math

import pytest

from tapete.terminal.charts import chart, labelled, number, sparkline


def test_a_curve_that_falls_falls() -> None:
    assert sparkline([(i, 8 - i) for i in range(8)]) == "█▇▆▅▄▃▂▁"


def test_many_points_share_a_column() -> None:
    points = [(i, float(i >= 50)) for i in range(100)]
    assert sparkline(points, 4) == "▁▁██"


def test_columns_are_places_on_the_way_and_not_numbers_of_points() -> None:
    points = [(0, 4.0), (1, 3.0), (2, 2.0), (100, 1.0)]
    assert (
        chart(points, 10, 1) == ["█" + "█" * 8 + "▁"] or chart(points, 10, 1)[0][1:9] == chart(points, 10, 1)[0][0] * 8
    )


def test_one_point_and_a_flat_curve_are_lines_at_the_bottom() -> None:
    assert sparkline([]) == ""
    assert sparkline([(5, 0.3)]) == "▁"
    assert sparkline([(5, 0.3), (6, 0.3)]) == "▁▁"


def test_a_chart_has_all_its_lines_and_each_column_is_filled_from_below() -> None:
    lines = chart([(i, math.cos(i / 5)) for i in range(60)], 30, 5)
    assert len(lines) == 5
    assert {len(line) for line in lines} == {30}
    for column in zip(*reversed(lines), strict=True):
        assert column[0] != " "
        text = "".join(column).rstrip()
        assert " " not in text
        assert set(text[:-1]) <= {"█"}
    assert "█" in lines[0], "the highest column reaches the top"


def test_a_chart_tells_its_highest_and_lowest_number_and_how_far_it_goes() -> None:
    lines = labelled([(0, 4.75), (60_000, 1.5), (120_000, 0.41)], 20, 3)
    assert lines[0].startswith("4.75 ┤")
    assert lines[2].startswith("0.41 ┤")
    assert lines[3].split() == ["0", "120,000"]
    assert {len(line) for line in lines} == {6 + 20}


@pytest.mark.parametrize(
    ("value", "text"),
    [(1_200_000, "1,200,000"), (0.04166, "0.04166"), (3.2e-05, "3.2e-05"), (-1234.5, "-1,234"), (math.inf, "inf")],
)
def test_numbers_read_well(value: float, text: str) -> None:
    assert number(value) == text
