"""Small dense networks learn in compiled code: all steps of a fit in one call, by Adam, with PyTorch's numbers.

A step of a network of 64 units is some microseconds of arithmetic, where PyTorch takes most of a millisecond to say
what is to be done. Inputs are mostly zeros, and so is half of what a ReLU gives: neither is multiplied. With two layers
of 128 units and 1,024 rows it is as fast as PyTorch, and with larger ones slower.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    DOUBLES,
    FLOAT32_PTR,
    FLOAT_ROWS,
    FLOATS,
    LONGS,
    STATES,
    ahead,
    first_of,
    helper,
    kernel,
    stack_of,
)
from tapete.core.errors import TapeteError
from tapete.nets import Architecture, Network

LANES = 8  # units are filled up to a multiple of it, so that loops over them are vector code
MEAN, SQUARE, EPSILON = 0.9, 0.999, 1e-8  # of Adam, as PyTorch has them
ZERO, TWO = np.float32(0), np.float32(2)

SQUARED_ERROR, CROSS_ENTROPY = 0, 1  # what is to become small, of legal actions


class Lessons(NamedTuple):
    """K decisions, and what a network should say of them."""

    inputs: NDArray[np.float32]  # [K, inputs]
    mask: NDArray[np.bool_]  # [K, actions] what is legal
    wanted: NDArray[np.float32]  # [K, actions] numbers, or probabilities


class Weights(NamedTuple):
    """A network's weights, and what Adam knows of them: layer after layer [inputs, units], then its biases [units]."""

    units: NDArray[np.int64]  # [layers + 1] inputs, and units of each layer, filled up
    now: NDArray[np.float32]  # [weights]
    gradient: NDArray[np.float32]  # [weights]
    mean: NDArray[np.float32]  # [weights] of gradients
    square: NDArray[np.float32]  # [weights] mean of their squares


class Scratch(NamedTuple):
    """Memory for a batch of rows."""

    given: NDArray[np.float32]  # [batch * units of all layers] what each layer gave
    blame: NDArray[np.float32]  # the same: how the error changes with it
    turned: NDArray[np.float32]  # [widest * widest] weights of a layer, its inputs one below the other
    list: NDArray[np.int64]  # [widest or inputs + 1] which numbers are not 0


class Course(NamedTuple):
    """What is learned when."""

    chosen: NDArray[np.int64]  # [turns, batch] rows of lessons; after the last turn comes the first again
    share: NDArray[np.float32]  # [batch] how much each counts; together 1
    rates: NDArray[np.float64]  # [steps] step size of Adam
    clip: Any  # longest gradient
    loss: Any  # SQUARED_ERROR or CROSS_ENTROPY
    before: Any  # steps that were made before


_lanes = stack_of(FLOAT32_PTR, LANES)
LESSONS = types.NamedTuple([FLOAT_ROWS, STATES, FLOAT_ROWS], Lessons)
WEIGHTS = types.NamedTuple([LONGS, FLOATS, FLOATS, FLOATS, FLOATS], Weights)
SCRATCH = types.NamedTuple([FLOATS, FLOATS, FLOATS, LONGS], Scratch)
COURSE = types.NamedTuple([types.int64[:, ::1], FLOATS, DOUBLES, types.float64, types.int64, types.int64], Course)


def can_learn(architecture: Architecture) -> bool:
    """Whether it is dense layers with ReLU, one after another, below one head without it."""
    first, *hidden, head = architecture.layers
    return (
        first.kind == "input"
        and architecture.heads == (head.name,)
        and all(layer.kind == "dense" and not layer.norm and not layer.add for layer in (*hidden, head))
        and bool(hidden)
        and all(layer.activation == "relu" for layer in hidden)
        and not head.activation
    )


