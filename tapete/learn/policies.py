"""What a network says of many positions at once, as probabilities of moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.rng import Rng
from tapete.core.thought import BatchPolicy
from tapete.learn.late import torch

if TYPE_CHECKING:
    from tapete.nets.torch import Module


def masked_log_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Logarithms of probabilities [N, actions]; those of illegal moves are the lowest number, not minus infinity."""
    return torch.log_softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=1)


def softmax_policy(module: Module, head: str = "policy") -> BatchPolicy:
    """Moves by the softmax of a head over the legal ones."""

    def policy(seen: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        scores, legal = say(module, head, seen), torch.from_numpy(mask)
        return masked_log_softmax(scores, legal).exp().masked_fill(~legal, 0.0).numpy()

    return policy


def greedy_policy(module: Module, head: str = "q") -> BatchPolicy:
    """The legal move that a head rates highest; of equals the first."""

    def policy(seen: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        best = say(module, head, seen).masked_fill(~torch.from_numpy(mask), -torch.inf).argmax(dim=1)
        return np.eye(mask.shape[1], dtype=np.float32)[best.numpy()]

    return policy


def say(module: Module, head: str, seen: NDArray[np.float32]) -> torch.Tensor:
    """What one head says of observations: [N, its size], on the CPU, without gradients."""
    device = next(module.parameters()).device
    with torch.inference_mode():
        return module(torch.from_numpy(seen).to(device))[:, module.architecture.outputs[head]].cpu()


def draw(probabilities: torch.Tensor, generator: torch.Generator) -> NDArray[np.int64]:
    """An action of each row [N], drawn by its probabilities; one with probability 0 never is."""
    drawn: Any = torch.multinomial(probabilities, 1, generator=generator)
    return drawn[:, 0].numpy()


def generator(rng: Rng) -> torch.Generator:
    """A generator of PyTorch's own that begins where the stream is."""
    return torch.Generator().manual_seed(int(rng.words[0] >> np.uint64(1)))
