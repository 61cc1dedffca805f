"""Our games in OpenSpiel: its own checks and algorithms run on them, and what it is told is what our seats know."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import exploitability, ismcts, mcts
from open_spiel.python.pytorch import nfsp

from tapete import IllegalAction, TapeteError, make
from tapete.bridges.openspiel import PREFIX, OurGame
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.game import State, View
from tapete.core.names import needs_parameters, playable, usage, variants

SMALL = ["kuhn", "leduc", "rps", "dudo(faces=3)", "goofspiel(cards=3)"]


def load(name: str, **parameters: object) -> OurGame:
    return pyspiel.load_game(PREFIX + name, parameters) if parameters else pyspiel.load_game(PREFIX + name)


def test_every_game_is_registered() -> None:
    theirs = {name.removeprefix(PREFIX) for name in pyspiel.registered_names() if name.startswith(PREFIX)}
    assert theirs == set(variants())


@pytest.mark.parametrize("name", playable())
def test_random_games_pass_openspiels_own_test(name: str) -> None:
    pyspiel.random_sim_test(load(name), num_sims=2, serialize=True, verbose=False)


def test_a_matrix_game_from_a_file_does_too(tmp_path) -> None:
    file = tmp_path / "coin.csv"
    file.write_text("1,-1\n-1,1\n")
    assert needs_parameters(variants()["matrix"].spec)
    pyspiel.random_sim_test(load("matrix", file=str(file)), num_sims=2, serialize=False, verbose=False)
    with pytest.raises(TapeteError, match="needs file"):
        load("matrix")


def test_parameters_arrive() -> None:
    for game, ours in (
        (load("truco(points=15,hand=true)"), "truco(points=15,hand=true)"),
        (load("holdem", players=3, rake=0.05), "holdem(players=3,rake=0.05)"),
        (load("goofspiel(prizes=descending,cards=4)"), "goofspiel(cards=4,prizes=descending)"),
    ):
        assert game.ours == make(ours), usage("truco", variants()["truco"].spec)
        assert game.num_players() == game.ours.players
    with pytest.raises(TapeteError, match="15 or 30"):
        load("truco(points=16)")


@pytest.mark.parametrize("name", SMALL)
def test_over_the_whole_tree_openspiel_is_told_the_same_game(name: str) -> None:
    """Who moves, what may be done and how likely it is, what is paid; strings stand one to one for our sets."""
    game = load(name)
    strings: dict[tuple[int, str], int] = {}
    sets: dict[tuple[int, int], str] = {}

    def walk(ours: State, theirs: pyspiel.State) -> None:
        who = {CHANCE: pyspiel.PlayerId.CHANCE, TERMINAL: pyspiel.PlayerId.TERMINAL}.get(ours.player, ours.player)
        assert theirs.current_player() == who
        assert theirs.returns() == ours.returns()
        assert theirs.legal_actions() == ours.actions()
        if ours.player == CHANCE:
            assert theirs.chance_outcomes() == ours.outcomes()
        for seat in range(game.num_players()):
            text, key = theirs.information_state_string(seat), ours.infoset(seat)
            assert strings.setdefault((seat, text), key) == key, f"{text} stands for two sets"
            assert sets.setdefault((seat, key), text) == text, f"one set is called {text} and {sets[seat, key]}"
            assert theirs.observation_string(seat) == ours.game.describe(ours.data, seat)
            numbers = View(ours.game, ours.data, seat).observation()
            assert (np.array(theirs.observation_tensor(seat), dtype=np.float32)[: len(numbers)] == numbers).all()
        for action in ours.actions():
            assert theirs.action_to_string(action) == ours.write(action)
            walk(ours.copy().apply(action), theirs.child(action))

    walk(make(name).start(), game.new_initial_state())
    assert len(sets) > 2


def test_a_clone_goes_its_own_way_and_carries_one_object() -> None:
    state = load("leduc").new_initial_state()
    state.apply_action(0)
    twin = state.clone()
    assert vars(twin).keys() == {"data"}
    assert twin.data is state.data  # bytes: they can't change
    twin.apply_action(1)
    assert state.history() == [0]
    assert twin.history() == [0, 1]
    assert str(state) != str(twin)
    assert str(twin) == str(state.child(1))


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    state = load("kuhn").new_initial_state()
    for action in (0, 1):
        state.apply_action(action)
    before = state.data
    with pytest.raises(IllegalAction, match="action 7"):
        state.apply_action(7)
    assert state.data == before


def test_observers_have_the_fields_of_the_spec() -> None:
    game = load("leduc")
    state = game.new_initial_state()
    for card in (0, 3):
        state.apply_action(card)
    observer = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=False))
    observer.set_from(state, 1)
    assert observer.dict["seat"].tolist() == [0, 1]
    assert observer.dict["card"].argmax() == 3
    assert observer.dict["line"].shape == (2, 4, 3)
    everybody = game.make_py_observer(
        pyspiel.IIGObservationType(perfect_recall=True, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS)
    )
    everybody.set_from(state, 0)
    assert everybody.tensor.tolist() == [*state.observation_tensor(0), *state.observation_tensor(1)]
    assert everybody.string_from(state, 0).splitlines() == [state.information_state_string(seat) for seat in (0, 1)]
    for kind in (
        pyspiel.IIGObservationType(perfect_recall=True, public_info=False),
        pyspiel.IIGObservationType(perfect_recall=True, private_info=pyspiel.PrivateInfoType.NONE),
    ):
        with pytest.raises(TapeteError, match="both together"):
            game.make_py_observer(kind)


def test_resampled_worlds_are_those_of_redeal() -> None:
    """All cards that the other may hold come out, and the seat can't tell the worlds apart."""
    state = load("leduc").new_initial_state()
    for action in (0, 3, 2):
        state.apply_action(action)
    sampler = pyspiel.UniformProbabilitySampler(1, 0.0, 1.0)
    worlds = [state.resample_from_infostate(1, sampler) for _ in range(200)]
    assert {world.information_state_string(1) for world in worlds} == {state.information_state_string(1)}
    cards = {np.argmax(world.observation_tensor(0)[2:8]) for world in worlds}
    assert cards == {0, 1, 2, 4, 5}


