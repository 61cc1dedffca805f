"""Finished games: replays with all hands open, reviews, statistics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from tapete.arena.statistics import mean_interval
from tapete.core import Game, Record, Rng, State, TapeteError, make
from tapete.core.story import witness
from tapete.web.table import Table
from tapete.web.thinking import Explainer

WORST = 5  # decisions that a review shows
NOISE = 0.005  # of what is at stake: a search can't tell smaller differences
PATIENCE = 10.0  # seconds that a review may take
POINTS = 200  # of a curve


def replay(table: Table, owner: str, made: float) -> dict[str, Any]:
    """Every step of a game with all hands open; the first is the table before anything happened."""
    record = table.record()
    return {
        "game": str(table.game),
        "title": table.game.spec.title,
        "id": table.name,
        "seats": [{"name": seat.name, "kind": seat.kind} for seat in table.seats],
        "returns": table.state.returns(),
        "steps": list(_steps(table.game, table.state.history or [], record)),
        "mine": table.seat_of(owner),
        "when": made,
    }


def _steps(game: Game, history: list[int], record: Record) -> Iterator[dict[str, Any]]:
    state = game.start()
    yield {"seat": None, "text": None, "news": [], "scene": state.scene().to_json()}
    for action, text in zip(history, record.moves, strict=True):
        event = witness(state, action, range(game.players))
        state.apply(action)
        yield {"seat": event.seat, "text": text, "news": list(event.news), "scene": state.scene().to_json()}


def review(table: Table, seat: int, rng: Rng) -> dict[str, Any]:
    """The decisions of a seat that cost most, by what an agent makes of its View at each of them."""
    explainer = Explainer(table.game)
    low, high = table.game.spec.utility
    decisions = [each for each in _decisions(table, seat, explainer, rng) if each["lost"] > NOISE * (high - low)]
    decisions.sort(key=lambda decision: -decision["lost"])
    return {"by": explainer.by, "seat": seat, "decisions": decisions[:WORST]}


def _decisions(table: Table, seat: int, explainer: Explainer, rng: Rng) -> Iterator[dict[str, Any]]:
    state: State = table.game.start()
    end = time.monotonic() + PATIENCE
    for ply, action in enumerate(table.state.history or []):
        if state.player == seat and len(state.actions()) > 1 and time.monotonic() < end:
            view = state.view(seat)
            thought = explainer.think(view, rng)
            if action in thought.values:
                best = max(thought.values, key=lambda move: thought.values[move])
                yield {
                    "ply": ply,
                    "text": view.write(action),
                    "best": view.write(best),
                    "value": thought.values[action],
                    "lost": thought.values[best] - thought.values[action],
                    "moves": [
                        {"text": view.write(a), "share": thought.probabilities.get(a, 0.0), "value": value}
                        for a, value in sorted(thought.values.items(), key=lambda item: -item[1])[:8]
                    ],
                }
        state.apply(action)


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


def _summary(name: str, against: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    game = make(name)
    gains = np.array([result["returns"][result["seat"]] for result in results])
    best = [max(result["returns"]) for result in results]
    wins = sum(gain == top and min(r["returns"]) < top for gain, top, r in zip(gains, best, results, strict=True))
    draws = sum(min(result["returns"]) == top for result, top in zip(results, best, strict=True))
    value = known_value(name)
    means = np.cumsum(gains) / np.arange(1, len(gains) + 1)
    shown = np.unique(np.linspace(0, len(gains) - 1, min(POINTS, len(gains))).round().astype(int))
    return {
        "game": name,
        "title": game.spec.title,
        "against": against,
        "games": len(gains),
        "wins": int(wins),
        "draws": int(draws),
        "mean": float(gains.mean()),
        "interval": list(mean_interval(gains, *game.spec.utility)),
        "value": None if value is None else float(np.mean([value if r["seat"] == 0 else -value for r in results])),
        "curve": [[int(i) + 1, float(means[i])] for i in shown],
    }
