"""A run lives in one folder, and goes on from there after it was stopped, however it was stopped.

==========================  ==========================================================================================
``config.json``             what is learned, by which learner, with which knobs and versions, and from which network the
                            run began, if from any; written once
``metrics.jsonl``           a line of numbers now and then
``checkpoint.safetensors``  all that the learner remembers: weights, optimiser, data, counters; replaced as a whole
``checkpoint-1.safe...``    the one before it, and so on, as many as are kept; used where the newest is damaged
``network.safetensors``     what plays
==========================  ==========================================================================================

A learner's function ``train(game, config, run)`` begins with ``run.open(...)`` and ends with
``network.save(run.network)``. A run that was killed and
resumed gives the same network, bit by bit, as one that was not, if the learner does this: every random stream is named
by the seed and by how far the run is (``Rng(seed, "epoch", 3)``), or its words are in the checkpoint, and so is
everything else that carries over from one step to the next. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import count, pairwise
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.errors import TapeteError
from tapete.core.files import read_text, replacing, sync
from tapete.core.game import Game
from tapete.core.locks import FileLock
from tapete.core.thought import AnyPolicy
from tapete.scale import Executor, Local

CONFIG = "run-1"
CHECKPOINT = "learn-checkpoint-1"
EVERY = 30.0  # seconds between checkpoints
KEEP = 2  # checkpoints
MOST_KEPT = 1000
LONGEST_CONFIG = 1 << 16  # bytes
LONGEST_METRICS = 1 << 28
LOCK = ".lock"  # the file by which a process claims a folder
PACKAGES = ("tapete", "numpy", "numba", "torch")  # whose versions are noted


class Files(NamedTuple):
    """What the files of a run are called."""

    config: str = "config.json"
    metrics: str = "metrics.jsonl"
    checkpoint: str = "checkpoint.safetensors"
    network: str = "network.safetensors"


FILES = Files()


@dataclass(frozen=True)
class Progress:
    """Where a run is."""

    stage: str  # what it does now, in a word or three
    done: float
    total: float  # what `done` will be at the end of the run; inf where nobody knows
    metrics: Mapping[str, float] = field(default_factory=dict)  # the last that were logged


Watch = Callable[[Progress], None]

Tell = Callable[[Sequence[int], Sequence[str]], None]  # takes the actions of a game, and who sat where

Evaluate = Callable[[AnyPolicy], Mapping[str, float]]  # says how good a policy is, in numbers by name


@dataclass(frozen=True)
class Description:
    """What `config.json` tells of a run."""

    learner: str
    game: str
    config: dict[str, Any]
    versions: dict[str, str]
    source: str = ""  # the file of the network from which the run began

    @classmethod
    def read(cls, folder: Path) -> Description:
        """Reads and checks the file of a folder."""
        path = folder / FILES.config
        try:
            data = json.loads(read_text(path, LONGEST_CONFIG))
        except (ValueError, RecursionError):
            raise TapeteError(f"{path} is damaged: it is not JSON") from None
        texts = ("learner", "game")
        if not isinstance(data, dict) or data.get("format") != CONFIG:
            raise TapeteError(f"{path} has not the format {CONFIG!r}")
        if not all(isinstance(data.get(key), str) for key in texts) or not isinstance(data.get("config"), dict):
            raise TapeteError(f"{path} is damaged: learner, game or config is missing")
        versions, source = data.get("versions"), data.get("source", "")
        if not isinstance(source, str):
            raise TapeteError(f"{path} is damaged: source is not the name of a file")
        return cls(
            data["learner"], data["game"], data["config"], versions if isinstance(versions, dict) else {}, source
        )

    def write(self, folder: Path) -> None:
        """Writes the file, all of it or nothing."""
        with replacing(folder / FILES.config) as draft:
            draft.write_text(json.dumps({"format": CONFIG, **asdict(self)}, indent=2) + "\n")


@dataclass(frozen=True)
class Checkpoint:
    """What a learner remembered. Whoever takes something out says what it has to look like."""

    path: Path
    arrays: dict[str, NDArray[Any]]
    notes: dict[str, Any]

    def take(self, name: str, kind: Any, *shape: int | None) -> NDArray[Any]:
        """An array of that type and shape (None: any length), without a NaN or an infinity in it."""
        array = self.arrays.get(name)
        if array is None or array.dtype != np.dtype(kind) or array.ndim != len(shape):
            raise self.misfit(name)
        if any(want not in (None, have) for want, have in zip(shape, array.shape, strict=True)):
            raise self.misfit(name)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self.misfit(name)
        return array

    def fill(self, name: str, mine: NDArray[Any]) -> None:
        """Copies an array over one of the same type and shape."""
        mine[...] = self.take(name, mine.dtype, *mine.shape)

    def count(self, name: str, most: int = 2**62) -> int:
        """A whole number from 0 to `most`."""
        number = self.notes.get(name)
        if not isinstance(number, int) or not 0 <= number <= most:
            raise self.misfit(name)
        return number

    def misfit(self, name: str) -> TapeteError:
        """What is raised where something is missing or wrong."""
        return TapeteError(f"{self.path} does not fit this run: {name} is wrong; delete it to begin anew")


class Run:
    """The folder of a run, and the terms on which it runs: how long, on how many cores, who watches."""

    def __init__(
        self,
        folder: str | Path,
        learner: str,
        game: Game,
        config: Any,
        *,
        resume: bool = False,
        source: Path | None = None,
        seconds: float = math.inf,
        threads: int = 1,
        executor: Executor | None = None,
        device: str = "cpu",
        every: float = EVERY,
        keep: int = KEEP,
        say: Callable[[str], None] = lambda line: None,
        evaluate: Evaluate = lambda policy: {},
        watch: Watch = lambda progress: None,
        stop: Event | None = None,
        tell: Tell | None = None,
        tell_all: bool = False,
    ) -> None:
        """For a new run or, where `resume` is set, one that was begun before. Nothing is written until `load`.

        :param source: the file of a network from whose weights a new run begins.
        :param executor: where games are played by learners that hand them out; without it, threads of this process.
        :param device: where PyTorch computes, for learners that use it.
        :param keep: how many checkpoints there are at most, the newest ones.
        :param say: is told in a line what somebody should know who resumes: damage, or other versions.
        :param evaluate: says how good what was learned is; the time that it takes is not the run's.
        :param stop: when it is set, the run saves itself and stops as soon as it can.
        :param tell: is told games of the run, by learners that have `TELLS_GAMES`: those of what plays at the end, or
            where `tell_all` is set all that are played.
        """
        self.folder = Path(folder)
        self.threads = threads
        self.executor = executor or Local(threads)
        self.device = device
        self.every = every  # seconds between checkpoints
        self.keep, self.say = keep, say
        self.watch = watch
        self.tell, self.tell_all = tell, tell_all
        self.metrics: dict[str, float] = {}  # the last that were logged
        self._evaluate = evaluate
        self._limit = seconds
        self._before = 0.0  # seconds that the run took before it was resumed
        self._evaluating = 0.0  # seconds that were spent on finding out how good it is
        self._began = self._saved = time.monotonic()
        self._stop = stop or Event()
        self._lock: FileLock | None = None
        self._begun = False  # with the weights of a network
        begun_from = str(source.absolute()) if source else ""
        self._description = Description(learner, str(game), asdict(config), _versions(), begun_from)
        if (self.folder / FILES.config).exists():
            if not resume:
                raise TapeteError(f"there is a run in {self.folder} already; --resume goes on with it")
            known = Description.read(self.folder)
            usual = {knob.name: knob.default for knob in fields(config)}  # of a knob that is newer than the run
            _compare(replace(known, config=usual | known.config), self._description, self.folder)
            if changed := _changed(known.versions, self._description.versions):
                say(f"the run in {self.folder} was begun with {changed}: it may not end as it would have")
            self._description = known

    def _claim(self) -> None:
        """Makes the folder ours, so that no two runs write into it; the lock ends with the process."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / LOCK)
            if not (self.folder / FILES.config).exists():
                self._description.write(self.folder)
        except BlockingIOError:
            raise TapeteError(f"another process is at work in {self.folder}") from None
        except OSError as error:
            raise TapeteError(f"can't write to {self.folder}: {error.strerror}") from None

    def close(self) -> None:
        """Lets others have the folder."""
        if self._lock:
            self._lock.release()

    @property
    def network(self) -> Path:
        """The file that plays."""
        return self.folder / FILES.network

    @property
    def _metrics(self) -> Path:
        return self.folder / FILES.metrics

    @property
    def _checkpoint(self) -> Path:
        return self.folder / FILES.checkpoint

    @property
    def _checkpoints(self) -> list[Path]:
        """Those that there are, the newest first."""
        older = [self._checkpoint.with_stem(f"{self._checkpoint.stem}-{i}") for i in range(1, MOST_KEPT)]
        return [path for path in (self._checkpoint, *older) if path.exists()]

    @property
    def seconds(self) -> float:
        """How long the run has taken, all its parts together, without evaluation."""
        return self._before + time.monotonic() - self._began - self._evaluating

    @property
    def out_of_time(self) -> bool:
        """Whether the run should save itself and stop. The limit is for this part of it."""
        return self._stop.is_set() or time.monotonic() - self._began >= self._limit

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() - self._saved >= self.every or self.out_of_time

    def open(self, restore: Callable[[Checkpoint], None], begin: Callable[[Path], None] | None = None) -> None:
        """Opens the folder, and puts a learner where the run was stopped, or at the weights from which it begins.

        :param restore: takes what was remembered.
        :param begin: takes the weights of a network's file, or refuses it; None where a learner has no use for them.
        """
        if begin and self._begins_from_a_network:
            begin(Path(self._description.source))  # before anything is written
            self._begun = True
        if checkpoint := self.load():
            restore(checkpoint)

    @property
    def _begins_from_a_network(self) -> bool:
        """Whether it should begin with the weights of a network, and has not done so yet."""
        return bool(self._description.source) and not self._begun and not self._checkpoints

    def load(self) -> Checkpoint | None:
        """Opens the folder: what was remembered last, or None at the beginning. Later metrics are forgotten."""
        if self._begins_from_a_network:
            learner = self._description.learner
            raise TapeteError(f"{learner} can't begin from a network: what it learns from is not in the file")
        self._claim()
        if not self._checkpoints:
            self._metrics.write_bytes(b"")
            return None
        checkpoint = self._newest()
        os.truncate(self._metrics, checkpoint.count("metrics_length"))
        self._before = checkpoint.notes["seconds"]
        return checkpoint

    def _newest(self) -> Checkpoint:
        """The newest checkpoint that is whole. Damaged ones are put aside, so that nothing ever replaces them."""
        damaged: list[tuple[Path, TapeteError]] = []
        for path in self._checkpoints:
            try:
                found = self._read(path)
            except TapeteError as error:
                damaged.append((path, error))
                continue
            for other, why in damaged:
                other.rename(_free(other.with_suffix(".damaged")))
                self.say(f"{why}; the run goes on from {path.name}, and the other is put aside")
            return found
        raise damaged[0][1]

    def _read(self, path: Path) -> Checkpoint:
        arrays, header = read_arrays(path, CHECKPOINT)
        if header.get("sha256") != _digest(arrays):  # bytes of states go to compiled code, which trusts them
            raise TapeteError(f"{path} is damaged: its numbers are not those that were saved")
        notes = header.get("notes")
        checkpoint = Checkpoint(path, arrays, notes if isinstance(notes, dict) else {})
        length, seconds = checkpoint.count("metrics_length"), checkpoint.notes.get("seconds")
        if not isinstance(seconds, float) or not 0 <= seconds < math.inf:
            raise checkpoint.misfit("seconds")
        if not self._metrics.is_file() or self._metrics.stat().st_size < length:
            raise checkpoint.misfit("the length of metrics.jsonl")
        return checkpoint

    def save(self, arrays: Mapping[str, NDArray[Any]], **notes: float) -> None:
        """Remembers all this, and what was remembered before stays as the one before."""
        kept = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        sync(self._metrics)  # or a crash of the machine might leave fewer lines than the checkpoint tells of
        length = self._metrics.stat().st_size
        notes = {**notes, "metrics_length": length, "seconds": self.seconds}
        with self._making_room():
            write_arrays(self._checkpoint, kept, {"format": CHECKPOINT, "sha256": _digest(kept), "notes": notes})
        self._saved = time.monotonic()

    @contextmanager
    def _making_room(self) -> Iterator[None]:
        """Keeps the newest checkpoint under a second name while its own gets another file; then older ones move on."""
        spare = self.folder / f".{FILES.checkpoint}.before"
        spare.unlink(missing_ok=True)
        if self.keep > 1 and self._checkpoint.exists():
            _second_name(self._checkpoint, spare)
        yield
        if spare.exists():
            names = [self._checkpoint.with_stem(f"{self._checkpoint.stem}-{i}") for i in range(1, self.keep)]
            for newer, older in reversed([*pairwise(names)]):
                if newer.exists():
                    os.replace(newer, older)
            os.replace(spare, names[0])

    def log(self, **metrics: float) -> None:
        """Appends a line of numbers, first the one that tells how far the run is, and how many seconds it has taken."""
        self.metrics = metrics
        with self._metrics.open("a") as file:
            file.write(json.dumps({**metrics, "seconds": round(self.seconds, 3)}) + "\n")

    def evaluate(self, policy: AnyPolicy) -> dict[str, float]:
        """How good a policy is, as the caller of the run measures it."""
        began = time.monotonic()
        found = dict(self._evaluate(policy))
        self._evaluating += time.monotonic() - began
        return found

    def show(self, stage: str, done: float, total: float) -> None:
        """Tells who watches where the run is."""
        self.watch(Progress(stage, done, total, self.metrics))


