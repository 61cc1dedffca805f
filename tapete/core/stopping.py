"""Ctrl-C and SIGTERM, for those who want to save first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C or SIGTERM sets, instead of ending the process; the second one ends it.

    Only the main thread is sent signals: in others the event is never set.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note(number: int, frame: object) -> None:
        stop.set()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield stop
    finally:
        restore()


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM is a KeyboardInterrupt, as Ctrl-C is: for those who have nothing to save, but something to say."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
