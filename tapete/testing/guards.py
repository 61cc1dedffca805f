"""The rules called with memory that is watched: nothing is written beside a buffer, and all of what is promised is.

Every check calls the rules in here before anything in the package hands them a buffer of the declared size, so that a
game that writes too much is told so, and nothing else in the process is overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core import calls
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.game import Bytes, Game, State
from tapete.core.rng import Rng
from tapete.testing.expect import expect

GUARD = 1 << 13  # bytes on each side; what is written further away than that is not seen
PATTERNS = (0xA5, 0x5A)  # what is left of them was not written
DIRT = (0x00, 0xFF, *PATTERNS)


class Fenced:
    """A buffer between two guards, filled with a pattern as they are."""

    def __init__(self, kind: Any, size: int, pattern: int) -> None:
        length = np.dtype(kind).itemsize * size
        self.pattern = pattern
        self.whole = np.full(2 * GUARD + length, pattern, dtype=np.uint8)
        self.bytes = self.whole[GUARD : GUARD + length]
        self.inside = self.bytes.view(kind)
        self.guards = self.whole[:GUARD], self.whole[GUARD + length :]
        self.untouched = bytes([pattern]) * GUARD

    @property
    def is_intact(self) -> bool:
        """Whether nothing was written outside; what was, is mended."""
        if all(guard.tobytes() == self.untouched for guard in self.guards):
            return True
        self.whole[:] = self.pattern
        return False


@lru_cache(maxsize=64)
def _kept(kind: Any, size: int, pattern: int, place: int) -> Fenced:
    return Fenced(kind, size, pattern)


def fenced(kind: Any, size: int, pattern: int, place: int = 0) -> Fenced:
    """A buffer as good as new; those that are used at one time have places of their own."""
    fence = _kept(kind, size, pattern, place)
    fence.bytes[:] = pattern
    return fence


@lru_cache(maxsize=16)
def padding(game: Game) -> NDArray[np.int64]:
    """The bytes of a state that belong to no field."""
    free = np.ones(game.size, dtype=bool)
    _cover(free, game.dtype, 0)
    free[game.dtype.itemsize : game.dtype.itemsize + game.spec.tail] = False
    return np.flatnonzero(free)


def _cover(free: NDArray[np.bool_], kind: np.dtype[Any], at: int) -> None:
    base, shape = kind.subdtype or (kind, ())
    for i in range(int(np.prod(shape, dtype=int))):
        begin = at + i * base.itemsize
        if base.fields is None:
            free[begin : begin + base.itemsize] = False
        else:
            for inner, offset, *_ in base.fields.values():
                _cover(free, inner, begin + offset)


def _field_at(game: Game, byte: int) -> str:
    """The field in which a byte of the state lies."""
    for name, (kind, offset, *_) in (game.dtype.fields or {}).items():
        if offset <= byte < offset + kind.itemsize:
            return f"the field {name!r}"
    return f"byte {byte}, behind the record"


def check_start(game: Game) -> State:
    """`start` writes every field, whatever was there before, and nothing else."""
    free = padding(game)
    first: Bytes | None = None
    for dirt in DIRT:
        fence = fenced(np.uint8, game.size, dirt)
        calls.start(game.rulebook, fence.inside, game.params)
        expect(fence.is_intact, f"start writes outside of the {game.size} bytes of a state")
        expect(bool((fence.inside[free] == dirt).all()), "start writes bytes of the state that belong to no field")
        data = fence.inside.copy()
        data[free] = 0
        first = data if first is None else first
        different = np.flatnonzero(data != first)
        if len(different):
            expect(False, f"start leaves {_field_at(game, int(different[0]))} as it was before")
    assert first is not None
    return State(game, first, [])


def changed(state: State, what: str, change: Callable[[Bytes], None]) -> Bytes:
    """The state's bytes after a rule has changed them, in watched memory."""
    free = padding(state.game)
    results = []
    for pattern in PATTERNS:
        fence = fenced(np.uint8, state.game.size, pattern)
        fence.inside[:] = state.data
        fence.inside[free] = pattern
        change(fence.inside)
        expect(fence.is_intact, f"{what} writes outside of the {state.game.size} bytes of a state", state)
        expect(bool((fence.inside[free] == pattern).all()), f"{what} writes bytes that belong to no field", state)
        results.append(fence.inside.copy())
        results[-1][free] = 0
    expect(results[0].tobytes() == results[1].tobytes(), f"{what} depends on bytes that belong to no field", state)
    return results[0]


