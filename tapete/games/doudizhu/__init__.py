"""Dou Dizhu, "fight the landlord": one against two, with 54 cards and 27,472 moves."""

from tapete.core.errors import TapeteError
from tapete.core.spec import Field, Spec

CARDS = "54 numbers: for each rank from 3 to 2 four, as many of them 1 as there are cards; black joker, red joker"
HAND = Field(name="hand", shape=(54,), about=f"own cards. {CARDS}")
UNSEEN = Field(name="unseen", shape=(54,), about="cards in the other two hands")
TO_BEAT = Field(name="to_beat", shape=(54,), about="the move that has to be beaten; zeros: none")
BOMBS = Field(name="bombs", shape=(15,), about="bombs and rockets played, one-hot from 0")
HISTORY = Field(name="history", shape=(5, 162), about="the last fifteen moves as cards, the newest last")

LANDLORD = (
    HAND,
    UNSEEN,
    TO_BEAT,
    Field(name="up_played", shape=(54,), about="cards that the peasant before the landlord has played"),
    Field(name="down_played", shape=(54,), about="cards that the peasant after the landlord has played"),
    Field(name="up_left", shape=(17,), about="cards in the hand of the one before, one-hot from 1"),
    Field(name="down_left", shape=(17,), about="cards in the hand of the one after, one-hot from 1"),
    BOMBS,
    HISTORY,
)
PEASANT = (
    HAND,
    UNSEEN,
    Field(name="landlord_played", shape=(54,), about="cards that the landlord has played"),
    Field(name="mate_played", shape=(54,), about="cards that the other peasant has played"),
    TO_BEAT,
    Field(name="landlord_last", shape=(54,), about="the landlord's last move; zeros: a pass"),
    Field(name="mate_last", shape=(54,), about="the other peasant's last move; zeros: a pass"),
    Field(name="landlord_left", shape=(20,), about="cards in the landlord's hand, one-hot from 1"),
    Field(name="mate_left", shape=(17,), about="cards in the other peasant's hand, one-hot from 1"),
    BOMBS,
    HISTORY,
)
AUCTION = (
    Field(
        name="role", shape=(3,), about="one-hot: landlord, the peasant after him, the one before; zeros: not known yet"
    ),
    Field(name="calls", shape=(3, 5), about="own, the next seat's, the one's after: none yet, pass, 1, 2, 3"),
    Field(name="thrown", shape=(3,), about="how many deals were thrown in before this one, one-hot"),
    Field(
        name="position", shape=(430,), about="as landlord or peasant sees it in the game without bidding, then zeros"
    ),
    HISTORY,
)

# Each play takes a card at least, and both losers keep one: 52 plays, each but the last followed by two passes at most.
LONGEST_PLAY = 52 + 2 * 51
# Of all 153,009,740 hands of 20 cards, 3456789TJJJQQQKKKAAA has the most moves to lead (a test goes through them all).
# Answers are some of the same moves, and a pass.
MOST_LEADS = 519
# The landlord has cards for 5 bombs and each peasant for 4; a rocket would take the place of at least one.
MOST_BOMBS = 13
MOST_CALLS = 5  # in an auction that goes round: three bids and two passes; else each seat speaks once


def doudizhu(*, bidding: bool = False, around: bool = False, spring: bool = False) -> Spec:
    """Dou Dizhu; seat 0 is the landlord, or with bidding whoever bids most."""
    if around and not bidding:
        raise TapeteError("around is about the auction: say bidding=true with it")
    highest = 2.0 * 2**MOST_BOMBS * (3 if bidding else 1) * (2 if spring else 1)
    action = (
        Field(name="cards", shape=(54,), about=f"of the move. {CARDS}"),
        Field(name="left", shape=(54,), about="cards that it leaves in the hand"),
        Field(name="fewest", shape=(12,), about="fewest moves that empty what is left, one-hot: 0 to 10, more"),
    )
    return Spec(
        title="Dou Dizhu with bidding" if bidding else "Dou Dizhu",
        players=3,
        actions=27_472 + 3 * bidding,
        max_actions=MOST_LEADS + 1,
        outcomes=15,
        longest=(3 * (51 + (MOST_CALLS if around else 3)) + 3 if bidding else 54) + LONGEST_PLAY,
        utility=(-highest, highest),
        zero_sum=True,
        hidden=True,
        observations=(AUCTION,) if bidding else (LANDLORD, PEASANT, PEASANT),
        teams=("landlord", "peasants"),
        features=(*action, Field(name="bid", shape=(3,), about="one-hot: 1, 2, 3")) if bidding else action,
        params=(bidding, around, spring),
    )


VARIANTS = (doudizhu,)
