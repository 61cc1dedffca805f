"""What 17 cards are worth in Dou Dizhu, learned from games of a network with itself.

``python -m tapete.agents.bids NETWORK [GAMES]`` prints the weights of `tapete.games.doudizhu.auction`. The landlord is
drawn, not chosen, so his 17 cards are any 17, with three more that he does not know yet when he bids. What the games
paid, in stakes and at most 8 of them, is explained by the facts of the hands with least squares.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from tapete.core import Rng, make
from tapete.games.doudizhu.auction import facts_of_all
from tapete.learn.recording import Recorder
from tapete.nets.moves import MoveNetwork

GAMES = 10_000
CHUNK = 250  # games at a time
MOST = 8.0  # stakes; rare games with many bombs would decide everything


def hands_and_payoffs(network: MoveNetwork, games: int, rng: Rng) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """The 17 cards that each seat was dealt, and what its game paid: [games, 3] each, the landlord first."""
    game = make("doudizhu")
    recorder = Recorder(game, [network.evaluator(game) for _ in range(3)], [True] * 3, min(CHUNK, games))
    hands, payoffs = [], []
    for chunk in range(-(-games // CHUNK)):
        decisions = recorder.play(rng.spawn(chunk), 0.0)
        s = decisions.states.view(game.dtype)[:, 0]
        first = np.flatnonzero(s["moves"] == 0)  # the landlord has always more than one move to lead
        dealt = s["hand"][first].copy()
        dealt[:, 0] -= s["open"][first]
        hands.append(dealt)
        payoffs.append(decisions.payoffs[decisions.games[first]].copy())
    return np.concatenate(hands), np.concatenate(payoffs)


def fit(hands: NDArray[np.uint64], payoffs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weights as landlord and as peasant."""
    bounded = np.clip(payoffs, -MOST, MOST)
    return _explain(hands[:, :1], bounded[:, :1]), _explain(hands[:, 1:], bounded[:, 1:])


def _explain(hands: NDArray[np.uint64], payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.lstsq(facts_of_all(hands.reshape(-1)), payoffs.reshape(-1), rcond=None)[0], np.float64)


if __name__ == "__main__":
    games = int(sys.argv[2]) if len(sys.argv) > 2 else GAMES
    found = fit(*hands_and_payoffs(MoveNetwork.load(sys.argv[1]), games, Rng("bids")))
    for name, weights in zip(("AS_LANDLORD", "AS_PEASANT"), found, strict=True):
        print(f"{name} = np.array({np.round(weights, 3).tolist()})")
