"""Ctrl-C and SIGTERM: the first time they are noted, the second time they end things."""

from __future__ import annotations

import signal
import threading

import pytest

from tapete.core.stopping import interruptible, stoppable


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_is_noted_and_the_second_ends_it(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with interruptible(), stoppable() as stop:
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) == before


def test_afterwards_everything_is_as_it_was() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with stoppable():
        pass
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_other_threads_are_never_stopped() -> None:
    seen = []

    def work() -> None:
        with stoppable() as stop, interruptible():
            seen.append(stop.is_set())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
