from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types
from numba.core import config

import tapete
from tapete.core import calls
from tapete.core.atomic import load_word
from tapete.core.compile import compile_rule, first_of, helper, kernel, progress, waiting

HELPER = "from tapete.core.compile import helper\n\n@helper\ndef number():\n    return {}\n"
KERNEL = """
from tapete.core.compile import kernel, progress
from neighbour import number

@kernel("int64(int64)")
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)

def make(step):
    @kernel("int64()")
    def ask():
        return number() + factorial(step) - factorial(step)
    return ask

print(make(3)(), make(4)(), progress.done)
"""


@pytest.fixture(autouse=True)
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a test compiles has been compiled before."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "machine code"))


def run(folder: Path) -> list[str]:
    done = subprocess.run([sys.executable, "ask.py"], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_another_process_loads_what_one_has_compiled(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text(HELPER.format(1))
    (tmp_path / "ask.py").write_text(KERNEL)
    assert run(tmp_path) == ["1", "1", "3"]
    assert run(tmp_path) == ["1", "1", "0"], "nothing has changed, so nothing is compiled, not in a function either"
    (tmp_path / "neighbour.py").write_text(HELPER.format(2))
    assert run(tmp_path) == ["2", "2", "2"], "numba's own cache would still answer 1; `factorial` needs nothing new"


def test_a_kernel_that_only_others_call_is_compiled_with_them() -> None:
    @kernel("int64(int64)")
    def inner(x):
        return x + 1

    @kernel("int64(int64)")
    def outer(x):
        return 2 * inner(x)

    assert {inner, outer} <= set(waiting())
    assert outer(3) == 8
    assert not {inner, outer} & set(waiting())


def test_two_threads_that_need_a_kernel_at_once_compile_it_once() -> None:
    @kernel("int64(int64)")
    def slow(x):
        return np.sort(np.arange(x))[-1]

    before = progress.done
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(slow, [5, 6, 7, 8])) == [4, 5, 6, 7]
    assert progress.done == before + 1


def test_a_rule_is_compiled_when_its_address_is_asked_for() -> None:
    rule = compile_rule(lambda x: x + 1, types.int64(types.int64))
    before = progress.done
    assert rule in waiting()
    assert rule.address
    assert rule.address == rule.address
    assert progress.done == before + 1
    assert rule not in waiting()
    assert rule.ctypes(4) == 5


def test_a_helper_is_compiled_once_for_all_numbers_and_works_in_python_too() -> None:
    @helper
    def power(x, n):
        return x**n

    @kernel("int64(int64)")
    def sum_of_powers(x):
        return power(x, 2) + power(x, 3) + power(x, n=4)

    assert sum_of_powers(3) == 9 + 27 + 81
    compiled: Any = power
    assert len(compiled.overloads) == 1
    assert power(3, 2) == 9


def test_a_kernel_lets_python_go_on_beside_it() -> None:
    @kernel(types.int64(types.uint64[::1], types.int64))
    def wait(words, most):
        looks = 0
        while looks < most and load_word(first_of(words)) == 0:
            looks += 1
        return most - looks

    words = np.zeros(1, dtype=np.uint64)
    assert wait(words, 10) == 0
    with ThreadPoolExecutor(1) as pool:
        waiting_for = pool.submit(wait, words, 20_000_000_000)
        time.sleep(0.05)  # by now it waits
        words[0] = 1
        assert waiting_for.result() > 0


def test_what_is_compiled_for_the_sake_of_another_is_told_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel("int64(int64)")
    def inner(x):
        return x + 1

    @kernel("int64(int64)")
    def outer(x):
        return 2 * inner(x)

    told: list[list[str]] = []
    monkeypatch.setattr(progress, "_show", lambda: told.append([name.split(".")[-1] for name in progress.names]))
    assert outer(1) == 4
    assert told == [["outer"], ["outer", "inner"], ["outer"], []]


def test_importing_the_package_compiles_nothing() -> None:
    script = "import tapete.cli, tapete.search.mcts; from tapete.core.compile import progress; print(progress.done)"
    folder = Path(tapete.__file__).parent.parent
    environment = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": "/dev/null/nowhere"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_calls_on_one_state_keep_the_interpreter_and_algorithms_do_not() -> None:
    """Where other threads wait for it, giving it up costs more than the call."""
    short = [each for each in vars(calls).values() if hasattr(each, "targetoptions")]
    assert len(short) == 11
    assert not any(each.targetoptions["nogil"] for each in short)

    @kernel("int64()")
    def algorithm() -> int:
        return 1

    options: Any = algorithm
    assert options.targetoptions["nogil"]


def test_a_rule_divides_as_numpy_does() -> None:
    """Python's way, an error, would end somewhere inside of a kernel, where nobody hears of it."""

    def half_of_nothing(x: float) -> float:
        return 1.0 / x

    compiled = compile_rule(half_of_nothing, types.float64(types.float64))
    assert compiled.ctypes(0.0) == np.inf
    assert compiled.ctypes(4.0) == 0.25
