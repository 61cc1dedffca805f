"""What is stored is there again, and what can't be stored has not happened."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tapete import Rng, TapeteError, make
from tapete.web import store as store_module
from tapete.web.making import new_table
from tapete.web.migrations import VERSION
from tapete.web.store import Reader, Store
from tapete.web.table import Options, Refused, Seat, Table


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data")


def truco(*texts: str) -> Table:
    return new_table("truco", list(texts) or ["me", "random"], Options(practice=True, pace=5), "ana", "Ana")


def reopened(store: Store) -> Store:
    store.close()
    return Store(store.path.parent)


def loaded(store: Store, name: str) -> Table:
    kept = store.load(name)
    assert kept is not None
    return kept.open()


def test_a_table_is_there_again_as_it_was(store: Store) -> None:
    table = truco()
    store.add(table)
    rng = Rng(1)
    for _ in range(20):
        ply = table.ply
        table.deal(rng)
        table.move(rng.choice(table.state.actions()))
        store.append(table, ply)
    again = loaded(reopened(store), table.name)
    assert again.state == table.state
    assert again.message("ana") == table.message("ana")
    assert again.message("nobody") == table.message("nobody")


def test_seats_options_and_moves_taken_back_are_kept(store: Store) -> None:
    table = truco("me", "open")
    store.add(table)
    table.sit(1, "blas", "Blas")
    table.deal(Rng(2))
    table.options.pace, table.seats[0].thinking = 77, "after"
    store.change(table, 0)
    table.move(table.state.actions()[0])
    store.append(table, 6)
    table.rewind(6)
    store.rewind(table)
    again = loaded(store, table.name)
    assert again.message("blas") == table.message("blas")
    assert (again.ply, again.options.pace, again.seats[0].thinking) == (6, 77, "after")


def play_kuhn(store: Store, moves: str, *, practice: bool = False, texts: tuple[str, ...] = ("random", "me")) -> Table:
    table = new_table("kuhn", list(texts), Options(practice=practice), "ana", "Ana")
    store.add(table)
    table.replay(make("kuhn").read(moves).history or [])
    store.append(table, 0)
    return table


def test_finished_games_are_listed_with_their_results(store: Store) -> None:
    for practice in (True, False):
        play_kuhn(store, "J Q bet bet", practice=practice)
    reader = Reader(store.path)
    (result,) = reader.results("ana")
    assert result == {"game": "kuhn", "seat": 1, "against": ["random"], "returns": [-2.0, 2.0]}
    assert reader.results("blas") == reader.results("") == []
    assert [table["over"] for table in reader.tables_of("ana", 9)] == [True, True]
    assert reader.tables_of("blas", 9) == reader.tables_of("", 9) == []
    assert store.unfinished("ana") == 0
    reader.close()


def test_results_come_in_the_order_in_which_tables_were_made(store: Store) -> None:
    """Curves of statistics are drawn from them; names of tables are random, so order by them is none."""
    ends = ["J Q bet bet", "J Q pass pass", "K Q bet bet", "Q J bet pass", "J K pass bet pass"] * 3
    for moves in ends:
        play_kuhn(store, moves)
    expected = [make("kuhn").read(moves).returns() for moves in ends]
    reader = Reader(store.path)
    assert [result["returns"] for result in reader.results("ana")] == expected
    made = [name for (name,) in store.db.execute("select name from tables order by made desc")]
    assert [table["table"] for table in reader.tables_of("ana", 4)] == made[:4]
    reader.close()


def test_a_list_tells_moves_turns_and_seats_without_replaying(store: Store) -> None:
    table = new_table("truco", ["me", "open"], Options(), "ana", "Ana")
    store.add(table)
    reader = Reader(store.path)
    (row,) = reader.tables_of("ana", 9)
    assert (row["ply"], row["player"], row["over"], row["broken"]) == (0, None, 0, "")
    table.sit(1, "blas", "Blas")
    table.deal(Rng(2))
    store.change(table, 0)
    (row,) = reader.tables_of("blas", 9)
    assert (row["ply"], row["player"]) == (6, table.player)
    assert row["seats"] == [Seat("person", "Ana", "ana"), Seat("person", "Blas", "blas")]
    table.move(table.state.actions()[0])
    store.append(table, 6)
    assert reader.tables_of("ana", 9)[0]["player"] == table.player
    table.rewind(6)
    store.rewind(table)
    assert reader.tables_of("ana", 9)[0]["ply"] == 6
    reader.close()


@pytest.mark.parametrize("query", [store_module.TABLES_OF, store_module.RESULTS])
def test_what_takes_longer_to_find_is_found_by_indices(store: Store, query: str) -> None:
    rows = store.db.execute(f"explain query plan {query}", {"owner": "ana", "most": 40}).fetchall()
    plan = [detail for *_, detail in rows]
    assert not any(step.startswith("SCAN") and "(subquery" not in step and "UNION" not in step for step in plan), plan
    counting = "explain query plan select count(*) from tables where maker = ? and returns is null"
    assert "unfinished_of" in store.db.execute(counting, "a").fetchone()[-1]


def test_opponents_are_told_once_each_in_order(store: Store) -> None:
    table = new_table("holdem(players=4)", ["me", "random", "random", "ismcts(100)"], Options(), "ana", "")
    store.add(table)
    store.db.execute("update tables set returns = '[1, 2, 3, 4]', counted = 1")
    reader = Reader(store.path)
    assert reader.results("ana")[0]["against"] == ["ismcts(100)", "random"]
    reader.close()


def test_what_is_not_there_is_none(store: Store) -> None:
    assert store.load("nothing") is None
    assert store.review("nothing", 0) is None
    store.keep_review("x", 0, {"decisions": []})
    assert store.review("x", 0) == {"decisions": []}


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    table = truco()
    table.deal(Rng(3))
    store.add(table)
    with pytest.raises(Refused, match="can't be saved"):
        store.append(table, table.ply - 1)  # the last move is there already
    table.move(table.state.actions()[0])
    store.db.execute("create trigger full before insert on moves begin select raise(abort, 'disk full'); end")
    with pytest.raises(Refused, match="disk full"):
        store.append(table, 6)
    assert loaded(store, table.name).ply == 6


def test_one_server_a_folder(store: Store, tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="another server"):
        Store(tmp_path / "data")
    secret = store.secret
    assert reopened(store).secret == secret


def test_files_are_for_their_owner_only(store: Store, tmp_path: Path) -> None:
    assert os.stat(tmp_path / "data").st_mode & 0o077 == 0
    assert os.stat(tmp_path / "data" / "tables.sqlite").st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"no database", b"\x00" * 10_000])
def test_a_file_that_is_no_store_is_told_in_one_line_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tables.sqlite").write_bytes(content)
    for _ in range(2):  # the lock is free again
        with pytest.raises(TapeteError, match="can't be read" if content else "is empty") as refused:
            Store(tmp_path)
        assert "\n" not in str(refused.value)
    assert (tmp_path / "tables.sqlite").read_bytes() == content


def test_a_file_that_was_not_finished_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "tables.new").write_bytes(b"half of it")
    store = Store(tmp_path)
    assert len(store.secret) == 32
    assert not (tmp_path / "tables.new").exists()
    store.close()


# Version 1, as it was written by tapete before it had a second one.
FIRST = """
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
pragma user_version = 1;
insert into secret values (x'0102');
"""


def write_first(folder: Path, *tables: tuple[str, str, str, str | None]) -> None:
    """A file of version 1 with tables of ana against an agent: name, game, moves, returns."""
    with closing(sqlite3.connect(folder / "tables.sqlite")) as db:
        db.executescript(FIRST)
        for made, (name, game, moves, returns) in enumerate(tables):
            row = (name, game, "ana", "x", '{"practice": false, "pace": 5, "helped": false}', made, returns)
            before = '{"games": 0, "returns": [0.0, 0.0]}'
            db.execute(f"insert into tables values (?, ?, ?, ?, ?, '{before}', '', ?, 1, ?)", row)
            seats = [(name, 0, "person", "Ana", "ana", "never"), (name, 1, "agent", "random", "", "never")]
            db.executemany("insert into seats values (?, ?, ?, ?, ?, ?)", seats)
            actions = [int(move) for move in moves.split()]
            db.executemany("insert into moves values (?, ?, ?)", [(name, i, a) for i, a in enumerate(actions)])
        db.commit()


def test_a_file_of_the_first_version_becomes_one_of_todays(tmp_path: Path) -> None:
    history = make("kuhn").read("J Q pass bet").history or []
    moves = " ".join(map(str, history))
    write_first(tmp_path, ("a", "kuhn", moves, None), ("b", "kuhn", f"{moves} 0", "[-1.0, 1.0]"))
    for _ in range(2):
        store = Store(tmp_path)
        assert (store.secret, store.db.execute("pragma user_version").fetchone()) == (b"\x01\x02", (VERSION,))
        reader = Reader(store.path)
        rows = reader.tables_of("ana", 9)
        assert [(row["table"], row["ply"], row["player"], row["over"]) for row in rows] == [
            ("b", 5, None, 1),
            ("a", 4, 0, 0),
        ]
        assert loaded(store, "a").player == 0
        assert loaded(store, "b").state.returns() == [-1.0, 1.0]
        assert len(reader.results("ana")) == 1
        table = loaded(store, "a") if _ else None
        if table:  # and it goes on
            table.move(1)
            store.append(table, 4)
            assert reader.tables_of("ana", 9)[1]["over"]
        reader.close()
        store.close()


def shape(store: Store) -> list[tuple[str, ...]]:
    rows = store.db.execute("select name from sqlite_master where type = 'table' or type = 'index' order by 1")
    names = [name for (name,) in rows]
    return [tuple(map(str, row)) for name in names for row in store.db.execute(f"pragma table_info('{name}')")] + [
        (name,) for name in names
    ]


def test_a_migrated_file_has_the_tables_and_indices_of_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    write_first(tmp_path / "old")
    old, new = Store(tmp_path / "old"), Store(tmp_path / "new")
    assert shape(old) == shape(new)
    old.close()
    new.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_first(tmp_path, ("a", "kuhn", "0 1", None))
    with monkeypatch.context() as patch:
        patch.setattr("tapete.web.migrations.make", lambda text: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Store(tmp_path)
    with closing(sqlite3.connect(tmp_path / "tables.sqlite")) as db:
        assert db.execute("pragma user_version").fetchone() == (1,)
        assert "plies" not in [row[1] for row in db.execute("pragma table_info(tables)")]
    Store(tmp_path).close()


def test_old_rows_that_can_not_be_replayed_do_not_stop_a_migration(tmp_path: Path) -> None:
    write_first(tmp_path, ("a", "gone", "0 1", None), ("b", "kuhn", "99", None), ("c", "kuhn", "0 1", None))
    store = Store(tmp_path)
    rows = store.db.execute("select name, plies, player from tables order by name").fetchall()
    assert rows == [("a", 2, None), ("b", 1, None), ("c", 2, 0)]
    for name in "ab":
        with pytest.raises(TapeteError):
            loaded(store, name)
    store.close()


def test_a_store_of_another_version_is_left_alone(store: Store) -> None:
    store.db.execute("pragma user_version = 99")
    with pytest.raises(TapeteError, match="another version"):
        reopened(store)


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TapeteError, match="can't be kept"):
        Store(tmp_path / "file" / "data")


def test_moves_are_rows(store: Store) -> None:
    table = truco()
    table.deal(Rng(3))
    store.add(table)
    rows = store.db.execute("select ply, action from moves where name = ? order by ply", (table.name,)).fetchall()
    assert rows == list(enumerate(table.state.history or []))
    assert isinstance(store.db, sqlite3.Connection)
