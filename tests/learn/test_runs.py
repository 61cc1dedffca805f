"""`tapete runs`, and what `tapete train` shows: curves, pictures, whether a process is at work, damaged folders."""

from __future__ import annotations

import io
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from tapete.arena import learning
from tapete.core import TapeteError, make
from tapete.core.locks import FileLock, is_locked
from tapete.core.plots import check_plots, picture
from tapete.learn.run import Run, read_metrics
from tapete.learn.runs import PastRun, find_runs, main_of
from tapete.solve.examiner import Examiner
from tapete.terminal.training import TrainingScreen
from tests.conftest import Tapete
from tests.learn.test_run import without_pytorch

KUHN = make("kuhn")
KNOBS = ["games=40", "deep_games=0", "measures=2", "measure_games=2", "measure_simulations=5"]
NTUPLE = ["train", "othello(size=4)", *KNOBS, "--with", "ntuple"]
PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Config:
    iterations: int = 4
    rate: float = 0.5


def trained(folder: Path, exploitabilities: list[float], *, learner: str = "counting", save: bool = True) -> Run:
    """A run that logged these, and is still open."""
    run = Run(folder, learner, KUHN, Config())
    run.load()
    for i, exploitability in enumerate(exploitabilities, 1):
        run.log(iteration=i, steps=1000 * i, loss=0.1, exploitability=exploitability)
    if save:
        run.save({})
    return run


def one_line(error: pytest.ExceptionInfo[TapeteError], *words: str) -> None:
    assert "\n" not in str(error.value)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_a_folder_tells_what_its_run_is(tmp_path: Path) -> None:
    run = trained(tmp_path / "one", [0.9, math.nan, 0.3])
    run.log(iteration=3, steps=3500, loss=0.05)  # nobody looked
    past = PastRun.read(tmp_path / "one")
    assert (past.about.learner, past.about.game) == ("counting", "kuhn")
    assert (past.counter, past.last["iteration"], past.total, past.finished) == ("iteration", 3, 4, False)
    curve = past.curve()
    assert (curve.name, curve.over) == ("exploitability", "steps")
    assert curve.points == [(1000, 0.9), (3000, 0.3)], "what is no number is not drawn"
    assert past.curve("loss", "seconds").over == "seconds"
    assert past.at_work
    assert past.resumes
    assert not past.plays
    run.close()
    assert not PastRun.read(tmp_path / "one").at_work


def test_the_main_metric_is_what_tells_most() -> None:
    assert main_of({"iteration": 1, "loss": 0.1, "exploitability": 0.3, "value": 0, "seconds": 1}) == "exploitability"
    assert main_of({"iteration": 1, "loss": 0.1, "against_random": 0.3, "error": 0.1}) == "against_random"
    assert main_of({"games": 1, "error": 0.1, "won": 0.5, "seconds": 1}) == "error"
    assert main_of({"games": 1, "won": 0.5, "seconds": 1}) == "won"
    assert main_of({}) == ""


def test_a_lock_is_seen_without_being_touched(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    assert not path.exists(), "asking makes no file"
    lock = FileLock(path)
    assert is_locked(path)
    with pytest.raises(BlockingIOError):
        FileLock(path)
    lock.release()
    assert not is_locked(path)
    FileLock(path).release()


def test_a_line_that_is_being_written_does_not_count_yet(tmp_path: Path) -> None:
    trained(tmp_path, [0.9, 0.5]).close()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 3, "exploi')
    assert [line["iteration"] for line in read_metrics(tmp_path)] == [1, 2]


@pytest.mark.parametrize("line", ["{", "[1]", '{"loss": "x"}', "[" * 100_000, "\x00", "7"])
def test_damaged_metrics_get_one_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "metrics.jsonl").write_text(f'{{"loss": 1}}\n{line}\n')
    with pytest.raises(TapeteError) as error:
        read_metrics(tmp_path)
    one_line(error, "metrics.jsonl", "line 2")


