"""Judges name the move that is best where that is known, say how sure they are, and look at nothing hidden."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tapete import Rng, State, make
from tapete.core import Game, TapeteError
from tapete.games.othello.exact import Solver
from tapete.review import Choice, Decision, Judgement, accuracy, choices, decide, judge_of, stake_of
from tapete.review.beliefs import worlds_of
from tapete.review.choices import Past
from tapete.review.solved import solved
from tapete.review.trials import Trials


def random_game(game: Game, rng: Rng) -> State:
    state = game.start().deal(rng)
    while not state.over:
        state.apply(rng.choice(state.actions())).deal(rng)
    return state


def endings(count: int, rng: Rng, empties: range) -> list[Choice]:
    """Decisions of Othello with so many empty squares."""
    game, found = make("othello"), list[Choice]()
    while len(found) < count:
        history = random_game(game, rng).history or []
        for seat in range(2):
            for choice in choices(game, history, seat):
                discs = game.record(choice.view._world)["discs"]
                if 64 - sum(int(side).bit_count() for side in discs) in empties:
                    found.append(choice)
    return found[:count]


def check_endings(count: int, empties: range) -> int:
    """Compares the review with a solver of its own; how often the move was a mistake."""
    game, solver, mistakes = make("othello"), Solver(), 0
    judge = judge_of(game)
    for choice in endings(count, Rng("endings", empties.stop), empties):
        exact = solver.judge(game.record(choice.view._world))
        said = judge.judge(choice, choice.rng)
        assert said is not None
        assert (said.how, said.best) == ("exact", exact.action)
        assert said.values == {action: float(np.sign(lead)) for action, lead in exact.scores.items()}
        mistakes += said.lost(choice.action) > 0
    return mistakes


def test_othello_is_judged_as_perfect_play_is() -> None:
    assert check_endings(40, range(2, 11)) > 3


@pytest.mark.slow
def test_othello_is_judged_as_perfect_play_is_from_sixteen_empties() -> None:
    mistakes = check_endings(500, range(2, 17))
    print(f"\nthe same best move as perfect play in 500 of 500 positions; {mistakes} of the moves were mistakes")
    assert mistakes > 50


def of_game(name: str, moves: str, seat: int) -> list[Choice]:
    game = make(name)
    state = game.read(moves)
    assert state.over
    return choices(game, state.history or [], seat)


def judged(name: str, moves: str, seat: int, at: int = -1) -> tuple[Choice, Judgement]:
    choice = of_game(name, moves, seat)[at]
    said = judge_of(make(name)).judge(choice, choice.rng)
    assert said is not None
    return choice, said


def test_trials_know_a_hand_that_cant_lose() -> None:
    """Four aces on the river: folding them is a blunder, by at least the pot, and there is no doubt."""
    moves = "Jh 7s Ah As call check Ac Ad 7h check check 2s check check 9h check bet fold"
    choice, said = judged("holdem", moves, 1)
    assert said.how == "trials"
    assert choice.view.write(said.best) in ("call", "raise")
    assert said.lost(choice.action) > 4
    assert decide(choice, said).mark == "blunder"


def test_beliefs_follow_what_was_seen() -> None:
    """Who has raised before the flop holds higher cards than who has only called: the judge believes so."""
    game = make("holdem")
    judge = judge_of(game).judges[1]
    assert isinstance(judge, Trials)
    highest = []
    for how in ("raise call", "call check"):
        choice = of_game("holdem", f"9h 8s 9c 8d {how} 2s 3h 4d check bet fold", 1)[-1]
        worlds, worth = worlds_of(choice, judge.players, 600, choice.rng)
        assert worth > 50
        highest.append(np.mean([max(game.record(world)["hole"][0] % 13) for world in worlds]))
    assert highest[0] > highest[1] + 0.5


GAMES = ["kuhn", "leduc", "dudo(6,2,2)", "domino(4,4)", "truco(points=15)", "holdem", "doudizhu"]


@pytest.mark.parametrize("name", GAMES)
def test_a_judge_looks_at_nothing_hidden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In other worlds that the seat can't tell from the real one, a judge says the same, to the last digit."""
    monkeypatch.setattr("tapete.review.judges.SEARCHES", ("dmc(10)", "ismcts(50)"))
    game, rng = make(name), Rng("hidden", name)
    judge, compared = judge_of(game), 0
    while compared < 4:
        state = random_game(game, rng)
        for seat in range(game.players):
            for choice in choices(game, state.history or [], seat)[-2:]:
                other = elsewhere(choice, game.replay((state.history or [])[: choice.ply]), rng)
                assert judge.judge(choice, choice.rng) == judge.judge(other, other.rng)
                compared += 1


