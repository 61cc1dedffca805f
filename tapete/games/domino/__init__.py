"""Dominó for two, with a boneyard to take from."""

from tapete.core.spec import Field, Spec, within
from tapete.games.domino.tiles import HIGHEST, POINTS, tiles_in_set


def domino(m: int = 6, n: int = 7) -> Spec:
    """Dominó for two with tiles from 0-0 to m-m, n of them each."""
    within("m", m, 1, HIGHEST)
    tiles = tiles_in_set(m)
    within("n", n, 1, tiles // 2)
    boneyard = tiles - 2 * n
    # The n tiles dealt to the winner never come into the hand that pays: it holds the others at most.
    most = float(sum(sorted(POINTS[:tiles].tolist())[n:]))
    return Spec(
        title=f"Dominó for two, up to {m}-{m}, {n} tiles each",
        players=2,
        actions=2 * tiles + 2,
        # The first player has one move a tile. After that, of the m + 1 tiles that show the number of an end, one is
        # that end: m are left to lay there at most.
        max_actions=max(n, 2 * m),
        outcomes=tiles,
        # 2n tiles dealt; a tile taken is asked for, given, and perhaps followed by a pass; some tile is never laid;
        # and once there is nothing to take, no more than one pass goes before each lay, and two before the end.
        longest=2 * n + 3 * boneyard + (tiles - 1) + (tiles - 1 + 2),
        utility=(-most, most),
        zero_sum=True,
        hidden=True,
        observations=(
            (
                Field(name="hand", shape=(tiles,), about="own tiles, one-hot; none before all of them are dealt"),
                Field(name="laid", shape=(2, tiles), about="tiles on the table: laid by this seat, laid by the other"),
                Field(name="ends", shape=(2, m + 1), about="the open ends, one-hot: left, right"),
                Field(
                    name="lacks",
                    shape=(2, m + 1),
                    about="numbers that this seat, the other, could not play: 1 / (1 + tiles kept since); 0 if never",
                ),
                Field(name="counts", shape=(3,), about="own hand, other hand, boneyard, divided by all tiles"),
                Field(
                    name="turn",
                    shape=(3,),
                    about="this seat moves; a tile was taken this turn; the last turn was a pass",
                ),
            ),
        ),
        features=(
            Field(name="tile", shape=(tiles,), about="the tile laid, one-hot"),
            Field(name="end", shape=(2,), about="one-hot: left (the first tile of the line too), right"),
            Field(name="take", about="1: take a tile from the boneyard"),
            Field(name="pass", about="1: pass"),
        ),
        params=(m, n),
    )


VARIANTS = (domino,)
