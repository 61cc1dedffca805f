"""What people are told of their own positions: hints before a move, and thoughts after it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from tapete.core import View
from tapete.web.chance import fresh
from tapete.web.lines import THOUGHT
from tapete.web.room import Room
from tapete.web.table import PERSON, Refused
from tapete.web.thinking import Explainer, thought_json

if TYPE_CHECKING:
    from tapete.web.house import House

log = logging.getLogger("tapete.web")
MOST_ASKED = 4  # thoughts that wait at one table


class Thoughts:
    """Thinks for people, behind the agents' moves."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.tasks: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Nobody waits any more."""
        for task in self.tasks:
            task.cancel()

    def hint(self, room: Room, seat: int | None) -> None:
        """A thought before the move: the game is not counted any more, and that is stored first."""
        if room.asked >= MOST_ASKED:
            raise Refused("busy", "the last thoughts are not ready yet")
        view = room.table.help(seat)
        if not room.table.options.helped:
            self.house.change(room, lambda: setattr(room.table.options, "helped", True))
        self.explain(room, view, room.table.ply, "hint", None)

    def think_always(self, room: Room) -> None:
        """A hint for whoever is to move, where he always wants one."""
        seat = room.table.player
        if seat is not None and room.table.seats[seat].kind == PERSON and room.table.seats[seat].thinking == "always":
            with suppress(Refused):  # somebody else has sat down since
                self.hint(room, seat)

    def explain(self, room: Room, view: View, ply: int, kind: str, chosen: int | None) -> None:
        """A thought about a view, told to the one whose view it is, unless too many are asked for already."""
        if room.asked >= MOST_ASKED:
            return
        room.asked += 1
        task = asyncio.ensure_future(self._send(room, view, ply, kind, chosen))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _send(self, room: Room, view: View, ply: int, kind: str, chosen: int | None) -> None:
        owner = room.table.seats[view.seat].owner
        try:
            async with room.thinking:
                mind = await self._explainer(room, view)
                thought = await self.house.slow.run(room.who, mind.think, view, fresh(), rank=THOUGHT)
            message = thought_json(view, thought, by=mind.by)
            room.tell({**message, "ply": ply, "kind": kind, "chosen": chosen}, owner)
        except Refused as error:
            room.tell({"is": "error", "code": error.code, "text": str(error)}, owner)
        except Exception:
            log.exception("no thought at table %s", room.table.name)
            room.tell({"is": "error", "code": "thought", "text": "nothing comes to mind"}, owner)
        finally:
            room.asked -= 1
            self.house.settle(room)

    async def _explainer(self, room: Room, view: View) -> Explainer:
        if view.seat not in room.explainers:
            made = await self.house.readiness.explainer(room.who, view.game, THOUGHT)
            self.house.ledger.promise((room, view.seat), room.who, made.bytes)
            room.explainers[view.seat] = made
        return room.explainers[view.seat]
