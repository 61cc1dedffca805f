from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from tapete.core import Game, Rng, State, TapeteError, Thought, make
from tapete.core.evaluator import Evaluator
from tapete.search import MCTS, Budget, playouts
from tapete.search.mcts import FIRST_PLAY, PUCT, UCT
from tests.search import naive, opinion

OTHELLO = make("othello(size=6)")


def middle(plies: int, seed: int = 1) -> State:
    """A position after random moves."""
    state, rng = OTHELLO.start(), Rng(seed, "middle")
    for _ in range(plies):
        state.apply(rng.choice(state.actions()))
    return state


def search(state: State, iterations: int, search: MCTS | None = None, seed: int = 1, threads: int = 1) -> Thought:
    search = search or MCTS(state.game)
    return search.run(state.view(state.player), Rng(seed), Budget(iterations=iterations, threads=threads))


def opinionated() -> Evaluator:
    return Evaluator(opinion.opinion, priors=True)


def stream() -> Rng:
    """The stream in which the first thread of `search` draws."""
    rng = Rng(1)
    return Rng("search", rng.below(1 << 30), rng.below(1 << 30), 0)


def agree(tree: object, ours: int, theirs: naive.Node) -> None:
    """Whether a node and all below it are the same."""
    node = tree.tree.nodes[ours]  # type: ignore[attr-defined]
    assert (node["action"], node["visits"]) == (theirs.action, theirs.visits)
    assert node["total"] == pytest.approx(theirs.total, abs=1e-9)
    assert ours == 0 or node["prior"] == theirs.prior
    children = range(node["first"], node["first"] + node["count"])
    assert len(children) == len(theirs.children)
    for child, twin in zip(children, theirs.children, strict=True):
        agree(tree, child, twin)


@pytest.mark.parametrize("plies", [0, 5, 20, 28])
def test_uct_grows_the_tree_of_the_papers(plies: int) -> None:
    state = middle(plies)
    mcts = MCTS(OTHELLO)
    search(state, 700, mcts)
    agree(mcts.trees[0], 0, naive.uct(state, 700, UCT, stream()))


@pytest.mark.parametrize("c", [0.1, 0.7, 4.0])
def test_the_constants_of_both_ways_of_choosing(c: float) -> None:
    state = middle(5)
    uct, puct = MCTS(OTHELLO, c=c), MCTS(OTHELLO, opinionated, c=c)
    search(state, 500, uct)
    agree(uct.trees[0], 0, naive.uct(state, 500, c, stream()))
    search(state, 500, puct)
    agree(puct.trees[0], 0, naive.puct(state, 500, c, FIRST_PLAY))


def test_constants_are_in_units_of_half_the_range_of_payoffs() -> None:
    game = Game(replace(OTHELLO.spec, utility=(-1.0, 5.0)), OTHELLO.package)
    state = State(game, middle(5).data, None)
    uct, puct = MCTS(game, c=0.5), MCTS(game, opinionated, c=0.5)
    search(state, 500, uct)
    agree(uct.trees[0], 0, naive.uct(middle(5), 500, 1.5, stream()))
    search(state, 500, puct)
    agree(puct.trees[0], 0, naive.puct(middle(5), 500, 1.5, 3 * FIRST_PLAY))


def test_what_was_in_the_memory_before_does_not_matter() -> None:
    state, uct, puct = middle(5), MCTS(OTHELLO, keep=False), MCTS(OTHELLO, opinionated, keep=False)
    for mcts in (uct, puct):
        search(state, 500, mcts)
        mcts.trees[0].tree.nodes.view(np.uint8)[:] = 0x6B
        search(state, 500, mcts)
    agree(uct.trees[0], 0, naive.uct(state, 500, UCT, stream()))
    agree(puct.trees[0], 0, naive.puct(state, 500, PUCT, FIRST_PLAY))


@pytest.mark.parametrize("plies", [0, 5, 20, 28])
def test_puct_grows_the_tree_of_the_papers(plies: int) -> None:
    state = middle(plies)
    mcts = MCTS(OTHELLO, opinionated)
    search(state, 700, mcts)
    agree(mcts.trees[0], 0, naive.puct(state, 700, PUCT, FIRST_PLAY))


