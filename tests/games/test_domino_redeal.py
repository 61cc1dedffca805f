"""What may be inferred in dominó: a redealt world explains every move, and all such worlds come equally often."""

from collections import Counter
from collections.abc import Iterator

import pytest
from scipy.stats import chi2

import tapete
from tapete.core import calls
from tapete.core.contract import CHANCE
from tapete.core.game import State
from tapete.core.rng import Rng
from tapete.games.domino.state import DEAL, GIVE, OVER, TAKEN
from tapete.games.domino.tiles import tiles_of
from tapete.testing import check_redeal


@pytest.mark.parametrize("name", ["domino(1,1)", "domino(2,1)", "domino(2,2)", "domino(2,3)"])
def test_redeal_over_the_whole_tree(name: str) -> None:
    check_redeal(name)


def gets_tile(state: State) -> int | None:
    """The seat to which chance gives a tile now."""
    s = state.game.record(state.data)
    if s["stage"] == DEAL:
        return int(s["given"] // s["each"])
    return int(s["turn"]) if s["stage"] == GIVE else None


def explanations(state: State, seat: int) -> dict[bytes, State]:
    """All states that the seat can't tell from this one: what the other was given, in every way that allows the moves.

    They are equally likely: each stands for as many orders of the deal, and boneyards are of the same size in all.
    """
    real = state.game.start()
    worlds = {real.data.tobytes(): real.copy()}
    assert state.history is not None
    for action in state.history:
        is_hidden = gets_tile(real) == 1 - seat
        following = {}
        for world in worlds.values():
            allowed = world.actions()
            for choice in allowed if is_hidden else {action} & set(allowed):
                child = world.copy().apply(choice)
                following[child.data.tobytes()] = child
        worlds = following
        real.apply(action)
    known = state.infoset(seat)
    return {data: world for data, world in worlds.items() if world.infoset(seat) == known}


def states_of_random_games(name: str, seed: int) -> Iterator[State]:
    game, rng = tapete.make(name), Rng(seed)
    while True:
        state = game.start()
        while not state.over:
            action = (
                calls.draw(game.rulebook, state.data, rng.words)
                if state.player == CHANCE
                else rng.choice(state.actions())
            )
            state.apply(int(action))
            yield state


def origins(state: State, seat: int) -> list[tuple[int, int]]:
    """Earliest and latest slot of the tiles that a seat laid from its hand."""
    s = state.game.record(state.data)
    return [(int(s["earliest"][tile]), int(s["latest"][tile])) for tile in tiles_of(s["laid"][seat])]


def has_tiles_kept_between(state: State, seat: int) -> bool:
    """Whether a tile was laid that was surely taken, after one moment and before another: the hardest to redeal."""
    return any(0 < earliest < latest for earliest, latest in origins(state, seat))


def expect_each_explanation_as_often(state: State, seat: int, rng: Rng) -> None:
    worlds = explanations(state, seat)
    samples = max(1000, 30 * len(worlds))
    found: Counter[bytes] = Counter()
    for _ in range(samples):
        data = state.data.copy()
        calls.redeal(state.game.rulebook, data, seat, rng.words)
        found[data.tobytes()] += 1
    assert found.keys() <= worlds.keys(), f"a world that can't be, for seat {seat} in {state}"
    expected = samples / len(worlds)
    statistic = sum((found[data] - expected) ** 2 / expected for data in worlds)
    assert len(worlds) == 1 or chi2.sf(statistic, len(worlds) - 1) > 1e-6, f"wrong frequencies for {seat} in {state}"


@pytest.mark.parametrize(("name", "boneyard"), [("domino(3,2)", 6), ("domino(4,3)", 3)])
def test_redeal_gives_every_explanation_equally_often(name: str, boneyard: int) -> None:
    rng = Rng(name)
    plain = hard = 0
    stages = set()
    for state in states_of_random_games(name, seed=1):
        s = state.game.record(state.data)
        for seat in range(2):
            other = 1 - seat
            if s["keeps"][other] < 2 or int(s["boneyard"]).bit_count() > boneyard:
                continue
            if has_tiles_kept_between(state, other):
                hard += 1
            elif plain < 50:
                plain += 1
            else:
                continue
            stages.add(int(s["stage"]))
            expect_each_explanation_as_often(state, seat, rng)
        if hard >= 50 and plain >= 50:
            break
    assert {TAKEN, OVER} <= stages


def replayed(state: State, world: State, seat: int) -> State:
    """The moves of a state made again, with what the other seat was given in another world."""
    again, other = state.game.start(), 1 - seat
    s = world.game.record(world.data)
    dealt, kept = iter(tiles_of(s["dealt"][other])), iter(s["kept"][other].tolist())
    assert state.history is not None
    following = [*state.history[1:], None]
    lays = 2 * int(s["tiles"])
    for action, next_action in zip(state.history, following, strict=True):
        if gets_tile(again) == other:
            is_deal = again.game.record(again.data)["stage"] == DEAL
            is_laid_at_once = not is_deal and next_action is not None and next_action < lays
            action = next(dealt) if is_deal else action if is_laid_at_once else next(kept)
        again.apply(action)
    return again


@pytest.mark.parametrize("name", ["domino(6,7)", "domino(5,2)", "domino(9,5)"])
def test_every_move_is_possible_in_a_world_redealt(name: str) -> None:
    rng = Rng(name)
    kept_between = 0
    for i, state in enumerate(states_of_random_games(name, seed=2)):
        s = state.game.record(state.data)
        for seat in range(2):
            if s["stage"] != DEAL and rng.below(4) == 0:
                world = state.view(seat).sample(rng)
                assert replayed(state, world, seat) == world
                kept_between += has_tiles_kept_between(state, 1 - seat)
        if i > 4000:
            break
    assert kept_between > 10
