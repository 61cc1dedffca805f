"""Dense networks that learn in compiled code, beside PyTorch, which nobody here wrote."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tapete.core import Rng, TapeteError
from tapete.learn.dense import CROSS_ENTROPY, SQUARED_ERROR, Dense, Lessons
from tapete.learn.late import nets
from tapete.learn.policies import masked_log_softmax
from tapete.nets import Network
from tapete.nets.zoo import heads, mlp

LESSONS, ACTIONS, BATCH, STEPS = 30, 5, 12, 40


def some_lessons(inputs: int, loss: int, *, sparse: float = 0.5) -> Lessons:
    draws = np.random.default_rng(1)
    seen = draws.normal(size=(LESSONS, inputs)) * (draws.random((LESSONS, inputs)) < sparse)
    mask = draws.random((LESSONS, ACTIONS)) < 0.6
    mask[:, 2] = True
    wanted = draws.random((LESSONS, ACTIONS)) * mask
    if loss == CROSS_ENTROPY:
        wanted /= wanted.sum(axis=1, keepdims=True)
    return Lessons(seen.astype(np.float32), mask, wanted.astype(np.float32))


def pytorch(
    network: Network, lessons: Lessons, chosen: NDArray[np.int64], share: NDArray[np.float32], loss: int, clip: float
) -> tuple[Network, list[float]]:
    """The same steps by PyTorch."""
    module = nets.to_torch(network)
    adam = torch.optim.Adam(module.parameters())
    inputs, mask, wanted = (torch.from_numpy(column) for column in lessons)
    losses = []
    for step, rate in enumerate(rates()):
        adam.param_groups[0]["lr"] = rate
        rows = torch.from_numpy(chosen[step % len(chosen)])
        said = module(inputs[rows])
        if loss == SQUARED_ERROR:
            error = ((said - wanted[rows]).square() * mask[rows]).sum(dim=1)
        else:
            error = -(wanted[rows] * masked_log_softmax(said, mask[rows])).sum(dim=1)
        total = (torch.from_numpy(share) * error).sum()
        adam.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), clip)
        adam.step()
        losses.append(total.item())
    return nets.from_torch(module), losses


def rates() -> NDArray[np.float64]:
    return 0.01 * (1 - np.arange(STEPS) / STEPS)


@pytest.mark.parametrize("loss", [SQUARED_ERROR, CROSS_ENTROPY])
@pytest.mark.parametrize(("inputs", "hidden", "clip"), [(7, (16,), np.inf), (7, (13,), 0.2), (30, (24, 9, 16), 0.5)])
def test_steps_are_those_of_pytorch(inputs: int, hidden: tuple[int, ...], clip: float, loss: int) -> None:
    """Losses within 1e-6, weights within 1e-4 (Adam divides by gradients near nothing), after 40 steps."""
    lessons = some_lessons(inputs, loss)
    network = Network.random(heads(inputs, hidden, policy=ACTIONS), Rng(1))
    chosen = np.random.default_rng(2).integers(LESSONS, size=(7, BATCH))
    share = np.random.default_rng(3).random(BATCH).astype(np.float32)
    dense = Dense(network)
    losses = np.concatenate(  # in two pieces: Adam counts on
        [dense.learn(lessons, chosen, share, rates()[:7], loss=loss, clip=clip),
         dense.learn(lessons, chosen, share, rates()[7:], loss=loss, clip=clip)]
    )  # fmt: skip
    other, wanted = pytorch(network, lessons, chosen, share, loss, clip)
    np.testing.assert_allclose(losses, wanted, atol=1e-6)
    learned = dense.network()
    moved = 0.0
    for name, weights in other.weights.items():
        np.testing.assert_allclose(learned.weights[name], weights, atol=1e-4)
        moved = max(moved, float(abs(weights - network.weights[name]).max()))
    assert moved > 0.01, "something was learned"


def test_it_says_what_it_is_and_refuses_what_it_cannot_learn() -> None:
    network = Network.random(heads(4, (8,), q=2), Rng(1))
    same = Dense(network).network(game="kuhn")
    assert same.about == {"game": "kuhn"}
    assert all((same.weights[name] == weights).all() for name, weights in network.weights.items())
    for architecture in (mlp(4, (8,), actions=2), mlp(4, (8,)), heads(4, (), q=2)):  # two heads, tanh, no layer below
        with pytest.raises(TapeteError, match="only dense layers with ReLU below one head"):
            Dense(Network.random(architecture, Rng(1)))
