"""A cluster that nobody has: actors, a learner and the network between them, event by event.

Actors play lots with the weights that they have, two lots each under way (`tapete.scale.lots`). What they have played
goes over the network to the learner's machine, one lot after another, and waits until the learner takes it: handing
over and learning are one thread. A machine whose actors get a new version of the weights fetches it once. What the
figures of a lot are is measured (`tapete bench cluster`), and so is what comes of them on the cores that there are.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

AHEAD = 2  # lots of an actor that are under way


@dataclass(frozen=True, kw_only=True)
class Plant:
    """What a lot takes, and how much there is of everything. Seconds and bytes."""

    actors: int
    machine: int = 16  # actors of a machine
    play: float  # a lot, on a core of its own
    hand: float  # handing a lot out and taking it back, by the learner's thread
    learn: float  # from a lot
    bytes: float  # of a lot that comes back
    weights: float = 0.0  # bytes of a version
    lots: int = 1  # that a version is learned from
    bandwidth: float = 1.25e9  # bytes a second of the learner's machine: ten gigabits
    cores: int = 0  # that actors and learner share, where they are on one machine; 0: enough


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    lots: float  # a second
    learner: float  # share of the time in which the learner had something to do
    network: float  # in which lots were coming in
    sending: float  # in which weights were going out
    actors: float  # in which an actor played

    @property
    def bottleneck(self) -> str:
        """What keeps the others waiting."""
        shares = {"learner": self.learner, "network": self.network, "weights": self.sending, "actors": self.actors}
        return max(shares, key=lambda name: shares[name])


def simulate(plant: Plant, lots: int) -> Outcome:
    """Runs until so many lots were learned from, after as many as are under way.

    >>> simulate(Plant(actors=4, play=1.0, hand=0.0, learn=0.1, bytes=0), 100).bottleneck
    'actors'
    >>> round(simulate(Plant(actors=40, play=1.0, hand=0.0, learn=0.1, bytes=0), 100).lots, 3)
    10.0
    """
    world = _World(plant)
    world.run(AHEAD * plant.actors)
    begin, before = world.now, world.busy.copy()
    world.run(lots)
    span = world.now - begin
    busy = {name: (world.busy[name] - before[name]) / span for name in before}
    return Outcome(lots / span, busy["learner"], busy["network"], busy["sending"], busy["actors"] / plant.actors)


LEARNER = -1


class _World:
    """Everything at a moment."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.now, self.learned, self.version, self.number = plant, 0.0, 0, 0, 0
        self.busy = {"learner": 0.0, "network": 0.0, "sending": 0.0, "actors": 0.0}  # seconds
        self.left: dict[int, float] = {}  # actor or LEARNER to seconds of a core that it needs, where cores are shared
        self.ends: list[tuple[float, int, int]] = []  # when somebody is done, where they are not
        self.coming: list[tuple[float, int, int]] = []  # when a lot has come, and whose it is
        self.queues = [AHEAD] * plant.actors  # lots that each actor has to play
        self.playing: set[int] = set()
        self.learning = False
        self.arrived: deque[int] = deque()  # actors whose lots the learner has not taken
        self.free = {"network": 0.0, "sending": 0.0}  # when they are
        self.known = [-1] * (plant.actors // plant.machine + 1)  # the version of the weights that each machine has
        for actor in range(plant.actors):
            self._play(actor)

    def run(self, lots: int) -> None:
        """Goes on until so many more were learned from."""
        until = self.learned + lots
        while self.learned < until:
            self._step()

    def _step(self) -> None:
        """Goes on to the next event. Where too few cores are shared by too many, all of them are slower."""
        pace = min(1.0, self.plant.cores / len(self.left)) if self.left else 1.0
        soon = [self.now + min(self.left.values()) / pace] if self.left else []
        moment = min([*soon, *(heap[0][0] for heap in (self.ends, self.coming) if heap)])
        span, self.now = moment - self.now, moment
        self.busy["learner"] += span * self.learning
        self.busy["actors"] += span * len(self.playing)
        for who in self.left:
            self.left[who] -= span * pace
        done = [who for who, left in self.left.items() if left <= 1e-9]
        while self.ends and self.ends[0][0] <= self.now:
            done.append(heapq.heappop(self.ends)[2])
        for who in done:
            self.left.pop(who, None)
            self._learned() if who == LEARNER else self._played(who)
        while self.coming and self.coming[0][0] <= self.now:
            self.arrived.append(heapq.heappop(self.coming)[2])
        if self.arrived and not self.learning:
            self.learning = True
            self._work(LEARNER, self.plant.hand + self.plant.learn)

    def _work(self, who: int, seconds: float) -> None:
        if self.plant.cores:
            self.left[who] = seconds
        else:
            self.number += 1
            heapq.heappush(self.ends, (self.now + seconds, self.number, who))

    def _carry(self, line: str, size: float) -> float:
        """When so many bytes have come through, after all that wait before them."""
        took = size / self.plant.bandwidth
        self.free[line] = max(self.free[line], self.now) + took
        self.busy[line] += took
        return self.free[line]

    def _play(self, actor: int) -> None:
        """An actor that has nothing to do takes its next lot, with the newest weights."""
        if actor in self.playing or not self.queues[actor]:
            return
        self.queues[actor] -= 1
        self.playing.add(actor)
        place, wait = actor // self.plant.machine, 0.0
        if not self.plant.cores and self.known[place] != self.version:
            self.known[place], wait = self.version, self._carry("sending", self.plant.weights) - self.now
        self._work(actor, self.plant.play + wait)

    def _played(self, actor: int) -> None:
        self.playing.discard(actor)
        self.number += 1
        heapq.heappush(self.coming, (self._carry("network", self.plant.bytes), self.number, actor))
        self._play(actor)

    def _learned(self) -> None:
        self.learning = False
        actor = self.arrived.popleft()
        self.learned += 1
        self.version = self.learned // self.plant.lots
        self.queues[actor] += 1
        self._play(actor)
