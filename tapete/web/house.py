"""The house: all tables, who listens at them, and the agents' turns.

Everything here happens on one event loop, so a table is changed by one hand at a time. What takes long (thinking,
loading, replaying) happens in threads: kernels let others run beside them. A change is stored before it is told.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from tapete.agents import Policy, choose, load
from tapete.core import Rng, TapeteError, View
from tapete.web.limits import Bucket, Limits
from tapete.web.making import continued, new_table, read_pace, take
from tapete.web.room import Listener, Message, Room
from tapete.web.store import Store
from tapete.web.table import PERSON, THINKING, Options, Refused, Table, clean_name
from tapete.web.thinking import Explainer, thought_json

log = logging.getLogger("tapete.web")
Result = TypeVar("Result")

QUICK = 0.010  # seconds: who thinks longer than this waits in another line
MOST_ASKED = 4  # thoughts that wait at one table


def fresh() -> Rng:
    """A generator that nobody can foresee, a new one for every move: from what was seen, nothing follows."""
    return Rng(secrets.randbits(256))


class House:
    """All tables."""

    def __init__(self, store: Store, limits: Limits | None = None) -> None:
        self.store = store
        self.limits = limits or Limits()
        self.rooms: dict[str, Room] = {}
        self.loading: dict[str, asyncio.Future[Room | None]] = {}
        self.quick = ThreadPoolExecutor(2, "quick")
        self.slow = ThreadPoolExecutor(2, "slow")
        self.seconds: dict[str, float] = {}  # how long agents think, by text: a running mean
        self.makers: dict[str, Bucket] = {}
        self.listening: Counter[str] = Counter()  # sockets of each browser
        self.background: set[asyncio.Task[None]] = set()
        self.doers: dict[str, Callable[[Room, Listener, Message], Awaitable[None]]] = {
            "act": self._act,
            "sit": self._sit,
            "undo": self._undo,
            "hint": self._hint,
            "thinking": self._thinking,
            "pace": self._pace,
            "step": self._step,
            "run": self._run,
            "again": self._again,
            "swap": self._again,
        }

    async def thread(self, work: Callable[..., Result], *arguments: Any, slow: bool = False) -> Result:
        """Does something beside the loop."""
        pool = self.slow if slow else self.quick
        return await asyncio.get_running_loop().run_in_executor(pool, work, *arguments)

    def close(self) -> None:
        """Stops everything; all that was told is stored."""
        for room in self.rooms.values():
            if room.task:
                room.task.cancel()
        for task in self.background:
            task.cancel()
        self.quick.shutdown(wait=False, cancel_futures=True)
        self.slow.shutdown(wait=False, cancel_futures=True)
        self.store.close()

    # Tables come and go.

    async def make_table(self, owner: str, request: Message) -> Message:
        """A new table, as somebody asks for it: {game, seats, name, practice, pace}."""
        bucket = self.makers.setdefault(owner, Bucket(self.limits.makes, 4 * self.limits.makes))
        if not bucket.take():
            raise Refused("slow", "too many tables in too short a time")
        if self.store.open_tables(owner) >= self.limits.tables_each:
            raise Refused("tables", "you have too many unfinished tables")
        texts = take(request, "seats", list)
        options = Options(take(request, "practice", bool, False), read_pace(take(request, "pace", int, 600)))
        name = clean_name(take(request, "name", str, ""))
        table = await self.thread(new_table, take(request, "game", str), texts, options, owner, name)
        self._open(table)
        seat = table.seat_of(owner)
        return {"table": table.name, "seat": seat, "invite": None if table.complete else table.invite}

    async def room(self, name: str) -> Room:
        """A table by its name, from memory or from the store."""
        if name in self.rooms:
            return self.rooms[name]
        if name not in self.loading:  # one loads it, however many wait, and whoever stops waiting
            self.loading[name] = asyncio.ensure_future(self._load(name))
            self.loading[name].add_done_callback(lambda _: self.loading.pop(name, None))
        room = await asyncio.shield(self.loading[name])
        if room is None:
            raise Refused("no-table", "there is no such table")
        return room

    async def _load(self, name: str) -> Room | None:
        found = self.store.load(name)
        if found is None:
            return None
        table, history = found
        await self.thread(table.replay, history)
        self._make_space()
        room = self.rooms[name] = Room(table, used=time.monotonic())
        return room

    def _open(self, table: Table) -> None:
        """A new table is dealt at, stored, and there."""
        self._make_space()
        table.deal(fresh())
        self.store.add(table)
        self.rooms[table.name] = Room(table, used=time.monotonic())

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
                del self.rooms[name]
        self.makers = {owner: bucket for owner, bucket in self.makers.items() if now - bucket.last < 60}

    def join(self, room: Room, listener: Listener) -> None:
        """Somebody looks at a table from now on."""
        owner, limits = listener.owner, self.limits
        if self.listening.total() >= limits.listeners or self.listening[owner] >= limits.listeners_each:
            raise Refused("sockets", "too many connections")
        self.listening[owner] += 1
        room.listeners.add(listener)
        room.refresh()
        self.wake(room)
        self._think_always(room)

    def leave(self, room: Room, listener: Listener) -> None:
        """Somebody has gone."""
        self.listening[listener.owner] -= 1
        if not self.listening[listener.owner]:
            del self.listening[listener.owner]
        room.listeners.discard(listener)
        room.used = time.monotonic()
        room.refresh()

    def message(self, room: Room, owner: str) -> Message:
        """The table as somebody may see it."""
        return room.table.message(owner, {listener.owner for listener in room.listeners})

    # The agents' turns.

    def wake(self, room: Room) -> None:
        """Lets agents move, if it is their turn."""
        if room.task is None and room.agent is not None and room.may_play:
            room.task = asyncio.ensure_future(self._play(room))

    async def _play(self, room: Room) -> None:
        try:
            while (seat := room.agent) is not None and room.may_play:
                await self._turn(room, seat)
        except TapeteError as error:
            room.tell({"is": "error", "code": "agent", "text": str(error)})
        except Exception:
            log.exception("an agent failed at table %s", room.table.name)
            room.tell({"is": "error", "code": "agent", "text": "the agent can't go on"})
        finally:
            room.task = None

    async def _turn(self, room: Room, seat: int) -> None:
        table, state = room.table, room.table.state
        ply, text = table.ply, table.seats[seat].name
        began = time.perf_counter()
        if seat not in room.policies:
            room.policies[seat] = await self.thread(load, text, table.game)
        policy, view = room.policies[seat], state.view(seat)
        action, seconds = await self.thread(timed, policy, view, slow=self.seconds.get(text, 1.0) > QUICK)
        self.seconds[text] = seconds if text not in self.seconds else 0.9 * self.seconds[text] + 0.1 * seconds
        while room.may_play and (pause := room.pause(began)) > 0:
            room.stirred.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(room.stirred.wait(), pause)
        if table.state is not state or table.ply != ply or not room.may_play:
            return  # a move was taken back meanwhile, or everybody has gone
        room.steps = max(0, room.steps - 1)
        self._advance(room, lambda: table.move(action))

    def _advance(self, room: Room, move: Callable[[], None]) -> None:
        """A move, what chance makes of it, the store, and then the people."""
        table, ply = room.table, room.table.ply
        move()
        try:
            table.deal(fresh())
            self.store.append(table, ply)
        except BaseException:
            table.rewind(ply)
            raise
        room.refresh()
        self._think_always(room)

    # What people do.

    async def do(self, room: Room, listener: Listener, message: Any) -> None:
        """Does what somebody asks for, or refuses it and leaves everything as it was."""
        if not isinstance(message, dict):
            raise Refused("malformed", "a message is an object")
        doer = self.doers.get(take(message, "do", str))
        if doer is None:
            raise Refused("malformed", "there is nothing like that to do")
        await doer(room, listener, message)

    async def _act(self, room: Room, listener: Listener, message: Message) -> None:
        table = room.table
        ply, action = take(message, "ply", int), take(message, "action", int)
        seat = table.seat_of(listener.owner)
        view = table.state.view(seat) if seat is not None and table.seats[seat].thinking == "after" else None
        self._advance(room, lambda: table.act(seat, ply, action))
        self.wake(room)
        if view is not None:
            self._explain(room, view, ply, "after", action)

    async def _sit(self, room: Room, listener: Listener, message: Message) -> None:
        table = room.table
        seat, name = take(message, "seat", int), take(message, "name", str, "")
        invite = take(message, "invite", str, "")
        if not (listener.owner == table.maker or secrets.compare_digest(invite.encode(), table.invite.encode())):
            raise Refused("invite", "this seat is for those who were invited")

        def sit() -> None:
            table.sit(seat, listener.owner, name)
            table.deal(fresh())

        self._change(room, sit)
        self.wake(room)

    async def _undo(self, room: Room, listener: Listener, message: Message) -> None:
        table = room.table
        back = table.undo_to(table.seat_of(listener.owner))
        if back is None:
            raise Refused("undo", "there is nothing that can be taken back")
        history = list(table.state.history or [])
        table.rewind(back)
        try:
            self.store.rewind(table)
        except BaseException:
            table.rewind(0)
            table.replay(history)
            raise
        room.policies.clear()
        room.explainers.clear()
        room.refresh()
        self._think_always(room)

    async def _hint(self, room: Room, listener: Listener, message: Message) -> None:
        if room.asked >= MOST_ASKED:
            raise Refused("busy", "the last thoughts are not ready yet")
        self._help(room, room.table.seat_of(listener.owner))

    async def _thinking(self, room: Room, listener: Listener, message: Message) -> None:
        when = take(message, "when", str)
        seat = self._own_seat(room, listener)
        if when not in THINKING:
            raise Refused("malformed", f"thinking is shown {', '.join(THINKING)}")
        if when == "always" and len(room.table.people) > 1 and not room.table.options.practice:
            raise Refused("help", "no help in a game against other people")
        self._change(room, lambda: setattr(room.table.seats[seat], "thinking", when))
        self._think_always(room)

    async def _pace(self, room: Room, listener: Listener, message: Message) -> None:
        pace = read_pace(take(message, "ms", int))
        self._steer(room, listener)
        self._change(room, lambda: setattr(room.table.options, "pace", pace))

    async def _step(self, room: Room, listener: Listener, message: Message) -> None:
        self._watch(room, listener)
        room.steps = 0 if room.table.running else 1
        room.refresh()
        self.wake(room)

    async def _run(self, room: Room, listener: Listener, message: Message) -> None:
        on = take(message, "on", bool)
        self._watch(room, listener)
        room.table.running = on
        room.refresh()
        self.wake(room)

    async def _again(self, room: Room, listener: Listener, message: Message) -> None:
        """Another game of the same people; swapped, everybody moves on by one seat."""
        table = room.table
        self._steer(room, listener)
        if not table.over:
            raise Refused("early", "this game is not over")
        if not table.next:
            following = continued(table, swap=message["do"] == "swap")
            self._open(following)
            table.next = following.name
            self.store.link(table)
            room.refresh()
        room.tell({"is": "moved", "table": table.next})

    def _own_seat(self, room: Room, listener: Listener) -> int:
        seat = room.table.seat_of(listener.owner)
        if seat is None:
            raise Refused("seat", "you don't sit at this table")
        return seat

    def _steer(self, room: Room, listener: Listener) -> None:
        if not room.table.may_steer(listener.owner):
            raise Refused("seat", "only those who play here may do that")

    def _watch(self, room: Room, listener: Listener) -> None:
        self._steer(room, listener)
        if not room.table.watching:
            raise Refused("people", "people play at this table")

    def _change(self, room: Room, change: Callable[[], None]) -> None:
        """Something else than a move: who sits where, what was agreed. All of it, or nothing and a refusal."""
        table, ply = room.table, room.table.ply
        seats, options = [replace(seat) for seat in table.seats], replace(table.options)
        try:
            change()
            self.store.change(table, ply)
        except BaseException:
            table.seats, table.options = seats, options
            table.rewind(ply)
            raise
        room.refresh()

    # Thoughts.

    def _help(self, room: Room, seat: int | None) -> None:
        """A thought before the move: the game is not counted any more, and that is stored first."""
        view = room.table.help(seat)
        if not room.table.options.helped:
            self._change(room, lambda: setattr(room.table.options, "helped", True))
        self._explain(room, view, room.table.ply, "hint", None)

    def _think_always(self, room: Room) -> None:
        seat = room.table.player
        if seat is not None and room.table.seats[seat].kind == PERSON and room.table.seats[seat].thinking == "always":
            with suppress(Refused):  # somebody else has sat down since
                self._help(room, seat)

    def _explain(self, room: Room, view: View, ply: int, kind: str, chosen: int | None) -> None:
        if room.asked >= MOST_ASKED:
            return
        room.asked += 1
        task = asyncio.ensure_future(self._send_thought(room, view, ply, kind, chosen))
        self.background.add(task)
        task.add_done_callback(self.background.discard)

    async def _send_thought(self, room: Room, view: View, ply: int, kind: str, chosen: int | None) -> None:
        seat, owner = view.seat, room.table.seats[view.seat].owner
        try:
            async with room.thinking:
                if seat not in room.explainers:
                    room.explainers[seat] = await self.thread(Explainer, view.game, slow=True)
                explainer = room.explainers[seat]
                thought = await self.thread(explainer.think, view, fresh(), slow=True)
            message = thought_json(view, thought, by=explainer.by)
            room.tell({**message, "ply": ply, "kind": kind, "chosen": chosen}, owner)
        except Exception:
            log.exception("no thought at table %s", room.table.name)
            room.tell({"is": "error", "code": "thought", "text": "nothing comes to mind"}, owner)
        finally:
            room.asked -= 1


def timed(policy: Policy, view: View) -> tuple[int, float]:
    """A move, and the seconds that it took."""
    began = time.perf_counter()
    return choose(policy, view, fresh()), time.perf_counter() - began
