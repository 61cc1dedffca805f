"""A game by somebody who doesn't live in this house: small, honest, and with everything in it that can go wrong.

Chance deals a card to each of two seats. Seat 0 hides a coin, heads or tails. Seat 1 passes, or asks: then all are told
who has the higher card. Seat 0 stops, and the coin is turned up: seat 1 wins 1 if it asked and the coin shows tails, or
passed and it shows heads. Or seat 0 shows: the cards are turned up, the higher wins 2, and the coin is never seen.
"""

from __future__ import annotations

from tapete.core.spec import Field, Spec


def higher(cards: int = 4) -> Spec:
    """With so many cards."""
    return Spec(
        title="Higher card",
        name=f"higher({cards})",
        players=2,
        actions=2,
        max_actions=2,
        outcomes=cards,
        longest=5,
        utility=(-2, 2),
        zero_sum=True,
        hidden=True,
        observations=(
            (
                Field(name="card", about="own / cards"),
                Field(name="turns", shape=(4,), about="one-hot"),
                Field(name="asked"),
                Field(name="higher", about="1: own, -1: the other's, 0: not known"),
                Field(name="coin", about="1 or 2 where it is known"),
            ),
        ),
        features=(Field(name="action", shape=(2,), about="one-hot"),),
        params=(cards,),
    )
