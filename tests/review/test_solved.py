"""In games that were solved, what a decision has lost is exact: compared with whole trees, walked one state a time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tapete import Rng, State, make
from tapete.agents.equilibrium import Equilibrium
from tapete.core import CHANCE, Game
from tapete.review import Choice, choices, judge_of
from tapete.review.solved import solved

Weighted = list[tuple[State, float]]


def positions(game: Game, count: int, rng: Rng, plies: int = 0) -> list[Choice]:
    """Decisions of random games after so many moves, each information set once."""
    found: dict[int, Choice] = {}
    while len(found) < count:
        state = game.start().deal(rng)
        while not state.over:
            state.apply(rng.choice(state.actions())).deal(rng)
        for seat in range(2):
            mine = choices(game, state.history or [], seat)
            found |= {choice.view.infoset: choice for choice in mine if choice.ply >= plies}
    return list(found.values())[:count]


class Walk:
    """A seat against the solution: no sequence form, no kernel, only the rules."""

    def __init__(self, game: Game, seat: int) -> None:
        self.game, self.seat, self.solution = game, seat, Equilibrium(game)
        self.known: dict[int, list[tuple[int, float]]] = {}

    def likely(self, state: State) -> list[tuple[int, float]]:
        if state.player == CHANCE:
            return state.outcomes()
        key = state.infoset(state.player)
        if key not in self.known:
            self.known[key] = list(self.solution.at(state.view(state.player)).items())
        return self.known[key]

    def onward(self, worlds: Weighted, is_there: Callable[[State], bool]) -> tuple[Weighted, float]:
        """Plays worlds on to where something is so, for all others by the solution; and what those paid that ended."""
        there, paid, todo = [], 0.0, list(worlds)
        while todo:
            state, weight = todo.pop()
            if state.over:
                paid += weight * state.returns()[self.seat]
            elif is_there(state):
                there.append((state, weight))
            else:
                todo += [(state.copy().apply(a), weight * p) for a, p in self.likely(state) if p > 0]
        return there, paid

    def best(self, worlds: Weighted) -> float:
        """The most that the seat can gain, playing on as well as it can."""
        mine, paid = self.onward(worlds, lambda state: state.player == self.seat and len(state.actions()) > 1)
        by_key: dict[int, Weighted] = {}
        for state, weight in mine:
            by_key.setdefault(state.infoset(self.seat), []).append((state, weight))
        return paid + sum(max(self.after(group, a) for a in group[0][0].actions()) for group in by_key.values())

    def after(self, worlds: Weighted, action: int) -> float:
        return self.best([(state.copy().apply(action), weight) for state, weight in worlds])

    def worlds(self, choice: Choice) -> Weighted:
        """All states of the information set, as likely as chance and the solution make them."""
        worlds: Weighted = [(self.game.start(), 1.0)]
        for key, own in zip(choice.past.keys, choice.past.moves, strict=True):
            after = [
                (state.copy().apply(action), weight * share)
                for state, weight in worlds
                for action, share in ([(own, 1.0)] if state.player == self.seat else self.likely(state))
            ]
            worlds = [(state, weight) for state, weight in after if weight > 0 and state.infoset(self.seat) == key]
        return worlds


@pytest.mark.parametrize(
    ("name", "count", "enough", "plies"), [("kuhn", 12, 12, 0), ("leduc", 60, 50, 0), ("dudo(6,1,1)", 200, 38, 5)]
)
def test_what_was_lost_is_exact(name: str, count: int, enough: int, plies: int) -> None:
    game = make(name)
    judge, checked, lost = solved(name), 0, 0.0
    walks = [Walk(game, seat) for seat in range(2)]
    for choice in positions(game, count, Rng("positions", name), plies):
        walk = walks[choice.view.seat]
        worlds = walk.worlds(choice)
        reach = sum(weight for _, weight in worlds)
        if reach < 1e-5:  # what the solution never does is judged otherwise
            continue
        exact = {action: walk.after(worlds, action) / reach for action in choice.view.actions()}
        said = judge.judge(choice, choice.rng)
        assert said is not None
        assert said.values == pytest.approx(exact, abs=2e-4)
        assert said.lost(choice.action) == pytest.approx(max(exact.values()) - exact[choice.action], abs=2e-4)
        checked, lost = checked + 1, lost + said.lost(choice.action)
    print(f"\n{name}: {checked} positions, {lost:.3f} lost in all")
    assert checked >= enough
    assert lost > 1, "random play costs something"


def test_what_a_solution_never_does_is_judged_as_a_slip() -> None:
    """Seat 1 raises with a hand that the solution never raises: the judge still says something, and it is bounded."""
    game = make("leduc")
    judge = solved("leduc")
    for choice in positions(game, 150, Rng("slips")):
        said = judge.judge(choice, choice.rng)
        assert said is not None
        low, high = game.spec.utility
        assert all(low - 1e-6 <= value <= high + 1e-6 for value in said.values.values())


def test_the_strongest_judge_is_the_solution_where_there_is_one() -> None:
    (choice, *_) = positions(make("kuhn"), 1, Rng(1))
    said = judge_of(make("kuhn")).judge(choice, choice.rng)
    assert said is not None
    assert (said.how, said.by, said.doubts) == ("solved", "equilibrium", {})
