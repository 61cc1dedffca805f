"""Threads that wait for work inside of compiled code, so that handing them a task takes a microsecond.

Waking a thread that sleeps takes fifty to a hundred. So a thread that has nothing to do looks into its box for about as
long before it goes to sleep: an idle crew burns nothing, and a busy one never sleeps. Nothing of that shows in results.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from tapete.core.atomic import exchange_word, load_word, relax, replace_word
from tapete.core.compile import UINT64_PTR, WORDS, compile_rule, first_of, kernel
from tapete.core.contract import function_at

TASK = types.void(UINT64_PTR)
WORD_ROWS = types.uint64[:, ::1]

# What the first word of a box says. The owner of the box turns DO into NOTHING, and NOTHING into ASLEEP and back.
NOTHING, DO, ASLEEP, STOP = (np.uint64(i) for i in range(4))
BOX = 16  # words: two lines of cache, so that no two boxes share one
PATIENCE = 1 << 12  # looks, about a tenth of a millisecond

_let_others_run: Callable[[], None] = getattr(os, "sched_yield", lambda: time.sleep(0))


def task(function: Callable[..., Any]) -> Any:
    """Compiles what a crew does: a C function of the words that one thread is handed. Used as a decorator."""
    return compile_rule(function, TASK)


class Crew:
    """The thread of the caller, and others that do the same work beside it.

    words: [threads, n] what each thread is handed in a task: addresses and numbers. They may be changed between tasks.
    arrays: what the addresses point at; it lives as long as a thread that may use it.

    One thread at a time may call `do`. The others end with the object, or with the process. A forked process starts
    threads of its own when it first needs them.
    """

    def __init__(self, words: NDArray[np.uint64], arrays: Sequence[Any] = ()) -> None:
        self.words, self._arrays = words, arrays
        self._hire()

    def _hire(self) -> None:
        others = len(self.words) - 1
        self._process = os.getpid()
        self._boxes = np.zeros((others, BOX), dtype=np.uint64)
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
        if self._process != os.getpid():
            self._hire()
        for box, bell in zip(self._boxes, self._bells, strict=True):
            if box[0] == ASLEEP:  # to be awake when the task comes
                bell.set()
        if _do(task.address, self.words, self._boxes):
            self._wait()

    def _wait(self) -> None:
        interrupt = None
        while _unfinished(self._boxes):
            try:
                for bell in self._bells:  # who fell asleep just before the task came has not heard of it
                    bell.set()
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


@kernel(types.boolean(WORDS, WORDS))
def _look(box: Any, words: Any) -> bool:
    """Does what comes into the box. True: nothing has come for a while, so the thread may sleep; False: the end."""
    word = first_of(box)
    replace_word(word, ASLEEP, NOTHING)
    looks = 0
    while True:
        found = load_word(word)
        if found == DO:
            open_task(box[1])(first_of(words))
            replace_word(word, DO, NOTHING)  # unless it says STOP by now
            looks = 0
        elif found == STOP:
            return False
        elif looks >= PATIENCE and replace_word(word, NOTHING, ASLEEP):
            return True
        else:
            relax()
            looks += 1


@kernel(types.int64(WORD_ROWS))
def _unfinished(boxes: Any) -> int:
    """How many threads have something to do, after waiting for them for a while."""
    looks = 0
    for i in range(len(boxes)):
        word = first_of(boxes[i])
        while load_word(word) == DO:
            if looks >= PATIENCE:
                return len(boxes) - i
            relax()
            looks += 1
    return 0


@kernel(types.int64(types.uint64, WORD_ROWS, WORD_ROWS))
def _do(task: Any, words: Any, boxes: Any) -> int:
    """Does a task together with the others; how many of them have not finished after a while."""
    for i in range(len(boxes)):
        boxes[i, 1] = task
        exchange_word(first_of(boxes[i]), DO)
    open_task(task)(first_of(words))
    return _unfinished(boxes)


@kernel(types.void(WORD_ROWS))
def _stop(boxes: Any) -> None:
    """Tells all threads to end."""
    for i in range(len(boxes)):
        exchange_word(first_of(boxes[i]), STOP)
