"""How a game ended, told to the right seat in the words of the game; and the games as people play them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.e2e.conftest import PATIENCE, NewPage
from tests.web.e2e.recorded import Files, Message, game_told, open_table

pytestmark = pytest.mark.xdist_group("e2e")


def end_of(game: str, seat: int, won: bool) -> Message:
    """A game that the person in a seat has won, or lost."""
    ends = (game_told(game, seed, seat)[-1] for seed in range(1, 30))
    return next(end for end in ends if (end["returns"][seat] > 0) == won and end["returns"][seat])


def score(message: Message, name: str) -> list[float]:
    found: list[float] = next(part for part in message["scene"]["parts"] if part["name"] == name)["values"]
    return found


def words(page: Page, message: Message) -> tuple[str, str]:
    page.evaluate("message => hear(message)", message)
    title = page.locator(".status strong").inner_text()
    return title, page.locator(".status").inner_text().removeprefix(title).strip()


@pytest.mark.parametrize("won", [True, False], ids=["won", "lost"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("game", "by"), [("truco(points=15)", "points"), ("othello(size=4)", "discs")])
def test_a_score_is_told_with_ones_own_first(told: Page, game: str, by: str, seat: int, won: bool) -> None:
    end = end_of(game, seat, won)
    values = score(end, by)
    assert words(told, end) == ("You won" if won else "You lost", f"{values[seat]:g}–{values[1 - seat]:g}")


@pytest.mark.parametrize("won", [True, False], ids=["won", "lost"])
@pytest.mark.parametrize(("game", "unit"), [("holdem", "chip"), ("leduc", "chip"), ("doudizhu", "point")])
def test_chips_and_points_are_told_as_such(told: Page, game: str, unit: str, won: bool) -> None:
    end = end_of(game, 1, won)
    amount = abs(end["returns"][1])
    title, detail = words(told, end)
    assert title == ("You won" if won else "You lost")
    assert detail == f"{amount:g} {unit}{'' if amount == 1 else 's'}"


def test_a_draw_is_nobodys_win(told: Page) -> None:
    end = end_of("othello(size=4)", 0, True)
    assert words(told, {**end, "returns": [0, 0]})[0] == "A draw"
    assert told.locator(".seat.winner").count() == 0


def test_who_ends_even_among_winners_and_losers_is_told_so(told: Page) -> None:
    end = end_of("holdem(players=3)", 0, True)
    assert words(told, {**end, "returns": [0, 4, -4]}) == ("You end even", "")


def test_who_watches_is_told_the_winner(told: Page) -> None:
    end = end_of("othello(size=4)", 0, True)
    seats = [{"name": "Ana", "kind": "person", "me": False, "here": True}, end["seats"][1]]
    values = score(end, "discs")
    assert words(told, {**end, "seat": None, "seats": seats}) == ("Ana won", f"{values[0]:g}–{values[1]:g}")


def test_in_spanish(browser: Browser, files: Files) -> None:
    page = open_table(browser, files, 1280, 800, language="es")
    end = end_of("holdem", 0, False)
    assert words(page, end) == ("Perdiste", f"{-end['returns'][0]:g} fichas")
    page.context.close()


def asked_for(page: Page, game: str, seats: int, *clicks: str) -> dict[str, Any]:
    """What the server is asked for by somebody who opens a game, clicks, and deals."""
    asked: list[Any] = []

    def refuse(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        asked.append(route.request.post_data_json)
        route.fulfill(json={"table": "nowhere"})

    page.route("**/api/tables", refuse)
    page.goto("/")
    page.click(f"[data-game={game}]")
    for text in clicks:
        page.click(f'.quick button:text-is("{text}")')
    expect(page.locator(".seat-row")).to_have_count(seats, timeout=PATIENCE)
    page.click(".start:not([disabled])")
    page.wait_for_url("**/t/nowhere")
    [answer] = asked
    return dict(answer)


@pytest.mark.parametrize(
    ("game", "clicks", "name", "seats"),
    [
        ("truco", (), "truco(points=15,mazo=true)", 2),
        ("truco", ("30",), "truco(mazo=true)", 2),
        ("holdem", (), "holdem(players=6)", 6),
        ("holdem", ("2",), "holdem", 2),
        ("holdem", ("9",), "holdem(players=9)", 9),
        ("doudizhu", (), "doudizhu(bidding=true,around=true)", 3),
    ],
)
def test_games_are_as_people_play_them(
    new_page: NewPage, game: str, clicks: tuple[str, ...], name: str, seats: int
) -> None:
    asked = asked_for(new_page(), game, seats, *clicks)
    assert asked["game"] == name
    assert len(asked["seats"]) == seats
    assert asked["seats"].count("me") == 1


def test_three_players_are_told_all_scores_with_ones_own_first(told: Page) -> None:
    end = game_told("goofspiel(players=3)", 1, 1)[-1]
    first, second, third = score(end, "points")
    assert words(told, end)[1] == f"{second:g}–{third:g}–{first:g}"


def test_a_draw_at_poker_is_told_without_chips(told: Page) -> None:
    end = end_of("leduc", 0, True)
    assert words(told, {**end, "returns": [0, 0]}) == ("A draw", "")
