"""Testing a game by the contract: these checks are public, so that strangers can test their own games with them.

``check_game``
    plays random games: memory, actions, payoffs, what each seat may know and is told, and whether `redeal` agrees with
    the same game replayed in other worlds;
``check_tree``
    small games: information sets, views and what is told, over every state there is;
``check_redeal``
    the distribution of `redeal`: exactly where the tree can be listed, else by replaying;
``check_player``
    a compiled player: that it looks at nothing but what its seat may know.

A game that fails is told why by a :class:`BrokenContract`, with the moves that led there. The statistical checks fail
by accident less than once in a million comparisons, and are seeded, so that a failure is always the same failure.
"""

from tapete.perft import Counts, perft
from tapete.testing.expect import SIGNIFICANCE, BrokenContract
from tapete.testing.play import check_game
from tapete.testing.players import check_player
from tapete.testing.tree import check_redeal, check_tree

__all__ = [
    "SIGNIFICANCE",
    "BrokenContract",
    "Counts",
    "check_game",
    "check_player",
    "check_redeal",
    "check_tree",
    "perft",
]
