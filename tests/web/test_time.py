"""Time tells nothing: who looks at the clock can't tell a forced move from a free one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete import Record, Rng, make
from tapete.core import Thought, View
from tapete.web import lines, tempo
from tapete.web.limits import Who
from tapete.web.lines import TICK, Line, round_up
from tapete.web.tempo import QUICK, Tempo, timed
from tests.web.browsers import CROWD, MUCH, Browser, Message, Place, apart, serving

GAMES = [("doudizhu", 3), ("domino(6,7)", 2), ("truco(hand=true)", 2)]
ANSWERS = 70  # of agents, in each of the three games
OF_A_KIND = 10  # forced and free answers, at least
THOUGHT = 0.02  # seconds that `best` thinks here


def answers(place: Place, game: str, players: int, agent: str, seed: int) -> list[tuple[float, bool]]:
    """Seconds that a person waited for each answer of an agent, and whether it was forced."""
    browser, rng = Browser(place, address=f"10.0.0.{seed + 1}"), Rng("time", seed)
    found: list[tuple[float, bool]] = []
    while len(found) < ANSWERS or min(sum(forced is kind for _, forced in found) for kind in (True, False)) < OF_A_KIND:
        name = browser.make(game, "me", *[agent] * (players - 1))["table"]
        with browser.socket(name) as socket:
            heard: list[tuple[float, int, int | None]] = []  # when, the ply, whose turn
            table: Message = {"over": False}
            while not table["over"]:
                table = socket.hear("table")
                heard.append((time.perf_counter(), table["ply"], table["player"]))
                if table["player"] == 0 and table["seat"] == 0 and not table["over"]:
                    socket.act(table, rng.below(len(table["scene"]["moves"])))
        found += label(browser, name, heard)
    return found


def label(browser: Browser, name: str, heard: list[tuple[float, int, int | None]]) -> list[tuple[float, bool]]:
    """What was heard, with what only the finished game tells: how many moves there were."""
    record = Record.from_json(browser.get(f"/api/record/{name}"))
    history = make(str(record.game)).read(" ".join(record.moves)).history or []
    state, choices = make(str(record.game)).start(), []
    for action in history:
        choices.append(len(state.actions()))
        state.apply(action)
    found = []
    for (before, ply, player), (after, later, _) in pairwise(heard):
        if player not in (0, None) and later > ply:
            found.append((after - before, choices[ply] == 1))
    return found


def best_threshold(times: NDArray[np.float64], forced: NDArray[np.bool_]) -> Callable[[float], bool]:
    """The threshold that tells forced from free best in what was seen, either way round."""
    cuts = [-1.0, *np.sort(times)]
    scores = [balanced(times > cut, forced) - 0.5 for cut in cuts]
    at = int(np.argmax(np.abs(scores)))
    return lambda wait: bool((wait > cuts[at]) == (scores[at] >= 0))


def nearest(times: NDArray[np.float64], forced: NDArray[np.bool_]) -> Callable[[float], bool]:
    """What took about as long."""
    return lambda wait: bool(forced[np.argmin(np.abs(times - wait))])


def balanced(guess: NDArray[np.bool_], forced: NDArray[np.bool_]) -> float:
    """The mean of how often forced and how often free was guessed right: a half by chance, whatever is guessed."""
    return float((guess[forced].mean() + (~guess[~forced]).mean()) / 2)


def tell_apart(classifier: Any, times: NDArray[np.float64], forced: NDArray[np.bool_]) -> float:
    """How well a classifier does on what it has not seen: ten folds, shuffled."""
    fold = np.random.default_rng(1).permutation(len(times)) % 10
    guess = np.zeros(len(times), dtype=bool)
    for k in range(10):
        learned = classifier(times[fold != k], forced[fold != k])
        guess[fold == k] = [learned(wait) for wait in times[fold == k]]
    return balanced(guess, forced)


def bound(forced: NDArray[np.bool_]) -> float:
    """Three standard deviations above what guessing gets."""
    return 0.5 + 3 * 0.5 * np.sqrt(0.25 / forced.sum() + 0.25 / (~forced).sum())


def test_no_clock_tells_forced_from_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three games at a time and several tables of each, so that agents wait in line for each other."""
    monkeypatch.setattr("tapete.agents.best.SECONDS", THOUGHT)
    with (
        serving(tmp_path, replace(CROWD, messages_each=MUCH, makes_each=MUCH), proxies=("127.0.0.1",)) as place,
        ThreadPoolExecutor() as pool,
    ):
        plays = [pool.submit(answers, place, game, players, "best(5)", i) for i, (game, players) in enumerate(GAMES)]
        found = [play.result() for play in plays]
    told = []
    for (game, _), pairs in zip(GAMES, found, strict=True):
        times, forced = np.array([wait for wait, _ in pairs]), np.array([is_forced for _, is_forced in pairs])
        scores = [tell_apart(classifier, times, forced) for classifier in (best_threshold, nearest)]
        told.append((game, len(pairs), round(max(scores), 3), round(bound(forced), 3)))
    assert sum(count for _, count, _, _ in told) >= 200
    assert all(score <= most for _, _, score, most in told), told


