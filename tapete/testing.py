"""Testing a game by the contract: `check_game` is public, so that strangers can test their own games with it.

Every check states what it saw. The statistical ones fail by accident less than once in a million tests each
(`SIGNIFICANCE`), and are seeded, so that a failure is always the same failure.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import chi2

from tapete.core import calls
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.game import Game, State
from tapete.core.names import make
from tapete.core.record import Record
from tapete.core.rng import Rng
from tapete.perft import Counts, perft

__all__ = ["BrokenContract", "Counts", "check_game", "check_redeal", "check_tree", "perft"]

SIGNIFICANCE = 1e-6


class BrokenContract(AssertionError):
    """A game that does not do what the contract says."""


def expect(condition: bool, message: str, state: State | None = None) -> None:
    """Fails with a message and the moves that led there."""
    if not condition:
        raise BrokenContract(message + (f"\n  in: {state}" if state is not None and state.history is not None else ""))


def check_game(game: Game | str, *, games: int = 50, seed: int = 0) -> None:
    """Plays random games and checks every promise of the contract on the way."""
    game = make(game) if isinstance(game, str) else game
    memory = Memory(players=game.players)
    for i in range(games):
        _check_playthrough(game, Rng(seed, "check", i), memory)
    _check_draws(game, Rng(seed, "draws"))


@dataclass
class Memory:
    """What was known where: an information set's key must stand for one history of knowledge, and the reverse."""

    players: int
    knowledge: dict[tuple[int, int], int] = field(default_factory=dict)  # (seat, key) -> knowledge
    keys: dict[tuple[int, int], int] = field(default_factory=dict)  # (seat, knowledge) -> key

    def check(self, state: State, seat: int, seen: Sequence[str]) -> None:
        """`seen` is the slow reference: all that the seat has seen, moment by moment, without repetitions."""
        key, known = state.infoset(seat), hash(tuple(seen))
        expect(
            self.knowledge.setdefault((seat, key), known) == known, f"infoset forgets what seat {seat} has seen", state
        )
        expect(self.keys.setdefault((seat, known), key) == key, f"infoset knows more than seat {seat} has seen", state)


def _check_playthrough(game: Game, rng: Rng, memory: Memory) -> None:
    state = game.start()
    expect(state == game.start(), "start is not the same twice", state)
    seen: list[list[str]] = [[] for _ in range(game.players)]
    steps = 0
    while True:
        for seat in range(game.players):
            now = game.describe(state.data, seat)
            if not seen[seat] or seen[seat][-1] != now:
                seen[seat].append(now)
            memory.check(state, seat, seen[seat])
            _check_seat(state, seat, rng)
        _check_state(state, rng)
        if state.over:
            break
        expect(steps < game.spec.longest, f"longer than the {game.spec.longest} steps of the Spec", state)
        steps += 1
        state.apply(_random_action(state, rng))
    record = state.record()
    expect(record.replay() == state, "the record does not replay to the same bytes", state)
    expect(Record.from_text(record.to_text()) == record, "the record does not survive as text", state)
    expect(Record.from_json(json.loads(json.dumps(record.to_json()))) == record, "nor as JSON", state)
    expect(game.read(str(state)) == state, "the state's text does not parse back", state)


def _random_action(state: State, rng: Rng) -> int:
    if state.player == CHANCE:
        return int(calls.draw(state.game.rulebook, state.data, rng.words))
    return rng.choice(state.actions())


