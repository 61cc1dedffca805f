"""Those who search before every move."""

from __future__ import annotations

from tapete.agents import Policy, levels
from tapete.core import Game, Rng, TapeteError, Thought, View
from tapete.core.exact import judge_exactly
from tapete.search import ISMCTS, MCTS, Budget

USUAL = 1000  # simulations, where nothing is said


class Searcher:
    """Searches, and remembers what it has found for its next move."""

    def __init__(self, search: MCTS | ISMCTS, budget: Budget, *, exact: bool = False) -> None:
        self.search = search
        self.budget = budget
        self.exact = exact  # near the end, perfect play where the game knows it

    def think(self, view: View, rng: Rng) -> Thought:
        """The result of a search; of a forced move there is nothing to think."""
        legal = view.actions()
        if len(legal) == 1:
            return Thought(probabilities={legal[0]: 1.0})
        return (judge_exactly(view) if self.exact else None) or self.search.run(view, rng, self.budget)


def budget(iterations: int, seconds: float, threads: int) -> Budget:
    """What the parameters of a searching agent say: seconds, where they are given without iterations."""
    return Budget(iterations or (0 if seconds else USUAL), seconds, threads)


@levels("mcts(100)", "mcts(1000)", "mcts(10000)")
def mcts(
    game: Game, iterations: int = 0, *, seconds: float = 0.0, threads: int = 1, c: float = 2**0.5, keep: bool = True
) -> Policy:
    """Monte Carlo tree search with UCT and random playouts: so many a move, or for so many seconds."""
    return Searcher(MCTS(game, c=c, keep=keep), budget(iterations, seconds, threads))


@levels("ismcts(100)", "ismcts(1000)", "ismcts(10000)")
def ismcts(
    game: Game,
    iterations: int = 0,
    *,
    seconds: float = 0.0,
    threads: int = 1,
    c: float = 1.0,
    opponents: str = "search",
    keep: bool = True,
) -> Policy:
    """The same over information sets, for hidden information: worlds are dealt by what the seat knows."""
    if not (game.spec.hidden or game.spec.has_chance):
        raise TapeteError(f"ismcts is for games with hidden information or chance, which {game} is not; try mcts")
    return Searcher(ISMCTS(game, c=c, opponents=opponents, keep=keep), budget(iterations, seconds, threads))


AGENTS = (mcts, ismcts)
