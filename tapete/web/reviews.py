"""Reviews: what a person could have done better, thought of once and kept.

A review is many thoughts, and each of them waits in line behind the moves at all tables. Somebody has one at a time;
when nobody waits for it any more, it ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapete.review import MARKS, Choice, Decision, Judge, accuracy, choices, decide
from tapete.web.limits import Who
from tapete.web.lines import REVIEW
from tapete.web.table import Refused, Table

if TYPE_CHECKING:
    from tapete.web.house import House

PATIENCE = 30.0  # seconds of thinking that a review may take
FORMAT = 2  # of reviews; those that were kept in another are made anew
MOST = 12  # moves of a decision that are told
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
        known = self.house.store.review(table.name, seat)
        if known and known.get("format") == FORMAT:
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
        mind, size = await self.house.readiness.judge(who, table.game, REVIEW)
        ledger.promise(mind, who, size)
        try:
            made = await line.run(who, choices, table.game, list(table.state.history or []), seat, rank=REVIEW)
            decisions, left = [], PATIENCE
            for choice in made:
                judged, took = await line.run_held(who, 0.0, _decide, mind, choice, rank=REVIEW)
                decisions.append(judged)
                left -= took
                if left <= 0:
                    break
        finally:
            ledger.release(mind)
        review = await line.run(who, review_json, table, seat, decisions, len(made), rank=REVIEW)
        self.house.store.keep_review(table.name, seat, review)
        return review


def _decide(mind: Judge, choice: Choice) -> Decision:
    return decide(choice, mind.judge(choice, choice.rng))


def review_json(table: Table, seat: int, decisions: list[Decision], of: int) -> Review:
    """A review as it is sent and kept. But for the result, all of it is made from what the seat knew at the time."""
    said = [each.judgement for each in decisions if each.judgement]
    in_wins = any(each.in_wins for each in said)
    result = table.state.returns()[seat]
    curve = [[each.choice.ply, each.judgement.values[each.judgement.best]] for each in decisions if each.judgement]
    return {
        "format": FORMAT,
        "seat": seat,
        "by": sorted({each.by for each in said}),
        "in_wins": in_wins,
        "accuracy": accuracy(decisions),
        "marks": {mark: sum(each.mark == mark for each in decisions) for mark in MARKS},
        "of": of,
        "curve": [*curve, [table.ply, float(np.sign(result)) if in_wins else result]],
        "decisions": [_decision_json(each) for each in decisions],
    }


def _decision_json(decision: Decision) -> dict[str, Any]:
    choice, said = decision.choice, decision.judgement
    places = {move.action: vars(move.place) if move.place else None for move in choice.view.scene().moves}
    told = {"ply": choice.ply, "mark": decision.mark, "action": choice.action, "text": choice.view.write(choice.action)}
    told["place"] = places[choice.action]
    if said is None:
        return told
    moves = [
        {
            "action": action,
            "text": choice.view.write(action),
            "place": places[action],
            "value": value,
            "doubt": said.doubt(action),
            "share": said.shares.get(action),
        }
        for action, value in sorted(said.values.items(), key=lambda item: (item[0] != said.best, -item[1]))
    ]
    told |= {"by": said.by, "how": said.how, "lost": decision.lost, "doubt": decision.doubt, "moves": moves[:MOST]}
    return told
