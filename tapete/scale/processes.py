"""Processes of this machine, for work that Python itself does: threads would only wait for one another.

Each is an interpreter of its own that imports nothing of the script which asked for it, and is begun when there is work
for it. They take a second or two to start, each with its own copy of every network (docs/scaling.md).
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Lock
from typing import IO, Any, cast

from tapete.core.errors import TapeteError
from tapete.scale.jobs import KEPT, Bench, Job
from tapete.scale.lots import Lost

LOOK = 1.0  # seconds between two looks at whether whoever began a process still lives

# What is sent to a process: the number of a job, the job where it is not open there, and parcels. What comes back:
# whether all went well, and the results or what went wrong. Both are pickled by us, for us, and go through pipes.


class Processes:
    """Does lots in as many processes as there are threads that ask for it at a time."""

    def __init__(self) -> None:
        self._idle: list[_Process] = []
        self._busy: dict[_Process, Event] = {}  # and what tells that nobody waits for it any more
        self._lock = Lock()

    def can_open(self, job: Job) -> bool:
        """Whether a job opens elsewhere too: its data travel, and name nothing that only this process knows."""
        try:
            self.do(job, [], Event())
        except Exception:  # whatever it is, threads need not care
            return False
        return True

    def do(self, job: Job, parcels: Sequence[Any], stop: Event) -> list[Any]:
        """The results of some parcels; raises `Lost` where the process that had them is gone, or nobody waits."""
        process = self._take(stop)
        try:
            return process.do(job, parcels)
        finally:
            with self._lock:
                del self._busy[process]
                if process.is_alive:
                    self._idle.append(process)

    def end(self, stop: Event) -> None:
        """Ends those that work for somebody who does not wait any more."""
        with self._lock:
            stop.set()
            for process, whose in self._busy.items():
                if whose is stop:
                    process.end()

    def close(self) -> None:
        """Ends all of them."""
        with self._lock:
            for process in [*self._idle, *self._busy]:
                process.end()
            self._idle.clear()

    def _take(self, stop: Event) -> _Process:
        with self._lock:
            if stop.is_set():
                raise Lost("nobody waits any more")
            process = self._idle.pop() if self._idle else _Process()
            self._busy[process] = stop
        return process


class _Process:
    """One of them, as whoever waits for it sees it."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-c", f"from {__spec__.name} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        )
        self._open: list[str] = []  # numbers of the jobs that its `Bench` keeps

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    def do(self, job: Job, parcels: Sequence[Any]) -> list[Any]:
        is_open = job.number in self._open
        self._open = [*(number for number in self._open if number != job.number), job.number][-KEPT:]
        message = pickle.dumps((job.number, None if is_open else job, parcels))
        to, back = cast(IO[bytes], self._child.stdin), cast(IO[bytes], self._child.stdout)
        try:
            to.write(message)
            to.flush()
            went_well, results = pickle.load(back)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):  # ended meanwhile, by us or by others
            self.end()
            raise Lost("a process was ended") from None
        if not went_well:
            self._open.remove(job.number)  # it may not have been opened
            raise results
        done: list[Any] = results
        return done

    def end(self) -> None:
        self._child.kill()
        self._child.wait()


def serve(to: IO[bytes], back: IO[bytes]) -> None:
    """What a process does until nobody is at the other end."""
    bench = Bench()
    while True:
        try:
            number, job, parcels = pickle.load(to)
        except EOFError:
            return
        back.write(_answer(lambda: [*map(bench.find(number, lambda: job), parcels)]))  # noqa: B023  done at once
        back.flush()


def _answer(work: Callable[[], list[Any]]) -> bytes:
    try:
        return pickle.dumps((True, work()))
    except TapeteError as error:
        return pickle.dumps((False, error))
    except Exception as error:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def leave_with(parent: int) -> None:
    """Ends this process soon after the one that began it was killed: at work, it would not look up for minutes."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def main() -> None:
    """Answers through what was the standard output; what is printed goes where errors go."""
    threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever began this, and who ends it
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, back)
