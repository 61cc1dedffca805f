"""A table in memory: who looks at it, and what is only needed while somebody plays there."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from tapete.agents import Policy
from tapete.web.table import AGENT, Table
from tapete.web.thinking import Explainer

Message = dict[str, Any]


class Listener(Protocol):
    """Somebody who looks at a table."""

    owner: str

    def refresh(self) -> None:
        """The table has changed."""

    def send(self, message: Message) -> None:
        """Something is told to this one only, or to all."""


@dataclass(eq=False)
class Room:
    """A table in memory, with what is only needed while somebody plays at it."""

    table: Table
    listeners: set[Listener] = field(default_factory=set)
    policies: dict[int, Policy] = field(default_factory=dict)  # the agents, by seat
    explainers: dict[int, Explainer] = field(default_factory=dict)  # for people, by seat
    task: asyncio.Task[None] | None = None  # the agents' turns
    steps: int = 0  # moves that agents among themselves may still make while they don't run
    used: float = 0.0  # when somebody was last here
    stirred: asyncio.Event = field(default_factory=asyncio.Event)  # something has changed
    asked: int = 0  # thoughts that people wait for
    thinking: asyncio.Lock = field(default_factory=asyncio.Lock)  # an explainer thinks of one thing at a time

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

    def pause(self, began: float) -> float:
        """Seconds that an agent still waits which began to think then; none where it is asked for one step."""
        return 0.0 if self.steps else began + self.table.options.pace / 1000 - time.perf_counter()

    def refresh(self) -> None:
        """Everybody hears of a change; an agent that waits looks whether it still has to."""
        self.stirred.set()
        for listener in self.listeners:
            listener.refresh()

    def tell(self, message: Message, owner: str | None = None) -> None:
        """All are told something, or those of one browser."""
        for listener in self.listeners:
            if owner in (None, listener.owner):
                listener.send(message)
