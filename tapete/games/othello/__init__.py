"""Othello, on boards of 4x4, 6x6 and 8x8 squares, from the usual position or from any other."""

from tapete.core.errors import TapeteError
from tapete.core.spec import Field, Spec
from tapete.games.othello.notation import read_position, start_position

SIZES = (4, 6, 8)


def othello(*, size: int = 8, position: str = "") -> Spec:
    """Othello on a board of size x size squares; `position` is written as `notation.write_position` does."""
    if size not in SIZES:
        raise TapeteError(f"size must be 4, 6 or 8, not {size}")
    first = read_position(size, position or start_position(size))
    free = size * size - 4  # the middle is always taken: no more discs are laid than this, nor are more moves legal
    return Spec(
        title="Othello" if size == 8 else f"Othello, {size}x{size}",
        players=2,
        actions=size * size + 1,
        max_actions=free,
        outcomes=0,
        longest=2 * free,  # after a pass the other lays a disc: never more passes than discs
        utility=(-1, 1),
        zero_sum=True,
        hidden=False,
        observations=(
            (
                Field(
                    name="board",
                    shape=(3, size, size),
                    about="planes of 0 and 1: own discs, the other's discs, where the seat may lay one now",
                ),
                Field(name="turn", about="1 if the seat is to move: with an empty third plane, it has to pass"),
            ),
        ),
        features=(Field(name="action", shape=(size * size + 1,), about="one-hot: the squares row by row, pass"),),
        # A float64 holds whole numbers up to 2**53, so each mask of 64 squares goes as two halves.
        params=(size, *divmod(first.black, 2**32), *divmod(first.white, 2**32), first.mover),
    )


VARIANTS = (othello,)
