"""Every table in one SQLite file. What is written here survives the process: a move first, then who waits for it.

One process writes: a lock beside the file sees to that. Moves are rows, appended one by one, so what a crash can tear
off is the last transaction, which nobody has been told of. Writing is short and happens on the event loop; lists and
statistics are read by a connection of their own (`Reader`), from another thread.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import quote

from tapete.core import TapeteError, make
from tapete.core.locks import FileLock
from tapete.web.migrations import SCHEMA, VERSION, migrate
from tapete.web.table import Options, Refused, Seat, Table, Totals


class Kept(NamedTuple):
    """A table as it is kept. Opening it loads a game and makes all moves: that is left to a thread."""

    name: str
    about: tuple[Any, ...]  # game, maker, invite, options, before, next
    seats: list[tuple[Any, ...]]
    moves: list[int]

    def open(self) -> Table:
        """The table, every move checked."""
        game, maker, invite, options, before, after = self.about
        try:
            rules, seats = make(game), [Seat(*seat) for seat in self.seats]
            if len(seats) != rules.players:
                raise TapeteError(f"{game} has {rules.players} seats, not {len(seats)}")
            table = Table(self.name, rules, seats, Options(**json.loads(options)), maker=maker, invite=invite)
            table.before, table.next = Totals(**json.loads(before)), after
        except (TapeteError, ValueError, TypeError) as error:
            raise Refused("broken", f"this table can't be opened any more: {error}") from None
        table.replay(self.moves)
        return table


class Store:
    """What is kept. Calls come one at a time: from the event loop, once there is one."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tables.sqlite"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.lock = FileLock(folder / "lock")
        except BlockingIOError:
            raise TapeteError(f"another server keeps its tables in {folder}; --data takes another folder") from None
        except OSError as error:
            raise TapeteError(f"tables can't be kept in {folder}: {error}") from None
        try:
            self._open(folder)
        except BaseException as error:
            self.lock.release()
            if isinstance(error, sqlite3.Error | OSError):
                raise TapeteError(f"the tables in {folder} can't be read: {error}") from None
            raise

    def _open(self, folder: Path) -> None:
        if not self.path.exists():
            _begin(self.path)
        elif not self.path.stat().st_size:
            raise TapeteError(
                f"{self.path} is empty, which no file of tables is; put it back, or remove it to begin anew"
            )
        self.db = connect(self.path)
        (version,) = self.db.execute("pragma user_version").fetchone()
        if not 1 <= version <= VERSION:
            raise TapeteError(f"the tables in {folder} were kept by another version of tapete ({version})")
        # A commit is in the operating system's hands before it returns: it survives kill -9 of this process.
        self.db.execute("pragma journal_mode = wal")
        self.db.execute("pragma synchronous = normal")
        with self._writing():
            migrate(self.db, version)
        (self.secret,) = self.db.execute("select bytes from secret").fetchone()

    def close(self) -> None:
        """Lets go of the file."""
        self.db.close()
        self.lock.release()

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
        options, before = json.dumps(vars(table.options)), json.dumps(vars(table.before))
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
            self._write_summary(table)

    def change(self, table: Table, ply: int) -> None:
        """Who sits where, what was agreed, and the moves from `ply` on."""
        with self._writing():
            options = json.dumps(vars(table.options))
            self.db.execute("update tables set options = ? where name = ?", (options, table.name))
            self._write_seats(table)
            self._write_moves(table, ply)

    def _write_seats(self, table: Table) -> None:
        self.db.executemany(
            "insert or replace into seats values (?, ?, ?, ?, ?, ?)",
            [(table.name, i, s.kind, s.name, s.owner, s.thinking) for i, s in enumerate(table.seats)],
        )

    def _write_summary(self, table: Table) -> None:
        """What a list tells of a table that is not in memory."""
        self.db.execute("update tables set plies = ?, player = ? where name = ?", (table.ply, table.player, table.name))

    def _write_moves(self, table: Table, ply: int) -> None:
        history = (table.state.history or [])[ply:]
        rows = [(table.name, i, action) for i, action in enumerate(history, start=ply)]
        self.db.executemany("insert into moves values (?, ?, ?)", rows)
        self._write_summary(table)
        if table.over and rows:
            returns = json.dumps(table.state.returns())
            self.db.execute(
                "update tables set returns = ?, counted = ? where name = ?", (returns, table.counted, table.name)
            )

    def load(self, name: str) -> Kept | None:
        """What is kept of a table."""
        about = self.db.execute(
            "select game, maker, invite, options, before, next from tables where name = ?", (name,)
        ).fetchone()
        if about is None:
            return None
        seats = self.db.execute(
            "select kind, called, owner, thinking from seats where name = ? order by seat", (name,)
        ).fetchall()
        moves = self.db.execute("select action from moves where name = ? order by ply", (name,)).fetchall()
        return Kept(name, about, seats, [action for (action,) in moves])

    def mark_broken(self, name: str, why: str) -> None:
        """A table that can't be opened is listed as what it is."""
        with self._writing():
            self.db.execute("update tables set broken = ? where name = ?", (why, name))

    def made(self, name: str) -> float:
        """When a table was made."""
        (when,) = self.db.execute("select made from tables where name = ?", (name,)).fetchone()
        return when

    def unfinished(self, owner: str) -> int:
        """How many tables somebody has made that are not over."""
        (count,) = self.db.execute(
            "select count(*) from tables where maker = ? and returns is null", (owner,)
        ).fetchone()
        return count

    def review(self, name: str, seat: int) -> dict[str, Any] | None:
        """A review that was made before."""
        row = self.db.execute("select data from reviews where name = ? and seat = ?", (name, seat)).fetchone()
        return json.loads(row[0]) if row else None

    def keep_review(self, name: str, seat: int, review: dict[str, Any]) -> None:
        """Keeps a review."""
        with self._writing():
            self.db.execute("insert or replace into reviews values (?, ?, ?)", (name, seat, json.dumps(review)))


