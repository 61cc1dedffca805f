"""The tables of the store, and how a file of an older version becomes one of today's.

Version 1 had no `plies`, `player` and `broken`: whoever listed tables had to replay them.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from tapete.core import TapeteError, make

VERSION = 3
SCHEMA = """
create table secret (bytes blob not null);
create table tables (
    name text primary key, game text not null, maker text not null, invite text not null, options text not null,
    before text not null, next text not null default '', made real not null, counted int not null default 0,
    returns text, plies int not null default 0, player int, broken text not null default ''
);
create index tables_of on tables (maker);
create index unfinished_of on tables (maker) where returns is null;
create index followed_by on tables (next) where next <> '';
create table seats (
    name text not null, seat int not null, kind text not null, called text not null, owner text not null,
    thinking text not null, primary key (name, seat)
) without rowid;
create index seats_of on seats (owner, name) where owner <> '';
create table moves (name text not null, ply int not null, action int not null, primary key (name, ply)) without rowid;
create table reviews (name text not null, seat int not null, data text not null, primary key (name, seat));
"""


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Brings a file of an older version up to date, inside a transaction of the caller's."""
    if version == 1:
        _add_summaries(db)
    if version <= 2:  # version 3: a table is found by the one that follows it
        db.execute("create index followed_by on tables (next) where next <> ''")
    if version < VERSION:
        db.execute(f"pragma user_version = {VERSION}")


def _add_summaries(db: sqlite3.Connection) -> None:
    """Version 2: how many moves a table has, whose turn it is, and why it can't be opened."""
    db.execute("alter table tables add column plies int not null default 0")
    db.execute("alter table tables add column player int")
    db.execute("alter table tables add column broken text not null default ''")
    db.execute("create index unfinished_of on tables (maker) where returns is null")
    db.execute("update tables set plies = (select count(*) from moves where moves.name = tables.name)")
    for name, game in db.execute("select name, game from tables where returns is null").fetchall():
        moves = [action for (action,) in db.execute("select action from moves where name = ? order by ply", (name,))]
        with suppress(TapeteError):  # it is told when somebody opens it
            player = make(game).replay(moves).player
            db.execute("update tables set player = ? where name = ?", (player if player >= 0 else None, name))
