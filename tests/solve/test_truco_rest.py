"""The rest of a hand of truco, solved at play: against exact values, by its own room, and as a player."""

from __future__ import annotations

import ctypes
import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete import Rng, State, TapeteError, make
from tapete.agents import load
from tapete.core.players import judge_moves
from tapete.core.records import words_of
from tapete.games.truco.bets import ENVIDO, MAZO, NO_QUIERO, QUIERO, RAISE
from tapete.games.truco.cards import FIRST, HANDS, MOST_POINTS, NAMES
from tapete.games.truco.moves import NONE, TIE
from tapete.shipped import find
from tapete.solve.linear import solve_form
from tapete.solve.response import prove
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.truco import blueprint
from tapete.solve.truco.abstraction import tables
from tapete.solve.truco.hand_response import N_TRIPLES, Responder, give, ranges
from tapete.solve.truco.knowledge import Knowledge
from tapete.solve.truco.player import strategy_player
from tapete.solve.truco.ranges import LONGEST, moves_of
from tapete.solve.truco.resolver import resolver, rest_of
from tapete.solve.truco.rest import PAIRS, Rest
from tapete.solve.truco.rest_cfr import plant, solve
from tapete.solve.truco.rest_response import responses
from tapete.testing import check_player
from tests.conftest import Tapete
from tests.pocket import pocket
from tests.solve.test_truco_exact import plans

Strategy = tuple[NDArray[np.uint8], Knowledge]


@pytest.fixture(scope="module")
def shipped() -> Strategy:
    path = find("blueprints/truco.safetensors")
    assert path
    return blueprint.read(path)[:2]


@pytest.mark.parametrize(
    ("pack", "won"),
    [
        ("1e 3o 12o 6c 4c", False),  # after a parda the second trick decides
        ("3e 3o 12o 12c 4c", False),  # or is parda again
        ("1e 3o 12o 6c 4c", True),  # mano has won the first: a third trick follows where he loses the second
        ("1e 3o 3e 6c 4c", True),
    ],
)
def test_the_rest_of_a_hand_has_its_exact_value(pack: str, won: bool, shipped: Strategy):
    """With two cards each from a pack of five; what was played before tells nothing there.

    At the last card a doubt of 2 % remains in the ranges, and which of two equal cards was played is forgotten before.
    """
    game = pocket(pack, tricks=1, won=won)
    form = SequenceForm.of(game)
    cards = sum(1 << NAMES.index(name) for name in pack.split())
    proof = prove(form, plans(form, resolver(*shipped, iterations=500, weighs=False, pack=cards)))
    exact = solve_form(form).value
    assert proof.lower - 1e-6 <= exact <= proof.upper + 1e-6
    assert proof.exploitability < 0.03


@pytest.mark.parametrize("iterations", [1, 2, 5, 20])
def test_exact_responses_in_the_tree_are_those_of_the_sequence_form(iterations: int, shipped: Strategy):
    """Where all ranks differ and the last trick has not to be weighed anew, the tree is the game itself."""
    pack = "1e 3o 12o 6c 4c"
    game = pocket(pack, tricks=1)
    form, state = SequenceForm.of(game), game.start().deal(Rng(1))
    cards = sum(1 << NAMES.index(name) for name in pack.split())
    player = resolver(*shipped, iterations=iterations, weighs=False, pack=cards)
    judge_moves(player, game, state.data, state.player, state.actions())
    both = prove(form, plans(form, player)).exploitability
    rest, mano = rest_of(player, 0), int(game.record(state.data)["mano"])
    assert sum(responses(rest, seat, mano).sum() for seat in range(2)) == pytest.approx(both, rel=1e-4)


