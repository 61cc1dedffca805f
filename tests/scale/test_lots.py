"""Lots: nothing is lost or done twice, whoever is slow, gone, or comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from tapete.core import Rng, TapeteError
from tapete.scale import Job
from tapete.scale.lots import GRACE, SHRINKING, Lost, Paces, hand_out


class Carrier:
    """Workers on a clock of our own: a lot takes as long as `takes` says of it, and is lost where `fate` says so."""

    grace = GRACE

    def __init__(self, takes: Callable[[int], float], fate: Callable[[int], Exception | None], room: int = 4) -> None:
        self.takes, self.fate, self.rooms = takes, fate, room
        self.now, self.sent, self.most = 0.0, 0, 0
        self.open: dict[int, tuple[float, list[Any]]] = {}
        self.dropped: list[int] = []
        self.sizes: list[int] = []

    def clock(self) -> float:
        return self.now

    def room(self) -> int:
        return self.rooms

    def send(self, parcels: Sequence[Any]) -> int:
        self.sent += 1
        self.sizes.append(len(parcels))
        self.open[self.sent] = (self.now + self.takes(self.sent) * len(parcels), [parcel * 10 for parcel in parcels])
        self.most = max(self.most, len(self.open.keys() - set(self.dropped)))
        return self.sent

    def wait(self, tickets: Sequence[int], seconds: float) -> list[int]:
        self.now = min([self.now + seconds, *(self.open[ticket][0] for ticket in tickets)])
        return [ticket for ticket in tickets if self.open[ticket][0] <= self.now]

    def take(self, ticket: int) -> list[Any]:
        _, results = self.open.pop(ticket)
        if error := self.fate(ticket):
            raise error
        return results

    def drop(self, ticket: int) -> None:
        self.dropped.append(ticket)


def kept(ticket: int) -> None:
    return None


def results(carrier: Carrier, parcels: Sequence[int]) -> list[tuple[int, int]]:
    return list(hand_out(carrier, parcels, carrier.clock))


@pytest.mark.parametrize("seed", range(20))
def test_every_parcel_is_told_once_whatever_is_lost_or_late(seed: int) -> None:
    rng = Rng(seed)
    fates = [rng.uniform() < 0.3 for _ in range(2000)]
    times = [0.01 + rng.uniform() * (100.0 if rng.uniform() < 0.05 else 1.0) for _ in range(2000)]
    carrier = Carrier(lambda i: times[i % 2000], lambda i: Lost("gone") if fates[i % 2000] else None)
    parcels = list(range(100, 300))
    told = results(carrier, parcels)
    assert Counter(index for index, _ in told) == Counter(range(200))
    assert all(result == 10 * parcels[index] for index, result in told)
    assert carrier.most <= carrier.rooms


def test_lots_grow_until_they_take_a_second() -> None:
    carrier = Carrier(lambda i: 0.01, kept)
    results(carrier, range(2000))
    assert carrier.sizes[0] == 1
    assert 60 <= max(carrier.sizes) <= 100
    assert carrier.sent < 60


def test_the_last_lots_are_small_but_not_one_parcel_each() -> None:
    carrier = Carrier(lambda i: 0.01, kept)
    results(carrier, range(1000))
    assert carrier.sizes[-8:] == sorted(carrier.sizes[-8:], reverse=True)
    assert 100 // SHRINKING <= carrier.sizes[-2] < 50
    assert sum(carrier.sizes) == 1000


def test_slow_parcels_travel_alone() -> None:
    carrier = Carrier(lambda i: 5.0, kept)
    results(carrier, range(20))
    assert set(carrier.sizes) == {1}


def test_somebody_who_is_late_keeps_nobody_waiting() -> None:
    carrier = Carrier(lambda i: 10_000.0 if i == 3 else 1.0, kept)
    told = results(carrier, range(20))
    assert sorted(index for index, _ in told) == list(range(20))
    assert carrier.now < 60
    assert carrier.dropped == [3], "nobody waits for it any more"


def test_a_late_lot_is_sent_again_once_and_not_while_there_is_other_work() -> None:
    carrier = Carrier(lambda i: 10_000.0 if i == 1 else 20.0, kept)
    list(hand_out(carrier, range(40), carrier.clock))
    assert carrier.sent == 41, "40 lots of one parcel each, and the late one again"
    assert carrier.now > 13 * 20, "when all others had been sent"


def test_what_went_wrong_is_raised_and_the_rest_is_dropped() -> None:
    carrier = Carrier(lambda i: 1.0, lambda i: TapeteError("no such agent") if i == 2 else None)
    with pytest.raises(TapeteError, match="no such agent"):
        results(carrier, range(20))
    assert sorted(carrier.dropped) == sorted(carrier.open)


def test_it_is_given_up_when_everybody_is_lost() -> None:
    carrier = Carrier(lambda i: 1.0, lambda i: Lost("out of memory"))
    with pytest.raises(TapeteError, match="21 workers in a row are gone; the last one: out of memory"):
        results(carrier, range(20))


def test_who_stops_listening_ends_what_is_under_way() -> None:
    carrier = Carrier(lambda i: 1.0, kept)
    work = hand_out(carrier, range(20), carrier.clock)
    next(work)
    work.close()
    assert carrier.dropped
    assert set(carrier.dropped) == set(carrier.open)


def test_workers_that_join_get_something_to_do() -> None:
    carrier = Carrier(lambda i: 2.0, kept, room=1)
    work = hand_out(carrier, range(40), carrier.clock)
    next(work)
    assert carrier.most == 1
    carrier.rooms = 6
    list(work)
    assert carrier.most == 6


def test_no_parcels_are_no_work() -> None:
    carrier = Carrier(lambda i: 1.0, kept)
    assert results(carrier, []) == []
    assert carrier.sent == 0


def test_parcels_are_asked_for_when_there_is_room_and_not_before() -> None:
    asked: list[int] = []

    def endless() -> Iterator[int]:
        for i in count():
            asked.append(i)
            yield i

    carrier = Carrier(lambda i: 2.0, kept, room=3)
    work = hand_out(carrier, endless(), carrier.clock)
    for told in range(1, 30):
        next(work)
        assert len(asked) <= told + 3, "who takes results slowly makes everybody wait"
    work.close()


def test_who_is_never_lost_is_never_overtaken() -> None:
    carrier = Carrier(lambda i: 10_000.0 if i == 3 else 1.0, kept)
    carrier.grace = float("inf")
    assert len(results(carrier, range(20))) == 20
    assert carrier.sent == 20


def test_the_next_job_of_a_kind_begins_with_the_lots_of_the_last() -> None:
    paces, sizes = Paces(), []
    for name in ("a:a", "a:a", "b:b"):
        carrier = Carrier(lambda ticket: 0.01, kept)
        done = list(hand_out(carrier, range(400), carrier.clock, pace=paces.of(Job(name, {}))))
        assert sorted(done) == [(i, 10 * i) for i in range(400)]
        sizes.append(carrier.sizes[0])
    assert sizes == [1, pytest.approx(100, abs=2), 1]
