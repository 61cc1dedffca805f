"""Truco: the rules one by one, and random play against an independent slow implementation, state by state."""

import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from tapete.core import CHANCE, TERMINAL, Game, Rng, State, TapeteError, calls, make
from tapete.core.scene import Note
from tapete.games.truco.cards import HANDS, NAMES
from tapete.testing import SIGNIFICANCE, check_game
from tests.oracles.truco import Truco as Oracle

NOTHING = "1e 1b 7e", "4c 5o 6b"  # two hands in which no card ties with another


def play(first: str, second: str, moves: str = "", game: str = "truco(hand=true)") -> State:
    """The state after seat 0, who is mano, was dealt the first three cards, seat 1 the others, and these moves."""
    deal = " ".join(f"{one} {two}" for one, two in zip(first.split(), second.split(), strict=True))
    return make(game).read(f"{game}: {deal} {moves}")


def field(state: State, name: str) -> list[int]:
    """A field of the state's record, as a list."""
    return np.atleast_1d(state.game.record(state.data)[name]).tolist()


def score(state: State) -> list[int]:
    return field(state, "score")


def legal(state: State) -> set[str]:
    """The calls that may be made now."""
    return {state.write(action) for action in state.actions() if action >= 40}


# The contract


@pytest.mark.parametrize(
    "name",
    [
        "truco",
        "truco(mazo=true)",
        "truco(points=15)",
        "truco(mazo=true,hand=true)",
        "truco(points=15,buenas=true)",
        "truco(points=15,mazo=true,flor=true)",
        "truco(hand=true,buenas=true,flor=true)",
    ],
)
def test_contract(name):
    check_game(name, games=3)


def test_contract_near_the_end_of_a_match():
    check_game("truco(mazo=true,score0=27,score1=14)", games=10, seed=1)


@pytest.mark.parametrize("name", ["truco(points=20)", "truco(score0=30)", "truco(points=15,score1=15)"])
def test_bad_parameters_are_refused(name):
    with pytest.raises(TapeteError):
        make(name)


def test_the_interface_is_the_papers():
    spec = make("truco").spec
    assert (spec.actions, spec.observation_size) == (46, 321)
    assert make("truco(mazo=true)").spec.actions == 47


# Tricks

ORDER = (
    "1e | 1b | 7e | 7o | 3b 3c 3e 3o | 2b 2c 2e 2o | 1c 1o | 12b 12c 12e 12o | 11b 11c 11e 11o | 10b 10c 10e 10o |"
    "7c 7b | 6b 6c 6e 6o | 5b 5c 5e 5o | 4b 4c 4e 4o"
)


def test_order_of_the_cards():
    groups = [group.split() for group in ORDER.split("|")]
    assert sorted(name for group in groups for name in group) == sorted(NAMES)
    for stronger, weaker in pairwise(groups):
        assert first_trick(stronger[0], weaker[-1]) == 0
        assert first_trick(weaker[0], stronger[-1]) == 1
    for group in groups:
        for one, two in pairwise(group):
            assert first_trick(one, two) == 2


def first_trick(one: str, two: str) -> int:
    """Who wins the trick of these two cards; 2 is parda."""
    rest = [name for name in ("4b", "4c", "5b", "5c", "6b", "6c") if name not in (one, two)]
    state = play(f"{one} {rest[0]} {rest[1]}", f"{two} {rest[2]} {rest[3]}", f"{one} {two}")
    return field(state, "winner")[0]


def test_who_wins_a_trick_leads_the_next():
    assert play("4e 1b 7e", "3c 5o 6b", "4e 3c").player == 1
    assert play("3c 1b 7e", "4e 5o 6b", "3c 4e").player == 0


def test_after_parda_the_same_leader_leads():
    assert play("4e 1b 7e", "4c 5o 6b", "4e 4c").player == 0
    assert play("4e 6c 7e", "4c 6o 6b", "4e 4c 6c 6o").player == 0


def test_two_tricks_win_the_hand_and_the_third_is_not_played():
    assert play(*NOTHING, "1e 4c 1b 5o").returns() == [1, -1]


def test_one_trick_each_the_third_decides():
    assert play("1e 4b 6e", "4c 5o 5b", "1e 4c 4b 5o 5b").player == 0
    assert play("1e 4b 6e", "4c 5o 5b", "1e 4c 4b 5o 5b 6e").returns() == [1, -1]


def test_first_parda_the_second_decides():
    assert play("4e 5b 7e", "4c 6o 6b", "4e 4c 5b 6o").returns() == [-1, 1]


def test_second_parda_the_winner_of_the_first_wins():
    assert play("3e 5b 7e", "4c 5o 1b", "3e 4c 5b 5o").returns() == [1, -1]
    assert play("4e 5b 7e", "3c 5o 1b", "4e 3c 5o 5b").returns() == [-1, 1]


