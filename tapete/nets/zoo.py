"""The architectures that this package uses."""

from __future__ import annotations

from tapete.nets.architecture import Architecture, Layer, Shape


def paper_cnn(size: int = 8, *, planes: int = 2, channels: Shape = (32, 64, 128), hidden: int = 256) -> Architecture:
    """The value network of the Othello paper (section III.D): 3x3 convolutions, dropout, dense 256, tanh.

    The paper says how the convolutions end (8 x 8 x 128, flattened to 8192); that 32 and 64 come before is our choice.
    """
    return Architecture(
        (
            Layer("input", shape=(planes, size, size)),
            *(Layer("conv", units=units, activation="relu") for units in channels),
            Layer("dropout", rate=0.5),
            Layer("dense", units=hidden, activation="relu"),
            Layer("dense", units=1, activation="tanh", name="value"),
        )
    )


def residual(
    shape: Shape,
    actions: int,
    *,
    channels: int = 32,
    blocks: int = 3,
    hidden: int = 32,
    policy: int = 2,
    value: int = 1,
) -> Architecture:
    """Policy and value above residual blocks, as AlphaZero's; the heads read `policy` and `value` planes."""
    tower = [Layer("conv", units=channels, norm=True, activation="relu", name="block0")]
    for i in range(blocks):
        tower += [
            Layer("conv", units=channels, norm=True, activation="relu"),
            Layer("conv", units=channels, norm=True, activation="relu", add=f"block{i}", name=f"block{i + 1}"),
        ]
    top = (tower[-1].name,)
    return Architecture(
        (
            Layer("input", shape=shape),
            *tower,
            Layer("conv", units=policy, size=1, norm=True, activation="relu", of=top),
            Layer("dense", units=actions, name="policy"),
            Layer("conv", units=value, size=1, norm=True, activation="relu", of=top),
            Layer("dense", units=hidden, activation="relu"),
            Layer("dense", units=1, activation="tanh", name="value"),
        ),
        heads=("policy", "value"),
    )


def mlp(inputs: int, hidden: Shape = (128, 128), *, actions: int = 0, values: int = 1) -> Architecture:
    """Dense layers; a value, or one a seat, and with `actions` a policy too."""
    return heads(inputs, hidden, **({"policy": actions} if actions else {}), value=values)


def heads(inputs: int, hidden: Shape, **units: int) -> Architecture:
    """Dense layers below heads with so many numbers each, by name; a head "value" ends in tanh.

    >>> heads(9, (16,), policy=2, value=1).heads
    ('policy', 'value')
    """
    trunk = (
        Layer("input", shape=(inputs,), name="seen"),
        *(Layer("dense", units=width, activation="relu", name=f"hidden{i}") for i, width in enumerate(hidden)),
    )
    top = (trunk[-1].name,)
    ends = (
        Layer("dense", units=n, of=top, name=name, activation="tanh" if name == "value" else "")
        for name, n in units.items()
    )
    return Architecture((*trunk, *ends), heads=tuple(units))


def lstm_mlp(
    steps: int, size: int, features: int, *, memory: int = 128, hidden: Shape = (512,) * 5, activation: str = ""
) -> Architecture:
    """Scores a move as DouZero does: an LSTM over the history [steps, size], the features behind it, dense layers.

    A row is the history, then the features.
    """
    return Architecture(
        (
            Layer("input", shape=(steps, size)),
            Layer("lstm", units=memory, name="memory"),
            Layer("input", shape=(features,), offset=steps * size, name="features"),
            Layer("concat", of=("memory", "features")),
            *(Layer("dense", units=units, activation="relu") for units in hidden),
            Layer("dense", units=1, activation=activation, name="value"),
        )
    )
