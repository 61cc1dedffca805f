import pytest

import tapete
from tapete.testing import check_game, check_redeal, check_tree, perft


def test_contract():
    check_game("leduc")
    check_tree("leduc")
    check_redeal("leduc")


def test_every_state_is_as_in_openspiel():
    import pyspiel

    from tests.oracles.spiel import expect_same_tree

    assert expect_same_tree("leduc", pyspiel.load_game("leduc_poker")) == 936


def test_size_of_the_tree():
    counts = perft(tapete.make("leduc").start())
    assert (counts.infosets, counts.choices) == (936, 936)
    assert (counts.decisions, counts.terminals) == (3780, 5520)


@pytest.mark.parametrize(
    ("moves", "payoffs"),
    [
        ("Ks Js check check Qs check check", [1, -1]),  # the higher card takes the ante
        ("Ks Js check check Jh check check", [-1, 1]),  # a pair beats a king
        ("Ks Kh bet call Qs bet call", [0, 0]),  # equal ranks share
        ("Js Ks bet fold", [1, -1]),  # a bet that nobody calls goes back
        ("Js Ks check bet raise fold", [3, -3]),
        ("Ks Js bet raise call Qs bet raise call", [13, -13]),  # every bet there is
    ],
)
def test_payoffs(moves, payoffs):
    state = tapete.make("leduc").read(moves)
    assert state.over
    assert state.returns() == payoffs


def test_two_bets_a_round():
    state = tapete.make("leduc").read("Ks Js bet raise")
    assert [state.write(action) for action in state.actions()] == ["fold", "call"]
    state.apply("call").apply("Qs")
    assert [state.write(action) for action in state.actions()] == ["check", "bet"]


def test_a_fold_shows_nothing_and_a_showdown_shows_both():
    game = tapete.make("leduc")
    assert "Ks" not in str(game.read("Ks Js bet fold").view(1))
    assert "Ks" in str(game.read("Ks Js check check Qs check check").view(1))
