"""Threads that wait inside of compiled code: everything is done once, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tapete import Rng, make
from tapete.core import crew as crews
from tapete.core.atomic import exchange_word, load_word
from tapete.core.compile import ahead
from tapete.core.crew import Crew, task
from tapete.core.evaluator import words_at
from tapete.core.tables import Tables

ROUNDS = 300
PATIENCE = 60.0  # seconds after which a test gives up


@task
def count(words: Any) -> None:
    """Adds one to the number of this thread, which no other thread touches."""
    words_at(words[0])[words[1]] += np.uint64(1)


@task
def linger(words: Any) -> None:
    """The first thread goes on when the second has begun, which goes on when somebody says so."""
    shared = words_at(words[0])
    if words[1] == 0:
        while load_word(ahead(shared, 1)) == 0:
            pass
    else:
        exchange_word(ahead(shared, 1), np.uint64(1))
        while load_word(shared) == 0:
            pass
        exchange_word(ahead(shared, 2), np.uint64(1))


def counting(threads: int) -> tuple[Crew, np.ndarray[Any, np.dtype[np.uint64]]]:
    counts = np.zeros(max(threads, 3), dtype=np.uint64)
    words = np.array([[counts.ctypes.data, i] for i in range(threads)], dtype=np.uint64)
    return Crew(words, [counts]), counts


@contextmanager
def kept_awake(crew: Crew) -> Iterator[None]:
    """Nobody of the crew sleeps for long: for tasks that the caller must not do alone."""
    over = threading.Event()

    def ring() -> None:
        while not over.wait(0.001):
            for bell in crew._bells:
                bell.set()

    ringing = threading.Thread(target=ring)
    ringing.start()
    try:
        yield
    finally:
        over.set()
        ringing.join()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.001)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_task_is_done_once_with_every_row(threads: int) -> None:
    crew, counts = counting(threads)
    for done in range(ROUNDS):
        crew.do(count)
        assert (counts[:threads] == done + 1).all()
    assert len(crew.threads) == threads - 1


class Ringing:
    """A bell that counts how often the caller rings it."""

    def __init__(self, bell: threading.Event) -> None:
        self.bell, self.rung = bell, 0

    def set(self) -> None:
        self.rung += 1
        self.bell.set()


def test_threads_with_nothing_to_do_sleep_and_are_woken() -> None:
    crew, counts = counting(3)
    bells = [Ringing(bell) for bell in crew._bells]
    crew._bells = bells  # type: ignore[assignment]
    for done in range(5):
        wait_until(lambda: bool(crew._boxes[:, 2].all()))
        crew.do(count)
        assert (counts == done + 1).all()
        assert [bell.rung for bell in bells] == [done + 1] * 2
        wait_until(lambda: not any(bell.bell.is_set() for bell in bells))  # they have heard it


def test_the_caller_does_what_nobody_begins() -> None:
    crew, counts = counting(3)
    boxes = crew._boxes
    crew._boxes = np.zeros_like(boxes)  # into which no thread looks
    for _ in range(ROUNDS):
        crew.do(count)
    assert (counts == ROUNDS).all()
    crew._boxes = boxes


def test_who_sleeps_is_rung_for_once() -> None:
    crew, counts = counting(3)
    bells = [Ringing(bell) for bell in crew._bells]
    boxes, crew._bells = crew._boxes, bells  # type: ignore[assignment]
    crew._boxes = np.zeros_like(boxes)  # into which no thread looks
    crew._boxes[1, 2] = crews.ASLEEP
    for _ in range(3):
        crew.do(count)
    assert [bell.rung for bell in bells] == [0, 1]
    assert (counts == 3).all()
    crew._boxes = boxes


def test_threads_end_with_the_crew() -> None:
    crew, _ = counting(4)
    crew.do(count)
    threads = crew.threads
    assert [thread.is_alive() for thread in threads] == [True] * 3
    del crew
    gc.collect()
    for thread in threads:
        thread.join(PATIENCE)
    assert [thread.is_alive() for thread in threads] == [False] * 3


def test_threads_end_with_the_tables_that_have_them() -> None:
    tables = Tables(make("kuhn"), 8, Rng(1), threads=3)
    tables.step(tables.sample())
    threads = tables._crew.threads
    assert len(threads) == 2
    del tables
    gc.collect()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


def test_ctrl_c_is_heard_when_all_of_a_task_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    crew, shared = counting(2)
    calls = []

    def interrupt() -> None:
        calls.append(bool(shared[2]))
        if len(calls) == 1:
            raise KeyboardInterrupt
        shared[0] = 1

    monkeypatch.setattr(crews, "_let_others_run", interrupt)
    with kept_awake(crew), pytest.raises(KeyboardInterrupt):
        crew.do(linger)
    assert len(calls) > 1
    assert not calls[0]
    assert shared[2] == 1
    shared[:] = 0
    crew.do(count)
    assert shared.tolist() == [1, 1, 0]


def test_a_task_that_others_are_still_at_is_waited_for_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt at the worst moment leaves a thread at work: nothing of it is overwritten."""
    crew, shared = counting(2)
    monkeypatch.setattr(Crew, "_wait", lambda self: None)
    with kept_awake(crew):
        crew.do(linger)
    assert shared.tolist() == [0, 1, 0]
    monkeypatch.undo()
    ends = iter([None, None, 1])

    def go_on() -> None:
        if next(ends, 1):
            shared[0] = 1

    monkeypatch.setattr(crews, "_let_others_run", go_on)
    crew.do(count)
    assert shared.tolist() == [2, 2, 1]


def test_what_is_no_task_is_refused_and_the_crew_goes_on() -> None:
    crew, counts = counting(3)
    with pytest.raises(AttributeError):
        crew.do("nothing")
    crew.do(count)
    assert (counts == 1).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    crew, counts = counting(3)
    crew.do(count)
    child = os.fork()
    if child == 0:  # nothing of pytest may run in here
        try:
            for _ in range(ROUNDS):
                crew.do(count)
            good = (counts == ROUNDS + 1).all() and len(crew.threads) == 2 and all(t.is_alive() for t in crew.threads)
            os._exit(0 if good else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    crew.do(count)
    assert (counts == 2).all()


END = """
import signal, sys
from tapete import Rng, make
from tapete.core.tables import Tables
tables = Tables(make("kuhn"), 64, Rng(1), threads=3)
tables.step(tables.sample())
{}
"""


@pytest.mark.parametrize(
    ("last_words", "code"),
    [
        ("", 0),
        ("tables.cycle = tables\nsys.exit(3)", 3),
        (
            "signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
            "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
            "try:\n    while True: tables.step(tables.sample())\n"
            "except KeyboardInterrupt: pass\n"
            "alone = Tables(make('kuhn'), 64, Rng(1))\n"
            "while alone.games.sum() < tables.games.sum(): alone.step(alone.sample())\n"
            "sys.exit(5 if (alone.games == tables.games).all() and (alone.totals == tables.totals).all() else 6)",
            5,
        ),
    ],
)
def test_a_process_ends_whatever_its_tables_do(last_words: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", END.format(last_words)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stderr == ""
    assert done.returncode == code
