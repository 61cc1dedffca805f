"""Attacks of one stranger: everybody else plays on as if he were not there."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapete.bench.web import resident, server
from tapete.web.limits import Limits
from tapete.web.readiness import compile_apart
from tapete.web.rehearsal import rehearse
from tapete.web.thinking import offered
from tests.web.attacks import KINDS
from tests.web.browsers import Browser, Message

SLOWEST = 0.5  # seconds from a victim's move to the answer


class Victim:
    """Somebody who plays Truco with an agent that doesn't search, and looks at the clock."""

    def __init__(self, port: int) -> None:
        class Host:
            host = f"127.0.0.1:{port}"

        place: Any = Host
        self.browser = Browser(place)

    def waits(self, seconds: float) -> Iterator[float]:
        """Seconds for each move, game after game."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with self.browser.socket(self.browser.make("truco", "me", "random")["table"]) as socket:
                table = socket.my_turn()
                while not table["over"] and time.monotonic() < end:
                    began = time.perf_counter()
                    socket.act(table)
                    table = self._after(socket, table["ply"])
                    yield time.perf_counter() - began
                    time.sleep(0.02)

    def _after(self, socket: Any, ply: int) -> Message:
        while (table := socket.my_turn())["ply"] <= ply:
            pass
        return dict(table)


def bear(tmp_path: Path, kind: str, seconds: float, count: int) -> tuple[Any, float]:
    """How long a victim waits while somebody attacks, move by move, and the server's megabytes in the end."""
    with server(tmp_path) as (process, port):
        victim = Victim(port)
        list(islice(victim.waits(300.0), 10))  # what has to be loaded or compiled for the victim, is
        command = [sys.executable, "-m", "tests.web.attacks", kind, str(port), str(seconds), str(count)]
        attack = subprocess.Popen(command)
        try:
            waits = list(victim.waits(seconds))
        finally:
            attack.kill()
            attack.wait()
        waits += list(victim.waits(0.5))
        log = tmp_path / "log"
        assert log.stat().st_size < 100_000, "a flood of complaints"
        return np.array(waits), resident(process.pid)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stranger_who_attacks_stops_nobody(tmp_path: Path, kind: str) -> None:
    """A small attack, on a machine that may be busy: half of the moves must be answered in time."""
    waits, _ = bear(tmp_path, kind, 3.0, 250 if kind == "slow_loris" else 4)
    assert len(waits) > 5
    assert np.median(waits) < SLOWEST


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["warm", "cold"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_move_is_answered_in_time_whatever_a_stranger_does(
    tmp_path: Path, kind: str, cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a quiet machine. The attacks are those that stopped the server once, and somewhat larger.

    With a cold cache, all that only the stranger's tables need has to be compiled while the victim plays.
    """
    if cache == "cold":
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cold"))
        for work, texts in ((offered, ("truco",)), (rehearse, ("truco",)), (rehearse, ("truco", "random"))):
            compile_apart(work, texts)
    waits, megabytes = bear(tmp_path, kind, 20.0, 1100 if kind == "slow_loris" else 40)
    told = {"kind": kind, "cache": cache, "moves": len(waits), "p50": np.median(waits)}
    told |= {"worst": waits.max(), "MB": megabytes}
    print(json.dumps({key: round(value, 3) if isinstance(value, float) else value for key, value in told.items()}))
    assert waits.max() < SLOWEST
    assert megabytes < 600 + Limits().memory / 1e6
