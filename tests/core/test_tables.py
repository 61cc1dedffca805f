"""Many games side by side: against single states, whatever their number, and with compiled players among them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import tapete
from tapete import IllegalAction, Rng, TapeteError
from tapete.core.contract import TERMINAL
from tapete.core.evaluator import Evaluator, MakeEvaluator
from tapete.core.players import random
from tapete.core.tables import Tables
from tests.core.players import first_move, knowing, stubborn

GAMES = [
    "kuhn",
    "leduc",
    "dudo(4,1,2)",
    "domino(3,3)",
    "truco",
    "holdem(players=4)",
    "doudizhu",
    "othello(size=4)",
    "rps",
]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", GAMES)
def test_tables_play_the_same_games_as_single_states(name: str, threads: int) -> None:
    """Every table, stepped at random, is at each moment what the checked way says of its state."""
    game = tapete.make(name)
    tables = Tables(game, 5, Rng(1, name), threads=threads)
    rng, ended = Rng(2, name), 0
    for _ in range(60):
        observations, mask, features = tables.observe(), tables.mask(), tables.features()
        for i, player in enumerate(tables.movers):
            state = tables.state(i)
            view = state.view(int(player))
            assert state.player == player >= 0
            assert tables.legal[i, : tables.counts[i]].tolist() == state.actions() == np.flatnonzero(mask[i]).tolist()
            assert (observations[i, : len(view.observation())] == view.observation()).all()
            assert (features.rows[features.offsets[i] : features.offsets[i + 1]] == view.features()).all()
        assert len(features.rows) == features.offsets[-1] == tables.counts.sum()
        chosen = np.array([rng.choice(tables.state(i).actions()) for i in range(5)], dtype=np.int32)
        tables.check(chosen)
        after = [tables.state(i).apply(int(action)) for i, action in enumerate(chosen)]
        tables.step(chosen)
        for i, state in enumerate(after):
            assert not state.over or tables.over[i]
            if state.player >= 0:
                assert (tables.floor.states[i] == state.data).all()
            if state.over:  # not by a card that chance turned up afterwards
                assert state.returns() == tables.rewards[i].tolist()
                assert (tables.floor.ended[i] == state.data).all()
                ended += 1
            if not tables.over[i]:
                assert not tables.rewards[i].any()
    assert ended > 0 or name == "truco"


@pytest.mark.parametrize("name", ["leduc", "doudizhu", "holdem(players=4)"])
def test_any_seat_can_be_asked_what_it_sees(name: str) -> None:
    game = tapete.make(name)
    tables = Tables(game, 4, Rng(3))
    for step in range(30):
        seats = [(i + step) % game.players for i in range(4)]
        for asked in (seats, seats[0]):
            rows = tables.observe(asked)
            for i in range(4):
                seat = asked if isinstance(asked, int) else asked[i]
                wanted = tables.state(i).view(seat).observation()
                assert (rows[i, : len(wanted)] == wanted).all()
        tables.step(tables.sample())


def test_observations_are_written_where_the_caller_wants_them() -> None:
    tables = Tables(tapete.make("leduc"), 5, Rng(3), threads=2)
    for _ in range(20):
        own = tables.observe().copy()
        other = np.full(own.shape, 7, dtype=np.float32)
        assert tables.observe(out=other) is other
        assert (other == own).all()
        assert tables.observe() is not other
        kept = other.copy()
        tables.step(tables.sample())
        tables.observe()
        assert (other == kept).all()


def test_the_last_observation_is_kept_when_the_next_game_has_begun() -> None:
    game = tapete.make("leduc")
    tables = Tables(game, 6, Rng(5))
    kept = 0
    while kept < 20:
        before = [tables.state(i) for i in range(6)]
        chosen = tables.sample().copy()
        tables.step(chosen)
        for i in np.flatnonzero(tables.over):
            state = before[i].apply(int(chosen[i]))
            if not state.over:
                continue  # chance had the last word
            for seat in range(2):
                assert (tables.observe(seat, ended=True)[i] == state.view(seat).observation()).all()
                assert tables.state(int(i)).player == tables.movers[i] >= 0
            kept += 1


def play_on(tables: Tables, steps: int) -> list[bytes]:
    seen = []
    for _ in range(steps):
        tables.step(tables.sample())
        seen.append(tables.floor.states[:8].tobytes() + tables.rewards[:8].tobytes())
    return seen


@pytest.mark.parametrize("name", ["truco", "leduc"])
def test_what_happens_at_a_table_depends_on_no_other_table(name: str) -> None:
    game = tapete.make(name)
    few, many, threaded = (Tables(game, size, Rng(1), threads=t) for size, t in ((8, 1), (17, 1), (8, 4)))
    assert play_on(few, 80) == play_on(many, 80) == play_on(threaded, 80)
    assert play_on(few, 1) != play_on(Tables(game, 8, Rng(2)), 1)


def test_the_cards_do_not_depend_on_how_moves_are_chosen() -> None:
    """Chance has a stream of its own: who samples and who decides otherwise see the same cards."""
    sampled, decided = (Tables(tapete.make("kuhn"), 50, Rng(1), restart=False) for _ in range(2))
    while (sampled.movers != TERMINAL).any():
        sampled.step(sampled.sample())
    while (decided.movers != TERMINAL).any():
        decided.step(decided.legal[:, 0])
    assert (sampled.floor.states != decided.floor.states).any()
    assert (sampled.floor.chance == decided.floor.chance).all()
    assert (sampled.floor.choice != decided.floor.choice).any()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_step_without_actions_makes_those_that_would_be_sampled(threads: int) -> None:
    """At tables that wait for a game to begin, too, and with players who draw from the same stream."""
    for players, restart in (((), True), ((), False), ((None, random), True)):
        drawn, told = (Tables(tapete.make("leduc"), 9, Rng(4), players=players, restart=restart, threads=threads)
                       for _ in range(2))  # fmt: skip
        for _ in range(40):
            drawn.step()
            told.step(told.sample())
            for one, two in zip(drawn.floor, told.floor, strict=True):
                assert (one == two).all() if isinstance(one, np.ndarray) else one == two
        assert drawn.games.min() > 0


def test_actions_that_were_sampled_may_be_changed_before_they_are_made() -> None:
    """They lie where `step` reads them; nothing depends on that."""
    game = tapete.make("truco")
    changed, told = (Tables(game, 7, Rng(1)) for _ in range(2))
    for _ in range(30):
        actions = changed.sample()
        told.sample()
        actions[::2] = changed.legal[::2, 0]
        chosen = actions.copy()
        changed.step(actions)
        told.step(chosen)
        assert (changed.floor.states == told.floor.states).all()
    with pytest.raises(TapeteError, match="7 actions are needed"):
        changed.step(changed.sample()[:5])


def test_without_restart_a_table_waits_for_the_next_game() -> None:
    tables = Tables(tapete.make("kuhn"), 4, Rng(1), restart=False)
    while (tables.movers != TERMINAL).any():
        tables.step(tables.sample())
    assert tables.games.tolist() == [1, 1, 1, 1]
    before = tables.floor.states.copy()
    tables.step(np.zeros(4, dtype=np.int32))
    assert (tables.floor.states == before).all()
    assert not tables.over.any()
    assert not tables.counts.any()
    assert not tables.mask().any()
    assert tables.observe(0).any()
    assert not tables.observe().any()
    assert len(tables.features().rows) == 0
    tables.begin([True, False, False, True])
    assert (tables.movers != TERMINAL).tolist() == [True, False, False, True]
    assert (tables.floor.states[[1, 2]] == before[[1, 2]]).all()


@pytest.mark.parametrize("name", ["kuhn", "leduc", "doudizhu", "holdem(players=4)"])
def test_compiled_players_move_between_the_decisions_of_the_caller(name: str) -> None:
    game = tapete.make(name)
    players = [first_move] * game.players
    tables = Tables(game, 20, Rng(1), players=[None, *players[1:]])
    alone = Tables(game, 20, Rng(1))
    for _ in range(100):
        assert (tables.movers == 0).all()
        tables.step(tables.legal[:, 0])
    while (alone.games < 3).any():  # the same games, every move made by the caller
        alone.step(alone.legal[:, 0])
    assert (tables.games >= 3).all()
    assert (tables.totals.sum(axis=0) != 0).any() or name == "leduc"
    one, two = (Tables(game, 5, Rng(1), players=p, restart=False) for p in ([None, *players[1:]], ()))
    while (one.movers != TERMINAL).any():
        one.step(one.legal[:, 0])
    while (two.movers != TERMINAL).any():
        two.step(two.legal[:, 0])
    assert (one.totals == two.totals).all()
    assert (one.floor.ended == two.floor.ended).all()


@pytest.mark.parametrize("players", [(), (knowing, None)])
def test_games_that_restart_are_those_that_somebody_begins(players: tuple[MakeEvaluator | None, ...]) -> None:
    """With restart, what a step tells is the end of the caller's game, and the totals know of all games."""
    game = tapete.make("holdem")
    restarting = Tables(game, 9, Rng(1), players=players)
    waiting = Tables(game, 9, Rng(1), players=players, restart=False)
    totals, games, unseen = np.zeros((9, 2)), np.zeros(9), 0

    def begin_all() -> int:
        """Begins at tables that wait until the caller has to move everywhere; how often that took more than once."""
        rounds = 0
        while (waits := waiting.movers == TERMINAL).any():
            totals[waits] += waiting.rewards[waits]
            games[waits] += 1
            waiting.begin(waits)
            rounds += 1
            assert not waiting.over[waiting.movers != TERMINAL].any()
            assert not waiting.rewards[waiting.movers != TERMINAL].any()
        return max(rounds - 1, 0)

    begin_all()
    for _ in range(300):
        assert (restarting.floor.states == waiting.floor.states).all()
        chosen = restarting.sample().copy()
        assert (chosen == waiting.sample()).all()
        restarting.step(chosen)
        waiting.step(chosen)
        assert (restarting.over == waiting.over).all()
        assert (restarting.rewards == waiting.rewards).all()
        assert (restarting.floor.ended[restarting.over] == waiting.floor.ended[waiting.over]).all()
        unseen += begin_all()
        assert (restarting.totals == totals).all()
        assert (restarting.games == games).all()
    assert games.min() > 3
    assert (unseen > 0) == bool(players)


