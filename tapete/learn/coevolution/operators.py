"""The genetic operators. An individual is [genes, 2] thresholds; its `used` genes are those that decided something.

All of them are compiled into `breed`, which makes a generation in one call: in Python, a child took longer to be born
than to be judged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.random import Generator
from numpy.typing import NDArray

from tapete.core.breeding import MOST
from tapete.core.compile import DOUBLES, WORDS, helper, kernel, uint64_ptr
from tapete.core.players import share_out
from tapete.core.rng import Rng, below

Individuals = NDArray[np.int8]  # [individuals, genes, 2]; one of them: [genes, 2]
Genes = NDArray[np.bool_]  # [genes] those that are meant

LITTER = 64  # children that are born in one go; twins are born together
CROSSOVERS = 4
RANDOM_POINT, MIDDLE_OF_USED, RANDOM_GENES, USED_GENES = range(CROSSOVERS)
THRESHOLDS = types.int8[:, :, ::1]
PAIRS = types.int16[:, ::1]
MASKS = types.boolean[:, ::1]


def random_individuals(count: int, genes: int, draws: Generator) -> Individuals:
    """Thresholds anywhere."""
    return draws.integers(-MOST, MOST, size=(count, genes, 2), dtype=np.int8, endpoint=True)


@helper
def tournament(fitness: Any, size: int, rng: Any) -> Any:
    """The best of so many individuals that are drawn."""
    best = below(rng, len(fitness))
    for _ in range(size - 1):
        drawn = below(rng, len(fitness))
        if fitness[drawn] > fitness[best]:
            best = drawn
    return best


@helper
def from_point(genes: Any, point: Any) -> None:
    """All genes from a point on."""
    genes[:point] = False
    genes[point:] = True


@helper
def from_random_point(genes: Any, rng: Any) -> None:
    """All genes from a point on that may be anywhere but at the beginning."""
    from_point(genes, 1 + below(rng, len(genes) - 1))


@helper
def from_middle(genes: Any, used: Any) -> None:
    """All genes from that one on which has half of the used genes before it; none where none was used."""
    from_point(genes, used[len(used) // 2] if len(used) else len(genes))


@helper
def random_genes(genes: Any, points: int, rng: Any) -> None:
    """Any genes; one that is drawn twice counts once."""
    genes[:] = False
    for _ in range(points):
        genes[below(rng, len(genes))] = True


@helper
def used_genes(genes: Any, used: Any, points: int, rng: Any) -> None:
    """Of the used genes, as many as are drawn; one that is drawn twice counts once."""
    genes[:] = False
    for _ in range(points if len(used) else 0):
        genes[used[below(rng, len(used))]] = True


@helper
def choose_genes(genes: Any, crossover: int, used: Any, points: int, rng: Any) -> None:
    """The genes that a pair exchanges."""
    if crossover == RANDOM_POINT:
        from_random_point(genes, rng)
    elif crossover == MIDDLE_OF_USED:
        from_middle(genes, used)
    elif crossover == RANDOM_GENES:
        random_genes(genes, points, rng)
    else:
        used_genes(genes, used, points, rng)


@helper
def exchange(first: Any, second: Any, a: Any, b: Any, genes: Any) -> None:
    """Two children: each has those genes from one parent and the others from the other."""
    for gene in range(len(genes)):
        first[gene] = b[gene] if genes[gene] else a[gene]
        second[gene] = a[gene] if genes[gene] else b[gene]


@helper
def mutate(individual: Any, used: Any, times: int, step: int, genes: Any, rng: Any) -> None:
    """Moves both thresholds of so many used genes, each by at most a step; one that is drawn twice is moved once."""
    genes[:] = False
    for _ in range(times if len(used) else 0):
        gene = used[below(rng, len(used))]
        if not genes[gene]:
            genes[gene] = True
            for which in range(2):
                moved = np.int64(individual[gene, which]) + below(rng, 2 * step + 1) - step
                individual[gene, which] = min(max(moved, -MOST), MOST)


@kernel(types.void(PAIRS, THRESHOLDS, PAIRS, DOUBLES, MASKS, *(types.int64,) * 5, WORDS))
def _breed(
    pairs: Any, children: Any, population: Any, fitness: Any, used: Any, crossover: int, size: int, points: int,
    mutations: int, step: int, words: Any,
) -> None:  # fmt: skip
    """`pairs` are the bytes of `children`: both thresholds of a gene as one number, because that is copied faster."""
    genes, spare, rng = np.empty(used.shape[1], np.bool_), np.empty(used.shape[1], np.int16), uint64_ptr(words)
    for child in range(0, len(children), 2):
        a, b = tournament(fitness, size, rng), tournament(fitness, size, rng)
        used_a, used_b = np.flatnonzero(used[a]), np.flatnonzero(used[b])
        has_twin = child + 1 < len(children)
        choose_genes(genes, crossover, used_a, points, rng)
        exchange(pairs[child], pairs[child + 1] if has_twin else spare, population[a], population[b], genes)
        mutate(children[child], used_a, mutations, step, genes, rng)
        if has_twin:
            mutate(children[child + 1], used_b, mutations, step, genes, rng)


@kernel(types.void(THRESHOLDS, types.int64, types.int64, WORDS))
def _mutate_all(individuals: Any, mutations: int, step: int, words: Any) -> None:
    genes, rng = np.empty(individuals.shape[1], np.bool_), uint64_ptr(words)
    every = np.arange(individuals.shape[1])
    for i in range(len(individuals)):
        mutate(individuals[i], every, mutations, step, genes, rng)


def step_of(variance: float) -> int:
    """How far a threshold goes at most: a share `variance` of the range from -100 to 100."""
    return round(variance * 200)


def breed(
    population: Individuals, fitness: NDArray[np.float64], used: NDArray[np.bool_], *, size: int, points: int,
    mutations: int, variance: float, rng: Rng, threads: int = 1,
) -> Individuals:  # fmt: skip
    """As many children as there are individuals. A generation has one crossover, drawn for all its pairs.

    Litters have random streams of their own, so the children do not depend on the threads.

    :param size: individuals in a tournament, whose best becomes a parent.
    :param points: genes that are drawn by the crossovers which draw some.
    :param mutations: used genes that are drawn in each child, to be mutated.
    """
    population, used = np.ascontiguousarray(population), np.ascontiguousarray(used)
    children = np.empty_like(population)
    pairs, parents = (array.reshape(len(array), -1).view(np.int16) for array in (children, population))
    knobs = (rng.below(CROSSOVERS), size, points, mutations, step_of(variance))

    def bear(thread: int, first: int) -> None:
        litter, words = slice(first, first + LITTER), rng.spawn("litter", first).words
        _breed(pairs[litter], children[litter], parents, fitness, used, *knobs, words)

    share_out(bear, range(threads), range(0, len(children), LITTER))
    return children


def mutated(individuals: Individuals, *, mutations: int, variance: float, rng: Rng) -> Individuals:
    """The individuals, each with so many genes mutated, whichever were used."""
    changed = individuals.copy()
    _mutate_all(changed, mutations, step_of(variance), rng.words)
    return changed
