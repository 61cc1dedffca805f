from __future__ import annotations

import numpy as np
import pytest

from tapete.core import Game, Rng, State, TapeteError, make
from tapete.core.evaluator import Evaluator
from tapete.search import ISMCTS, Budget
from tapete.search.mcts import FIRST_PLAY, PUCT
from tapete.solve import find
from tapete.solve.response import best_response
from tapete.solve.sequence_form import SequenceForm
from tests.oracles import trees
from tests.search import naive, opinion

HIDDEN = ["kuhn", "leduc", "rps", "dudo(5,2,2)", "domino(3,4)", "truco", "holdem", "holdem(players=5)", "doudizhu"]


def some_state(game: Game, seed: int) -> State:
    """Where a player is to move, after random play."""
    rng = Rng(seed, "some")
    while True:
        state = game.start().deal(rng)
        for _ in range(rng.below(1 + min(game.spec.longest, 30))):
            if not state.over:
                state.apply(rng.choice(state.actions())).deal(rng)
        if not state.over:
            return state


@pytest.mark.parametrize("name", HIDDEN)
def test_it_does_the_same_in_worlds_that_its_seat_cannot_tell_apart(name: str) -> None:
    game = make(name)
    different = 0
    for seed in range(25):
        state = some_state(game, seed)
        seat = state.player
        other = state.view(seat).sample(Rng(seed, "other"))
        different += other != state
        assert other.infoset(seat) == state.infoset(seat)
        here, there = (
            ISMCTS(game).run(world.view(seat), Rng(seed), Budget(iterations=200)) for world in (state, other)
        )
        assert here == there
    assert different > 5, "worlds that are the same prove nothing"


def known(search: ISMCTS, thread: int = 0) -> dict[int, tuple[int, list[int], list[int], list[float]]]:
    """All that a tree remembers, by the key of the information set: visits; actions, tries and totals of its moves."""
    memory = search.trees[thread].memory
    found = {}
    for entry in memory.sets[: memory.used[0]]:
        moves = memory.moves[entry["first"] : entry["first"] + entry["count"]]
        key = int(memory.keys[entry["slot"]])
        found[key] = (int(entry["visits"]), *(moves[name].tolist() for name in ("action", "visits", "total")))
    return found


@pytest.mark.parametrize(
    ("name", "c", "opponents"),
    [
        ("kuhn", 1.0, "search"),
        ("kuhn", 1.0, "random"),
        ("leduc", 0.4, "search"),
        ("leduc", 2.5, "random"),
        ("truco", 1.0, "search"),
        ("holdem(players=3)", 1.0, "search"),
        ("holdem(players=4)", 0.7, "random"),
        ("doudizhu", 1.0, "search"),
    ],
)
def test_it_grows_the_tree_of_the_paper(name: str, c: float, opponents: str) -> None:
    game = make(name)
    state = some_state(game, 4)
    view = state.view(state.player)
    search, iterations = ISMCTS(game, c=c, opponents=opponents), 6000 if name == "kuhn" else 900
    thought = search.run(view, Rng(1), Budget(iterations))
    rng = Rng(1)
    world = view.sample(rng)
    stream = Rng("search", rng.below(1 << 30), rng.below(1 << 30), 0)
    twin = naive.ismcts(view, world, iterations, c, opponents == "random", stream)
    ours = known(search)
    assert ours.keys() == {max(key, 1) for key in twin}
    for key, node in twin.items():
        visits, actions, tries, totals = ours[max(key, 1)]
        assert (visits, actions, tries) == (node.visits, node.actions, node.tries)
        assert totals == pytest.approx(node.totals)
    root = twin[view.infoset]
    assert thought.visits == dict(zip(root.actions, root.tries, strict=True))


@pytest.mark.parametrize("plays_on", [False, True])
@pytest.mark.parametrize(("name", "c"), [("kuhn", None), ("leduc", 0.5), ("dudo(5,2,2)", 2.0), ("truco", None)])
def test_with_priors_it_grows_the_tree_of_puct(name: str, c: float | None, plays_on: bool) -> None:
    """Every seat's moves are chosen by them, at every information set."""
    game = make(name)
    state = some_state(game, 4)
    view, iterations = state.view(state.player), 3000 if name == "kuhn" else 500
    search = ISMCTS(game, lambda: Evaluator(opinion.opinion, priors=True, values=not plays_on), c=c)
    thought = search.run(view, Rng(1), Budget(iterations))
    rng = Rng(1)
    world = view.sample(rng)
    stream = Rng("search", rng.below(1 << 30), rng.below(1 << 30), 0)
    twin = naive.judged_ismcts(view, world, iterations, PUCT if c is None else c, FIRST_PLAY, plays_on, stream)
    ours = known(search)
    assert ours.keys() == {max(key, 1) for key in twin}
    for key, node in twin.items():
        visits, actions, tries, totals = ours[max(key, 1)]
        assert (visits, actions, tries) == (node.visits, node.actions, node.tries)
        assert totals == pytest.approx(node.totals)
    root = twin[view.infoset]
    assert thought.visits == dict(zip(root.actions, root.tries, strict=True))
    assert sum(root.tries) == iterations - 1, "the first simulation asks what the moves are worth"