def test_runs_are_listed_with_what_to_type_next(tmp_path: Path, tapete: Tapete) -> None:
    run = trained(tmp_path / "b", [1.0, 0.3, 0.1])
    trained(tmp_path / "a", [0.8, 0.4]).close()
    (tmp_path / "a" / "network.safetensors").touch()
    trained(tmp_path / "done", [0.8, 0.4, 0.2, 0.1]).close()
    trained(tmp_path / "new", [], save=False).close()
    out = tapete("runs", str(tmp_path)).out.splitlines()
    run.close()
    assert out[0].startswith(f"{tmp_path}/a: counting, kuhn, iteration 2 of 4, ")
    assert out[0].endswith(" s")
    assert "  exploitability 0.8 █▁ 0.4" in out
    assert "  exploitability 1 █▃▁ 0.1" in out
    resumes = f"  go on with: tapete train --run {tmp_path}/{{}} --resume"
    plays = f"  play against it: tapete play kuhn --against {tmp_path}/{{}} --new"
    assert resumes.format("a") in out
    assert plays.format("a") in out
    assert resumes.format("b") not in out, "a process is at work in it"
    assert resumes.format("done") not in out, "it got to its end"
    assert plays.format("b") not in out, "there is no network yet"
    assert [line for line in out if ", at work" in line] == [line for line in out if line.startswith(f"{tmp_path}/b:")]
    assert f"{tmp_path}/new: counting, kuhn, nothing logged yet" in out


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("config.json", "{"),
        ("config.json", '{"format": "run-1", "learner": "a\\u001b[31m", "game": "kuhn", "config": {}}'),
        ("config.json", json.dumps({"format": "run-1", "learner": "x" * 300, "game": "kuhn", "config": {}})),
        ("metrics.jsonl", "nonsense\n"),
        ("checkpoint.safetensors", "alone"),
    ],
)
def test_damaged_folders_are_a_line_and_hide_nothing(tmp_path: Path, tapete: Tapete, file: str, text: str) -> None:
    for name in ("a", "c"):
        trained(tmp_path / name, [0.9]).close()
    damaged = tmp_path / "b"
    if file == "metrics.jsonl":
        trained(damaged, [0.9]).close()
    damaged.mkdir(exist_ok=True)
    (damaged / file).write_text(text)
    (tmp_path / "not a run").mkdir()
    done = tapete("runs", str(tmp_path))
    assert done.status == 0
    assert [line for line in done.out.splitlines() if ": damaged: " in line] == [
        line for line in done.out.splitlines() if line.startswith(f"{damaged}:")
    ]
    assert "\x1b" not in done.out
    plain = json.loads(tapete("runs", str(tmp_path), "--json").out)
    assert [Path(entry["folder"]).name for entry in plain] == ["a", "b", "c"]
    assert ["damaged" in entry for entry in plain] == [False, True, False]


def test_runs_as_json(tmp_path: Path, tapete: Tapete) -> None:
    trained(tmp_path, [0.9, math.inf]).close()
    (entry,) = json.loads(tapete("runs", str(tmp_path), "--json").out)
    assert entry["metrics"]["exploitability"] is None, "JSON knows no infinity"
    assert (entry["counter"], entry["done"], entry["total"], entry["main"]) == ("iteration", 2, 4, "exploitability")
    assert (entry["at_work"], entry["resumes"], entry["plays"]) == (False, True, False)


def test_no_runs_and_no_folder(tmp_path: Path, tapete: Tapete, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = tapete("runs")
    assert done.status == 0
    assert "tapete train" in done.out
    missing = tapete("runs", "nowhere")
    assert (missing.status, missing.err) == (2, "tapete: there is no folder 'nowhere'\n")
    assert list(find_runs(tmp_path)) == []
    wrong = tapete("runs", "--by", "moons")
    assert (wrong.status, wrong.err) == (2, "tapete: --by must be steps or seconds, not 'moons'\n")


@pytest.mark.parametrize("by", ["steps", "seconds"])
def test_curves_of_several_runs_are_drawn(tmp_path: Path, tapete: Tapete, by: str) -> None:
    for name in ("a", "b"):
        trained(tmp_path / name, [0.9, 0.5, math.nan]).close()
    trained(tmp_path / "c", []).close()
    plot = tmp_path / "pictures" / "curves.png"
    assert tapete("runs", str(tmp_path), "--plot", str(plot), "--by", by).status == 0
    assert plot.read_bytes().startswith(PNG)
    assert [path.name for path in plot.parent.iterdir()] == ["curves.png"]


def test_a_picture_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), picture(path, size=(3, 2)) as axis:
        axis.plot([1, 2], [3, 4 / 0])
    assert path.read_bytes() == b"before"
    assert [found.name for found in tmp_path.iterdir()] == ["x.png"]


