"""One-card poker. With three cards it is Kuhn poker."""

from dataclasses import replace

from tapete.core.spec import Field, Spec, within


def ocp(cards: int = 13) -> Spec:
    """One-card poker with a deck of that many cards."""
    within("cards", cards, 2, 1_000_000)
    return Spec(
        title=f"One-card poker, {cards} cards",
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
                Field(name="seat", shape=(2,), about="one-hot"),
                Field(name="card", about="(rank + 1) / cards; 0 before the deal"),
                Field(name="line", shape=(3, 2), about="the moves so far, one-hot: pass, bet"),
            ),
        ),
        features=(Field(name="action", shape=(2,), about="one-hot: pass, bet"),),
        params=(cards,),
    )


def kuhn() -> Spec:
    """Kuhn poker: one-card poker with a jack, a queen and a king."""
    return replace(ocp(3), title="Kuhn poker")


VARIANTS = (ocp, kuhn)
