"""Dou Dizhu against DouZero and RLCard: the same moves, the same observations, the same payoffs."""

from collections import Counter
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tapete import Rng, make
from tapete.core import calls
from tapete.games.doudizhu.cards import DECK, RANKS, text
from tapete.games.doudizhu.moves import CARDS, KIND, LENGTH, MOVES, ODD_PLANE, PLANE, PLANE_SOLOS, chains, repeat
from tests.games.test_doudizhu import ID_OF, WORDS_OF, moves_of, ordered
from tests.oracles.doudizhu import (
    POSITIONS,
    douzero_cards,
    douzero_env,
    douzero_moves,
    douzero_word,
    rlcard_game,
    rlcard_moves,
)

GAME = make("doudizhu")


def has_trio_kicker(move: str) -> bool:
    """Whether a plane has three equal cards among its solos, or can be seen so: a plane of four as one of three."""
    action = ID_OF[move]
    trios = sum(number == 3 for number in Counter(move).values())
    is_winged = KIND[action] in (PLANE_SOLOS, ODD_PLANE) and trios > LENGTH[action]
    return is_winged or (KIND[action] == PLANE and LENGTH[action] == 4)


@cache
def only_in_douzero() -> frozenset[str]:
    """The moves that DouZero's generator makes and RLCard doesn't know: any cards of other ranks may be the solos."""
    moves = {rank * 4 + "BR" for rank in RANKS[:13]}
    for length, body in chains(PLANE_SOLOS):
        others = [rank for i, rank in enumerate(RANKS) if i not in body]
        for kickers in combinations_with_replacement(others, length):
            cards = text(repeat(3, body)) + "".join(kickers)
            if all(number <= (1 if rank in "BR" else 4) for rank, number in Counter(cards).items()):
                moves.add(ordered(cards))
    return frozenset(moves - ID_OF.keys())


def test_douzero_has_2513_moves_more():
    assert len(only_in_douzero()) == 2513
    for move in sorted(only_in_douzero())[::25]:
        assert move in douzero_moves(move)
        assert move not in moves_of(move)


def test_there_are_27472_moves_and_they_are_rlcards():
    from rlcard.games.doudizhu.utils import ID_2_ACTION

    assert MOVES == GAME.spec.actions == 27_472
    assert sorted(WORDS_OF) == sorted(ID_2_ACTION)


def test_every_move_is_of_the_kind_and_length_that_douzero_says():
    from douzero.env import utils
    from douzero.env.move_detector import get_move_type

    kinds = [
        *(utils.TYPE_0_PASS, utils.TYPE_1_SINGLE, utils.TYPE_2_PAIR, utils.TYPE_3_TRIPLE, utils.TYPE_6_3_1),
        *(utils.TYPE_7_3_2, utils.TYPE_8_SERIAL_SINGLE, utils.TYPE_9_SERIAL_PAIR, utils.TYPE_10_SERIAL_TRIPLE),
        *(utils.TYPE_11_SERIAL_3_1, utils.TYPE_12_SERIAL_3_2, utils.TYPE_13_4_2, utils.TYPE_14_4_22),
        *(utils.TYPE_15_WRONG, utils.TYPE_4_BOMB, utils.TYPE_5_KING_BOMB),
    ]  # in our order
    for action in range(1, MOVES):
        theirs = get_move_type(douzero_cards(WORDS_OF[action]))
        assert theirs["type"] == kinds[KIND[action]], WORDS_OF[action]
        assert KIND[action] == ODD_PLANE or theirs.get("len", 1) == LENGTH[action], WORDS_OF[action]
    with_solos = [word for word in WORDS_OF if KIND[ID_OF[word]] in (PLANE_SOLOS, ODD_PLANE)]
    assert Counter(LENGTH[ID_OF[word]] for word in with_solos if has_trio_kicker(word)) == {3: 82, 4: 650, 5: 2100}


def test_where_the_peers_disagree_douzero_is_followed():
    # A trio among three solos: DouZero compares the highest trio of all, RLCard the plane.
    hand, beat = "666777888999TJQ", "333444555KKK"
    assert "66677788899T" not in moves_of(hand, beat) | douzero_moves(hand, beat)
    assert "66677788899T" in rlcard_moves(hand, beat)
    hand, beat = "333444555KKK", "66677788899T"
    assert "333444555KKK" in moves_of(hand, beat) & douzero_moves(hand, beat)
    assert "333444555KKK" not in rlcard_moves(hand, beat)
    # A plane of four also answers a plane of three with solos; after that it is a plane of four.
    hand, beat = "TTTJJJQQQKKK", "44455566679B"
    assert hand in moves_of(hand, beat) & douzero_moves(hand, beat)
    assert hand not in rlcard_moves(hand, beat)
    assert moves_of("33344455566689TJ", "333444555666") == {"pass"}
    # A trio among four solos or five: DouZero does not know such a move, and only bombs and the rocket beat it.
    hand, beat = "777888999TTTJQKA2222", "333444555666KKKA"
    assert moves_of(hand, beat) == douzero_moves(hand, beat) & ID_OF.keys() == {"pass", "2222"}
    assert "777888999TTTJQKA" in rlcard_moves(hand, beat)


