"""Every command, run for real: its exit status and what it prints."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tapete
from tapete import Record, make
from tests.conftest import Done, Tapete

TAPETE = str(Path(sys.executable).with_name("tapete"))


def run(*arguments: str, stdin: str = "") -> Done:
    """The command as a person starts it."""
    done = subprocess.run([TAPETE, *arguments], input=stdin, capture_output=True, text=True, timeout=300)
    return Done(done.returncode, done.stdout, done.stderr)


def test_games_as_a_table_and_as_json() -> None:
    done = run("games")
    assert (done.status, done.err) == (0, "")
    data = json.loads(run("games", "--json").out)
    assert len(data) >= 17
    for spec in data:
        assert spec["name"].split("(")[0] in done.out
        assert {"title", "players", "actions", "max_actions", "longest", "utility", "zero_sum", "hidden"} <= spec.keys()
        assert make(spec["name"]).spec.to_json() == {**spec, **_tuples(spec)}


def _tuples(spec: dict[str, Any]) -> dict[str, Any]:
    """What JSON makes lists of."""

    def fields(group: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
        return tuple({**field, "shape": tuple(field["shape"])} for field in group)

    return {
        "utility": tuple(spec["utility"]),
        "teams": tuple(spec["teams"]),
        "observations": tuple(map(fields, spec["observations"])),
        "features": fields(spec["features"]),
    }


def test_agents_as_a_table_and_as_json() -> None:
    done = run("agents")
    assert (done.status, done.err) == (0, "")
    rows = json.loads(run("agents", "--json").out)
    assert {"random", "equilibrium"} <= {row["agent"] for row in rows}
    assert all(row["about"] in done.out for row in rows)


def test_levels_of_an_agent_are_introduced_once(tapete: Tapete) -> None:
    rows = json.loads(tapete("agents", "kuhn", "--json").out)
    done = tapete("agents", "kuhn")
    assert [line.split()[0] for line in done.out.splitlines()] == [row["agent"] for row in rows]
    assert all(done.out.count(row["about"]) == 1 for row in rows)


def test_warm_compiles_everything_once(tmp_path: Path) -> None:
    """Here everything is a small game and what the command itself needs; `make test` begins with all there is."""
    script = "import sys; sys.modules['tapete.cli.warm']._modules = lambda: ['tapete.games.matrix.rules']; main()"

    def compiled(*options: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", f"from tapete.cli import main; {script}", "warm", "--json", *options],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert "compiling " in done.stderr or options[1] == "1"  # how many lines are shown is a matter of time
        result = json.loads(done.stdout)
        assert result.keys() == {"compiled", "seconds"}
        return int(result["compiled"])

    assert compiled("--workers", "2") >= 11, "the functions of the contract"
    assert compiled("--workers", "1") == 0


def test_bench_sim_prints_rows() -> None:
    done = run("bench", "sim", "--json", "--case", "kuhn", "--seconds", "0.01")
    rows = json.loads(done.out)
    assert done.status == 0
    assert rows
    assert all(row.keys() == {"bench", "case", "peer", "ours", "theirs", "ratio"} for row in rows)
    assert all(row["bench"] == "sim" and "kuhn" in row["case"] and row["ours"] > 0 for row in rows)


def test_a_tree_is_compared_with_another(tmp_path: Path) -> None:
    """Here with itself: the cases are found in both, and measured in both."""
    root = str(Path(tapete.__file__).parents[1])
    done = run("bench", "compare", root, "--bench", "sim", "--case", "rps", "--slices", "2", "--seconds", "0.001")
    assert (done.status, done.err) == (0, "")
    head, row = done.out.splitlines()
    assert head.split()[0] == "case"
    assert row.startswith("sim matrix rps, games ")
    old, new, ratio, low, _, high = row.replace(",", "").split()[4:]
    assert int(old) > 0
    assert int(new) > 0
    assert float(low) <= float(ratio) <= float(high)
    done = run("bench", "compare", str(tmp_path))
    assert done.status != 0
    assert "no tree of this package" in done.err


def test_solve_and_play_against_the_solution(home: Path) -> None:
    done = run("solve", "kuhn", "--json", "--until", "0.5%")
    result = json.loads(done.out)
    assert (done.status, done.err) == (0, "")
    assert result["exploitability"] <= 0.005
    assert result["lower"] <= -1 / 18 <= result["upper"]
    assert list((home / "data").rglob("kuhn*"))
    assert run("play", "kuhn", "--against", "equilibrium", stdin="1\n1\n").status == 0


@pytest.mark.parametrize("game", ["truco", "doudizhu", "othello(size=4)"])
def test_a_whole_game_through_a_pipe(game: str, home: Path) -> None:
    done = run("play", game, "--seed", "1", "--level", "1", stdin="1\n" * 2000)
    assert (done.status, done.err) == (0, "")
    assert "the end" in done.out
    assert " won: " in done.out or "a draw: " in done.out
    assert not list((home / "state").rglob("*.*")), "nothing is left of a game that was played to its end"


def test_a_game_is_left_and_continued(home: Path) -> None:
    left = run("play", "truco", "--seed", "5", "--level", "1", stdin="1\n1\nq\n")
    assert left.status == 0
    assert "saved; `tapete play 'truco'` goes on from here" in left.out
    (path,) = (home / "state").rglob("*.json")
    before = path.read_text()
    table = left.out[left.out.rindex("Truco") : left.out.rindex("your move")]
    again = run("play", "truco", stdin="")
    assert again.status == 0
    assert table in again.out, "the same table, and what was said last"
    assert path.read_text() == before
    assert run("play", "truco", stdin="1\n" * 2000).status == 0
    assert not path.exists()


def test_a_saved_game_is_not_taken_for_another_one(tapete: Tapete, home: Path) -> None:
    assert tapete("play", "kuhn", "--seed", "5", stdin="q\n").status == 0
    (path,) = (home / "state").rglob("*.json")
    before = path.read_text()
    for other in (["--against", "person"], ["--seat", "1"], ["--seed", "6"], ["--level", "2"]):
        done = tapete("play", "kuhn", *other)
        assert (done.status, done.out) == (2, "")
        assert "--new begins anew" in done.err
        assert path.read_text() == before
    same = tapete("play", "kuhn", "--seed", "5", "--against", "best", "--seat", "0", stdin="q\n")
    assert "going on with the game" in same.out
    new = tapete("play", "kuhn", "--new", "--seat", "1", stdin="q\n")
    assert "going on" not in new.out
    assert Record.from_json(json.loads(path.read_text())["record"]).seats == ("best", "person")


def test_levels_are_those_of_the_usual_opponent(tapete: Tapete) -> None:
    assert "best(2)" in tapete("play", "othello", "--level", "2", stdin="q\n").out
    done = tapete("play", "othello", "--new", "--level", "2", "--against", "random")
    assert (done.status, "leave out --level" in done.err) == (2, True)
    assert tapete("play", "othello", "--new", "--level", "6").status == 2


def test_the_same_seed_gives_the_same_game(tapete: Tapete) -> None:
    one, two, three = (
        tapete("play", "truco", "--new", "--level", "3", "--seed", seed, stdin="1\n" * 9) for seed in "112"
    )
    assert one.out == two.out != three.out


def test_play_asks_for_a_game_until_it_gets_one(tapete: Tapete) -> None:
    done = tapete("play", stdin="99\nchess\nkuhn\nq\n")
    assert done.status == 0
    assert "there is no game 'chess'" in done.out
    assert "Kuhn poker" in done.out
    assert "(left in the middle)" in tapete("play", stdin="1\nq\n").out
    done = tapete("play", stdin="")
    assert done.status == 2
    assert done.err == "tapete: no game was chosen; write it as in: tapete play truco\n"


def test_names_from_a_file_are_shown_as_they_are(tapete: Tapete, tmp_path: Path) -> None:
    """Neither brackets, which mean colours to the library that prints, nor names that are numbers confuse anybody."""
    path = tmp_path / "[bold].json"
    path.write_text('{"rows": ["[/red]", "1"], "columns": ["[b]", ":x"], "payoffs": [[1, 2], [3, 4]]}')
    refused = tapete("play", f"matrix({path})")
    assert (refused.status, "colon" in refused.err) == (2, True)
    path.write_text('{"rows": ["[/red]", "1"], "columns": ["[b]", "0"], "payoffs": [[1, 2], [3, 4]]}')
    left = tapete("play", f"matrix({path})", stdin="q\n")
    assert "#1 [/red]   #2 1" in left.out
    assert f"`tapete play 'matrix({path})'` goes on" in left.out
    done = tapete("play", f"matrix({path})", stdin="1\n")
    assert (done.status, done.err) == (0, "")
    assert "you: 1   best: " in done.out


def test_on_a_terminal_another_game_is_offered() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(TAPETE, [TAPETE, "play", "rps", "--seed", "1"])
    seen = ""
    for wait, answer in (("your move", "1"), ("another game?", ""), ("your move", "2"), ("another game?", "q")):
        while wait not in seen:
            seen += os.read(terminal, 10_000).decode()
        seen = seen[seen.index(wait) + len(wait) :]
        os.write(terminal, f"{answer}\n".encode())
    while chunk := _read(terminal):
        seen += chunk
    assert os.waitpid(pid, 0)[1] == 0


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 10_000).decode()
    except OSError:  # so a terminal ends
        return ""


def test_output_that_nobody_reads_to_the_end_is_no_error() -> None:
    done = subprocess.run(
        f"'{TAPETE}' games --json | head -c 1", shell=True, capture_output=True, text=True, timeout=300
    )
    assert (done.stdout, done.stderr) == ("[", "")


def test_signs_that_the_terminal_lacks_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = run("play", "leduc", stdin="x\nq\n")
    assert (done.status, done.err) == (0, "")
    assert "your move" in done.out


@pytest.mark.parametrize(
    "command", [[], ["games"], ["agents"], ["play"], ["warm"], ["solve"], ["bench"], ["bench", "sim"]]
)
def test_every_command_explains_itself(command: list[str], tapete: Tapete) -> None:
    done = tapete(*command, "--help")
    assert (done.status, done.err) == (0, "")
    assert "Usage" in done.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["bench", "sim", "--nosuch"], "No such option: --nosuch; `tapete bench sim --help` tells how it goes"),
        (["match", "kuhn"], "Missing argument 'a'; `tapete match --help` tells how it goes"),
        (["train", "leducc"], "there is no game 'leducc'; did you mean 'leduc'?"),
        (
            ["train", "leduc"],
            "which learner? `tapete train` lists them; write it as in: tapete train 'leduc' --with ppo",
        ),
        (["exploit", "leduc", "random", "--rough"], "--rough is for --local, where nobody learns"),
    ],
)
def test_what_is_missing_is_said(arguments: list[str], complaint: str, tapete: Tapete) -> None:
    assert tapete(*arguments) == (2, "", f"tapete: {complaint}\n")


def test_no_runs_are_not_drawn(tapete: Tapete, tmp_path: Path) -> None:
    done = tapete("runs", str(tmp_path), "--plot", str(tmp_path / "none.png"), "--tensorboard", str(tmp_path / "none"))
    assert done == (0, "there are no runs here; one begins with: tapete train kuhn --with ppo\n", "")
    assert not list(tmp_path.iterdir())
