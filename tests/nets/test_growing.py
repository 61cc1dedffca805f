"""Networks that have grown say what they said before."""

from __future__ import annotations

import numpy as np
import pytest

from tapete.core import Rng, TapeteError
from tapete.nets import Architecture, Layer, Network
from tapete.nets.growing import grow
from tapete.nets.moves import architectures
from tapete.nets.zoo import heads, mlp

ROWS = np.random.default_rng(1).normal(size=(50, 9))


def assert_grows(small: Network, large: Network) -> Network:
    grown = grow(small, large)
    assert grown.architecture == large.architecture
    assert np.allclose(grown.forward(ROWS), small.forward(ROWS), atol=1e-6)
    assert not np.allclose(grown.forward(ROWS), large.forward(ROWS), atol=1e-3)
    return grown


@pytest.mark.parametrize("hidden", [(16, 8), (20, 8), (16, 12), (32, 32), (16, 8, 8), (20, 30, 40, 50)])
def test_wider_and_deeper_networks_say_the_same(hidden: tuple[int, ...]) -> None:
    small = Network.random(heads(9, (16, 8), policy=5, value=2), Rng(1))
    assert_grows(small, Network.random(heads(9, hidden, policy=5, value=2), Rng(2)))


def test_nobody_listens_to_new_units_which_have_weights_of_their_own() -> None:
    small, large = (Network.random(mlp(9, (width,)), Rng(width)) for width in (16, 24))
    grown = assert_grows(small, large)
    assert (grown.weights["hidden0.weight"][16:] == large.weights["hidden0.weight"][16:]).all()
    assert (grown.weights["hidden0.weight"][16:] != 0).all()
    assert (grown.weights["value.weight"][:, 16:] == 0).all()


def test_networks_that_score_moves_grow_together() -> None:
    small, large = (
        [Network.random(part, Rng(i)) for i, part in enumerate(shapes)]
        for shapes in (architectures(9, 4, units=16), architectures(9, 4, units=24, trunk=(160, 160), hidden=3))
    )
    features = np.random.default_rng(2).normal(size=(50, 4))

    def score(state: Network, move: Network) -> np.ndarray:
        return move.forward(np.hstack([state.forward(ROWS), features]))

    grown = grow(small[0], large[0], between="state"), grow(small[1], large[1], between="state")
    assert np.allclose(score(*grown), score(*small), atol=1e-6)
    assert grown[1].architecture == large[1].architecture


@pytest.mark.parametrize(
    ("large", "reason"),
    [
        (mlp(9, (12, 8)), "hidden0.weight is [16, 9] there and [12, 9] here"),
        (mlp(10, (16, 8)), "the layer seen has 9 numbers there and 10 here"),
        (mlp(9, (16,)), "the layer hidden1 is not here"),
        (mlp(9, (16, 8), actions=3), r"it says \('value',\) there"),
        (mlp(9, (16, 8), values=2), "the layer value has 1 numbers there and 2 here"),
    ],
)
def test_what_can_not_grow_is_told(large: Architecture, reason: str) -> None:
    with pytest.raises(TapeteError, match=reason.replace("[", r"\[")):
        grow(Network.random(mlp(9, (16, 8)), Rng(1)), Network.random(large, Rng(2)))


def test_a_new_layer_stands_behind_a_rectified_one() -> None:
    def bent(*, new: bool) -> Architecture:
        extra = (Layer("dense", units=16, activation="relu", name="new"),) if new else ()
        first = Layer("dense", units=16, activation="tanh", name="first")
        ends = (*extra, Layer("dense", units=1, name="value"))
        return Architecture((Layer("input", shape=(9,), name="seen"), first, *ends))

    with pytest.raises(TapeteError, match="the layer new is not there"):
        grow(Network.random(bent(new=False), Rng(1)), Network.random(bent(new=True), Rng(2)))
