"""Every agent that is offered for a game: what it thinks is in order, and it knows nothing that it may not know."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tapete.agents import Policy, choose, draw, load, opponents
from tapete.agents.networks import shipped
from tapete.agents.search import Searcher
from tapete.core import Game, Rng, State, TapeteError, make
from tapete.core.names import playable

GAMES = [name for name in playable() if name not in ("battle", "benefit", "dilemma", "monopoly", "pennies")]
SLOW = ("best(5)", "mcts(10000)", "ismcts(10000)", "ntuple(10000)", "mcts-value(1000)", "zero(1000)")


def some_states(game: Game, number: int) -> list[State]:
    """Where a player has a choice, after random play."""
    rng = Rng(str(game), "some")
    found: list[State] = []
    while len(found) < number:
        state = game.start().deal(rng)
        for _ in range(rng.below(min(game.spec.longest, 40))):
            if not state.over:
                state.apply(rng.choice(state.actions())).deal(rng)
        if not state.over:
            found.append(state)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_thoughts_are_in_order_and_depend_on_nothing_hidden(name: str) -> None:
    game = make(name)
    offered = [text for text in opponents(game) if text not in SLOW]
    assert "random" in offered
    for text in offered:
        for state in some_states(game, 2):
            seat = state.player
            other = state.view(seat).sample(Rng(text, "other"))
            here, there = (load(text, game).think(world.view(seat), Rng(text)) for world in (state, other))
            assert here == there, f"{text} can tell worlds apart that look the same to its seat"
            legal = state.actions()
            assert sorted(here.probabilities) == legal
            assert sum(here.probabilities.values()) == pytest.approx(1)
            assert set(here.values) | set(here.visits) <= set(legal)
            low, high = game.spec.utility
            assert all(low - 1e-6 <= value <= high + 1e-6 for value in here.values.values())
            assert choose(load(text, game), state.view(seat), Rng(1)) in legal


def test_the_best_there_is_has_levels() -> None:
    for level in range(1, 6):
        assert isinstance(load(f"best({level})", make("othello")), Searcher)
    assert not isinstance(load("best", make("kuhn")), Searcher), "kuhn is solved"
    assert isinstance(load("best(4)", make("kuhn")), Searcher)
    for wrong in ("best(0)", "best(6)"):
        with pytest.raises(TapeteError, match="between 1 and 5"):
            load(wrong, make("kuhn"))


def exact_of(policy: Policy) -> bool:
    assert isinstance(policy, Searcher)
    return policy.exact


def test_perfect_play_takes_over_near_the_end_of_othello() -> None:
    game = make("othello")
    rng = Rng("end")
    state = game.start()
    while not state.over and bin(int.from_bytes(state.data[:16].tobytes(), "little")).count("1") < 52:
        state.apply(rng.choice(state.actions()))
    assert not state.over
    policy = load("ntuple(2,exact=true)", game)
    assert exact_of(policy)
    assert not exact_of(load("ntuple(2)", game))
    thought = policy.think(state.view(state.player), rng)
    assert thought.value in (-1.0, 0.0, 1.0)
    assert len(thought.values) == len(state.actions()) or len(state.actions()) == 1


def test_a_network_is_loaded_by_its_path_and_by_the_folder_of_its_run(tmp_path: Path) -> None:
    game = make("othello")
    path = shipped(game, "ntuple")
    shutil.copy(path, tmp_path / "network.safetensors")
    state = game.start()
    thoughts = [
        load(text, game).think(state.view(0), Rng(3))
        for text in ("ntuple(50)", f"{path}(50)", f"{tmp_path}(50)", f"{tmp_path}/network.safetensors(iterations=50)")
    ]
    assert sum(thoughts[0].visits.values()) == 49, "the first simulation judges the root"
    assert all(thought == thoughts[0] for thought in thoughts)


@pytest.mark.parametrize(
    ("text", "game", "reason"),
    [
        ("ntuple", "kuhn", "no network of kuhn ships"),
        ("mcts", "kuhn", "try ismcts"),
        ("ismcts", "othello", "try mcts"),
        ("mcts(-1)", "othello", "can't be negative"),
        ("mcts(10,seconds=1)", "othello", "say one of them"),
        ("mcts(10,threads=0)", "othello", "threads must be"),
        ("ismcts(10,opponents=nobody)", "kuhn", "search, random"),
        ("runs/nowhere", "othello", "there is no file"),
        ("runs/nowhere(5)", "othello", "there is no file"),
        ("nobody.safetensors", "othello", "there is no file"),
        ("mtcs(5)", "othello", "did you mean 'mcts'"),
    ],
)
def test_what_can_not_play_is_refused_in_a_line(text: str, game: str, reason: str) -> None:
    with pytest.raises(TapeteError, match=reason) as error:
        load(text, make(game))
    assert "\n" not in str(error.value)


def test_a_network_of_another_game_is_refused() -> None:
    with pytest.raises(TapeteError, match="plays othello, not othello"):
        load(str(shipped(make("othello"), "ntuple")), make("othello(size=6)"))


def test_drawing_follows_the_probabilities() -> None:
    rng = Rng("draw")
    counts = {1: 0, 5: 0, 9: 0}
    for _ in range(20_000):
        counts[draw({1: 0.5, 5: 0.0, 9: 0.5}, rng)] += 1
    assert counts[5] == 0
    assert counts[1] == pytest.approx(10_000, abs=400)
