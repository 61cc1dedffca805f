"""The genetic operators. An individual is [genes, 2] thresholds; its `used` genes are those that decided something."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tapete.core.breeding import MOST

Individuals = NDArray[np.int8]  # [individuals, genes, 2]; one of them: [genes, 2]
Genes = NDArray[np.bool_]  # [genes] those that are meant


def random_individuals(count: int, genes: int, draws: Generator) -> Individuals:
    """Thresholds anywhere."""
    return draws.integers(-MOST, MOST, size=(count, genes, 2), dtype=np.int8, endpoint=True)


def tournament(fitness: NDArray[np.float64], size: int, draws: Generator) -> int:
    """The best of so many individuals that are drawn."""
    drawn = draws.integers(len(fitness), size=size)
    return int(drawn[np.argmax(fitness[drawn])])


def from_random_point(used: Genes, points: int, draws: Generator) -> Genes:
    """All genes from a point on that may be anywhere but at the beginning."""
    return np.arange(len(used)) >= draws.integers(1, len(used))


def from_middle_of_used(used: Genes, points: int, draws: Generator) -> Genes:
    """All genes from that one on which has half of the used genes before it."""
    places = np.flatnonzero(used)
    return np.arange(len(used)) >= (places[len(places) // 2] if len(places) else len(used))


def random_genes(used: Genes, points: int, draws: Generator) -> Genes:
    """Any genes; one that is drawn twice counts once."""
    return _drawn(np.arange(len(used)), points, len(used), draws)


def used_genes(used: Genes, points: int, draws: Generator) -> Genes:
    """Of the used genes, as many as are drawn; one that is drawn twice counts once."""
    return _drawn(np.flatnonzero(used), points, len(used), draws)


CROSSOVERS = (from_random_point, from_middle_of_used, random_genes, used_genes)


def _drawn(places: NDArray[np.int64], points: int, genes: int, draws: Generator) -> Genes:
    chosen = np.zeros(genes, dtype=np.bool_)
    if len(places):
        chosen[places[draws.integers(len(places), size=points)]] = True
    return chosen


def exchange(a: Individuals, b: Individuals, genes: Genes) -> tuple[Individuals, Individuals]:
    """Two children: each has those genes from one parent and the others from the other."""
    pairs_a, pairs_b = _pairs(a), _pairs(b)
    children = np.where(genes, pairs_b, pairs_a), np.where(genes, pairs_a, pairs_b)
    return children[0].view(np.int8).reshape(a.shape), children[1].view(np.int8).reshape(b.shape)


def _pairs(individual: Individuals) -> NDArray[np.int16]:
    """[genes] both thresholds of a gene as one number, because that is copied faster."""
    return np.ascontiguousarray(individual).reshape(-1).view(np.int16)


def mutate(individual: Individuals, used: Genes, times: int, variance: float, draws: Generator) -> Individuals:
    """Changes both thresholds of used genes by at most a share `variance` of the range from -100 to 100."""
    genes, step = used_genes(used, times, draws), round(variance * 200)
    places = np.flatnonzero(genes)
    changed = individual.copy()
    moved = changed[places] + draws.integers(-step, step, size=(len(places), 2), endpoint=True)
    changed[places] = np.clip(moved, -MOST, MOST)
    return changed


def breed(
    population: Individuals, fitness: NDArray[np.float64], used: NDArray[np.bool_], *, size: int, points: int,
    mutations: int, variance: float, draws: Generator,
) -> Individuals:  # fmt: skip
    """As many children as there are individuals. A generation has one crossover, drawn for all its pairs."""
    crossover = CROSSOVERS[draws.integers(len(CROSSOVERS))]
    children: list[Individuals] = []
    while len(children) < len(population):
        a, b = tournament(fitness, size, draws), tournament(fitness, size, draws)
        pair = exchange(population[a], population[b], crossover(used[a], points, draws))
        for child, parent in zip(pair, (a, b), strict=True):
            children.append(mutate(child, used[parent], mutations, variance, draws))
    return np.stack(children[: len(population)])
