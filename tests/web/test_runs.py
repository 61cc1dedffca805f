"""Curves of trainings on the page, and how a table is."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tapete.core import make
from tapete.learn import ppo
from tapete.learn.run import Run
from tapete.web import curves
from tests.web.browsers import Browser, serving


def train(folder: Path, losses: list[float]) -> None:
    """A run that logged these."""
    run = Run(folder, "ppo", make("kuhn"), ppo.Config())
    run.load()
    for i, loss in enumerate(losses):
        run.log(iteration=i, loss=loss)
    run.save({"rows": np.zeros(1)}, iteration=len(losses))
    run.close()


def test_the_page_is_told_the_curves_of_runs_and_not_where_they_are(tmp_path: Path) -> None:
    train(tmp_path / "runs/one", [3.0, 2.0, 1.0])
    train(tmp_path / "runs/two", [float(i) for i in range(1000)])
    (tmp_path / "runs/bad").mkdir()
    (tmp_path / "runs/bad/config.json").write_text("{")
    with serving(tmp_path / "data", runs=tmp_path / "runs") as place:
        told = {run["name"]: run for run in Browser(place).get("/api/runs")}
    assert told.keys() == {"one", "two", "bad"}
    assert told["bad"] == {"name": "bad", "damaged": True}
    assert (told["one"]["learner"], told["one"]["game"], told["one"]["at_work"]) == ("ppo", "kuhn", False)
    assert told["one"]["curves"] == [{"name": "loss", "over": "iteration", "points": [[0, 3.0], [1, 2.0], [2, 1.0]]}]
    points = told["two"]["curves"][0]["points"]
    assert (len(points), points[0], points[-1]) == (curves.POINTS, [0, 0.0], [999, 999.0])
    assert str(tmp_path) not in json.dumps(told)


def test_without_runs_there_are_none(tmp_path: Path) -> None:
    with serving(tmp_path / "data", runs=tmp_path / "nowhere") as place:
        assert Browser(place).get("/api/runs") == []
    assert not (tmp_path / "nowhere").exists()


def test_health_is_200_as_long_as_the_store_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path / "data") as place:
        ana = Browser(place)
        ana.make("kuhn", "me", "random")
        well = ana.get("/health")
        assert (well["is"], well["tables"]) == ("well", 1)

        def fail() -> None:
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(place.house.reader, "check", fail)
        status, _, body = ana.ask("GET", "/health")
        assert (status, json.loads(body)) == (503, {"is": "ill", "why": "OperationalError"})
