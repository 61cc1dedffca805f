"""The agents' turns: whose it is, thinks in a thread, and answers when the time has come."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from tapete.agents import Policy, choose
from tapete.core import TapeteError, View
from tapete.web.chance import fresh
from tapete.web.memory import seat_agent
from tapete.web.rehearsal import rehearse
from tapete.web.room import Room
from tapete.web.tempo import QUICK, Tempo

if TYPE_CHECKING:
    from tapete.web.house import House

log = logging.getLogger("tapete.web")
AGAIN = 1.0  # seconds after which a turn that has failed is tried again; doubled each time
LONGEST = 60.0
NEWS = 2.0  # seconds after which people are told that they wait for a compiler


class Turns:
    """Lets agents move."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.tempo = Tempo()

    def wake(self, room: Room) -> None:
        """Lets agents move, if it is their turn."""
        if room.task is None and room.agent is not None and room.may_play:
            room.task = asyncio.ensure_future(self._play(room))

    async def _play(self, room: Room) -> None:
        """Turn after turn. One that fails is tried again as long as somebody waits; whoever comes later, wakes it."""
        wait = AGAIN
        try:
            while (seat := room.agent) is not None and room.may_play:
                try:
                    await self._turn(room, seat)
                    wait = AGAIN
                except Exception as error:
                    self._tell(room, error)
                    room.policies.pop(seat, None)
                    if not room.listeners:
                        return
                    await asyncio.sleep(wait)
                    wait = min(2 * wait, LONGEST)
        finally:
            room.task = None
            self.house.settle(room)

    def _tell(self, room: Room, error: Exception) -> None:
        text = str(error) if isinstance(error, TapeteError) else "the agent can't go on"
        if not isinstance(error, TapeteError):
            log.error("an agent failed at table %s", room.table.name, exc_info=error)
        room.tell({"is": "error", "code": "agent", "text": text})

    async def _turn(self, room: Room, seat: int) -> None:
        table, state = room.table, room.table.state
        ply, text = table.ply, table.seats[seat].name
        began = time.perf_counter()
        policy, hold = await self._seat(room, seat)
        line = self.house.quick if hold == QUICK else self.house.slow
        action, took = await line.run_held(room.who, hold, decide, policy, state.view(seat))
        self.tempo.learn(text, table.game, took)
        while room.may_play and (pause := room.pause(began)) > 0:
            room.stirred.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(room.stirred.wait(), pause)
        if table.state is not state or table.ply != ply or not room.may_play:
            return  # a move was taken back meanwhile, or everybody has gone
        room.steps = max(0, room.steps - 1)
        self.house.advance(room, lambda: table.move(action))

    async def _seat(self, room: Room, seat: int) -> tuple[Policy, float]:
        """The agent of a seat, and how long its answers are held."""
        text, game = room.table.seats[seat].name, room.table.game
        await self._ready(room, text)
        self.house.ledger.promise(room, room.who, room.bytes)
        if seat not in room.policies:
            room.policies[seat] = await self.house.quick.run(room.who, seat_agent, text, game)
        policy = room.policies[seat]
        hold = self.tempo.hold(text, game, policy)
        if hold is None:
            await self.house.slow.run(room.who, self.tempo.measure, text, game)
            hold = self.tempo.hold(text, game, policy)
        return policy, hold or QUICK

    async def _ready(self, room: Room, text: str) -> None:
        """Waits until an agent has what it needs, and tells people where that takes long."""
        ready = asyncio.ensure_future(self.house.readiness.ready(room.who, rehearse, str(room.table.game), text))
        try:
            if not (await asyncio.wait({ready}, timeout=NEWS))[0]:
                room.tell({"is": "error", "code": "preparing", "text": "the opponent is being compiled, once for ever"})
            await ready
        finally:
            ready.cancel()


def decide(policy: Policy, view: View) -> int:
    """A move."""
    return choose(policy, view, fresh())
