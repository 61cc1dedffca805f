"""Those who search before every move."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from tapete.agents import NotForThisGame, Policy, levels
from tapete.core import Game, Rng, TapeteError, Thought, View, choices
from tapete.core.exact import judge_exactly
from tapete.core.rng import check_rng
from tapete.search import ISMCTS, MCTS, Budget, Worlds
from tapete.search.spending import MEMORY

USUAL = 1000  # simulations, where nothing is said


@dataclass(frozen=True)
class Options:
    """What every searching agent can be told in its name: ``mcts(400, threads=2)``, ``runs/x(seconds=1)``."""

    iterations: int = 0  # simulations a move; 0: as many as there is time for, or where no time is given, USUAL
    _: KW_ONLY
    seconds: float = 0.0  # a move; 0: as long as the simulations take
    threads: int = 1  # trees that grow side by side
    keep: bool = True  # whether what was found out is kept for the next move
    exact: bool = False  # whether the game itself decides near its end, where it knows perfect play
    megabytes: int = MEMORY >> 20  # the most that the trees may take

    def __post_init__(self) -> None:
        if not 1 <= self.megabytes <= 1 << 20:
            raise TapeteError(f"megabytes must be between 1 and {1 << 20}, not {self.megabytes}")

    @property
    def budget(self) -> Budget:
        """What a move may cost."""
        return Budget(self.iterations or (0 if self.seconds else USUAL), self.seconds, self.threads)

    @property
    def memory(self) -> int:
        """The most bytes that the trees may take."""
        return self.megabytes << 20


def searching(agent: Callable[..., Policy]) -> Callable[..., Policy]:
    """Replaces an agent's parameter `options` by the fields of `Options`, which is how it is called and named.

    ``mcts(game, options, *, c)`` becomes ``mcts(game, iterations=0, *, seconds=0.0, threads=1, ..., c)``.
    """
    own = inspect.signature(agent, eval_str=True).parameters
    fields = inspect.signature(Options, eval_str=True).parameters
    before = list(own)[: list(own).index("options")]
    keywords = [p for name, p in own.items() if name not in (*before, "options")]

    def called(*args: Any, **kwargs: Any) -> Policy:
        given = {name: kwargs.pop(name) for name in fields if name in kwargs}
        return agent(*args[: len(before)], Options(*args[len(before) :], **given), **kwargs)

    called.__name__, called.__doc__, called.__module__ = agent.__name__, agent.__doc__, agent.__module__
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*(own[name] for name in before), *fields.values(), *keywords]
    )
    return called


class Searcher:
    """Searches, and remembers what it has found for its next move."""

    def __init__(self, search: MCTS | ISMCTS | Worlds, options: Options) -> None:
        self.search = search
        self.budget = options.budget
        self.exact = options.exact

    @property
    def bytes(self) -> int:
        """Memory that its trees take now; never more than `Options.megabytes`."""
        return self.search.bytes

    def think(self, view: View, rng: Rng) -> Thought:
        """The result of a search; of a forced move there is nothing to think."""
        legal = choices(view)
        check_rng(rng)
        if len(legal) == 1:
            return Thought(probabilities={legal[0]: 1.0})
        return (judge_exactly(view) if self.exact else None) or self.search.run(view, rng, self.budget)


@levels("mcts(100)", "mcts(1000)", "mcts(10000)")
@searching
def mcts(game: Game, options: Options, *, c: float = 2**0.5) -> Policy:
    """Monte Carlo tree search with UCT and random playouts: so many a move, or for so many seconds."""
    if game.spec.hidden or game.spec.has_chance:
        raise NotForThisGame(f"mcts is for games without hidden information or chance, which {game} is not; try ismcts")
    return Searcher(MCTS(game, c=c, keep=options.keep, memory=options.memory), options)


@levels("ismcts(100)", "ismcts(1000)", "ismcts(10000)")
@searching
def ismcts(game: Game, options: Options, *, c: float = 1.0, opponents: str = "search") -> Policy:
    """Monte Carlo tree search over information sets: what is hidden is dealt anew, by what the seat knows."""
    if not (game.spec.hidden or game.spec.has_chance):
        raise NotForThisGame(f"ismcts is for games with hidden information or chance, which {game} is not; try mcts")
    return Searcher(ISMCTS(game, c=c, opponents=opponents, keep=options.keep, memory=options.memory), options)


AGENTS = (mcts, ismcts)
