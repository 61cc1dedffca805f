"""Sessions of poker: what is told of them agrees with the hands, and tells nothing of cards that were not shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tapete.core import Rng, Things, make
from tapete.games.holdem import histories
from tapete.games.holdem.histories.statistics import Book
from tapete.web import sessions
from tapete.web.making import continued
from tapete.web.sessions import Played
from tapete.web.store import Reader, Store
from tapete.web.table import AGENT, PERSON, Options, Refused, Seat, Table

HANDS = 12
OTHERS = ["random", "random", "best"]


def deal_on(store: Store, players: int = 4) -> Iterator[Table]:
    """Hand after hand of random moves, as a server keeps them."""
    rng = Rng("session")
    seats = [Seat(PERSON, "Ana", "ana"), *(Seat(AGENT, name) for name in OTHERS)]
    table = Table("first", make(f"holdem(players={players})"), seats[:players], Options(), maker="ana")
    store.add(table)
    while True:
        while not table.over:
            table.deal(rng)
            if not table.over:
                table.move(rng.choice(table.state.actions()))
        store.change(table, 0)
        yield table
        following = continued(table, swap=True)
        table.next = following.name
        store.add(following)
        store.link(table)
        table = following


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def tables(store: Store) -> list[Table]:
    return [table for table, _ in zip(deal_on(store), range(HANDS), strict=False)]


@pytest.fixture
def played(store: Store, tables: list[Table]) -> list[Played]:
    reader = Reader(store.path)
    found = [Played(*hand) for hand in reader.chain(tables[-1].name, sessions.MOST)]
    reader.close()
    return found


def test_the_chain_is_the_finished_hands_from_the_first_to_this_one(
    store: Store, tables: list[Table], played: list[Played]
) -> None:
    assert [hand.moves for hand in played] == [table.state.history for table in tables]
    assert [hand.seats.index(Seat(PERSON, "Ana", "ana")) for hand in played] == [-i % 4 for i in range(HANDS)]
    reader = Reader(store.path)
    assert len(reader.chain(tables[4].name, sessions.MOST)) == 5, "what came after a hand is not part of it"
    assert [hand[2] for hand in reader.chain(tables[-1].name, 3)] == [hand.moves for hand in played[-3:]]
    reader.close()


def test_the_curve_is_what_was_won_hand_by_hand(tables: list[Table], played: list[Played]) -> None:
    curve = sessions.session(played, "ana")["curve"]
    won = [table.state.returns()[table.seat_of("ana") or 0] for table in tables]
    assert curve == [sum(won[:i]) for i in range(HANDS + 1)]
    assert curve[-1] == tables[-1].totals.returns[tables[-1].seat_of("ana") or 0]


@pytest.mark.parametrize("ending", [".txt", ".phhs"])
def test_the_figures_are_those_of_the_file_that_is_downloaded(
    tmp_path: Path, played: list[Played], ending: str
) -> None:
    file = tmp_path / f"hands{ending}"
    file.write_text(sessions.text(played, "ana", ending))
    book = Book()
    for hand in histories.read(file, lambda problem: pytest.fail(str(problem))):
        book.add(hand)
    assert book.hands == HANDS
    told = sessions.session(played, "ana")["players"]
    assert [player["name"] for player in told] == ["Ana", "random 1", "random 2", "best"]
    for player in told:
        name = player.pop("name")
        assert player == book.players[name].figures()
    assert sum(player["won"] for player in told) == 0


def test_a_players_figures_stay_his_when_everybody_moves_on(tables: list[Table], played: list[Played]) -> None:
    won = [0.0] * 4
    for table in tables:
        mine = table.seat_of("ana") or 0
        for seat, gain in enumerate(table.state.returns()):
            won[(seat - mine) % 4] += gain
    assert [player["won"] for player in sessions.session(played, "ana")["players"]] == won


def test_cards_that_were_not_shown_are_in_no_file(played: list[Played]) -> None:
    text = sessions.text(played, "ana", ".txt")
    hands = text.split("PokerStars")[1:]
    assert len(hands) == HANDS
    secret = 0
    for hand, told in zip(played, hands, strict=True):
        state, mine = make(hand.game).replay(hand.moves), _mine(hand)
        known = {part.owner: part.faces for part in state.view(mine).scene().parts if isinstance(part, Things)}
        for part in state.scene().parts:
            if isinstance(part, Things) and part.owner is not None and part.faces != known[part.owner]:
                secret += 1
                assert f"[{' '.join(part.faces)}]" not in told
                assert f"[{' '.join(reversed(part.faces))}]" not in told
    assert secret > HANDS


def _mine(hand: Played) -> int:
    return next(i for i, seat in enumerate(hand.seats) if seat.owner == "ana")


def test_only_who_played_is_told(played: list[Played]) -> None:
    for stranger in ("eve", ""):
        with pytest.raises(Refused, match="only those who play"):
            sessions.session(played, stranger)
        with pytest.raises(Refused, match="only those who play"):
            sessions.text(played, stranger, ".txt")


def test_a_session_that_has_not_begun_is_empty() -> None:
    assert sessions.session([], "ana") == {"hands": 0, "curve": [0.0], "players": []}


@pytest.mark.parametrize(("game", "ending"), [("kuhn", ""), ("kuhn", ".txt"), ("holdem", ".exe")])
def test_other_games_and_formats_are_refused(game: str, ending: str) -> None:
    with pytest.raises(Refused, match="is not written to"):
        sessions.checked(game, ending)
