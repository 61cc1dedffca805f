"""Every agent that is offered for a game: what it thinks is in order, and it knows nothing that it may not know."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tapete.agents import NotForThisGame, Policy, Thought, agents, bytes_of, choose, draw, load, networks, opponents
from tapete.agents.networks import shipped
from tapete.agents.search import Searcher
from tapete.core import Game, Rng, State, TapeteError, View, make
from tapete.core.names import playable
from tapete.nets import Network
from tapete.nets.zoo import residual
from tapete.search import ISMCTS, MCTS, Budget

GAMES = [name for name in playable() if name not in ("battle", "benefit", "dilemma", "monopoly", "pennies")]
SLOW = ("best(5)", "mcts(10000)", "ismcts(10000)", "ntuple(10000)", "mcts-value(1000)", "zero(1000)", "dmc(1000)")


def some_states(game: Game, number: int) -> list[State]:
    """Where a player has a choice, after random play."""
    rng = Rng(str(game), "some")
    found: list[State] = []
    while len(found) < number:
        state = game.start().deal(rng)
        for _ in range(rng.below(min(game.spec.longest, 40))):
            if not state.over:
                state.apply(rng.choice(state.actions())).deal(rng)
        if not state.over:
            found.append(state)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_thoughts_are_in_order_and_depend_on_nothing_hidden(name: str) -> None:
    game = make(name)
    offered = [text for text in opponents(game) if text not in SLOW]
    assert "random" in offered
    for text in offered:
        for state in some_states(game, 2):
            seat = state.player
            other = state.view(seat).sample(Rng(text, "other"))
            here, there = (load(text, game).think(world.view(seat), Rng(text)) for world in (state, other))
            assert here == there, f"{text} can tell worlds apart that look the same to its seat"
            legal = state.actions()
            assert sorted(here.probabilities) == legal
            assert sum(here.probabilities.values()) == pytest.approx(1)
            assert set(here.values) | set(here.visits) <= set(legal)
            low, high = game.spec.utility
            assert all(low - 1e-6 <= value <= high + 1e-6 for value in here.values.values())
            assert choose(load(text, game), state.view(seat), Rng(1)) in legal


def test_the_best_there_is_has_levels() -> None:
    for level in range(1, 6):
        assert isinstance(load(f"best({level})", make("othello")), Searcher)
    assert not isinstance(load("best", make("kuhn")), Searcher), "kuhn is solved"
    assert isinstance(load("best(4)", make("kuhn")), Searcher)
    for wrong in ("best(0)", "best(6)"):
        with pytest.raises(TapeteError, match="between 1 and 5"):
            load(wrong, make("kuhn"))


def exact_of(policy: Policy) -> bool:
    assert isinstance(policy, Searcher)
    return policy.exact


def test_perfect_play_takes_over_near_the_end_of_othello() -> None:
    game = make("othello")
    rng = Rng("end")
    state = game.start()
    while not state.over and bin(int.from_bytes(state.data[:16].tobytes(), "little")).count("1") < 52:
        state.apply(rng.choice(state.actions()))
    assert not state.over
    policy = load("ntuple(2,exact=true)", game)
    assert exact_of(policy)
    assert not exact_of(load("ntuple(2)", game))
    thought = policy.think(state.view(state.player), rng)
    assert thought.value in (-1.0, 0.0, 1.0)
    assert len(thought.values) == len(state.actions()) or len(state.actions()) == 1


def test_a_network_is_loaded_by_its_path_and_by_the_folder_of_its_run(tmp_path: Path) -> None:
    game = make("othello")
    path = shipped(game, "ntuple")
    shutil.copy(path, tmp_path / "network.safetensors")
    state = game.start()
    thoughts = [
        load(text, game).think(state.view(0), Rng(3))
        for text in ("ntuple(50)", f"{path}(50)", f"{tmp_path}(50)", f"{tmp_path}/network.safetensors(iterations=50)")
    ]
    assert sum(thoughts[0].visits.values()) == 49, "the first simulation judges the root"
    assert all(thought == thoughts[0] for thought in thoughts)


@pytest.mark.parametrize(
    ("text", "game", "reason"),
    [
        ("ntuple", "kuhn", "no network of kuhn ships"),
        ("mcts", "kuhn", "try ismcts"),
        ("ismcts", "othello", "try mcts"),
        ("mcts(-1)", "othello", "can't be negative"),
        ("mcts(10,seconds=1)", "othello", "say one of them"),
        ("mcts(10,threads=0)", "othello", "threads must be"),
        ("ismcts(10,opponents=nobody)", "kuhn", "search, random"),
        ("runs/nowhere", "othello", "there is no file"),
        ("runs/nowhere(5)", "othello", "there is no file"),
        ("nobody.safetensors", "othello", "there is no file"),
        ("mtcs(5)", "othello", "did you mean 'mcts'"),
    ],
)
def test_what_can_not_play_is_refused_in_a_line(text: str, game: str, reason: str) -> None:
    with pytest.raises(TapeteError, match=reason) as error:
        load(text, make(game))
    assert "\n" not in str(error.value)


def test_a_network_of_another_game_is_refused() -> None:
    with pytest.raises(TapeteError, match="plays othello, not othello"):
        load(str(shipped(make("othello"), "ntuple")), make("othello(size=6)"))


def test_drawing_follows_the_probabilities() -> None:
    rng = Rng("draw")
    counts = {1: 0, 5: 0, 9: 0}
    for _ in range(20_000):
        counts[draw({1: 0.5, 5: 0.0, 9: 0.5}, rng)] += 1
    assert counts[5] == 0
    assert counts[1] == pytest.approx(10_000, abs=400)


def searcher_of(text: str, game: str) -> Searcher:
    policy = load(text, make(game))
    assert isinstance(policy, Searcher)
    return policy


@pytest.mark.parametrize("agent", ["mcts", "mcts-value", "zero", "ntuple", "ismcts"])
def test_what_a_searching_agent_is_told_is_what_it_does(agent: str) -> None:
    game = "leduc" if agent == "ismcts" else "othello"
    usual = searcher_of(agent, game)
    assert usual.budget == Budget(1000)
    assert usual.search.keep
    assert not usual.exact
    assert usual.search.memory == 512 << 20
    told = searcher_of(f"{agent}(7,threads=3,keep=false,exact=true,megabytes=5)", game)
    assert told.budget == Budget(7, threads=3)
    assert not told.search.keep
    assert told.exact
    assert told.search.memory == 5 << 20
    assert searcher_of(f"{agent}(seconds=0.25)", game).budget == Budget(seconds=0.25)
    for wrong in ("megabytes=0", "megabytes=-3", "megabytes=9999999"):
        with pytest.raises(TapeteError, match="megabytes must be"):
            load(f"{agent}({wrong})", make(game))


def test_constants_and_opponents_reach_the_search() -> None:
    othello, leduc = make("othello").start(), make("leduc").start().deal(Rng(1))
    for c in (0.1, 3.0):
        view = othello.view(0)
        thought = load(f"mcts(300,c={c})", othello.game).think(view, Rng(1))
        assert thought == MCTS(othello.game, c=c).run(view, Rng(1), Budget(300))
        assert thought != load("mcts(300)", othello.game).think(view, Rng(1))
        view = leduc.view(leduc.player)
        for others in ("search", "random"):
            thought = load(f"ismcts(300,c={c},opponents={others})", leduc.game).think(view, Rng(1))
            assert thought == ISMCTS(leduc.game, c=c, opponents=others).run(view, Rng(1), Budget(300))
            assert thought != load(f"ismcts(300,opponents={others})", leduc.game).think(view, Rng(1))


def test_the_usual_constants_are_those_of_the_searches() -> None:
    othello, leduc = make("othello").start(), make("leduc").start().deal(Rng(1))
    assert load("mcts(300)", othello.game).think(othello.view(0), Rng(1)) == MCTS(othello.game).run(
        othello.view(0), Rng(1), Budget(300)
    )
    view = leduc.view(leduc.player)
    assert load("ismcts(300)", leduc.game).think(view, Rng(1)) == ISMCTS(leduc.game).run(view, Rng(1), Budget(300))


def test_what_an_agent_remembers_is_told_in_bytes() -> None:
    game = make("othello")
    for text in ("mcts(3000)", "ntuple(3000)"):
        policy = load(text, game)
        assert bytes_of(policy) == 0
        policy.think(game.start().view(0), Rng(1))
        assert 30_000 < bytes_of(policy) < 10_000_000
    few = load("mcts(100000,megabytes=1)", game)
    few.think(game.start().view(0), Rng(1))
    assert 500_000 < bytes_of(few) <= 1 << 20
    assert bytes_of(load("random", game)) == 0


def test_the_levels_of_the_best_there_is() -> None:
    for game, kind in (("othello", MCTS), ("othello(size=6)", MCTS), ("domino(6,7)", ISMCTS)):
        policies = [searcher_of(f"best({level})", game) for level in range(1, 6)]
        assert all(isinstance(policy.search, kind) for policy in policies)
        assert [policy.budget for policy in policies] == [*map(Budget, (4, 20, 100, 1000)), Budget(seconds=1.0)]
        ships = game == "othello"
        assert [policy.exact for policy in policies] == [False, False, False, ships, ships]
    view = make("othello").start().view(0)
    best, tables = (load(text, view.game).think(view, Rng(1)) for text in ("best(3)", "ntuple(100)"))
    assert best == tables, "the network that ships is in its tree"
    assert (
        load("best", make("kuhn")).think(make("kuhn").read("Q J").view(0), Rng(1)).probabilities
        == load("equilibrium", make("kuhn")).think(make("kuhn").read("Q J").view(0), Rng(1)).probabilities
    )


def test_what_is_damaged_is_told_and_does_not_make_the_best_weaker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make("othello")
    offered = opponents(game)
    monkeypatch.setattr(networks, "find", lambda name: None)
    with pytest.raises(NotForThisGame, match="no network of othello ships"):
        shipped(game, "ntuple")
    assert isinstance(load("best(3)", game), Searcher), "there is none, so it searches without"
    assert opponents(game) == [
        text for text in offered if text.partition("(")[0] not in ("ntuple", "zero", "mcts-value")
    ]
    (tmp_path / "ntuple.safetensors").write_bytes(b"not a network")
    monkeypatch.setattr(networks, "find", lambda name: tmp_path / "ntuple.safetensors")
    for text in ("ntuple(5)", "best(3)", "best"):
        with pytest.raises(TapeteError, match="can't read"):
            load(text, game)
    assert "ntuple(100)" in opponents(game), "whoever chooses it is told"


def test_a_damaged_solution_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(game: Game) -> None:
        raise TapeteError("can't read it")

    monkeypatch.setattr("tapete.solve.find", find)
    for text in ("best", "best(5)", "equilibrium"):
        with pytest.raises(TapeteError, match="can't read it"):
            load(text, make("kuhn"))
    assert isinstance(load("best(4)", make("kuhn")), Searcher), "which does not need it"


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """Whatever its name, its length and the time of its modification say."""
    game = make("othello(size=6)")
    view = game.start().view(0)
    path = tmp_path / "network.safetensors"
    thoughts = []
    for seed in (1, 2, 1):
        Network.random(residual((3, 6, 6), 37, channels=8, blocks=1), Rng(seed), game=str(game)).save(path)
        size = path.stat().st_size
        os.utime(path, ns=(10**18, 10**18))
        thoughts.append(load(f"{tmp_path}(30)", game).think(view, Rng(1)))
        assert path.stat().st_mtime_ns == 10**18
        assert path.stat().st_size == size
    assert thoughts[0] == thoughts[2] != thoughts[1]


def test_a_file_that_is_written_over_in_place_is_read_again(tmp_path: Path) -> None:
    game = make("othello(size=6)")
    view = game.start().view(0)
    path, other = tmp_path / "one.safetensors", tmp_path / "other.safetensors"
    for seed, file in ((1, path), (2, other)):
        Network.random(residual((3, 6, 6), 37, channels=8, blocks=1), Rng(seed), game=str(game)).save(file)
    before = load(f"{path}(30)", game).think(view, Rng(1))
    told = path.stat()
    path.write_bytes(other.read_bytes())
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))
    now = path.stat()
    assert (now.st_ino, now.st_size, now.st_mtime_ns) == (told.st_ino, told.st_size, told.st_mtime_ns)
    after = load(f"{path}(30)", game).think(view, Rng(1))
    assert before != after == load(f"{other}(30)", game).think(view, Rng(1))


def test_a_forced_move_is_not_searched() -> None:
    game = make("othello(size=6)")
    rng, state = Rng("forced"), game.start()
    while len(state.actions()) > 1:
        state.apply(rng.choice(state.actions()))
    assert len(state.actions()) == 1
    policy = searcher_of("mcts(50)", str(game))
    assert policy.think(state.view(state.player), rng) == Thought(probabilities={state.actions()[0]: 1.0})
    assert policy.bytes == 0


@pytest.mark.parametrize("name", ["kuhn", "doudizhu", "othello"])
def test_random_likes_all_moves_alike(name: str) -> None:
    state = some_states(make(name), 1)[0]
    legal = state.actions()
    thought = load("random", state.game).think(state.view(state.player), Rng(1))
    assert thought == Thought(probabilities=dict.fromkeys(legal, 1 / len(legal)))


def test_choosing_draws_from_what_is_thought() -> None:
    class Fixed:
        def think(self, view: View, rng: Rng) -> Thought:
            return Thought(probabilities={0: 0.25, 1: 0.75})

    view, rng = make("kuhn").read("Q J").view(0), Rng(1)
    drawn = [choose(Fixed(), view, rng) for _ in range(4000)]
    assert sum(drawn) == pytest.approx(3000, abs=140)
    weights = [draw({3: 1.0, 4: 2.0, 5: 1.0}, rng) for _ in range(4000)]  # whatever they add up to
    assert [weights.count(action) for action in (3, 4, 5)] == pytest.approx([1000, 2000, 1000], abs=140)


def test_those_who_can_play_are_those_who_load() -> None:
    for name in ("kuhn", "othello", "othello(size=6)", "truco"):
        game = make(name)
        can = set()
        for agent, function in agents().items():
            for text in getattr(function, "levels", (agent,)):
                try:
                    load(text, game)
                except TapeteError:
                    continue
                can.add(text)
        assert set(opponents(game)) == can