def test_the_classifiers_would_notice() -> None:
    rng = np.random.default_rng(2)
    forced = rng.random(200) < 0.4
    noise = rng.normal(0, 0.004, 200)
    for leak in (0.03, -0.03):  # forced moves come later, or sooner
        times = 0.1 + leak * forced + noise
        assert all(tell_apart(each, times, forced) > bound(forced) for each in (best_threshold, nearest))
    assert all(tell_apart(each, 0.1 + noise, forced) < bound(forced) for each in (best_threshold, nearest))


# The line by itself.


def run_line(*jobs: tuple[str, float, float], threads: int = 2) -> list[tuple[float, float]]:
    """When each job (address, seconds to hold, seconds of work) was told, and what it is said to have taken."""

    async def run() -> list[tuple[float, float]]:
        line, began = Line("test", threads), time.perf_counter()

        async def one(address: str, hold: float, work: float) -> tuple[float, float]:
            _, took = await line.run_held(Who(address), hold, time.sleep, work)
            return time.perf_counter() - began, took

        try:
            return await asyncio.gather(*(one(*job) for job in jobs))
        finally:
            line.close()

    return apart(lambda: asyncio.run(run()))


def test_an_answer_is_held_and_so_is_its_place() -> None:
    """Three addresses, two places: the third waits as long behind a forced move as behind a free one."""
    for work in (0.0, 0.15):
        first, second, third = run_line(("a", 0.2, work), ("b", 0.2, work), ("c", 0.2, 0.0))
        for told, at in ((first, 0.2), (second, 0.2), (third, 0.4)):
            assert at <= told[0] < at + 0.15
        assert work <= first[1] < work + 0.1


def test_what_takes_longer_is_told_at_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "TICK", 0.25)
    ((told, took),) = run_line(("a", 0.05, 0.1))
    assert 0.25 <= told < 0.4
    assert took < 0.2


def test_without_a_hold_nothing_is_held() -> None:
    ((told, _),) = run_line(("a", 0.0, 0.0))
    assert told < TICK * 10


# How long answers are held.


def searcher(iterations: int = 0, seconds: float = 0.0) -> Any:
    return SimpleNamespace(budget=SimpleNamespace(iterations=iterations, seconds=seconds))


def test_agents_that_search_by_the_clock_are_held_a_little_longer_than_they_think() -> None:
    hold = Tempo().hold("x", make("kuhn"), searcher(seconds=1.0))
    assert hold is not None
    assert 1.1 <= hold <= 1.2


def test_agents_that_do_not_search_are_held_for_a_moment() -> None:
    assert Tempo().hold("random", make("kuhn"), SimpleNamespace()) == QUICK


def test_others_are_timed_and_held_longer_from_when_they_took_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempo, "timed", lambda policy, game: 0.05)
    kuhn, held = make("kuhn"), Tempo()
    assert held.hold("ismcts(100)", kuhn, searcher(100)) is None
    held.learn("ismcts(100)", kuhn, 9.0)  # nothing is known of it yet
    held.measure("ismcts(100)", kuhn)
    assert held.hold("ismcts(100)", kuhn, searcher(100)) == pytest.approx(0.08)
    assert held.hold("ismcts(100)", make("leduc"), searcher(100)) is None
    for took, hold in ((0.03, 0.08), (0.11, 0.12), (0.05, 0.12), (9.0, 0.32)):
        held.learn("ismcts(100)", kuhn, took)
        assert held.hold("ismcts(100)", kuhn, searcher(100)) == pytest.approx(hold)


def test_the_longest_thought_is_timed_wherever_there_is_a_choice() -> None:
    seen: list[int] = []

    class Slow:
        """Loads for a while, and thinks longest at its third decision, as who solves the rest of a hand does."""

        def think(self, view: View, rng: Rng) -> Thought:
            seen.append(len(view.actions()))
            time.sleep({0: 0.6, 3: 0.05}.get(len(seen) - 1, 0.001))
            return Thought(probabilities={view.actions()[0]: 1.0})

    assert 0.05 <= timed(Slow(), make("domino(6,7)")) < 0.6
    assert min(seen) > 1
    seen.clear()
    assert timed(Slow(), make("domino(3,1)")) == 0.0, "with a tile each nobody ever has a choice"
    assert not seen
    assert round_up(0.021) == pytest.approx(2 * TICK)
