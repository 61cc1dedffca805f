"""How good a decision was, in a word, and how well a seat has played, in one figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tapete.core import Rng, make
from tapete.core.players import play, random
from tapete.review.choices import Choice
from tapete.review.judgement import Judgement

BEST, GOOD, INACCURACY, MISTAKE, BLUNDER, UNJUDGED = (
    "best", "good", "inaccuracy", "mistake", "blunder", "unjudged",
)  # fmt: skip
MARKS = (BEST, GOOD, INACCURACY, MISTAKE, BLUNDER, UNJUDGED)
LEVELS = ((BLUNDER, 0.10), (MISTAKE, 0.05), (INACCURACY, 0.02))  # of what is at stake, that is surely lost
NOTHING = 1e-3  # of what is at stake: solutions are found to about as much
GAMES = 2000  # by which what is at stake is measured


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A choice, and what a judge says of it."""

    choice: Choice
    judgement: Judgement | None
    mark: str
    stake: float = 1.0  # what is at stake, in the same unit as what was lost
    lost: float = 0.0  # how much more the best was worth
    doubt: float = 0.0  # half of a 95 % interval for that


@lru_cache(maxsize=256)
def stake_of(game: str) -> float:
    """What is at stake: twice what a seat is paid or pays on average when all play at random.

    In games that are won or lost by 1 that is the whole way from a loss to a win.
    """
    rules = make(game)
    played = play(rules, [random] * rules.players, GAMES, Rng("stake", game), duplicate=False)
    return 2.0 * float(abs(played.returns).mean()) or 1.0


def decide(choice: Choice, judgement: Judgement | None) -> Decision:
    """Marks a choice by what was surely lost: a judge in doubt accuses nobody."""
    if judgement is None or choice.action not in judgement.values:
        return Decision(choice=choice, judgement=judgement, mark=UNJUDGED)
    lost, doubt = judgement.lost(choice.action), judgement.doubt(choice.action)
    stake = 2.0 if judgement.in_wins else stake_of(str(choice.view.game))
    surely = (lost - doubt) / stake
    mark = next((name for name, least in LEVELS if surely >= least), GOOD)
    if choice.action == judgement.best or lost <= NOTHING * stake:
        mark = BEST
    return Decision(choice=choice, judgement=judgement, mark=mark, stake=stake, lost=lost, doubt=doubt)


def accuracy(decisions: Sequence[Decision]) -> float | None:
    """0 to 100: lichess's curve of what was surely lost, in percent of the stake; the mean over all judged decisions.

    None where nothing was judged.
    """
    judged = [each for each in decisions if each.mark != UNJUDGED]
    if not judged:
        return None
    return sum(map(_accuracy, judged)) / len(judged)


def _accuracy(decision: Decision) -> float:
    if decision.mark == BEST:
        return 100.0
    lost = max(0.0, decision.lost - decision.doubt) / decision.stake
    return min(100.0, max(0.0, 103.1668 * math.exp(-4.354 * lost) - 3.1669))