def test_games_that_end_before_the_caller_moves_are_counted() -> None:
    """Against who always folds, the second seat of two-handed hold'em rarely has to do anything."""
    game = tapete.make("holdem")
    tables = Tables(game, 8, Rng(1), players=[partial(stubborn, 0), None], restart=False)
    assert (tables.games == (tables.movers == TERMINAL)).all()
    assert (tables.over == (tables.movers == TERMINAL)).all()
    assert (tables.rewards == tables.totals).all()
    with pytest.raises(TapeteError, match="in a row ended before the caller"):
        Tables(game, 1, Rng(1), players=[partial(stubborn, 0), None])


def test_random_players_at_a_table_play_at_random() -> None:
    tables = Tables(tapete.make("rps"), 1000, Rng(1), players=[None, random])
    tables.step(np.zeros(1000, dtype=np.int32))
    counts = np.unique(tables.rewards[:, 0], return_counts=True)[1]
    assert len(counts) == 3
    assert (abs(counts - 1000 / 3) < 75).all()


@pytest.mark.parametrize(("tables", "threads", "made"), [(6, 1, 1), (6, 3, 3), (2, 5, 2)])
def test_every_thread_has_players_of_its_own(tables: int, threads: int, made: int) -> None:
    """Their scratch memory is for one thread; and where there are more threads than tables, some are not needed."""
    players = []

    def player() -> Evaluator:
        players.append(knowing())
        return players[-1]

    asked = Tables(tapete.make("kuhn"), tables, Rng(1), players=[None, player], threads=threads)
    assert len(players) == made
    assert len(asked._crew.threads) == made - 1


