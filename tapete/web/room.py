"""A table in memory: who looks at it, and what is only needed while somebody plays there."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from tapete.agents import Policy
from tapete.web.limits import Who
from tapete.web.table import AGENT, Table
from tapete.web.thinking import Explainer

Message = dict[str, Any]
to_text = json.JSONEncoder(separators=(",", ":")).encode  # in ASCII: whatever is in somebody's name, it can be sent
NOBODY = Who("")


class Listener(Protocol):
    """Somebody who looks at a table."""

    who: Who

    def refresh(self) -> None:
        """The table has changed."""

    def send(self, message: Message) -> None:
        """Something is told to this one only, or to all."""


@dataclass(eq=False)
class Room:
    """A table in memory, with what is only needed while somebody plays at it."""

    table: Table
    bytes: int = 0  # that the trees of its agents may take
    listeners: set[Listener] = field(default_factory=set)
    policies: dict[int, Policy] = field(default_factory=dict)  # the agents, by seat
    explainers: dict[int, Explainer] = field(default_factory=dict)  # for people, by seat
    task: asyncio.Task[None] | None = None  # the agents' turns
    steps: int = 0  # moves that agents among themselves may still make while they don't run
    used: float = field(default_factory=time.monotonic)  # when somebody was last here
    who: Who = NOBODY  # for whom the agents think: who did something here last
    stirred: asyncio.Event = field(default_factory=asyncio.Event)  # something has changed
    asked: int = 0  # thoughts that people wait for
    thinking: asyncio.Lock = field(default_factory=asyncio.Lock)  # an explainer thinks of one thing at a time
    clock: asyncio.TimerHandle | None = None  # rings when a person's time is over
    timed: int = -1  # the ply for which it runs
    texts: dict[str, str] = field(default_factory=dict)  # the table as it is told, by whom: see `text`

    @property
    def agent(self) -> int | None:
        """The seat of an agent that has to move."""
        seat = self.table.player
        return seat if seat is not None and self.table.seats[seat].kind == AGENT else None

    @property
    def may_play(self) -> bool:
        """Whether an agent moves now: when people play, and among themselves when somebody watches and lets them."""
        table = self.table
        return not table.watching or (bool(self.listeners) and (table.running or self.steps > 0))

    def is_missing(self, owner: str) -> bool:
        """Whether somebody sits here who does not look: only then his coming and going is news for others."""
        return self.table.seat_of(owner) is not None and all(each.who.owner != owner for each in self.listeners)

    def pause(self, began: float) -> float:
        """Seconds that an agent still waits whose turn it has been since; none where it is asked for one step."""
        return 0.0 if self.steps else began + self.table.options.pace / 1000 - time.perf_counter()

    def refresh(self) -> None:
        """Everybody hears of a change; an agent that waits looks whether it still has to."""
        self.texts.clear()
        self.stirred.set()
        for listener in self.listeners:
            listener.refresh()

    def text(self, owner: str) -> str:
        """The table as somebody may see it, made once for all sockets that are told the same."""
        known = {self.table.maker, *(seat.owner for seat in self.table.seats)}
        key = owner if owner in known else ""
        if key not in self.texts or self.clock:  # time goes on
            here = {listener.who.owner for listener in self.listeners}
            self.texts[key] = to_text({**self.table.message(key, here), "left": self.left})
        return self.texts[key]

    @property
    def left(self) -> int | None:
        """Milliseconds that whoever has to move still has; None where no clock runs."""
        if self.clock is None:
            return None
        return max(0, round(1000 * (self.clock.when() - asyncio.get_running_loop().time())))

    def tell(self, message: Message, owner: str | None = None) -> None:
        """All are told something, or those of one browser."""
        for listener in self.listeners:
            if owner in (None, listener.who.owner):
                listener.send(message)