def _check_state(state: State, rng: Rng) -> None:
    """The promises about the mover, the actions, the payoffs, and that asking changes nothing."""
    game, spec, before = state.game, state.game.spec, state.data.copy()
    player, actions, returns = state.player, state.actions(), state.returns()
    expect(player in (CHANCE, TERMINAL) or 0 <= player < spec.players, f"there is no player {player}", state)
    if player == TERMINAL:
        low, high = spec.utility
        expect(all(math.isfinite(x) and low <= x <= high for x in returns), f"{returns} is out of bounds", state)
        expect(not spec.zero_sum or abs(sum(returns)) < 1e-9, f"{returns} is not zero-sum", state)
        return
    expect(returns == [0.0] * spec.players, "pays before it is over", state)
    expect(len(actions) > 0, "no legal action", state)
    expect(actions == sorted(set(actions)), "legal actions are not ascending and unique", state)
    if player == CHANCE:
        probs = [prob for _, prob in state.outcomes()]
        expect(0 < len(probs) <= spec.outcomes, f"{len(probs)} outcomes, the Spec says {spec.outcomes}", state)
        expect(min(probs) > 0 and abs(sum(probs) - 1) < 1e-9, "probabilities don't add up to 1", state)
    else:
        expect(len(actions) <= spec.max_actions, f"{len(actions)} actions, the Spec says {spec.max_actions}", state)
        expect(0 <= actions[0] and actions[-1] < spec.actions, "action ids out of range", state)
    some = actions if len(actions) <= 40 else [rng.choice(actions) for _ in range(40)]
    for action in some:
        text = state.write(action)
        expect(text != "" and not any(c.isspace() for c in text), f"the notation {text!r} is not one word", state)
        if len(actions) <= 40:
            expect(state.read(text) == action, f"the notation {text!r} reads back as another action", state)
    chosen = rng.choice(actions)
    one, two = state.copy().apply(chosen), state.copy().apply(chosen)
    expect(one == two, "a copy does not behave as the original", state)
    expect(bool((state.data == before).all()), "asking about a state, or playing a copy, changed it", state)
    expect(game.spec.has_chance or player != CHANCE, "chance moves, but the Spec says it never does", state)


def _check_seat(state: State, seat: int, rng: Rng) -> None:
    """The promises about what one seat may know: the same in every world that it can't tell from the real one."""
    view, other = state.view(seat), state.view(seat).sample(rng)
    expect(other.infoset(seat) == state.infoset(seat), f"redeal changes what seat {seat} knows", state)
    expect(other.player == state.player, f"redeal for seat {seat} changes who moves", state)
    expect(other.returns() == state.returns(), f"redeal for seat {seat} changes the payoffs", state)
    again = other.view(seat)
    expect(
        bool((again._world == view._world).all()), f"a world redealt for seat {seat} depends on the hidden one", state
    )
    spec = state.game.spec
    observation = np.full(spec.observation_size + 1, np.float32(7.25))
    size = sum(part.size for part in spec.observation(seat))
    calls.observe(state.game.rulebook, state.data, seat, observation)
    expect(bool((observation[size:] == 7.25).all()), f"observe writes more than the {size} numbers of the Spec", state)
    expect(bool((observation[:size] == view.observation()).all()), f"observe sees what seat {seat} can't", state)
    expect(bool(np.isfinite(observation).all()), "an observation is not finite", state)
    seen = state.game.describe(state.data, seat)
    expect(seen == str(view), f"describe tells what seat {seat} can't know", state)
    if state.player == seat:
        expect(view.actions() == state.actions(), f"legal actions of seat {seat} depend on what it can't know", state)
        expect(bool(np.isfinite(view.features()).all()), "features are not finite", state)
    expect(
        state.game.scene(state.data, seat, view.actions()) == view.scene(),
        f"the scene shows seat {seat} too much",
        state,
    )
    json.dumps(view.scene().to_json())


def _check_draws(game: Game, rng: Rng, samples: int = 20_000) -> None:
    """`draw` follows the probabilities of `outcomes`, at the chance states of a random game."""
    state = game.start()
    tests = 0
    while not state.over and tests < 8:
        if state.player == CHANCE:
            outcomes = dict(state.outcomes())
            drawn: dict[int, int] = defaultdict(int)
            for _ in range(samples if len(outcomes) < 1000 else 0):
                drawn[int(calls.draw(game.rulebook, state.data, rng.words))] += 1
            expect(drawn.keys() <= outcomes.keys(), "draw gives an outcome that is not listed", state)
            _expect_frequencies([drawn[key] for key in outcomes], list(outcomes.values()), "draw", state)
            tests += 1
        state.apply(_random_action(state, rng))


