"""From a game to a proven strategy: chooses how to solve it, runs, proves, saves, and goes on where it stopped."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tapete import shipped
from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.errors import TapeteError
from tapete.core.files import version_of
from tapete.core.game import Game
from tapete.core.names import make
from tapete.core.rounds import Exit, first_round
from tapete.solve.cfr import CFR
from tapete.solve.public_tree import PublicTree, private_deals
from tapete.solve.response import Proof
from tapete.solve.schemes import SCHEMES, scheme
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.strategy import Strategy
from tapete.solve.vector_cfr import VectorCFR

DEFAULT = "dcfr"  # the one that is first at 0.1 % on most games: docs/solving.md has the measurement
SMALL = 64  # pairs of hands; up to this the sequence form is faster than vectors
CHECKPOINT = "checkpoint-1"
KEPT = 2 * 10**9  # bytes of tables; a solution of a larger run is written only where a place for it is given
EVERY = 120.0  # seconds between checkpoints
SHARE = 0.2  # of the exploitability allowed, this much is left to the games that follow a round


class Engine(Protocol):
    """A run of some algorithm over some form of a game."""

    iterations: int

    def run(self, iterations: int) -> None:
        """So many more iterations."""

    def prove(self) -> Proof:
        """The value and both best responses."""

    def table(self, **about: Any) -> Strategy:
        """The strategy so far."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it remembers."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run is, and at its end what came out of it."""

    game: str
    algorithm: str
    iterations: int
    seconds: float
    proof: Proof
    histories: int
    information_sets: int
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """Plain data, for `tapete solve --json` and the header of a file."""
        data = asdict(self)
        del data["proof"], data["bytes"]
        return {
            **data,
            "seconds": round(self.seconds, 3),
            "exploitability": self.proof.exploitability,
            "exploitability_percent": 100 * self.proof.exploitability,
            "value": self.proof.value,
            "lower": self.proof.lower,
            "upper": self.proof.upper,
        }


Watcher = Callable[[Progress], None]


def solve(
    game: Game,
    *,
    algorithm: str = DEFAULT,
    until: float = 1e-3,
    seconds: float = math.inf,
    iterations: int = 10**9,
    threads: int = 2,
    save: Path | None = None,
    folder: Path | None = None,
    resume: bool = False,
    checkpoint_every: float = EVERY,
    watch: Watcher = lambda progress: None,
) -> tuple[Progress, Strategy | None]:
    """Solves a two-player zero-sum game until its exploitability is small enough, or time or iterations run out.

    A game that is played in rounds is solved from its last rounds to its first. Solutions are kept in the folder, which
    is the user's store unless another one is given; `save` is another place for the game itself. A very large solution
    is not written, and None comes back for it, unless `save` is given.
    """
    folder = folder or store()
    began = time.perf_counter()
    scheme(algorithm)
    rounds = first_round(game)
    if rounds is None:
        engine, facts = _engine(game, algorithm, threads)
        prove = engine.prove
    else:
        again = partial(
            solve,
            algorithm=algorithm,
            until=until * SHARE,
            threads=threads,
            folder=folder,
            resume=resume,
            checkpoint_every=checkpoint_every,
            watch=watch,
        )
        follows = [_follow(end, until * SHARE, folder, again) for end in rounds.exits]
        middle, low, high = (make(rounds.name(*values)) for values in zip(*follows, strict=True))
        engine, facts = _engine(middle, algorithm, threads)
        prove = _rounds_proof(engine, low, high)
    path = save or folder / file_name(game)
    keep = save is not None or facts["bytes"] <= KEPT
    run = _Run(game, algorithm, engine, facts, prove, path, keep, time.perf_counter() - began, checkpoint_every)
    return run.until(until, seconds, iterations, resume, watch)


def _follow(end: Exit, until: float, folder: Path, solve_it: Callable[[Game], Any]) -> tuple[float, float, float]:
    """What an exit is worth to seat 0: by value, when seat 1 responds best, when seat 0 does."""
    if not end.game:
        return end.payoff, end.payoff, end.payoff
    game = make(end.game)
    known = find(game, folder)
    about = known.about if known else {"exploitability": math.inf}
    if about["exploitability"] > until:
        about = solve_it(game)[0].to_json()
    value, lower, upper = (float(about[key]) for key in ("value", "lower", "upper"))
    return (-value, -upper, -lower) if end.swapped else (value, lower, upper)


def _rounds_proof(engine: Engine, low: Game, high: Game) -> Callable[[], Proof]:
    if isinstance(engine, VectorCFR):
        return lambda: engine.prove((low, high))
    assert isinstance(engine, CFR)
    forms = [SequenceForm.of(game) for game in (low, high)]
    return lambda: engine.prove((forms[0], forms[1]))


def _engine(game: Game, algorithm: str, threads: int) -> tuple[Engine, dict[str, int]]:
    """The run, and what is known of the game before it starts."""
    pairs = _pairs(game)
    form: PublicTree | SequenceForm
    engine: Engine
    if pairs > SMALL:
        form = PublicTree.of(game)
        engine = VectorCFR(form, SCHEMES[algorithm], threads=threads)
    else:
        form = SequenceForm.of(game)
        engine = CFR(form, SCHEMES[algorithm])
    return engine, {"histories": form.histories, "information_sets": form.infosets, "bytes": form.bytes}


def _pairs(game: Game) -> int:
    """How many pairs of hands a game of private hands begins with; 0 where it is another kind of game."""
    try:
        _, chance = private_deals(game)
    except TapeteError:
        return 0
    return int((chance > 0).sum())


@dataclass
class _Run:
    game: Game
    algorithm: str
    engine: Engine
    facts: dict[str, int]
    prove: Callable[[], Proof]
    path: Path
    keep: bool
    seconds: float  # since the beginning, building the tree and solving what follows included
    every: float  # seconds between checkpoints

    @property
    def checkpoint(self) -> Path:
        return self.path.with_name(f"{self.path.name}.checkpoint")

    def until(
        self, until: float, seconds: float, iterations: int, resume: bool, watch: Watcher
    ) -> tuple[Progress, Strategy | None]:
        if resume and self.checkpoint.exists():
            self._resume()
        began = time.perf_counter()
        due = began + self.every
        before = self.seconds
        progress = self._progress()
        watch(progress)
        while progress.proof.exploitability > until and self.seconds < seconds and self.engine.iterations < iterations:
            done = self.engine.iterations
            # Proofs come at fixed iterations, so that a run that was interrupted ends where it would have ended.
            self.engine.run(min(max(10, done // 4), iterations - done))
            self.seconds = before + time.perf_counter() - began
            progress = self._progress()
            watch(progress)
            if time.perf_counter() > due:
                started = time.perf_counter()
                self._save_checkpoint()
                now = time.perf_counter()
                due = now + max(self.every, 20 * (now - started))  # a twentieth of the time goes into it at most
        if not self.keep:
            return progress, None
        about = {**progress.to_json(), "parameters": dict(self.game.spec.parameters)}
        del about["seconds"]  # of a run that was stopped and resumed there are more; all else is the same
        table = self.engine.table(**about)
        table.save(self.path)
        self.checkpoint.unlink(missing_ok=True)
        return progress, table

    def _progress(self) -> Progress:
        return Progress(
            game=str(self.game),
            algorithm=self.algorithm,
            iterations=self.engine.iterations,
            seconds=self.seconds,
            proof=self.prove(),
            **self.facts,
        )

    def _save_checkpoint(self) -> None:
        header = {
            "format": CHECKPOINT,
            "game": str(self.game),
            "algorithm": self.algorithm,
            "iterations": self.engine.iterations,
            "seconds": self.seconds,
        }
        write_arrays(self.checkpoint, self.engine.arrays(), header)

    def _resume(self) -> None:
        arrays, header = read_arrays(self.checkpoint, CHECKPOINT)
        mine = self.engine.arrays()
        if (header.get("game"), header.get("algorithm")) != (str(self.game), self.algorithm):
            raise TapeteError(f"{self.checkpoint} is of {header.get('game')} by {header.get('algorithm')}")
        if {name: (array.shape, array.dtype) for name, array in arrays.items()} != {
            name: (array.shape, array.dtype) for name, array in mine.items()
        }:
            raise TapeteError(f"{self.checkpoint} does not fit this game; delete it to begin anew")
        iterations, seconds = header.get("iterations", -1), header.get("seconds", -1.0)
        is_run = (
            isinstance(iterations, int)
            and isinstance(seconds, float)
            and 0 <= seconds < math.inf
            and 0 <= iterations < 2**62
        )
        if not is_run or not all(np.isfinite(array).all() for array in arrays.values()):
            raise TapeteError(f"{self.checkpoint} has numbers that no run could have; delete it to begin anew")
        for name, array in mine.items():
            array[:] = arrays[name]
        self.engine.iterations, self.seconds = iterations, seconds


def store() -> Path:
    """Where solutions are kept unless somebody says otherwise."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "tapete" / "equilibria"


def file_name(game: Game) -> str:
    """What the solution of a game is called in a folder."""
    return f"{game.file_name}.safetensors"


def find(game: Game, folder: Path | None = None) -> Strategy | None:
    """The solution of a game from a folder; without one, from the store or from those that ship with the package."""
    path = (folder or store()) / file_name(game)
    ready = path if path.exists() else None if folder else shipped.find(f"equilibria/{file_name(game)}")
    if ready is None:
        return None
    table = _load(ready, version_of(ready))
    if table.about.get("game") != str(game):
        raise TapeteError(f"{ready} is a solution of {table.about.get('game')}, not of {game}")
    return table


@lru_cache(maxsize=32)
def _load(path: Path, version: tuple[int, int, int]) -> Strategy:
    """A solution, read once as long as its file does not change: the arena asks for it before every game."""
    return Strategy.load(path)
