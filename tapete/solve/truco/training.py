"""A strategy for every hand of a match of truco: external sampling at all scores at once, paid in match equity.

Equity and strategy are found together. What good play makes of a hand at a score is counted in self-play of the
average strategy; since every hand brings a point, the scores close to the end come first and all others follow from
them. The next walks are paid by the new table.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.names import make
from tapete.core.rng import Rng
from tapete.games.truco.equity import FORMAT as EQUITY_FORMAT
from tapete.games.truco.equity import table as equity_table
from tapete.solve.truco.abstraction import AXES, PLACES, tables
from tapete.solve.truco.blueprint import in_steps
from tapete.solve.truco.blueprint import read as read_strategy
from tapete.solve.truco.blueprint import write as write_strategy
from tapete.solve.truco.knowledge import knowledge
from tapete.solve.truco.uniform import uniform
from tapete.solve.truco.walks import SIDE, Stack, play_hands, walk_hands

FORMAT = "tapete-truco-training-1"
POINTS = 30
RANDOM = "random"  # who plays so is responded to without a file
EPOCH = 50_000  # hands; after each, all numbers of a strategy are weighed anew, which takes a while
REFRESH = 30  # epochs between two looks at the equity, once it is no longer a guess
COUNTED = 300  # hands at every score, of a look, and more of them close to the end of a match; fewer in the beginning
KEPT = 0.9  # of the equity before, when it is looked at anew
TREMBLE = 0.15  # of the choices of the one who doesn't walk are any choice, in the walks where he trembles, at first
STEADIER = 100  # epochs after which half as many are, after 200 a third, ...: who expects mistakes accepts too much
OLD = 0.2  # of what another run has learned is kept, where a run begins with it: as much as of a fifth of its hands
CHECKPOINT = 60.0  # seconds between two notes of where a run is
LEANING = 1000.0  # walks' worth of what its neighbours do, in a row
ORDERED, REMEMBERED = ("envido", "level", "mine", "his"), ("look", "end", "raisers")
LEAST = 0.02  # choices that are rarer than this are noise of the sampling, and left out
SPREAD = 1.5  # of the points of a hand: of the first guess, before anything was played


def first_guess() -> NDArray[np.float64]:
    """Equity [what mano lacks, what the other lacks] if points came by the toss of a coin."""
    from scipy.stats import norm

    mano, other = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    equity: NDArray[np.float64] = norm.cdf((other - mano) / (SPREAD * np.sqrt(np.maximum(mano + other, 1))))
    equity[0], equity[1:, 0] = 1.0, 0.0
    return equity


def backwards(outcomes: Callable[[int, int], NDArray[np.int64]]) -> NDArray[np.float64]:
    """Equity from what hands come to: `outcomes(mano, other)` counts [mano, other] what they lack afterwards."""
    equity = np.zeros((SIDE, SIDE))
    equity[0] = 1.0
    for total in range(2, 2 * POINTS + 1):
        for mano in range(max(1, total - POINTS), min(POINTS, total - 1) + 1):
            counts = outcomes(mano, total - mano)
            after = 1.0 - equity.T  # the other is mano then
            after[0], after[1:, 0] = 1.0, 0.0
            equity[mano, total - mano] = (counts * after).sum() / counts.sum()
    return equity


def backwards_against(outcomes: Callable[[int, int, int], NDArray[np.int64]]) -> NDArray[np.float64]:
    """The same for two who play differently: [who is mano, what one lacks, what two lacks] how likely one wins.

    `outcomes(first, mano, other)` counts [mano, other] where mano is one (0) or two (1).
    """
    chances = np.zeros((2, SIDE, SIDE))
    chances[:, 0] = 1.0
    for total in range(2, 2 * POINTS + 1):
        for one in range(max(1, total - POINTS), min(POINTS, total - 1) + 1):
            lacks = one, total - one
            for first in range(2):
                counts = outcomes(first, *(lacks[::-1] if first else lacks))
                after = chances[1 - first].T if first else chances[1 - first]
                chances[first, lacks[0], lacks[1]] = (counts * after).sum() / counts.sum()
    return chances


def averages(sums: NDArray[np.float64]) -> NDArray[np.float32]:
    """The average strategy: probabilities of the choices of every row; zeros where nothing near was ever met.

    A row that few walks have met leans on its neighbours: on those with a little more or less of what can be counted,
    and on all classes of what is remembered.
    """
    probs = np.zeros(PLACES, dtype=np.float32)
    for (axes, _), table, out in zip(AXES.values(), tables(sums).values(), tables(probs).values(), strict=True):
        near = table
        for place, (name, _) in enumerate(axes):
            if name in ORDERED:
                near = _blurred(near, place)
            elif name in REMEMBERED:
                near = np.broadcast_to(near.sum(axis=place, keepdims=True), table.shape)
        leaning = table + LEANING * shares(near)
        out[:] = shares(leaning)
    return probs


def responses(regrets: NDArray[np.float64], fixed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """In every row the choice that gained most; where no walk has been, what the fixed strategy does itself."""
    steps = fixed.copy()
    for table, out in zip(tables(regrets).values(), tables(steps).values(), strict=True):
        best = in_steps(np.eye(table.shape[-1], dtype=np.float32))[table.argmax(axis=-1)]
        out[:] = np.where((table != 0).any(axis=-1, keepdims=True), best, out)
    return steps


def shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every row divided by what it adds up to; zeros stay zeros."""
    total = table.sum(axis=-1, keepdims=True)
    return np.divide(table, total, where=total > 0, out=np.zeros_like(table))


