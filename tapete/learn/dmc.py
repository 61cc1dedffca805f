"""Deep Monte Carlo: networks foresee how a game ends after each move, and learn from whole games of their own.

Zha et al., "DouZero: Mastering DouDizhu with Self-Play Deep Reinforcement Learning", ICML 2021. Every seat has a
network Q(s, a) of its own that scores moves by their features, so it is for games with any number of actions. An
iteration is

1. acting: games in which every seat makes the move that its network rates highest, or now and then any other;
2. learning: the squared error between what was foreseen of each move that was made and what the game paid in the end.

Games are played inside a kernel (`tapete.learn.recording`) by the compiled forward pass, wherever the run's executor
has room; PyTorch only learns. What is sent out is a version of the weights, once, and what comes back are decisions of
many games. As a rule everybody waits for the new weights, and a seed names one network. With `asynchronous`, as in the
paper, nobody does: games that are under way go on with the weights that they have.

Three things are not the paper's. What is seen goes through a network once a decision, and only a narrow part is
computed for every move (`tapete.nets.moves`); `network=paper` is DouZero's own. With a `trace` below 1 a critic that
sees all hands takes luck out of what is learned from (`tapete.learn.critic`). And a share of the games may be against
`strangers`, the game's own rule-based player on the seats of the other side, so that what is learned is not only good
against itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError
from tapete.core.evaluator import MakeEvaluator
from tapete.core.players import play, random, rule_player
from tapete.core.spec import Field
from tapete.learn.buffers import Rows
from tapete.learn.critic import Critic, Foresight, trace_returns
from tapete.learn.fitting import Fit
from tapete.learn.knobs import check_knobs, knob
from tapete.learn.late import nets, torch
from tapete.learn.recording import Decisions, Recorder, look
from tapete.learn.run import Checkpoint, Run
from tapete.learn.tensors import begin_from
from tapete.nets.douzero import paper
from tapete.nets.moves import MoveNetwork, Scorer, architectures
from tapete.scale import Job

if TYPE_CHECKING:
    from tapete.nets.torch import Module

NEEDS = ("torch",)
CRITIC_SHARE = 0.5  # of the decisions that are learned from are so by the critic, which is wider than a player
GROUPS = 2  # batches of games between two steps of learning; results depend on it, so it is fixed
MANY = 10**12
NETWORKS = ("fast", "paper")
OBJECTIVES = ("wp", "adp", "logadp")
TRIALS = 400  # deals against random play, when it is looked how good the networks are


@dataclass(frozen=True)
class Config:
    """The knobs. As they are, they fit Dou Dizhu and some hours on two cores."""

    objective: str = knob("wp", "what is learned: who wins, points, or their logarithm", among=OBJECTIVES)
    frames: int = knob(10**9, "decisions with a choice to learn from, in all", 1, MANY)
    games: int = knob(128, "games between two steps of learning", GROUPS, 10**6)
    epsilon: float = knob(0.01, "share of moves made at random, in the end", 0, 1)
    first_epsilon: float = knob(0.1, "the same at first", 0, 1)
    epsilon_frames: int = knob(2_000_000, "frames over which it falls", 1, MANY)
    network: str = knob("fast", "fast, or paper: DouZero's, which reads all and has its own widths", among=NETWORKS)
    skip: str = knob("history", "field at the end of what is seen that networks don't read, where a game has it")
    units: int = knob(256, "width of the networks where state and move meet", 8, 4096)
    hidden: int = knob(1, "layers that what is seen goes through before that", 1, 20)
    trunk: int = knob(128, "width of the layers after that", 8, 4096)
    trunks: int = knob(1, "how many there are", 1, 20)
    memory: int = knob(30_000, "decisions of each seat that batches are drawn from", 1, 10**8)
    batch: int = knob(512, "decisions of a step", 1, 10**6)
    passes: float = knob(1.0, "how often a decision is learned from, on average", 1e-6, 1000)
    optimiser: str = knob("adam", "adam, or the paper's rmsprop", among=("adam", "rmsprop"))
    rate: float = knob(0.001, "step size at first", 1e-9, 1)
    rate_frames: int = knob(20_000_000, "the step size is rate / sqrt(1 + frames / rate_frames)", 1, MANY)
    trace: float = knob(
        0.8, "what is foreseen later counts, and the end by this power of the moves until then; 1: it alone", 0, 1
    )
    learns: str = knob("", "the team (or seat) that learns while others stay as they began; all, if nothing is said")
    strangers: float = knob(
        0.0, "share of batches against the game's rule-based player on all seats of the other side", 0, 1
    )
    randoms: float = knob(0.0, "the same for players who make any move", 0, 1)
    wait: int = knob(
        0, "frames for which the critic alone learns: it is new where networks begin --from others", 0, MANY
    )
    clip: float = knob(40.0, "longest gradient", 1e-9, 1e9)
    asynchronous: bool = knob(
        False, "play on with older weights while others learn: for many cores, and no run is like another"
    )
    every: int = knob(100, "iterations between two lines of the log", 1, 10**9)
    seed: int = knob(1, "names all random streams: the same seed gives the same network")

    def __post_init__(self) -> None:
        check_knobs(self)


def target(gains: NDArray[np.float64], objective: str) -> NDArray[np.float32]:
    """What is to be foreseen, from what games paid, of any shape.

    >>> target(np.array([-2.0, 0.0, 8.0]), "logadp").tolist()
    [-2.0, 0.0, 4.0]
    """
    if objective == "wp":
        return np.sign(gains).astype(np.float32)
    if objective == "logadp":
        return (np.sign(gains) * (1 + np.log2(np.where(gains == 0, 1, abs(gains))))).astype(np.float32)
    return gains.astype(np.float32)


def read_fields(game: Game, seat: int, skip: str) -> tuple[Field, ...]:
    """What a network reads of what the seat sees: all but the field to skip, which is the last.

    >>> from tapete.core import make
    >>> [field.name for field in read_fields(make("doudizhu"), 0, "history")][-2:]
    ['down_left', 'bombs']
    """
    fields = game.spec.observation(seat)
    if skip in [field.name for field in fields[:-1]]:
        raise TapeteError(f"{skip} is not the last field of what is seen in {game}, so it can't be skipped")
    return fields[:-1] if fields[-1].name == skip else fields


class Student:
    """What one seat learns with: its two networks, and the decisions that it learns from."""

    def __init__(self, game: Game, config: Config, seat: int) -> None:
        self.game, self.config, self.seat = game, config, seat
        inputs = sum(part.size for part in read_fields(game, seat, config.skip))
        trunk = (config.trunk,) * config.trunks
        shapes = architectures(inputs, game.spec.feature_size, units=config.units, trunk=trunk, hidden=config.hidden)
        if config.network == "paper":
            shapes = paper(game, seat)
        self.state, self.move = (
            nets.to_torch(shape, Rng(config.seed, "weights", seat, i)) for i, shape in enumerate(shapes)
        )
        columns = {"state": (np.uint8, (game.size,)), "action": (np.int32, ()), "target": (np.float32, ())}
        self.fit = Fit(
            self.parts,
            columns,
            memory=config.memory,
            batch=config.batch,
            optimiser=config.optimiser,
            clip=config.clip,
        )

    @property
    def parts(self) -> dict[str, Module]:
        """The networks by name."""
        return {"state": self.state, "move": self.move}

    def remember(self, decisions: Decisions, wanted: NDArray[np.float32]) -> None:
        """Takes its own among these decisions, with what is to be foreseen of them, for all seats [N, seats]."""
        own = np.flatnonzero(decisions.seats == self.seat)
        rows = {"state": decisions.states[own], "action": decisions.actions[own], "target": wanted[own, self.seat]}
        self.fit.add(rows, self.config.passes)

    def learn(self, rng: Rng, rate: float) -> None:
        """The steps that are due."""
        self.fit.learn(self.loss, rng, rate)

    def loss(self, rows: Rows) -> torch.Tensor:
        """The squared error of what is foreseen."""
        seats = np.full(len(rows["action"]), self.seat, dtype=np.int32)
        seen, features = map(torch.from_numpy, look(self.game, rows["state"], seats, rows["action"]))
        said = self.move(torch.cat([self.state(seen), features], dim=1))[:, 0]
        return ((said - torch.from_numpy(rows["target"])) ** 2).mean()

    def begin(self, file: Path, scorer: Scorer) -> None:
        """Takes the weights of networks that were read from a file, which may be smaller."""
        begin_from(file, scorer.state, self.state, between="state")
        begin_from(file, scorer.move, self.move, between="state")

    def scorer(self) -> Scorer:
        """The networks as they are now, for those who play."""
        return Scorer(nets.from_torch(self.state), nets.from_torch(self.move))


class Batch(NamedTuple):
    """Games that are to be played, which an actor is sent by their number; and the share of random moves in them."""

    number: int
    epsilon: float


class Rollout(NamedTuple):
    """What an actor sends back of a batch."""

    abroad: int  # which strangers there were: see `guests`
    decisions: Decisions
    wanted: NDArray[np.float32]  # [N, seats] what each decision is learned from
    paid: NDArray[np.float32]  # [N, seats] what its game paid


def open_acting(
    stop: Event,
    *,
    game: Game,
    config: Config,
    network: MoveNetwork,
    foresight: Foresight | None,
    players: Sequence[MakeEvaluator | None],
) -> Callable[[Batch], Rollout]:
    """What plays batches with one version of the weights: the job of an actor."""
    mine = partial(network.evaluator, game)

    def act(batch: Batch) -> Rollout:
        iteration, group = divmod(batch.number, GROUPS)
        rng = Rng(config.seed, "iteration", iteration)
        abroad, sitting = guests(game, config, players, rng.spawn("guests", group))
        made = [(player or mine)() for player in sitting]
        learning = [
            player is None and config.learns in ("", side) for player, side in zip(sitting, sides(game), strict=True)
        ]
        decisions = Recorder(game, made, learning, config.games // GROUPS).play(rng.spawn("act", group), batch.epsilon)
        paid = target(decisions.payoffs, config.objective)[decisions.games]
        if not foresight:
            return Rollout(abroad, decisions, paid, paid)
        said = foresight.of(decisions, abroad)
        return Rollout(abroad, decisions, trace_returns(decisions.games, said, paid, config.trace), paid)

    return act


def sides(game: Game) -> tuple[str, ...]:
    """The side of each seat: its team or, where everybody plays for himself, its number."""
    teams = game.start().teams
    return teams if teams and all(teams) else tuple(map(str, range(game.players)))


def guests(
    game: Game, config: Config, players: Sequence[MakeEvaluator | None], rng: Rng
) -> tuple[int, list[MakeEvaluator | None]]:
    """Who sits at the tables of a batch: those who always do or, in a share of them, strangers against a side.

    With it goes which strangers they are: 0 nobody, 1 who goes by rules of thumb, 2 who plays at random.
    """
    draw = rng.uniform()
    if draw >= config.strangers + config.randoms:
        return 0, list(players)
    abroad, stranger = (1, rule_player(game)) if draw < config.strangers else (2, random)
    at_home = [side for side in dict.fromkeys(sides(game)) if config.learns in ("", side)]
    home = at_home[rng.below(len(at_home))]
    return abroad, [player if side == home else stranger for player, side in zip(players, sides(game), strict=True)]


class Training:
    """All that a run remembers. With `players`, seats that have one are theirs, and learn nothing."""

    def __init__(self, game: Game, config: Config, run: Run, players: Sequence[MakeEvaluator | None] = ()) -> None:
        self.game, self.config, self.run = game, config, run
        self.players = list(players) or [None] * game.players
        self.students = {
            seat: Student(game, config, seat) for seat, player in enumerate(self.players) if player is None
        }
        self.critic = self._critic() if config.trace < 1 else None
        if config.strangers:
            rule_player(game)  # says so where there is none
        if config.learns not in ("", *sides(game)):
            raise TapeteError(f"learns must be one of {', '.join(dict.fromkeys(sides(game)))}, not {config.learns!r}")
        self.iteration = self.frames = self.games = 0
        self.asked = 0  # batches
        self._job: tuple[int, Job] | None = None  # with the iteration whose weights it has
        self.rollouts = self._as_they_come() if config.asynchronous else self._in_step()
        self.learning = ThreadPoolExecutor(run.threads)  # seats learn side by side

    def _critic(self) -> Critic:
        config, seats = self.config, range(self.game.players)
        widths = [sum(part.size for part in read_fields(self.game, seat, config.skip)) for seat in seats]
        return Critic(
            self.game,
            np.array(widths),
            units=config.units,
            memory=config.memory,
            batch=config.batch,
            rng=Rng(config.seed, "weights", "critic"),
        )

    def network(self) -> MoveNetwork:
        """What plays: seats that don't learn get the networks of one that does."""
        some = next(iter(self.students.values()))
        scorers = [self.students.get(seat, some).scorer() for seat in range(self.game.players)]
        return MoveNetwork(scorers, {"game": str(self.game), "learner": "dmc", "plays": "q", "frames": self.frames})

    def _acting(self) -> Job:
        """What actors do now: the weights of now are sent once."""
        if not self._job or self._job[0] != self.iteration:
            terms = {"game": self.game, "config": self.config, "network": self.network(), "players": self.players}
            foresight = self.critic.foresight() if self.critic else None
            self._job = self.iteration, Job(f"{__name__}:open_acting", {**terms, "foresight": foresight})
        return self._job[1]

    def _ask(self) -> Generator[Batch]:
        """Batches without an end."""
        while True:
            self.asked += 1
            yield Batch(self.asked - 1, self.epsilon)

    def _in_step(self) -> Generator[list[Rollout]]:
        """What is played with the weights of now, by whoever; the next time, with those of then."""
        while True:
            found = dict(self.run.executor.spread(self._acting(), list(islice(self._ask(), GROUPS))))
            yield [found[group] for group in range(GROUPS)]

    def _as_they_come(self) -> Generator[list[Rollout]]:
        """What comes first; actors get new weights with the next batch."""
        with closing(self.run.executor.spread(self._acting, self._ask())) as coming:
            while True:
                yield [rollout for _, rollout in islice(coming, GROUPS)]

    def iterate(self) -> None:
        """Games, and the steps that they are worth."""
        config = self.config
        for abroad, decisions, wanted, paid in next(self.rollouts):
            self.frames += len(decisions.actions)
            self.games += len(decisions.payoffs)
            for student in self.students.values() if self.frames > config.wait else ():
                student.remember(decisions, wanted)
            if self.critic:
                self.critic.remember(decisions, paid, config.passes * CRITIC_SHARE, abroad=abroad)
        rate = config.rate / (1 + self.frames / config.rate_frames) ** 0.5
        rng = Rng(config.seed, "iteration", self.iteration)
        learn = [partial(each.learn, rng.spawn("learn", name), rate) for name, each in self.learners.items()]
        for _ in self.learning.map(lambda due: due(), learn):
            pass
        self.iteration += 1
        if self.iteration % config.every == 0:
            self._log(rate)

    def close(self) -> None:
        """Sends all actors home."""
        self.rollouts.close()
        self.learning.shutdown()

    @property
    def learners(self) -> dict[str, Student | Critic]:
        """Everybody who learns, by the name that its arrays and losses have."""
        found: dict[str, Student | Critic] = {str(seat): student for seat, student in self.students.items()}
        return found | ({"critic": self.critic} if self.critic else {})

    @property
    def epsilon(self) -> float:
        """The share of random moves now."""
        config = self.config
        left = max(0.0, 1 - self.frames / config.epsilon_frames)
        return config.epsilon + (config.first_epsilon - config.epsilon) * left

    def _log(self, rate: float) -> None:
        losses = {f"loss_{name}": learner.fit.take_losses() for name, learner in self.learners.items()}
        self.run.log(
            iteration=self.iteration,
            frames=self.frames,
            games=self.games,
            rate=rate,
            **{name: float(np.mean(values)) for name, values in losses.items() if values},
            **self.trial(),
        )

    def trial(self) -> dict[str, float]:
        """The share of games that the networks win on each seat, where others play at random or as they always do."""
        mine = partial(self.network().evaluator, self.game)
        found = {}
        for seat in self.students:
            sitting = [mine if other == seat else player or random for other, player in enumerate(self.players)]
            gains = play(self.game, sitting, TRIALS, Rng(self.config.seed, "trial")).returns[:, 0, seat]
            found[f"wins_{seat}"] = float((gains > 0).mean() + (gains == 0).mean() / 2)
        return found

    def save(self) -> None:
        """Remembers everything, and gives the networks to those who play."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, learner in self.learners.items():
            arrays |= learner.fit.arrays(name)
        self.network().save(self.run.network, half=True)
        self.run.save(arrays, iteration=self.iteration, frames=self.frames, games=self.games, asked=self.asked)

    def begin(self, file: Path) -> None:
        """Begins with networks that were learned before."""
        network = MoveNetwork.load(file)
        for seat, student in self.students.items():
            student.begin(file, network.of(seat))

    def restore(self, checkpoint: Checkpoint) -> None:
        """Remembers what was saved."""
        self.iteration, self.frames, self.games = map(checkpoint.count, ("iteration", "frames", "games"))
        self.asked = checkpoint.count("asked") if self.config.asynchronous else GROUPS * self.iteration
        for name, learner in self.learners.items():
            learner.fit.restore(name, checkpoint)


def train(game: Game, config: Config, run: Run) -> None:
    """Iteration after iteration."""
    torch.set_num_threads(1)  # seats learn side by side
    training = Training(game, config, run)
    run.open(training.restore, training.begin)
    began, before = run.seconds, training.frames
    with closing(training):
        while training.frames < config.frames and not run.out_of_time:
            speed = (training.frames - before) / max(run.seconds - began, 1e-9)
            run.show(f"{training.frames:,} frames, {speed:,.0f} a second", training.frames, config.frames)
            training.iterate()
            if run.due:
                training.save()
        training.save()