def test_third_parda_the_winner_of_the_first_wins():
    assert play("3e 5b 6e", "4c 7o 6b", "3e 4c 5b 7o 6b 6e").returns() == [1, -1]
    assert play("4e 7o 6e", "3c 5b 6b", "4e 3c 5b 7o 6e 6b").returns() == [-1, 1]


def test_first_two_parda_the_third_decides():
    assert play("4e 5b 6e", "4c 5o 7b", "4e 4c 5b 5o 6e 7b").returns() == [-1, 1]


def test_all_parda_mano_wins():
    assert play("4e 5b 6e", "4c 5o 6b", "4e 4c 5b 5o 6e 6b").returns() == [1, -1]
    second_hand = "4e 4c 5b 5o 6e 6b truco no-quiero 4e 4c 5b 5o 6e 6b 4e 4c 5b 5o 6e 6b"
    assert score(make("truco").read(second_hand)) == [1, 1]  # there seat 1 is mano


def test_mano_alternates_and_is_dealt_to_first():
    state = play(*NOTHING, "truco no-quiero", "truco")
    assert (state.player, field(state, "mano")) == (CHANCE, [1])
    for card in ("2b", "3b", "2c", "3c", "2e", "3e"):
        state.apply(card)
    assert state.player == 1
    assert {state.write(action) for action in state.actions() if action < 40} == {"2b", "2c", "2e"}


# Envido


@pytest.mark.parametrize(
    ("cards", "points"),
    [
        ("7o 6o 1b", 33),
        ("7o 6o 5o", 33),  # the two best of three
        ("12o 5o 4b", 25),  # figures count nothing
        ("12o 11o 7b", 20),
        ("12o 11o 10o", 20),
        ("1o 2o 12o", 23),
        ("7o 6b 5c", 7),  # no two of a suit: the highest
        ("12o 11b 10c", 0),
    ],
)
def test_envido_points(cards, points):
    assert field(play(cards, "4e 4c 5b", "envido quiero"), "shown") == [points, 5]


def test_equal_envidos_go_to_mano():
    tied = "7o 6o 1b 7c 6c 1e"
    assert score(make("truco").read(f"{tied} envido quiero")) == [2, 0]
    assert score(make("truco").read(f"{tied} truco no-quiero {tied} envido quiero")) == [1, 2]


