"""Every table in one SQLite file. What is written here survives the process: a move first, then who waits for it.

One process writes: a lock beside the file sees to that. Moves are rows, appended one by one, so what a crash can tear
off is the last transaction, which nobody has been told of.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tapete.core import TapeteError, make
from tapete.web.table import Options, Refused, Seat, Table, Totals

VERSION = 1
SCHEMA = """
create table secret (bytes blob not null);
create table tables (
    name text primary key, game text not null, maker text not null, invite text not null, options text not null,
    before text not null, next text not null default '', made real not null, counted int not null default 0,
    returns text
);
create index tables_of on tables (maker);
create table seats (
    name text not null, seat int not null, kind text not null, called text not null, owner text not null,
    thinking text not null, primary key (name, seat)
) without rowid;
create index seats_of on seats (owner, name) where owner <> '';
create table moves (name text not null, ply int not null, action int not null, primary key (name, ply)) without rowid;
create table reviews (name text not null, seat int not null, data text not null, primary key (name, seat));
"""


class Store:
    """What is kept. Calls come one at a time: from the event loop, once there is one."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.lock = open(folder / "lock", "w")  # noqa: SIM115
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(os.open(folder / "tables.sqlite", os.O_CREAT, 0o600))
            self.db = sqlite3.connect(folder / "tables.sqlite", isolation_level=None, check_same_thread=False)
        except BlockingIOError:
            raise TapeteError(f"another server keeps its tables in {folder}; --data takes another folder") from None
        except (OSError, sqlite3.Error) as error:
            raise TapeteError(f"tables can't be kept in {folder}: {error}") from None
        self._open(folder)

    def _open(self, folder: Path) -> None:
        try:
            # A commit is in the operating system's hands before it returns: it survives kill -9 of this process.
            self.db.execute("pragma journal_mode = wal")
            self.db.execute("pragma synchronous = normal")
            (version,) = self.db.execute("pragma user_version").fetchone()
            if version == 0:
                with self._writing():
                    for statement in SCHEMA.split(";\n"):
                        self.db.execute(statement)
                    self.db.execute("insert into secret values (?)", (secrets.token_bytes(32),))
                    self.db.execute(f"pragma user_version = {VERSION}")
            elif version != VERSION:
                raise TapeteError(f"the tables in {folder} were kept by another version of tapete ({version})")
            (self.secret,) = self.db.execute("select bytes from secret").fetchone()
        except sqlite3.Error as error:
            raise TapeteError(f"the tables in {folder} can't be read: {error}") from None

    def close(self) -> None:
        """Lets go of the file."""
        self.db.close()
        self.lock.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction: all of it, or nothing and a refusal."""
        try:
            self.db.execute("begin immediate")
            yield
            self.db.execute("commit")
        except BaseException as error:
            if self.db.in_transaction:
                self.db.execute("rollback")
            if isinstance(error, sqlite3.Error):
                raise Refused("store", f"this can't be saved: {error}") from None
            raise

    def add(self, table: Table) -> None:
        """A new table with the moves made so far."""
        options, before = json.dumps(table.options.to_json()), json.dumps(asdict(table.before))
        with self._writing():
            self.db.execute(
                "insert into tables (name, game, maker, invite, options, before, made) values (?, ?, ?, ?, ?, ?, ?)",
                (table.name, str(table.game), table.maker, table.invite, options, before, time.time()),
            )
            self._write_seats(table)
            self._write_moves(table, 0)

    def link(self, table: Table) -> None:
        """Where the people of a table went on."""
        with self._writing():
            self.db.execute("update tables set next = ? where name = ?", (table.next, table.name))

    def append(self, table: Table, ply: int) -> None:
        """The moves from `ply` on, and the result where the game is over."""
        with self._writing():
            self._write_moves(table, ply)

    def rewind(self, table: Table) -> None:
        """Forgets the moves that were taken back."""
        with self._writing():
            self.db.execute("delete from moves where name = ? and ply >= ?", (table.name, table.ply))

    def change(self, table: Table, ply: int) -> None:
        """Who sits where, what was agreed, and the moves from `ply` on."""
        with self._writing():
            options = json.dumps(table.options.to_json())
            self.db.execute("update tables set options = ? where name = ?", (options, table.name))
            self._write_seats(table)
            self._write_moves(table, ply)

    def _write_seats(self, table: Table) -> None:
        self.db.executemany(
            "insert or replace into seats values (?, ?, ?, ?, ?, ?)",
            [(table.name, i, s.kind, s.name, s.owner, s.thinking) for i, s in enumerate(table.seats)],
        )

    def _write_moves(self, table: Table, ply: int) -> None:
        history = (table.state.history or [])[ply:]
        rows = [(table.name, i, action) for i, action in enumerate(history, start=ply)]
        self.db.executemany("insert into moves values (?, ?, ?)", rows)
        if table.over and rows:
            returns = json.dumps(table.state.returns())
            self.db.execute(
                "update tables set returns = ?, counted = ? where name = ?", (returns, table.counted, table.name)
            )

    def load(self, name: str) -> tuple[Table, list[int]] | None:
        """A table before its first move, and the moves; replaying them takes a while, and is left to a thread."""
        row = self.db.execute(
            "select game, maker, invite, options, before, next from tables where name = ?", (name,)
        ).fetchone()
        if row is None:
            return None
        game, maker, invite, options, before, after = row
        seats = self.db.execute(
            "select kind, called, owner, thinking from seats where name = ? order by seat", (name,)
        ).fetchall()
        table = Table(
            name,
            make(game),
            [Seat(*seat) for seat in seats],
            Options(**json.loads(options)),
            maker=maker,
            invite=invite,
        )
        table.before, table.next = Totals(**json.loads(before)), after
        moves = self.db.execute("select action from moves where name = ? order by ply", (name,)).fetchall()
        return table, [action for (action,) in moves]

    def made(self, name: str) -> float:
        """When a table was made."""
        (when,) = self.db.execute("select made from tables where name = ?", (name,)).fetchone()
        return when

    def tables_of(self, owner: str, most: int) -> list[tuple[str, bool]]:
        """The tables at which somebody sits or which he has made, the newest first, and whether they are finished."""
        rows = self.db.execute(
            "select name, returns is not null from tables"
            " where name in (select name from seats where owner = ?) or maker = ? order by made desc limit ?",
            (owner, owner, most),
        )
        return [(name, bool(is_finished)) for name, is_finished in rows]

    def open_tables(self, owner: str) -> int:
        """How many tables somebody has made that are not over."""
        (count,) = self.db.execute(
            "select count(*) from tables where maker = ? and returns is null", (owner,)
        ).fetchone()
        return count

    def results(self, owner: str) -> list[dict[str, Any]]:
        """Every counted game of somebody, the oldest first: his seat, the others, and what each got."""
        rows = self.db.execute(
            "select t.name, t.game, t.returns, s.seat from tables t join seats s on s.name = t.name"
            " where s.owner = ? and t.counted and t.returns is not null order by t.made",
            (owner,),
        ).fetchall()
        found = []
        for name, game, returns, seat in rows:
            others = self.db.execute(
                "select case kind when 'agent' then called else kind end from seats"
                " where name = ? and seat <> ? order by seat",
                (name, seat),
            )
            opponents: Sequence[str] = sorted({other for (other,) in others})
            found.append({"game": game, "seat": seat, "against": opponents, "returns": json.loads(returns)})
        return found

    def review(self, name: str, seat: int) -> dict[str, Any] | None:
        """A review that was made before."""
        row = self.db.execute("select data from reviews where name = ? and seat = ?", (name, seat)).fetchone()
        return json.loads(row[0]) if row else None

    def keep_review(self, name: str, seat: int, review: dict[str, Any]) -> None:
        """Keeps a review."""
        with self._writing():
            self.db.execute("insert or replace into reviews values (?, ?, ?)", (name, seat, json.dumps(review)))
