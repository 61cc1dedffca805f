"""The front door: what can be asked of `tapete` itself, and what it says to those who ask for something else."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

import tapete
from tapete.agents import choose, load, opponents
from tapete.core import Rng, TapeteError, Thought, View, make
from tapete.learn import read_metrics
from tapete.search import ISMCTS, MCTS, Budget
from tapete.solve import Progress, Stale, find, solve
from tapete.testing import BrokenContract
from tapete.testing.knowledge import Memory
from tests.conftest import Tapete

FIRST, SECOND = "2 -1\n-1 1\n", "1 -3\n-1 2\n"  # equilibria: (2/5, 3/5) and (3/7, 4/7) for the rows


def row_played(game: tapete.Game) -> float:
    """How often an equilibrium plays the first row."""
    return tapete.equilibrium(game).at(game.start().view(0))[0]


def test_importing_tapete_brings_rules_and_no_agents_solvers_or_learners() -> None:
    script = (
        "import sys, tapete; print([m for m in sys.modules if m.split('.')[:2] in "
        "[['tapete', x] for x in ('agents', 'arena', 'solve', 'search', 'learn', 'nets', 'front')] or m == 'torch'])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "[]"


def test_all_that_the_door_names_is_there() -> None:
    assert dir(tapete) == sorted(tapete.__all__)
    assert all(getattr(tapete, name) is not None for name in tapete.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'solv'"):
        _ = tapete.solv  # type: ignore[attr-defined]


def test_an_agent_thinks_by_its_name() -> None:
    view = make("leduc").start().deal(Rng(1)).view(0)
    for game in ("leduc", make("leduc")):
        thought = tapete.agent("ismcts(50)", game).think(view, Rng(1))
        assert sum(thought.visits.values()) == 50
        assert view.named(thought.visits).keys() == {"check", "bet"}


def test_an_equilibrium_that_ships_is_taken_as_it_is() -> None:
    strategy = tapete.equilibrium("leduc")
    assert strategy.value == pytest.approx(-0.0856, abs=1e-4)
    assert strategy.exploitability < 1e-4
    view = make("leduc").start().deal(Rng(1)).view(0)
    assert strategy.at(view) == strategy.think(view, Rng(1)).probabilities
    assert sum(strategy.at(view).values()) == pytest.approx(1)


def test_an_equilibrium_that_is_not_there_is_solved_once_and_kept() -> None:
    proofs: list[Progress] = []
    game = make("ocp(4)")
    assert find(game) is None
    strategy = tapete.equilibrium(game, watch=proofs.append)
    assert strategy.exploitability <= 1e-3
    assert proofs
    assert find(game) is not None
    proofs.clear()
    assert tapete.equilibrium(game, watch=proofs.append).exploitability == strategy.exploitability
    assert not proofs, "it was kept"
    better = tapete.equilibrium(game, until=strategy.exploitability / 10, watch=proofs.append)
    assert proofs
    assert better.exploitability <= strategy.exploitability / 10


def test_rounds_are_solved_with_what_follows_them() -> None:
    strategy = tapete.equilibrium("dudo(2,2,1)", until=0.01)
    later = make("dudo(2,2,1)").start().deal(Rng(1))
    while later.player == 0:
        later.apply(later.actions()[-1]).deal(Rng(2))
    assert sum(strategy.at(later.view(later.player)).values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("game", "says"),
    [
        ("battle", "battle is not zero-sum; .*tapete.solve.matching finds correlated.*mccfr-external --time 60"),
        ("doudizhu", "doudizhu has 3 players; .*mccfr-external --time 60"),
        ("truco", "truco is too large to be solved.*--against best"),
    ],
)
def test_games_without_a_proof_are_told_what_works_for_them(game: str, says: str) -> None:
    with pytest.raises(TapeteError, match=says) as error:
        tapete.equilibrium(game)
    assert "\n" not in str(error.value)


def test_a_table_that_was_edited_makes_its_solution_stale(tmp_path: Path) -> None:
    file = tmp_path / "table.txt"
    file.write_text(FIRST)
    name = f"matrix({file})"
    assert row_played(make(name)) == pytest.approx(2 / 5, abs=0.01)
    file.write_text(SECOND)
    for text in ("equilibrium", "best"):
        with pytest.raises(TapeteError, match="when its table was another; `tapete solve") as error:
            load(text, make(name))
        assert "\n" not in str(error.value)
    with pytest.warns(UserWarning, match="when its table was another; it is solved again"):
        assert row_played(make(name)) == pytest.approx(3 / 7, abs=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert row_played(make(name)) == pytest.approx(3 / 7, abs=0.01), "it was kept"
    file.write_text(SECOND.replace("2", "2.0"))
    assert load("equilibrium", make(name)), "the same table, written otherwise"


def test_a_stale_file_and_a_stale_checkpoint_are_told(tmp_path: Path) -> None:
    file, saved, at_once = tmp_path / "table.txt", tmp_path / "it.safetensors", Event()
    file.write_text(FIRST)
    name = f"matrix({file})"
    solve(make(name), save=saved)
    at_once.set()
    with pytest.raises(KeyboardInterrupt):
        solve(make(name), until=0, save=saved, stop=at_once)
    file.write_text(SECOND)
    with pytest.raises(TapeteError, match="table was another"):
        load(str(saved), make(name))
    with pytest.raises(Stale, match=r"checkpoint solved .* when its table was another"):
        solve(make(name), save=saved, resume=True)


def test_a_state_in_place_of_a_view_is_told() -> None:
    for name in ("leduc", "othello", "holdem", "doudizhu"):
        state = make(name).start().deal(Rng(1))
        for text in [text for text in opponents(state.game) if "10000" not in text]:
            with pytest.raises(TapeteError, match="a State, which knows all hands; ask with a View"):
                load(text, state.game).think(state, Rng(1))  # type: ignore[arg-type]
    with pytest.raises(TapeteError, match=r"ask with a View, as in .*, not with 'kuhn'"):
        tapete.agent("random", "kuhn").think("kuhn", Rng(1))  # type: ignore[arg-type]


def test_an_agent_asked_out_of_turn_is_told_whose_turn_it_is() -> None:
    kuhn = make("kuhn")
    agent = tapete.agent("random", kuhn)
    for view, says in (
        (kuhn.read("J Q").view(1), "seat 1 is asked, but seat 0 is to move"),
        (kuhn.read("J Q bet pass").view(0), "the game is over"),
        (kuhn.read("J").view(0), "chance is to move"),
    ):
        with pytest.raises(TapeteError, match=says):
            agent.think(view, Rng(1))
        with pytest.raises(TapeteError, match=says):
            ISMCTS(kuhn).run(view, Rng(1), Budget(10))
        with pytest.raises(TapeteError, match=says):
            choose(Last(), view, Rng(1))
    with pytest.raises(TapeteError, match="seat 1 is asked"):
        MCTS(make("othello")).run(make("othello").start().view(1), Rng(1), Budget(10))


class Last:
    """Plays the last of its moves."""

    def think(self, view: View, rng: Rng) -> Thought:
        legal = view.actions()
        return Thought(probabilities={action: float(action == legal[-1]) for action in legal})


def test_a_match_takes_names_makers_and_those_who_remember_nothing() -> None:
    by_hand = tapete.match("kuhn", Last(), "random", games=40)
    assert by_hand.agents == ("Last", "random")
    assert by_hand.payoffs.tolist() == tapete.match("kuhn", lambda game: Last(), "random", games=40).payoffs.tolist()
    strategy = tapete.equilibrium("kuhn")
    assert (
        tapete.match("kuhn", strategy, Last(), games=40).mean
        == tapete.match("kuhn", "equilibrium", Last(), games=40).mean
    )


def test_how_exploitable_an_agent_is_is_told_exactly() -> None:
    assert tapete.exploitability("kuhn", "random") == pytest.approx(11 / 12, abs=1e-6)
    assert tapete.exploitability("leduc", "equilibrium") == pytest.approx(
        tapete.equilibrium("leduc").exploitability, abs=1e-7
    )
    by_hand = tapete.exploitability("kuhn", Last())
    assert by_hand == tapete.exploitability(make("kuhn"), lambda game: Last())
    assert by_hand == pytest.approx(sum(best_replies_to_last()), abs=1e-6)
    assert tapete.exploitability("kuhn", "ismcts(20)") == tapete.exploitability("kuhn", "ismcts(20)", seed=1)
    with pytest.raises(TapeteError, match="battle is not zero-sum"):
        tapete.exploitability("battle", "random")


def best_replies_to_last() -> list[float]:
    """What each seat gains against one who always bets or calls, by trying its answer to every card."""
    kuhn, gains = make("kuhn"), []
    for seat in (0, 1):
        total = 0.0
        for own in "JQK":
            others = [card for card in "JQK" if card != own]
            hands = [(own, other) if seat == 0 else (other, own) for other in others]
            lines = ("bet bet", "pass bet bet", "pass bet pass") if seat == 0 else ("bet bet", "bet pass")
            paid = [[kuhn.read(" ".join([*hand, line])).returns()[seat] for hand in hands] for line in lines]
            total += max(map(sum, paid)) / 6
        gains.append(total)
    return gains


def test_a_match_refuses_those_who_remember_and_those_who_are_no_agents() -> None:
    with pytest.raises(TapeteError, match=r"this Searcher remembers a game, .*give its name, as in 'ismcts"):
        tapete.match("kuhn", tapete.agent("ismcts(10)", "kuhn"), "random", games=2)
    with pytest.raises(TapeteError, match="3 is no agent; it needs a name"):
        tapete.match("kuhn", 3, "random", games=2)  # type: ignore[arg-type]
    with pytest.raises(TapeteError, match="try ismcts"):
        tapete.match("kuhn", "mcts(10)", "random", games=2)


def test_training_from_python_makes_a_run_that_plays_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small: dict[str, Any] = {"tables": 16, "hidden": 8, "every": 1}
    folder = tapete.train("kuhn", "ppo", iterations=2, **small)
    assert folder == Path("runs/kuhn-ppo")
    assert [line["iteration"] for line in read_metrics(folder)] == [1, 2]
    assert tapete.agent(str(folder), "kuhn").think(make("kuhn").read("J Q").view(0), Rng(1)).probabilities.keys() == {
        0,
        1,
    }
    whole = tapete.train("kuhn", "ppo", run="whole", iterations=4, **small)
    tapete.train("kuhn", "ppo", run="parts", iterations=4, seconds=0, **small)
    parts = tapete.train("kuhn", "ppo", run="parts", resume=True)
    weights = [(each / "network.safetensors").read_bytes() for each in (whole, parts)]
    assert weights[0] == weights[1]
    with pytest.raises(TapeteError, match="ppo has no parameter 'iteration'"):
        tapete.train("kuhn", "ppo", run="wrong", iteration=4)
    with pytest.raises(TapeteError, match="there is no learner 'pop'"):
        tapete.train("kuhn", "pop", run="wrong")


def test_what_was_not_proven_says_so() -> None:
    solve(make("goofspiel(4)"), algorithm="mccfr-external", iterations=20, until=0)
    strategy = tapete.equilibrium("goofspiel(4)")
    assert strategy.exploitability > 0
    known = find(make("kuhn"))
    assert known
    unproven = type(strategy)(make("kuhn"), replace(known, about=known.about | {"value": None, "exploitability": None}))
    assert math.isnan(unproven.value)
    assert unproven.exploitability == math.inf


def test_what_is_told_of_moves_is_named_in_the_notation_of_the_game() -> None:
    assert make("kuhn").read("J Q").view(0).named({0: 0.25, 1: 0.75}) == {"pass": 0.25, "bet": 0.75}


def test_a_table_in_memory_is_a_game() -> None:
    game = tapete.matrix(np.array([[2, -1], [-1, 1]]), rows=["up", "down"])
    view = game.start().view(0)
    assert view.named(tapete.equilibrium(game).at(view)) == pytest.approx({"up": 0.4, "down": 0.6}, abs=1e-3)
    assert str(game) != str(tapete.matrix([[2, -1], [-1, 2]]))  # so that solutions that are kept can't be mixed up
    assert not tapete.matrix([[(0, 0), (4, 1)], [(1, 4), (3, 3)]]).spec.zero_sum
    assert sum(tapete.match(game, "ismcts(20)", "random", games=4).results) == 4


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([[1, 2], [3]], "all of one length"),
        ([["a"]], "rows of numbers"),
        ([1, 2], r"not \[2\]"),
        (np.zeros((2, 2, 3)), r"not \[2, 2, 3\]"),
        (np.zeros((0, 2)), "empty"),
        ([[math.nan]], "must be a number"),
    ],
)
def test_what_is_no_table_is_told(table: Any, said: str) -> None:
    with pytest.raises(TapeteError, match=said):
        tapete.matrix(table)


def test_something_else_in_place_of_a_game_is_told_what_works() -> None:
    with pytest.raises(TapeteError, match=r"tapete.matrix\(table\) makes one of payoffs"):
        tapete.equilibrium(np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(TapeteError, match="tables are of a Game"):
        tapete.Tables("leduc", 2, Rng(1))  # type: ignore[arg-type]


def test_a_seed_in_place_of_an_rng_is_told_what_works() -> None:
    game = make("kuhn")
    for ask in (
        lambda rng: game.start().deal(rng),
        lambda rng: tapete.Tables(game, 2, rng),
        lambda rng: tapete.agent("ismcts(10)", game).think(game.read("J Q").view(0), rng),
    ):
        with pytest.raises(TapeteError, match=r"tapete.Rng\(1\), not from 1$"):
            ask(1)


class Silent:
    """An agent that gives what it was made with."""

    def __init__(self, gives: object) -> None:
        self.gives = gives

    def think(self, view: View, rng: Rng) -> Any:
        """Not a Thought, if it was made so."""
        return self.gives


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (Silent({0: 1.0}), r"think gave \{0: 1.0\}, not a tapete.Thought"),
        (lambda view, rng: 0, r"<lambda>\(view, rng\) can't be called with the game"),
        (lambda view: 0, "<lambda> made 0 of the game, which has no think"),
    ],
)
def test_what_is_no_agent_is_told_before_or_at_its_first_move(agent: Any, said: str) -> None:
    for play in (lambda: tapete.match("kuhn", agent, "random", games=2), lambda: tapete.exploitability("kuhn", agent)):
        with pytest.raises(TapeteError, match=said):
            play()


def test_a_class_in_place_of_an_agent_is_told_how_to_make_one() -> None:
    class Plain:
        def think(self, view: View, rng: Rng) -> Thought:
            return Thought(probabilities={view.actions()[0]: 1.0})

    with pytest.raises(TapeteError, match=r"Plain\(\) may be one"):
        tapete.match("kuhn", Plain, "random", games=2)  # type: ignore[arg-type]


def test_results_show_themselves_in_a_line() -> None:
    played = tapete.match("kuhn", "equilibrium", "random", games=20)
    assert re.fullmatch(
        r"<Match of kuhn, equilibrium against random, 20 games: [-+.\d]+ a game, 95 % interval .*>", repr(played)
    )
    assert repr(tapete.equilibrium("kuhn")).startswith("<Equilibrium of kuhn: value -0.0555")


def test_a_line_of_a_search_is_told_in_words_and_stops_at_chance() -> None:
    view = make("othello").read("d3 c3 c4").view(1)
    thought = tapete.agent("mcts(500)", "othello").think(view, Rng(1))
    state, words = make("othello").read("d3 c3 c4"), view.line(thought.line)
    for word in words:
        state.apply(word)
    assert len(words) == len(thought.line) > 1
    leduc = make("leduc").read("Js Ks check").view(1)
    assert leduc.line((1, 1, 1)) == ["check"]  # then a card comes
    assert leduc.line((7,)) == []


def test_a_run_that_is_not_there_is_named(tapete: Tapete) -> None:
    done = tapete("train", "--run", "runs/none", "--resume")
    assert (done.status, done.err.startswith("tapete: there is no run in runs/none to go on with")) == (2, True)


def test_a_wrong_option_is_sent_to_the_help_of_its_command(tapete: Tapete) -> None:
    assert "`tapete train --help` tells how it goes" in tapete("train", "kuhn", "--iterations", "60").err


def test_a_world_that_depends_on_what_is_hidden_is_told_with_the_other_position() -> None:
    game, knowledge = make("kuhn"), Memory()
    one, other = game.read("J Q"), game.read("J K")  # seat 0 can't tell them apart
    knowledge.check_view(one, View(game, one.data, 0))  # views that were not redealt
    with pytest.raises(BrokenContract, match="can't tell it from kuhn: J Q\n  in: kuhn: J K"):
        knowledge.check_view(other, View(game, other.data, 0))