BETTER, WORSE = "7o 6o 1b", "4c 5b 12e"
CALL = {"E": "envido", "R": "real-envido", "F": "falta-envido"}
CHAINS = {  # quiero, no quiero, the calls that may follow
    "E": (2, 1, "ERF"),
    "R": (3, 1, "F"),
    "F": (30, 1, ""),
    "EE": (4, 2, "RF"),
    "ER": (5, 2, "F"),
    "EF": (30, 2, ""),
    "RF": (30, 3, ""),
    "EER": (7, 4, "F"),
    "EEF": (30, 4, ""),
    "ERF": (30, 5, ""),
    "EERF": (30, 7, ""),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_envido_chain(chain):
    accepted, declined, following = CHAINS[chain]
    called = " ".join(CALL[letter] for letter in chain)
    state = play(BETTER, WORSE, called)
    assert legal(state) == {"quiero", "no-quiero", *(CALL[letter] for letter in following)}
    assert score(play(BETTER, WORSE, f"{called} quiero")) == [accepted, 0]
    assert score(play(WORSE, BETTER, f"{called} quiero")) == [0, accepted]
    last_caller = (len(chain) + 1) % 2
    assert score(play(WORSE, BETTER, f"{called} no-quiero"))[last_caller] == declined


def test_declined_envido_shows_nothing():
    assert field(play(BETTER, WORSE, "envido no-quiero"), "shown") == [-1, -1]


@pytest.mark.parametrize(
    ("own", "other", "won"),
    [(0, 0, 30), (14, 14, 16), (3, 14, 27), (15, 0, 15), (0, 15, 15), (14, 15, 15), (20, 29, 1), (29, 20, 1)],
)
def test_falta_envido_wins_the_match_in_malas_and_else_what_the_leader_lacks(own, other, won):
    name = f"truco(hand=true,score0={own},score1={other})".replace("score0=0,", "").replace(",score1=0", "")
    assert score(play(BETTER, WORSE, "falta-envido quiero", name)) == [own + won, other]


@pytest.mark.parametrize(("own", "other", "won"), [(1, 2, 13), (7, 3, 8), (14, 2, 1)])
def test_falta_envido_to_15_is_what_the_leader_lacks(own, other, won):
    name = f"truco(points=15,hand=true,score0={own},score1={other})"
    assert score(play(BETTER, WORSE, "falta-envido quiero", name)) == [own + won, other]


def test_envido_is_for_the_first_trick():
    assert "envido" in legal(play(*NOTHING))
    assert "envido" in legal(play(*NOTHING, "1e"))
    assert "envido" not in legal(play(*NOTHING, "1e 4c"))


def test_envido_is_called_once_a_hand():
    assert legal(play(*NOTHING, "envido no-quiero")) == {"truco"}
    assert legal(play(*NOTHING, "1e envido quiero")) == {"truco"}


def test_envido_goes_first_and_truco_is_answered_after():
    state = play(*NOTHING, "truco")
    assert legal(state) == {"envido", "real-envido", "falta-envido", "retruco", "quiero", "no-quiero"}
    state.apply("real-envido")
    assert (state.player, legal(state)) == (0, {"falta-envido", "quiero", "no-quiero"})
    state.apply("no-quiero")
    assert (state.player, legal(state), score(state)) == (1, {"retruco", "quiero", "no-quiero"}, [0, 1])
    state.apply("quiero")
    assert (state.player, field(state, "level"), legal(state)) == (0, [2], set())


def test_envido_goes_first_also_after_ones_own_card():
    assert "envido" in legal(play(*NOTHING, "1e truco"))


def test_envido_is_closed_by_accepting_truco():
    assert "envido" not in legal(play(*NOTHING, "truco quiero"))
    assert "envido" not in legal(play(*NOTHING, "truco quiero 1e"))


def test_envido_is_closed_by_raising_truco():
    assert legal(play(*NOTHING, "truco retruco")) == {"vale-cuatro", "quiero", "no-quiero"}


def test_no_truco_while_an_envido_waits():
    assert "truco" not in legal(play(*NOTHING, "envido"))


# Truco


@pytest.mark.parametrize(
    ("calls", "level", "declined_by", "declined"),
    [("truco", 2, 1, 1), ("truco retruco", 3, 0, 2), ("truco retruco vale-cuatro", 4, 1, 3)],
)
def test_truco_is_worth(calls, level, declined_by, declined):
    assert play(*NOTHING, f"{calls} quiero 1e 4c 1b 5o").returns() == [level, -level]
    won = play(*NOTHING, f"{calls} no-quiero").returns()
    assert won[1 - declined_by] == declined


def test_a_hand_without_truco_is_worth_one():
    assert score(play(*NOTHING, "1e 4c 1b 5o")) == [1, 0]


def test_nothing_is_asked_above_vale_cuatro():
    assert legal(play(*NOTHING, "truco retruco vale-cuatro")) == {"quiero", "no-quiero"}
    assert legal(play(*NOTHING, "truco retruco vale-cuatro quiero")) == set()


def test_only_who_accepted_last_may_raise():
    assert "retruco" not in legal(play(*NOTHING, "truco quiero"))
    assert "retruco" in legal(play(*NOTHING, "truco quiero 1e"))
    assert "vale-cuatro" in legal(play(*NOTHING, "truco quiero 1e retruco quiero 4c"))
    assert "vale-cuatro" not in legal(play(*NOTHING, "truco quiero 1e retruco quiero"))
    assert "vale-cuatro" in legal(play(*NOTHING, "truco retruco quiero"))


def test_truco_may_be_called_until_the_last_card():
    assert "truco" in legal(play("1e 4b 6e", "4c 5o 5b", "1e 4c 4b 5o 5b"))


def test_a_call_does_not_change_whose_turn_it_is():
    assert play(*NOTHING, "1e truco quiero").player == 1
    assert play(*NOTHING, "1e envido quiero").player == 1


# Irse al mazo


def test_mazo_is_there_only_if_asked_for():
    assert "mazo" not in legal(play(*NOTHING))
    assert "mazo" in legal(play(*NOTHING, game="truco(mazo=true)"))


@pytest.mark.parametrize(
    ("moves", "paid"),
    [
        ("mazo", [0, 2]),  # the envido was open
        ("1e mazo", [2, 0]),
        ("envido no-quiero mazo", [1, 1]),  # it had been called
        ("1e 4c mazo", [0, 1]),  # the first trick was over
        ("truco quiero mazo", [0, 2]),  # truco accepted closes it
        ("truco quiero 1e retruco quiero mazo", [3, 0]),
    ],
)
def test_mazo_pays_the_level_and_one_for_an_open_envido(moves, paid):
    assert score(play(*NOTHING, moves, "truco(mazo=true,hand=true)")) == paid


@pytest.mark.parametrize("moves", ["envido", "truco", "truco envido"])
def test_mazo_is_not_an_answer(moves):
    assert "mazo" not in legal(play(*NOTHING, moves, "truco(mazo=true)"))


# Son buenas

BUENAS = "truco(hand=true,buenas=true)"


@pytest.mark.parametrize(
    ("first", "second", "shown", "bounds"),
    [  # what each seat is known to have at most
        (BETTER, WORSE, [33, -1], [-1, 33]),  # seat 1 is not mano: it may have as many
        (WORSE, BETTER, [-1, 33], [32, -1]),  # mano would have won a tie
        ("7o 6o 1b", "7c 6c 1e", [33, -1], [-1, 33]),
    ],
)
def test_who_loses_an_accepted_envido_shows_nothing(first, second, shown, bounds):
    state = play(first, second, "envido quiero", BUENAS)
    assert field(state, "shown") == shown
    for seat in range(2):
        bound = bounds[1 - seat]
        assert state.view(seat).observation()[321:].tolist() == pytest.approx([float(bound >= 0), max(bound, 0) / 33])


def test_son_buenas_leaves_hands_that_the_winner_cannot_tell_apart():
    one = play(BETTER, "4c 5b 12e", "envido quiero", BUENAS)
    two = play(BETTER, "4c 7c 12e", "envido quiero", BUENAS)
    assert one.infoset(0) == two.infoset(0)
    assert one.infoset(0) != play(BETTER, "4c 5b 12e", "envido quiero").infoset(0)
    assert play(BETTER, WORSE, "envido quiero", BUENAS).infoset(1) != play(
        "7o 5o 1b", WORSE, "envido quiero", BUENAS
    ).infoset(1)


def test_a_declined_envido_says_nothing_of_points():
    state = play(BETTER, WORSE, "envido no-quiero", BUENAS)
    assert all(state.view(seat).observation()[321:].tolist() == [0, 0] for seat in range(2))


@pytest.mark.parametrize(("first", "second", "winner"), [(BETTER, WORSE, 0), (WORSE, BETTER, 1)])
def test_the_points_of_an_envido_are_told_with_the_winners_first(first, second, winner):
    before, after = (play(first, second, moves).view(0) for moves in ("envido", "envido quiero"))
    told = next(iter(after.news(before)))
    assert told.startswith(f"seat {winner} won the envido, ")
    high, low = map(int, re.findall(r"(\d+) to (\d+)", told)[0])
    assert high > low


@pytest.mark.parametrize(
    "call", ["envido", "real-envido", "falta-envido", "envido real-envido", "truco", "truco envido"]
)
def test_the_table_says_which_call_waits(call):
    notes = {part.name: part.text for part in play(BETTER, WORSE, call).view(0).scene().parts if isinstance(part, Note)}
    assert notes["waits for an answer"].split(", ")[0] == call.split()[-1]


def test_son_buenas_is_told():
    before, after = (play(BETTER, WORSE, moves, BUENAS).view(0) for moves in ("envido", "envido quiero"))
    assert list(after.news(before)) == ["seat 0 won the envido with 33: 2 points"]
    assert "envido 33-buenas" in str(after)


# Flor

FLOR = "truco(hand=true,flor=true)"
HIGH, LOW, NO_FLOR = "7o 6o 5o", "12c 11c 4c", "7e 6b 1e"  # 38 and 24 points, and none


@pytest.mark.parametrize("moves", ["", "1e", "envido", "truco", "falta-envido"])
def test_flor_is_sung_before_anything_else_is_done(moves):
    cards = (HIGH, NO_FLOR) if not moves else (NO_FLOR, HIGH)
    state = play(*cards, moves, FLOR)
    assert [state.write(action) for action in state.actions()] == ["flor"]


def test_no_flor_without_the_parameter():
    assert "flor" not in legal(play(HIGH, NO_FLOR))


@pytest.mark.parametrize(
    ("cards", "moves", "paid", "mover"),
    [
        ((HIGH, NO_FLOR), "flor", [3, 0], 0),
        ((NO_FLOR, HIGH), "7e flor", [0, 3], 1),
        ((NO_FLOR, HIGH), "envido flor", [0, 3], 0),  # the envido is forgotten
        ((NO_FLOR, HIGH), "truco flor", [0, 3], 1),  # then truco is answered
    ],
)
def test_a_flor_alone_pays_three(cards, moves, paid, mover):
    state = play(cards[0], cards[1], moves, FLOR)
    assert (score(state), state.player, field(state, "shown")) == (paid, mover, [-1, -1])
    assert not {"envido", "flor"} & legal(state)


@pytest.mark.parametrize(
    ("calls", "accepted", "declined", "following"),
    [
        ("flor", 4, 3, {"contraflor", "contraflor-al-resto"}),
        ("flor contraflor", 6, 4, {"contraflor-al-resto"}),
        ("flor contraflor-al-resto", 30, 4, set()),
        ("flor contraflor contraflor-al-resto", 30, 6, set()),
    ],
)
def test_two_flores(calls, accepted, declined, following):
    assert legal(play(HIGH, LOW, calls, FLOR)) == {"quiero", "no-quiero"} | following
    assert score(play(HIGH, LOW, f"{calls} quiero", FLOR)) == [accepted, 0]
    assert score(play(LOW, HIGH, f"{calls} quiero", FLOR)) == [0, accepted]
    last_caller = (len(calls.split()) + 1) % 2
    assert score(play(LOW, HIGH, f"{calls} no-quiero", FLOR))[last_caller] == declined


@pytest.mark.parametrize(("own", "other", "won"), [(14, 14, 16), (20, 29, 1), (29, 20, 1)])
def test_al_resto_is_worth_a_falta(own, other, won):
    name = f"truco(hand=true,score0={own},score1={other},flor=true)"
    assert score(play(HIGH, LOW, "flor contraflor-al-resto quiero", name)) == [own + won, other]


@pytest.mark.parametrize(("cards", "points"), [("7o 6o 5o", 38), ("12o 11o 10o", 20), ("12o 3o 1o", 24)])
def test_flor_points_are_twenty_and_all_three(cards, points):
    state = play(cards, LOW, "flor quiero", FLOR)
    assert field(state, "shown") == [points, 24]
    assert next(iter(state.view(1).news(play(cards, LOW, "flor", FLOR).view(1)))).startswith(
        f"seat {int(points < 24)} won the flor, {max(points, 24)} to {min(points, 24)}"
    )


def test_equal_flores_go_to_mano():
    assert score(play("7o 6o 5o", "7c 6c 5c", "flor quiero", FLOR)) == [4, 0]


def test_a_flor_ends_the_match():
    assert play(HIGH, NO_FLOR, "flor", "truco(score0=27,flor=true)").returns() == [1, -1]


def test_who_did_not_sing_is_known_to_have_no_flor():
    for first, second, moves, known in (
        (NO_FLOR, LOW, "", [0, 0, 0, 0]),
        (NO_FLOR, LOW, "7e", [1, 0, 0, 0]),
        (NO_FLOR, LOW, "7e flor", [1, 0, 0, 1]),
        (HIGH, NO_FLOR, "flor", [0, 1, 1, 0]),
        (HIGH, LOW, "flor", [0, 1, 0, 1]),
    ):
        assert play(first, second, moves, FLOR).view(0).observation()[321:325].tolist() == known


def test_calls_of_flor_are_written_and_remembered():
    text = "truco(hand=true,flor=true): 7o 12c 6o 11c 5o 4c flor contraflor contraflor-al-resto no-quiero truco retruco"
    state = make(FLOR).read(text)
    assert str(state) == text
    assert "calls 0 flor, 1 contraflor, 0 contraflor-al-resto, 1 no-quiero, 0 truco, 1 retruco" in str(state.view(0))


@pytest.mark.parametrize(
    ("moves", "action", "accepted", "declined"),
    [
        ("", "flor", 4, 3),
        ("flor", "contraflor", 6, 4),
        ("flor", "quiero", 4, 0),
        ("flor contraflor", "contraflor-al-resto", 30, 6),
        ("flor contraflor", "no-quiero", 0, 4),
    ],
)
def test_features_of_flor_are_its_stakes(moves, action, accepted, declined):
    assert features(play(HIGH, LOW, moves, FLOR), action)[-2:] == pytest.approx([accepted / 30, declined / 30])


# Matches


def test_a_match_is_paid_one():
    assert play(*NOTHING, "1e 4c 1b 5o", "truco(score0=29)").returns() == [1, -1]


def test_envido_is_scored_before_the_hand():
    state = play(BETTER, "1e 7e 12e", "envido quiero", "truco(score0=28,score1=29)")
    assert (state.player, state.returns()) == (TERMINAL, [1, -1])


def test_the_match_ends_at_once_though_truco_waits():
    state = play(WORSE, BETTER, "truco envido quiero", "truco(score1=28)")
    assert (state.player, state.returns()) == (TERMINAL, [-1, 1])
    assert play(WORSE, BETTER, "truco envido no-quiero", "truco(score1=29)").player == TERMINAL


def test_no_score_goes_beyond_the_points_of_the_match():
    state = play(*NOTHING, "truco quiero 1e 4c 1b 5o", "truco(hand=true,score0=29)")
    assert (score(state), state.returns()) == ([30, 0], [1, -1])


def test_a_match_to_15():
    assert play(*NOTHING, "1e 4c 1b 5o", "truco(points=15,score0=14)").returns() == [1, -1]
    assert play(*NOTHING, "1e 4c 1b 5o", "truco(score0=14)").player == CHANCE


def test_a_hand_is_paid_in_points():
    state = play(BETTER, "1e 7e 12e", "envido quiero truco quiero 7o 1e 7e 6o", "truco(hand=true,score1=3)")
    assert (score(state), state.returns()) == ([2, 5], [0, 0])


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("truco(hand=true)", 30),
        ("truco(hand=true,score0=20,score1=25)", 10),
        ("truco(hand=true,score0=0,score1=15)", 19),
        ("truco(points=15,hand=true,score0=1)", 15),
    ],
)
def test_bounds_of_a_hand(name, bound):
    assert make(name).spec.utility == (-bound, bound)


