"""Lessons and puzzles as the page shows them: a table at which somebody is to move, what is right there, and why."""

from __future__ import annotations

from typing import Any

from tapete.arena.characters import cast_of
from tapete.core import Game, TapeteError
from tapete.core.names import playable
from tapete.review.exercises import Exercise, lesson, puzzles
from tapete.web.making import read_game
from tapete.web.reviews import FORMAT
from tapete.web.store import Kept
from tapete.web.table import AGENT, PERSON, Options, Seat, Table

LEARNER = "learner"
MOST = 12  # puzzles at a time
COSTLY = ("mistake", "blunder")


def all_lessons() -> list[dict[str, Any]]:
    """The games that have a lesson or puzzles, by the name under which they are listed."""
    found = []
    for name in playable():
        game = read_game(name)
        counts = {"lesson": len(lesson(game.package)), "puzzles": len(puzzles(game.package))}
        if counts["lesson"] and lesson(game.package)[0].game.partition("(")[0] == name:
            found.append({"name": name, "title": game.spec.title, **counts})
    return found


def exercises(name: str, kind: str) -> list[dict[str, Any]]:
    """The lesson or the puzzles of a game."""
    package = read_game(name).package
    return [_exercise_json(each) for each in (lesson(package) if kind == "lesson" else puzzles(package))]


def _exercise_json(exercise: Exercise) -> dict[str, Any]:
    state = exercise.state
    return {
        "table": _message(state.game, state.history or [], state.player),
        "right": [state.read(text) for text in exercise.right],
        "ask": exercise.ask,
        "why": exercise.why,
        "best": exercise.right[0],
        "played": exercise.played,
        "lost": exercise.lost,
        "doubt": exercise.doubt,
    }


def _message(game: Game, history: list[int], seat: int) -> dict[str, Any]:
    """The table as the seat saw it then."""
    cast = cast_of(game.package)
    other = next((each.agent for each in cast.characters if each.name == cast.usual), "") if cast else "best(3)"
    seats = [Seat(PERSON, "", LEARNER) if i == seat else Seat(AGENT, other) for i in range(game.players)]
    table = Table("", game, seats, Options())
    table.replay(history)
    return table.message(LEARNER)


def own_puzzles(kept: list[tuple[Kept, int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Somebody's own costly decisions, from games that were reviewed: the newest first."""
    found: list[dict[str, Any]] = []
    for game, seat, review in kept:
        if review.get("format") != FORMAT:
            continue
        for decision in review["decisions"]:
            if decision["mark"] in COSTLY and len(found) < MOST:
                try:
                    table = game.open()
                except TapeteError:  # a game that is gone asks nobody anything
                    break
                best = decision["moves"][0]
                stake = 0.01 * abs(decision["lost"])
                found.append(
                    {
                        "table": _message(table.game, game.moves[: decision["ply"]], seat),
                        "right": [m["action"] for m in decision["moves"] if best["value"] - m["value"] <= stake],
                        "ask": {},
                        "why": {},
                        "best": best["text"],
                        "played": decision["text"],
                        "lost": decision["lost"],
                        "doubt": decision["doubt"],
                    }
                )
    return found