def elsewhere(choice: Choice, state: State, rng: Rng) -> Choice:
    """The same choice, had everything been dealt otherwise that the seat didn't know at each moment."""
    seat, real = choice.view.seat, state.game.start()
    keys, seen = list[int](), dict[int, State]()
    for ply, action in enumerate(state.history or []):
        seen[ply] = real.view(seat).sample(rng)
        real.apply(action)
        keys.append(real.view(seat).sample(rng).infoset(seat))
    dealt = tuple((ply, seen[ply].view(seat)) for ply, _ in choice.past.dealt if ply in seen)
    dealt += tuple(at for at in choice.past.dealt if at[0] not in seen)  # this very moment
    return Choice(
        choice.ply, real.view(seat).sample(rng).view(seat), choice.action, Past(tuple(keys), choice.past.moves, dealt)
    )


def test_marks_are_by_what_was_surely_lost() -> None:
    (choice, *_) = of_game("othello(size=4)", LOST, 0)
    stake = stake_of("othello(size=4)")
    first, second, *_ = choice.view.actions()
    choice = replace(choice, action=second)

    def mark(lost: float, doubt: float = 0.0) -> str:
        values = {first: 0.5, second: 0.5 - lost * stake}
        return decide(choice, Judgement(by="", how="", best=first, values=values, doubts={second: doubt * stake})).mark

    assert [mark(lost) for lost in (0, 0.0005, 0.01, 0.03, 0.07, 0.2)] == [
        "best", "best", "good", "inaccuracy", "mistake", "blunder",
    ]  # fmt: skip
    assert [mark(0.2, doubt) for doubt in (0.09, 0.12, 0.17, 0.19, 0.5)] == [
        "blunder", "mistake", "inaccuracy", "good", "good",
    ]  # fmt: skip
    assert decide(choice, None).mark == "unjudged"
    assert decide(choice, Judgement(by="", how="", best=first, values={first: 1.0})).mark == "unjudged"


def test_accuracy_is_one_figure() -> None:
    (choice, *_) = of_game("othello(size=4)", LOST, 0)
    first, second, *_ = choice.view.actions()
    stake = stake_of("othello(size=4)")

    def one(action: int, lost: float) -> Decision:
        said = Judgement(by="", how="", best=first, values={first: 0.0, second: -lost * stake})
        return decide(replace(choice, action=action), said)

    assert accuracy([]) is None
    assert accuracy([decide(choice, None)]) is None, "what nobody judged counts for nothing"
    assert accuracy([one(first, 0.5)]) == 100
    assert accuracy([one(second, 0.1)]) == pytest.approx(103.1668 * math.exp(-0.4354) - 3.1669)
    assert accuracy([one(first, 0.5), one(second, 1.0)]) == pytest.approx(50, abs=2)


LOST = "a2 a3 d4 d1 a4 b1 c4 b4 c1 d2 d3 pass a1"


def test_a_damaged_network_is_an_error_and_no_weaker_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapete.shipped._sha256", lambda *_: "damaged")
    for name in ("othello", "kuhn", "truco", "holdem", "doudizhu"):
        solved.cache_clear()
        with pytest.raises(TapeteError, match="checksum"):
            judge_of(make(name))
