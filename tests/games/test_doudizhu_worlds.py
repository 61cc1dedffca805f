"""What Dou Dizhu knows of its worlds: moves taken back, and who wins with open cards."""

import numpy as np
from numba import types

from tapete import Rng, make
from tapete.core.compile import BYTES, kernel, state_ptr
from tapete.core.worlds import UNKNOWN, endgame_of, open_take_back, take_back_of
from tapete.games.doudizhu.cards import size
from tests.oracles.open_cards import ends_with

GAME = make("doudizhu")


@kernel(types.int64(types.uint64, BYTES))
def take_back(address, state):
    return open_take_back(address)(state_ptr(state))


def random_states(seed, bidding=False):
    rng, game = Rng("worlds", seed), make(f"doudizhu(bidding={str(bidding).lower()})")
    state = game.start().deal(rng)
    while not state.over:
        yield state
        state.apply(rng.choice(state.actions())).deal(rng)


def what_matters(state):
    """All that the rules and the observation read, but for the oldest of the history."""
    s = state.game.record(state.data)
    to_beat = (s["kind"], s["length"], s["rank"]) if s["kind"] else ()
    names = ("mover", "moves", "passes", "bombs", "landlord")
    cards = (s["hand"].tolist(), s["played"].tolist(), s["history"][1:].tolist())
    return [*cards, to_beat, *(int(s[name]) for name in names)]


def test_a_move_that_is_taken_back_was_never_made():
    address, checked = np.uint64(take_back_of(GAME)), 0
    for seed in range(20):
        before = None
        for state in random_states(seed, bidding=seed % 2 == 1):
            if state.game.record(state.data)["dealt"] < 54:
                continue
            if before is not None:
                back = state.copy()
                action = take_back(address, back.data)
                assert before.copy().apply(action).data.tolist() == state.data.tolist()
                assert what_matters(back) == what_matters(before)
                checked += 1
            before = state.copy()
    assert checked > 500


def test_nothing_is_taken_back_before_the_first_move():
    state = next(random_states(1))
    assert take_back(np.uint64(take_back_of(GAME)), state.copy().data) == UNKNOWN


def landlord_wins(state, known):
    """By trying everything; `known` keeps what was found out."""
    if state.over:
        return state.returns()[0] > 0
    s = state.game.record(state.data)
    key = (*s["hand"].tolist(), *(int(s[name]) for name in ("mover", "kind", "length", "rank", "passes")))
    if key not in known:
        results = (landlord_wins(state.copy().apply(action), known) for action in state.actions())
        known[key] = any(results) if state.player == 0 else all(results)
    return known[key]


def few_cards(most):
    """The first state of each of many random games in which so few cards are left."""
    for seed in range(120):
        for state in random_states(seed):
            if sum(size(hand) for hand in state.game.record(state.data)["hand"]) <= most:
                yield state.copy()
                break


def test_who_wins_with_open_cards_is_what_trying_everything_says():
    known: dict[tuple[int, ...], bool] = {}
    end, results = endgame_of(GAME), []
    for state in few_cards(9):
        won = landlord_wins(state, known)
        assert ends_with(end, state).tolist() == ([1, -1, -1] if won else [-1, 1, 1]), str(state)
        results.append(won)
    assert 10 < sum(results) < len(results) - 10


def test_the_end_is_not_known_from_the_beginning():
    assert np.isnan(ends_with(endgame_of(GAME), next(random_states(1)))).all()
