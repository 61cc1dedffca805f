"""What is stored is there again, and what can't be stored has not happened."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tapete import Rng, TapeteError, make
from tapete.web.making import new_table
from tapete.web.store import Store
from tapete.web.table import Options, Refused, Table


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data")


def truco(*texts: str) -> Table:
    return new_table("truco", list(texts) or ["me", "random"], Options(practice=True, pace=5), "ana", "Ana")


def reopened(store: Store) -> Store:
    folder = Path(store.lock.name).parent
    store.close()
    return Store(folder)


def loaded(store: Store, name: str) -> Table:
    found = store.load(name)
    assert found is not None
    table, history = found
    table.replay(history)
    return table


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


def test_finished_games_are_listed_with_their_results(store: Store) -> None:
    for practice in (True, False):
        table = new_table("kuhn", ["random", "me"], Options(practice=practice), "ana", "Ana")
        store.add(table)
        table.replay(make("kuhn").read("J Q bet bet").history or [])
        store.append(table, 0)
    (result,) = store.results("ana")
    assert result == {"game": "kuhn", "seat": 1, "against": ["random"], "returns": [-2.0, 2.0]}
    assert store.results("blas") == []
    assert [is_finished for _, is_finished in store.tables_of("ana", 9)] == [True, True]
    assert store.tables_of("blas", 9) == []
    assert store.open_tables("ana") == 0


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
def test_a_file_that_is_no_store_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tables.sqlite").write_bytes(content)
    if not content:
        assert len(Store(tmp_path).secret) == 32
        return
    with pytest.raises(TapeteError, match="can't be"):
        Store(tmp_path)
    assert (tmp_path / "tables.sqlite").read_bytes() == content


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
