"""Networks that score moves by their features, for games with more actions than a head could have (DouZero's Q).

What a seat sees goes once through its *state network*, which ends in a vector; that vector and the features of one
legal move after another go through its *move network*, which ends in one number, what the move is worth. So a decision
with many moves costs little more than one with few. Every seat may have networks of its own; seats without share the
last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import carray
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.compile import ahead, helper
from tapete.core.contract import open_rules
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator, evaluator, floats_at, longs_at, states_at
from tapete.core.game import Game
from tapete.nets.architecture import Architecture, Layer, Shape
from tapete.nets.kernels import Batch, Machine, run
from tapete.nets.network import ROOM, Network

FORMAT = "moves 1"
MOST_SEATS = 10

FACTS = np.dtype(
    [
        ("ops", np.int64),  # how many the state network has
        ("move_ops", np.int64),  # how many the move network has
        ("seen", np.int64),  # numbers in an observation
        ("width", np.int64),  # numbers that the state network ends in
        ("features", np.int64),  # numbers that describe a move
        ("scale", np.float64),  # the highest payoff
    ]
)
ARRAYS = 12  # addresses of a model for each seat


class Scorer(NamedTuple):
    """The two networks of a seat."""

    state: Network  # an observation to a vector, its head "state"
    move: Network  # that vector and the features of a move to a number, its head "q"


def architectures(
    inputs: int, features: int, *, units: int = 256, trunk: Shape = (128,), hidden: int = 1
) -> tuple[Architecture, ...]:
    """A state network and a move network: so many hidden layers, `units` wide up to where they meet, then the trunk."""
    state = Architecture(
        (
            Layer("input", shape=(inputs,), name="seen"),
            Layer("dense", units=units, activation="relu", name="hidden"),
            *(Layer("dense", units=units, activation="relu", name=f"hidden{i}") for i in range(1, hidden)),
            Layer("dense", units=units, name="state"),
        ),
        heads=("state",),
    )
    move = Architecture(
        (
            Layer("input", shape=(units,), name="state"),
            Layer("input", shape=(features,), offset=units, name="features"),
            Layer("dense", units=units, of=("features",), add="state", activation="relu", name="meet"),
            *(Layer("dense", units=n, activation="relu", name=f"trunk{i}") for i, n in enumerate(trunk)),
            Layer("dense", units=1, name="q"),
        ),
        heads=("q",),
    )
    return state, move


@dataclass(frozen=True, eq=False)
class MoveNetwork:
    """Scorers by seat. It doesn't change, and may be used by several threads at once."""

    scorers: Sequence[Scorer]
    about: dict[str, Any] = field(default_factory=dict)  # game, learner, ...: whatever is worth telling

    def __post_init__(self) -> None:
        """Checks that the networks fit together."""
        if not 0 < len(self.scorers) <= MOST_SEATS:
            raise TapeteError(f"there are scorers for 1 to {MOST_SEATS} seats, not for {len(self.scorers)}")
        for state, move in self.scorers:
            heads = state.architecture.outputs, move.architecture.outputs
            if set(heads[0]) != {"state"} or set(heads[1]) != {"q"} or move.architecture.width != 1:
                raise TapeteError("a state network ends in a head 'state', a move network in a number 'q'")
            if move.architecture.inputs <= state.architecture.width:
                raise TapeteError("a move network reads what the state network says, and the features of a move")

    def of(self, seat: int) -> Scorer:
        """The networks of a seat."""
        return self.scorers[min(seat, len(self.scorers) - 1)]

    def save(self, path: str | Path, *, half: bool = False) -> None:
        """Writes the file, all of it or nothing; `half` rounds the weights to 16 bits, for half the size."""
        kind = np.float16 if half else np.float32
        arrays: dict[str, NDArray[Any]] = {}
        seats = []
        for seat, scorer in enumerate(self.scorers):
            for part, network in scorer._asdict().items():
                arrays |= {f"{seat}.{part}.{name}": array.astype(kind) for name, array in network.weights.items()}
            seats.append({part: network.architecture.to_json() for part, network in scorer._asdict().items()})
        write_arrays(path, arrays, {"format": FORMAT, "about": self.about, "seats": seats})

    @classmethod
    def load(cls, path: str | Path) -> MoveNetwork:
        """Reads a file from wherever it comes, and checks that it is such a network."""
        arrays, header = read_arrays(path, FORMAT)
        try:
            seats, about = header.get("seats"), header.get("about")
            if not isinstance(seats, list) or not isinstance(about, dict) or len(seats) > MOST_SEATS:
                raise TapeteError("its header doesn't tell about it")
            if any(array.dtype not in (np.float16, np.float32) for array in arrays.values()):
                raise TapeteError("its weights are not float32 or float16")
            return cls([_scorer(seat, data, arrays) for seat, data in enumerate(seats)], about)
        except TapeteError as error:
            raise TapeteError(f"{path} is not a network of moves: {error}") from None

    def evaluator(self, game: Game) -> Evaluator:
        """Makes the move that is worth most, of equals the first. For one thread; weights are shared by all."""
        arrays: list[NDArray[Any]] = []
        for seat in range(game.players):
            arrays += _arrays(self.of(seat), game, seat)
        return Evaluator(_evaluate, tuple(arrays), priors=True)