def test_without_a_visit_the_likeliest_move_is_made() -> None:
    state = some_state(make("leduc"), 2)
    search = ISMCTS(state.game, lambda: Evaluator(opinion.reversed_opinion, priors=True))
    thought = search.run(state.view(state.player), Rng(1), Budget(1))
    assert set(thought.visits.values()) == {0}
    assert thought.probabilities[state.actions()[-1]] == 1.0


def test_priors_leave_no_room_for_more_memory_than_is_allowed() -> None:
    game = make("truco")
    state = some_state(game, 1)
    small = ISMCTS(game, lambda: Evaluator(opinion.opinion, priors=True), memory=100_000)
    for seed in range(3):
        thought = small.run(state.view(state.player), Rng(seed), Budget(3000))
        assert sum(thought.visits.values()) >= 2999
        assert small.bytes <= 100_000


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_with_few_simulations_it_is_near_to_what_it_was_told(name: str) -> None:
    """An equilibrium as prior: the first moves that are tried are its own, which takes UCT very long to find out."""
    game = make(name)
    root, table = trees.grow(game), find(game)
    assert table is not None
    told = trees.strategy_of(table, trees.choices(root, 0) | trees.choices(root, 1))
    distance = {"uct": 0.0, "puct": 0.0}
    states = [state for seat in (0, 1) for state in decisions(game.start(), seat)][:: 1 if name == "kuhn" else 20]
    for state in states:
        for way in distance:
            search = ISMCTS(game, lambda: opinion.evaluator_of(told)) if way == "puct" else ISMCTS(game)
            thought = search.run(state.view(state.player), Rng(1), Budget(33))
            tries = np.array(list(thought.visits.values()))
            distance[way] += float(np.abs(tries / tries.sum() - told[state.infoset(state.player)]).sum() / 2)
    assert distance["puct"] < 0.6 * distance["uct"], distance


@pytest.mark.parametrize("name", ["leduc", "truco", "holdem(players=3)"])
def test_what_was_forgotten_leaves_no_trace(name: str) -> None:
    game = make(name)
    search = ISMCTS(game, keep=False)
    for seed in range(6):
        state = some_state(game, seed)
        view, fresh = state.view(state.player), ISMCTS(game)
        budget = Budget(1500 if seed % 2 else 100)
        assert search.run(view, Rng(seed), budget) == fresh.run(view, Rng(seed), budget)
        assert known(search) == known(fresh)
        assert np.count_nonzero(search.trees[0].memory.keys) == len(known(search))


def test_memory_begins_small_and_grows_up_to_its_limit() -> None:
    game = make("truco")
    state = some_state(game, 1)
    view = state.view(state.player)
    search = ISMCTS(game)
    assert search.bytes == 0
    search.run(view, Rng(1), Budget(4))
    assert 0 < search.bytes < 100_000
    search.run(view, Rng(1), Budget(20_000))
    assert search.bytes > 1 << 20
    for threads in (1, 2, 3):
        small = ISMCTS(game, memory=300_000)
        for seed in range(3):
            thought = small.run(view, Rng(seed), Budget(5000, threads=threads))
            assert sum(thought.visits.values()) >= 5000
            assert 100_000 < small.bytes <= 300_000
        assert len(small.trees) == threads


def test_too_much_that_is_known_is_forgotten() -> None:
    game = make("truco")
    state = some_state(game, 1)
    view = state.view(state.player)
    search = ISMCTS(game, memory=300_000)
    for seed in range(3):
        thought = search.run(view, Rng(seed), Budget(5000))
        assert sum(thought.visits.values()) == 5000, "the tree was more than half full"
    sparing = ISMCTS(game, memory=30_000_000)
    for times in (1, 2, 3):
        assert sum(sparing.run(view, Rng(times), Budget(5000)).visits.values()) == times * 5000


def test_two_trees_are_added_up() -> None:
    state = make("leduc").start().deal(Rng(1))
    view = state.view(state.player)
    search = ISMCTS(state.game)
    thought = search.run(view, Rng(1), Budget(501, threads=2))
    first, second = (known(search, thread)[view.infoset] for thread in (0, 1))
    assert (sum(first[2]), sum(second[2])) == (251, 250)
    assert first != second
    assert list(thought.visits.values()) == [a + b for a, b in zip(first[2], second[2], strict=True)]
    for i, action in enumerate(first[1]):
        assert thought.values[action] == pytest.approx((first[3][i] + second[3][i]) / thought.visits[action])


