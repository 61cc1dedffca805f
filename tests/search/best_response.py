"""Prints how near IS-MCTS comes to a best response to random play: the table in docs/search.md.

python -m tests.search.best_response
"""

from __future__ import annotations

from tapete.core import make
from tapete.solve.response import best_response
from tapete.solve.sequence_form import SequenceForm
from tests.oracles import trees
from tests.search.test_ismcts import gain

SIMULATIONS = (1, 16, 256, 4096, 65_536)


def column(name: str, seat: int) -> list[float]:
    """The gains with so many simulations, and at last the best response's."""
    game = make(name)
    root, form = trees.grow(game), SequenceForm.of(game)
    uniform = {key: [1 / n] * n for key, n in (trees.choices(root, 0) | trees.choices(root, 1)).items()}
    best, _ = best_response(form, seat, trees.plans(form, uniform)[1 - seat])
    return [*(gain(game, root, seat, n, "random", uniform) for n in SIMULATIONS), best]


if __name__ == "__main__":
    columns = [column(name, seat) for name in ("kuhn", "leduc") for seat in (0, 1)]
    for label, *row in zip([*map("{:,}".format, SIMULATIONS), "best response"], *columns, strict=True):
        print(f"| {label} | {' | '.join(f'{gain:.4f}' for gain in row)} |")
