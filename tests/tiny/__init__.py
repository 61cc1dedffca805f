"""Dou Dizhu with nine cards, so small that it can be played out: four 3s, four 4s and a joker.

The landlord has five cards, three of them open, each peasant two. What may be played, what beats what, payoffs,
observations and features are those of Dou Dizhu itself; only the pack is smaller.
"""

from __future__ import annotations

from dataclasses import replace

from tapete.core import Game
from tapete.games.doudizhu import doudizhu


def tiny() -> Game:
    """The game."""
    return Game(replace(doudizhu(), name="tiny-doudizhu", teams=()), "tests.tiny")
