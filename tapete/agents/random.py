"""Any legal move, each as likely as the others: what everything else is measured against."""

from tapete.agents import Policy
from tapete.core import Game, View


class Random:
    """Plays at random."""

    def probabilities(self, view: View) -> dict[int, float]:
        """Uniform over the legal moves."""
        legal = view.actions()
        return dict.fromkeys(legal, 1 / len(legal))


def random(game: Game) -> Policy:
    """Plays at random."""
    return Random()


AGENTS = (random,)
