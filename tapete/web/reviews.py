"""Reviews: what a person could have done better, thought of once and kept.

A review is many thoughts, and each of them waits in line behind the moves at all tables. Somebody has one at a time;
when nobody waits for it any more, it ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tapete.web.chance import fresh
from tapete.web.limits import Who
from tapete.web.lines import REVIEW
from tapete.web.records import choices, costliest, decision
from tapete.web.rehearsal import explainer
from tapete.web.table import Refused, Table

if TYPE_CHECKING:
    from tapete.web.house import House

PATIENCE = 10.0  # seconds of thinking that a review may take
Review = dict[str, Any]


class Reviews:
    """All reviews that somebody waits for."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.tasks: dict[tuple[str, int], asyncio.Task[Review]] = {}
        self.waiting: dict[tuple[str, int], int] = {}  # how many wait for each
        self.busy: set[str] = set()  # browsers that wait for one

    async def get(self, table: Table, seat: int, who: Who, gone: Callable[[], Awaitable[object]]) -> Review:
        """A review of a seat, from the store or made now; `gone` returns when whoever asked has left."""
        if known := self.house.store.review(table.name, seat):
            return known
        if who.owner in self.busy:
            raise Refused("busy", "your last review is not ready yet")
        key = (table.name, seat)
        if key not in self.tasks:
            self.tasks[key] = asyncio.ensure_future(self._make(table, seat, who))
        self.busy.add(who.owner)
        self.waiting[key] = self.waiting.get(key, 0) + 1
        task, leaving = self.tasks[key], asyncio.ensure_future(gone())
        try:
            await asyncio.wait([task, leaving], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Refused("gone", "nobody waits for this")
            return task.result()
        finally:
            leaving.cancel()
            self.busy.discard(who.owner)
            self.waiting[key] -= 1
            if not self.waiting[key]:
                del self.waiting[key], self.tasks[key]
                task.cancel()

    async def _make(self, table: Table, seat: int, who: Who) -> Review:
        line, ledger = self.house.slow, self.house.ledger
        mind = await self.house.rehearsals.run(who, explainer, table.game, rank=REVIEW)
        ledger.promise(mind, who, mind.bytes)
        try:
            decisions, left = [], PATIENCE
            for choice in await line.run(who, choices, table, seat, rank=REVIEW):
                thought, took = await line.run_held(who, 0.0, mind.think, choice.view, fresh(), rank=REVIEW)
                decisions.append(decision(choice, thought))
                left -= took
                if left <= 0:
                    break
        finally:
            ledger.release(mind)
        review = {
            "by": mind.by,
            "seat": seat,
            "decisions": costliest(table.game, [each for each in decisions if each]),
        }
        self.house.store.keep_review(table.name, seat, review)
        return review
