"""Clocks: whoever does not move in time has a move made for him, any legal one, so that the others can go on."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from tapete.core import TapeteError
from tapete.web.chance import fresh
from tapete.web.room import Room
from tapete.web.table import PERSON

if TYPE_CHECKING:
    from tapete.web.house import House

log = logging.getLogger("tapete.web")


class Clocks:
    """Winds the clocks of all tables that have one."""

    def __init__(self, house: House) -> None:
        self.house = house

    def wind(self, room: Room) -> None:
        """Starts the clock of the person who has to move; one that runs already for this move goes on.

        It stands still while nobody is at the table, and begins anew when somebody comes.
        """
        table = room.table
        seat, turn = table.player, table.ply
        is_person = seat is not None and table.seats[seat].kind == PERSON
        if not (table.options.clock and is_person and room.listeners):
            self.stop(room)
        elif room.clock is None or room.timed != turn:
            self.stop(room)
            room.timed = turn
            room.clock = asyncio.get_running_loop().call_later(table.options.clock, self._ring, room)

    def stop(self, room: Room) -> None:
        """Nobody's time runs any more."""
        if room.clock is not None:
            room.clock.cancel()
            room.clock = None

    def _ring(self, room: Room) -> None:
        table, seat = room.table, room.table.player
        room.clock = None
        if seat is None or table.ply != room.timed:
            return
        try:
            action = int(fresh().choice(table.state.actions()))
            self.house.advance(room, lambda: table.move(action))
        except TapeteError as error:  # it can't be stored: the next change winds the clock again
            log.error("no move could be made for a seat of table %s: %s", table.name, error)
            return
        room.tell({"is": "late", "seat": seat})
        self.house.turns.wake(room)
