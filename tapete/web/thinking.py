"""What an agent makes of a person's position, told to that person: from his View and nothing else."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

from tapete.agents import Policy, Thought, agents, opponents
from tapete.arena.characters import called
from tapete.core import Game, Rng, View, make
from tapete.shipped import strengths
from tapete.web.memory import bound, seat_agent

TEACHER = "best(5)"  # who is asked where it can explain what it does: what moves are worth against who plays like it
# Else, who says what moves are worth: the first of these that is offered and searches, so that it can say it of all.
REVIEWERS = ("best(4)", "ismcts(1000)", "mcts(1000)")
EXACT = "equilibrium"  # whose probabilities are preferred


@lru_cache(maxsize=256)
def offered(game: str) -> tuple[str, ...]:
    """Who can be asked to play a game."""
    return tuple(opponents(make(game)))


def about(text: str) -> str:
    """What an agent says of itself."""
    return " ".join((agents()[text.partition("(")[0]].__doc__ or "").split())


def searches(text: str, game: Game) -> bool:
    """Whether an agent searches in a game; `best` does only where nothing stronger is known."""
    return hasattr(seat_agent(text, game), "budget")


def strength(text: str, game: Game) -> str:
    """How strong an agent was measured to be; "" where nobody has measured it. Variants are told of the usual game."""
    return strengths().get(str(game).partition("(")[0], {}).get(text, "")


class Teacher(Policy, Protocol):
    """A policy that knows what moves are worth, and takes longer to say it than to decide."""

    def explain(self, view: View, rng: Rng) -> Thought:
        """What it would do, and what every move is worth."""


def _teacher(game: Game) -> Teacher | None:
    policy: Any = seat_agent(TEACHER, game)
    return policy if hasattr(policy, "explain") else None


class Explainer:
    """Says how likely each move is to be right and what it is worth; it remembers within one game, for one seat."""

    def __init__(self, game: Game) -> None:
        texts = offered(str(game))
        self.teacher = _teacher(game) if TEACHER in texts else None
        if self.teacher:
            self.texts: tuple[str, ...] = (TEACHER,)
            self.bytes = bound(self.teacher)
            return
        reviewer = next((text for text in REVIEWERS if text in texts and searches(text, game)), None)
        exact = EXACT if EXACT in texts else None
        self.texts = tuple(text for text in (exact, reviewer) if text) or texts[-1:]
        self.exact: Policy | None = seat_agent(exact, game) if exact else None
        self.reviewer: Policy = seat_agent(reviewer or texts[-1], game)
        self.bytes = bound(self.reviewer)

    @property
    def by(self) -> str:
        """Who thinks."""
        return " + ".join(self.texts)

    def think(self, view: View, rng: Rng) -> Thought:
        """Values by search; probabilities by the solution where there is one, else by how often a move was tried."""
        if self.teacher:
            return self.teacher.explain(view, rng)
        thought = self.reviewer.think(view, rng)
        if self.exact is not None:
            return replace(thought, probabilities=self.exact.think(view, rng).probabilities)
        if tries := sum(thought.visits.values()):
            return replace(thought, probabilities={action: n / tries for action, n in thought.visits.items()})
        return thought


def thought_json(view: View, thought: Thought, *, by: str) -> dict[str, Any]:
    """A thought as it is sent, the likeliest moves first."""
    moves: list[dict[str, Any]] = [
        {
            "action": move.action,
            "text": move.text,
            "place": vars(move.place) if move.place else None,
            "share": thought.probabilities.get(move.action, 0.0),
            "value": thought.values.get(move.action),
            "visits": thought.visits.get(move.action),
        }
        for move in view.scene().moves
    ]
    moves.sort(key=lambda move: -move["share"])
    return {
        "is": "thought",
        "seat": view.seat,
        "by": by,
        "called": called(view.game, by),
        "value": thought.value,
        "in_wins": view.game.spec.utility == (-1, 1),
        "moves": moves,
    }
