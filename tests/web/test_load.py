"""Many tables at once, and a server that is killed in the middle of it."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from tapete import Rng
from tapete.bench import web
from tests.web.browsers import Browser, apart, serving


def test_a_kill_under_load_loses_no_acknowledged_move() -> None:
    load = apart(lambda: web.run(tables=20, seconds=3.0, settle=0.5, pause=0.05))
    assert load.lost == 0
    assert load.acknowledged > 0
    assert load.moves > 20
    assert load.games > 0


def lose(port: int, person: web.Person) -> int:
    return asyncio.run(web.count_lost(port, [person]))


@pytest.mark.slow
def test_a_kill_with_two_hundred_tables_loses_no_acknowledged_move() -> None:
    load = apart(lambda: web.run(tables=200, seconds=20.0, pause=1.0))
    print(load)
    assert load.lost == 0
    assert load.acknowledged > 1000


def test_a_lost_move_would_be_noticed(tmp_path: Path) -> None:
    with serving(tmp_path) as place:
        ana = Browser(place)
        table = ana.make("kuhn", "me", "random")["table"]
        with ana.socket(table) as socket:
            honest = socket.my_turn()
        port = int(place.host.rpartition(":")[2])
        other = [{"ply": 2, "seat": 0, "text": "bet", "news": []}]
        for last, lost in ((honest, 0), ({**honest, "ply": 5}, 3), ({**honest, "told": other}, 1)):
            person = web.Person(ana.cookie, table, Rng(1), last=last)
            assert apart(partial(lose, port, person)) == lost