def _blurred(table: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Half of each number stays where it is, the rest goes to both sides."""
    moved = np.moveaxis(table, axis, 0)
    blurred = 0.5 * moved
    blurred[1:] += 0.25 * moved[:-1]
    blurred[:-1] += 0.25 * moved[1:]
    return np.moveaxis(blurred, 0, axis)


class Training:
    """A run that can be stopped and resumed; `epoch` by epoch, the old counting less and less (linear CFR)."""

    def __init__(
        self,
        game: Game,
        *,
        seed: int,
        against: Path | None = None,
        score: tuple[int, int] | None = None,
        stranger: Path | None = None,
        strangers: float = 0.0,
    ) -> None:
        """With `against`, the file of a strategy or `random`, a response to it is learned.

        At all scores it is paid by how likely it then wins its match against that strategy, at one by the equity that
        ships.

        :param score: learn at this score only, mano's points first.
        :param stranger: the file of a strategy that is met in some of the walks (Johanson, Zinkevich and Bowling 2007).
        :param strangers: in how many of them; more wins more from who plays so, and loses more to who doesn't.
        """
        names = {name for name, value in game.spec.parameters.items() if value is True}
        if game.package != "tapete.games.truco" or names - {"mazo"} or game.spec.parameters["points"] != POINTS:
            raise TapeteError(f"a blueprint is of truco or truco(mazo=true), not of {game}; one to 30 serves one to 15")
        self.game = make(f"truco(hand=true,mazo={str('mazo' in names).lower()})")
        self.known = knowledge()
        self.regrets, self.sums = np.zeros(PLACES), np.zeros(PLACES)
        self.equity = np.tile(first_guess(), (2, 1, 1))  # [seat of the walker, next mano lacks, other lacks]
        self.words = Rng(seed, "truco").words.copy()
        self.epochs = self.hands = 0
        self.seconds = 0.0  # of CPU
        self._shipped = equity_table()[int("mazo" in names)]
        self.fixed = np.zeros(0, dtype=np.uint8)
        if against:
            is_random = str(against) == RANDOM
            self.fixed = uniform(mazo="mazo" in names) if is_random else read_strategy(against)[0]
            self.equity[:] = self._shipped
        self.score = score
        self.met, self.share = self.fixed, float(len(self.fixed) > 0)  # who is met in the walks, in how many of them
        if stranger:
            self.met, self.share = read_strategy(stranger)[0], strangers
        self._stack = Stack.of(self.game)

    def epoch(self, hands: int) -> None:
        """Walks so many hands."""
        began = time.thread_time()
        weight = self.epochs / (self.epochs + 1)
        self.regrets *= weight
        self.sums *= weight
        params = self.game.params.copy()
        if self.score:
            params[3:5] = self.score
        walk_hands(
            self.game.rulebook, params, self.regrets, self.sums, self.met, self.share, self._stack, self.known,
            self.equity.reshape(-1).copy(), hands, not self.score, TREMBLE / (1 + self.epochs / STEADIER),
            self.words,
        )  # fmt: skip
        self.epochs += 1
        self.hands += hands
        self.seconds += time.thread_time() - began

    def refresh(self, hands: int, keep: float = 0.0) -> None:
        """Counts so many hands at every score, and computes the equity anew; a share of the old table is kept.

        Close to the end of a match a hand decides more, and all other scores lean on those: more are counted there.
        """
        began = time.thread_time()
        strategies = [self.strategy(), self.fixed]

        def outcomes(first: int, mano: int, other: int) -> NDArray[np.int64]:
            more = int(hands * (1 + 2 * POINTS / (mano + other)))
            sides = strategies[first], strategies[1 - first] if len(self.fixed) else strategies[0]
            return self._outcomes(*sides, (POINTS - mano, POINTS - other), more)

        if len(self.fixed):  # the one who walks is mano next if he sat on seat 1, else the other is
            chances = backwards_against(outcomes)
            equity = np.stack([1 - chances[1].T, chances[0]])
        else:
            equity = np.tile(backwards(partial(outcomes, 0)), (2, 1, 1))
        self.equity = keep * self.equity + (1 - keep) * equity
        self.seconds += time.thread_time() - began

    def gain(self, hands: int) -> tuple[float, float]:
        """What a response wins in a hand at its score, else at 0-0, in matches; and the half of a 95 % interval.

        It plays so many hands on each seat, with the strategy that it responds to on the other.
        """
        response, fixed = self.strategy(), self.fixed
        payoffs = 1 - 2 * self._shipped.T  # [what mano lacks, what the other lacks] of mano; the other is mano next
        gain = variance = 0.0
        for sign, mano, other in ((1, response, fixed), (-1, fixed, response)):
            counts = self._outcomes(mano, other, self.score or (0, 0), hands)
            mean = (counts * payoffs).sum() / hands
            gain += sign * mean / 4  # two seats; and a match that is won instead of lost is worth 2
            variance += ((counts * payoffs**2).sum() / hands - mean**2) / hands / 16
        return gain, 1.96 * math.sqrt(variance)

    def _outcomes(
        self, mano: NDArray[np.uint8], other: NDArray[np.uint8], score: tuple[int, int], hands: int
    ) -> NDArray[np.int64]:
        """What both lack, [mano, other], after so many hands of two strategies from a score."""
        room, params = np.zeros(self.game.size // 8, dtype=np.uint64), self.game.params.copy()
        params[3:5] = score
        counts = np.zeros(SIDE * SIDE, dtype=np.int64)
        play_hands(self.game.rulebook, params, mano, other, self.known, room, hands, counts, self.words)
        return counts.reshape(SIDE, SIDE)

    def strategy(self) -> NDArray[np.uint8]:
        """The average strategy so far, in 255ths; of a response, what has the largest regret."""
        if len(self.fixed):
            return responses(self.regrets, self.fixed)
        probs = averages(self.sums)
        probs[probs < LEAST] = 0
        return in_steps(probs)

    def standing(self) -> str:
        """How likely who learns wins the match, at some scores."""
        even = [(mano[lack, lack], 1 - other[lack, lack]) for other, mano in [self.equity] for lack in (POINTS, 15, 1)]
        return "wins as mano, as the other at 0-0, 15-15, 29-29: " + ", ".join(
            f"{100 * mano:.1f} %, {100 * other:.1f} %" for mano, other in even
        )

    def write(self, path: Path) -> None:
        """The strategy so far as a file that plays."""
        write_strategy(path, self.strategy(), self.known, game=str(self.game), hands=self.hands)

    def write_equity(self, path: Path, hands: int) -> None:
        """Counts so many hands at every score by the strategy so far, and writes the table into a file like `equity`'s.

        The table of truco with mazo, or without, which is not this run's, is left as it is there, or as it ships.
        """
        self.refresh(hands)
        both = dict(zip(("plain", "mazo"), equity_table(), strict=True))
        if path.exists():
            both |= read_arrays(path, EQUITY_FORMAT)[0]
        both["mazo" if self.game.spec.parameters["mazo"] else "plain"] = self.equity[0]
        write_arrays(path, both, {"format": EQUITY_FORMAT})

    def save(self, path: Path) -> None:
        """All that it remembers."""
        header: dict[str, str | float] = {"format": FORMAT, "game": str(self.game)}
        header |= {"epochs": self.epochs, "hands": self.hands, "seconds": self.seconds}
        arrays = {"regrets": self.regrets, "sums": self.sums, "equity": self.equity, "words": self.words}
        write_arrays(path, arrays, header)

    def load(self, path: Path) -> None:
        """Goes on from a file that `save` wrote."""
        arrays, header = self._read(path)
        if header["game"] != str(self.game):
            raise TapeteError(f"{path} is a run of another game")
        self.regrets, self.sums, self.words = (arrays[name].copy() for name in ("regrets", "sums", "words"))
        self.equity[:] = arrays["equity"]
        self.epochs, self.hands, self.seconds = header["epochs"], header["hands"], header["seconds"]

    def begin_with(self, path: Path) -> None:
        """Takes the regrets of another run, with or without mazo, as if fewer hands had brought them.

        So they are soon outweighed. Its average is not taken.
        """
        arrays, header = self._read(path)
        self.regrets, self.epochs = OLD * arrays["regrets"], int(OLD * header["epochs"])
        self.equity[:] = arrays["equity"]

    @staticmethod
    def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        arrays, header = read_arrays(path, FORMAT)
        if arrays["regrets"].shape != (PLACES,):
            raise TapeteError(f"{path} is a run of an older abstraction")
        return arrays, header


def train(
    run: Training,
    path: Path,
    *,
    seconds: float = math.inf,
    hands: int,
    epoch: int = EPOCH,
    stop: threading.Event,
    tell: Callable[[str], None],
) -> None:
    """Goes on until the time is over, so many hands were walked, or somebody says stop; then the run is in the file."""
    began = noted = time.perf_counter()
    while not stop.is_set() and run.hands < hands and time.perf_counter() - began < seconds:
        run.epoch(min(epoch, hands - run.hands))
        is_early = run.epochs < REFRESH and run.epochs.bit_count() == 1
        if is_early or run.epochs % REFRESH == 0:
            if not run.score:
                run.refresh(min(2 + run.hands // 100, COUNTED), KEPT if run.epochs > REFRESH else 0.0)
            tell(f"{run.hands:,} hands, {run.seconds:.0f} s of CPU; {run.standing()}")
        if time.perf_counter() - noted > CHECKPOINT:
            run.save(path)
            noted = time.perf_counter()
    run.save(path)
