"""Finished games: replays, with all hands open or as a seat saw them; statistics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.arena.characters import called
from tapete.arena.statistics import mean_interval
from tapete.core import Game, Record, State, TapeteError, make
from tapete.core.story import witness
from tapete.games.holdem import histories
from tapete.web.table import AGENT, PERSON, Refused, Seat, Table

POINTS = 200  # of a curve


def replay(table: Table, owner: str, made: float, seat: int | None = None) -> dict[str, Any]:
    """Every step of a game, the first being the table before anything happened: as a seat saw it, or all hands open."""
    record = table.record()
    return {
        "game": str(table.game),
        "title": table.game.spec.title,
        "id": table.name,
        "seats": [
            {"name": seat.name, "kind": seat.kind, "called": called(table.game, seat.name)} for seat in table.seats
        ],
        "returns": table.state.returns(),
        "steps": list(_steps(table.game, table.state.history or [], record, seat)),
        "eyes": seat,
        "mine": table.seat_of(owner),
        "histories": endings(table.game),
        "when": made,
    }


def endings(game: Game) -> list[str]:
    """How the files end that a finished game can be written to besides a record: hands of hold'em have histories."""
    return [".txt", ".phhs"] if game.package.endswith(".holdem") else []


def history(table: Table, owner: str, ending: str) -> str:
    """A finished hand as poker players keep it, with the cards that the owner's seat knows."""
    if ending not in endings(table.game):
        raise Refused("no-history", f"{table.game} is not written to {ending[:20] or 'such'} files")
    names = [seat.name for seat in table.seats]
    hand = histories.of_game(table.game, table.state.history or [], names, number=1 + table.before.games)
    return str(histories.format_of(Path(ending[1:] + ending)).text_of(hand.seen_by(table.seat_of(owner))))


def glance(table: dict[str, Any], owner: str) -> dict[str, Any]:
    """A table in a list, from what the store has of it."""
    seats: list[Seat] = table["seats"]
    mine = next((i for i, seat in enumerate(seats) if seat.kind == PERSON and seat.owner == owner), None)
    return {
        "table": table["table"],
        "game": table["game"],
        "title": title(table["game"]),
        "ply": table["ply"],
        "turn": not table["over"] and mine is not None and table["player"] == mine,
        "over": bool(table["over"]),
        "seats": [
            {"name": seat.name, "kind": seat.kind, "called": _called(table["game"], seat), "me": seat.owner == owner}
            for seat in seats
        ],
        "broken": table["broken"] or _unknown(table["game"]),
    }


def _called(game: str, seat: Seat) -> str:
    """The name of an agent's character, where it has one and the game is still there."""
    with suppress(TapeteError):
        return called(make(game), seat.name) if seat.kind == AGENT else ""
    return ""


def _unknown(game: str) -> str:
    """Why a game can't be played any more; empty where it can."""
    try:
        make(game)
    except TapeteError as error:
        return str(error)
    return ""


def _steps(game: Game, history: list[int], record: Record, eyes: int | None) -> Iterator[dict[str, Any]]:
    state, seats = game.start(), range(game.players) if eyes is None else [eyes]
    yield {"seat": None, "text": None, "news": [], "scene": _scene(state, eyes)}
    for action, text in zip(history, record.moves, strict=True):
        event = witness(state, action, seats)
        state.apply(action)
        told = text if eyes is None else event.text
        yield {"seat": event.seat, "text": told, "news": list(event.news), "scene": _scene(state, eyes)}


def _scene(state: State, eyes: int | None) -> dict[str, Any]:
    scene = state.scene() if eyes is None else replace(state.view(eyes).scene(), moves=())
    return scene.to_json()


@lru_cache(maxsize=256)
def known_value(game: str) -> float | None:
    """What seat 0 gets when both play a solution, where one is known."""
    from tapete.solve import find  # compiles the solvers: not before somebody asks

    with suppress(TapeteError):
        table = find(make(game))
        return None if table is None else float(table.about["value"])
    return None


def statistics(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By game and opponents: how often, how well, how sure, and what an equilibrium would have got on those seats."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((result["game"], ", ".join(result["against"])), []).append(result)
    return [_summary(game, against, group) for (game, against), group in sorted(groups.items())]


def title(game: str) -> str:
    """What a game is called; of one that is not there any more, its name."""
    with suppress(TapeteError):
        return make(game).spec.title
    return game


def _interval(name: str, gains: NDArray[np.float64]) -> list[float] | None:
    """For the mean; None where the game is not there any more, so that nobody knows what was at stake."""
    with suppress(TapeteError):
        return list(mean_interval(gains, *make(name).spec.utility))
    return None


def _summary(name: str, against: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    gains = np.array([result["returns"][result["seat"]] for result in results])
    best = [max(result["returns"]) for result in results]
    wins = sum(gain == top and min(r["returns"]) < top for gain, top, r in zip(gains, best, results, strict=True))
    draws = sum(min(result["returns"]) == top for result, top in zip(results, best, strict=True))
    value = known_value(name)
    means = np.cumsum(gains) / np.arange(1, len(gains) + 1)
    shown = np.unique(np.linspace(0, len(gains) - 1, min(POINTS, len(gains))).round().astype(int))
    return {
        "game": name,
        "title": title(name),
        "against": against,
        "called": ", ".join(_called(name, Seat(AGENT, each)) or each for each in against.split(", ")),
        "games": len(gains),
        "wins": int(wins),
        "draws": int(draws),
        "mean": float(gains.mean()),
        "interval": _interval(name, gains),
        "value": None if value is None else float(np.mean([value if r["seat"] == 0 else -value for r in results])),
        "curve": [[int(i) + 1, float(means[i])] for i in shown],
    }
