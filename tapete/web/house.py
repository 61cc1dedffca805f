"""The house: all tables, who looks at them, and what is shared between them.

Everything here happens on one event loop, so a table is changed by one hand at a time. What takes long (thinking,
loading, replaying) happens in threads, in lines: kernels let others run beside them. A change is stored before it is
told.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tapete.core import TapeteError
from tapete.web.chance import deal
from tapete.web.clocks import Clocks
from tapete.web.limits import Limits, Meter, Who
from tapete.web.lines import Line
from tapete.web.making import branch, new_table, read_clock, read_game, read_pace, take
from tapete.web.memory import Ledger, table_bytes
from tapete.web.readiness import Readiness
from tapete.web.rehearsal import rehearse
from tapete.web.reviews import Reviews
from tapete.web.room import Listener, Message, Room
from tapete.web.store import Reader, Store
from tapete.web.table import AGENT, Options, Refused, Table, clean_name
from tapete.web.thinking import offered
from tapete.web.thoughts import Thoughts
from tapete.web.turns import Turns

CROWD = 64  # quick agents at a time, most of which only wait for their time


class House:
    """All tables."""

    def __init__(self, store: Store, limits: Limits | None = None) -> None:
        self.store, self.reader = store, Reader(store.path)
        self.limits = limits = limits or Limits()
        self.rooms: dict[str, Room] = {}
        self.loading: dict[str, asyncio.Future[Room | None]] = {}
        self.quick = Line("quick", 2, CROWD)  # agents that don't search
        self.slow = Line("slow", limits.threads, is_patient=True)  # those that do, and all that people want to know
        self.errands = Line("errands", 2)  # everything else: games, lists, replays
        self.readiness = Readiness()
        self.tasks: set[asyncio.Task[None]] = set()  # agents that are made ready before anybody waits for them
        self.messages = Meter(limits.messages_each, limits.messages_at)
        self.makes = Meter(limits.makes_each, limits.makes_at)
        self.ledger = Ledger(limits)
        self.listening: Counter[str] = Counter()  # sockets of each browser
        self.listening_at: Counter[str] = Counter()  # of each address
        self.speaking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # a browser says one thing at a time
        self.turns, self.thoughts, self.reviews = Turns(self), Thoughts(self), Reviews(self)
        self.clocks = Clocks(self)

    def close(self) -> None:
        """Stops everything; all that was told is stored."""
        for room in self.rooms.values():
            self.clocks.stop(room)
            if room.task:
                room.task.cancel()
        self.thoughts.close()
        for task in self.tasks:
            task.cancel()
        self.readiness.close()
        for line in (self.quick, self.slow, self.errands):
            line.close()
        self.reader.close()
        self.store.close()

    # Tables come and go.

    async def make_table(self, who: Who, request: Message) -> Message:
        """A new table: {game, seats, name, practice, pace, clock} are asked for; with {from, ply}, see `branch`."""
        self.may_make(who)
        texts = take(request, "seats", list)
        options = Options(
            practice=take(request, "practice", bool, False),
            pace=read_pace(take(request, "pace", int, 600)),
            clock=read_clock(take(request, "clock", int, 0)),
        )
        name, text = clean_name(take(request, "name", str, "")), take(request, "game", str)
        game = await self.ready_game(who, text)
        table = await self.errands.run(who, new_table, game, texts, options, who.owner, name)
        if "from" in request:
            before = (await self.room(take(request, "from", str), who)).table
            await self.errands.run(who, branch, table, before, take(request, "ply", int))
        self.open(table, who, await self.errands.run(who, table_bytes, table))
        self._rehearse(table, who)
        seat = table.seat_of(who.owner)
        return {"table": table.name, "seat": seat, "invite": None if table.complete else table.invite}

    def may_make(self, who: Who) -> None:
        """Refuses somebody who makes too many tables."""
        if not self.makes.take(who):
            raise Refused("slow", "too many tables in too short a time")
        if self.store.unfinished(who.owner) >= self.limits.tables_each:
            raise Refused("tables", "you have too many unfinished tables")

    def open(self, table: Table, who: Who, size: int) -> None:
        """A new table is dealt at, stored, and there; `size` are the bytes of its agents' trees."""
        self.ledger.check(who, size)
        self._make_space()
        deal(table)
        self.store.add(table)
        self.rooms[table.name] = Room(table, size, who=who)

    async def room(self, name: str, who: Who) -> Room:
        """A table by its name, from memory or from the store; `who` wants it."""
        if name in self.rooms:
            return self.rooms[name]
        if name not in self.loading:  # one loads it, however many wait, and whoever stops waiting
            self.loading[name] = asyncio.ensure_future(self._load(name, who))
            self.loading[name].add_done_callback(lambda _: self.loading.pop(name, None))
        room = await asyncio.shield(self.loading[name])
        if room is None:
            raise Refused("no-table", "there is no such table")
        return room

    async def _load(self, name: str, who: Who) -> Room | None:
        try:
            kept = self.store.load(name)
            if kept is None:
                return None
            with suppress(TapeteError):  # what is wrong with the game, opening it will tell
                await self.ready_game(who, kept.about[0])
            table = await self.errands.run(who, kept.open)
            size = await self.errands.run(who, table_bytes, table)
        except TapeteError as error:
            broken = error if isinstance(error, Refused) else Refused("broken", f"this table can't be opened: {error}")
            self.store.mark_broken(name, str(broken))
            raise broken from None
        self._make_space()
        room = self.rooms[name] = Room(table, size)
        self._rehearse(table, who)
        return room

    async def ready_game(self, who: Who, text: str) -> str:
        """Returns when a game can be played at a table: its name."""
        name = str(await self.errands.run(who, read_game, text))
        await self.readiness.ready(who, offered, name)
        await self.readiness.ready(who, rehearse, name)
        return name

    def _rehearse(self, table: Table, who: Who) -> None:
        """Makes agents ready while people come to the table."""
        for text in sorted({seat.name for seat in table.seats if seat.kind == AGENT and not table.over}):
            task = asyncio.ensure_future(self.readiness.ready(who, rehearse, str(table.game), text))
            self.tasks.add(task)
            task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        """What went wrong will go wrong at the agent's turn, where it is told."""
        self.tasks.discard(task)
        if not task.cancelled():
            task.exception()

    def _make_space(self) -> None:
        if len(self.rooms) >= self.limits.tables:
            self.sweep(0.0)
        if len(self.rooms) >= self.limits.tables:
            raise Refused("full", "all tables are taken; come back later")

    def sweep(self, idle: float) -> None:
        """Forgets tables at which nobody has been for a while; they stay in the store."""
        now = time.monotonic()
        for name, room in list(self.rooms.items()):
            if not room.listeners and now - room.used >= idle:
                if room.task:
                    room.task.cancel()
                self._drop(room)
                del self.rooms[name]
        self.messages.sweep()
        self.makes.sweep()
        self.speaking = defaultdict(asyncio.Lock, {o: lock for o, lock in self.speaking.items() if lock.locked()})

    def settle(self, room: Room) -> None:
        """A table that is over, or at which nobody is, needs no trees."""
        if (room.table.over or not room.listeners) and room.task is None and not room.asked:
            self._drop(room)

    def _drop(self, room: Room) -> None:
        room.policies.clear()
        room.explainers.clear()
        for what in (room, *((room, seat) for seat in range(room.table.game.players))):
            self.ledger.release(what)

    def join(self, room: Room, listener: Listener) -> None:
        """Somebody looks at a table from now on."""
        address, owner = listener.who
        limits = self.limits
        if (
            self.listening.total() >= limits.listeners
            or self.listening[owner] >= limits.listeners_each
            or self.listening_at[address] >= limits.listeners_at
        ):
            raise Refused("sockets", "too many connections")
        if not room.table.over:
            self.ledger.promise(room, listener.who, room.bytes)
        self.listening[owner] += 1
        self.listening_at[address] += 1
        is_news = room.is_missing(owner)
        room.listeners.add(listener)
        if room.table.may_steer(owner):
            room.who = listener.who
        self.clocks.wind(room)
        if is_news:
            room.refresh()
        else:
            listener.refresh()
        self.turns.wake(room)
        self.thoughts.think_always(room)

    def leave(self, room: Room, listener: Listener) -> None:
        """Somebody has gone."""
        for counter, key in ((self.listening, listener.who.owner), (self.listening_at, listener.who.address)):
            counter[key] -= 1
            if not counter[key]:
                del counter[key]
        room.listeners.discard(listener)
        room.used = time.monotonic()
        room.stirred.set()
        self.clocks.wind(room)
        if room.is_missing(listener.who.owner):
            room.refresh()
        self.settle(room)

    # Changes: all of it, or nothing and a refusal.

    def advance(self, room: Room, move: Callable[[], None]) -> None:
        """A move, what chance makes of it, the store, and then the people."""
        table, ply = room.table, room.table.ply
        move()
        try:
            deal(table)
            self.store.append(table, ply)
        except BaseException:
            table.rewind(ply)
            raise
        self.clocks.wind(room)
        room.refresh()
        self.settle(room)
        self.thoughts.think_always(room)

    def change(self, room: Room, change: Callable[[], Any]) -> None:
        """Something else than a move: who sits where, what was agreed."""
        table, ply = room.table, room.table.ply
        seats, options = [replace(seat) for seat in table.seats], replace(table.options)
        try:
            change()
            self.store.change(table, ply)
        except BaseException:
            table.seats, table.options = seats, options
            table.rewind(ply)
            raise
        self.clocks.wind(room)
        room.refresh()

    def take_back(self, room: Room, ply: int) -> None:
        """Goes back to where so many moves had been made; agents forget what they have seen since."""
        table, history = room.table, list(room.table.state.history or [])
        table.rewind(ply)
        try:
            self.store.rewind(table)
        except BaseException:
            table.rewind(0)
            table.replay(history)
            raise
        room.policies.clear()
        room.explainers.clear()
        self.clocks.wind(room)
        room.refresh()
        self.thoughts.think_always(room)
