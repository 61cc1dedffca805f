"""From a game to a proven strategy: chooses how to solve it, runs, proves, saves, and goes on where it stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.errors import TapeteError
from tapete.core.files import check_writable
from tapete.core.game import Game
from tapete.core.names import make
from tapete.core.rounds import Exit, Round, first_round
from tapete.scale import Executor
from tapete.solve.cfr import CFR
from tapete.solve.kept import check_game, file_name, find, fingerprint, store
from tapete.solve.progress import Beginning, Engine, Progress, Watcher
from tapete.solve.public_tree import NotPublic, PublicTree, check_size, private_deals
from tapete.solve.response import Proof
from tapete.solve.sampled import ALGORITHMS as SAMPLING
from tapete.solve.sampled import UNPROVEN, Sampled
from tapete.solve.schemes import SCHEMES
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.size import check_kind, physical_memory
from tapete.solve.strategy import Strategy
from tapete.solve.vector_cfr import VectorCFR

DEFAULT = "dcfr"  # the one that is first at 0.1 % on most games: docs/solving.md has the measurement
SMALL = 64  # pairs of hands; up to this the sequence form is faster than vectors
CHECKPOINT = "checkpoint-1"
KEPT = 2 * 10**9  # bytes of memory; a solution of a larger run is written only where a place for it is given
EVERY = 120.0  # seconds between checkpoints
NO_LIMIT = 10**9  # iterations
MOMENT = 0.25  # seconds after which a run looks up: is it time, is there room, does somebody stop it
SHARE = 0.2  # of the exploitability allowed, this much is left to the games that follow a round


def solve(
    game: Game,
    *,
    algorithm: str = DEFAULT,
    until: float = 1e-3,
    seconds: float = math.inf,
    iterations: int = NO_LIMIT,
    threads: int = 2,
    save: Path | None = None,
    folder: Path | None = None,
    resume: bool = False,
    checkpoint_every: float = EVERY,
    seed: int = 1,
    memory: float = math.inf,
    walkers: int = 1,
    executor: Executor | None = None,
    watch: Watcher = lambda progress: None,
    begin: Beginning = lambda game, share: None,
    stop: Event | None = None,
) -> tuple[Progress, Strategy | None]:
    """Solves a two-player zero-sum game until its exploitability is small enough, or time or iterations run out.

    A game that is played in rounds is solved from its last rounds to its first. Returned are how far it came and the
    strategy, which is also written to a file; None where that would be very large and `save` is not given.

    Algorithms that sample take any game, as a whole. Where it can't be played out nothing is proven, they stop by
    `seconds` or `iterations`, one of which must be given, and leave a checkpoint to go on from.

    :param algorithm: a member of the CFR family, as in `SCHEMES`, or one that samples: `mccfr-external`, ...
    :param until: the exploitability that is small enough, in units of payoff: what both best responses gain together.
    :param seconds: of all of it. A game that follows a round gets half of the time that is left, at most.
    :param iterations: of the game itself; those that follow a round have as many as they need.
    :param threads: how many cores are used; the result is the same with any number.
    :param save: where the strategy is written; without it, to `folder`.
    :param folder: where the solutions of games that follow are looked for and written; without it, the user's store.
    :param resume: go on from the checkpoint beside the file, if there is one.
    :param checkpoint_every: seconds after which a run writes down where it is.
    :param seed: names what algorithms that sample draw.
    :param memory: bytes that they may take; without it, half of what the machine has.
    :param walkers: of algorithms that sample, who learn side by side; the result depends on how many there are.
    :param executor: where they walk, which changes nothing.
    :param watch: called with the progress after every proof, also of games that follow.
    :param begin: called before the first iteration, while a game is played out, with the share that is done.
    :param stop: when it is set, the run writes down where it is and ends with a KeyboardInterrupt.
    """
    if algorithm not in SAMPLING:
        if algorithm not in SCHEMES:
            raise TapeteError(f"there is no algorithm {algorithm!r}; there are {', '.join([*SCHEMES, *SAMPLING])}")
        check_kind(game)
        if walkers != 1:
            raise TapeteError(f"walkers are for algorithms that sample, not for {algorithm}: {', '.join(SAMPLING)}")
    order = _Order(
        algorithm=algorithm,
        until=until,
        seconds=seconds,
        iterations=iterations,
        threads=threads,
        save=save,
        folder=folder or store(),
        resume=resume,
        checkpoint_every=checkpoint_every,
        seed=seed,
        memory=min(memory, physical_memory() / 2),
        walkers=walkers,
        executor=executor,
        watch=watch,
        begin=begin,
        stop=stop or Event(),
    )
    check_writable(order.path(game))
    return _solve(game, order)


@dataclass(frozen=True, kw_only=True)
class _Order:
    """What `solve` was asked for."""

    algorithm: str
    until: float
    seconds: float
    iterations: int
    threads: int
    save: Path | None
    folder: Path
    resume: bool
    checkpoint_every: float
    seed: int
    memory: float
    walkers: int
    executor: Executor | None
    watch: Watcher
    begin: Beginning
    stop: Event
    known: float = math.inf  # exploitability of the strategy that the folder has already: a worse one is not written

    def path(self, game: Game) -> Path:
        return self.save or self.folder / file_name(game)


def _solve(game: Game, order: _Order) -> tuple[Progress, Strategy | None]:
    began = time.perf_counter()
    if order.algorithm in SAMPLING:
        return _sample(game, order)
    rounds = first_round(game)
    if rounds is None:
        engine, facts = _engine(game, game, order, began)
        prove = engine.prove
    else:
        # Before the games that follow are solved: what they are worth doesn't make the round smaller.
        check_size(make(rounds.name(*(0.0 for _ in rounds.exits))), asked=game)
        middle, low, high = _with_what_follows(rounds, order, began)
        engine, facts = _engine(middle, game, order, began)
        prove = _rounds_proof(engine, low, high)
    return _Run(game, order, engine, lambda: facts, prove, time.perf_counter() - began).until_it_is_over()


def _sample(game: Game, order: _Order) -> tuple[Progress, Strategy | None]:
    """The whole game, rounds and all. Time begins with the first walk."""
    engine = Sampled(
        game, order.algorithm, seed=order.seed, memory=order.memory, walkers=order.walkers, executor=order.executor
    )
    if engine.why and order.seconds == math.inf and order.iterations == NO_LIMIT:
        raise TapeteError(f"{engine.why}: nothing can be proven, so say when to stop, by --time or --iterations")
    engine.run(0)  # which compiles it
    return _Run(game, order, engine, lambda: engine.facts, engine.prove, 0.0).until_it_is_over()


def _with_what_follows(rounds: Round, order: _Order, began: float) -> list[Game]:
    """The round with what the games that follow are worth: by value, when seat 1 responds best, when seat 0 does."""
    worth: dict[str, Proof] = {}  # the same game may follow in two ways
    for end in rounds.exits:
        if end.game and end.game not in worth:
            left = max(order.seconds - (time.perf_counter() - began), 0.0)
            further = replace(order, until=order.until * SHARE, seconds=left / 2, iterations=NO_LIMIT, save=None)
            worth[end.game] = _proof_of(make(end.game), further)
    follows = [_at_exit(end, worth) for end in rounds.exits]
    return [make(rounds.name(*values)) for values in zip(*follows, strict=True)]


def _proof_of(game: Game, order: _Order) -> Proof:
    """What a game is worth, by the strategy that is known of it, or by a better one if it can be found."""
    strategy = find(game, order.folder)  # one that was sampled is of no use here: it has no rounds in it
    known = _read_proof(strategy) if strategy and not strategy.about.get("sampled") else UNPROVEN
    if known.exploitability <= order.until:
        return known
    progress, _ = _solve(game, replace(order, known=known.exploitability))
    return min(known, progress.proof, key=lambda proof: proof.exploitability)


def _read_proof(strategy: Strategy) -> Proof:
    return Proof(*(float(strategy.about[name]) for name in Proof._fields))


def _at_exit(end: Exit, worth: dict[str, Proof]) -> Proof:
    """What an exit is worth to seat 0."""
    if not end.game:
        return Proof(end.payoff, end.payoff, end.payoff)
    value, lower, upper = worth[end.game]
    return Proof(-value, -upper, -lower) if end.swapped else worth[end.game]


def _rounds_proof(engine: Engine, low: Game, high: Game) -> Callable[[], Proof]:
    if isinstance(engine, VectorCFR):
        return lambda: engine.prove((low, high))
    assert isinstance(engine, CFR)
    forms = [SequenceForm.of(game) for game in (low, high)]
    return lambda: engine.prove((forms[0], forms[1]))


def _engine(game: Game, asked: Game, order: _Order, began: float) -> tuple[Engine, dict[str, int]]:
    """The run, and what is known of the game before it starts; `asked` is the one that it is a round of, or itself."""

    def watch(share: float) -> None:
        spent = time.perf_counter() - began
        if order.stop.is_set():
            raise KeyboardInterrupt
        if spent > order.seconds:
            raise TapeteError(
                f"{asked} was played out to {100 * share:.0f} % after {spent:.0f} s; give it a longer --time"
            )
        order.begin(str(asked), share)

    order.begin(str(asked), 0.0)
    form = _form(game, watch)
    scheme = SCHEMES[order.algorithm]
    engine: Engine
    if isinstance(form, PublicTree):
        engine = VectorCFR(form, scheme, threads=order.threads)
    else:
        engine = CFR(form, scheme)
    return engine, {"histories": form.histories, "information_sets": form.infosets, "bytes": form.bytes}


def _form(game: Game, watch: Callable[[float], None]) -> PublicTree | SequenceForm:
    """The public tree, where the game has one and there are many hands; else the sequence form."""
    try:
        _, chance = private_deals(game)
        return PublicTree.of(game, watch=watch) if (chance > 0).sum() > SMALL else SequenceForm.of(game)
    except NotPublic:
        return SequenceForm.of(game)


@dataclass
class _Run:
    game: Game
    order: _Order
    engine: Engine
    facts: Callable[[], dict[str, int]]  # of the game and the engine, for `Progress`
    prove: Callable[[], Proof]
    seconds: float  # since the beginning, building the tree and solving what follows included
    due: float = 0.0  # when the next checkpoint is
    proving: float = 0.0  # seconds that the last proof took

    @property
    def path(self) -> Path:
        return self.order.path(self.game)

    @property
    def checkpoint(self) -> Path:
        return self.path.with_name(f"{self.path.name}.checkpoint")

    def until_it_is_over(self) -> tuple[Progress, Strategy | None]:
        order = self.order
        if order.resume and self.checkpoint.exists():
            self._resume()
        began = time.perf_counter() - self.seconds
        self.due = time.perf_counter() + order.checkpoint_every
        progress = self._progress()
        order.watch(progress)
        while not self._is_over(progress):
            # Proofs come at fixed iterations, so that a run that was interrupted ends where it would have ended.
            proof = min(next_proof(self.engine.iterations), order.iterations)
            for iterations in self._slices(proof):
                self.engine.run(iterations)
                self.seconds = time.perf_counter() - began
                if order.stop.is_set() and self.engine.iterations < proof:
                    self._save_checkpoint()
                    raise KeyboardInterrupt
                self._save_when_due()
            progress = self._progress()
            self.seconds = time.perf_counter() - began
            order.watch(progress)
            if order.stop.is_set() and not self._is_over(progress):
                self._save_checkpoint()
                raise KeyboardInterrupt
        return progress, self._save(progress)

    def _slices(self, until: int) -> Iterator[int]:
        """Iterations up to that one; where time or memory may end, in parts of a moment each.

        They end when the time does, of which the proof that follows takes as much as the last one.
        """
        if self.order.seconds == math.inf and not isinstance(self.engine, Sampled):
            yield until - self.engine.iterations
            return
        size = 1.0
        enough = self.order.seconds - self.proving
        while (left := until - self.engine.iterations) > 0 and self.seconds < enough and not self.is_full:
            began = time.perf_counter()
            yield min(left, int(size) or 1)
            size *= min(MOMENT / (time.perf_counter() - began), 2.0)

    @property
    def is_full(self) -> bool:
        return isinstance(self.engine, Sampled) and self.engine.is_full

    def _save_when_due(self) -> None:
        started = time.perf_counter()
        if started > self.due:
            self._save_checkpoint()
            now = time.perf_counter()
            # A twentieth of the time goes into it at most.
            self.due = now + max(self.order.checkpoint_every, 20 * (now - started))

    def _is_over(self, progress: Progress) -> bool:
        order = self.order
        return (
            progress.proof.exploitability <= order.until
            or self.seconds + self.proving >= order.seconds
            or self.engine.iterations >= order.iterations
            or progress.is_full
        )

    def _save(self, progress: Progress) -> Strategy | None:
        """Writes the strategy, unless it is very large or the folder has a better one; returns what it wrote."""
        goes_on = isinstance(self.engine, Sampled) and (self.engine.form is None or progress.is_full)
        if self.order.save is None and progress.bytes > KEPT and not goes_on:
            return None
        if self.order.known <= progress.proof.exploitability < math.inf:
            return None
        about = {**progress.to_json(), "parameters": dict(self.game.spec.parameters)}
        about["fingerprint"] = fingerprint(self.game)
        del about["seconds"]  # of a run that was stopped and resumed there are more; all else is the same
        strategy = self.engine.strategy(**about)
        if goes_on:
            self._save_checkpoint()
        strategy.save(self.path)
        if not goes_on:
            self.checkpoint.unlink(missing_ok=True)
        return strategy

    def _progress(self) -> Progress:
        began = time.perf_counter()
        proof = self.prove()
        self.proving = time.perf_counter() - began
        return Progress(
            game=str(self.game),
            algorithm=self.order.algorithm,
            iterations=self.engine.iterations,
            seconds=self.seconds + self.proving,
            proof=proof,
            is_full=self.is_full,
            **self.facts(),
        )

    def _save_checkpoint(self) -> None:
        header = {
            "format": CHECKPOINT,
            "game": str(self.game),
            "fingerprint": fingerprint(self.game),
            "algorithm": self.order.algorithm,
            "walkers": self.order.walkers,
            "iterations": self.engine.iterations,
            "seconds": self.seconds,
        }
        write_arrays(self.checkpoint, self.engine.arrays(), header)

    def _resume(self) -> None:
        arrays, header = read_arrays(self.checkpoint, CHECKPOINT)
        if (header.get("game"), header.get("algorithm")) != (str(self.game), self.order.algorithm):
            raise TapeteError(f"{self.checkpoint} is of {header.get('game')} by {header.get('algorithm')}")
        if header.get("walkers") != self.order.walkers:
            raise TapeteError(f"{self.checkpoint} is of {header.get('walkers')} walkers, not {self.order.walkers}")
        check_game({"fingerprint": "", **header}, self.game, self.checkpoint)  # one without is damaged
        iterations, seconds = header.get("iterations", -1), header.get("seconds", -1.0)
        is_run = (
            isinstance(iterations, int)
            and isinstance(seconds, float)
            and 0 <= seconds < math.inf
            and 0 <= iterations < 2**62
        )
        if not is_run or not all(np.isfinite(array).all() for array in arrays.values()):
            raise TapeteError(f"{self.checkpoint} has numbers that no run could have; delete it to begin anew")
        try:
            self.engine.restore(arrays, iterations)
        except TapeteError as error:
            raise TapeteError(f"{self.checkpoint} does not fit this game: {error}; delete it to begin anew") from None
        self.seconds = seconds


def next_proof(done: int) -> int:
    """The iteration of the first proof after that one: they come after every tenth, then when a quarter was added."""
    at = 0
    while at <= done:
        at += max(10, at // 4)
    return at
