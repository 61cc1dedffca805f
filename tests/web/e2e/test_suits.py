"""Cards of Dou Dizhu have suits for the eye: made of what is seen, each card once, and a card keeps its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.web.e2e.recorded import Message, game_told

pytestmark = pytest.mark.xdist_group("e2e")

GAMES = ["doudizhu", "doudizhu(bidding=true,around=true)"]
Cards = dict[tuple[str, int | None], list[str]]

DRESS = """async ([scene, bottom]) => {
  const { suited } = await import("/static/js/draw/suits.js");
  return [...suited(scene, bottom)].map(([{ name, owner }, faces]) => [name, owner, faces]);
}"""


def seen(page: Page, message: Message) -> Cards:
    """Cards with their suits, by part and owner; those that lie face down left out."""
    rows = page.evaluate(DRESS, [message["scene"], message["seat"]])
    return {(name, owner): [face for face in faces if face] for name, owner, faces in rows}


def steps(page: Page, game: str, seat: int) -> Iterator[tuple[Message, Cards]]:
    for message in game_told(game, seed=3, seat=seat):
        yield message, seen(page, message)


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("game", GAMES)
def test_no_card_is_seen_twice_and_all_but_jokers_have_a_suit(told: Page, game: str, seat: int) -> None:
    for _, cards in steps(told, game, seat):
        lying = [card for (name, _), row in cards.items() if name in ("hand", "last move") for card in row]
        assert len(set(lying)) == len(lying)
        assert all(len(card) == 2 for card in lying if card not in "BR")


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("game", GAMES)
def test_a_card_keeps_its_suit_from_the_hand_to_the_table(told: Page, game: str, seat: int) -> None:
    held: set[str] = set()
    moved = 0
    for message, cards in steps(told, game, seat):
        if not any(part.get("text") == "landlord" for part in message["scene"]["parts"]):
            continue  # the landlord's hand grows once
        now, last = set(cards["hand", seat]), set(cards.get(("last move", seat), []))
        if held and now != held:
            assert held - now == last
            assert now < held
            moved += 1
        if not held and ("open", None) in cards:
            mine = any(
                part["name"] == f"seat {seat}" and part.get("text") == "landlord" for part in message["scene"]["parts"]
            )
            assert set(cards["open", None]) <= now if mine else not set(cards["open", None]) & now
        held = now
    assert moved > 1


def test_a_replay_with_all_hands_open_has_a_whole_deck(told: Page) -> None:
    ranks = ["3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2"]
    deck = sorted([rank for rank in ranks for _ in range(4)])
    rows = [deck[0:17], deck[17:34], deck[34:49]]
    parts = [
        {"is": "things", "kind": "french", "name": "hand", "owner": owner, "faces": row}
        for owner, row in enumerate(rows)
    ]
    parts.append({"is": "things", "kind": "french", "name": "open", "owner": None, "faces": deck[49:]})
    for bottom in range(3):
        drawn = [card for *_, faces in told.evaluate(DRESS, [{"parts": parts}, bottom]) for card in faces]
        assert sorted(drawn) == sorted(rank + suit for rank in ranks for suit in "shcd")


def test_the_hand_is_drawn_with_the_suits(told: Page) -> None:
    message = game_told("doudizhu", seed=3, seat=0)[0]
    told.evaluate("message => hear(message)", message)
    signs = told.eval_on_selector_all(
        ".own .piece", "pieces => pieces.map((piece) => piece.querySelector('use')?.getAttribute('href') ?? '')"
    )
    expected = [f"#fr-{card[1]}" if len(card) == 2 else "" for card in seen(told, message)["hand", 0]]
    assert signs == expected
    assert {"#fr-s", "#fr-h"} <= set(signs)