def test_mccfr_finds_the_same_policy_as_on_openspiels_own_leduc() -> None:
    """The trees are alike, and so are the random numbers of the C++ solver: the results are the same numbers."""
    found = []
    for name in (PREFIX + "leduc", "leduc_poker"):
        game = pyspiel.load_game(name)
        solver = pyspiel.ExternalSamplingMCCFRSolver(game, 7)
        for _ in range(1000):
            solver.run_iteration()
        found.append(pyspiel.nash_conv(game, solver.average_policy(), True))
    assert found[0] == found[1]
    assert 1 < found[0] < 3  # it has learned something, and is no equilibrium yet


def test_openspiels_ismcts_plays_matches_of_truco() -> None:
    game, rng, decisions = load("truco(points=15)"), np.random.RandomState(1), 0
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, rng), 1.4, 8, random_state=rng)
    while decisions <= 3:  # a falta envido may end a match at once, and what our redeal draws has no seed here
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, probs = zip(*state.chance_outcomes(), strict=True)
                action = rng.choice(outcomes, p=probs)
            elif state.current_player() == 0:
                action, decisions = bot.step(state), decisions + 1
            else:
                action = rng.choice(state.legal_actions())
            state.apply_action(int(action))
        assert sorted(state.returns()) == [-1, 1]


def test_openspiels_ismcts_finds_the_best_answer_to_a_bet() -> None:
    """In Kuhn poker who holds the king calls a bet, and who holds the jack folds."""
    game, rng = load("kuhn"), np.random.RandomState(1)
    for cards, answer in (((0, 2), "bet"), ((2, 0), "pass")):
        bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, rng), 2.0, 200, random_state=rng)
        state = game.new_initial_state()
        for action in (*cards, 1):
            state.apply_action(action)
        assert state.action_to_string(int(bot.step(state))) == answer


def test_openspiels_nfsp_runs_on_kuhn() -> None:
    """Some hundred episodes on our observations and masks, with updates; how well it plays by then is not asked."""
    env = rl_environment.Environment(load("kuhn"))
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    assert size == make("kuhn").spec.observation_size
    agents = [
        nfsp.NFSP(
            player_id=seat, state_representation_size=size, num_actions=actions, hidden_layers_sizes=[16],
            reservoir_buffer_capacity=2000, anticipatory_param=0.1, batch_size=32, min_buffer_size_to_learn=32,
            learn_every=16, seed=seat,
        )
        for seat in range(2)
    ]  # fmt: skip
    for _ in range(300):
        step = env.reset()
        while not step.last():
            player = step.observations["current_player"]
            step = env.step([agents[player].step(step).action])
        for agent in agents:
            agent.step(step)
        assert sorted(step.rewards) in ([-2, 2], [-1, 1])
    losses = [agent.loss for agent in agents]
    assert all(np.isfinite(loss).all() for pair in losses for loss in pair if loss is not None)
    assert any(loss is not None for pair in losses for loss in pair)


def test_python_exploitability_of_our_kuhn_is_theirs() -> None:
    from open_spiel.python import policy

    ours, theirs = load("kuhn"), pyspiel.load_game("kuhn_poker")
    uniform = [exploitability.nash_conv(game, policy.UniformRandomPolicy(game)) for game in (ours, theirs)]
    assert uniform[0] == pytest.approx(uniform[1], abs=1e-12)


def test_python_ends_quietly_after_the_games_were_registered() -> None:
    code = "import pyspiel, tapete.bridges.openspiel; pyspiel.load_game('python_tapete_kuhn').new_initial_state()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