def test_with_one_simulation_it_plays_what_the_evaluator_likes() -> None:
    """Which is the first move in `opinion`; here, turned round, the last."""
    state = middle(6)
    liked = Evaluator(opinion.reversed_opinion, priors=True)
    thought = MCTS(OTHELLO, lambda: liked).run(state.view(state.player), Rng(1), Budget(iterations=1))
    assert thought.line == (state.actions()[-1],)
    assert len(state.actions()) > 2


def minimax(state: State) -> float:
    """What seat 0 gets when both play perfectly."""
    if state.over:
        return state.returns()[0]
    results = [minimax(state.copy().apply(action)) for action in state.actions()]
    return max(results) if state.player == 0 else min(results)


@pytest.mark.parametrize("seed", range(12))
def test_it_finds_the_right_move_near_the_end(seed: int) -> None:
    state = middle(26, seed)
    if state.over or len(state.actions()) == 1:
        return
    best = minimax(state)
    thought = search(state, 20_000, seed=seed)
    (action,) = [action for action, p in thought.probabilities.items() if p == 1]
    assert minimax(state.copy().apply(action)) == best
    assert thought.line[0] == action
    assert thought.value == pytest.approx(best * (1 if state.player == 0 else -1), abs=0.15)


def test_visits_add_up_and_the_line_is_legal() -> None:
    state = middle(4)
    thought = search(state, 1000)
    assert sum(thought.visits.values()) == 1000
    assert list(thought.visits) == state.actions() == list(thought.probabilities)
    assert sum(thought.probabilities.values()) == 1
    for action in thought.line:
        state.apply(action)


def test_a_seed_tells_all_with_one_thread_and_with_two() -> None:
    state = middle(4)
    for threads in (1, 2):
        first, again = (search(state, 1001, seed=7, threads=threads) for _ in range(2))
        assert first == again
        assert sum(first.visits.values()) == 1001
    assert search(state, 1001, seed=7).visits != search(state, 1001, seed=8).visits


def test_the_next_move_begins_with_what_is_known() -> None:
    state = middle(4)
    mcts, fresh = MCTS(OTHELLO), MCTS(OTHELLO, keep=False)
    line = search(state, 4000, mcts).line[:2]
    search(state, 4000, fresh)
    tree = mcts.trees[0]
    node = next(child for child in tree.children(0) if child["action"] == line[0])
    below = tree.tree.nodes[node["first"] : node["first"] + node["count"]]
    known = int(below[below["action"] == line[1]]["visits"][0])
    assert known > 50
    for action in line:
        state.apply(action)
    thought = search(state, 1000, mcts)
    assert sum(thought.visits.values()) == known - 1 + 1000, "a node's own first visit has no child"
    assert sum(search(state, 1000, fresh).visits.values()) == 1000


@pytest.mark.parametrize(("plies", "seed"), [(4, 1), (24, 3)])
def test_a_tree_that_was_cut_is_the_tree_that_was_there(plies: int, seed: int) -> None:
    state = middle(plies, seed)
    mcts = MCTS(OTHELLO)
    action = search(state, 5000, mcts).line[0]
    tree = mcts.trees[0]
    index = next(i for i in range(1, 1 + len(tree.children(0))) if tree.tree.nodes[i]["action"] == action)
    before = copied(tree, index)
    state.apply(action)
    tree.move_to(state.data, keep=True)
    agree(tree, 0, before)
    if plies > 20:
        assert (tree.tree.nodes[: tree.tree.used[0]]["count"] == 1).any(), "forced moves are moved too"
    assert tree.tree.used[0] == count(before)


def copied(tree: object, index: int) -> naive.Node:
    node = tree.tree.nodes[index]  # type: ignore[attr-defined]
    children = [copied(tree, i) for i in range(node["first"], node["first"] + node["count"])]
    return naive.Node(
        int(node["action"]), int(node["visits"]), float(node["total"]), float(node["prior"]), children=children
    )


def count(node: naive.Node) -> int:
    return 1 + sum(map(count, node.children))


