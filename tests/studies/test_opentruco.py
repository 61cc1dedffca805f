"""The study of OpenTruco (2025): the paper's numbers, its parts on a small scale, and what its plots are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tapete.agents import load
from tapete.core import Rng, TapeteError, Thought, View, make
from tapete.games.truco.cards import NAMES
from tapete.scale import Serial
from tapete.studies import opentruco
from tapete.studies.opentruco import bluffs, configurations, page, table


def hand(cards: str) -> int:
    return sum(1 << NAMES.index(card) for card in cards.split())


def test_the_papers_figures_are_copied_right() -> None:
    assert (page.PAPER_RANDOM, page.PAPER_SEARCH) == (70, 65)  # section 3.2.2
    assert (configurations.MATCHES, len(configurations.SIX)) == (10_000, 6)
    assert len({(one.hidden, one.eta) for one in configurations.SIX}) == 6


def test_an_unknown_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="configurations, table, bluffs"):
        opentruco.run(tmp_path / "out", row="nfsp")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("tricks", "won"),
    [
        ([1, 1, 0], 1),
        ([1, -1, -1], 0),
        ([1, -1, 0], 1),
        ([1, 0, -1], 1),
        ([0, -1, 1], 0),
        ([0, 0, 1], 1),
        ([0, 0, 0], 0.5),
    ],
)
def test_strength_counts_hands_as_the_rules_do(tricks: list[int], won: float) -> None:
    assert bluffs._won(np.array(tricks)) == won


def test_strength_of_hands() -> None:
    found = bluffs.strengths()
    assert len(found) == 9880
    assert found[hand("1e 1b 7e")] == max(found.values()) > 0.99
    assert found[hand("4c 4e 4b")] == min(found.values()) == 0
    assert found[hand("3c 2e 12b")] == found[hand("3e 2b 12c")]  # suits don't matter there


class Bluffer:
    """Accepts nothing, and calls truco whenever it may."""

    def think(self, view: View, rng: Rng) -> Thought:
        actions = view.actions()
        wanted = next((move for move in (45, 43, 40) if move in actions), actions[0])
        return Thought(probabilities={action: float(action == wanted) for action in actions})


def test_decisions_are_told_with_the_cards_that_made_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bluffs, "load", lambda agent, game: Bluffer())
    spots = list(bluffs.play("bluffer", "behind, 10-25", 40))
    assert {spot.kind for spot in spots} == {"truco", "truco answer", "envido"}
    assert {spot.score for spot in spots} == {"behind, 10-25", "ahead, 25-10"}
    called = [spot for spot in spots if spot.kind == "truco"]
    assert len(called) == 40  # mano calls at once, pie declines
    assert all(spot.call == 1 and spot.mano for spot in called)
    assert all(spot.decline == 1 for spot in spots if spot.kind == "truco answer")
    assert {spot.score for spot in called} == {"behind, 10-25", "ahead, 25-10"}  # both seats are mano
    told = bluffs.count([*spots, *bluffs.play("bluffer", "0-0", 4)])
    assert told["headlines"]["truco declined"] == 1
    assert sum(told["rows"]["truco, behind, 10-25"]["n"]) == 20


def test_the_last_card_is_known_to_win_or_to_lose() -> None:
    game = make("truco")
    played = "4e 4c 5b 5o {} {} 4e 4c 5b 5o {}"
    for lead, reply, wins in (("6e", "7b", 1), ("6e", "6b", 0), ("7b", "6e", 0)):  # pardas go to mano
        state = game.read(played.format(lead, reply, lead))
        told = bluffs.Hand(game, [load("random", game)] * 2, "0-0", Rng(1), mano=0)
        told.state = state
        s = game.record(state.data)
        assert told._wins(s, 1) == wins
        assert told._wins(game.record(game.read(played.format(lead, reply, "")).data), 0) == -1


def test_a_pair_is_played_once(tmp_path: Path) -> None:
    said: list[str] = []
    pair = ("random", "random"), ("ismcts(1)", "ismcts(1)")
    one = table._play(tmp_path, *pair, 4, said.append, Serial())
    two = table._play(tmp_path, *pair, 4, said.append, Serial())
    assert one == two
    assert len(said) == 1
    assert 0 <= one["interval"][0] <= one["share"] <= one["interval"][1] <= 1


def test_hands_begin_at_their_score_for_who_goes_through_them_again_too() -> None:
    """Who solves the rest of a hand replays it from the score before: a falta envido would end a match from 0-0."""
    game = make("truco")
    hand = bluffs.Hand(game, [load("random", game)] * 2, "behind, 10-25", Rng(1), mano=1)
    record = game.record(hand.state.data)
    assert record["score"].tolist() == record["score_before"].tolist() == record["origin"].tolist() == [10, 25]
    assert [*bluffs.play("resolve", "behind, 10-25", 6)], "the last of these accepts a falta, and comes to its end"


def test_the_page_has_theirs_beside_ours(tmp_path: Path) -> None:
    line = {"games": 100, "policy_loss": 1.5, "against_random": 0.5, "error": 0.02, "against_search": 0.6}
    line |= {"search_error": 0.05, "steps": 5000, "seconds": 12.0}
    part = {"quick": True, "seconds": 1.0, "cores": 2}
    found = {
        "configurations": {
            **part,
            "matches": 100,
            "random_matches": 512,
            "search_matches": 10,
            "curves": {"hidden 64, eta 0.1": [line]},
        },
        "table": {
            **part,
            "learned": {"nfsp": {"agent": "x", "settings": ["tables=1"], "curve": [line]}},
            "agents": ["random", "nfsp"],
            "pairs": [{"a": "random", "b": "nfsp", "share": 0.2, "interval": [0.1, 0.3], "milliseconds": [1, 2]}],
        },
    }
    page.write(tmp_path, found)
    text = (tmp_path / "README.md").read_text()
    assert "| theirs, the best | | | 70 % | 65 % | | |" in text
    assert "| hidden 64, eta 0.1 | 1.500 | 1.500 | 75.0 % (73.0 to 77.0) | 60.0 % (50.2 to 69.8) | 5,000 | 12 |" in text
    assert "| nfsp | 80.0 (70 to 90) |  | 2 |" in text
    assert (tmp_path / "nfsp.png").stat().st_size > 1000
    assert (tmp_path / "learners.png").stat().st_size > 1000


@pytest.mark.slow
def test_the_whole_study_on_a_small_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configurations, "QUICK", configurations.Size(500, 2, 4, 2))
    monkeypatch.setattr(configurations, "SIX", configurations.SIX[:1])
    monkeypatch.setattr(configurations, "PLAIN", configurations.PLAIN[:1])
    small = ["tables=16", "hidden=8"]
    learners = dict.fromkeys(("dqn", "nfsp", "ppo", "mmd"), (small, 9, 2))
    learners["deep-cfr"] = (["walks=2", "hidden=8", "steps=2", "average_steps=2"], 9, 1)
    monkeypatch.setattr(table, "LEARNERS", learners)
    monkeypatch.setattr(table, "QUICK", {"ismcts(100)": 2, "ismcts(1000)": 0, "ismcts(10000)": 0})
    monkeypatch.setattr(table, "QUICK_USUAL", 4)
    monkeypatch.setattr(bluffs, "QUICK", 4)
    opentruco.run(tmp_path, quick=True)
    found = opentruco.results(tmp_path)
    assert [*found] == ["configurations", "table", "bluffs"]
    assert [line["games"] for line in found["configurations"]["curves"]["hidden 64, eta 0.1"]] == [250, 500]
    assert {*learners} <= {*found["table"]["agents"]}
    assert {*learners} <= {*found["bluffs"]["agents"]}
    text = (tmp_path / "README.md").read_text()
    assert all(f"![How {name} calls and answers](bluffs-{name}.png)" in text for name in learners)
    assert all((tmp_path / f"bluffs-{name}.png").stat().st_size > 1000 for name in learners)
    said: list[str] = []
    opentruco.run(tmp_path, quick=True, row="table", say=said.append)  # what was trained and played is kept
    assert not [line for line in said if "% (" in line]
