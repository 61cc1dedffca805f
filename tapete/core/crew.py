"""Threads that wait for work inside of compiled code, so that handing them a task wakes nobody.

Waking a thread that sleeps takes a tenth of a millisecond. So a thread that has nothing to do looks into its box for
about as long before it goes to sleep: an idle crew burns nothing, and a busy one never sleeps. What nobody has begun
when the caller is done with its own part, the caller does too: where other programs keep the processors busy, a crew is
as fast as one thread. Nothing of that shows in results.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from tapete.core.atomic import exchange_word, load_word, relax, replace_word
from tapete.core.compile import UINT64_PTR, WORD_ROWS, WORDS, ahead, compile_rule, first_of, helper, kernel
from tapete.core.contract import function_at
from tapete.core.records import LINES, apart

TASK = types.void(UINT64_PTR)

# What a box says: its first word is what has to be done, the second is the address of the task, the third tells whether
# the thread sleeps and nobody has rung for it. The caller turns NOTHING into DO; whoever turns that into DOING does the
# task.
NOTHING, DO, DOING, STOP = (np.uint64(i) for i in range(4))
AWAKE, ASLEEP = (np.uint64(i) for i in range(2))
BUSY, SLEEPING = -1, -2
BOX = LINES // 8  # words, so that no two boxes share a line of cache
PATIENCE = 1 << 12  # looks: a tenth or two of a millisecond

_let_others_run: Callable[[], None] = getattr(os, "sched_yield", lambda: time.sleep(0))


def task(function: Callable[..., Any]) -> Any:
    """Compiles what a crew does: a C function of the words that one thread is handed. Used as a decorator."""
    return compile_rule(function, TASK)


@cache
def _address(task: Any) -> int:
    return int(task.address)


class Crew:
    """The thread of the caller, and others that do the same work beside it.

    words: [threads, n] what each thread is handed in a task: addresses and numbers. They may be changed between tasks.
    arrays: what the addresses point at; it lives as long as a thread that may use it.

    One thread at a time may call `do`. The others end with the object, or with the process. A forked process starts
    threads of its own when it first needs them.
    """

    def __init__(self, words: NDArray[np.uint64], arrays: Sequence[Any] = ()) -> None:
        self.words, self._arrays = apart(words), arrays
        self._hire()

    def _hire(self) -> None:
        others = len(self.words) - 1
        self._process = os.getpid()
        self._boxes = apart(np.zeros((others, BOX), dtype=np.uint64))
        self._bells = [threading.Event() for _ in range(others)]
        self.threads = [
            threading.Thread(target=_serve, args=(box, row, bell, self._arrays), name="crew", daemon=True)
            for box, row, bell in zip(self._boxes, self.words[1:], self._bells, strict=True)
        ]
        weakref.finalize(self, _dismiss, self._boxes, self._bells, self.threads)
        for thread in self.threads:
            thread.start()

    def do(self, task: Any) -> None:
        """Does the task once with every row of the words, and returns when all of it is done.

        Ctrl-C is heard when it is done: half a task is never seen.
        """
        address = _address(task)
        if self._bells and self._process != os.getpid():
            self._hire()
        is_rung = False
        while unfinished := _do(address, self.words, self._boxes, is_rung):
            if unfinished == SLEEPING:
                self._wake()
                is_rung = True
                continue
            self._wait()
            if unfinished > 0:
                break

    def _wake(self) -> None:
        """Rings for those who sleep; until they come, the caller does their work."""
        for bell, box in zip(self._bells, self._boxes, strict=True):
            if box[2] == ASLEEP:
                box[2] = AWAKE
                bell.set()

    def _wait(self) -> None:
        interrupt = None
        while _unfinished(self._boxes):
            try:
                _let_others_run()
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt


def _serve(box: NDArray[np.uint64], words: NDArray[np.uint64], bell: threading.Event, kept: Any) -> None:
    """The life of a thread; `kept` is what its words point at."""
    while _look(box, words):
        bell.wait()
        bell.clear()


def _dismiss(boxes: NDArray[np.uint64], bells: list[threading.Event], threads: list[threading.Thread]) -> None:
    """Ends the threads of a crew that is no more."""
    _stop(boxes)
    for bell, thread in zip(bells, threads, strict=True):
        bell.set()
        if thread is not threading.current_thread():  # which may be the one that collects garbage
            thread.join(1.0)


@intrinsic  # type: ignore[untyped-decorator]
def open_task(typing_context: Any, address: Any) -> Any:
    """The task at an address, inside a kernel."""
    function_type = types.FunctionType(TASK)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return function_at(context, builder, function_type, arguments[0])

    return function_type(types.uint64), generate


@helper
def _take(box: Any, words: Any) -> bool:
    """Does the task in the box, unless there is none or another thread has it."""
    if load_word(box) != DO or not replace_word(box, DO, DOING):  # looking disturbs nobody, replacing does
        return False
    open_task(box[1])(words)
    replace_word(box, DOING, NOTHING)  # unless it says STOP by now
    return True


@kernel(types.boolean(WORDS, WORDS))
def _look(box: Any, words: Any) -> bool:
    """Does what comes into the box. True: nothing has come for a while, so the thread may sleep; False: the end."""
    word = first_of(box)
    looks = 0
    while looks < PATIENCE:
        if _take(word, first_of(words)):
            looks = 0
        elif load_word(word) == STOP:
            return False
        relax()
        looks += 1
    exchange_word(ahead(word, 2), ASLEEP)  # who puts something into the box from now on knows it
    return True


@kernel(types.int64(WORD_ROWS))
def _unfinished(boxes: Any) -> int:
    """How many threads are at work, after waiting for them for a while."""
    looks = 0
    for i in range(len(boxes)):
        while load_word(first_of(boxes[i])) == DOING:
            if looks == PATIENCE:
                return len(boxes) - i
            relax()
            looks += 1
    return 0


@kernel(types.int64(types.uint64, WORD_ROWS, WORD_ROWS, types.boolean))
def _do(task: Any, words: Any, boxes: Any, is_rung: bool) -> int:
    """Does a task together with the others, and returns how many are still at it.

    Nothing is done where it is BUSY or SLEEPING: others are at another task, or are to be rung for first.
    """
    for i in range(len(boxes)):
        if load_word(ahead(first_of(boxes[i]), 2)) == ASLEEP and not is_rung:
            return SLEEPING
    if _unfinished(boxes):
        return BUSY
    for i in range(len(boxes)):
        boxes[i, 1] = task
        exchange_word(first_of(boxes[i]), DO)
    open_task(task)(first_of(words))
    for i in range(len(boxes)):
        _take(first_of(boxes[i]), first_of(words[i + 1]))
    return _unfinished(boxes)


@kernel(types.void(WORD_ROWS))
def _stop(boxes: Any) -> None:
    """Tells all threads to end."""
    for i in range(len(boxes)):
        exchange_word(first_of(boxes[i]), STOP)
