"""What moves of truco are worth, as who learns is told: against positions that are decided, and by balance."""

from __future__ import annotations

import pytest

from tapete import Rng, make
from tapete.agents import draw, load
from tapete.agents.blueprint import blueprint
from tapete.core import State
from tapete.games.truco.bets import NO_QUIERO, RAISE
from tapete.games.truco.equity import table
from tapete.solve.truco.worth import worth_of_moves
from tapete.web.thinking import TEACHER, Explainer

PLAYER = blueprint(make("truco")).player  # type: ignore[attr-defined]
DEAL = "4c 3b 1e 2o 7e 6b"  # mano: 4c 1e 7e


def worth(state: State, **knobs: int) -> dict[str, float]:
    found = worth_of_moves(state, PLAYER, Rng(1), **knobs)
    return {state.write(move): value for move, value in found.items()}


def test_the_last_card_of_a_match_wins_or_loses_it():
    state = make("truco(score0=29,score1=29)").read(f"{DEAL} truco quiero 4c 3b 2o 7e")
    assert worth(state) == pytest.approx({"1e": 1})
    assert worth(state.apply("1e")) == pytest.approx({"6b": -1, "retruco": -1})


@pytest.mark.parametrize("hands", [0, 1])
def test_a_hand_that_is_given_up_is_worth_what_the_match_is_then(hands: int):
    """Whoever is mano: with the second hand, that is the other."""
    rng = Rng(4)
    state = make("truco").start().deal(rng)
    for _ in range(hands):
        state.apply(RAISE).apply(NO_QUIERO).deal(rng)
    state.apply(RAISE)
    record = state.game.record(state.data)
    lacks = [30 - int(points) for points in record["score"]]
    mano, caller = int(record["mano"]), 1 - state.player
    lacks[caller] -= 1  # he gets one for truco that is declined
    next_mano = 1 - mano
    chance = table()[0][lacks[next_mano], lacks[1 - next_mano]]
    expected = (2 * chance - 1) * (1 if state.player == next_mano else -1)
    assert worth(state)["no-quiero"] == pytest.approx(expected, abs=1e-6)


def test_nothing_hidden_is_looked_at():
    state = make("truco").read(f"{DEAL} 4c 3b 2o truco")
    told = [worth(state.view(state.player).sample(Rng(number)), worlds=50) for number in range(5)]
    assert all(each == told[0] for each in told)


def test_moves_between_which_the_solution_is_torn_are_worth_the_same():
    """From the second trick on; a move that it never makes is worth no more."""
    game, rng = make("truco"), Rng("torn")
    teacher = Explainer(game)
    player, torn = load("best", game), 0
    for number in range(12):
        state = game.start().deal(Rng("hand", number))
        while not state.over and state.game.record(state.data)["hands"] == 0:
            thought = player.think(state.view(state.player), rng)
            if state.game.record(state.data)["trick"] > 0:
                said = teacher.think(state.view(state.player), Rng(1))
                assert said.probabilities == thought.probabilities
                made = [said.values[move] for move, share in said.probabilities.items() if share > 0.1]
                assert max(made) - min(made) < 0.06, "less than a point"
                assert max(said.values.values()) - max(made) < 0.06
                torn += len(made) > 1
            state.apply(draw(thought.probabilities, rng)).deal(rng)
    assert torn > 5


def test_best_explains_itself_where_it_solves():
    assert Explainer(make("truco(points=15,mazo=true)")).by == TEACHER
    assert Explainer(make("truco(flor=true)")).by != TEACHER
