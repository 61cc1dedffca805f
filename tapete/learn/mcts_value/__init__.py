"""The pipeline of the Othello paper: a value network from games of plain tree search, and again with it in the tree.

papers/othello-mcts.txt, sections III.C to III.F. In generation 1 a tree search with random playouts plays a random
mover, with either colour in turn; every position gets the result of its game; a convolutional network learns to foresee
it. In the generations after that the network judges the leaves of the tree, and learns from all games so far.

Where the paper leaves a choice:

- It labels a position with the result for the side that searched, encodes colours, and later reads the network's
  answer as the prospects of the player to move. Here all is the mover's: his discs are the first plane, his result the
  label.
- One game gives 60 positions that differ by a disc and have the same label, so the 10 % for validation are whole games:
  drawn position by position, they would measure what the network remembers.
- Finished positions, which the paper keeps, are left out: the tree never asks about them, and nobody is to move.
- From one generation to the next the weights are kept, and the optimiser begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from tapete.learn.knobs import check_knobs, knob

NEEDS = ("torch",)
MANY = 10**9


@dataclass(frozen=True)
class Config:
    """The knobs, with the paper's values where it tells them."""

    games: int = knob(1000, "games of a generation", 2, MANY)
    iterations: int = knob(50, "simulations of a move", 1, MANY)
    network_games: int = knob(0, "games of a generation with the network in the tree; 0: as many as `games`", 0, MANY)
    network_iterations: int = knob(0, "simulations of a move in those; 0: as many as `iterations`", 0, MANY)
    opponent: str = knob("random", "who plays the search: random, or mcts, the search itself", among=("random", "mcts"))
    openings: int = knob(0, "plies at the start of a game that are random", 0, MANY)
    generations: int = knob(2, "rounds of games and learning; from the second on, the network is in the tree", 1, MANY)
    epochs: int = knob(30, "epochs of a generation, at most", 1, MANY)
    epoch_size: int = knob(0, "positions of an epoch, drawn anew for each; 0: all there are", 0, MANY)
    batch: int = knob(128, "positions of a step", 1, MANY)
    rate: float = knob(0.001, "step size of Adam at first", 1e-9, 1)
    factor: float = knob(0.8, "what the step size is multiplied by on a plateau", 0.01, 1)
    plateau: int = knob(5, "epochs without a better validation loss, until the step size falls", 1, MANY)
    patience: int = knob(10, "epochs without a better validation loss, until a generation ends", 1, MANY)
    validation: float = knob(0.1, "share of the games that is kept for validation", 0.01, 0.5)
    class_weights: bool = knob(True, "wins, draws and losses weigh the same in the loss, however many there are")
    symmetries: bool = knob(False, "turn and mirror the board at random, which the paper does not")
    seed: int = knob(1, "names all random streams: the same seed gives the same network")

    def __post_init__(self) -> None:
        check_knobs(self)

    def games_of(self, generation: int) -> int:
        """How many games are played in a generation, the first of which is 0."""
        return self.network_games or self.games if generation else self.games

    def iterations_of(self, generation: int) -> int:
        """How many simulations a move gets in a generation."""
        return self.network_iterations or self.iterations if generation else self.iterations
