"""Leduc poker: a small game with a board card and two rounds of bets."""

from tapete.core.spec import Field, Spec

CARDS = 6
MOST_MOVES = 4  # in a round: check, bet, raise, call
MOST_RAISES = 2  # in a round, the first bet included
BETS = (2, 4)  # what a bet or a raise adds in each round
MOST_PAID = 1 + MOST_RAISES * sum(BETS)  # the ante and every bet there can be


def leduc() -> Spec:
    """Two players, six cards, a private card each and one on the board."""
    return Spec(
        title="Leduc poker",
        players=2,
        actions=3,
        max_actions=3,
        outcomes=CARDS,
        longest=3 + 2 * MOST_MOVES,
        utility=(-MOST_PAID, MOST_PAID),
        zero_sum=True,
        hidden=True,
        observations=(
            (
                Field(name="seat", shape=(2,), about="one-hot"),
                Field(name="card", shape=(CARDS,), about="own card, one-hot"),
                Field(name="board", shape=(CARDS,), about="one-hot"),
                Field(name="line", shape=(2, MOST_MOVES, 3), about="the moves of each round: fold, call, raise"),
            ),
        ),
        features=(
            Field(name="action", shape=(3,), about="one-hot: fold, check or call, bet or raise"),
            Field(name="chips", about="what it adds to the pot, of the most that a seat can pay"),
        ),
    )


VARIANTS = (leduc,)