def random_answer_to(beat: int, rng: Rng) -> str:
    """A hand of up to 20 cards, with a move of the same kind and length in it where the deck allows."""
    left = int(DECK) - int(CARDS[beat])
    same = np.flatnonzero((LENGTH == LENGTH[beat]) & (KIND == KIND[beat]))
    for _ in range(100):
        move = int(CARDS[same[rng.below(len(same))]])
        if all(left >> 4 * rank & 15 >= move >> 4 * rank & 15 for rank in range(15)):
            break
    else:
        move = 0
    rest, hand, size = list(text(left - move)), text(move), 10 + rng.below(11)
    while len(hand) < size:
        hand += rest.pop(rng.below(len(rest)))
    return ordered(hand)


def test_leads_and_answers_to_moves_of_every_kind_agree_with_douzero_and_rlcard():
    rng = Rng("answers")
    kinds = [np.flatnonzero(KIND == kind) for kind in range(1, 16)]
    for _ in range(5000):
        ids = rng.choice(kinds)
        beat = int(ids[rng.below(len(ids))])
        hand = random_answer_to(beat, rng)
        assert moves_of(hand) == douzero_moves(hand) - only_in_douzero() == rlcard_moves(hand), hand
        ours = moves_of(hand, WORDS_OF[beat])
        assert ours == douzero_moves(hand, WORDS_OF[beat]) - only_in_douzero(), (hand, WORDS_OF[beat])
        for move in ours ^ rlcard_moves(hand, WORDS_OF[beat]):
            assert has_trio_kicker(move) or has_trio_kicker(WORDS_OF[beat]), (hand, WORDS_OF[beat], move)


def check_random_play(decisions: int) -> Counter[str]:
    """Plays at random and compares all legal moves, decision by decision; counts what was met."""
    rng = Rng("agreement")
    met: Counter[str] = Counter()
    while met["decisions"] < decisions:
        state = GAME.start().deal(rng)
        env, game = douzero_env(state), rlcard_game(state)
        while not state.over:
            legal = state.actions()
            ours = {WORDS_OF[action] for action in legal}
            theirs = {douzero_word(move) for move in env.infoset.legal_actions}
            assert ours == theirs - only_in_douzero(), str(state)
            s = GAME.record(state.data)
            odd = s["kind"] in (PLANE_SOLOS, ODD_PLANE) and s["length"] >= 3
            assert odd or ours == set(game.state["actions"]), str(state)
            met.update(decisions=1, moves=len(ours), outside=len(theirs - ours), with_outside=theirs != ours, odd=odd)
            action = rng.choice(legal)
            env.players[env._acting_player_position].set_action([] if action == 0 else douzero_cards(WORDS_OF[action]))
            env._env.step()
            env.infoset = env._game_infoset
            game.step(WORDS_OF[action])
            calls.apply(GAME.rulebook, state.data, action)
        stake = 2.0**env._game_bomb_num * (1 if env._game_winner == "landlord" else -1)
        assert state.returns() == [2 * stake, -stake, -stake]
        assert (game.winner_id == 0) == (stake > 0)
        met.update(games=1)
    return met


def test_10000_decisions_agree_with_douzero_and_rlcard():
    check_random_play(10_000)


@pytest.mark.slow
def test_100000_decisions_agree_with_douzero_and_rlcard():
    met = check_random_play(100_000)
    assert met["with_outside"] > 0  # the moves that DouZero has and RLCard has not are met


def test_10000_observations_equal_douzeros():
    from douzero.env.env import get_obs

    rng = Rng("observations")
    out = np.zeros(GAME.spec.observation_size, dtype=np.float32)
    decisions = 0
    while decisions < 10_000:
        state = GAME.start().deal(rng)
        env = douzero_env(state)
        obs = get_obs(env.infoset)
        while not state.over:
            seat = state.player
            assert obs["position"] == POSITIONS[seat]
            calls.observe(GAME.rulebook, state.data, seat, out)
            width = 430 if seat else 319
            assert np.array_equal(out[:width], obs["x_no_action"])
            assert np.array_equal(out[width : width + 810].reshape(5, 162), obs["z"])
            features = np.zeros(GAME.spec.feature_size, dtype=np.float32)
            legal = state.actions()
            rows = {tuple(row) for row in obs["x_batch"][:, width:].tolist()}
            for action in legal:
                calls.features(GAME.rulebook, state.data, action, features)
                assert tuple(features[:54].tolist()) in rows
            decisions += 1
            action = rng.choice(legal)
            obs, _, _, _ = env.step([] if action == 0 else douzero_cards(WORDS_OF[action]))
            calls.apply(GAME.rulebook, state.data, action)
