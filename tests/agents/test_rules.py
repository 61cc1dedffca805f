"""Players who go by rules of thumb."""

import pytest

from tapete import Rng, TapeteError, make
from tapete.agents import load
from tapete.core.players import play, random
from tapete.games.doudizhu.player import player
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
