"""What people do at a table: every message of a socket is read here, and done or refused."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tapete.web.chance import deal
from tapete.web.making import continued, read_pace, take
from tapete.web.room import Listener, Message, Room
from tapete.web.table import THINKING, Refused

if TYPE_CHECKING:
    from tapete.web.house import House

REACTIONS = ("hello", "nice", "thanks", "ouch", "wow", "hurry")  # the page has their words
Doing = Callable[["House", Room, Listener, Message], Awaitable[None]]


async def do(house: House, room: Room, listener: Listener, message: Any) -> None:
    """Does what somebody asks for, or refuses it and leaves everything as it was."""
    if not isinstance(message, dict):
        raise Refused("malformed", "a message is an object")
    name = take(message, "do", str)
    if name not in DOINGS:
        raise Refused("malformed", "there is nothing like that to do")
    doing, cost = DOINGS[name]
    if cost and not house.messages.take(listener.who, cost):
        raise Refused("slow", "too much in too short a time")
    await doing(house, room, listener, message)


async def act(house: House, room: Room, listener: Listener, message: Message) -> None:
    """A move."""
    table = room.table
    ply, action = take(message, "ply", int), take(message, "action", int)
    seat = table.seat_of(listener.who.owner)
    view = table.state.view(seat) if seat is not None and table.seats[seat].thinking == "after" else None
    house.advance(room, lambda: table.act(seat, ply, action))
    room.who = listener.who
    house.turns.wake(room)
    if view is not None:
        house.thoughts.explain(room, view, ply, "after", action)


async def sit(house: House, room: Room, listener: Listener, message: Message) -> None:
    """Takes an open seat: by invitation, or at one's own table."""
    table, owner = room.table, listener.who.owner
    seat, name = take(message, "seat", int), take(message, "name", str, "")
    invite = take(message, "invite", str, "")
    if not (owner == table.maker or secrets.compare_digest(invite.encode(), table.invite.encode())):
        raise Refused("invite", "this seat is for those who were invited")

    def change() -> None:
        table.sit(seat, owner, name)
        deal(table)

    house.change(room, change)
    house.turns.wake(room)


async def undo(house: House, room: Room, listener: Listener, message: Message) -> None:
    """Takes the own last move back."""
    back = room.table.undo_to(room.table.seat_of(listener.who.owner))
    if back is None:
        raise Refused("undo", "there is nothing that can be taken back")
    house.take_back(room, back)


async def hint(house: House, room: Room, listener: Listener, message: Message) -> None:
    """A thought for the own position, now."""
    house.thoughts.hint(room, room.table.seat_of(listener.who.owner))


async def thinking(house: House, room: Room, listener: Listener, message: Message) -> None:
    """When thoughts are shown."""
    when = take(message, "when", str)
    seat = room.table.seat_of(listener.who.owner)
    if seat is None:
        raise Refused("seat", "you don't sit at this table")
    if when not in THINKING:
        raise Refused("malformed", f"thinking is shown {', '.join(THINKING)}")
    if when == "always" and len(room.table.people) > 1 and not room.table.options.practice:
        raise Refused("help", "no help in a game against other people")
    house.change(room, lambda: setattr(room.table.seats[seat], "thinking", when))
    house.thoughts.think_always(room)


async def pace(house: House, room: Room, listener: Listener, message: Message) -> None:
    """How long agents wait."""
    ms = read_pace(take(message, "ms", int))
    _steer(room, listener)
    house.change(room, lambda: setattr(room.table.options, "pace", ms))


async def step(house: House, room: Room, listener: Listener, message: Message) -> None:
    """One move of agents among themselves."""
    _watch(room, listener)
    room.steps = 0 if room.table.running else 1
    room.refresh()
    house.turns.wake(room)


async def run(house: House, room: Room, listener: Listener, message: Message) -> None:
    """Whether agents among themselves play on by themselves."""
    on = take(message, "on", bool)
    _watch(room, listener)
    room.table.running = on
    room.refresh()
    house.turns.wake(room)


async def react(house: House, room: Room, listener: Listener, message: Message) -> None:
    """A word to the others at the table, one of a few."""
    sign, seat = take(message, "sign", str), room.table.seat_of(listener.who.owner)
    if seat is None:
        raise Refused("seat", "you don't sit at this table")
    if sign not in REACTIONS:
        raise Refused("malformed", f"one can say {', '.join(REACTIONS)}")
    room.tell({"is": "reaction", "seat": seat, "sign": sign})


async def again(house: House, room: Room, listener: Listener, message: Message) -> None:
    """Another game of the same people; swapped, everybody moves on by one seat."""
    table = room.table
    _steer(room, listener)
    if not table.over:
        raise Refused("early", "this game is not over")
    if not table.next:
        house.may_make(listener.who)
        following = continued(table, swap=message["do"] == "swap")
        house.open(following, listener.who, room.bytes)
        table.next = following.name
        house.store.link(table)
        room.texts.clear()  # those who come later read it there
    room.tell({"is": "moved", "table": table.next})


def _steer(room: Room, listener: Listener) -> None:
    if not room.table.may_steer(listener.who.owner):
        raise Refused("seat", "only those who play here may do that")


def _watch(room: Room, listener: Listener) -> None:
    _steer(room, listener)
    if not room.table.watching:
        raise Refused("people", "people play at this table")


# What can be done, and what it costs more than any message does: a thought, or a change that is stored.
DOINGS: dict[str, tuple[Doing, float]] = {
    "act": (act, 0),
    "sit": (sit, 1),
    "undo": (undo, 4),
    "hint": (hint, 9),
    "thinking": (thinking, 1),
    "pace": (pace, 1),
    "step": (step, 0),
    "run": (run, 0),
    "react": (react, 9),
    "again": (again, 0),
    "swap": (again, 0),
}
