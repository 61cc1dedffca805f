"""Every state of a small game: what is known in it, what is told on the way, and how often `redeal` gives it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tapete.core import calls
from tapete.core.game import Game, State, View
from tapete.core.names import make
from tapete.core.rng import Rng
from tapete.testing.expect import expect, expect_frequencies
from tapete.testing.guards import after, check_start, legal, redealt
from tapete.testing.knowledge import Memory
from tapete.testing.replay import check_replays


def check_tree(game: Game | str, *, limit: int = 100_000) -> None:
    """`check_game`'s promises about knowledge, over every state of a small game instead of random ones.

    An information set stands for one history of what its seat was shown, it has one view, and what the seat is told of
    a move depends only on its information sets before and after.
    """
    game = make(game) if isinstance(game, str) else game
    memory, rng = Memory(), Rng("tree")
    visited = 0

    def walk(state: State, seen: list[tuple[str, ...]]) -> list[View]:
        nonlocal visited
        visited += 1
        expect(visited <= limit, f"the tree has more than {limit} states")
        views = []
        for seat in range(game.players):
            now = game.describe(state.data, seat)
            if not seen[seat] or seen[seat][-1] != now:
                seen[seat] = (*seen[seat], now)
            memory.check_knowledge(state, seat, seen[seat])
            if game.spec.hidden:
                redealt(state, seat, rng)  # in watched memory, before a view is made without
            views.append(state.view(seat) if game.spec.hidden else View(game, state.data, seat))
            memory.check_view(state, views[-1])
        for action in legal(state):
            views_after = walk(after(state, action), list(seen))
            for before, later in zip(views, views_after if game.spec.hidden else (), strict=game.spec.hidden):
                memory.check_story(state, action, before, later)
        return views

    walk(check_start(game), [()] * game.players)


def check_redeal(
    game: Game | str, *, infosets: int = 40, samples: int = 3000, seed: int = 0, limit: int = 300_000
) -> None:
    """`redeal` reaches every world that a seat can't tell apart, as often as chance would have made it.

    The whole tree is listed, if it has no more than `limit` states; the `infosets` tested, with so many `samples` each,
    are those with the most worlds and random others. Moves of players count as given: a world's weight is the
    probability of what chance did in it. Larger games are replayed in other worlds instead, see `check_replays`.
    """
    game = make(game) if isinstance(game, str) else game
    worlds = _list_worlds(game, limit)
    if worlds is None:
        check_replays(game, games=20, seed=seed)
        return
    rng = Rng(seed, "redeal")
    by_size = sorted(worlds, key=lambda key: len(worlds[key]), reverse=True)
    chosen = by_size[: infosets // 2] + [rng.choice(by_size) for _ in range(infosets // 2)]
    for seat, key in chosen:
        _check_worlds(game, seat, worlds[seat, key], rng, samples)


Worlds = dict[tuple[int, int], dict[bytes, float]]  # (seat, key) -> states that it can't tell apart, with weights


def _list_worlds(game: Game, limit: int) -> Worlds | None:
    """Every information set there is; None if there are more than `limit` states."""
    worlds: Worlds = defaultdict(lambda: defaultdict(float))
    level = {check_start(game).data.tobytes(): 1.0}
    listed = 0
    while level:  # level by level, so that equal states merge
        listed += len(level)
        below: dict[bytes, float] = defaultdict(float)
        for data, weight in level.items():
            if listed + len(below) > limit:
                return None
            state = State(game, np.frombuffer(data, dtype=np.uint8).copy(), None)
            for seat in range(game.players):
                worlds[seat, state.infoset(seat)][data] += weight
            options = legal(state)
            probs = dict(state.outcomes())
            for action in options:
                below[after(state, action).data.tobytes()] += weight * probs.get(action, 1.0)
        level = below
    return worlds


def _check_worlds(game: Game, seat: int, worlds: dict[bytes, float], rng: Rng, samples: int) -> None:
    first = State(game, np.frombuffer(next(iter(worlds)), dtype=np.uint8).copy(), None)
    drawn: dict[bytes, int] = defaultdict(int)
    redealt(first, seat, rng)  # in watched memory, before all others
    for _ in range(samples):
        world = first.data.copy()
        calls.redeal(game.rulebook, world, seat, rng.words)
        drawn[world.tobytes()] += 1
    expect(drawn.keys() <= worlds.keys(), f"redeal for seat {seat} makes a world that can't be: {first.view(seat)}")
    total = sum(worlds.values())
    probs = [weight / total for weight in worlds.values()]
    expect_frequencies([drawn[data] for data in worlds], probs, f"redeal for seat {seat} ({first.view(seat)})", first)