def test_the_dearest_hand_reaches_its_bound():
    moves = "falta-envido quiero truco retruco vale-cuatro quiero 7o 4c 1b 5b"
    assert play("7o 6o 1b", "4c 5b 12e", moves, "truco(hand=true,score1=15)").returns() == [19, -19]


def test_the_longest_hand_reaches_its_bound():
    cards = "4e 5b 6e", "4c 5o 6b"
    calls = "truco envido envido real-envido falta-envido no-quiero quiero 4e retruco quiero 4c vale-cuatro quiero"
    state = play(*cards, f"{calls} 5b 5o 6e 6b")
    assert state.over
    assert state.history is not None
    assert len(state.history) == state.game.spec.longest


# What a seat knows


def test_observation_scores_give_the_papers_potential():
    state = play(*NOTHING, "envido no-quiero", "truco(score0=12,score1=4)")
    observation = state.view(1).observation()
    assert observation[298] - observation[297] == pytest.approx((4 - 13) / 30)


def test_order_of_the_deal_leaves_no_trace():
    assert play("1e 1b 7e", "4c 5o 6b") == play("7e 1e 1b", "6b 5o 4c")


def test_a_seat_remembers_its_own_hands_of_before_and_not_the_others():
    one = play("1e 1b 7e", "4c 5o 6b", "1e 4c truco no-quiero", "truco")
    two = play("1e 1b 7o", "4c 5o 6b", "1e 4c truco no-quiero", "truco")
    assert one.infoset(0) != two.infoset(0)
    assert one.infoset(1) == two.infoset(1)


