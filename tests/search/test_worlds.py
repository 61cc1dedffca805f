"""Search over sampled worlds, with a player that would rather play than pass."""

import numpy as np
import pytest
from numba import types

from tapete import Rng, make
from tapete.core.compile import LONGS, WORDS, kernel, uint64_ptr
from tapete.core.contract import RULEBOOK
from tapete.core.evaluator import Evaluator, evaluator
from tapete.core.records import pointers
from tapete.core.worlds import take_back_of
from tapete.games.doudizhu.cards import DECK, RANKS, count, text
from tapete.games.doudizhu.table import view
from tapete.search import Budget, Worlds
from tapete.search.tree import LEAF
from tapete.search.worlds import PLAN, ROOM, Plan, draw_world

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


@kernel(types.void(RULEBOOK, ROOM, LEAF, PLAN, WORDS, LONGS))
def red_jokers(rulebook, arrays, player, plan, words, out):
    """How many red jokers the peasant after the landlord has, in one world after another."""
    room, leaf = pointers(arrays), pointers(player)
    for i in range(len(out)):
        draw_world(uint64_ptr(rulebook), room, leaf, plan, uint64_ptr(words))
        out[i] = count(view(room.world).hand[1], 14)


def test_who_would_rather_play_and_passed_can_hardly_beat_it():
    rng = Rng(8)
    state = GAME.start().deal(rng)
    while "R" not in text(GAME.record(state.data)["hand"][1]) or "B" not in text(GAME.record(state.data)["hand"][0]):
        state = GAME.start().deal(rng)
    state.apply("B").apply("pass")
    search = Worlds(GAME, eager)
    search.run(state.view(2), Rng(1), Budget(iterations=1))
    thread = search.threads[0]
    thread.begin(state.view(2).sample(Rng(1)).data, [0])
    shares = []
    for take_back in (0, take_back_of(GAME)):
        out = np.zeros(400, dtype=np.int64)
        red_jokers(GAME.rulebook, thread.room, thread.leaf, Plan(GAME.size, 2, take_back), Rng(3).words, out)
        shares.append(out.mean())
    assert 0.35 < shares[0] < 0.65
    assert shares[1] < 0.2