def _expect_frequencies(observed: Sequence[int], probs: Sequence[float], what: str, state: State) -> None:
    """Pearson's test, cells with less than five expected put together."""
    total = sum(observed)
    cells: list[tuple[float, float]] = []
    rest_seen = rest_due = 0.0
    for seen, prob in zip(observed, probs, strict=True):
        if total * prob >= 5:
            cells.append((seen, total * prob))
        else:
            rest_seen, rest_due = rest_seen + seen, rest_due + total * prob
    if rest_due >= 5:
        cells.append((rest_seen, rest_due))
    if len(cells) < 2:
        return
    statistic = sum((seen - due) ** 2 / due for seen, due in cells)
    p = float(chi2.sf(statistic, len(cells) - 1))
    expect(
        p > SIGNIFICANCE, f"{what} has the wrong frequencies (chi-square p = {p:.2g} over {len(cells)} cells)", state
    )


def check_tree(game: Game | str, *, limit: int = 100_000) -> None:
    """`check_game`'s promise about information sets, over every state of a small game instead of random ones."""
    game = make(game) if isinstance(game, str) else game
    memory = Memory(players=game.players)
    visited = 0

    def walk(state: State, seen: list[tuple[str, ...]]) -> None:
        nonlocal visited
        visited += 1
        expect(visited <= limit, f"the tree has more than {limit} states")
        for seat in range(game.players):
            now = game.describe(state.data, seat)
            if not seen[seat] or seen[seat][-1] != now:
                seen[seat] = (*seen[seat], now)
            memory.check(state, seat, seen[seat])
        for action in state.actions():
            walk(state.copy().apply(action), list(seen))

    walk(game.start(), [()] * game.players)


def check_redeal(
    game: Game | str, *, infosets: int = 40, samples: int = 3000, seed: int = 0, limit: int = 300_000
) -> None:
    """`redeal` reaches every world that a seat can't tell apart, as often as chance would have made it.

    The whole tree is listed, so this is for small games; the infosets tested are those with the most worlds and random
    others. Moves of players count as given: a world's weight is the probability of what chance did in it.
    """
    game = make(game) if isinstance(game, str) else game
    worlds: dict[tuple[int, int], dict[bytes, float]] = defaultdict(lambda: defaultdict(float))
    stack: list[tuple[bytes, float]] = [(game.start().data.tobytes(), 1.0)]
    weights: dict[bytes, float] = {}
    while stack:  # level by level, so that equal states merge
        weights.clear()
        for data, weight in stack:
            weights[data] = weights.get(data, 0.0) + weight
        stack = []
        for data, weight in weights.items():
            state = State(game, np.frombuffer(data, dtype=np.uint8).copy(), None)
            limit -= 1
            expect(limit > 0, "the tree is too large to list")
            for seat in range(game.players):
                worlds[seat, state.infoset(seat)][data] += weight
            pairs = state.outcomes() or [(action, 1.0) for action in state.actions()]
            for action, prob in pairs:
                stack.append((state.copy().apply(action).data.tobytes(), weight * prob))
    rng = Rng(seed, "redeal")
    by_size = sorted(worlds, key=lambda key: len(worlds[key]), reverse=True)
    chosen = by_size[: infosets // 2] + [rng.choice(by_size) for _ in range(infosets // 2)]
    for seat, key in chosen:
        _check_worlds(game, seat, worlds[seat, key], rng, samples)


def _check_worlds(game: Game, seat: int, worlds: dict[bytes, float], rng: Rng, samples: int) -> None:
    first = State(game, np.frombuffer(next(iter(worlds)), dtype=np.uint8).copy(), None)
    drawn: dict[bytes, int] = defaultdict(int)
    for _ in range(samples):
        world = first.data.copy()
        calls.redeal(game.rulebook, world, seat, rng.words)
        drawn[world.tobytes()] += 1
    expect(drawn.keys() <= worlds.keys(), f"redeal for seat {seat} makes a world that can't be: {first.view(seat)}")
    total = sum(worlds.values())
    probs = [weight / total for weight in worlds.values()]
    _expect_frequencies([drawn[data] for data in worlds], probs, f"redeal for seat {seat} ({first.view(seat)})", first)
