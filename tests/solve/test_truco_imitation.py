"""A strategy read off games is what was played in them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tapete import Record, Rng, TapeteError, make
from tapete.solve.truco import blueprint
from tapete.solve.truco.abstraction import PLACES, tables
from tapete.solve.truco.imitation import counted, likely
from tapete.solve.truco.knowledge import Knowledge, knowledge
from tapete.solve.truco.training import Training, shares
from tapete.solve.truco.uniform import uniform
from tests.conftest import Tapete


@pytest.fixture(scope="module")
def known() -> Knowledge:
    return knowledge()


@pytest.fixture(scope="module")
def games() -> list[Record]:
    """Of somebody who makes any legal move, with somebody who plays what is listed first."""
    game, records = make("truco(points=15)"), []
    for number in range(200):
        rng, state, chaos = Rng("seen", number), game.start(), number % 2
        while not state.deal(rng).over:
            legal = state.actions()
            state.apply(rng.choice(legal) if state.player == chaos else legal[0])
        records.append(state.record(*("chaos" if seat == chaos else "order" for seat in range(2))))
    return records


def test_every_choice_is_counted_where_it_was_made(known: Knowledge):
    """Mano goes on, goes on, and leads; pie calls envido, which mano declines; then pie goes on and plays."""
    record = make("truco").read("1e 4c 7e 5b 7o 6o 7e envido no-quiero 6o").record("mano", "pie")
    found = {
        name: {table: int(counts.sum()) for table, counts in tables(counted([record], name, known)).items()}
        for name in ("mano", "pie")
    }
    assert {table for table, count in found["mano"].items() if count} == {"call", "bet_leading", "lead0", "reply"}
    assert {table for table, count in found["pie"].items() if count} == {"call", "bet_following", "follow0"}
    assert {*found["mano"].values(), *found["pie"].values()} == {0, 1}


def test_random_play_is_seen_to_be_random(games: list[Record], known: Knowledge):
    counts = tables(counted(games, "chaos", known))
    for name in ("call", "lead0", "follow0"):  # where all choices are there for everybody
        seen = counts[name]
        assert seen.sum() > 200
        expected = shares(tables(uniform(mazo=False).astype(np.float64))[name]) * seen.sum(axis=-1, keepdims=True)
        axes = tuple(range(seen.ndim - 1))
        off = seen.sum(axis=axes) - expected.sum(axis=axes)
        assert (np.abs(off) <= 4 * np.sqrt(expected.sum(axis=axes) + 1)).all(), name


def test_rows_that_were_not_seen_are_filled_from_those_that_are_alike():
    counts = np.zeros(PLACES, dtype=np.int64)
    reply = tables(counts)["reply"]
    reply[0, 0, :, :, 3, 3, 0] = 1000  # declines at one score, whatever the hand
    reply[0, 0, 5, 0, 3, 3] = (0, 90, 0, 0, 0)
    found = tables(likely(counts))["reply"]
    assert found[0, 0, 5, 1, 3, 3, 0] == 255
    assert found[0, 0, 2, 0, 7, 7, 0] > 250, "as at the score that was seen"
    assert found[0, 0, 5, 0, 3, 3, 1] > 240, "what was seen itself counts most"
    assert found[3, 2, 5, 1, 0, 0, 0] > 250, "whatever was called before"
    assert (tables(likely(counts))["lead0"] == 85).all(), "nothing is known of those"


def test_only_truco_as_it_was_solved_is_looked_at(known: Knowledge, games: list[Record]):
    with pytest.raises(TapeteError, match="nobody plays in none of the games"):
        counted(games, "nobody", known)
    for name in ("kuhn", "truco(flor=true)"):
        with pytest.raises(TapeteError, match="without flor and buenas"):
            counted([make(name).start().record("a", "b")], "a", known)


def test_a_stranger_is_met_now_and_then(tmp_path: Path, known: Knowledge):
    """Who learns to meet somebody who declines everything learns something else, and his average is his own."""
    declines = uniform(mazo=False)
    tables(declines)["reply"][..., 1:] = 0
    blueprint.write(tmp_path / "declines.safetensors", declines, known, game="truco", hands=0)
    runs = [
        Training(make("truco"), seed=4),
        Training(make("truco"), seed=4, stranger=tmp_path / "declines.safetensors", strangers=0.1),
    ]
    for run in runs:
        run.epoch(2000)
    assert (runs[0].regrets != runs[1].regrets).any()
    accepted = [tables(run.sums)["reply"][..., 1:].sum() for run in runs]
    assert accepted[1] > 0.5 * accepted[0], "what the stranger does is not learned"


# The command


def test_a_strategy_is_read_off_a_match(tapete: Tapete, tmp_path: Path):
    match, save = tmp_path / "match.json", tmp_path / "seen.safetensors"
    assert tapete("match", "truco(points=15)", "random", "ismcts(2)", "-n", "4", "--out", str(match)).status == 0
    done = tapete("imitate", str(match), "ismcts(2)", "--save", str(save))
    assert done.status == 0
    assert "choices seen" in done.out
    steps, _, about = blueprint.read(save)
    assert about["hands"] == 0
    assert steps.any()
    done = tapete("imitate", str(match), "ismcts(3)", "--save", str(save))
    assert (done.status, done.err) == (2, "tapete: ismcts(3) plays in none of the games\n")
    match.write_text(json.dumps({"records": [{"moves": 3}]}))
    done = tapete("imitate", str(match), "ismcts(2)", "--save", str(save))
    assert done.status == 2
    assert "has no games as `tapete match --out` writes them" in done.err