def networks_in(text: str) -> list[Path]:
    """Files that play, with + between them, each named by itself or by the folder of its run."""
    paths = [Path(part.strip()) for part in text.split("+") if part.strip()]
    return [path / FILES.network if path.is_dir() else path for path in paths]


def read_metrics(folder: Path) -> list[dict[str, float]]:
    """The lines that a run has logged so far. One that is being written at this moment does not count yet."""
    path = folder / FILES.metrics
    *whole, _ = read_text(path, LONGEST_METRICS).split("\n")
    lines: list[dict[str, float]] = []
    for number, text in enumerate(whole, 1):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict) or not all(isinstance(value, int | float) for value in line.values()):
            raise TapeteError(f"{path} is damaged: line {number} is not one of numbers by name")
        lines.append(line)
    return lines


def _compare(known: Description, mine: Description, folder: Path) -> None:
    """A run goes on as it was begun."""
    if (known.learner, known.game) != (mine.learner, mine.game):
        raise TapeteError(
            f"the run in {folder} is {known.game} with {known.learner}, not {mine.game} with {mine.learner}"
        )
    for key in known.config.keys() | mine.config.keys():
        have, want = known.config.get(key), mine.config.get(key)
        if have != want:
            raise TapeteError(f"the run in {folder} has {key}={have}, not {key}={want}; a run keeps its knobs")
    if mine.source not in ("", known.source):
        raise TapeteError(f"the run in {folder} has begun already, and not from {mine.source}")


def _second_name(path: Path, other: Path) -> None:
    """A file under another name too; a copy, where file systems know no second names."""
    try:
        os.link(path, other)
    except OSError:
        shutil.copy(path, other)


def _free(path: Path) -> Path:
    """The path, or where there is something already the same with a number."""
    return next(name for i in count() if not (name := path.with_name(path.name + (f"-{i}" if i else ""))).exists())


def _changed(before: Mapping[str, Any], now: Mapping[str, str]) -> str:
    """Versions that are not the same, in words."""
    return ", ".join(f"{name} {was}, not {now[name]}" for name, was in before.items() if now.get(name, was) != was)


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """What tells arrays apart from those with a bit turned over."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).view(np.uint8).data)
    return digest.hexdigest()


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
