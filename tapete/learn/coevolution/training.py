"""Co-evolution: a population, its trainers, and when one of them is replaced."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tapete.core.breeding import Contest, Results, species_of
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.learn.buffers import numpy_generator
from tapete.learn.coevolution import Config
from tapete.learn.coevolution.operators import breed, mutated, random_individuals
from tapete.learn.coevolution.separable import Separable
from tapete.learn.run import Checkpoint, Run, networks_in
from tapete.scale import Job

LEAST, MOST, PARCELS = 16, 64, 32  # individuals of a parcel; parcels that there should be at least
Done = TypeVar("Done")
Kind = TypeVar("Kind", bound=np.generic)


class Brought(NamedTuple):
    """What is brought back of a contest, maybe from far away: no more than is needed, and that packed."""

    gains: NDArray[np.float64]  # [individuals, 1] payoffs of all deals
    others: NDArray[np.float64]  # [individuals, opponents]
    used: NDArray[np.uint8]  # [individuals, genes / 8] bits
    hands: int
    simulated: int


def open_contest(stop: Event, *, contest: Contest) -> Callable[[NDArray[np.int8]], Brought]:
    """What lets some individuals play: the job of a contest."""

    def play(individuals: NDArray[np.int8]) -> Brought:
        gains, others, used, hands, simulated = contest.play(individuals)
        return Brought(gains.sum(axis=1, keepdims=True), others, np.packbits(used, axis=1), hands, simulated)

    return play


def joined(parts: Sequence[Brought], genes: int) -> Results:
    """Results of all individuals, one part after another."""
    gains, others, bits = (np.concatenate([part[i] for part in parts]) for i in range(3))
    used = np.unpackbits(bits, axis=1, count=genes).view(np.bool_)
    return Results(gains, others, used, sum(part.hands for part in parts), sum(part.simulated for part in parts))


def rows_of(groups: Sequence[NDArray[Kind]], order: NDArray[np.int64]) -> NDArray[Kind]:
    """The rows of this order, counted through groups that lie one after another; what is not chosen is not copied."""
    rows = np.empty((len(order), *groups[0].shape[1:]), dtype=groups[0].dtype)
    first = 0
    for group in groups:
        here = (order >= first) & (order < first + len(group))
        rows[here] = group[order[here] - first]
        first += len(group)
    return rows


class Training:
    """A run: population, trainers and hall of fame, and how many replacements and generations there were."""

    def __init__(self, game: Game, config: Config, run: Run) -> None:
        self.config, self.run = config, run
        self.species = species = species_of(game, config.factors)
        self.seats = species.opponents
        if config.hall + config.guests >= self.seats:
            raise TapeteError(f"hall and guests leave no seat to the trainers: there are {self.seats}")
        self.fixed = [species.read(path) for path in networks_in(config.trainers)]
        if self.fixed and len(self.fixed) != self.seats:
            raise TapeteError(f"trainers must be {self.seats} players, not {len(self.fixed)}")
        self.guests = list(species.written_here())
        first = random_individuals(self.seats + config.population, species.genes, self._draws("first"))
        self.trainers, self.population = first[: self.seats], first[self.seats :]
        if config.founders:
            self.population = self._descendants()
        if self.fixed:
            self.trainers = np.stack([player.thresholds for player in self.fixed])
        self.separable = Separable(self.population, self._draws("cma")) if config.optimiser == "cma" else None
        self.hall = self.trainers[:0]  # [so far, genes, 2] all that became trainers, the oldest first
        self.replacement = self.generation = self.total = 0  # generations since the last replacement, and in all
        self.drawn = 0  # the generation in which deals and tables were drawn
        self.hands = self.simulated = self.lines = 0
        self.played_seconds = 0.0

    def _draws(self, *names: int | str) -> np.random.Generator:
        return numpy_generator(Rng(self.config.seed, *names))

    def _descendants(self) -> NDArray[np.int8]:
        """A first population: rule-based players, mutated."""
        config, rng = self.config, Rng(self.config.seed, "founders")
        founders = np.stack([self.guests[i % len(self.guests)].thresholds for i in range(config.population)])
        return mutated(founders, mutations=config.mutations, variance=config.variance, rng=rng)

    def get_ready(self) -> None:
        """Deals the cards; takes some seconds."""
        config, threads = self.config, self.run.threads
        self.run.show("dealing", 0, 1)
        seed = Rng(config.seed, "deals")
        self.pool = self.species.deals(max(config.deals, config.pool), seed.spawn("train"), threads=threads)
        held_out = self.species.deals(config.test_deals, seed.spawn("test"), threads=threads)
        strangers = random_individuals(self.seats, self.species.genes, self._draws("strangers"))
        mixed = [self.guests[i % len(self.guests)] for i in range(self.seats)]
        self.tests = {
            "against_random": self.species.contest(held_out, [self.species.player(genes) for genes in strangers]),
            "against_rules": self.species.contest(held_out, mixed),
        }
        self.tests["against_rules"].play(self.population[:1])  # compiles what will be timed

    def meet(self) -> None:
        """The contest against the trainers of now."""
        config, draws = self.config, self._draws("tables", self.drawn)
        deals = self.pool
        if config.pool > config.deals:
            chosen = draws.choice(config.pool, size=config.deals, replace=False)
            deals = self.species.some(self.pool, np.sort(chosen))
        trainers = self.fixed or [self.species.player(genes) for genes in self.trainers]
        famous = [self.species.player(genes) for genes in self.hall]
        players = [*trainers, *self.guests, *famous]
        self.lineups = np.tile(np.arange(self.seats), (config.deals, 1))
        of_guests, of_famous = np.arange(len(self.guests)), np.arange(len(famous))
        for deal in range(config.deals if config.guests or config.hall else 0):
            free = draws.permutation(self.seats)
            for seats, kind, begin in (
                (free[: config.guests], of_guests, self.seats),
                (free[config.guests : config.guests + config.hall], of_famous, self.seats + len(of_guests)),
            ):
                if len(kind):
                    self.lineups[deal, seats] = begin + draws.choice(kind, size=len(seats))
        self.contest = self._timed(lambda: self.species.contest(deals, players, self.lineups, threads=self.run.threads))
        self.playing = Job(f"{__name__}:open_contest", {"contest": self.contest})
        sat = np.bincount(self.lineups.reshape(-1), minlength=self.seats)[: self.seats]
        self.share = config.deals / np.maximum(sat, 1)  # what a trainer won counts as if it had sat at every table

    def _timed(self, work: Callable[[], Done]) -> Done:
        """Does what playing consists of, and notes how long it took."""
        began = time.perf_counter()
        done = work()
        self.played_seconds += time.perf_counter() - began
        return done

    def play(self, individuals: NDArray[np.int8]) -> Results:
        """Lets individuals play, and counts."""
        size = min(max(len(individuals) // PARCELS, LEAST), MOST)
        parcels = [individuals[i : i + size] for i in range(0, len(individuals), size)]
        found = self._timed(lambda: dict(self.run.executor.spread(self.playing, parcels)))
        results = joined([found[i] for i in range(len(parcels))], self.species.genes)
        if self.run.tell_all:
            for i, individual in enumerate(individuals, 1):
                self.retell(individual, f"individual {i} of {self.total}")
        self.hands += results.hands
        self.simulated += results.simulated
        return results

    def retell(self, individual: NDArray[np.int8], name: str) -> None:
        """Tells all hands of an individual in the contest of now, if anybody wants to know."""
        if self.run.tell:
            kinds = {"trainer": self.seats, "guest": len(self.guests), "famous": len(self.hall)}
            names = [f"{kind} {i}" for kind, count in kinds.items() for i in range(1, count + 1)]
            for actions, who in self.contest.retold(individual):
                self.run.tell(actions, [name if i < 0 else names[i] for i in who])

    def judge_all(self) -> None:
        """The whole population against the trainers of now, on deals that are drawn now."""
        self.drawn = self.total
        self.meet()
        self.lines += self.contest.lines
        self._rank([self.population], [self.play(self.population)])

    def _rank(self, individuals: Sequence[NDArray[np.int8]], results: Sequence[Results]) -> None:
        """The best individuals of some groups make up the population, the very best first.

        Of equals, those that came first.
        """
        gains = np.concatenate([group.gains.sum(axis=1) for group in results])
        order = np.argsort(-gains, kind="stable")[: self.config.population]
        self.population, self.fitness = rows_of(individuals, order), gains[order]
        self.used = rows_of([group.used for group in results], order)
        others = rows_of([group.others[:, : self.seats] for group in results], order)
        self.trainer_gains = others * self.share

    def _children(self) -> NDArray[np.int8]:
        """As many as there are individuals."""
        if self.separable:
            return self.separable.children()
        config = self.config
        return breed(
            self.population, self.fitness, self.used, size=config.tournament, points=config.points,
            mutations=config.mutations, variance=config.variance, rng=Rng(config.seed, "generation", self.total),
            threads=self.run.threads,
        )  # fmt: skip

    def next_generation(self) -> None:
        """Children are born and play, and the best live on."""
        children = self._children()
        born = self.play(children)
        if self.separable:
            self.separable.tell(born.gains.sum(axis=1))
        before = Results(self.fitness[:, None], self.trainer_gains / self.share, self.used, 0, 0)
        self._rank([self.population, children], [before, born])
        self.generation += 1
        self.total += 1

    @property
    def beats_trainers(self) -> bool:
        """Whether the best individual wins, and wins more than the best trainer at its table."""
        return not self.fixed and self.fitness[0] > max(0.0, self.trainer_gains[0].max())

    def replace_worst(self) -> None:
        """The best individual takes the place of the worst trainer at its table."""
        worst = int(np.argmin(self.trainer_gains[0]))
        self.hall = np.concatenate([self.hall, self.population[:1]])
        self.trainers = self.trainers.copy()
        self.trainers[worst] = self.population[0]
        self.replacement += 1
        self.generation = 0

    @property
    def is_stuck(self) -> bool:
        """Whether a trainer took too many generations."""
        return not self.fixed and self.generation >= self.config.generations

    @property
    def is_over(self) -> bool:
        """Whether all trainers are bred, or one took too long."""
        return self.replacement >= self.config.replacements or self.generation >= self.config.generations

    def log(self, took: int) -> None:
        """Notes how good the best individual is; `took` generations it was bred for."""
        step = {} if self.fixed else {"replacement": self.replacement, "generations": took}
        hands = self.config.deals * self.species.hands
        measured = {}
        for name, contest in self.tests.items():
            gains = contest.play(self.population[:1]).gains[0] / self.species.hands
            measured[name] = round(float(gains.mean()), 4)
            measured[f"{name}_error"] = (
                round(float(gains.std(ddof=1) / np.sqrt(len(gains))), 4) if len(gains) > 1 else 0.0
            )
        rate = 1 / max(self.played_seconds, 1e-9)
        self.run.log(
            **step, generation=self.total, **measured, best=round(float(self.fitness[0]) / hands, 4),
            trainer=round(float(self.trainer_gains[0].max()) / hands, 4), used=round(float(self.used[0].mean()), 4),
            hands=self.hands, lines=self.lines,
            hands_per_second=round(self.hands * rate), simulated_per_second=round(self.simulated * rate),
        )  # fmt: skip

    def save_player(self) -> None:
        """Writes what plays: the best individual."""
        about = {"learner": "coevolution", "seed": self.config.seed, "generations": self.total}
        self.species.player(self.population[0], **about).save(self.run.network)

    def save(self) -> None:
        """Remembers everything."""
        arrays = {
            "trainers": self.trainers, "population": self.population, "hall": self.hall, "fitness": self.fitness,
            "used": self.used.astype(np.uint8), "trainer_gains": self.trainer_gains,
        }  # fmt: skip
        if self.separable:
            arrays["told"] = np.stack(self.separable.told)
        counts = {name: getattr(self, name) for name in COUNTS}
        self.run.save(arrays, played_seconds=self.played_seconds, **counts)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Goes back to where a checkpoint was."""
        genes, n = self.species.genes, self.config.population
        self.trainers = checkpoint.take("trainers", np.int8, self.seats, genes, 2)
        self.population = checkpoint.take("population", np.int8, n, genes, 2)
        self.hall = checkpoint.take("hall", np.int8, None, genes, 2)
        self.fitness = checkpoint.take("fitness", np.float64, n)
        self.used = checkpoint.take("used", np.uint8, n, genes).astype(np.bool_)
        self.trainer_gains = checkpoint.take("trainer_gains", np.float64, n, self.seats)
        if self.separable:
            self.separable.remember(checkpoint.take("told", np.float64, None, n))
        for name in COUNTS:
            setattr(self, name, checkpoint.count(name))
        self.played_seconds = float(checkpoint.notes.get("played_seconds", 0.0))


COUNTS = ("replacement", "generation", "total", "drawn", "hands", "simulated", "lines")


def train(game: Game, config: Config, run: Run) -> None:
    """Breeds until the trainers are bred, one takes too long, or the time is over."""
    training = Training(game, config, run)
    if checkpoint := run.load():
        training.restore(checkpoint)
    if training.is_over and not run.tell:
        return
    training.get_ready()
    if checkpoint:
        training.meet()
    else:
        training.judge_all()
    total = config.generations if training.fixed else config.replacements
    while not training.is_over and not run.out_of_time:
        run.show(f"generation {training.total}", training.total if training.fixed else training.replacement, total)
        training.next_generation()
        if training.fixed or training.beats_trainers:
            took = training.generation
            if not training.fixed:
                training.replace_worst()
                training.log(took)
                training.judge_all()
            elif training.total % 10 == 0 or training.is_over:
                training.log(took)
        if config.fresh and training.total % config.fresh == 0 and training.drawn < training.total:
            training.judge_all()
        if training.is_stuck:
            training.log(training.generation)
        if run.due or training.is_over:
            training.save()
            training.save_player()
    training.save_player()
    if not run.tell_all:
        training.retell(training.population[0], "best")