def written(
    state: State, what: str, buffers: list[tuple[Any, int]], ask: Callable[..., int | None]
) -> list[NDArray[Any]]:
    """What a rule that is asked something writes into its buffers, each of a type and a size, in watched memory.

    `ask(data, *buffers)` returns how many numbers there are, or None where all are to be written.
    """
    results = []
    for pattern in PATTERNS:
        about = fenced(np.uint8, state.game.size, pattern)
        about.inside[:] = state.data
        fences = [fenced(kind, size, pattern, place) for place, (kind, size) in enumerate(buffers, start=1)]
        count = ask(about.inside, *(fence.inside for fence in fences))
        n = buffers[0][1] if count is None else count
        expect(0 <= n <= buffers[0][1], f"{what}: {n} of them, the Spec says at most {buffers[0][1]}", state)
        intact = all(fence.is_intact for fence in fences)
        expect(intact, f"{what}: writes outside of the {buffers[0][1]} numbers of the Spec", state)
        same = about.is_intact and about.inside.tobytes() == state.data.tobytes()
        expect(same, f"{what}: asking about a state changes it", state)
        results.append([fence.inside[:n].copy() for fence in fences])
    for one, two in zip(*results, strict=True):
        expect(one.tobytes() == two.tobytes(), f"{what}: some of the {len(one)} numbers are left unwritten", state)
    return results[0]


def legal(state: State) -> list[int]:
    """Legal actions, or what chance may do, in watched memory; none when the game is over."""
    rulebook, spec, player = state.game.rulebook, state.game.spec, state.player
    known = player in (CHANCE, TERMINAL) or 0 <= player < spec.players
    expect(known, f"there is no player {player}", state)
    if player == TERMINAL:
        return []
    if player == CHANCE:
        expect(spec.has_chance, "chance moves, but the Spec says it never does", state)
        buffers = [(np.int32, spec.outcomes), (np.float64, spec.outcomes)]
        found, _ = written(state, "outcomes", buffers, lambda data, *out: calls.outcomes(rulebook, data, *out))
    else:
        buffers = [(np.int32, spec.max_actions)]
        (found,) = written(state, "actions", buffers, lambda data, out: calls.actions(rulebook, data, out))
    return [int(action) for action in found]


def after(state: State, action: int) -> State:
    """The state after a legal action, in watched memory."""
    data = changed(state, "apply", lambda data: calls.apply(state.game.rulebook, data, action))
    return State(state.game, data, None if state.history is None else [*state.history, action])


def redealt(state: State, seat: int, rng: Rng) -> State:
    """A world that the seat can't tell from this one, in watched memory."""
    words = rng.words.copy()
    _ = rng.below(2)  # the caller's next world is another one

    def redeal(data: Bytes) -> None:
        calls.redeal(state.game.rulebook, data, seat, words.copy())

    return State(state.game, changed(state, f"redeal for seat {seat}", redeal), None)


def check_memory(state: State, rng: Rng) -> list[int]:
    """Calls every rule at a state, in watched memory; the legal actions, or what chance may do."""
    rulebook, spec = state.game.rulebook, state.game.spec
    actions = legal(state)
    written(state, "returns", [(np.float64, spec.players)], lambda data, out: calls.returns(rulebook, data, out))
    for seat in range(spec.players):
        check_observe(state, seat)
        check_observe(redealt(state, seat, rng), seat)
    for action in actions[:4] + actions[-4:] if state.player >= 0 else []:
        _check_features(state, action)
    return actions


def check_observe(state: State, seat: int) -> None:
    """`observe` writes all numbers of the seat's fields, in watched memory."""
    size = sum(part.size for part in state.game.spec.observation(seat))

    def ask(data: Bytes, out: Any) -> None:
        calls.observe(state.game.rulebook, data, seat, out)

    (numbers,) = written(state, f"observe for seat {seat}", [(np.float32, size)], ask)
    expect(bool(np.isfinite(numbers).all()), f"observe for seat {seat}: a number is not finite", state)


def _check_features(state: State, action: int) -> None:
    def ask(data: Bytes, out: Any) -> None:
        calls.features(state.game.rulebook, data, action, out)

    (numbers,) = written(state, "features", [(np.float32, state.game.spec.feature_size)], ask)
    expect(bool(np.isfinite(numbers).all()), "features: a number is not finite", state)