def test_shown_envidos_are_known_to_both():
    one = play("7o 6o 1b", "4c 5b 12e", "envido quiero")
    two = play("7o 5o 1b", "4c 5b 12e", "envido quiero")
    assert one.infoset(1) != two.infoset(1)


def test_cards_are_picked_up_when_all_are_dealt():
    game = make("truco")
    one, two = game.read("1e 4c 1b 5o 7e"), game.read("2e 3c 2b 6o 3e")
    assert all(one.infoset(seat) == two.infoset(seat) for seat in range(2))
    assert one.copy().apply("6b").infoset(0) != two.copy().apply("6b").infoset(0)
    world = redealt(one, 0, Rng(1))
    assert [len(unplayed(world, seat)) for seat in range(2)] == [3, 2]
    assert unplayed(world, 0) != unplayed(one, 0)


@pytest.mark.parametrize(
    ("moves", "action", "accepted", "declined"),
    [
        ("", "truco", 2, 1),
        ("truco", "retruco", 3, 2),
        ("truco", "quiero", 2, 0),
        ("truco retruco", "no-quiero", 0, 2),
        ("envido", "real-envido", 5, 2),
        ("envido", "quiero", 2, 0),
        ("real-envido falta-envido", "no-quiero", 0, 3),
        ("", "falta-envido", 30, 1),
        ("", "mazo", 0, 2),
    ],
)
def test_features_of_a_bet_are_its_stakes(moves, action, accepted, declined):
    numbers = features(play(*NOTHING, moves, "truco(mazo=true)"), action)
    assert numbers[-2:] == pytest.approx([accepted / 30, declined / 30])


