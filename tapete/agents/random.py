"""Any legal move, each as likely as the others: what everything else is measured against."""

from tapete.agents import Policy, Thought
from tapete.core import Game, Rng, View, choices, players


class Random:
    """Plays at random."""

    player = players.random()

    def think(self, view: View, rng: Rng) -> Thought:
        """Uniform over the legal moves."""
        legal = choices(view)
        return Thought(probabilities=dict.fromkeys(legal, 1 / len(legal)))


def random(game: Game) -> Policy:
    """Plays at random."""
    return Random()


AGENTS = (random,)
