"""Players who go by rules of thumb."""

from functools import partial

import pytest

from tapete import Rng, TapeteError, make
from tapete.agents import load
from tapete.agents.bids import fit, hands_and_payoffs
from tapete.agents.networks import shipped
from tapete.core.players import play, random
from tapete.games.doudizhu.auction import FACTS
from tapete.games.doudizhu.cards import text
from tapete.games.doudizhu.player import player
from tapete.nets.moves import MoveNetwork
from tapete.testing import check_player

GAME = make("doudizhu")


def test_it_looks_at_nothing_that_is_hidden():
    for game in ("doudizhu", "doudizhu(bidding=true)"):
        check_player(player, game, games=6)


def test_it_wins_against_random_on_both_sides():
    played = play(GAME, [player, random], 300, Rng(1), lineups=[(0, 1, 1), (1, 0, 0)])
    assert (played.returns[:, 0, 0] > 0).mean() > 0.88
    assert (played.returns[:, 1, 0] < 0).mean() > 0.93


def test_there_are_no_rules_of_thumb_for_every_game():
    with pytest.raises(TapeteError, match="rules of thumb for kuhn"):
        load("rules", make("kuhn"))


def test_the_model_bids_better_than_always_or_never():
    game = make("doudizhu(bidding=true)")
    for boldness in (100.0, -100.0):
        other = partial(player, boldness=boldness)
        played = play(game, [player, other], 400, Rng("bids"), lineups=[(0, 1, 1), (1, 0, 1), (1, 1, 0)])
        assert sum(played.returns[:, seat, seat].mean() for seat in range(3)) / 3 > 0.2


def test_the_network_plays_on_after_an_auction():
    game, plain = make("doudizhu(bidding=true)"), make("doudizhu")
    bidder, network = load("dmc", game), load("dmc", plain)
    state = game.start().deal(Rng("auction")).apply("pass").apply("bid3").deal(Rng("open"))
    s = game.record(state.data)
    hands = [text(s["hand"][seat] - s["open"] * (seat == 1)) for seat in (1, 2, 0)]
    same = plain.start()
    for card in [hands[i % 3][i // 3] for i in range(51)] + list(text(s["open"])):
        same.apply(card)
    while not state.over:
        said = bidder.think(state.view(state.player), Rng(1)).probabilities
        assert said == network.think(same.view(same.player), Rng(1)).probabilities
        move = max(zip(said.values(), said, strict=True))[1]
        state.apply(move), same.apply(move)
    assert (state.returns()[1] > 0) == (same.returns()[0] > 0)


def test_bids_are_fitted_to_games_of_a_network():
    hands, payoffs = hands_and_payoffs(MoveNetwork.load(shipped(make("doudizhu"), "dmc")), 20, Rng(1))
    assert hands.shape == payoffs.shape == (20, 3)
    assert all(len(text(int(hand))) == 17 for hand in hands.reshape(-1))
    landlord, peasant = fit(hands, payoffs)
    assert landlord.shape == peasant.shape == (FACTS,)
