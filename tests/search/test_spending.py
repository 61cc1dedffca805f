"""A budget is spent, neither less nor more; and what several roots say together."""

from __future__ import annotations

import pytest

from tapete.core import Rng
from tapete.search import Budget
from tapete.search.roots import conclude
from tapete.search.spending import spend


class Simulated:
    """A clock that simulations move on, so that a test does not depend on the speed of a machine."""

    def __init__(self, each: float) -> None:
        self.each, self.now, self.chunks = each, 100.0, list[int]()

    def __call__(self) -> float:
        return self.now

    def grow(self, thread: int, count: int, rng: Rng) -> None:
        self.chunks.append(count)
        self.now += count * self.each


@pytest.mark.parametrize("each", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("seconds", [0.1, 1.0, 30.0])
def test_time_is_used_up_and_not_more(seconds: float, each: float) -> None:
    clock = Simulated(each)
    spend(Budget(seconds=seconds), clock.grow, Rng(1), clock)
    assert seconds <= clock.now - 100 <= seconds + max(0.004, each) + 1e-9, "the clock is looked at every 4 ms"
    assert len(clock.chunks) <= 30 + seconds / 0.003, "and not much more often"


def test_the_first_simulation_may_take_all_the_time() -> None:
    clock = Simulated(5.0)
    spend(Budget(seconds=0.1), clock.grow, Rng(1), clock)
    assert clock.chunks == [1]


@pytest.mark.parametrize("budget", [Budget(seconds=1.0), Budget(1000)])
def test_who_has_nothing_left_to_find_out_gets_no_more(budget: Budget) -> None:
    chunks: list[int] = []

    def grow(thread: int, count: int, rng: Rng) -> bool:
        chunks.append(count)
        return len(chunks) == 3 or budget.iterations > 0

    spend(budget, grow, Rng(1), lambda: 0.0)
    assert len(chunks) == (1 if budget.iterations else 3)


def test_simulations_are_shared_out_in_streams_of_their_own() -> None:
    done: dict[int, tuple[int, int]] = {}

    def grow(thread: int, count: int, rng: Rng) -> None:
        done[thread] = (count, rng.below(1 << 30))

    spend(Budget(11, threads=3), grow, Rng(1))
    assert [done[thread][0] for thread in range(3)] == [4, 4, 3]
    assert len({drawn for _, drawn in done.values()}) == 3
    before = dict(done)
    spend(Budget(11, threads=3), grow, Rng(1))
    assert done == before
    spend(Budget(11, threads=3), grow, Rng(2))
    assert all(done[thread][1] != before[thread][1] for thread in range(3))


def line(action: int) -> tuple[int, ...]:
    return (action, 99)


@pytest.mark.parametrize(
    ("roots", "best"),
    [
        ([[(3, 5, 5.0, 0.1), (4, 6, -6.0, 0.1), (7, 5, 5.0, 0.8)]], 4),  # tried most often
        ([[(3, 5, 1.0, 0.9), (4, 5, 2.0, 0.1), (7, 4, 4.0, 0.0)]], 4),  # of those, the best
        ([[(3, 5, 2.0, 0.1), (4, 5, 2.0, 0.2), (7, 5, 2.0, 0.7)]], 7),  # of those, the likeliest
        ([[(3, 5, 2.0, 0.3), (4, 5, 2.0, 0.3), (7, 5, 2.0, 0.3)]], 3),  # of those, the first
        ([[(7, 5, 2.0, 0.3), (4, 5, 2.0, 0.3), (3, 5, 2.0, 0.3)]], 3),  # in whichever order they come
        ([[(3, 5, 0.0, 0.0), (4, 4, 0.0, 0.0)], [(3, 1, 0.0, 0.0), (4, 3, 0.0, 0.0)]], 4),  # added up
        ([[(3, 0, 0.0, 0.2), (4, 0, 0.0, 0.7), (7, 0, 0.0, 0.1)]], 4),  # nothing was tried
        ([[(3, 1, -9.0, 0.0), (4, 0, 0.0, 0.9)]], 3),  # what was tried goes before what was not
    ],
)
def test_the_move_that_is_decided_on(roots: list[list[tuple[int, int, float, float]]], best: int) -> None:
    thought = conclude([3, 4, 7], roots, line)
    assert thought.line == (best, 99)
    assert thought.probabilities == {action: float(action == best) for action in (3, 4, 7)}
    assert thought.value == thought.values.get(best)
    assert sum(thought.visits.values()) == sum(n for root in roots for _, n, _, _ in root)
    for action, value in thought.values.items():
        assert value * thought.visits[action] == pytest.approx(
            sum(total for root in roots for move, _, total, _ in root if move == action)
        )
