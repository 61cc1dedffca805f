"""Hold'em of two with hands in buckets: the betting, the buckets, what is learned, and its files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tapete.agents import load
from tapete.core import Rng, TapeteError, make
from tapete.core.arrays import write_arrays
from tapete.games.holdem.preflop import STARTS, start_name
from tapete.games.holdem.rules import FOLD, RAISE
from tapete.solve.holdem.buckets import BUCKETS, FORMAT, LATER, MOVES, NUMBERS, STEPS, Bucketed
from tapete.solve.holdem.training import Training, _number, _sample, betting
from tapete.testing import check_player
from tests.conftest import Tapete

GAME = make("holdem")


@pytest.fixture(scope="module")
def trained() -> Training:
    training = Training(GAME, seed=1)
    for _ in range(4):
        training.epoch(1500)
    return training


def test_the_betting_has_6378_decisions_and_each_a_number_of_its_own() -> None:
    """By hand: 8 decisions before the flop and 7 ways on; 10 on every later street and 9 ways on."""
    tree, begins = betting(GAME)
    assert len(tree.mover) == 6378
    assert [int((tree.street == street).sum()) for street in range(4)] == [8, 70, 630, 5670]
    places = np.flatnonzero(begins)
    assert len(places) == 6377, "all but the first row have begins above 0"
    assert len(set(begins[places].tolist())) == 6377
    assert tree.begin[-1] + BUCKETS[tree.street[-1]] == BUCKETS[tree.street].sum()


def test_a_number_tells_the_betting_and_nothing_else() -> None:
    seen: dict[int, tuple[object, ...]] = {}
    for seed in range(300):
        rng, state = Rng(seed), GAME.start()
        said: list[tuple[int, int]] = []
        while not state.deal(rng).over:
            key = (state.player, *said)
            number = int(_number(state.data))
            assert 0 <= number < NUMBERS
            assert seen.setdefault(number, key) == key
            action = rng.choice(state.actions())
            said.append((int(GAME.record(state.data)["street"]), action))
            state.apply(action)
    assert len(seen) > 200


def test_buckets_are_equally_full(trained: Training) -> None:
    worths = np.zeros((3, 4000), dtype=np.float32)
    _sample(4000, Rng("other").words, trained.room, worths)
    for street in range(3):
        share = np.bincount(np.searchsorted(trained.edges[street], worths[street]), minlength=LATER) / 4000
        assert share.max() < 3 / LATER
        assert (np.diff(trained.edges[street]) >= 0).all()


def test_it_learns_to_play_good_hands_and_to_fold_bad_ones(trained: Training) -> None:
    first = trained.strategy().probs[:STARTS] / STEPS  # what the small blind does, by starting hand
    names = [start_name(start) for start in range(STARTS)]
    good = [names.index(name) for name in ("AA", "KK", "QQ", "JJ", "TT", "AKs", "AKo", "AQs")]
    bad = [names.index(name) for name in ("72o", "32o", "62o", "42o", "52o", "82o", "73o", "83o")]
    assert first[good, RAISE].mean() > 0.6 > first[bad, RAISE].mean()
    assert first[bad, FOLD].mean() > first[good, FOLD].mean() + 0.2
    probs = trained.strategy().probs.astype(int).sum(axis=1)
    assert set(probs[probs > 0].tolist()) <= {126, 127, 128}


def test_it_sees_its_own_cards_only(trained: Training) -> None:
    check_player(lambda: trained.strategy().evaluator(GAME), "holdem", games=6)


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    whole, first = Training(GAME, seed=2), Training(GAME, seed=2)
    for _ in range(2):
        whole.epoch(50)
    first.epoch(50)
    first.save(tmp_path / "run")
    again = Training(GAME, seed=3)
    again.load(tmp_path / "run")
    again.epoch(50)
    assert np.array_equal(again.sums, whole.sums)
    assert np.array_equal(again.regrets, whole.regrets)
    whole.write(tmp_path / "player.safetensors")
    thought = load(str(tmp_path / "player.safetensors"), GAME).think(GAME.start().deal(Rng(1)).view(0), Rng(1))
    assert sum(thought.probabilities.values()) == pytest.approx(1)


def test_broken_files_and_other_games_are_refused(tmp_path: Path, tapete: Tapete) -> None:
    arrays = {
        "begins": np.full(NUMBERS, 10**9), "edges": np.zeros((3, LATER - 1), dtype=np.float32),
        "probs": np.zeros((1000, MOVES), dtype=np.int8),
    }  # fmt: skip
    write_arrays(tmp_path / "far.safetensors", arrays, {"format": FORMAT, "about": {}})
    with pytest.raises(TapeteError, match="do not fit"):
        Bucketed.load(tmp_path / "far.safetensors")
    write_arrays(tmp_path / "few.safetensors", {"begins": arrays["begins"]}, {"format": FORMAT, "about": {}})
    with pytest.raises(TapeteError, match="not a strategy of hold'em by buckets"):
        Bucketed.load(tmp_path / "few.safetensors")
    with pytest.raises(TapeteError, match="of holdem for two"):
        Training(make("holdem(players=3)"), seed=1)
    assert tapete("blueprint", "holdem(rake=0.05)", "--run", str(tmp_path / "run")).status == 2