def test_tables_refuse_what_does_not_fit() -> None:
    game = tapete.make("kuhn")
    tables = Tables(game, 3, Rng(1))
    before = tables.floor.states.copy()
    with pytest.raises(TapeteError, match="3 actions are needed"):
        tables.step(np.zeros(2, dtype=np.int32))
    with pytest.raises(IllegalAction, match="action 5 can't be played at table 0"):
        tables.check(np.full(3, 5, dtype=np.int32))
    with pytest.raises(TapeteError, match="seats 0 to 1, not 2"):
        tables.observe(2)
    wrong: list[Any] = [np.zeros((3, 8), "f4"), np.zeros((2, 9), "f4"), np.zeros((3, 9)), np.zeros((9, 3), "f4").T]
    for out in wrong:
        with pytest.raises(TapeteError, match=r"an array of float32 \(3, 9\)"):
            tables.observe(out=out)
    with pytest.raises(TapeteError, match="at least one table"):
        Tables(game, 0, Rng(1))
    with pytest.raises(TapeteError, match="2 seats, not 1"):
        Tables(game, 3, Rng(1), players=[None])
    with pytest.raises(TapeteError, match="no seat is left to the caller"):
        Tables(game, 3, Rng(1), players=[random, random])
    assert (tables.floor.states == before).all()


def test_a_step_allocates_nothing() -> None:
    """The arrays that a learner holds are the same objects, at the same addresses, after any number of steps."""
    tables = Tables(tapete.make("doudizhu"), 16, Rng(1))
    for _ in range(200):  # the room for features grows to what is needed
        tables.features()
        tables.step(tables.sample())

    def addresses() -> list[int]:
        held: list[Any] = [tables.movers, tables.legal, tables.counts, tables.rewards, tables.over, *tables.floor[:-3]]
        held += [tables.observe(), tables.mask(), tables.sample(), tables.features().offsets]
        return [array.ctypes.data for array in held]

    before = addresses()
    for _ in range(50):
        tables.step(tables.sample())
    assert addresses() == before
