"""Truco Argentino, one against one; flor and "son buenas" if wanted."""

from tapete.core.errors import TapeteError
from tapete.core.spec import Field, Spec, within
from tapete.games.truco.bets import CHAINS, falta

OBSERVATION = (
    Field(name="observer", shape=(2,), about="one-hot: the seat that looks"),
    Field(name="hand", shape=(40,), about="its cards that are not played"),
    Field(name="tricks", shape=(3, 2, 40), about="trick, seat, card: what was played"),
    Field(name="winners", shape=(3, 3), about="trick, one-hot: won by seat 0, by seat 1, tied"),
    Field(name="leaders", shape=(3, 2), about="trick, one-hot: the seat that leads it"),
    Field(name="score", shape=(2,), about="points of seat 0 and of seat 1, / points of the match"),
    Field(name="level", shape=(4,), about="one-hot: what the hand is worth by what was accepted, 1 to 4"),
    Field(name="envido_calls", shape=(4, 3), about="call, one-hot: envido, real envido, falta envido"),
    Field(name="envido_state", shape=(2,), about="the envido is resolved; it can't be called any more"),
    Field(name="envido_points", shape=(2,), about="own, and the other's once they are shown, / 33"),
    Field(name="mano", shape=(2,), about="one-hot: the seat that is mano"),
)
BUENAS_FIELDS = (
    Field(name="buenas", shape=(2,), about="the other has said so; the most that it can then have, / 33, of flor / 38"),
)
FLOR_FIELDS = (
    Field(name="flor", shape=(2, 2), about="seat, one-hot: it is known to have none, or to have one"),
    Field(
        name="flor_calls", shape=(4,), about="one-hot: flor, contraflor, al resto at once, al resto after contraflor"
    ),
    Field(name="flor_points", shape=(2,), about="own, and the other's once they are shown, / 38"),
)


def truco(
    *,
    points: int = 30,
    mazo: bool = False,
    hand: bool = False,
    score0: int = 0,
    score1: int = 0,
    equity: bool = False,
    anyscore: bool = False,
    buenas: bool = False,
    flor: bool = False,
) -> Spec:
    """Truco to 15 or 30 points, or a single hand, from a given score."""
    if points not in (15, 30):
        raise TapeteError(f"points must be 15 or 30, not {points}")
    within("score0", score0, 0, points - 1)
    within("score1", score1, 0, points - 1)
    if equity and not hand:
        raise TapeteError("equity pays single hands: say hand=true with it")
    if anyscore and (score0 or score1):
        raise TapeteError("anyscore draws the score: leave out score0 and score1")
    actions = 50 if flor else 47 if mazo else 46
    bound = 1 if equity or not hand else max(_most_won(points, score0, score1), _most_won(points, score1, score0))
    if hand and anyscore and not equity:
        bound = points
    return Spec(
        title=f"Truco Argentino{' with flor' if flor else ''}, {'one hand' if hand else f'to {points}'}",
        players=2,
        actions=actions,
        max_actions=8 if mazo else 7,  # three cards, three kinds of envido, truco, and the mazo
        outcomes=40,
        longest=(LONGEST_HAND if hand else _longest_match(2 * points - score0 - score1)) + 2 * anyscore,
        utility=(-bound, bound),
        zero_sum=True,
        hidden=True,
        observations=(OBSERVATION + BUENAS_FIELDS * buenas + FLOR_FIELDS * flor,),
        features=(
            Field(name="action", shape=(actions,), about="one-hot"),
            Field(name="strength", about="of a card in a trick, 0 to 1: its place in the order / 13"),
            Field(name="value", about="of a card in the envido, / 7"),
            Field(name="against", shape=(3,), about="one-hot: the card loses to, ties with, beats the one it follows"),
            Field(
                name="stake",
                shape=(2,),
                about="of a bet: points if it is accepted, points if declined, / points of the match",
            ),
        ),
        params=(points, mazo, 2 if equity else hand, score0, score1, anyscore, buenas, flor),
    )


# Six deals, six cards, four calls and an answer of envido, three calls and three answers of truco.
LONGEST_HAND = 23


def _longest_match(missing: int) -> int:
    """The most transitions of a match in which the two seats lack that many points together.

    A hand worth one point has no envido and no accepted truco: six deals and six cards, or five cards and a declined
    truco. That makes 13, and a dearer hand has at most 23, less than 13 a point. Before the last hand each seat lacks
    one point at least, so all hands but the last have given `missing - 2` points at most.
    """
    return 13 * (missing - 2) + LONGEST_HAND


def _most_won(points: int, own: int, other: int) -> int:
    """The most points that a seat can win in a hand: the dearest envido and vale cuatro, but no more than it lacks."""
    dearest = max(falta(points, own, other), *(price for pair in CHAINS.values() for price in pair))
    return min(dearest + 4, points - own)


VARIANTS = (truco,)
