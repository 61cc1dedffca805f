"""Whole games inside one kernel, against the same games played move by move in Python."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import tapete
from tapete import CHANCE, Game, Rng, State, TapeteError
from tapete.agents.compiled import Compiled
from tapete.arena import match
from tapete.core import calls
from tapete.core.evaluator import Evaluator, MakeEvaluator
from tapete.core.players import CHUNK, SEAT, opinion, play, random, random_play, share_out
from tapete.search import playouts
from tapete.testing import BrokenContract, check_player
from tests.core.players import first_move, knowing, last_move, peeking, shouting, spoiling, stubborn

WORD = (1 << 64) - 1


def mixed(key: int, value: int) -> int:
    """`tapete.core.rng.mix`, in whole numbers of Python."""
    z = (key * 0xD1342543DE82EF95 + value + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def stream(rng: Rng, deal: int, label: int) -> Rng:
    start = mixed(mixed(int(rng.words[0]), deal), label)
    named = Rng("by hand")
    named.words[:] = [mixed(start, i) for i in range(4)]
    return named


def drawn(probabilities: list[float], rng: Rng) -> int:
    left = rng.uniform()
    for i, probability in enumerate(probabilities):
        left -= probability
        if left < 0:
            return i
    return int(np.argmax(probabilities))


def by_hand(game: Game, players: list[Evaluator], lineup: tuple[int, ...], deal: int, rng: Rng) -> list[float]:
    state, events = game.start(), 0
    seats = [stream(rng, deal, SEAT + seat) for seat in range(game.players)]
    while not state.over:
        if state.player == CHANCE:
            state.apply(int(calls.draw(game.rulebook, state.data, stream(rng, deal, events).words)))
            events += 1
        else:
            seat, legal = state.player, state.actions()
            player = players[lineup[seat]]
            if player.function is None:
                state.apply(legal[seats[seat].below(len(legal))])
            elif len(legal) == 1:
                state.apply(legal[0])
            else:
                said = opinion(player, state.view(seat))
                state.apply(legal[drawn([float(np.float32(said[action])) for action in legal], seats[seat])])
    return state.returns()


@pytest.mark.parametrize("name", ["kuhn", "leduc", "domino(3,3)", "holdem(players=3)", "doudizhu", "othello(size=4)"])
def test_a_kernel_plays_what_is_played_by_hand(name: str) -> None:
    game, rng = tapete.make(name), Rng(7, name)
    makers: list[MakeEvaluator] = [knowing, random, last_move]
    lineups = [(0, 1, 2)[: game.players], (2, 0, 1)[: game.players], (1, 1, 1)[: game.players]]
    played = play(game, makers, 12, rng, first=5, lineups=lineups)
    players = [make() for make in makers]
    expected = [[by_hand(game, players, lineup, deal, rng) for lineup in lineups] for deal in range(5, 17)]
    assert played.returns.tolist() == expected


def test_a_deal_is_the_same_deal_whoever_plays_it_and_when() -> None:
    game, rng = tapete.make("leduc"), Rng(3)
    all_of_them = play(game, [knowing, random], 40, rng)
    part = play(game, [knowing, random], 10, rng, first=25)
    assert (all_of_them.returns[25:35] == part.returns).all()
    pair = play(game, [knowing, first_move], 40, rng, lineups=[(0, 0), (1, 1), (0, 0)])
    assert (pair.returns[:, 0] == pair.returns[:, 2]).all()
    assert (pair.returns[:, 0] != pair.returns[:, 1]).any()
    assert (play(game, [knowing, random], 40, Rng(4)).returns != all_of_them.returns).any()


def test_who_plays_himself_is_even_with_himself() -> None:
    game = tapete.make("holdem(players=4)")
    lineups = [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)]
    played = play(game, [random, random], 200, Rng(1), lineups=lineups)
    assert (played.returns == played.returns[:, :1]).all()
    assert played.returns.any()


@pytest.mark.parametrize("duplicate", [True, False])
def test_results_do_not_depend_on_threads(duplicate: bool) -> None:
    game = tapete.make("kuhn")
    one, three = (
        play(game, [knowing, random], 35 * CHUNK + 5, Rng(1), duplicate=duplicate, threads=threads)
        for threads in (1, 3)
    )
    assert (one.returns == three.returns).all()
    assert one[1:] == three[1:]


@pytest.mark.parametrize("duplicate", [False, True])
def test_payoffs_that_are_not_kept_are_added_up(duplicate: bool) -> None:
    game, lineups = tapete.make("kuhn"), [(0, 1), (1, 0), (1, 1)]
    deals = 17 * CHUNK + 5
    kept, added, threaded = (
        play(game, [knowing, random], deals, Rng(1), lineups=lineups, duplicate=duplicate, keep=keep, threads=threads)
        for keep, threads in ((True, 1), (False, 1), (False, 3))
    )
    assert added.returns.shape == (1, 3, 2)
    assert (added.returns == kept.returns.sum(axis=0)).all()
    assert (threaded.returns == added.returns).all()
    assert kept[1:] == added[1:] == threaded[1:]


@pytest.mark.parametrize("threads", [1, 3])
def test_work_that_fails_in_a_thread_fails_for_all(threads: int) -> None:
    done = []

    def work(thread: int, item: int) -> None:
        if item == 5:
            raise TapeteError("the sixth is bad")
        done.append(item)

    with pytest.raises(TapeteError, match="the sixth is bad"):
        share_out(work, range(threads), range(10))
    assert set(done) >= {0, 1, 2, 3, 4}


def test_random_play_is_the_same_for_the_same_seed() -> None:
    game = tapete.make("truco")
    one, two, three = (random_play(game, 20, Rng(seed)) for seed in (1, 1, 2))
    assert (one.returns == two.returns).all()
    assert one[1:] == two[1:] != three[1:]
    assert one.returns.sum() == 0
    kept = play(game, [random, random], 20, Rng(1), duplicate=False)
    assert (kept.returns.sum(axis=0) == one.returns[0]).all()
    assert kept[1:] == one[1:]


def test_counts_are_those_of_the_game() -> None:
    assert random_play(tapete.make("rps"), 50, Rng(1))[1:] == (100, 100)
    played = play(tapete.make("kuhn"), [first_move, first_move], 50, Rng(1))  # pass, pass
    assert played[1:] == (100, 200)


def test_a_player_takes_moves_as_often_as_it_says() -> None:
    """Over many deals, at the first decision of rock-paper-scissors: probabilities in proportion to 1, 2 and 3."""
    game = tapete.make("rps")
    said = opinion(knowing(), game.start().view(0))
    assert sorted(said.values()) == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    played = play(game, [knowing, partial(stubborn, 0)], 6000, Rng(2)).returns[:, 0, 0]
    for action, probability in said.items():
        payoff = game.start().apply(action).apply(0).returns()[0]
        assert np.mean(played == payoff) == pytest.approx(probability, abs=0.03)


def test_opinions_are_those_of_the_seat() -> None:
    state: State = tapete.make("kuhn").read("J Q pass")
    assert opinion(random(), state.view(1)) == {0: 0.5, 1: 0.5}
    assert opinion(first_move(), state.view(1)) == {0: 1.0, 1: 0.0}
    assert opinion(last_move(), state.view(1)) == {0: 0.0, 1: 1.0}


def test_what_does_not_fit_is_refused() -> None:
    game = tapete.make("kuhn")
    for lineups in ([(0, 1, 0)], [(0, 2)], [(0, -1)]):
        with pytest.raises(TapeteError, match="a lineup names one of 2 players for each of the 2 seats"):
            play(game, [random, random], 3, Rng(1), lineups=lineups)
    with pytest.raises(TapeteError, match="judges states and not moves"):
        play(game, [random, playouts], 3, Rng(1))
    with pytest.raises(TapeteError, match="can't play -1 deals"):
        play(game, [random, random], -1, Rng(1))
    assert play(game, [random, random], 0, Rng(1)).returns.shape == (0, 1, 2)


def test_a_compiled_player_is_a_policy_like_any_other() -> None:
    """In a match it does as well as in the kernel: against who always folds or passes, on average."""
    game = tapete.make("leduc")
    result = match(game, lambda game: Compiled(knowing()), lambda game: Compiled(first_move()), games=2000, seed=3)
    played = play(game, [knowing, first_move], 20_000, Rng(3), lineups=[(0, 1), (1, 0)]).returns
    mine = (played[:, 0, 0] + played[:, 1, 1]) / 2
    error = np.hypot(mine.std() / 20_000**0.5, result.payoffs.std() / 1000**0.5)
    assert abs(mine.mean()) > 10 * error
    assert result.mean == pytest.approx(mine.mean(), abs=4 * error)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "truco"])
def test_players_are_found_out(name: str) -> None:
    for honest in (random, first_move, knowing):
        check_player(honest, name, games=5)
    with pytest.raises(BrokenContract, match=r"looks at what seat . can't know"):
        check_player(peeking, name)
    with pytest.raises(BrokenContract, match="are not probabilities"):
        check_player(shouting, name)
    with pytest.raises(BrokenContract, match="has changed the state"):
        check_player(spoiling, name)
