"""AlphaZero: a network of policy and value that learns from its own tree search, from nothing but the rules.

Silver et al., "Mastering the game of Go without human knowledge", Nature 550 (2017), and "A general reinforcement
learning algorithm that masters chess, shogi, and Go through self-play", Science 362 (2018). For zero-sum games of two
players in which nothing is hidden and chance has no part; it knows none of them. A generation is

1. self-play: the champion plays itself at many tables, whose searches share every call of the network;
2. learning: the challenger learns the searches' visits and the games' results from a buffer of recent positions;
3. the gate: the challenger becomes the champion if it wins enough of a match of pairs, same opening, seats swapped.

Four things are not in those papers. A run may begin with games of plain tree search with random playouts, which are a
hundred times cheaper than games with a network, and better than those with one that knows nothing. Most moves get a
short search, and only those with a long one are learned from (playout cap randomisation, Wu 2019: more games for the
same time, with policies as good). The value that is learned is between the game's result and what the search said,
which is less noisy. Boards are turned and mirrored at random.

`self_play.py` has the games, `training.py` the network and the generations.
"""

from __future__ import annotations

from dataclasses import dataclass

from tapete.learn.knobs import check_knobs, knob

NEEDS = ("torch",)
MOST_VISITS = 2**16 - 1  # that a move's count has room for
MANY = 10**9


@dataclass(frozen=True)
class Config:
    """The knobs. As they are, they fit a small board and an hour on a core."""

    playout_games: int = knob(0, "games of plain tree search with random playouts, to learn from at first", 0, 10**6)
    playouts: int = knob(800, "simulations of a move in those games", 2, MOST_VISITS // 2)
    generations: int = knob(100, "rounds of self-play, learning and gate", 1, MANY)
    games: int = knob(256, "games of self-play in a generation", 1, MANY)
    tables: int = knob(256, "games that are played at the same time", 1, MANY)
    simulations: int = knob(64, "simulations of a long search", 2, MOST_VISITS // 2)
    short: int = knob(16, "simulations of a short search", 2, MOST_VISITS // 2)
    long: float = knob(0.3, "share of the moves that get a long search, and are learned from", 0, 1)
    c: float = knob(1.5, "how much the search explores", 1e-6, 1000)
    noise: float = knob(0.25, "share of noise in the priors at the root of a long search", 0, 1)
    alpha: float = knob(0.5, "of the Dirichlet distribution that the noise is drawn from", 1e-6, 1000)
    plies: int = knob(12, "moves of a game that are drawn by their visits; then the most visited is made", 0, 10**6)
    channels: int = knob(32, "planes of a layer of the network", 1, MANY)
    blocks: int = knob(2, "residual blocks of the network", 0, 10**6)
    buffer: int = knob(100_000, "positions that are remembered", 1, MANY)
    passes: float = knob(8.0, "how often a position is learned from, on average, before it is forgotten", 1e-6, 1000)
    batch: int = knob(256, "positions of a step", 1, MANY)
    rate: float = knob(
        0.002, "step size of AdamW at first; it falls to a tenth of that along half a cosine", 1e-6, 1000
    )
    decay: float = knob(0.0001, "weight decay of AdamW", 0, 1)
    search_share: float = knob(0.5, "share of the search's value in the value to learn; the rest is the result", 0, 1)
    symmetries: bool = knob(True, "turn and mirror the board at random, where there is one")
    gate_games: int = knob(64, "games between challenger and champion; with 0 the challenger always wins", 0, 10**6)
    gate_share: float = knob(0.55, "share of their points that the challenger needs", 0, 1)
    gate_plies: int = knob(4, "random moves before such a game begins", 0, 10**6)
    bfloat16: bool = knob(False, "self-play with 16-bit numbers: twice as fast on processors with avx512_bf16")
    seed: int = knob(1, "names all random streams: the same seed gives the same network")

    def __post_init__(self) -> None:
        check_knobs(self)
