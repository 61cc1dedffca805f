"""N-tuple networks: the value of a board as a sum of table entries, one for what lies on each pattern of squares.

Othello programs have used them since Logistello (Buro 1997); Lucas (2008) and Jaśkowski (2014) learned them by
self-play and gave them their name. A pattern is a tuple of squares; the eight symmetries of the board make copies of it
that share one table. Each square is empty, the mover's or the other's, so what lies on a pattern is a number in base
three. Which table is read also depends on how full the board is: its phase. The value for the seat to move is tanh of
the sum.

It knows no game. It needs two players, no chance, nothing hidden, and an observation that begins with planes of a
square board: own, other, and whatever follows. Where a seat has one legal move only it is made before anything is
judged.

**How an index is found.** Four neighbouring squares of one plane are one of 16 cases, and each case adds a constant
vector to the indices of all patterns at once; so the indices of a board are 32 sums of vectors of 16-bit numbers, from
a table that stays in the nearest cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.compile import BYTES, DOUBLES, WORDS, ahead, float64_ptr, helper, kernel, state_ptr, uint64_ptr
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator, evaluator, floats_at, ints_at, longs_at, states_at
from tapete.core.game import Game, View
from tapete.core.records import copy_state
from tapete.core.rng import Rng
from tapete.nets.patterns import (
    BLOCK,
    CHUNK,
    LARGEST,
    MOVES,
    Layout,
    Pattern,
    board_patterns,
    check_patterns,
    lay_out,
)

FORMAT = "ntuple-1"
CERTAIN = math.tanh(9)  # a payoff of all there is to win counts as a sum of 9, more than tables come up with
TEMPERATURE = 0.5  # of the sums after each move: what makes them probabilities

WORD = ir.IntType(64)
VECTOR = ir.VectorType(WORD, CHUNK)


class Net(NamedTuple):
    """A network as compiled code has it: numbers, pointers to its tables, and to room of its own."""

    squares: Any
    blocks: Any
    lanes: Any
    patterns: Any  # lanes that are patterns; two more follow that are used
    entries: Any
    size: Any  # bytes of a state
    offsets: Any
    steps: Any
    phase: Any  # [squares + 1] by how many discs there are
    weights: Any  # [phases, entries]
    knobs: Any  # what there is to win, the temperature
    planes: Any  # room for an observation
    rows: Any  # [blocks, 2] where in `steps` is what the discs of either seat add
    sums: Any  # [lanes / 4] indices, four a word
    found: Any  # [lanes] the entries that make up the value
    legal: Any  # room for legal moves
    child: Any  # room for a state


@helper
def open_net(model: Any) -> Any:
    """From the addresses of what `NTuple.arrays` lists."""
    shape = longs_at(model[0])
    return Net(
        shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], longs_at(model[1]), longs_at(model[2]),
        longs_at(model[3]), floats_at(model[4]), floats_at(model[5]), floats_at(model[6]), longs_at(model[7]),
        longs_at(model[8]), ints_at(model[9]), ints_at(model[10]), states_at(model[11]),
    )  # fmt: skip


@intrinsic  # type: ignore[untyped-decorator]
def _sum_rows(typing_context: Any, steps: Any, rows: Any, blocks: Any, sums: Any) -> Any:
    """The mover's rows and twice the other's added up, CHUNK words of them, which stay in registers meanwhile."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        steps, rows, blocks, sums = arguments
        totals = [cgutils.alloca_once_value(builder, ir.Constant(VECTOR, [0] * CHUNK)) for _ in range(2)]
        with cgutils.for_range(builder, blocks, intp=WORD) as loop:
            for seat, total in enumerate(totals):
                at = builder.add(builder.shl(loop.index, ir.Constant(WORD, 1)), ir.Constant(WORD, seat))
                row = builder.gep(steps, [builder.load(builder.gep(rows, [at]))])
                row = builder.load(builder.bitcast(row, VECTOR.as_pointer()), align=8)
                builder.store(builder.add(builder.load(total), row), total)
        own, other = (builder.load(total) for total in totals)
        both = builder.add(own, builder.shl(other, ir.Constant(VECTOR, [1] * CHUNK)))
        builder.store(both, builder.bitcast(sums, VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(steps, rows, types.int64, sums), generate


@helper
def find_entries(net: Any, moves: int) -> None:
    """Writes into `found` which entries the board in `planes` has, for a seat with so many legal moves."""
    discs, words = 0, net.lanes // 4
    for square in range(2 * net.squares):
        discs += int(net.planes[square])
    for seat in range(2):
        for block in range(net.blocks):  # beyond the board, whatever is read adds nothing
            disc = ahead(net.planes, seat * net.squares + block * BLOCK)
            case = (disc[0] + np.float32(2) * disc[1]) + (np.float32(4) * disc[2] + np.float32(8) * disc[3])
            net.rows[2 * block + seat] = ((block << BLOCK) + (np.int64(case) & 15)) * words
    for word in range(0, words, CHUNK):
        _sum_rows(ahead(net.steps, word), net.rows, net.blocks, ahead(net.sums, word))
    base = net.phase[discs] * net.entries
    for lane in range(net.lanes):
        net.found[lane] = base + net.offsets[lane] + (net.sums[lane >> 2] >> (16 * (lane & 3)) & 0xFFFF)
    net.found[net.patterns] += discs
    net.found[net.patterns + 1] += min(moves, MOVES)


@helper
def add_up(net: Any) -> float:
    """The sum of the entries in `found`, in four parts that don't wait for one another."""
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for lane in range(0, net.lanes, 4):
        found = ahead(net.found, lane)
        a += net.weights[found[0]]
        b += net.weights[found[1]]
        c += net.weights[found[2]]
        d += net.weights[found[3]]
    return np.float64((a + b) + (c + d))


@helper
def settle(rules: Any, net: Any, state: Any) -> int:
    """Makes moves as long as there is but one; how many there are then, or 0 where the game is over."""
    while rules.player(state) != TERMINAL:
        moves = rules.actions(state, net.legal)
        if moves > 1:
            return moves
        rules.apply(state, net.legal[0])
    return 0


@helper
def score_of(rules: Any, net: Any, state: Any, seat: int, payoffs: Any) -> float:
    """The sum for a seat, whoever is to move. The state is settled by it, and `net.found` tells what was added up."""
    moves = settle(rules, net, state)
    if moves == 0:
        rules.returns(state, payoffs)
        return math.atanh(payoffs[seat] / net.knobs[0] * CERTAIN)
    mover = rules.player(state)
    rules.observe(state, mover, net.planes)
    find_entries(net, moves)
    return add_up(net) if mover == seat else -add_up(net)


@helper
def value_of(net: Any, total: float) -> float:
    """The payoff that a sum stands for."""
    return net.knobs[0] * math.tanh(total)


@evaluator
def _evaluate_state(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    net = open_net(model)
    value = value_of(net, score_of(open_rules(rulebook), net, state, seat, values))
    values[seat], values[1 - seat] = value, -value


@evaluator
def _evaluate_moves(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """The value is that of the best move: looking one move ahead comes free with the priors."""
    rules, net = open_rules(rulebook), open_net(model)
    best = -np.inf if n > 0 else score_of(rules, net, state, seat, values)
    for i in range(n):
        copy_state(net.child, state, net.size)
        rules.apply(net.child, legal[i])
        total = score_of(rules, net, net.child, seat, values)
        best = max(best, total)
        priors[i] = total
    share = 0.0
    for i in range(n):
        priors[i] = math.exp((priors[i] - best) / net.knobs[1])
        share += priors[i]
    for i in range(n):
        priors[i] /= share
    value = value_of(net, best)
    values[seat], values[1 - seat] = value, -value


@kernel(types.float64(RULEBOOK, BYTES, types.int64, WORDS, DOUBLES))
def _value(rulebook: Any, state: Any, seat: int, model: Any, payoffs: Any) -> float:
    net = open_net(uint64_ptr(model))
    return value_of(net, score_of(open_rules(rulebook), net, state_ptr(state), seat, float64_ptr(payoffs)))


def board_size(game: Game) -> int:
    """The side of the board that the observation of a game begins with; other games than such are refused."""
    spec = game.spec
    if spec.players != 2 or not spec.zero_sum or spec.hidden or spec.has_chance:
        raise TapeteError(
            f"pattern tables are for two players, one's gain the other's loss, all open: {game} is not so"
        )
    shape = spec.observations[0][0].shape
    if len(spec.observations) > 1 or len(shape) != 3 or shape[0] < 2 or shape[1] != shape[2] or shape[1] > LARGEST:
        raise TapeteError(f"pattern tables need a square board, own discs and the other's; {game} has none")
    return shape[1]


@dataclass(frozen=True)
class NTuple:
    """A network: the patterns are data, and so are the tables.

    >>> from tapete.core import make
    >>> game = make("othello")
    >>> NTuple.blank(game).value(game.start().view(0))
    0.0
    """

    size: int  # of the board
    patterns: tuple[Pattern, ...]
    weights: NDArray[np.float32]  # [phases, entries] as `layout` says; equal where symmetry makes them so
    about: dict[str, Any] = field(default_factory=dict)  # game, learner, games, ...

    @classmethod
    def blank(cls, game: Game, patterns: Iterable[Pattern] | None = None, *, phases: int = 10, **about: Any) -> NTuple:
        """A network for a game, all zeros."""
        size = board_size(game)
        patterns = check_patterns(size, board_patterns(size) if patterns is None else patterns)
        if not 1 <= phases <= size * size:
            raise TapeteError(f"there are 1 to {size * size} phases on this board, not {phases}")
        entries = len(lay_out(size, patterns).first)
        return cls(size, patterns, np.zeros((phases, entries), dtype=np.float32), {"game": str(game), **about})

    @cached_property
    def layout(self) -> Layout:
        """Where everything is."""
        return lay_out(self.size, self.patterns)

    def arrays(self, game: Game, temperature: float = TEMPERATURE) -> tuple[NDArray[Any], ...]:
        """What `open_net` is given the addresses of. The tables are shared, the room is new every time."""
        if board_size(game) != self.size:
            raise TapeteError(f"this network is for a board of {self.size}x{self.size}, not for {game}")
        layout, squares, spec = self.layout, self.size**2, game.spec
        blocks, lanes = len(layout.steps), len(layout.offsets)
        shape = [squares, blocks, lanes, layout.patterns, len(layout.first), game.size]
        return (
            np.array(shape),
            layout.offsets,
            layout.steps,
            np.arange(squares + 1) * len(self.weights) // (squares + 1),
            self.weights,
            np.array([max(map(abs, spec.utility)), temperature], dtype=np.float32),
            np.zeros(spec.observation_size + BLOCK, dtype=np.float32),
            np.zeros(2 * blocks, dtype=np.int64),
            np.zeros(lanes // 4, dtype=np.int64),
            np.zeros(lanes, dtype=np.int32),
            np.zeros(spec.max_actions, dtype=np.int32),
            np.zeros(game.size, dtype=np.uint8),
        )

    def evaluator(self, game: Game, *, priors: bool = True, temperature: float = TEMPERATURE) -> Evaluator:
        """For a search: with an opinion on every move and a look one move ahead, or the value alone."""
        return Evaluator(_evaluate_moves if priors else _evaluate_state, self.arrays(game, temperature), priors)

    def value(self, view: View) -> float:
        """The payoff that the view's seat may expect."""
        evaluator = self.evaluator(view.game, priors=False)  # lives as long as its addresses are used
        data = view.sample(Rng(0)).data
        return float(_value(view.game.rulebook, data, view.seat, evaluator.model, np.zeros(2)))

    def save(self, path: str | Path) -> None:
        """Writes the file, all of it or nothing; weights as numbers of 16 bits, each once."""
        first = self.layout.first
        kept = self.weights[:, first == np.arange(len(first))]
        scale = float(max(np.abs(kept).max(), 1e-6)) / np.iinfo(np.int16).max
        header = {"format": FORMAT, "size": self.size, "patterns": self.patterns, "scale": scale, "about": self.about}
        write_arrays(path, {"weights": np.rint(kept / scale).astype(np.int16, order="C")}, header)

    @classmethod
    def load(cls, path: str | Path) -> NTuple:
        """Reads a file and checks that it is such a network."""
        arrays, header = read_arrays(path, FORMAT)
        try:
            size, patterns, scale = header["size"], check_patterns(header["size"], header["patterns"]), header["scale"]
            layout = lay_out(size, patterns)
            kept, about = arrays["weights"], header["about"]
        except (KeyError, TypeError, TapeteError):
            raise TapeteError(f"{path} is not a pattern network: something is missing in it or wrong") from None
        first = layout.first == np.arange(len(layout.first))
        fits = kept.dtype == np.int16 and kept.ndim == 2 and kept.shape[1] == first.sum() and isinstance(about, dict)
        if not fits or not 1 <= len(kept) <= size * size or not isinstance(scale, float) or not 0 < scale < 1:
            raise TapeteError(f"{path} is not a pattern network: its arrays don't fit together")
        place = np.cumsum(first) - 1  # of an entry that was kept, among those
        weights = kept.astype(np.float32)[:, place[layout.first]] * np.float32(scale)
        return cls(size, patterns, np.ascontiguousarray(weights), about)
