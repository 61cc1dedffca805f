import pytest

import tapete
from tapete.core.contract import CHANCE
from tapete.core.errors import TapeteError
from tapete.games.ocp.rules import BET
from tapete.testing import check_game, check_redeal, check_tree, perft


@pytest.mark.parametrize("game", ["kuhn", "ocp(2)", "ocp(6)"])
def test_contract(game):
    check_game(game)
    check_tree(game)
    check_redeal(game)


def test_contract_with_many_cards():
    check_game("ocp(5000)", games=5)


@pytest.mark.parametrize(("cards", "histories", "infosets"), [(3, 55, 12), (12, 1189, 48), (50, 22_051, 200)])
def test_sizes_of_rojas(cards, histories, infosets):
    counts = perft(tapete.make(f"ocp({cards})").start())
    assert counts.histories == histories == 1 + 9 * cards * (cards - 1)
    assert counts.infosets == counts.choices == infosets == 4 * cards


def test_every_state_of_kuhn_is_as_in_openspiel():
    import pyspiel

    from tests.oracles.spiel import expect_same_tree

    assert expect_same_tree("kuhn", pyspiel.load_game("kuhn_poker")) == 12


def as_limit_poker(state, action):
    """Pass and bet as they are there: fold 0, call 1, raise 2."""
    if state.player == CHANCE:
        return action
    is_answer = state.history[-1] == BET and len(state.history) > 2
    return action if is_answer else action + 1


@pytest.mark.parametrize("cards", range(4, 14))
def test_every_state_is_as_in_universal_poker(cards):
    import pyspiel

    from tests.oracles.spiel import expect_same_tree

    one_card_poker = {
        "numPlayers": 2,
        "numRounds": 1,
        "numSuits": 1,
        "numRanks": cards,
        "numHoleCards": 1,
        "numBoardCards": "0",
        "betting": "limit",
        "bettingAbstraction": "fcpa",
        "blind": "1 1",
        "stack": "10 10",
        "firstPlayer": "1",
        "raiseSize": "1",
        "maxRaises": "1",
    }
    peer = pyspiel.load_game("universal_poker", one_card_poker)
    assert expect_same_tree(f"ocp({cards})", peer, as_limit_poker) == 4 * cards


@pytest.mark.parametrize(
    ("moves", "payoffs"),
    [
        ("K J pass pass", [1, -1]),
        ("J K bet pass", [1, -1]),
        ("K J bet bet", [2, -2]),
        ("K J pass bet pass", [-1, 1]),
        ("J K pass bet bet", [-2, 2]),
    ],
)
def test_payoffs(moves, payoffs):
    state = tapete.make("kuhn").read(moves)
    assert state.over
    assert state.returns() == payoffs


def test_a_fold_shows_nothing_and_a_showdown_shows_both():
    game = tapete.make("kuhn")
    assert "K" not in str(game.read("K J bet pass").view(1))
    assert "K" in str(game.read("K J bet bet").view(1))


def test_two_cards_are_needed():
    with pytest.raises(TapeteError, match="cards must be between 2 and 1000000"):
        tapete.make("ocp(1)")
