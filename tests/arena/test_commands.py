"""`tapete match` and `tapete tournament`: what they print and write, and what they refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from tapete import arena
from tapete.arena import matches
from tapete.core import Record
from tests.conftest import Tapete


def test_a_match_in_words_and_as_json(tapete: Tapete) -> None:
    done = tapete("match", "leduc", "equilibrium", "random", "-n", "39", "--seed", "3")
    assert (done.status, done.err) == (0, "")
    data = json.loads(tapete("match", "leduc", "equilibrium", "random", "-n", "39", "--seed", "3", "--json").out)
    assert data["games"] == data["wins"] + data["draws"] + data["losses"] == 40
    assert data["interval"][0] <= data["win_share"] <= data["interval"][1]
    assert data["mean_interval"][0] <= data["mean"] <= data["mean_interval"][1]
    assert 0 < data["p"] <= 1
    assert "leduc: equilibrium against random, 40 games on 20 deals" in done.out
    assert f"{100 * data['win_share']:.1f} %" in done.out
    assert f"{data['wins']} won, {data['draws']} drawn, {data['losses']} lost" in done.out


def test_one_deal_is_one(tapete: Tapete) -> None:
    assert tapete("match", "kuhn", "random", "random", "-n", "2").out.startswith(
        "kuhn: random against random, 2 games on 1 deal\n"
    )


def test_repeated_games_are_told_with_what_to_do(tapete: Tapete, tmp_path: Path) -> None:
    """In words, as data, and for every match of a tournament."""
    command = ("othello", "zero(2)", "ntuple(2)", "-n", "6")
    done = tapete("match", *command)
    assert "2 different\n" in done.out
    assert "only 1 of 3 deals differ" in done.out
    assert "--openings 8" in done.out
    data = json.loads(tapete("match", *command, "--json").out)
    assert (data["different"], data["independent"], len(data["warnings"])) == (2, 1, 1)
    done = tapete("tournament", *command, "--out", str(tmp_path))
    assert "mind, zero(2) - ntuple(2): only 1 of 3 deals differ" in done.out
    with (tmp_path / "matches.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["different"], row["independent"]) == ("2", "1")
    assert "mind" not in tapete("match", *command, "--openings", "8").out


def test_payoffs_less_luck_are_told_where_they_are_asked_for(tapete: Tapete) -> None:
    command = ("match", "leduc", "equilibrium", "random", "-n", "20", "--luck", "equilibrium")
    done, data = tapete(*command), json.loads(tapete(*command, "--json").out)
    low, high = data["corrected_interval"]
    assert low < data["corrected_mean"] < high
    assert f"less luck         {data['corrected_mean']:+.4g}, 95 % interval {low:+.4g} to {high:+.4g}" in done.out
    plain = json.loads(tapete(*command[:-2], "--json").out)
    assert {key for key in data if key not in plain} == {"corrected_mean", "corrected_interval"}
    assert plain["mean"] == data["mean"]


def test_the_calibration_is_a_table_or_data(tapete: Tapete) -> None:
    done = tapete("bench", "calibration", "--case", "paid +1 at 0.95", "--repeats", "4")
    lines = done.out.splitlines()
    assert [line.count("|") for line in lines] == [10] * 7
    assert [line.split("|")[2].strip() for line in lines[2:]] == ["10", "20", "50", "100", "500"]
    data = json.loads(tapete("bench", "calibration", "--case", "paid +1 at 0.95", "--repeats", "4", "--json").out)
    assert lines[2].split("|")[3].strip() == f"{100 * data[0]['coverage']:.1f}"


def test_the_library_and_the_command_agree(tapete: Tapete) -> None:
    out = tapete("match", "othello", "random", "mcts(20)", "-n", "6", "--openings", "4", "--seed", "9", "--json").out
    result = arena.match("othello", "random", "mcts(20)", games=6, openings=4, seed=9).to_json()
    assert {**json.loads(out), "milliseconds": 0} == {**result, "milliseconds": 0}


def test_workers_change_nothing(tapete: Tapete, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "QUICK", 0.0)
    command = ("match", "othello", "mcts(40)", "mcts(2)", "-n", "8", "--json")
    alone, together = (json.loads(tapete(*command, "--workers", workers).out) for workers in "12")
    assert {**alone, "milliseconds": 0} == {**together, "milliseconds": 0}
    assert alone["wins"] != alone["losses"]


def test_a_match_is_written_with_all_its_games(tapete: Tapete, tmp_path: Path) -> None:
    path = tmp_path / "new" / "match.json"
    done = tapete("match", "doudizhu", "random", "random", "-n", "6", "--lineups", "ABB,BAA", "--out", str(path))
    assert done.status == 0
    data = json.loads(path.read_text())
    records = [Record.from_json(record) for record in data["records"]]
    assert len(records) == data["games"] == 6
    assert all(record.replay().over for record in records)


def test_a_tournament_in_a_table_and_in_files(tapete: Tapete, tmp_path: Path) -> None:
    agents = ("random", "mcts(5)", "mcts(60)")
    done = tapete("tournament", "othello", *agents, "-n", "12", "--out", str(tmp_path / "out"))
    assert (done.status, done.err) == (0, "")
    data = json.loads((tmp_path / "out" / "tournament.json").read_text())
    order = [row["agent"] for row in data["ratings"]]
    assert sorted(order) == sorted(agents)
    assert order[0] == "mcts(60)"
    assert sum(row["points"] for row in data["ratings"]) == sum(one["games"] for one in data["matches"]) == 36
    assert sum(row["elo"] for row in data["ratings"]) == pytest.approx(0, abs=1e-6)
    assert sum(row["difference"] for row in data["ratings"]) == pytest.approx(0, abs=1e-9)
    positions = [done.out.index(f" {agent} ") for agent in order]
    assert positions == sorted(positions), "the strongest stands on top"
    assert (tmp_path / "out" / "elo.png").read_bytes().startswith(b"\x89PNG")
    _check_tables(tmp_path / "out", data)


def _check_tables(folder: Path, data: dict[str, list[dict[str, object]]]) -> None:
    with (folder / "ratings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["agent"] for row in rows] == [row["agent"] for row in data["ratings"]]
    for row in rows:
        assert float(row["low"]) < float(row["elo"]) < float(row["high"])
        for other in rows:
            if row is not other:
                assert float(row[other["agent"]]) + float(other[row["agent"]]) == pytest.approx(1)
    with (folder / "matches.csv").open(newline="") as file:
        pairs = [(row["a"], row["b"], float(row["win_share"])) for row in csv.DictReader(file)]
    assert pairs == [(*one["agents"], one["win_share"]) for one in data["matches"]]  # type: ignore[misc]
    by_agent = {row["agent"]: row for row in rows}
    for a, b, share in pairs:
        assert (float(by_agent[a][b]), float(by_agent[b][a])) == pytest.approx((share, 1 - share))


def test_a_tournament_is_its_matches(tapete: Tapete) -> None:
    data = json.loads(tapete("tournament", "leduc", "equilibrium", "random", "-n", "20", "--seed", "4", "--json").out)
    alone = json.loads(tapete("match", "leduc", "equilibrium", "random", "-n", "20", "--seed", "4", "--json").out)
    assert data["matches"] == [{**alone, "milliseconds": data["matches"][0]["milliseconds"]}]


@pytest.mark.parametrize(
    ("game", "agent", "options", "given"),
    [
        (
            "othello(4)",
            "mcts(3)",
            {"games": 4, "openings": 3, "seed": 5},
            ["-n", "4", "--openings", "3", "--seed", "5"],
        ),
        ("doudizhu", "ismcts(3)", {"games": 3, "lineups": ["ABB", "BAA"]}, ["--games", "3", "--lineups", "ABB, BAA"]),
    ],
)
def test_options_mean_the_same_in_both_commands(
    tapete: Tapete, game: str, agent: str, options: Any, given: list[str]
) -> None:
    alone = arena.match(game, "random", agent, **options).to_json()
    for command in ("match", "tournament"):
        data = json.loads(tapete(command, game, "random", agent, *given, "--json").out)
        (found,) = data.get("matches", [data])
        assert {**found, "milliseconds": 0} == {**alone, "milliseconds": 0}, command


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("match", "kuhn", "random"), "Missing argument 'b'"),
        (("match", "chess", "random", "random"), "there is no game 'chess'"),
        (("match", "kuhn", "random", "randon"), "did you mean 'random'?"),
        (
            ("match", "kuhn", "random", "random", "-n", "-4"),
            "'-n' / '--games': Input should be greater than or equal to 1",
        ),
        (("match", "kuhn", "random", "random", "-n", "9" * 20), "keeps all its games, and has 10,000,000 at most"),
        (
            ("tournament", "kuhn", "random", "equilibrium", "-n", "9" * 20, "--out", "nothing-is-begun"),
            "keeps all its games, and has 10,000,000 at most",
        ),
        (("equity", "truco", "--check", "9" * 20), "'--check': Input should be less than or equal to 10000000"),
        (("exploit", "kuhn", "random", "-n", "9" * 20), "'--games': Input should be less than or equal to 100000000"),
        (("match", "kuhn", "random", "random", "-n", "many"), "'-n' / '--games': Input should be a valid integer"),
        (("match", "kuhn", "random", "random", "--workers", "0"), "'--workers': Input should be greater"),
        (("match", "kuhn", "random", "random", "--openings", "-1"), "'--openings': Input should be greater"),
        (("match", "kuhn", "random", "random", "--lineups", "AB,AB"), "seat 0 is not shared out evenly"),
        (("match", "kuhn", "random", "random", "--lineups", "AB,,BA"), "'' doesn't seat A and B"),
        (
            ("match", "kuhn", "random", "random", "--luck", "hope"),
            "there is no value 'hope'; luck is judged by playouts",
        ),
        (("match", "kuhn", "random", "random", "--luck", "playouts(0)"), "times must be between 1 and"),
        (("match", "truco", "random", "random", "--luck", "equilibrium"), "no equilibrium of truco is known"),
        (("match", "truco", "equilibrium", "random"), "no equilibrium of truco is known"),
        (
            ("match", "kuhn", "random", "random", "--out", "/proc/none/match.json"),
            "can't write /proc/none/match.json: No such",
        ),
        (("match", "kuhn", "random", "random", "--out", "/"), "can't write /: it is a folder"),
        (("tournament", "kuhn"), "Missing argument 'agents'"),
        (("tournament", "kuhn", "random"), "a tournament needs two agents or more"),
        (("tournament", "kuhn", "random", "random"), "random is in the tournament twice"),
        (("tournament", "kuhn", "random", "equilibrium", "nobody"), "there is no agent 'nobody'"),
        (
            ("tournament", "kuhn", "random", "equilibrium", "--out", "/proc/none"),
            "can't write /proc/none/tournament.json",
        ),
    ],
)
def test_wrong_input_gets_one_line(tapete: Tapete, arguments: tuple[str, ...], complaint: str) -> None:
    done = tapete(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("tapete: ")
    assert complaint in done.err
    assert done.err.count("\n") == 1
    assert not Path("nothing-is-begun").exists()


def test_ctrl_c_gets_one_line(tapete: Tapete, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "update", interrupt)
    done = tapete("match", "kuhn", "random", "random", "-n", "100000")
    assert (done.status, done.out, done.err) == (130, "", "tapete: stopped\n")