def test_features_of_a_card():
    assert features(play(*NOTHING), "1e")[46:] == pytest.approx([1, 1 / 7, 0, 0, 0, 0, 0])
    assert features(play("6o 1b 7e", "4c 6c 3b", "6o"), "6c")[48:51] == [0, 1, 0]
    assert features(play("6o 1b 7e", "4c 6c 3b", "6o"), "4c")[46:51] == pytest.approx([0, 4 / 7, 1, 0, 0])
    assert features(play("6o 1b 7e", "4c 6c 3b", "6o"), "3b")[48:51] == [0, 0, 1]


def features(state: State, action: str) -> list[float]:
    """The numbers of an action of the mover."""
    return state.view(state.player).features()[state.actions().index(state.read(action))].tolist()


def test_notation_of_a_raise_is_what_it_asks_for():
    text = "truco: 1e 4c 1b 5o 7e 6b truco retruco vale-cuatro quiero 1e 4c 1b 5o"
    assert str(make("truco").read(text)) == text


@pytest.mark.parametrize(
    ("first", "second", "moves"),
    [
        ("1e 1b 7e", "4c 5o 6b", ""),
        ("1e 1b 7e", "4c 5o 6b", "1e 4c"),
        ("1e 1b 7e", "4c 5c 6b", "envido quiero"),
        ("7o 1b 7e", "12c 11o 10b", "envido quiero"),
        ("7o 1b 7e", "4c 6c 10b", "7o envido quiero 10b"),
        ("7o 4b 7e", "4c 6c 1b", "7o envido quiero 6c 4b 1b"),
        ("1e 4b 6e", "4c 5o 5b", "envido quiero 1e 4c 4b 5o 5b"),
    ],
)
def test_redeal_is_uniform_over_the_consistent_hands(first, second, moves):
    expect_uniform(play(first, second, moves, "truco"), Oracle())


