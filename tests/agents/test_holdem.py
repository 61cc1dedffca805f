"""Players of hold'em by name: what their rules say, that everybody can sit down, and what each wins."""

from __future__ import annotations

import numpy as np
import pytest

from tapete.agents import agents, load, opponents
from tapete.agents.holdem import BRED
from tapete.core import Rng, TapeteError, make
from tapete.core.contract import CHANCE
from tapete.games.holdem.contest import Contest
from tapete.games.holdem.deals import HANDS, judged, shuffle
from tapete.games.holdem.rules import CALL, FOLD, RAISE
from tapete.games.holdem.styles import styles
from tapete.shipped import manifest

STYLES = ("tight-aggressive", "calling-station", "maniac", "rock")
SHIPPED = [file.removeprefix(BRED).removesuffix(".safetensors") for file in manifest() if file.startswith(BRED)]


@pytest.mark.parametrize("name", [*STYLES, "rlcard"])
def test_they_play_at_any_table(name: str) -> None:
    for players in (2, 3, 10):
        game = make(f"holdem(players={players})")
        for seed in range(4):
            state, rng = game.start(), Rng(seed)
            while not state.deal(rng).over:
                said = load(name, game).think(state.view(state.player), rng).probabilities
                assert list(said) == state.actions()
                assert max(said.values()) == sum(said.values()) == 1, "rules don't throw dice"
                state.apply(max(said, key=lambda action: said[action]))
        assert name in opponents(game)


@pytest.mark.parametrize("name", [*STYLES, *SHIPPED])
def test_they_play_nothing_else(name: str) -> None:
    with pytest.raises(TapeteError, match="plays holdem"):
        load(name, make("kuhn"))


def test_a_station_raises_what_cannot_lose_and_a_maniac_everything() -> None:
    game = make("holdem(players=3)")
    seen: dict[str, list[int]] = {"calling-station": [], "maniac": []}
    for seed in range(20):
        state, rng = game.start(), Rng(seed)
        while not state.deal(rng).over:
            if int(game.record(state.data)["street"]) > 0:
                for name, moves in seen.items():
                    said = load(name, game).think(state.view(state.player), rng).probabilities
                    moves.append(max(said, key=lambda action: said[action]))
                    if name == "maniac" and RAISE in said:
                        assert said[RAISE] == 1
            state.apply(CALL if state.player != CHANCE else 0)
    assert seen["calling-station"].count(RAISE) < 0.1 * len(seen["calling-station"])
    assert FOLD not in seen["calling-station"] + seen["maniac"]


def test_a_tight_and_aggressive_player_wins_from_those_who_play_too_much() -> None:
    game, deals = make("holdem(players=10,rake=0.05,rake_cap=3)"), judged(shuffle(150, Rng(8)), samples=200)
    tight, *_ = styles().values()
    for name in ("calling-station", "maniac"):
        gains = Contest(game, deals, [styles()[name]] * 9, classes=tight.classes).play(tight.thresholds[None]).gains[0]
        assert gains.mean() - 2 * gains.std() / len(gains) ** 0.5 > 0, (name, gains.mean() / HANDS)


@pytest.mark.parametrize("name", SHIPPED)
def test_those_that_ship_sit_at_tables_of_ten(name: str) -> None:
    game = make("holdem(players=10)")
    state = game.start().deal(Rng(1))
    assert np.isclose(sum(load(name, game).think(state.view(2), Rng(1)).probabilities.values()), 1)
    assert name in opponents(game)
    assert name not in opponents(make("holdem"))
    assert (agents()[name].__doc__ or "").startswith("Hold'em at tables of ten, bred by co-evolution: ")