def _scorer(seat: int, data: Any, arrays: Mapping[str, NDArray[Any]]) -> Scorer:
    networks = []
    for part in Scorer._fields:
        start = f"{seat}.{part}."
        weights = {
            name.removeprefix(start): array.astype(np.float32)
            for name, array in arrays.items()
            if name.startswith(start)
        }
        architecture = Architecture.from_json(data.get(part) if isinstance(data, dict) else None)
        networks.append(Network(architecture, weights))
        networks[-1].program  # noqa: B018 (too large, if at all, is found out here)
    return Scorer(*networks)


def _arrays(scorer: Scorer, game: Game, seat: int) -> tuple[NDArray[Any], ...]:
    """What the evaluator needs of one seat: ARRAYS of them."""
    state, move = (network.architecture for network in scorer)
    seen = sum(part.size for part in game.spec.observation(seat))
    if state.inputs > seen or move.inputs > state.width + game.spec.feature_size:
        raise TapeteError(
            f"the network reads {state.inputs} numbers of what seat {seat} sees and {move.inputs - state.width} of a "
            f"move; in {game} there are {seen} and {game.spec.feature_size}"
        )
    programs = scorer.state.program, scorer.move.program
    facts = (len(programs[0].ops), len(programs[1].ops), seen, state.width, game.spec.feature_size)
    return (
        np.array([(*facts, max(map(abs, game.spec.utility)))], dtype=FACTS),
        *(part for program in programs for part in (program.ops, program.tables, program.weights)),
        np.zeros(programs[0].scratch, dtype=np.float32),
        np.zeros(ROOM * programs[1].scratch, dtype=np.float32),
        np.zeros(game.spec.observation_size, dtype=np.float32),
        np.zeros(ROOM * (state.width + game.spec.feature_size), dtype=np.float32),
        np.zeros(ROOM, dtype=np.float32),
    )


@helper
def _see(rules: Any, state: Any, seat: int, facts: Any, at: Any, rows: Any) -> None:
    """Runs the state network, and writes what it says to the beginning of every row."""
    seen = floats_at(at[9])
    rules.observe(state, seat, seen)
    machine = Machine(states_at(at[1]), facts.ops, longs_at(at[2]), floats_at(at[3]), floats_at(at[7]), 1)
    run(machine, Batch(seen, facts.seen, rows, 1))
    row = facts.width + facts.features
    for i in range(1, ROOM):
        for k in range(facts.width):
            rows[i * row + k] = rows[k]


@evaluator
def _evaluate(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    rules = open_rules(rulebook)
    at = ahead(model, seat * ARRAYS)
    facts = carray(states_at(at[0]), (1,), FACTS)[0]
    rows, said = floats_at(at[10]), floats_at(at[11])
    _see(rules, state, seat, facts, at, rows)
    machine = Machine(states_at(at[4]), facts.move_ops, longs_at(at[5]), floats_at(at[6]), floats_at(at[8]), ROOM)
    row = facts.width + facts.features
    best, most = 0, np.float32(-np.inf)
    for start in range(0, n, ROOM):
        count = min(ROOM, n - start)
        for i in range(count):
            rules.features(state, legal[start + i], ahead(rows, i * row + facts.width))
            priors[start + i] = 0.0
        run(machine, Batch(rows, row, said, count))
        for i in range(count):
            if said[i] > most:
                best, most = start + i, said[i]
    if n > 0:
        priors[best] = 1.0
        values[seat] = np.float64(most)
