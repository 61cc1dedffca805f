"""The abstraction: which row of a strategy a seat reads where it is to decide, suits and much of the past forgotten.

A turn is decided in stages, each with what matters to it: whether to bet on the envido, then whether to bet on the
tricks (or to go to the mazo), then which card. So each stage has few choices and a small table:

========  =========================================  ================================================================
stage     choices                                    what is looked at
========  =========================================  ================================================================
CALL      go on, envido, real, falta                 envido points, how good the hand is, both scores
REPLY     no quiero, quiero, higher calls            the calls so far, envido points, how good the hand is, both scores
BET       go on, raise truco, mazo                   who leads, how often one wins with open cards against what the
                                                     other may hold, how strong one looks to him, how the envido ended,
                                                     what the hand is worth, who may raise, what both lack up to five;
                                                     in the first trick the very cards and the points that were shown,
                                                     while the match is not about to end
ANSWER    no quiero, quiero, raise                   the same
CARD      the cards left, weakest first; equal       the cards, the other's card, how strong he looks, who may raise
          ones are one choice
========  =========================================  ================================================================

A row is a place in one flat array, where there is a number for each of its choices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.games.truco.bets import CHAINS
from tapete.solve.truco.knowledge import (
    FIRST_LEVELS,
    LATER_LEVELS,
    LOOKS,
    PAIRS,
    POINTS,
    RANKS,
    STANDINGS,
    TELLS,
    TRIPLES,
)

CALL, REPLY, BET, ANSWER, CARD = range(5)
GO_ON = -1  # the choice that leads to the next stage
MOST_CHOICES = 5

N_TRIPLES, N_PAIRS, N_STANDINGS, N_CHAINS = len(TRIPLES), len(PAIRS), len(STANDINGS), len(CHAINS)

# What both lack to win the match, in classes. The sixteenth point is where malas begin, and the falta pays a match.
_LACKS = (1, 2, 3, 4, 6, 9, 12, 15, 19, 24, 30)  # the last of each class
SCORES = len(_LACKS)
SCORE_CLASS = np.array([0, *np.searchsorted(_LACKS, np.arange(1, 31))], dtype=np.int64)  # [lack]
NEAR = 5  # who lacks more than four points has nothing to fear from the tricks of one hand

_ENVIDOS = (3, 5, 6, 7, 22, 24, *range(25, 34))  # the last of each class of envido points
ENVIDOS = len(_ENVIDOS)
ENVIDO_CLASS = np.searchsorted(_ENVIDOS, np.arange(34)).astype(np.int64)  # [points]

VALUE_CLASS = np.array([0, 1, 1, 1, 2, 2, 3, 3], dtype=np.int64)  # [value of a card in the envido]
CALL_PLACES = 7  # mano to lead; pie on a card of each class of values; asked truco: mano, pie
CALL_LEVELS, REPLY_LEVELS = 6, 2  # of how good the hand is
ENDS = 4  # of the envido: not called; declined by the other, by me; shown
UNSHOWN = 3  # of those, nothing is shown
FIRST_LOOKS = 3  # of points that are shown
FIRST_ENDS = UNSHOWN + FIRST_LOOKS  # the same, with how strong the points of one seat look once they are shown
HELD_ENDS = UNSHOWN + len(POINTS) * FIRST_LOOKS  # with what the other has shown, and how strong mine look
LED_ENDS = UNSHOWN + len(POINTS) * LOOKS  # the same once I have led
FOLLOW_ENDS = UNSHOWN + TELLS  # with what the card that was led and the points of who led it tell
WORTHS = 6  # of the hand and who may raise it: 1; 2, mine or his; 3, mine or his; 4
ASKS = 3  # truco, retruco, vale cuatro
RAISERS = 4  # both, I, the other, nobody
FIRST_ANSWERS = 6  # mano without a card on the table, with one that makes him look so and so (3), pie without, with

_SCORES = (("mine", SCORES), ("his", SCORES))
_NEAR = (("mine", NEAR), ("his", NEAR))
_LATER = (("level", LATER_LEVELS), ("look", LOOKS), ("end", ENDS))

# The tables in the order in which they lie: what is looked at, each with its number of classes; and the most choices.
AXES: dict[str, tuple[tuple[tuple[str, int], ...], int]] = {
    "call": ((("place", CALL_PLACES), ("envido", ENVIDOS), ("level", CALL_LEVELS), *_SCORES), 4),
    "reply": ((("place", 4), ("chain", N_CHAINS), ("envido", ENVIDOS), ("level", REPLY_LEVELS), *_SCORES), 5),
    "bet0": ((("place", 2), ("level", FIRST_LEVELS), ("end", FIRST_ENDS), ("worth", WORTHS), *_NEAR), 3),
    "bet_leading": ((("cards", N_TRIPLES), ("end", HELD_ENDS), ("worth", WORTHS)), 3),
    "bet_following": ((("cards", N_TRIPLES), ("card", RANKS), ("end", FOLLOW_ENDS), ("worth", WORTHS)), 3),
    "bet1": ((("place", N_STANDINGS), *_LATER, ("worth", WORTHS), *_NEAR), 3),
    "bet2": ((("place", N_STANDINGS), *_LATER, ("worth", WORTHS), *_NEAR), 3),
    "answer0": ((("place", FIRST_ANSWERS), ("level", FIRST_LEVELS), ("end", FIRST_ENDS), ("worth", ASKS), *_NEAR), 3),
    "answer_holding": ((("place", 2), ("cards", N_TRIPLES), ("end", HELD_ENDS), ("worth", ASKS)), 3),
    "answer_led": ((("cards", N_PAIRS), ("card", RANKS), ("end", LED_ENDS), ("worth", ASKS)), 3),
    "answer1": ((("place", 2 * N_STANDINGS), *_LATER, ("worth", ASKS), *_NEAR), 3),
    "answer2": ((("place", 2 * N_STANDINGS), *_LATER, ("worth", ASKS), *_NEAR), 3),
    "lead0": ((("cards", N_TRIPLES), ("end", HELD_ENDS), ("raisers", RAISERS)), 3),
    "follow0": ((("cards", N_TRIPLES), ("card", RANKS), ("end", FOLLOW_ENDS), ("raisers", RAISERS)), 3),
    "lead1": ((("cards", N_PAIRS), ("place", N_STANDINGS), ("look", LOOKS), ("raisers", RAISERS)), 3),
    "follow1": (
        (("cards", N_PAIRS), ("card", RANKS), ("place", N_STANDINGS), ("look", LOOKS), ("raisers", RAISERS)),
        3,
    ),
}
_SIZES = [width * math.prod(size for _, size in axes) for axes, width in AXES.values()]
PLACES = sum(_SIZES)  # numbers in a strategy
_begins = dict(zip(AXES, np.cumsum([0, *_SIZES]).tolist(), strict=False))
CALL_AT, REPLY_AT = _begins["call"], _begins["reply"]
BET_LEADING_AT, BET_FOLLOWING_AT = _begins["bet_leading"], _begins["bet_following"]
ANSWER_HOLDING_AT, ANSWER_LED_AT = _begins["answer_holding"], _begins["answer_led"]
BET_AT = np.array([_begins[f"bet{trick}"] for trick in range(3)])
ANSWER_AT = np.array([_begins[f"answer{trick}"] for trick in range(3)])
LEAD_AT = np.array([_begins[f"lead{trick}"] for trick in range(2)])
FOLLOW_AT = np.array([_begins[f"follow{trick}"] for trick in range(2)])


def tables(numbers: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The numbers of a strategy, [PLACES], as its tables: views of them, an axis for each thing that is looked at."""
    return {
        name: numbers[begin : begin + size].reshape(*(classes for _, classes in axes), width)
        for (name, (axes, width)), begin, size in zip(AXES.items(), _begins.values(), _SIZES, strict=True)
    }
