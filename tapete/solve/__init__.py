"""Equilibria: regret matching, the CFR family, Monte Carlo CFR, linear programs, and best responses as proof."""

from tapete.solve.kept import Stale, check_game, file_name, find, store
from tapete.solve.progress import Progress
from tapete.solve.response import Proof
from tapete.solve.schemes import SCHEMES
from tapete.solve.solution import DEFAULT, solve
from tapete.solve.strategy import Strategy

__all__ = [
    "DEFAULT",
    "SCHEMES",
    "Progress",
    "Proof",
    "Stale",
    "Strategy",
    "check_game",
    "file_name",
    "find",
    "solve",
    "store",
]
