"""Decisions judged by searching, several times over: what differs from one search to the next is the judge's doubt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tapete.agents import Policy, Thought
from tapete.core import Rng
from tapete.review.choices import Choice
from tapete.review.judgement import Judgement

SEARCHES = 6
T95, Z95 = 2.571, 1.96  # Student's for as many, and the normal one
HARDLY = 0.02  # of all tries: a move that got fewer is not judged
FEWEST = 30  # tries, the same


class Searching:
    """Judges by an agent that searches. Each search is of a policy of its own, so that they are independent."""

    def __init__(self, text: str, make: Callable[[], Policy], *, in_wins: bool = False) -> None:
        """`in_wins` says that its values are not payoffs, but how likely a game is won: 1 surely, -1 never."""
        self.text, self.make, self.in_wins = text, make, in_wins

    def judge(self, choice: Choice, rng: Rng) -> Judgement | None:
        """Means over all searches, of the moves that were looked at enough."""
        thoughts = [self.make().think(choice.view, rng.spawn(0))]
        again = self.make().think(choice.view, rng.spawn(1))
        if again.values != thoughts[0].values or again.visits != thoughts[0].visits:  # else it draws nothing
            thoughts += [again, *(self.make().think(choice.view, rng.spawn(i)) for i in range(2, SEARCHES))]
        moves = _looked_at(thoughts)
        tries = np.array([[thought.visits.get(a, 0) for a in moves] for thought in thoughts], dtype=float)
        worth = np.array([[thought.values.get(a, 0.0) for a in moves] for thought in thoughts])
        means, count = (tries * worth).sum(axis=0) / tries.sum(axis=0), tries.sum(axis=0)
        spread = _spread(worth) if len(thoughts) > 1 else None
        if choice.action not in moves and (own := self._after(choice, rng.spawn(SEARCHES))) is not None:
            moves, means, count, spread = (
                [*moves, choice.action],
                np.append(means, own[0]),
                np.append(count, own[1]),
                None,
            )
        if not moves:
            return None
        best = int(means.argmax())
        if spread is None:
            low, high = (-1.0, 1.0) if self.in_wins else choice.view.game.spec.utility
            widest = _widest(means, count, low, high)
            doubts = Z95 * np.sqrt(widest + widest[best])
        else:
            doubts = T95 * spread[best]
        return Judgement(
            by=self.text,
            how="search",
            in_wins=self.in_wins,
            best=moves[best],
            values=dict(zip(moves, means.tolist(), strict=True)),
            doubts=dict(zip(moves, doubts.tolist(), strict=True)),
            shares=dict(zip(moves, (count / count.sum()).tolist(), strict=True)),
        )

    def _after(self, choice: Choice, rng: Rng) -> tuple[float, float] | None:
        """What the move that was made leads to, by a search of its own, and its tries: where everything is open."""
        view = choice.view
        spec = view.game.spec
        if spec.hidden or spec.has_chance or spec.players != 2 or not spec.zero_sum:
            return None
        state = view.sample(rng).apply(choice.action)
        if state.over:
            return state.returns()[view.seat], np.inf
        thought = self.make().think(state.view(state.player), rng)
        if thought.value is None:  # a forced move is no thought
            return None
        return thought.value if state.player == view.seat else -thought.value, float(sum(thought.visits.values()))


def _looked_at(thoughts: list[Thought]) -> list[int]:
    """The moves that the searches have tried often enough, all of them together, and each search at least once."""
    total = sum(sum(thought.visits.values()) for thought in thoughts)
    enough = max(FEWEST, HARDLY * total)
    moves = {action for thought in thoughts for action in thought.visits}
    return sorted(
        action
        for action in moves
        if sum(thought.visits.get(action, 0) for thought in thoughts) >= enough
        and all(thought.visits.get(action, 0) for thought in thoughts)
    )


def _spread(worth: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard error of how much better a move is than another: [better, other], from values [searches, moves]."""
    differences = worth[:, :, None] - worth[:, None, :]
    return np.asarray(differences.std(axis=0, ddof=1) / np.sqrt(len(worth)))


def _widest(means: NDArray[np.float64], tries: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """The most that the means of payoffs within bounds may vary, as a variance (Bhatia and Davis 2000)."""
    return np.asarray(np.clip((high - means) * (means - low), 0, None) / tries)
