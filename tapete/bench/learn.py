"""How soon learners get how near to an equilibrium, ours and OpenSpiel's: exact NashConv against seconds of one core.

Seconds are CPU time of the process, with PyTorch on one thread; what finding out the NashConv takes is left out. Ours
run with their usual knobs, and are looked at whenever they have taken a tenth more time than at their last look. A
learner of theirs is looked at some times on its way; where it has to train a network before it can be judged, that
counts for this look alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, NamedTuple

from tapete import learn
from tapete.arena.learning import evaluation
from tapete.bench.peers import load
from tapete.bench.spiel_learners import GAMES, PEERS, nash_conv
from tapete.core import Game, TapeteError, make
from tapete.core.plots import picture
from tapete.core.thought import AnyPolicy
from tapete.learn.run import Evaluate
from tapete.learn.runs import steps_of

LOOKS = 8  # at a peer
LOOK_OFTEN = {"every": 1}  # iterations after which ours asks for a look
LATER = 1.1  # times the seconds of a look are those of the next
LEAST = 1.0  # seconds that ours learn, however soon they are good enough: its start should not be all that is timed
KNOBS: dict[str, dict[str, Any]] = {  # where ours are not set as usual, but as OpenSpiel's example sets theirs
    "deep-cfr": {
        "walks": 375,
        "steps": 375,
        "average_steps": 2500,
        "batch": 256,
        "hidden": 64,
        "layers": 1,
        "average": "stored",  # judged without another network, so that looking costs nothing
    },
}
WARM = 12.0  # seconds in which a learner that is judged at all is judged for the first time
METRIC = "exploitability"
ROUNDING = 1e-9  # by which two figures differ that are the same: 1.5 and 1.5000000000000002

Clock = Callable[[], float]


class Point(NamedTuple):
    """How good a learner was after some time."""

    seconds: float
    steps: float
    exploitability: float


@dataclass
class Trace:
    """What became of one learner in one game."""

    game: str
    learner: str
    whose: str
    points: list[Point] = field(default_factory=list)

    @property
    def best(self) -> Point:
        """The nearest that it came."""
        return min(self.points, key=lambda point: point.exploitability)

    @property
    def rate(self) -> float:
        """Steps of the game a second, all that learning takes included."""
        return self.points[-1].steps / self.points[-1].seconds

    def reach(self, target: float) -> float | None:
        """Seconds after which it was as good as that; None: it never was."""
        return next((point.seconds for point in self.points if point.exploitability <= target + ROUNDING), None)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"game": self.game, "learner": self.learner, "whose": self.whose, "points": self.points}


class Timed(learn.Run):
    """A run that notes how good it was when, by CPU time, and ends at a target or after some seconds."""

    def __init__(self, *about: Any, evaluate: Evaluate, seconds: float, target: float, clock: Clock) -> None:
        """:param about: folder, learner, game and config, as of any run."""
        self.ending = Event()
        super().__init__(*about, every=math.inf, evaluate=evaluate, stop=self.ending)
        self.clock, self.limit, self.target = clock, seconds, target
        self.points: list[Point] = []
        self.began, self.judging = clock(), 0.0
        self.next_look, self.is_good = 0.0, False

    @property
    def spent(self) -> float:
        """CPU seconds so far, without those that judging took."""
        return self.clock() - self.began - self.judging

    def evaluate(self, policy: AnyPolicy) -> dict[str, float]:
        """Looks, if it is time to, and does not count it."""
        if self.spent < self.next_look:
            return {}
        self.next_look = LATER * self.spent
        before = self.clock()
        found = super().evaluate(policy)
        self.judging += self.clock() - before
        return found

    def log(self, **metrics: float) -> None:
        """Notes how good it is now."""
        spent = self.spent
        super().log(**metrics)
        if METRIC in metrics:
            self.points.append(Point(spent, metrics[steps_of(metrics)], metrics[METRIC]))
            self.is_good = self.is_good or metrics[METRIC] <= self.target + ROUNDING
        self._limit_time()

    def show(self, stage: str, done: float, total: float) -> None:
        """Nobody watches, but the clock does."""
        self._limit_time()

    def _limit_time(self) -> None:
        if self.spent >= (LEAST if self.is_good else self.limit):
            self.ending.set()


def usual(name: str) -> Any:
    """How a learner of ours is set."""
    config = learn.learner(name).config
    settings = LOOK_OFTEN | KNOBS.get(name, {})
    return config(**{entry.name: settings[entry.name] for entry in fields(config) if entry.name in settings})


def train(
    name: str, game: Game, evaluate: Evaluate, *, seconds: float, target: float, clock: Clock = time.process_time
) -> Trace:
    """Ours, until it is as good as the target or the seconds are over."""
    config = usual(name)
    with TemporaryDirectory() as folder:
        run = Timed(folder, name, game, config, evaluate=evaluate, seconds=seconds, target=target, clock=clock)
        try:
            learn.learner(name).training()(game, config, run)
        finally:
            run.close()
    return Trace(str(game), name, "ours", run.points)


def learners(game: Game, evaluate: Evaluate, warm: float = WARM, only: str = "") -> Iterator[str]:
    """Those of ours that can learn this game and are judged while they do; what they need is compiled by then."""
    for name, entry in learn.learners().items():
        if entry.missing or only not in name:
            continue
        try:
            tries = (train(name, game, evaluate, seconds=warm, target=math.inf).points for _ in range(2))
            if any(tries):  # the first may be over before anything is compiled
                yield name
        except TapeteError:  # it is for other games
            continue


def train_peer(name: str, game: str, *, seconds: float, clock: Clock = time.process_time) -> Trace:
    """A learner of theirs for so many seconds, looked at some times."""
    load("torch").set_num_threads(1)
    peer = PEERS[name](GAMES[game])
    trace, spent, steps = Trace(game, name, "OpenSpiel"), 0.0, 0
    for look in range(1, LOOKS + 1):
        began = clock()
        while spent + clock() - began < seconds * look / LOOKS:
            steps += peer.advance()
        spent += clock() - began
        began = clock()
        peer.settle()
        settled = spent + clock() - began
        trace.points.append(Point(settled, steps, nash_conv(GAMES[game], peer)))
        if spent >= seconds:
            break
    return trace


class Duel(NamedTuple):
    """A learner of theirs, and how soon one of ours was as good."""

    theirs: Trace
    ours: Trace

    @property
    def seconds(self) -> float | None:
        """That ours needed to be as good as theirs ever was."""
        return self.ours.reach(self.theirs.best.exploitability)

    @property
    def sooner(self) -> float | None:
        """How many times sooner that was."""
        return self.theirs.best.seconds / self.seconds if self.seconds else None

    @property
    def faster(self) -> float:
        """How many times more steps of the game a second ours makes."""
        return self.ours.rate / self.theirs.rate

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "game": self.theirs.game,
            "peer": self.theirs.learner,
            "best": self.theirs.best.exploitability,
            "at": self.theirs.best.seconds,
            "ours": self.ours.learner,
            "seconds": self.seconds,
            "sooner": self.sooner,
            "steps_a_second": self.ours.rate,
            "their_steps_a_second": self.theirs.rate,
            "faster": self.faster,
        }


def run(*, rivals: bool, case: str, seconds: float, tell: Callable[[Trace], None], learner: str = "") -> list[Trace]:
    """Trains every learner on every game, theirs first: they set the target for ours.

    Only games whose name contains `case`, and learners whose name contains `learner`.
    """
    traces: list[Trace] = []
    for name in (name for name in GAMES if case in name):
        game = make(name)
        evaluate, found = evaluation(game), list[Trace]()
        names = list(learners(game, evaluate, only=learner))
        for peer in (peer for peer in PEERS if rivals and learner in peer):
            found.append(train_peer(peer, name, seconds=seconds))
            tell(found[-1])
        target = min((trace.best.exploitability for trace in found), default=0.0)
        for ours in names:
            found.append(train(ours, game, evaluate, seconds=seconds, target=target))
            tell(found[-1])
        traces += found
    return traces


def duels(traces: Sequence[Trace]) -> list[Duel]:
    """Every learner of theirs beside each of ours in the same game."""
    theirs, ours = ([trace for trace in traces if (trace.whose == "ours") == own] for own in (False, True))
    return [Duel(their, our) for their in theirs for our in ours if our.game == their.game and our.points]


def markdown(duels: Sequence[Duel]) -> Iterator[str]:
    """A table of the duels."""
    yield "| game | OpenSpiel's | its best NashConv | at second | ours | as good at second | sooner | steps a second |"
    yield "|---|---|---|---|---|---|---|---|"
    for duel in duels:
        best, ours = duel.theirs.best, duel.ours
        reached = ("never", "") if duel.seconds is None else (f"{duel.seconds:.2f}", f"{duel.sooner:,.1f}x")
        steps = f"{ours.rate:,.0f} to {duel.theirs.rate:,.0f} ({duel.faster:,.0f}x)"
        yield (
            f"| {duel.theirs.game} | {duel.theirs.learner} | {best.exploitability:.4f} | {best.seconds:.1f} "
            f"| {ours.learner} | {' | '.join(reached)} | {steps} |"
        )


def draw(traces: Sequence[Trace], path: Path) -> None:
    """NashConv against seconds, both logarithmic; a panel a game, theirs dashed."""
    games = list(dict.fromkeys(trace.game for trace in traces))
    with picture(path, len(games), size=(6 * len(games), 4.5), squeeze=False) as axes:
        for axis, game in zip(axes[0], games, strict=True):
            for trace in traces:
                if trace.game == game and trace.points:
                    seconds, _, heights = zip(*trace.points, strict=True)
                    style = "-" if trace.whose == "ours" else "--"
                    axis.plot(seconds, heights, style, marker=".", label=f"{trace.learner}, {trace.whose}")
            axis.set(xscale="log", yscale="log", xlabel="seconds of one core", ylabel="NashConv", title=game)
            axis.grid(alpha=0.3)
            axis.legend(fontsize=7)
