"""What 17 cards are worth to a landlord and to a peasant, in stakes: what an auction is decided by.

Two linear models of eight facts, fitted to 100,000 games of the network that ships with itself by
`python -m tapete.agents.bids FILE 100000`, which says how.
"""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, WORDS, helper, kernel
from tapete.games.doudizhu.cards import JOKERS, RANKS, at_least, count
from tapete.games.doudizhu.fewest import fewest, ranks_in
from tapete.games.doudizhu.table import HIGHEST_BID

KING, ACE, TWO, BLACK, RED = (RANKS.index(rank) for rank in "KA2BR")
FACTS = 8  # one, kings, aces, twos, black joker, red joker, bombs with the rocket, fewest moves that empty the hand
AS_LANDLORD = np.array([-0.646, 0.172, 0.27, 0.547, 1.12, 1.696, 0.304, -0.232])
AS_PEASANT = np.array([0.276, 0.053, 0.087, 0.172, 0.325, 0.494, 0.246, -0.122])


@helper
def facts_of(hand: Any) -> Any:
    """What is counted of a hand: FACTS numbers."""
    _, _, _, fours = at_least(hand)
    bombs = ranks_in(fours) + (hand & JOKERS == JOKERS)
    high = (count(hand, KING), count(hand, ACE), count(hand, TWO), count(hand, BLACK), count(hand, RED))
    return (1, *high, bombs, fewest(hand))


@helper
def worth_of(hand: Any, weights: Any) -> Any:
    """What a hand of 17 cards is worth by a model, in stakes."""
    total = 0.0
    for i, fact in enumerate(facts_of(hand)):
        total += weights[i] * fact
    return total


@helper
def wanted_bid(hand: Any, bid: Any, boldness: Any) -> Any:
    """The bid that suits a hand, where so much has been bid; 0 for a pass.

    As high as can be if the hand gains as landlord, as low as can be if it loses less than as peasant.
    """
    as_landlord, as_peasant = worth_of(hand, AS_LANDLORD) + boldness, worth_of(hand, AS_PEASANT)
    if as_landlord <= as_peasant:
        return 0
    return HIGHEST_BID if as_landlord > 0 else bid + 1


@kernel(types.void(WORDS, DOUBLES))
def count_facts(hands: Any, out: Any) -> None:
    """Fills `out` with the facts of all hands, one hand after another."""
    for i in range(len(hands)):
        facts = facts_of(hands[i])
        for k in range(FACTS):
            out[i * FACTS + k] = facts[k]


def facts_of_all(hands: NDArray[np.uint64]) -> NDArray[np.float64]:
    """[hands, FACTS]."""
    out = np.zeros(len(hands) * FACTS)
    count_facts(np.ascontiguousarray(hands), out)
    return out.reshape(-1, FACTS)
