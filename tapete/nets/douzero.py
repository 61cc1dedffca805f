"""The networks of DouZero (Zha et al. 2021), and its checkpoints.

The paper's network reads what is seen and a move at once: an LSTM of 128 over the history, then six dense layers, five
of them of 512. The first is a sum of what it makes of the state and of what it makes of the move, so the state's part
is computed once a decision: the same numbers, by a state network and a move network (`tapete.nets.moves`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.nets.architecture import Architecture, Layer
from tapete.nets.moves import MoveNetwork, Scorer
from tapete.nets.network import Network

MEMORY = 128  # units of the LSTM
UNITS = 512  # of each dense layer
TRUNK = 4  # dense layers between the first and the last
POSITIONS = ("landlord", "landlord_down", "landlord_up")  # as DouZero calls them

Floats = NDArray[np.float32]


def paper(game: Game, seat: int) -> tuple[Architecture, Architecture]:
    """The state network and the move network of a seat.

    The history is the last field of what is seen. Of a move, the first field of its features is read: in Dou Dizhu its
    cards, which is all that the paper's network is told of it.
    """
    *others, history = game.spec.observation(seat)
    if len(history.shape) != 2:
        raise TapeteError(f"the paper's network reads a history of moves, and in {game} none is seen")
    inputs = sum(part.size for part in others)
    state = Architecture(
        (
            Layer("input", shape=history.shape, offset=inputs, name="history"),
            Layer("lstm", units=MEMORY, name="memory"),
            Layer("input", shape=(inputs,), name="now"),
            Layer("concat", of=("memory", "now"), name="seen"),
            Layer("dense", units=UNITS, name="state"),
        ),
        heads=("state",),
    )
    move = Architecture(
        (
            Layer("input", shape=(UNITS,), name="state"),
            Layer("input", shape=(game.spec.features[0].size,), offset=UNITS, name="features"),
            Layer("dense", units=UNITS, of=("features",), add="state", activation="relu", name="meet"),
            *(Layer("dense", units=UNITS, activation="relu", name=f"trunk{i}") for i in range(TRUNK)),
            Layer("dense", units=1, name="q"),
        ),
        heads=("q",),
    )
    return state, move


def scorer(game: Game, seat: int, weights: Mapping[str, Floats]) -> Scorer:
    """The networks of a seat with the weights that DouZero's own module has, by its names."""
    state, move = paper(game, seat)
    try:
        both, width = weights["dense1.weight"], state.shapes["seen"][0]
        of_state = {
            "memory.weight_ih": weights["lstm.weight_ih_l0"],
            "memory.weight_hh": weights["lstm.weight_hh_l0"],
            "memory.bias": weights["lstm.bias_ih_l0"] + weights["lstm.bias_hh_l0"],
            "state.weight": both[:, :width],
            "state.bias": weights["dense1.bias"],
        }
        names = {f"trunk{i}": f"dense{i + 2}" for i in range(TRUNK)} | {"q": f"dense{TRUNK + 2}"}
        of_move = {"meet.weight": both[:, width:], "meet.bias": np.zeros(UNITS, dtype=np.float32)}
        of_move |= {
            f"{ours}.{part}": weights[f"{theirs}.{part}"]
            for ours, theirs in names.items()
            for part in ("weight", "bias")
        }
    except (KeyError, IndexError, ValueError) as error:
        raise TapeteError(f"these are not the weights of DouZero's network: {error}") from None
    return Scorer(Network(state, of_state), Network(move, of_move))


def load_checkpoints(game: Game, folder: str | Path) -> MoveNetwork:
    """Reads the three checkpoints of DouZero in a folder, `landlord.ckpt` or the newest `landlord_weights_*.ckpt`.

    They are PyTorch's state dicts, read as weights only: nothing in them is run.
    """
    if not game.package.endswith(".doudizhu") or game.spec.parameters.get("bidding"):
        raise TapeteError(f"DouZero's networks play doudizhu, not {game}")
    scorers = [scorer(game, seat, _read(path)) for seat, path in enumerate(checkpoints(folder))]
    return MoveNetwork(scorers, {"game": str(game), "learner": "douzero", "plays": "q"})


def checkpoints(folder: str | Path) -> list[Path]:
    """The files of landlord, down and up in a folder."""
    return [_newest(Path(folder), position) for position in POSITIONS]


def _newest(folder: Path, name: str) -> Path:
    """The checkpoint of a position; where there are several, that of the most frames."""
    found = [folder / f"{name}.ckpt", *folder.glob(f"{name}_weights_*.ckpt")]
    there = [path for path in found if path.is_file()]
    if not there:
        raise TapeteError(f"there is no {name}.ckpt or {name}_weights_*.ckpt in {folder}")
    return max(there, key=lambda path: int("0" + "".join(filter(str.isdigit, path.stem))))


def _read(path: Path) -> dict[str, Floats]:
    try:
        import torch
    except ImportError:
        raise TapeteError("DouZero's checkpoints need PyTorch: pip install 'tapete[learn]'") from None
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
        return {str(name): tensor.detach().float().numpy() for name, tensor in state.items()}
    except Exception as error:  # whatever a broken or hostile file makes of PyTorch's reader
        reason = str(error).partition("\n")[0][:100]
        raise TapeteError(f"{path} is not a checkpoint of DouZero's: {reason}") from None
