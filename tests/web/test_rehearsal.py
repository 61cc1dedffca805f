"""What a table needs is loaded when it is made: whoever plays later never waits for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tapete.web.rehearsal import rehearse
from tests.web.browsers import Browser, serving, wait_until

# In a process of its own: here, other tests have loaded everything already.
SCRIPT = """
import sys
from tapete.agents import choose, opponents
from tapete.core import Rng, compile, make
from tapete.core.names import playable
from tapete.web.making import new_table
from tapete.web.memory import seat_agent
from tapete.web.rehearsal import rehearse
from tapete.web.table import Options

for name in playable():
    opponents(make(name))
assert "torch" not in sys.modules, "who asks for opponents waits for PyTorch"
for name, agent in (("leduc", "equilibrium"), ("truco", "ismcts(100)")):
    table = new_table(name, ["me", agent], Options(), "ana", "Ana")
    rehearse(name), rehearse(name, agent)
    waiting, policy, rng = set(compile._waiting), seat_agent(agent, table.game), Rng(1)
    table.deal(rng)
    for _ in range(12):
        if not table.over:
            view = table.state.view(table.state.player)
            table.move(choose(policy, view, rng) if view.seat == 1 else rng.choice(view.actions()))
            table.deal(rng)
            table.message("ana"), table.message("")
    assert set(compile._waiting) == waiting, f"{name} and {agent}: something was loaded while somebody played"
print("nothing was loaded")
"""


def test_nothing_is_loaded_while_people_play() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    assert done.stdout == "nothing was loaded\n", done.stderr


def test_a_table_is_rehearsed_when_it_is_made_and_when_it_is_opened_again(tmp_path: Path) -> None:
    def kinds() -> int:
        return rehearse.cache_info().currsize

    with serving(tmp_path) as place:
        ana = Browser(place)
        rehearse.cache_clear()
        table = ana.make("kuhn", "me", "random")["table"]
        assert kinds() >= 1, "the game, before anybody is told that there is a table"
        wait_until(lambda: kinds() == 2)
        ana.make("kuhn", "me", "random")
        wait_until(lambda: not place.house.tasks)
        assert kinds() == 2, "once for all tables of a kind"
    with serving(tmp_path) as place:
        rehearse.cache_clear()
        with Browser(place, ana.cookie).socket(table) as socket:
            socket.my_turn()
        wait_until(lambda: kinds() == 2)


@pytest.mark.parametrize("agent", ["ismcts(seconds=1)", "nobody"])
def test_a_rehearsal_takes_no_time_of_a_search_by_the_clock_and_bears_an_agent_that_is_none(
    agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr("tapete.search.ismcts.ISMCTS.run", lambda self, view, rng, budget: asked.append(budget.seconds))
    rehearse.__wrapped__("truco", agent)
    assert not any(asked)
    assert bool(asked) == (agent == "ismcts(seconds=1)")