@pytest.mark.parametrize(
    ("first", "second", "moves"),
    [
        ("7o 6o 1b", "4c 5c 12e", "envido quiero"),
        ("4c 5b 12e", "1o 2b 3c", "envido quiero"),  # few points: few hands
        ("7o 6b 1b", "4c 5b 12e", "envido quiero 7o 4c"),
        ("4c 5b 12e", "7o 6o 1b", "envido quiero 4c 7o"),
    ],
)
def test_redeal_is_uniform_after_son_buenas(first, second, moves):
    expect_uniform(play(first, second, moves, "truco(buenas=true)"), Oracle(buenas=True))


@pytest.mark.parametrize(
    ("first", "second", "moves"),
    [
        ("7o 6b 1b", "4c 5c 12e", "7o 4c"),  # both have none
        ("7o 6b 1b", "4c 5c 6c", "truco"),  # the second may have one
        ("7o 6o 1o", "4c 5c 12e", "flor"),
        ("7o 6o 1o", "4c 5c 6c", "flor no-quiero 7o"),
        ("7o 6o 1o", "4c 5c 6c", "flor quiero 7o"),
        ("7o 6o 1b", "4c 5c 12e", "envido quiero"),
    ],
)
def test_redeal_is_uniform_with_flor(first, second, moves):
    expect_uniform(play(first, second, moves, "truco(flor=true)"), Oracle(flor=True))


@pytest.mark.parametrize(
    ("first", "second", "moves"),
    [("7o 6o 1o", "4c 5c 6c", "flor quiero 7o"), ("7o 6o 1b", "4c 5c 12e", "envido quiero")],
)
def test_redeal_is_uniform_with_flor_after_son_buenas(first, second, moves):
    expect_uniform(play(first, second, moves, "truco(buenas=true,flor=true)"), Oracle(buenas=True, flor=True))


def expect_uniform(state: State, oracle: Oracle) -> None:
    """What `redeal` deals to each seat's opponent, beside what the oracle lists."""
    for action in state.history or []:
        oracle.apply(action)
    for seat in range(2):
        worlds = {hand: i for i, hand in enumerate(oracle.consistent_hands(seat))}
        counts = np.zeros(len(worlds))
        rng = Rng("redeal", seat)
        for _ in range(max(5 * len(worlds), 1000)):
            counts[worlds[unplayed(redealt(state, seat, rng), 1 - seat)]] += 1
        assert len(worlds) == 1 or chisquare(counts).pvalue > SIGNIFICANCE


def redealt(state: State, seat: int, rng: Rng) -> State:
    """A world that the seat can't tell from this one."""
    world = State(state.game, state.data.copy(), None)
    calls.redeal(state.game.rulebook, world.data, seat, rng.words)
    return world


def unplayed(state: State, seat: int) -> frozenset[int]:
    """The cards that the seat holds."""
    s = state.game.record(state.data)
    mask = int(s["hand"][seat] & ~s["played"])
    return frozenset(card for card in range(40) if mask >> card & 1)


def test_hands_by_envido_are_all_hands():
    assert len(set(HANDS.tolist())) == len(HANDS) == 9880


# Against the oracle