@pytest.mark.parametrize("odds", [0.0, 1.0])
def test_exact_responses_to_a_whole_hand_are_those_of_the_sequence_form(odds: float, shipped: Strategy):
    """Three cards each from a pack of six, all ranks different: so many that by ranks the hand is the game itself."""
    pack = "1e 7e 3o 12o 6c 4c"
    game = pocket(pack, tricks=0)
    cards = sum(1 << NAMES.index(name) for name in pack.split())
    player = resolver(*shipped, iterations=20, weighs=False, pack=cards, stranger=shipped[0], odds=odds)
    form, weights = SequenceForm.of(game), (~np.uint64(cards) & HANDS == 0).astype(np.float64)
    proof = prove(form, plans(form, player))
    found = Responder(player, (weights, weights)).values(game.start().deal(Rng(1)), np.ones((2, N_TRIPLES)))
    assert found.sum(axis=1) == pytest.approx((proof.upper, -proof.lower), rel=1e-3)


def test_ranges_are_what_all_moves_of_a_hand_tell(shipped: Strategy):
    """Of both seats, by the cards that lie there, the points that were shown, and what either would have done."""
    game = make("truco(hand=true,equity=true)")
    player, state = strategy_player(*shipped), game.read("7e 4e 2o 12e 1o 5o 1o envido quiero")
    first, second = ranges(state, player)
    mano, pie = HANDS[first > 0], HANDS[second > 0]
    assert all(hand >> NAMES.index("1o") & 1 for hand in mano.tolist())
    assert not any(hand >> NAMES.index("1o") & 1 for hand in pie.tolist())
    shown = game.record(state.data)["shown"].tolist()
    points = np.repeat(np.arange(MOST_POINTS + 1), np.diff(FIRST))
    assert [set(points[each > 0].tolist()) for each in (first, second)] == [{shown[0]}, {shown[1]}]
    for number in np.flatnonzero(second)[:50]:
        before, likely = game.read("7e 4e 2o 12e 1o 5o 1o"), 1.0
        give(before, 1, np.arange(len(HANDS)) == number)
        legal = before.actions()
        likely *= judge_moves(player, game, before.data, 1, legal)[legal.index(ENVIDO)]
        assert second[number] == pytest.approx(likely, abs=1e-6)


def test_what_is_solved_at_play_is_close_to_optimal(tapete: Tapete):
    best = json.loads(tapete("exploit", "truco", "best", "--rest", "-n", "40", "--json").out)
    short = json.loads(tapete("exploit", "truco", "resolve(8)", "--rest", "-n", "40", "--json").out)
    assert 0 < best["points"] + best["margin"] < 0.03 < short["points"]
    both = json.loads(tapete("exploit", "truco", "resolve(2)", "--tricks", "-n", "2", "--seed", "9", "--json").out)
    assert both["points"] > 0
    assert both["hands"] == 2
    assert "go on so far" in tapete("exploit", "truco(score0=29,score1=29)", "best", "--rest", "-n", "2").out
    assert "tells no interval" in tapete("exploit", "truco", "best", "--rest", "-n", "1").out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("exploit", "truco", "blueprint", "--rest"), "solves no rests"),
        (("exploit", "truco", "best", "--rest", "--rough"), "say one of them"),
        (("exploit", "truco", "best", "--rest", "--tricks"), "say one of them"),
        (("exploit", "truco", "blueprint", "--tricks"), "solves no rests"),
        (("exploit", "--rest"), "tapete exploit truco best --rest"),
    ],
)
def test_who_solves_nothing_is_told_in_a_line(arguments: tuple[str, ...], reason: str, tapete: Tapete):
    done = tapete(*arguments)
    assert done.status == 2
    assert reason in done.err


def solved(first: int, level: int, *, weight: float, iterations: int) -> Rest:
    """A rest in which any two hands may meet, each pair as likely as any other."""
    rest = Rest.empty()
    words = np.array(words_of(rest), dtype=np.uint64)
    rest.used[4] = 2 * PAIRS * PAIRS
    rest.stages[0] = ((PAIRS, PAIRS), 1, (PAIRS * PAIRS, 0))
    rest.weights[: 2 * PAIRS * PAIRS] = weight
    rest.stakes[:] = np.outer((1, -1), np.arange(6)).ravel()
    holder = NONE if level == 1 else 0
    address = words.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
    plant.ctypes(address, first, 0 if first == TIE else first, level, holder)
    solve.ctypes(address, first, 0 if first == TIE else first, iterations)
    return rest


