"""Worlds that a search remembers change nothing but its speed: the tree is the same to the bit without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapete.core import Game, Rng, make
from tapete.core.evaluator import Evaluator
from tapete.search import ISMCTS, Budget, memory
from tests.search import opinion
from tests.search.test_ismcts import known, some_state

GAMES = ["kuhn", "ocp(5)", "leduc", "dudo(3,1,1)", "goofspiel(4,sealed=true)", "goofspiel(3,players=3)", "rps", "truco"]


def grown(search: ISMCTS, game: Game, threads: int = 1) -> list[Any]:
    """All that is known after searches at several moves of several games, and what they thought."""
    found: list[Any] = []
    for seed in range(4):
        state = some_state(game, seed)
        found.append(search.run(state.view(state.player), Rng(seed), Budget(400, threads=threads)))
        for thread, tree in enumerate(search.trees):
            found.append((known(search, thread), tree.memory.bounds.tolist(), tree.memory.used[:2].tolist()))
    return found


def with_and_without(monkeypatch: pytest.MonkeyPatch, game: Game, threads: int = 1, **options: Any) -> ISMCTS:
    """Searches with worlds, with few and without any; what the first of them looks like."""
    first = ISMCTS(game, **options)
    told = grown(first, game, threads)
    for most in (0, 1, 9, 40):
        monkeypatch.setattr(memory, "MOST_WORLDS", most)
        other = ISMCTS(game, **options)
        assert grown(other, game, threads) == told
        for tree in other.trees:
            assert tree.worlds.met[0] <= most
            assert not tree.worlds.met[2] or tree.worlds.met[0] < 40, "there was room for all"
    assert all(tree.worlds.met[0] > 0 for tree in first.trees)
    return first


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", GAMES)
def test_the_tree_is_the_same_without_worlds(name: str, keep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with_and_without(monkeypatch, make(name), keep=keep)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel(3,players=3)"])
def test_so_it_is_against_random_play(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_and_without(monkeypatch, make(name), opponents="random")


def test_so_it_is_on_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(with_and_without(monkeypatch, make("leduc"), threads=2).trees) == 2


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("name", ["kuhn", "dudo(3,1,1)"])
def test_so_it_is_with_priors(name: str, values: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with_and_without(monkeypatch, make(name), evaluator=lambda: Evaluator(opinion.opinion, priors=True, values=values))


def test_a_world_is_what_the_rules_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Movers, payoffs and links of every world that was met, told by the rules anew."""
    monkeypatch.setattr(memory, "MOST_WORLDS", 4096)
    game = make("leduc")
    search = ISMCTS(game)
    view = game.start().deal(Rng(1)).view(0)
    search.run(view, Rng(1), Budget(20_000))
    worlds = search.trees[0].worlds
    met = int(worlds.met[0])
    states = [view.sample(Rng(0)) for _ in range(met + 1)]
    for state, data in zip(states[1:], worlds.states[1:], strict=False):
        state.data[:] = data
    assert len(set(states[1:])) == met > 1000, "no world is there twice"
    followed = 0
    for here in range(1, met + 1):
        state, world = states[here], worlds.worlds[here]
        assert world["mover"] == state.player
        if state.over:
            assert worlds.payoffs[here].tolist() == state.returns()
        elif state.player >= 0:
            assert world["key"] == np.uint64(state.infoset(state.player))
            links = worlds.links[world["links"] : world["links"] + world["count"]]
            for action, there in zip(state.actions(), links, strict=True):
                if there:
                    assert states[there] == state.copy().apply(action)
                    followed += 1
    assert followed > 1000


def test_in_a_small_game_the_rules_are_left_alone() -> None:
    """Once every world of Kuhn poker was met, the rules are asked for hands and for nothing else."""
    game = make("kuhn")
    search = ISMCTS(game)
    view = game.start().deal(Rng(1)).view(0)
    search.run(view, Rng(1), Budget(2000))
    rules = game.rulebook.copy()
    kept = {"redeal"}
    for i, name in enumerate(game.rules._fields):
        if name not in kept:
            rules[i] = 0  # who calls it, crashes
    tree = search.trees[0]
    before = tree.memory.used[0]
    assert tree.kernel(rules, tree.words, Rng(2).words, 5000) == 5000
    assert tree.memory.used[0] == before


def test_worlds_are_counted_and_stay_within_the_limit() -> None:
    for name in ("truco", "holdem"):
        game = make(name)
        state = some_state(game, 1)
        for limit in (20_000, 200_000):
            search = ISMCTS(game, memory=limit)
            search.run(state.view(state.player), Rng(1), Budget(2000))
            worlds = search.trees[0].worlds
            held = sum(array.nbytes for array in worlds if isinstance(array, np.ndarray))
            assert held <= limit / 8 + 200 + game.size
            assert worlds.capacity <= memory.MOST_WORLDS
            assert not worlds.met[2], "it was full soon"
