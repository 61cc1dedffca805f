"""Search over sampled worlds, with a player that would rather play than pass."""

import numpy as np
import pytest
from numba import types

from tapete import Rng, make
from tapete.core.compile import LONGS, STATES, WORDS, kernel, state_ptr, uint64_ptr
from tapete.core.contract import RULEBOOK
from tapete.core.evaluator import Evaluator, evaluator
from tapete.core.players import SEATED
from tapete.core.records import copy_state, pointers
from tapete.core.worlds import take_back_of
from tapete.games.doudizhu.cards import DECK, RANKS, count, text
from tapete.search import Budget, Worlds
from tapete.search.worlds import PLAN, ROOM, SURELY, TEMPERATURE, Plan, draw_world

GAME = make("doudizhu")


@evaluator
def _eager(rulebook, state, seat, legal, n, model, rng, values, priors):
    """Foresees 0.4 of any move but a pass, and plays the last that is legal."""
    values[seat] = 0.4 * (legal[n - 1] != 0)
    for i in range(n):
        priors[i] = 0.0
    if n > 0:
        priors[n - 1] = 1.0


def eager():
    return Evaluator(_eager, priors=True)


def encode(cards):
    return sum(1 << 4 * RANKS.index(card) for card in cards)


def endgame(*hands, before):
    """Seat 0, the landlord, leads; the cards that are gone were played by whoever had room for them."""
    state = GAME.start()
    s = state.data.view(GAME.dtype)[0]
    gone = text(int(DECK) - encode("".join(hands)))
    assert before in gone
    for seat, hand in enumerate(hands):
        number = 17 + 3 * (seat == 0) - len(hand)
        s["hand"][seat], s["played"][seat], gone = encode(hand), encode(gone[-number:]), gone[:-number]
    s["open"] = encode(text(s["played"][0])[:3])
    s["dealt"], s["mover"], s["landlord"], s["moves"], s["passes"] = 54, 0, 0, 3, 2
    s["history"][-3] = encode(before)
    return state


def test_it_finds_the_only_order_that_wins_whatever_the_others_hold():
    state = endgame("3R", "7", "9", before="A")
    thought = Worlds(GAME, eager).run(state.view(0), Rng(1), Budget(iterations=40))
    assert state.write(max(thought.probabilities, key=lambda action: thought.probabilities[action])) == "R"
    values = {state.write(action): value for action, value in thought.values.items()}
    assert values["R"] > 0.5 > values["3"]


@pytest.mark.parametrize("threads", [1, 2])
def test_what_comes_out_depends_on_the_seed_and_on_what_the_seat_knows_alone(threads):
    rng = Rng(5)
    state = GAME.start().deal(rng)
    state.apply(state.actions()[0])
    seat = state.player
    other = state.view(seat).sample(Rng("another world"))
    assert other.data.tolist() != state.data.tolist()
    budget = Budget(iterations=12, threads=threads)
    said = [Worlds(GAME, eager).run(here.view(seat), Rng(2), budget) for here in (state, other)]
    assert said[0] == said[1]
    assert sum(said[0].visits.values()) >= 12


@evaluator
def _shy(rulebook, state, seat, legal, n, model, rng, values, priors):
    """Plays the first that is legal, which is a pass where that is possible."""
    for i in range(n):
        priors[i] = i == 0


def shy():
    return Evaluator(_shy, priors=True, values=False)


@kernel(types.void(RULEBOOK, ROOM, SEATED, PLAN, WORDS, STATES, LONGS))
def chain(rulebook, arrays, players, plan, words, worlds, casts):
    """One world after another, and who was cast there."""
    room, seated = pointers(arrays), pointers(players)
    for i in range(len(worlds)):
        draw_world(uint64_ptr(rulebook), room, seated, plan, uint64_ptr(words))
        copy_state(state_ptr(worlds[i]), room.world, plan.size)
        for k in range(plan.seats):
            casts[i * plan.seats + k] = room.cast[k]


def joker_and_pass():
    """The landlord has played the black joker, the peasant after him has passed, whether he could beat it or not."""
    rng = Rng(8)
    state = GAME.start().deal(rng)
    while "B" not in text(GAME.record(state.data)["hand"][0]):
        state = GAME.start().deal(rng)
    return state.apply("B").apply("pass")


def wander(n, *others, view_of=2, looking_back=True):
    """Worlds of seat 2 after that, [n] records, who was cast in them, and whether the peasant could have beaten it."""
    view_there = joker_and_pass().view(view_of)
    search = Worlds(GAME, eager, others)
    search.run(view_there, Rng(1), Budget(iterations=1))
    thread = search.threads[0]
    thread.begin(view_there.sample(Rng(1)).data, [0])
    worlds, casts = np.zeros((n, GAME.size), dtype=np.uint8), np.zeros(3 * n, dtype=np.int64)
    plan = Plan(GAME.size, view_of, 3, 1 + len(others), take_back_of(GAME) * looking_back)
    chain(GAME.rulebook, thread.room, thread.seated, plan, Rng(3).words, worlds, casts)
    return casts.reshape(n, 3), np.array([could_beat_a_joker(GAME.record(world)["hand"][1]) for world in worlds])


def could_beat_a_joker(hand):
    return "R" in text(hand) or any(count(hand, rank) == 4 for rank in range(13))


def test_worlds_come_as_often_as_they_fit_what_was_seen():
    _, at_random = wander(4000, looking_back=False)
    _, beats = wander(4000)
    fit = np.exp(-0.4 / TEMPERATURE)  # the eager one foresees 0.4 less of a pass; who had no choice fits anyhow
    likely = at_random.mean() * fit / (at_random.mean() * fit + 1 - at_random.mean())
    assert 0.3 < at_random.mean() < 0.7
    assert abs(beats.mean() - likely) < 0.02, "0.02 is some three standard errors of either"


def test_others_are_cast_as_those_whom_their_moves_fit():
    casts, beats = wander(4000, shy)
    is_shy, fit = casts[:, 1] == 1, np.exp(-0.4 / TEMPERATURE)
    assert abs(is_shy[beats].mean() - 1 / (1 + fit)) < 0.02, "he passed what he could have beaten"
    assert abs(is_shy[~beats].mean() - 0.5) < 0.06, "he had to pass: who he is stays unknown"
    assert not casts[:, 2].any(), "the searcher plays his own seat"


def test_who_is_surely_worse_is_given_up_and_one_alone_is_not_played_out():
    state = endgame("3R", "7", "9", before="A")
    thought = Worlds(GAME, eager).run(state.view(0), Rng(1), Budget(iterations=10_000))
    assert {state.write(action): visits for action, visits in thought.visits.items()} == {"R": SURELY, "3": SURELY}


def test_equals_are_played_out_to_the_end_of_the_budget():
    state = endgame("34", "7", "9", before="A")
    thought = Worlds(GAME, eager).run(state.view(0), Rng(1), Budget(iterations=300))
    assert {state.write(action): visits for action, visits in thought.visits.items()} == {"3": 150, "4": 150}


def test_a_playout_ends_with_what_is_foreseen_at_the_next_choice():
    """Early in a game nothing is over after a round, so that no playout can be worth more than the 0.4 foreseen."""
    state = GAME.start().deal(Rng(8))
    search = Worlds(GAME, eager)
    search.run(state.view(0), Rng(1), Budget(iterations=60))
    room = search.threads[0].room
    assert (room.counts > 0).all()
    assert ((0.35 < room.totals / room.counts) & (room.totals / room.counts < 0.4)).all()
