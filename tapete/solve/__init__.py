"""Equilibria: regret matching, the CFR family, Monte Carlo CFR, linear programs, and best responses as proof."""

from tapete.solve.policy import Table
from tapete.solve.response import Proof
from tapete.solve.schemes import SCHEMES
from tapete.solve.solution import DEFAULT, Progress, file_name, find, solve, store

__all__ = ["DEFAULT", "SCHEMES", "Progress", "Proof", "Table", "file_name", "find", "solve", "store"]
