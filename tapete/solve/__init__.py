"""Equilibria: regret matching, the CFR family, Monte Carlo CFR, linear programs, and best responses as proof."""

from tapete.solve.progress import Progress
from tapete.solve.response import Proof
from tapete.solve.schemes import SCHEMES
from tapete.solve.solution import DEFAULT, file_name, find, solve, store
from tapete.solve.strategy import Strategy

__all__ = ["DEFAULT", "SCHEMES", "Progress", "Proof", "Strategy", "file_name", "find", "solve", "store"]
