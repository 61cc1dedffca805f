"""A critic that sees the hands of all seats, for learners that would otherwise learn from nothing but how games end.

How a game ends is what a decision was worth, and a lot of luck. Somebody who sees all cards foresees the end better
than any player, and what is foreseen some moves later has less luck in it. So a decision is learned from with the
mixture of what the critic says of all later moments and of the end: the lambda-returns of Sutton (1988), with a critic
that knows more than the player, as in PerfectDou (Yang et al. 2022). Who plays never sees what the critic sees: it only
makes targets, and is not part of what a run publishes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng
from tapete.learn.buffers import Rows
from tapete.learn.fitting import Fit
from tapete.learn.late import nets, torch
from tapete.learn.recording import Decisions, look_at_all
from tapete.nets import Network
from tapete.nets.architecture import Architecture, Layer

STRANGERS = 2  # kinds of those who are not at home: who goes by rules, who plays at random


class Foresight(NamedTuple):
    """A critic as it was at a moment, for those who play and have no PyTorch."""

    game: Game
    widths: NDArray[np.int64]  # [seats] how many numbers are read of what each of them sees
    network: Network

    def of(self, decisions: Decisions, abroad: int = 0) -> NDArray[np.float32]:
        """What each seat will be paid, before each decision: [N, seats]; `abroad` tells which strangers were there."""
        kinds = np.full(len(decisions.seats), abroad, dtype=np.int32)
        return self.network.forward(rows_of(self.game, decisions.states, decisions.seats, kinds, self.widths))


def rows_of(
    game: Game,
    states: NDArray[np.uint8],
    seats: NDArray[np.int32],
    abroad: NDArray[np.int32],
    widths: NDArray[np.int64],
) -> NDArray[np.float32]:
    """What a critic reads: who moves, what all seats see, and which strangers are there."""
    rows = look_at_all(game, states, seats, widths)[:, : game.players + widths.sum()]
    return np.hstack([rows, np.eye(1 + STRANGERS, dtype=np.float32)[abroad, 1:]])


class Critic:
    """Foresees what a game pays each seat, from what all seats see together, and whether strangers are there."""

    def __init__(self, game: Game, widths: NDArray[np.int64], *, units: int, memory: int, batch: int, rng: Rng) -> None:
        """`widths` are how many numbers are read of what each seat sees."""
        self.game, self.widths = game, widths
        shape = Architecture(
            (
                Layer("input", shape=(game.players + int(widths.sum()) + STRANGERS,), name="seen"),
                Layer("dense", units=units, activation="relu", name="hidden"),
                Layer("dense", units=units // 2, activation="relu", name="trunk"),
                Layer("dense", units=game.players, name="value"),
            ),
            heads=("value",),
        )
        self.network = nets.to_torch(shape, rng)
        columns = {
            "state": (np.uint8, (game.size,)),
            "seat": (np.int32, ()),
            "abroad": (np.int32, ()),
            "paid": (np.float32, (game.players,)),
        }
        self.fit = Fit({"critic": self.network}, columns, memory=memory, batch=batch)

    def foresight(self) -> Foresight:
        """The critic of now."""
        return Foresight(self.game, self.widths, nets.from_torch(self.network))

    def remember(self, decisions: Decisions, paid: NDArray[np.float32], passes: float, *, abroad: int = 0) -> None:
        """Takes decisions and what their games paid each seat [N, seats]; `abroad` tells which strangers were there."""
        kinds = np.full(len(decisions.seats), abroad, dtype=np.int32)
        rows: Rows = {"state": decisions.states, "seat": decisions.seats, "abroad": kinds, "paid": paid}
        self.fit.add(rows, passes)

    def learn(self, rng: Rng, rate: float) -> None:
        """The steps that are due."""
        self.fit.learn(self._loss, rng, rate)

    def _loss(self, rows: Rows) -> torch.Tensor:
        seen = rows_of(self.game, rows["state"], rows["seat"], rows["abroad"], self.widths)
        error = self.network(torch.from_numpy(seen)) - torch.from_numpy(rows["paid"])
        return (error**2).mean()


def trace_returns(
    games: NDArray[np.int32], foreseen: NDArray[np.float32], paid: NDArray[np.float32], trace: float
) -> NDArray[np.float32]:
    """What each decision is learned from, for every seat [N, seats].

    `games` [N] are the games of the decisions, one game after another; `foreseen` [N, seats] is said before each
    decision, `paid` [N, seats] by its game. With a trace of 1 it is what was paid; with 0, what was said one decision
    later.

    >>> said = np.array([[9.0], [0.5], [0.0]], dtype=np.float32)
    >>> trace_returns(np.array([0, 0, 0]), said, np.ones((3, 1), dtype=np.float32), 0.5)[:, 0].tolist()
    [0.5, 0.5, 1.0]
    """
    wanted = paid.copy()
    for i in range(len(games) - 2, -1, -1):
        if games[i] == games[i + 1]:
            wanted[i] = (1 - trace) * foreseen[i + 1] + trace * wanted[i + 1]
    return wanted
