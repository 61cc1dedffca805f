"""Dudo for two: dice under the cup, claims about all of them, and a call of the bluff."""

from math import comb

from tapete.core.errors import TapeteError
from tapete.core.spec import Field, Spec, within


def dudo(
    faces: int = 6,
    dice1: int = 1,
    dice2: int = 1,
    *,
    one_round: bool = False,
    win: float = 1.0,
    lose: float = -1.0,
) -> Spec:
    """Dudo with dice of that many faces; seat 0 has `dice1` of them and starts, seat 1 has `dice2`.

    With `one_round` the game ends after its first round and pays `win` to seat 0 if seat 1 lost it, else `lose`.
    """
    within("faces", faces, 2, 9)
    within("dice1", dice1, 1, 5)
    within("dice2", dice2, 1, 5)
    within("win", win, -1, 1)
    within("lose", lose, -1, 1)
    if not one_round and (win, lose) != (1.0, -1.0):
        raise TapeteError("win and lose are payoffs of a single round; write one_round=true with them")
    dice, most = dice1 + dice2, max(dice1, dice2)
    claims = faces * dice
    rounds = [dice] if one_round else range(2, dice + 1)  # the dice in play, of the longest game
    stake = max(abs(win), abs(lose))
    return Spec(
        title=f"Dudo, {dice1} against {dice2} dice of {faces} faces{', one round' if one_round else ''}",
        players=2,
        actions=claims + 1,
        max_actions=claims,  # all claims on the first turn; later at least one is gone, and dudo comes in
        outcomes=comb(faces + most - 1, most),
        longest=sum(2 + faces * left + 1 for left in rounds),  # two rolls, every claim, dudo
        utility=(-stake, stake),
        zero_sum=True,
        hidden=True,
        observations=(
            (
                Field(name="own", shape=(faces,), about="own dice that show each face / most dice of a seat"),
                Field(name="dice", shape=(2,), about="dice left, own and other's / most dice of a seat"),
                Field(name="claims", shape=(claims,), about="1 for each claim made in this round"),
                Field(name="quantity", about="of the last claim / dice of both at the start; 0 before the first"),
                Field(name="face", shape=(faces,), about="of the last claim, one-hot"),
                Field(name="starter", shape=(2,), about="who began this round, one-hot: own, other's"),
            ),
        ),
        features=(
            Field(name="quantity", about="claimed / dice of both at the start; 0 for dudo"),
            Field(name="face", shape=(faces,), about="claimed, one-hot"),
            Field(name="dudo", about="1 for dudo"),
        ),
        params=(faces, dice1, dice2, one_round, win, lose),
    )


VARIANTS = (dudo,)