def test_there_is_room_for_every_tree():
    for first, level in product((0, 1, TIE), (1, 2, 3, 4)):
        rest = solved(first, level, weight=1, iterations=0)
        sizes = (rest.nodes, rest.sums, rest.reach, rest.values, rest.weights)
        assert all(used <= len(array) for used, array in zip(rest.used.tolist()[:5], sizes, strict=True))
        assert rest.used[0] > 1


@pytest.mark.parametrize("weight", [1e-20, 1e-35, 1e-38, 1e-42])
def test_hands_that_hardly_ever_meet_have_a_strategy(weight: float):
    """Regrets are so small there that one divided by them is more than a number of 32 bits can be."""
    rest = solved(TIE, 1, weight=weight, iterations=20)
    assert np.isfinite(rest.now).all()
    assert np.isfinite(rest.sums).all()


def test_a_hand_is_gone_through_again_move_by_move():
    for number in range(20):
        rng = Rng("moves", number)
        state = make("truco(hand=true,mazo=true)").start().deal(rng)
        made: list[tuple[int, int]] = []
        while not state.over:
            out = np.zeros(2 * LONGEST, dtype=np.int32)
            n = moves_of(state.game.record(state.data), out)
            assert list(zip(out[:n].tolist(), out[LONGEST : LONGEST + n].tolist(), strict=True)) == made
            move = rng.choice(state.actions())
            made.append((move, state.player))
            state.apply(move)


@pytest.mark.parametrize("odds", [0.0, 0.1])
@pytest.mark.parametrize("game", ["truco", "truco(points=15,mazo=true)", "truco(hand=true,score0=28,score1=3)"])
def test_the_player_is_in_order_and_looks_at_nothing_hidden(game: str, odds: float, shipped: Strategy):
    check_player(lambda: resolver(*shipped, iterations=3, stranger=shipped[0], odds=odds), game, games=2)


@pytest.mark.parametrize("odds", [0.0, 0.1])
def test_a_strategy_is_the_same_whichever_hand_is_asked_about_first(odds: float, shipped: Strategy):
    """What was solved for one hand serves for all others, and solving anew gives the same."""
    game = make("truco(hand=true,equity=true)")
    player = resolver(*shipped, iterations=10, stranger=shipped[0], odds=odds)

    def ask(text: str) -> Any:
        state = game.read(text)
        return judge_moves(player, game, state.data, state.player, state.actions()).tolist()

    here, other, elsewhere = "1e 4c 1b 5o 7e 6b 7e 4c", "4o 4c 5c 5o 7e 6b 7e 4c", "1e 4c 1b 5o 7e 6b 1b 4c"
    first = ask(here)
    assert ask(other) != first
    assert ask(here) == first
    ask(elsewhere)
    assert ask(here) == first


def stranger_who(answers: int, shipped: Strategy) -> NDArray[np.uint8]:
    """The strategy that ships, but whatever is asked from the second trick on, his answer is always this one."""
    steps = shipped[0].copy()
    for name in ("answer1", "answer2"):
        tables(steps)[name][..., :] = np.eye(3, dtype=np.uint8)[answers]
    return steps


def share_of_raises(steps: NDArray[np.uint8], odds: float, shipped: Strategy) -> dict[str, float]:
    """How often mano, who has won the first trick with a 7, raises before he leads the second, by what he holds."""
    game, found = make("truco(hand=true,equity=true)"), {}
    player = resolver(*shipped, iterations=64, stranger=steps, odds=odds)
    for name, cards in (("strong", "1e 1b"), ("weak", "4c 4e")):
        one, two = cards.split()
        state = game.read(f"7o 6c {one} 5o {two} 6b 7o 6c")
        shares = judge_moves(player, game, state.data, 0, state.actions())
        found[name] = float(shares[state.actions().index(RAISE)])
    return found


