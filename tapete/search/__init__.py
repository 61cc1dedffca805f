"""Search: trees grown by simulation, for games of open information and for those of hidden information."""

from tapete.search.ismcts import ISMCTS
from tapete.search.mcts import MCTS
from tapete.search.playout import playouts
from tapete.search.spending import Budget
from tapete.search.worlds import Worlds

__all__ = ["ISMCTS", "MCTS", "Budget", "Worlds", "playouts"]