@pytest.mark.parametrize("name", ["kuhn", "leduc", "truco"])
def test_no_seat_in_the_tree_has_more_nodes_than_information_sets(name: str) -> None:
    """A mover's node is found by what he knows: many worlds, few nodes."""
    game = make(name)
    state = some_state(game, 3)
    search = ISMCTS(game, keep=False)
    search.run(state.view(state.player), Rng(1), Budget(iterations=3000))
    tree = search.trees[0]
    if name == "kuhn":
        assert tree.memory.used[0] <= 12
    keys = tree.memory.keys[tree.memory.keys != 0]
    assert len(keys) == tree.memory.used[0] == len(set(keys.tolist()))


def gain(game: Game, root: trees.Node, seat: int, iterations: int, opponents: str, rest: trees.Probabilities) -> float:
    """What the search gains for a seat, exactly, over all deals, when the others play `rest`."""
    strategy = dict(rest)
    for state in decisions(game.start(), seat):
        key = state.infoset(seat)
        search = ISMCTS(game, opponents=opponents)
        thought = search.run(state.view(seat), Rng(1, key), Budget(iterations=iterations))
        strategy[key] = list(thought.probabilities.values())
    value = trees.value(root, strategy)
    return value if seat == 0 else -value


def decisions(start: State, seat: int) -> list[State]:
    """One state of every information set in which the seat has a choice."""
    found: dict[int, State] = {}
    stack = [start]
    while stack:
        state = stack.pop()
        if state.over:
            continue
        legal = state.actions()
        if state.player == seat and len(legal) > 1:
            found.setdefault(state.infoset(seat), state)
        stack += [state.copy().apply(action) for action in legal]
    return list(found.values())


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("name", "short"), [("kuhn", 0.0), ("leduc", 0.02)])
def test_it_approaches_the_best_response_to_random_play(name: str, short: float, seat: int) -> None:
    game = make(name)
    root = trees.grow(game)
    uniform = {key: [1 / n] * n for key, n in (trees.choices(root, 0) | trees.choices(root, 1)).items()}
    form = SequenceForm.of(game)
    best, _ = best_response(form, seat, trees.plans(form, uniform)[1 - seat])
    gains = [gain(game, root, seat, iterations, "random", uniform) for iterations in (1, 64, 16_384)]
    assert gains == sorted(gains)
    assert gains[-1] <= best + 1e-9, "nothing gains more than a best response"
    assert gains[-1] >= (1 - short) * best - 1e-9
    if name == "leduc":
        assert gains[0] < best / 2, "with one simulation it is far from it"


@pytest.mark.parametrize("seat", [0, 1])
def test_on_kuhn_an_equilibrium_gains_little_from_it(seat: int) -> None:
    game = make("kuhn")
    root, table = trees.grow(game), find(game)
    assert table is not None
    keys = trees.choices(root, 0) | trees.choices(root, 1)
    play = trees.strategy_of(table, keys)
    value = trees.value(root, play) * (1 if seat == 0 else -1)
    little, much = (gain(game, root, seat, n, "search", play) for n in (2, 5000))
    assert much <= value + 1e-3, "nobody gains more against an equilibrium than its value, but for its exploitability"
    assert value - much < 0.05
    assert much >= little


def test_seeds_threads_and_time() -> None:
    state = make("truco").start().deal(Rng(1))
    view = state.view(state.player)
    for threads in (1, 2):
        first, again = (ISMCTS(state.game).run(view, Rng(5), Budget(301, threads=threads)) for _ in range(2))
        assert first == again
        assert sum(first.visits.values()) == 301
    assert sum(ISMCTS(state.game).run(view, Rng(5), Budget(seconds=0.02)).visits.values()) > 0


def test_what_is_known_is_kept_and_memory_is_bounded() -> None:
    state = make("leduc").start().deal(Rng(1))
    view = state.view(state.player)
    search = ISMCTS(state.game)
    search.run(view, Rng(1), Budget(100))
    assert sum(search.run(view, Rng(2), Budget(100)).visits.values()) == 200
    small = ISMCTS(make("truco"), memory=64 << 10)
    state = small.game.start().deal(Rng(1))
    for seed in range(3):
        small.run(state.view(state.player), Rng(seed), Budget(1000))
        assert small.bytes <= 64 << 10


def test_the_line_can_be_played() -> None:
    game = make("dudo(5,2,2)")
    state = game.start().deal(Rng(1))
    thought = ISMCTS(game).run(state.view(state.player), Rng(1), Budget(20_000))
    assert len(thought.line) > 1
    for action in thought.line:
        state.apply(action)


def test_unknown_opponents_are_refused() -> None:
    with pytest.raises(TapeteError, match="search, random"):
        ISMCTS(make("kuhn"), opponents="friendly")
