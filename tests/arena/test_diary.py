"""A tournament that was killed goes on, and ends as if nobody had touched it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tapete import TapeteError
from tapete.arena import tournament
from tapete.arena.diary import NAME
from tapete.arena.tournaments import Tournament
from tests.conftest import Tapete

AGENTS = ["random", "equilibrium", "ismcts(20)"]


def figures(result: Tournament) -> Any:
    data = result.to_json()
    for match in data["matches"]:
        del match["milliseconds"]
    return data


class Enough(Exception):
    pass


def play(folder: Path | None, *, most: int = 10**9, **options: Any) -> Tournament:
    """A small tournament, which is stopped after so many deals."""
    seen = []

    def watch(*told: Any) -> None:
        seen.append(told)
        if len(seen) == most:
            raise Enough

    return tournament("kuhn", AGENTS, games=12, seed=3, workers=1, folder=folder, watch=watch, **options)


@pytest.mark.parametrize("most", [1, 4, 6, 7, 17])
def test_what_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path, most: int) -> None:
    with pytest.raises(Enough):
        play(tmp_path, most=most)
    assert len((tmp_path / NAME).read_text().splitlines()) == most + 1
    with pytest.raises(Enough):
        play(tmp_path, most=1, resume=True)  # and once more
    assert len((tmp_path / NAME).read_text().splitlines()) == most + 2
    result = play(tmp_path, resume=True)
    assert figures(result) == figures(play(None))
    assert not (tmp_path / NAME).exists()


def test_a_line_that_was_torn_is_dropped(tmp_path: Path) -> None:
    with pytest.raises(Enough):
        play(tmp_path, most=5)
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole[:-20])
    assert figures(play(tmp_path, resume=True)) == figures(play(None))


def test_nothing_is_overwritten_or_mixed(tmp_path: Path) -> None:
    with pytest.raises(Enough):
        play(tmp_path, most=5)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(TapeteError, match="--resume goes on"):
        play(tmp_path)
    for seed, games, openings, wrong in ((4, 12, 0, "seed"), (3, 14, 0, "games"), (3, 12, 1, "openings")):
        with pytest.raises(TapeteError, match=f"has {wrong}"):
            tournament("kuhn", AGENTS, folder=tmp_path, resume=True, games=games, seed=seed, openings=openings)
    with pytest.raises(TapeteError, match="has agents"):
        tournament("kuhn", AGENTS[:2], folder=tmp_path, resume=True, games=12, seed=3)
    assert (tmp_path / NAME).read_bytes() == before


@pytest.mark.parametrize(
    "harm", ["{", '{"match": "random - equilibrium", "games": [[0, "AB", [0, 1, 9], [1, 1], [1, 1], [0, 0]]]}']
)
def test_a_diary_that_no_tournament_wrote_is_told_in_one_line(tmp_path: Path, harm: str) -> None:
    with pytest.raises(Enough):
        play(tmp_path, most=2)
    with (tmp_path / NAME).open("a") as file:
        file.write(harm + "\n")
    with pytest.raises(TapeteError) as refused:
        play(tmp_path, resume=True)
    assert "\n" not in str(refused.value)


def test_payoffs_that_were_made_up_are_noticed(tmp_path: Path) -> None:
    with pytest.raises(Enough):
        play(tmp_path, most=2)
    first, *lines = (tmp_path / NAME).read_text().splitlines()
    entry = json.loads(lines[0])
    entry["games"][0][3] = [9.0, -9.0]
    (tmp_path / NAME).write_text("\n".join([first, json.dumps(entry), *lines[1:]]) + "\n")
    with pytest.raises(TapeteError, match="not as the rules"):
        play(tmp_path, resume=True)


def test_resume_needs_a_folder(tapete: Tapete) -> None:
    done = tapete("tournament", "kuhn", "random", "equilibrium", "--resume")
    assert (done.status, "--out" in done.err) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_tournament_that_is_stopped_says_how_to_go_on_and_does(tmp_path: Path, tapete: Tapete, number: int) -> None:
    arguments = ["tournament", "leduc", "random", "equilibrium", "ismcts(200)", "-n", "400", "--out", str(tmp_path)]
    command = [sys.executable, "-c", "from tapete.cli import main; main()", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        end = time.monotonic() + 60
        while not (tmp_path / NAME).exists() or len((tmp_path / NAME).read_bytes().splitlines()) < 5:
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert f"go on with: tapete {shlex.join(arguments)} --resume\n" in told
    assert not (tmp_path / "elo.png").exists()
    done = tapete(*arguments, "--resume")
    assert done.status == 0
    assert (tmp_path / "elo.png").exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        ".lock",
        "elo.png",
        "matches.csv",
        "ratings.csv",
        "tournament.json",
    ]