def test_who_may_meet_a_stranger_plays_for_what_the_stranger_does(shipped: Strategy):
    """He bluffs against who always declines, never against who always accepts; and the stranger must be likely."""
    declines, accepts = stranger_who(0, shipped), stranger_who(1, shipped)
    nobody = share_of_raises(accepts, 0.0, shipped)
    assert nobody == share_of_raises(declines, 0.0, shipped)
    assert share_of_raises(declines, 1000.0, shipped)["weak"] > 0.95 > nobody["weak"]
    against_caller = share_of_raises(accepts, 1000.0, shipped)
    assert against_caller["weak"] < 0.01
    assert against_caller["strong"] > 0.95
    hardly = share_of_raises(declines, 1e-9, shipped)
    assert hardly == pytest.approx(nobody, abs=0.02)


def test_odds_are_odds():
    with pytest.raises(TapeteError, match="odds must be between 0 and 1000"):
        load("resolve(64,-1)", make("truco"))


def test_who_sees_the_last_card_raises_with_a_better_one_and_bluffs_with_some_others():
    game = make("truco(hand=true)")
    policy = load("best", game)
    state = game.read("3e 4c 4b 2o 6e 6b 3e 4c 4b 6b 2o")  # pie wins the second and leads a 2; mano has a 6
    thought = policy.think(state.view(0), Rng(1)).probabilities
    assert 0 <= thought[RAISE] < 0.6, "a losing card is bluffed with sometimes"
    state = game.read("3e 4c 4b 2o 1e 6b 3e 4c 4b 6b 2o")
    assert policy.think(state.view(0), Rng(1)).probabilities[RAISE] == pytest.approx(1)
    state.apply("truco")
    answer = policy.think(state.view(1), Rng(1)).probabilities
    assert answer[QUIERO] + answer[NO_QUIERO] == pytest.approx(1)
    assert 0 < answer[QUIERO] < 1


@pytest.mark.parametrize("agent", ["best", "blueprint", "best(1)"])
def test_nobody_declines_where_that_ends_the_match(agent: str):
    asked = 0
    for score0, score1 in ((29, 26), (29, 29), (27, 28)):
        game = make(f"truco(mazo=true,score0={score0},score1={score1})")
        policy = load(agent, game)
        for number in range(60):
            rng = Rng("declines", number)
            state = game.start().deal(rng)
            while not state.over:
                if NO_QUIERO in state.actions() and state.copy().apply(NO_QUIERO).over:
                    asked += 1
                    assert policy.think(state.view(state.player), rng).probabilities[NO_QUIERO] == 0
                state.apply(rng.choice(state.actions())).deal(rng)
    assert asked > 50


def test_what_hardly_ever_happens_in_a_rest_has_an_answer_and_is_not_done():
    """A retruco that pie should not make with what he may hold, and mano can only beat by a bluff."""
    game = make("truco(mazo=true,score0=1,score1=2)")
    state = game.read("6c 2c 12c 3b 2o 11b envido no-quiero 12c 11b truco quiero 2o retruco")
    thought = load("best", game).explain(state.view(state.player), Rng(1))  # type: ignore[attr-defined]
    worth = sum(thought.probabilities[move] * thought.values[move] for move in thought.values)
    assert max(thought.values.values()) - worth < 0.03, "half a point; without trembles it is two"


@pytest.mark.parametrize("mazo", ["", "(mazo=true)"])
@pytest.mark.parametrize("last", ["1e", "4o"])
def test_who_may_not_raise_plays_his_last_card(mazo: str, last: str):
    game = make(f"truco{mazo}")
    state = game.read(f"4c 7o 3o 6b 5c {last} 4c 7o truco quiero 6b 3o 5c")  # it was pie who raised
    thought = load("best", game).think(state.view(1), Rng(1)).probabilities
    assert thought.pop(state.read(last)) == 1
    assert not any(thought.values())


