"""Positions to learn from: first lessons, and puzzles made of costly decisions of recorded games.

A game's folder has a ``lesson.toml``, five positions in the game's notation with a question, the moves that are right,
and why, in each language; it may have a ``puzzles.json``, which `tapete puzzles GAME --write` makes. What a person is
shown of a position is the View of whoever is to move.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from tapete.core import Game, Record, State, TapeteError, make
from tapete.review.choices import choices
from tapete.review.judges import judge_of
from tapete.review.marks import BLUNDER, MISTAKE, Decision, decide

LESSON, PUZZLES = "lesson.toml", "puzzles.json"
LANGUAGES = ("en", "es")


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """A position, and what should be done in it."""

    game: str
    moves: tuple[str, ...]  # how it came about, deals too
    right: tuple[str, ...]  # moves that are right
    ask: dict[str, str]  # by language; empty for a puzzle, which always asks for the best move
    why: dict[str, str]
    played: str = ""  # of a puzzle: what somebody did,
    lost: float = 0.0  # how much more the right move was worth,
    doubt: float = 0.0  # and by how much that may be wrong

    @property
    def state(self) -> State:
        """The position, everything in it; whoever is to move is asked. Checked: the moves must be legal, too."""
        state = make(self.game).start()
        for move in self.moves:
            state.apply(move)
        if state.player < 0:
            raise TapeteError(f"nobody is to move in an exercise of {self.game}: {' '.join(self.moves)}")
        for move in (*self.right, *([self.played] if self.played else ())):
            state.read(move)
        return state


@cache
def lesson(package: str) -> tuple[Exercise, ...]:
    """The first lesson of a game's folder; none where it has none."""
    path = resources.files(package).joinpath(LESSON)
    if not path.is_file():
        return ()
    data = tomllib.loads(path.read_text())
    return tuple(
        Exercise(
            game=step.get("game", data["game"]),
            moves=tuple(step["moves"].split()),
            right=tuple(step["right"]),
            ask={language: step[language] for language in LANGUAGES},
            why={language: step[f"why_{language}"] for language in LANGUAGES},
        )
        for step in data["step"]
    )


@cache
def puzzles(package: str) -> tuple[Exercise, ...]:
    """The puzzles of a game's folder."""
    path = resources.files(package).joinpath(PUZZLES)
    rows = json.loads(path.read_text())["puzzles"] if path.is_file() else []
    return tuple(
        Exercise(ask={}, why={}, **{**row, "moves": tuple(row["moves"].split()), "right": tuple(row["right"])})
        for row in rows
    )


def puzzle(decision: Decision, moves: Sequence[str]) -> Exercise:
    """A costly decision as a puzzle, whose game has these moves; all that lose next to nothing are right."""
    choice, said = decision.choice, decision.judgement
    assert said is not None
    right = [action for action in said.values if said.lost(action) <= 0.01 * decision.stake]
    return Exercise(
        game=str(choice.view.game),
        moves=tuple(moves[: choice.ply]),
        right=tuple(choice.view.write(action) for action in right),
        ask={},
        why={},
        played=choice.view.write(choice.action),
        lost=round(decision.lost, 4),
        doubt=round(decision.doubt, 4),
    )


def puzzles_of(game: Game, records: Sequence[Record]) -> Iterator[Exercise]:
    """Puzzles made of all decisions of recorded games that surely cost something, whoever made them."""
    judge = judge_of(game)
    for record in records:
        history = game.read(" ".join(record.moves)).history or []
        for seat in range(game.players):
            for choice in choices(game, history, seat):
                decision = decide(choice, judge.judge(choice, choice.rng))
                if decision.mark in (MISTAKE, BLUNDER):
                    yield puzzle(decision, record.moves)


def puzzle_json(exercise: Exercise) -> dict[str, Any]:
    """As a folder keeps it."""
    return {
        "game": exercise.game,
        "moves": " ".join(exercise.moves),
        "right": list(exercise.right),
        "played": exercise.played,
        "lost": exercise.lost,
        "doubt": exercise.doubt,
    }