class Reader:
    """What takes longer to find: lists and statistics. It only reads, from any thread, and sees what is written."""

    def __init__(self, path: Path) -> None:
        self.db = connect(path, "ro")
        self.lock = Lock()

    def close(self) -> None:
        """Lets go of the file, when nobody reads any more."""
        with self.lock:
            self.db.close()

    def check(self) -> None:
        """Raises where nothing can be read."""
        with self.lock:
            self.db.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()

    def tables_of(self, owner: str, most: int) -> list[dict[str, Any]]:
        """The tables at which somebody sits or which he has made, the newest first, as the store has them."""
        with self.lock:
            rows = self.db.execute(TABLES_OF, {"owner": owner, "most": most}).fetchall()
        keys = ("table", "game", "ply", "player", "over", "broken", "seats")
        found = [dict(zip(keys, row, strict=True)) for row in rows]
        for table in found:
            table["seats"] = [Seat(kind, name, seated) for kind, name, seated in json.loads(table["seats"])]
        return found

    def chain(self, name: str, most: int) -> list[tuple[str, list[Seat], list[int]]]:
        """The finished games that led to a table, and its own: game, seats and moves, the oldest first."""
        with self.lock:
            rows = self.db.execute(CHAIN, {"name": name, "most": most}).fetchall()
        return [
            (game, [Seat(kind, called, seated) for kind, called, seated in json.loads(seats)], json.loads(moves))
            for game, seats, moves in rows
        ]

    def reviews(self, owner: str, most: int) -> list[tuple[Kept, int, dict[str, Any]]]:
        """Somebody's reviewed games, the newest first: each with his seat and the review."""
        with self.lock:
            rows = self.db.execute(REVIEWS, {"owner": owner, "most": most}).fetchall()
        return [
            (
                Kept(
                    name, (game, "", "", "{}", '{"games": 0, "returns": []}', ""), json.loads(seats), json.loads(moves)
                ),
                seat,
                json.loads(data),
            )
            for name, game, seat, data, seats, moves in rows
        ]

    def results(self, owner: str) -> list[dict[str, Any]]:
        """Every counted game of somebody, the oldest first: his seat, the others, and what each got."""
        with self.lock:
            rows = self.db.execute(RESULTS, {"owner": owner}).fetchall()
        return [
            {"game": game, "seat": seat, "against": sorted(json.loads(others)), "returns": json.loads(returns)}
            for game, seat, others, returns in rows
        ]


# An index that leaves rows without an owner out is only used where a query says that it does so, too.
SEATED = "select name from seats where owner = :owner and owner <> ''"
TABLES_OF = f"""
select name, game, plies, player, returns is not null, broken, (
    select json_group_array(json_array(kind, called, owner))
    from (select kind, called, owner from seats where seats.name = tables.name order by seat)
) from tables where name in ({SEATED} union select name from tables where maker = :owner)
order by made desc limit :most
"""
CHAIN = """
with recursive chain (name, back) as (
    select name, 0 from tables where name = :name
    union all select t.name, back + 1 from chain join tables t on t.next = chain.name and t.next <> '' limit :most
)
select t.game, (
    select json_group_array(json_array(kind, called, owner))
    from (select kind, called, owner from seats where seats.name = t.name order by seat)
), (select json_group_array(action) from (select action from moves where moves.name = t.name order by ply))
from chain join tables t on t.name = chain.name where t.returns is not null order by back desc
"""
REVIEWS = """
select t.name, t.game, s.seat, r.data, (
    select json_group_array(json_array(kind, called, owner, thinking))
    from (select kind, called, owner, thinking from seats where seats.name = t.name order by seat)
), (select json_group_array(action) from (select action from moves where moves.name = t.name order by ply))
from seats s join reviews r on r.name = s.name and r.seat = s.seat join tables t on t.name = s.name
where s.owner = :owner and s.owner <> '' order by t.made desc limit :most
"""
RESULTS = """
select t.game, s.seat, (
    select json_group_array(distinct case o.kind when 'agent' then o.called else o.kind end)
    from seats o where o.name = s.name and o.seat <> s.seat
), t.returns from seats s join tables t on t.name = s.name
where s.owner = :owner and s.owner <> '' and t.counted and t.returns is not null order by t.made
"""


def connect(path: Path, mode: str = "rw") -> sqlite3.Connection:
    """A connection to a file that is there, for threads that take care of each other."""
    uri = f"file:{quote(str(path.resolve()))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _begin(path: Path) -> None:
    """A new file, which appears under its name when it is whole: a file without tables was never ours."""
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL, 0o600))
    with closing(connect(draft)) as db:
        db.execute("begin")
        for statement in SCHEMA.split(";\n"):
            db.execute(statement)
        db.execute("insert into secret values (?)", (secrets.token_bytes(32),))
        db.execute(f"pragma user_version = {VERSION}")
        db.execute("commit")
    os.replace(draft, path)
