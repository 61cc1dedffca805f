"""Matrix games: one choice each, in secret, and a table that tells what both get."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from tapete.core.errors import TapeteError
from tapete.core.spec import Spec, within
from tapete.games.matrix.file import check_payoffs, read_payoffs
from tapete.games.matrix.spec import MOST_CELLS, matrix_spec, payoffs

__all__ = ["VARIANTS", "array_spec", "payoffs"]


def rps() -> Spec:
    """Rock, paper, scissors."""
    names = ("rock", "paper", "scissors")
    return matrix_spec("Rock, paper, scissors", names, names, [[0, -1, 1], [1, 0, -1], [-1, 1, 0]])


def pennies() -> Spec:
    """Matching pennies: the first wins if both show the same side."""
    names = ("heads", "tails")
    return matrix_spec("Matching pennies", names, names, [[1, -1], [-1, 1]])


def battle() -> Spec:
    """Battle of the sexes: both want to go together, she to the ballet, he to the game."""
    names = ("ballet", "baseball")
    return matrix_spec("Battle of the sexes", names, names, [[(2, 1), (0, 0)], [(0, 0), (1, 2)]])


def dilemma() -> Spec:
    """Prisoner's dilemma: years in prison, as losses."""
    names = ("silent", "accuse")
    return matrix_spec("Prisoner's dilemma", names, names, [[(-1, -1), (-15, 0)], [(0, -15), (-9, -9)]])


def benefit() -> Spec:
    """Unemployment benefit: the state helps or doesn't, the unemployed looks for work or rests."""
    cells = [[(5, 4), (-3, 5)], [(-3, 3), (0, 0)]]
    return matrix_spec("Unemployment benefit", ("aid", "no-aid"), ("search", "rest"), cells)


def monopoly() -> Spec:
    """Natural monopoly: two firms in a market that feeds one."""
    names = ("exit", "stay")
    return matrix_spec("Natural monopoly", names, names, [[(0, 0), (0, 4)], [(4, 0), (-2, -2)]])


def token_domino() -> Spec:
    """Token against domino: the first lays a domino on a board of 2 x 3, the second a token; they must not meet."""
    cells = [column + row for row, column in product("12", "abc")]
    across = [(left + row, right + row) for row, (left, right) in product("12", (("a", "b"), ("b", "c")))]
    down = [(column + "1", column + "2") for column in "abc"]
    dominoes = across + down
    wins = [[-1 if cell in domino else 1 for cell in cells] for domino in dominoes]
    return matrix_spec("Token against domino", ["-".join(domino) for domino in dominoes], cells, wins)


def blotto(soldiers: int = 5, fields: int = 3) -> Spec:
    """Colonel Blotto: both divide their soldiers among the fields; more soldiers win a field."""
    within("soldiers", soldiers, 1, 99)
    within("fields", fields, 2, 99)
    strategies = comb(soldiers + fields - 1, fields - 1)
    if strategies**2 > MOST_CELLS:
        raise TapeteError(f"{soldiers} soldiers on {fields} fields can be divided in {strategies} ways, more than 100")
    divisions = _divisions(soldiers, fields)
    armies = np.array(divisions)  # [strategy, field]
    lead = np.sign(armies[:, None] - armies[None]).sum(axis=-1)  # [strategy, strategy] fields won minus fields lost
    names = ["-".join(map(str, division)) for division in divisions]
    return matrix_spec(f"Colonel Blotto, {soldiers} soldiers on {fields} fields", names, names, lead)


def _divisions(soldiers: int, fields: int) -> list[tuple[int, ...]]:
    """All ways to divide the soldiers among the fields."""
    if fields == 1:
        return [(soldiers,)]
    return [(here, *rest) for here in range(soldiers + 1) for rest in _divisions(soldiers - here, fields - 1)]


def array_spec(payoffs: ArrayLike, rows: Sequence[str] | None, columns: Sequence[str] | None) -> Spec:
    """The Spec of a table that is in memory; its name tells one table from another."""
    try:
        paid = np.asarray(payoffs, dtype=np.float64)
    except (TypeError, ValueError):
        raise TapeteError("a table of payoffs is rows of numbers, or of pairs of numbers, all of one length") from None
    if paid.ndim not in (2, 3) or paid.shape[2:] not in ((), (2,)):
        raise TapeteError(f"payoffs are [rows, columns] or [rows, columns, 2], not {list(paid.shape)}")
    names = [None if given is None else list(given) for given in (rows, columns)]
    table = check_payoffs(paid.tolist(), *names)
    spec = matrix_spec(f"Matrix game, {len(table.rows)} x {len(table.columns)}", table.rows, table.columns, paid)
    digest = hashlib.blake2b(repr((spec.params, spec.labels)).encode(), digest_size=6).hexdigest()
    return replace(spec, name=f"matrix({len(table.rows)}x{len(table.columns)}-{digest})")


def matrix(file: str) -> Spec:
    """Any table of payoffs, from a file."""
    read = read_payoffs(file)
    return matrix_spec(f"Matrix game of {file}", read.rows, read.columns, read.cells)


VARIANTS = (rps, pennies, battle, dilemma, benefit, monopoly, token_domino, blotto, matrix)
