"""The file of docs/adding-an-agent.md, put where the page says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tapete.agents
from tapete.agents import Thought, agents, load, opponents
from tapete.core import Rng, TapeteError, make

PAGE = Path(__file__).parents[2] / "docs" / "adding-an-agent.md"


@pytest.fixture(autouse=True)
def eager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A second folder of agents, with that file in it."""
    (block,) = [part for part in PAGE.read_text().split("```") if "# tapete/agents/eager.py" in part]
    (tmp_path / "eager.py").write_text(block.removeprefix("python"))
    monkeypatch.setattr(tapete.agents, "__path__", [*tapete.agents.__path__, str(tmp_path)])
    agents.cache_clear()
    yield
    agents.cache_clear()


def test_it_plays_by_its_name() -> None:
    view = make("leduc").read("Js Qs bet").view(1)
    assert load("eager", view.game).think(view, Rng(1)) == Thought(probabilities={0: 0.0, 1: 0.0, 2: 1.0})
    assert load("eager(2)", view.game).think(view, Rng(1)) == Thought(probabilities={0: 0.0, 1: 0.5, 2: 0.5})
    with pytest.raises(TapeteError, match=r"write eager\(moves=1\)"):
        load("eager(patience=3)", view.game)


def test_it_is_offered_where_it_can_play() -> None:
    assert "eager" in opponents(make("leduc"))
    assert "eager" not in opponents(make("holdem(players=5)"))
    with pytest.raises(TapeteError, match="four players at most"):
        load("eager", make("holdem(players=5)"))
