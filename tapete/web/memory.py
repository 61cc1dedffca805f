"""Memory for trees: what an agent's tree may take, and one budget for all tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from contextlib import suppress
from functools import lru_cache

from tapete.agents import Policy, load
from tapete.core import Game, TapeteError, make
from tapete.web.limits import Limits, Who
from tapete.web.table import AGENT, Refused, Table

LARGEST = 32 << 20  # bytes of one agent's trees
SMALLEST = 1 << 20
MOVES = 8  # of an agent, whose simulations its trees have room for
ENTRY = 512  # bytes that a simulation adds: a node with its children, or an information set with its moves


def seat_agent(text: str, game: Game) -> Policy:
    """The agent that a text names, with a tree that has a bound."""
    policy = load(text, game)
    bound(policy)
    return policy


def bound(policy: Policy) -> int:
    """Bounds the trees of a policy by what a few moves can fill; the bytes that they may take, 0 where it has none."""
    search, budget = getattr(policy, "search", None), getattr(policy, "budget", None)
    if search is None or budget is None:
        return 0
    most = max(SMALLEST, MOVES * ENTRY * budget.iterations) if budget.iterations else LARGEST
    search.memory = min(search.memory, LARGEST, most)
    return int(search.memory)


@lru_cache(maxsize=4096)
def tree_bytes(text: str, game: str) -> int:
    """The bytes that an agent's tree may take in a game; none, where it can't be loaded: its turn will tell."""
    with suppress(TapeteError):
        return bound(load(text, make(game)))
    return 0


def table_bytes(table: Table) -> int:
    """The bytes that the agents of a table may take together; it loads each of them once."""
    return sum(tree_bytes(seat.name, str(table.game)) for seat in table.seats if seat.kind == AGENT)


class Ledger:
    """Who has been promised how much memory, in all and by address."""

    def __init__(self, limits: Limits) -> None:
        self.most, self.most_at = limits.memory, limits.memory_at
        self.promised: dict[Hashable, tuple[str, int]] = {}  # by what it is for: the address, and bytes
        self.by_address: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """Bytes that are promised."""
        return self.by_address.total()

    def check(self, who: Who, size: int) -> None:
        """Refuses what would not fit."""
        if size and (self.total + size > self.most or self.by_address[who.address] + size > self.most_at):
            raise Refused("memory", "there is no memory left for players who think so much: take others, or come later")

    def promise(self, what: Hashable, who: Who, size: int) -> None:
        """Sets memory aside for something, once; refused where there is none left."""
        if what in self.promised or not size:
            return
        self.check(who, size)
        self.promised[what] = (who.address, size)
        self.by_address[who.address] += size

    def release(self, what: Hashable) -> None:
        """It is not needed any more."""
        if what in self.promised:
            address, size = self.promised.pop(what)
            self.by_address[address] -= size
            if not self.by_address[address]:
                del self.by_address[address]
