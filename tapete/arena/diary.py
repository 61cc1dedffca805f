"""A tournament that can be killed: every deal is a line in a file, written when it has been played."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tapete.arena.playing import Played
from tapete.core import Game, TapeteError
from tapete.core.locks import FileLock

NAME = "deals.jsonl"
Deals = dict[int, list[Played]]  # the games of each deal, by its number


class Diary:
    """The deals of a tournament so far. The first line says which tournament it is; a torn last line is dropped.

    :param folder: where the file is; it is locked, so that no two tournaments write there.
    :param terms: what the tournament is: game, agents, seed and all else that its games depend on, as plain data.
    :param resume: whether to go on with what is there; without it, nothing may be.
    """

    def __init__(self, folder: Path, game: Game, terms: dict[str, Any], *, resume: bool = False) -> None:
        self.path, self.game = folder / NAME, game
        self.deals: dict[str, Deals] = {}
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self.lock = FileLock(folder / ".lock")
        except BlockingIOError:
            raise TapeteError(f"another tournament is at work in {folder}") from None
        try:
            self._open({"game": str(game), **terms}, resume)
        except BaseException:
            self.lock.release()
            raise

    def _open(self, terms: dict[str, Any], resume: bool) -> None:
        if not self.path.exists():
            self.file = self.path.open("a")
            self._write(terms)
            return
        if not resume:
            raise TapeteError(f"a tournament was stopped in {self.path.parent}; --resume goes on with it")
        whole = self.path.read_bytes().rpartition(b"\n")[0]
        first, *lines = whole.split(b"\n")
        try:
            known = json.loads(first)
            for line in lines:
                entry = json.loads(line)
                games = [self._read(*played) for played in entry["games"]]
                self.deals.setdefault(entry["match"], {})[games[0].deal] = games
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise TapeteError(f"{self.path} can't be read ({error}); remove it to begin anew") from None
        for key in terms:
            if known.get(key) != terms[key]:
                raise TapeteError(f"the tournament in {self.path.parent} has {key} {known.get(key)}, not {terms[key]}")
        os.truncate(self.path, len(whole) + 1)
        self.file = self.path.open("a")

    def _read(self, deal: int, lineup: str, actions: list[int], returns: list[float], *more: Any) -> Played:
        """A game that was played, played again: the rules say whether it is one."""
        state = self.game.replay(actions)
        if not state.over or state.returns() != returns:
            raise ValueError(f"deal {deal} is not as the rules have it")
        moves, seconds, draws, luck, *_ = more
        told = tuple(moves), tuple(seconds), draws, tuple(luck), state.teams
        return Played(deal, lineup, tuple(actions), tuple(returns), *told)

    def write(self, match: str, games: list[Played]) -> None:
        """A deal has been played."""
        self._write({"match": match, "games": games})

    def _write(self, entry: Any) -> None:
        self.file.write(json.dumps(entry, separators=(",", ":")) + "\n")
        self.file.flush()

    def close(self, *, finished: bool) -> None:
        """Lets others have the folder; what is finished needs no diary."""
        self.file.close()
        if finished:
            self.path.unlink()
        self.lock.release()