def test_plots_that_can_not_be_drawn_get_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TapeteError) as error:
        check_plots(tmp_path / "x.jpg")
    one_line(error, "x.jpg", ".png")
    (tmp_path / "d.png").mkdir()
    with pytest.raises(TapeteError, match="it is a folder"):
        check_plots(tmp_path / "d.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TapeteError) as error:
        check_plots(tmp_path / "x.png")
    one_line(error, "pip install 'tapete[plots]'")


def test_a_command_that_can_not_plot_does_not_begin(tmp_path: Path, tapete: Tapete) -> None:
    done = tapete(*NTUPLE, "--run", str(tmp_path / "run"), "--plot", str(tmp_path / "x.txt"))
    assert (done.status, done.err) == (2, f"tapete: a plot is written as PNG: {tmp_path}/x.txt should end in .png\n")
    assert not (tmp_path / "run").exists()


def test_training_draws_its_curves_and_says_what_plays(tmp_path: Path, tapete: Tapete) -> None:
    folder, plot = tmp_path / "run", tmp_path / "run.png"
    done = tapete(*NTUPLE, "--run", str(folder), "--plot", str(plot))
    assert done.status == 0, done.err
    assert plot.read_bytes().startswith(PNG)
    assert done.out.splitlines() == [
        f"play against it: tapete play 'othello(size=4)' --against {folder} --new",
        f"measure it: tapete match 'othello(size=4)' {folder} random",
    ]
    assert "ntuple, othello(size=4), games 40 of 40" in tapete("runs", str(folder)).out


@pytest.mark.parametrize("device", ["banana", "", "meta", "cuda:99"])
def test_a_device_that_is_not_there_gets_one_line(tmp_path: Path, tapete: Tapete, device: str) -> None:
    done = tapete(*NTUPLE, "--run", str(tmp_path / "run"), "--device", device)
    assert done.status == 2
    assert done.err.startswith(f"tapete: PyTorch has no device {device!r} here; it has cpu")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_device_needs_pytorch_only_if_it_is_not_the_processor(tmp_path: Path) -> None:
    refused = without_pytorch(*NTUPLE, "--run", str(tmp_path / "run"), "--device", "cuda")
    assert refused.stderr == "tapete: the device 'cuda' needs PyTorch: pip install 'tapete[learn]'\n"
    assert not (tmp_path / "run").exists()
    assert without_pytorch(*NTUPLE, "--run", str(tmp_path / "run")).returncode == 0


def test_who_never_evaluates_pays_nothing_and_who_does_pays_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def examiner(game: object, **options: int) -> object:
        made.append(str(game))
        return Examiner(game, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(learning, "Examiner", examiner)
    evaluate = learning.evaluation(KUHN)
    assert made == []
    found = [evaluate(lambda seen, mask: mask / mask.sum(axis=1, keepdims=True)) for _ in range(3)]
    assert made == ["kuhn"]
    assert found[0] == found[2]


def test_the_terminal_shows_the_curve(tmp_path: Path) -> None:
    first = trained(tmp_path, [0.9, 0.7])
    first.close()
    text = io.StringIO()
    with TrainingScreen(tmp_path, Console(file=text, force_terminal=True, width=70, height=30)) as screen:
        run = Run(tmp_path, "counting", KUHN, Config(), resume=True, watch=screen)
        run.load()
        run.show("learning", 2, 4)
        run.log(iteration=3, steps=3000, loss=0.1, exploitability=0.25)
        run.show("learning", 3, 4)
        screen.live.refresh()
        run.close()
    shown = text.getvalue()
    assert "exploitability, over steps" in shown
    assert "0.9 ┤" in shown, "the curve begins where the run was begun"
    assert "0.25 ┤" in shown
    assert "exploitability 0.25" in shown
    assert "75%" in shown


def test_where_there_is_no_terminal_there_are_lines(tmp_path: Path) -> None:
    text = io.StringIO()
    with TrainingScreen(tmp_path, Console(file=text)) as screen:
        run = Run(tmp_path, "counting", KUHN, Config(), watch=screen)
        run.load()
        run.log(iteration=1, exploitability=0.25)
        run.show("learning", 1, 4)
        run.show("learning", 2, 4)
        run.close()
    assert text.getvalue() == "  learning  25%  iteration 1  exploitability 0.25\n"
