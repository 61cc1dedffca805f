"""Mutation check of what a player is bred by: an error planted in the fitness is caught by the tests of contests.

Contests are compiled, so every mistake is planted in a copy of the tree, where the tests of contests then run.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = "tests/games/test_holdem_contest.py"
LONGEST = 150  # seconds of CPU; without a mistake they take some 30

MISTAKES = {
    # rotation: hands that move round the seats, players that do, and who is who then
    "hands stay": ("rivals.py", "2 * ((seat + place.turned) % SEATS)", "2 * seat"),
    "strength of another hand": ("trees.py", "(seat + place.turned) % SEATS) * STREETS", "seat % SEATS) * STREETS"),
    "hands are not turned": ("contest.py", "for turned in range(SEATS):", "for turned in [0] * SEATS:"),
    "players stay": ("rivals.py", "who = (seat + place.moved) % SEATS", "who = seat"),
    "players go round once": ("contest.py", "for moved in range(SEATS):", "for moved in range(SEATS - 1):"),
    "paid to the seat": ("trees.py", "end[(seat + place.moved) % SEATS] =", "end[seat] ="),
    "the lineup of another deal": ("trees.py", "ahead(rivals.lineups, number * (SEATS - 1))", "rivals.lineups"),
    # rake and payoffs
    "no rake": ("trees.py", "CENTS * payoffs[seat]", "np.floor(CENTS * payoffs[seat] / 100 + 0.5) * 100"),
    "rake of hands that are not left": ("contest.py", "own[place.number] += np.int64(np.rint(CENTS * payoffs[seat]))",
                                        "own[place.number] += np.int64(np.ceil(payoffs[seat])) * 100"),
    "the individual is not paid": ("contest.py", "if opponent < 0:", "if opponent > 99:"),
    # the trees
    "a fold goes on": ("trees.py", "b.playing ^= np.int64(1) << seat", "b.playing ^= 0"),
    "bets are small": ("trees.py", "b.price += BET_SIZES[b.street]", "b.price += BET_SIZES[FLOP]"),
    "no cap": ("trees.py", "if wanted == RAISE and b.bets < cap:", "if wanted == RAISE and b.bets < cap + 1:"),
    "who raised is asked again": ("trees.py", "b.waiting = b.active - 1", "b.waiting = b.active"),
    "bets before the street are forgotten": ("trees.py", "b.before, b.bets, b.waiting, b.seat = b.bets,",
                                             "b.before, b.bets, b.waiting, b.seat = 0,"),
    "the street begins with whose turn it was": ("trees.py", "b.active, lowest(b.playing)\n", "b.active, b.seat\n"),
    "merit rounded down": ("trees.py", "np.ceil(merit(", "np.floor(merit("),
    "a wish has no end": ("trees.py", "| (0 if raises else 1 << RAISE)", ""),
    "moves change places": ("trees.py", "nodes[NODE * parent + 1 + move] = to", "nodes[NODE * parent + 3 - move] = to"),
    "used genes are not marked": ("trees.py", "        used[at] = 1\n", ""),
    "the second threshold raises": ("trees.py", "chromosomes[2 * at] else", "chromosomes[2 * at + 1] else"),
    "what was won is paid twice": ("trees.py", "        won[who] = 0\n", "        won[who] += 0\n"),
}  # fmt: skip


def run_in_a_copy(tmp_path: Path, file: str = "", old: str = "", new: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the tests of contests in a copy of the tree, with `new` planted in a file where `old` stands."""
    for folder in ("tapete", "tests/games"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "web", "e2e"))
    for file_name in ("pyproject.toml", "tests/__init__.py", "tests/conftest.py"):
        shutil.copy(ROOT / file_name, tmp_path / file_name)
    if file:
        planted = tmp_path / "tapete" / "games" / "holdem" / file
        text = planted.read_text()
        assert text.count(old) == 1
        planted.write_text(text.replace(old, new))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", TESTS]
    place = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    # With some mistakes an individual goes round in a tree for ever: ended by a signal after so many seconds of CPU.
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (LONGEST, LONGEST))
    return subprocess.run(command, cwd=tmp_path, env=place, capture_output=True, text=True, preexec_fn=limit)


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_fitness_is_caught(name: str, tmp_path: Path) -> None:
    done = run_in_a_copy(tmp_path, *MISTAKES[name])
    print(next((line for line in done.stdout.splitlines() if line.startswith("FAILED")), done.returncode))
    assert done.returncode < 0 or (done.returncode == 1 and "FAILED" in done.stdout), done.stdout + done.stderr


@pytest.mark.slow
def test_a_copy_without_mistakes_passes(tmp_path: Path) -> None:
    done = run_in_a_copy(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
