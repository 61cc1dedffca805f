"""A strategy of the abstraction as a compiled player of truco, whole matches and single hands alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.compile import helper
from tapete.core.evaluator import Evaluator, bytes_at, evaluator
from tapete.core.records import opener
from tapete.games.truco.bets import NO_QUIERO, QUIERO
from tapete.games.truco.moves import DECLINED, view
from tapete.solve.truco.abstraction import AXES, GO_ON, WORTHS, tables
from tapete.solve.truco.blueprint import STEPS
from tapete.solve.truco.knowledge import KNOWLEDGE, Knowledge
from tapete.solve.truco.rows import lack, row_of
from tapete.solve.truco.stages import action_of, choices, next_stage, stage_of

open_knowledge = opener(KNOWLEDGE)
PROBS = len(Knowledge._fields)  # where the strategy is in the model


@helper
def stand_up(s: Any, seat: int, legal: Any, n: int, priors: Any) -> None:
    """Where declining would end the match, nobody declines: what was likely to is accepted."""
    price = int(DECLINED[s.chain]) if s.waits else int(s.level)
    if (not s.waits and not s.asked) or price < lack(s, 1 - seat):
        return
    for i in range(n):
        if legal[i] == NO_QUIERO:
            for j in range(n):
                if legal[j] == QUIERO:
                    priors[j] += priors[i]
            priors[i] = 0.0


@helper
def share(probs: Any, row: int, n: int, choice: int) -> float:
    """How often a strategy takes one of the n choices of a row; the first where no walk has been."""
    total = 0.0
    for i in range(n):
        total += probs[row + i]
    if total > 0:
        return float(probs[row + choice]) / total
    return 1.0 if choice == 0 else 0.0


@helper
def look_up(known: Any, probs: Any, s: Any, seat: int, legal: Any, n: int, priors: Any) -> None:
    """Stage by stage: how likely each move is. Rows where no walk has been say the first choice."""
    for i in range(n):
        priors[i] = 0.0
    stage, left = stage_of(s), 1.0  # how likely the seat gets to the stage
    while left > 0:
        count, onward = choices(s, stage), 0.0
        row = row_of(s, known, seat, stage) if count > 1 else 0
        for choice in range(count):
            likely = left * (share(probs, row, count, choice) if count > 1 else 1.0)
            action = action_of(s, stage, choice)
            if action == GO_ON:
                onward = likely
                continue
            for i in range(n):
                if legal[i] == action:
                    priors[i] += likely
        left = onward
        stage = next_stage(s, stage)
    stand_up(s, seat, legal, n, priors)


@evaluator
def _look_up(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    look_up(open_knowledge(model), bytes_at(model[PROBS]), view(state), seat, legal, n, priors)


def strategy_player(steps: NDArray[np.uint8], known: Knowledge) -> Evaluator:
    """Plays by the weights of all choices, [PLACES], as a file has them in 255ths."""
    return Evaluator(_look_up, (*known, steps), priors=True, values=False)


RAISABLE = (0, 1, 3)  # of what a hand may be worth, as `rows.worth` counts: nobody has raised, or it is mine to raise


def playing_on(steps: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The strategy of somebody who never goes to the mazo: he goes on instead, for who declines then pays no more."""
    changed = steps.copy()
    for name, table in tables(changed).items():
        if not name.startswith("bet"):
            continue
        by_worth = np.moveaxis(table, [axis for axis, _ in AXES[name][0]].index("worth"), 0)
        for worth in range(WORTHS):
            rows, mazo = by_worth[worth], 2 if worth in RAISABLE else 1
            rows[..., 0] += np.minimum(rows[..., mazo], STEPS - rows[..., 0])
            rows[..., mazo] = 0
    return changed
