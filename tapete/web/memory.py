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

LARGEST = 32 << 20  # bytes of one tree
SMALLEST = 1 << 20
MOVES = 8  # of an agent, whose simulations a tree has room for
SET = 176  # bytes of an information set with its moves and its share of the hash table
NODE = 32
CHILDREN = 16  # nodes that a simulation adds


def seat_agent(text: str, game: Game) -> Policy:
    """The agent that a text names, with a tree that has a bound."""
    policy = load(text, game)
    bound(policy)
    return policy


def bound(policy: Policy) -> int:
    """Bounds the tree of a policy by what it can fill in a few moves; the bytes that it may take, 0 without a tree."""
    if (known := getattr(policy, "bytes", None)) is not None:
        return int(known)
    search, budget = getattr(policy, "search", None), getattr(policy, "budget", None)
    if search is None or budget is None:
        return 0
    entry = SET if hasattr(search, "infosets") else NODE * CHILDREN
    size = min(LARGEST, max(SMALLEST, MOVES * entry * budget.iterations)) if budget.iterations else LARGEST
    if hasattr(search, "infosets"):
        search.infosets = 1 << (size // SET).bit_length() - 1  # of a hash table: a power of two
    else:
        search.nodes = max(size // NODE, 2 * search.game.spec.max_actions + 1)
    return size * budget.threads


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