def test_another_game_begins_with_nothing() -> None:
    mcts = MCTS(OTHELLO)
    search(middle(10, seed=1), 1000, mcts)
    assert sum(search(middle(10, seed=2), 500, mcts).visits.values()) == 500


@pytest.mark.parametrize("evaluator", [playouts, opinionated])
@pytest.mark.parametrize("plies", [4, 5])  # one seat to move, and the other
def test_a_move_that_was_never_tried_begins_with_nothing(evaluator: Callable[[], Evaluator], plies: int) -> None:
    state = middle(plies)
    mcts = MCTS(OTHELLO, evaluator)
    thought = search(state, 2, mcts)
    untried = [action for action, n in thought.visits.items() if n == 0]
    assert untried
    state.apply(untried[0])
    assert search(state, 300, mcts) == search(state, 300, MCTS(OTHELLO, evaluator))
    assert mcts.trees[0].tree.nodes[0]["mover"] == state.player


def test_a_tree_is_found_again_four_plies_later_and_not_further() -> None:
    for plies, is_found in ((1, True), (4, True), (5, False)):
        state, mcts = middle(26, seed=3), MCTS(OTHELLO)
        line = search(state, 20_000, mcts).line
        assert len(line) > 5
        for action in line[:plies]:
            state.apply(action)
        assert (sum(search(state, 10, mcts).visits.values()) > 10) == is_found


def test_two_trees_are_added_up() -> None:
    state, mcts = middle(4), MCTS(OTHELLO)
    thought = search(state, 501, mcts, threads=2)
    first, second = ({move["action"]: move for move in tree.children(0)} for tree in mcts.trees)
    assert [sum(int(move["visits"]) for move in moves.values()) for moves in (first, second)] == [251, 250]
    for action, n in thought.visits.items():
        assert n == first[action]["visits"] + second[action]["visits"]
        assert thought.values[action] == pytest.approx((first[action]["total"] + second[action]["total"]) / n)
    counts = [int(moves[thought.line[0]]["visits"]) for moves in (first, second)]
    assert thought.line == mcts.trees[int(np.argmax(counts))].line(thought.line[0]), "the line is of who knows more"


def test_memory_begins_small_and_grows_up_to_its_limit() -> None:
    state, mcts = middle(2), MCTS(OTHELLO)
    assert mcts.bytes == 0
    search(state, 4, mcts)
    assert 0 < mcts.bytes < 100_000
    search(state, 20_000, mcts)
    assert mcts.bytes > 1 << 20
    for threads in (1, 2, 3):
        small = MCTS(OTHELLO, memory=300_000)
        assert sum(search(state, 9000, small, threads=threads).visits.values()) == 9000
        assert 250_000 < small.bytes <= 300_000


def test_memory_is_bounded() -> None:
    state = middle(2)
    mcts = MCTS(OTHELLO, memory=100_000)
    thought = search(state, 5000, mcts)
    assert sum(thought.visits.values()) == 5000
    assert 50_000 < mcts.bytes <= 100_000


def test_a_limit_of_time_searches_something() -> None:
    state = middle(2)
    thought = MCTS(OTHELLO).run(state.view(state.player), Rng(1), Budget(seconds=0.05, threads=2))
    assert sum(thought.visits.values()) > 2
    assert np.isclose(sum(thought.probabilities.values()), 1)


def test_two_threads_may_ask_at_once() -> None:
    state = middle(2)
    mcts = MCTS(OTHELLO, keep=False)
    with ThreadPoolExecutor(4) as pool:
        thoughts = list(pool.map(lambda _: search(state, 3000, mcts), range(16)))
    assert all(thought == thoughts[0] for thought in thoughts)


def test_games_with_secrets_are_refused() -> None:
    with pytest.raises(TapeteError, match="try ismcts"):
        MCTS(make("kuhn"))


@pytest.mark.parametrize(
    "wrong",
    [{}, {"iterations": -1}, {"seconds": -1.0}, {"iterations": 5, "seconds": 1.0}, {"iterations": 5, "threads": 0}],
)
def test_a_budget_without_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(TapeteError):
        Budget(**wrong)  # type: ignore[arg-type]