class Dense:
    """A network that learns."""

    def __init__(self, network: Network) -> None:
        if not can_learn(network.architecture):
            raise TapeteError("only dense layers with ReLU below one head are learned by compiled code")
        self.architecture, self.steps = network.architecture, 0
        self.names = [layer.name for layer in network.architecture.layers[1:]]
        self.shapes = [network.weights[f"{name}.weight"].shape for name in self.names]  # units, inputs
        hidden = [-(-units // LANES) * LANES for units, _ in self.shapes[:-1]]
        units = np.array([self.shapes[0][1], *hidden, self.shapes[-1][0]])
        sizes = (units[:-1] + 1) * units[1:]
        self.ends = np.concatenate([[0], np.cumsum(sizes)])
        self.weights = Weights(units, *(np.zeros(self.ends[-1], dtype=np.float32) for _ in range(4)))
        for layer, name in enumerate(self.names):
            into, bias = self._parts(layer)
            into[:] = network.weights[f"{name}.weight"]
            bias[:] = network.weights[f"{name}.bias"]

    def _parts(self, layer: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Views of a layer's weights [units, inputs] and biases [units], without what fills them up."""
        n, m = (int(count) for count in self.weights.units[layer : layer + 2])
        own, (units, inputs) = self.weights.now[self.ends[layer] : self.ends[layer + 1]], self.shapes[layer]
        matrix = own[: n * m].reshape(m, n) if layer else own[: n * m].reshape(n, m).T
        return matrix[:units, :inputs], own[n * m :][:units]

    def network(self, **about: object) -> Network:
        """What it has become."""
        weights: dict[str, NDArray[np.float32]] = {}
        for layer, name in enumerate(self.names):
            into, bias = self._parts(layer)
            weights |= {f"{name}.weight": np.ascontiguousarray(into), f"{name}.bias": bias.copy()}
        return Network(self.architecture, weights, dict(about))

    def learn(
        self,
        lessons: Lessons,
        chosen: NDArray[np.int64],
        share: NDArray[np.float32],
        rates: NDArray[np.float64],
        *,
        loss: int,
        clip: float = np.inf,
    ) -> NDArray[np.float64]:
        """A step of Adam for each of the rates; returns the losses before them [steps].

        :param chosen: [turns, batch] the rows of each step; after the last turn comes the first again.
        :param share: [batch] how much each row of a step counts.
        """
        units, batch = self.weights.units, chosen.shape[1]
        rooms = batch * int(units[1:].sum())
        widest = int(units.max())
        given, blame, turned = (np.zeros(n, dtype=np.float32) for n in (rooms, rooms, widest * widest))
        scratch = Scratch(given, blame, turned, np.zeros(widest + 1, dtype=np.int64))
        losses = np.zeros(len(rates))
        course = Course(np.ascontiguousarray(chosen), share, rates, float(clip), loss, self.steps)
        _learn(self.weights, scratch, lessons._replace(mask=lessons.mask.view(np.uint8)), course, losses)
        self.steps += len(rates)
        return losses


@kernel(types.void(WEIGHTS, SCRATCH, LESSONS, COURSE, DOUBLES))
def _learn(weights: Any, scratch: Any, lessons: Any, course: Any, losses: Any) -> None:
    turns = len(course.chosen)
    for step in range(len(course.rates)):
        chosen = course.chosen[step % turns]
        _go_forward(weights, scratch, lessons.inputs, chosen)
        losses[step] = _blame(weights, scratch, lessons, chosen, course.share, course.loss)
        _go_back(weights, scratch, lessons.inputs, chosen)
        _follow(weights, course.rates[step], course.clip, course.before + step + 1)


@helper
def _go_forward(weights: Any, scratch: Any, inputs: Any, chosen: Any) -> None:
    """Fills in what each layer gives for each row."""
    units, w, y, batch = weights.units, first_of(weights.now), first_of(scratch.given), len(chosen)
    x, last = y, len(units) - 2
    for layer in range(last + 1):
        n, m, turned = units[layer], units[layer + 1], w
        if 0 < layer < last:
            turned = first_of(scratch.turned)
            for k in range(n):
                for j in range(m):
                    turned[k * m + j] = w[j * n + k]
        for i in range(batch):
            source = first_of(inputs[chosen[i]]) if layer == 0 else ahead(x, i * n)
            target = ahead(y, i * m)
            _copy(ahead(w, n * m), target, m)
            if layer < last:
                _add_rows(source, n, turned, target, m, first_of(scratch.list))
                for j in range(m):
                    target[j] = max(target[j], ZERO)
            else:
                for j in range(m):
                    target[j] += _dot(source, ahead(w, j * n), n)
        x, y, w = y, ahead(y, batch * m), ahead(w, (n + 1) * m)


@helper
def _blame(weights: Any, scratch: Any, lessons: Any, chosen: Any, share: Any, loss: int) -> float:
    """How the loss changes with each number that the network said; returns the loss."""
    wide, batch, actions = weights.units[-1], len(chosen), lessons.mask.shape[1]
    start = len(scratch.given) - batch * wide
    total = 0.0
    for i in range(batch):
        said, blame = scratch.given[start + i * wide :], scratch.blame[start + i * wide :]
        legal, wanted = lessons.mask[chosen[i]], lessons.wanted[chosen[i]]
        for a in range(wide):
            blame[a] = ZERO
        if loss == SQUARED_ERROR:
            for a in range(actions):
                if legal[a]:
                    error = said[a] - wanted[a]
                    total += share[i] * error * error
                    blame[a] = TWO * share[i] * error
        else:
            total += share[i] * _cross_entropy(said, legal, wanted, actions, blame)
            for a in range(actions):
                blame[a] *= share[i]
    return total


@helper
def _cross_entropy(said: Any, legal: Any, wanted: Any, actions: int, blame: Any) -> float:
    """Of the softmax over legal actions with what is wanted; `blame` is how it changes with what was said."""
    most, whole, mass, found = np.float32(-np.inf), 0.0, 0.0, 0.0
    for a in range(actions):
        if legal[a]:
            most = max(most, said[a])
    for a in range(actions):
        if legal[a]:
            whole += np.exp(said[a] - most)
            mass += wanted[a]
    for a in range(actions):
        if legal[a]:
            found -= wanted[a] * (said[a] - most - np.log(whole))
            blame[a] = mass * np.exp(said[a] - most) / whole - wanted[a]
    return found


@helper
def _go_back(weights: Any, scratch: Any, inputs: Any, chosen: Any) -> None:
    """Fills in the gradient, from the last layer to the first."""
    units, batch = weights.units, len(chosen)
    at, here = len(weights.now), len(scratch.given)
    for n in range(len(weights.gradient)):
        weights.gradient[n] = ZERO
    for layer in range(len(units) - 2, -1, -1):
        n, m = units[layer], units[layer + 1]
        at, here = at - (n + 1) * m, here - batch * m
        w, gradient = ahead(first_of(weights.now), at), ahead(first_of(weights.gradient), at)
        before = here - batch * n  # where the layer before lies, if there is one
        for i in range(batch):
            blame = ahead(first_of(scratch.blame), here + i * m)
            _add(np.float32(1), blame, ahead(gradient, n * m), m)
            if layer == 0:
                _add_to_rows(first_of(inputs[chosen[i]]), n, blame, gradient, m)
            else:
                source, target = (
                    ahead(first_of(scratch.given), before + i * n),
                    ahead(first_of(scratch.blame), before + i * n),
                )
                _add_to_rows(blame, m, source, gradient, n)
                for k in range(n):
                    target[k] = ZERO
                _add_rows(blame, m, w, target, n, first_of(scratch.list))
                for k in range(n):  # a ReLU that gave nothing is not to blame
                    target[k] = target[k] if source[k] > ZERO else ZERO


@helper
def _follow(weights: Any, rate: float, clip: float, step: int) -> None:
    """A step of Adam along the gradient, which is shortened if it is too long."""
    length = 0.0
    for g in weights.gradient:
        length += g * g
    shorter = np.float32(min(clip / (np.sqrt(length) + 1e-6), 1.0))
    now, gradient = first_of(weights.now), first_of(weights.gradient)
    mean, square = first_of(weights.mean), first_of(weights.square)
    pace = np.float32(rate / (1 - MEAN**step))
    width = np.float32(1 / np.sqrt(1 - SQUARE**step))
    keep, take, keep_square, take_square = (
        np.float32(MEAN),
        np.float32(1 - MEAN),
        np.float32(SQUARE),
        np.float32(1 - SQUARE),
    )
    epsilon = np.float32(EPSILON)
    for n in range(len(weights.now)):
        g = gradient[n] * shorter
        mean[n] = keep * mean[n] + take * g
        square[n] = keep_square * square[n] + take_square * g * g
        now[n] -= pace * mean[n] / (np.sqrt(square[n]) * width + epsilon)


@helper
def _copy(source: Any, target: Any, n: int) -> None:
    for j in range(n):
        target[j] = source[j]


@helper
def _add(factor: Any, source: Any, target: Any, n: int) -> None:
    for j in range(n):
        target[j] += factor * source[j]


@helper
def _add_rows(factors: Any, count: int, rows: Any, target: Any, n: int, found: Any) -> None:
    """Adds rows [count, n] to the target [n], each with its factor; `found` is memory for a list of factors."""
    some = 0
    for k in range(count):
        found[some] = k
        some += factors[k] != ZERO
    for four in range(0, some - 3, 4):
        f0, f1, f2, f3 = (
            factors[found[four]],
            factors[found[four + 1]],
            factors[found[four + 2]],
            factors[found[four + 3]],
        )
        r0, r1 = ahead(rows, found[four] * n), ahead(rows, found[four + 1] * n)
        r2, r3 = ahead(rows, found[four + 2] * n), ahead(rows, found[four + 3] * n)
        for j in range(n):
            target[j] += (f0 * r0[j] + f1 * r1[j]) + (f2 * r2[j] + f3 * r3[j])
    for one in range(some - some % 4, some):
        _add(factors[found[one]], ahead(rows, found[one] * n), target, n)


@helper
def _add_to_rows(factors: Any, count: int, source: Any, rows: Any, n: int) -> None:
    """Adds the source [n] to rows [count, n], to each with its factor."""
    for k in range(count):
        if factors[k] != ZERO:
            _add(factors[k], source, ahead(rows, k * n), n)


@helper
def _dot(x: Any, y: Any, n: int) -> Any:
    """The sum of products; n is a multiple of LANES."""
    sums = _lanes()
    for lane in range(LANES):
        sums[lane] = ZERO
    for k in range(0, n, LANES):
        for lane in range(LANES):
            sums[lane] += x[k + lane] * y[k + lane]
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))
