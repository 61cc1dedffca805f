"""Results as files: JSON with every game in it, CSV, a plot."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count, permutations
from pathlib import Path

from tapete.arena.matches import Match
from tapete.arena.tournaments import Tournament
from tapete.core import Game, Record, TapeteError, make
from tapete.core.files import check_writable
from tapete.core.plots import picture
from tapete.games.holdem import histories
from tapete.learn.run import Tell

RESULT = "tournament.json"


def write_match(match: Match, path: Path) -> None:
    """Writes the figures and the record of every game."""
    records = [match.record(played).to_json() for played in match.games]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**match.to_json(), "records": records}) + "\n")


def read_records(path: Path) -> list[Record]:
    """The games of a file that `write_match` wrote.

    :raises TapeteError: if it is no such file.
    """
    try:
        found = json.loads(path.read_text())
        return [Record.from_json(record) for record in found["records"]]
    except (ValueError, KeyError, TypeError, RecursionError, TapeteError) as error:
        raise TapeteError(f"{path} has no games as `tapete match --out` writes them") from error


def check_histories(path: Path, game: str) -> None:
    """Refuses a file of hand histories that can't be written, or a game that has none."""
    histories.format_of(path)
    if not make(game).package.endswith(".holdem"):
        raise TapeteError(f"hand histories are for hold'em, not for {game}")
    check_writable(path)


def write_histories(match: Match, path: Path) -> None:
    """Writes all hands of a match of hold'em; players are called by their agents."""
    hands = (
        histories.of_game(match.game, played.actions, match.names(played), number=number)
        for number, played in enumerate(match.games, 1)
    )
    histories.write(path, hands)


@contextmanager
def writing_histories(path: Path, game: Game) -> Iterator[Tell]:
    """What a run may tell its games to, which are then in a file as hands of hold'em, numbered as they come."""
    numbers = count(1)
    with histories.writing(path) as put:

        def tell(actions: Sequence[int], names: Sequence[str]) -> None:
            put(histories.of_game(game, actions, names, number=next(numbers)))

        yield tell


def write_tournament(result: Tournament, folder: Path) -> None:
    """Writes `tournament.json`, `ratings.csv`, `matches.csv` and `elo.png`; where there are teams, `teams.csv`."""
    data = result.to_json()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT).write_text(json.dumps(data, indent=2) + "\n")
    order = result.ranking
    shares = [{result.agents[j]: result.share(i, j) for j in order if i != j} for i in order]
    rows = [_flat(row) | share for row, share in zip(data["ratings"], shares, strict=True)]
    columns = [*_flat(data["ratings"][0]), *(result.agents[i] for i in order)]
    _write_csv(folder / "ratings.csv", columns, rows)
    counts = ("games", "deals", "different", "independent", "wins", "draws", "losses")
    kept = (*counts, "win_share", "interval", "mean", "mean_interval", "difference", "p", "share_p")
    rows = [{"a": m["agents"][0], "b": m["agents"][1], **_flat({key: m[key] for key in kept})} for m in data["matches"]]
    _write_csv(folder / "matches.csv", list(rows[0]), rows)
    if rows := _team_rows(result):
        _write_csv(folder / "teams.csv", list(rows[0]), rows)
    plot_ratings(result, folder / "elo.png")


def _team_rows(result: Tournament) -> list[dict[str, object]]:
    """What each agent won against each other one as each team."""
    return [
        {"agent": result.agents[i], "against": result.agents[j], "team": team, **_flat(won.to_json())}
        for i, j in permutations(result.ranking, 2)
        for team, won in result.teams(i, j).items()
    ]


def _flat(row: dict[str, object]) -> dict[str, object]:
    """With the ends of intervals in columns of their own."""
    flat: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, list):
            prefix = key.removesuffix("interval")
            flat[f"{prefix}low"], flat[f"{prefix}high"] = value
        else:
            flat[key] = value
    return flat


def _write_csv(path: Path, columns: list[str], rows: list[dict[str, object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def plot_ratings(result: Tournament, path: Path) -> None:
    """Draws a line an agent, the strongest on top: its rating and the interval."""
    order = result.ranking[::-1]
    elo, low, high = (numbers[order] for numbers in result.ratings)
    with picture(path, size=(8, 1.2 + 0.45 * len(order))) as axis:
        axis.plot(elo, range(len(order)), "o")
        axis.hlines(range(len(order)), low, high)
        axis.margins(y=0.2)
        axis.set_yticks(range(len(order)), [result.agents[i] for i in order])
        axis.set(xlabel="Elo, with 95 % intervals", title=str(result.game))
        axis.grid(alpha=0.3)