def test_a_last_card_that_wins_is_raised_while_that_brings_anything():
    def ask(score: int, moves: str) -> dict[int, float]:
        game = make(f"truco(score0={score})")
        state = game.read(f"3e 4c 4b 2o 1e 6b 3e 4c 4b 6b 2o {moves}")
        return load("best", game).think(state.view(0), Rng(1)).probabilities

    assert ask(28, "")[RAISE] == 1
    assert ask(29, "")[RAISE] == 0, "the match is won by the card"
    assert ask(0, "truco retruco")[RAISE] == 1
    assert ask(27, "truco retruco")[QUIERO] == 1


@pytest.mark.parametrize("game", ["truco(mazo=true)", "truco(points=15)"])
def test_nothing_is_done_that_cannot_be_right(game: str, shipped: Strategy):
    """Judged by the rules: what a card leads to is what the score says after it."""
    player, met = resolver(*shipped, iterations=8), 0
    for number in range(20):
        rng = Rng("sense", number)
        state = make(game).start().deal(rng)
        while not state.over:
            seat, legal = state.player, state.actions()
            shares = dict(zip(legal, judge_moves(player, state.game, state.data, seat, legal).tolist(), strict=True))
            assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
            if state.game.record(state.data)["trick"] == 1:
                winners = {card: winner_at_once(state, card) for card in legal if card < len(NAMES)}
                losing = [card for card, winner in winners.items() if winner == 1 - seat]
                if losing and len(losing) < len(winners):
                    met += 1
                    assert not any(shares[card] for card in losing)
            state.apply(rng.choice(legal)).deal(rng)
    assert met > 5


def winner_at_once(state: State, card: int) -> int | None:
    """Who wins the hand with this card; None: it goes on."""
    after = state.copy().apply(card)
    before, now = (each.game.record(each.data)["score"].tolist() for each in (state, after))
    return None if before == now else int(now[1] > before[1])


def test_who_plays_on_and_declines_never_pays_more_than_the_mazo():
    met = 0
    for number in range(300):
        rng = Rng("mazo", number)
        state = make("truco(hand=true,mazo=true)").start().deal(rng)
        while not state.over:
            legal = state.actions()
            if MAZO in legal:
                seat, met = state.player, met + 1
                assert paid_by_going_on(state, rng) <= state.copy().apply("mazo").returns()[1 - seat]
            state.apply(rng.choice(legal))
    assert met > 300


@pytest.mark.parametrize("agent", ["blueprint", "blueprint(1)", "best"])
def test_nobody_goes_to_the_mazo(agent: str):
    """What went there goes on: moves that are left are as likely as before, the cards more so."""
    game = make("truco(mazo=true,score0=28,score1=24)")
    player, path = load(agent, game), find("blueprints/truco(mazo=true).safetensors")
    assert path
    probs, known = blueprint.read(path)[:2]
    as_it_ships, met = strategy_player(probs, known), 0
    for number in range(60):
        rng = Rng("mazo", number)
        state = game.start().deal(rng)
        while not state.over and state.game.record(state.data)["trick"] == 0:
            legal = state.actions()
            shares = player.think(state.view(state.player), rng).probabilities
            before = dict(zip(legal, judge_moves(as_it_ships, game, state.data, state.player, legal), strict=True))
            assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
            assert not shares.get(MAZO)
            if agent != "blueprint(1)" and before.get(MAZO, 0) > 0.01:
                met += 1
                bets = [move for move in legal if len(NAMES) <= move < MAZO]
                assert [shares[move] for move in bets] == pytest.approx([before[move] for move in bets], abs=1e-5)
            state.apply(rng.choice(legal)).deal(rng)
    assert met > 5 or agent == "blueprint(1)"


def paid_by_going_on(state: State, rng: Rng) -> float:
    """What the other wins from who plays any card and declines everything, while the other does anything."""
    seat, state = state.player, state.copy()
    while not state.over:
        legal = state.actions()
        if state.player == seat:
            legal = [NO_QUIERO] if NO_QUIERO in legal else [move for move in legal if move < len(NAMES)]
        state.apply(rng.choice(legal))
    return state.returns()[1 - seat]
