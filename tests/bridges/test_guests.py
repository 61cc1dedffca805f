"""OpenSpiel's games as ours: they keep the contract, they are the same games, and nothing goes wrong in silence."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pyspiel
import pytest

from tapete import CHANCE, Record, Rng, TapeteError, make
from tapete.bridges.guests.nodes import Guests, loaded
from tapete.core.names import variants
from tapete.core.players import play, random, random_play
from tapete.core.tables import Tables
from tapete.solve.linear import solve_form
from tapete.solve.sequence_form import SequenceForm
from tapete.testing import check_game, check_redeal, check_tree
from tests.oracles.spiel import expect_same_tree

PHANTOM = "openspiel(phantom_ttt)"


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "leduc_poker", "tic_tac_toe", "liars_dice", "goofspiel(num_cards=3,imp_info=True)"]
)
def test_a_guest_keeps_the_contract(name: str) -> None:
    check_game(f"openspiel({name})", games=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["phantom_ttt(obstype=reveal-numturns)", "goofspiel(num_cards=4)", "leduc_poker"])
def test_a_guest_keeps_the_contract_for_longer(name: str) -> None:
    check_game(f"openspiel({name})", games=2)


def test_a_small_guest_keeps_it_over_its_whole_tree() -> None:
    check_tree("openspiel(kuhn_poker)")
    check_redeal("openspiel(kuhn_poker)", infosets=10, samples=1000)


@pytest.mark.parametrize(("name", "sets"), [("kuhn_poker", 12), ("tiny_hanabi", 8)])
def test_a_guest_is_the_same_game(name: str, sets: int) -> None:
    """Movers, moves, probabilities, payoffs, and information sets one to one, state by state."""
    assert expect_same_tree(f"openspiel({name})", pyspiel.load_game(name)) == sets


def test_moves_at_the_same_time_become_moves_one_after_another() -> None:
    game = make("openspiel(matrix_rps)")
    state = game.start()
    assert (state.player, state.actions()) == (0, [0, 1, 2])
    keys = {state.copy().apply(action).infoset(1) for action in state.actions()}
    assert len(keys) == 1  # what the first chose is kept from the second
    assert state.copy().apply(0).apply(1).returns() == [-1.0, 1.0]


def test_a_phantom_game_tells_a_mover_exactly_what_openspiel_does() -> None:
    """Random games of a game in which nobody hears how often the other tried; and so do its worlds."""
    game, rng = make(PHANTOM), Rng(3)
    texts: dict[int, str] = {}
    keys: dict[tuple[int, str], int] = {}
    for _ in range(12):
        state, peer = game.start(), pyspiel.load_game("phantom_ttt").new_initial_state()
        while not state.over:
            seat = state.player
            text = peer.information_state_string(seat)
            assert texts.setdefault(state.infoset(seat), text) == text
            assert keys.setdefault((seat, text), state.infoset(seat)) == state.infoset(seat)
            if len(state.history or []) in (4, 7):
                for _ in range(5):
                    world = state.view(seat).sample(rng)
                    length = int(game.record(world.data)["length"])
                    actions = game.record(world.data)["moves"][:length].tolist()
                    assert replayed("phantom_ttt", actions).information_state_string(seat) == text
            action = rng.choice(state.actions())
            state.apply(action)
            peer.apply_action(action)
        assert state.returns() == peer.returns()


def replayed(name: str, actions: list[int]) -> pyspiel.State:
    state = pyspiel.load_game(name).new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


@pytest.mark.parametrize("history", [[4, 0], [4, 4, 0]])
def test_worlds_of_a_phantom_game_differ_in_what_the_other_tried(history: list[int]) -> None:
    """The second player took a corner at once, or after it had tried the middle, which is taken."""
    game = make(PHANTOM)
    state = game.replay(history)
    assert state.player == 0
    records = [game.record(state.view(0).sample(Rng(i)).data) for i in range(200)]
    worlds = {tuple(record["moves"][: record["length"]].tolist()) for record in records}
    squares = [square for square in range(9) if square != 4]
    assert worlds == {(4, square) for square in squares} | {(4, 4, square) for square in squares}


SKEWED = """EFG 2 R "skewed" { "one" "two" } ""
c "" 1 "" { "usual" 0.9 "rare" 0.1 } 0
p "" 1 1 "" { "l" "r" } 0
t "" 1 "" { 1 -1 }
t "" 2 "" { -1 1 }
p "" 1 1 "" { "l" "r" } 0
t "" 3 "" { 2 -2 }
t "" 4 "" { -2 2 }
"""


def test_worlds_come_as_often_as_chance_makes_them(tmp_path) -> None:
    """A coin that falls on one side nine times in ten, unseen; within 4 standard errors."""
    file = tmp_path / "skewed.efg"
    file.write_text(SKEWED)
    game = make(f"openspiel(efg_game(filename={file}))")
    state = game.start().deal(Rng(1))
    worlds = [game.record(state.view(0).sample(Rng(i)).data)["moves"][0] for i in range(1000)]
    usual = game.start().actions()[0]
    assert abs(np.mean(np.equal(worlds, usual)) - 0.9) < 4 * np.sqrt(0.09 / 1000)


def test_our_solver_finds_the_value_of_their_kuhn() -> None:
    assert solve_form(SequenceForm.of(make("openspiel(kuhn_poker)"))).value == pytest.approx(-1 / 18)


def test_kernels_on_two_threads_play_the_same_games() -> None:
    game = make("openspiel(kuhn_poker)")
    one, two = (play(game, [random, random], 5000, Rng(1), threads=threads) for threads in (1, 2))
    assert (one.returns == two.returns).all()
    assert abs(one.returns.sum()) < 1e-9
    assert np.isfinite(one.returns).all()


def test_tables_of_guests_pay_what_openspiel_pays() -> None:
    tables = Tables(make("openspiel(kuhn_poker)"), 8, Rng(1))
    while tables.games.sum() < 50:
        tables.check(tables.sample())
        tables.step(tables.sample())
        paid = tables.rewards[tables.over]
        assert set(np.abs(paid).reshape(-1).tolist()) <= {1.0, 2.0}
    assert tables.observe().shape == (8, 11)


def test_a_guest_travels_and_is_recorded() -> None:
    game = make("openspiel(liars_dice(numdice=1))")
    again = pickle.loads(pickle.dumps(game))
    assert again == game
    state = again.start().deal(Rng(1))
    while not state.over:
        state.apply(Rng(len(state.history or [])).choice(state.actions())).deal(Rng(2))
    record = Record.from_text(state.record("a", "b").to_text())
    assert record.game == "openspiel(liars_dice(numdice=1))"
    assert record.make().replay(list(state.history or [])) == state


def test_an_error_inside_of_a_kernel_is_raised_at_the_next_use(monkeypatch) -> None:
    """Nothing can be raised through a kernel: the game ends there without payoffs, and nobody takes it for a draw."""
    game = make("openspiel(tic_tac_toe)")
    real = Guests.node

    def fails(self: Guests, history: bytes) -> object:
        if len(history) == 12:
            raise RuntimeError("three moves are enough")
        return real(self, history)

    with monkeypatch.context() as patched:
        patched.setattr(Guests, "node", fails)
        played = random_play(game, 5, Rng(1))
        assert np.isnan(played.returns).all()
        with pytest.raises(TapeteError, match=r"openspiel\(tic_tac_toe\): three moves are enough"):
            game.start()
    assert np.isfinite(random_play(game, 5, Rng(1)).returns).all()  # what was raised is forgotten


def test_an_illegal_move_in_a_kernel_ends_the_game_with_an_error() -> None:
    tables = Tables(make("openspiel(tic_tac_toe)"), 1, Rng(1), restart=False)
    with pytest.raises(TapeteError, match="action 77 can't be played here"):
        tables.step(np.array([77], dtype=np.int32))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("openspiel(kuhn_pokr)", "did you mean 'kuhn_poker'"),
        ("openspiel", "is not a name; write openspiel"),
        ("openspiel()", "is not a name; write openspiel"),
        ("openspiel(kuhn_poker", "is not a name; write openspiel"),
        ("openspiel(kuhn_poker(players=99))", "OpenSpiel can't load"),
        ("openspiel(mfg_crowd_modelling)", "can't be listed one after another"),
    ],
)
def test_a_name_that_means_nothing_is_refused_in_one_line(name: str, why: str) -> None:
    with pytest.raises(TapeteError, match=why) as error:
        make(name)
    assert "\n" not in str(error.value)


def test_guests_are_on_no_list_and_other_games_need_no_openspiel() -> None:
    assert "openspiel" not in variants()
    code = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "from tapete import make, TapeteError\n"
        "print(make('kuhn').spec.title)\n"
        "try: make('openspiel(kuhn_poker)')\n"
        "except TapeteError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "Kuhn poker",
        "pyspiel is not installed; `pip install tapete[openspiel]` brings it",
    ]


def test_chance_of_a_guest_is_openspiels() -> None:
    state = make("openspiel(leduc_poker)").start()
    assert state.player == CHANCE
    assert dict(state.outcomes()) == dict(loaded("leduc_poker").root.state.chance_outcomes())