VARIANTS = [  # points, mazo, buenas, flor, the score at the start
    (points, mazo, buenas, flor, start)
    for points in (30, 15)
    for mazo in (False, True)
    for buenas, flor in ((False, False), (True, False), (False, True), (True, True))
    for start in ((0, 0), (0, 0), (14, 13), (points - 1, points // 2), (points // 2, points - 2))
]


def test_agrees_with_the_oracle():
    compare_games(600, "always")


@pytest.mark.slow
def test_agrees_with_the_oracle_at_length():
    compare_games(20_000, "slow")


def compare_games(n: int, key: str) -> None:
    """So many random matches, and as many single hands, of all variants."""
    rng = Rng("oracle", key)
    for i in range(2 * n):
        points, mazo, buenas, flor, start = VARIANTS[i // 2 % len(VARIANTS)]
        hand = i % 2 == 1
        flags = f"mazo={mazo},hand={hand},buenas={buenas},flor={flor}".lower()
        game = make(f"truco(points={points},{flags},score0={start[0]},score1={start[1]})")
        compare_game(game, Oracle(points, mazo, hand, start, buenas=buenas, flor=flor), rng)


def compare_game(game: Game, oracle: Oracle, rng: Rng) -> None:
    """Plays one game. Each call has a weight of its own, else most random matches would end in a falta envido."""
    state = game.start()
    weights = [rng.choice((2, 8, 32))] * 40 + [rng.choice((1, 4, 16)) for _ in range(10)]
    suit = rng.choice((None, None, range(10), range(20)))  # cards that are dealt first, so that there are flores
    while True:
        actions = expect_same(state, oracle)
        if state.over:
            return
        if state.player == CHANCE:
            actions = [card for card in actions if suit and card in suit] or actions
        else:
            actions = [action for action in actions for _ in range(weights[action])]
        action = rng.choice(actions)
        calls.apply(game.rulebook, state.data, action)
        oracle.apply(action)


def expect_same(state: State, oracle: Oracle) -> list[int]:
    """Everything that can be asked of both; returns the legal actions."""
    s, player, actions = state.game.record(state.data), state.player, state.actions()
    assert (player, actions) == (oracle.player, oracle.actions())
    assert tuple(s["score"]) == oracle.score
    assert (s["level"], s["mano"]) == (oracle.level, oracle.mano)
    shown = oracle.envido_shown or oracle.flor_shown or (None, None)
    assert tuple(s["shown"]) == tuple(-1 if points is None else points for points in shown)
    assert tuple(state.returns()) == oracle.returns()
    assert (unplayed(state, 0), unplayed(state, 1)) == oracle.hands
    for seat in range(2) if player != CHANCE or s["dealt"] in (0, 5) else ():
        out = np.empty(state.game.spec.observation_size, dtype=np.float32)
        calls.observe(state.game.rulebook, state.data, seat, out)
        expected = np.array(oracle.observation(seat), dtype=np.float32)
        if player == CHANCE:  # here the cards are picked up when all are dealt
            expected[2:42] = expected[317] = 0.0
            if state.game.spec.parameters["flor"]:
                expected[-2] = 0.0
        assert (out == expected).all(), np.flatnonzero(out != expected)
    return actions


# Match equity


def test_a_hand_can_be_paid_in_equity():
    from tapete.games.truco.equity import table

    deal, moves = NOTHING, "1e 4c 1b 5o"  # mano wins the hand, which is worth a point
    plain = table()[0]  # [what mano lacks, what the other lacks]
    for own, other in ((0, 0), (27, 28), (3, 20)):
        name = f"truco(hand=true,score0={own},score1={other},equity=true)"
        paid = play(*deal, moves, str(make(name))).returns()
        assert paid == [pytest.approx(1 - 2 * plain[30 - other, 29 - own]), pytest.approx(-paid[0])]
    assert play(*deal, moves, "truco(hand=true,score0=29,equity=true)").returns() == [1, -1]
    assert play(*deal, moves, "truco(points=15,hand=true,equity=true)").returns() == (
        play(*deal, moves, "truco(hand=true,score0=15,score1=15,equity=true)").returns()
    )


def test_equity_grows_with_ones_points_and_falls_with_the_others():
    from tapete.games.truco.equity import table

    for chances in table():
        assert (chances[0] == 1).all()
        assert (chances[1:, 0] == 0).all()
        coarse = chances[1:, 1:][::3, ::3]  # self-play is counted, so that neighbours are not in order for sure
        assert (np.diff(coarse, axis=0) < 0.01).all()
        assert (np.diff(coarse, axis=1) > -0.01).all()
        assert np.abs(chances[10:, 10:] + chances[10:, 10:].T - 1).max() < 0.1  # being mano is worth little


def test_the_score_can_be_drawn():
    state = make("truco(hand=true,equity=true,anyscore=true)").read("12 29")
    assert score(state) == [12, 29]
    assert state.player == CHANCE
    assert state.write(state.actions()[0]) == "1b"
    seen = {tuple(score(make("truco(anyscore=true)").start().deal(Rng(seed)))) for seed in range(40)}
    assert len(seen) > 35


@pytest.mark.parametrize("name", ["truco(hand=true,equity=true,anyscore=true)", "truco(points=15,anyscore=true)"])
def test_contract_with_scores_drawn(name):
    check_game(name, games=5)


@pytest.mark.parametrize("name", ["truco(equity=true)", "truco(hand=true,anyscore=true,score0=3)"])
def test_parameters_that_contradict_each_other_are_refused(name):
    with pytest.raises(TapeteError):
        make(name)
