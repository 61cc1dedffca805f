"""What the page shows of a table, and what it sends: compared with what it was told, thing by thing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.e2e.recorded import Files, Message, game_told, open_table, sit_down

pytestmark = pytest.mark.xdist_group("e2e")
GAMES = ["truco(mazo=true)", "domino", "dudo(6,3,3)", "holdem(players=6)", "doudizhu(bidding=true)", "othello", "leduc"]


@pytest.fixture(scope="module")
def shared(browser: Browser, files: Files) -> Iterator[Page]:
    page = open_table(browser, files, 1280, 800, thinking="never")
    yield page
    page.context.close()


@pytest.fixture
def page(shared: Page) -> Page:
    sit_down(shared)
    shared.evaluate("() => globalThis.sent = []")
    return shared


def hear(page: Page, message: Message) -> None:
    page.evaluate("message => hear(message)", message)


def sent(page: Page) -> list[Message]:
    found: list[Message] = page.evaluate("() => globalThis.sent.splice(0)")
    return [message for message in found if message["do"] != "thinking"]


def turns(game: str, seed: int = 1, seat: int = 0) -> list[Message]:
    """The tables of a game at which the person is to move."""
    return [each for each in game_told(game, seed, seat) if each["player"] == seat and not each["over"]]


def part(message: Message, name: str, owner: int | None = None) -> dict[str, Any]:
    parts = message["scene"]["parts"]
    return next(part for part in parts if part["name"] == name and part.get("owner", owner) == owner)


def thought(message: Message, kind: str, **more: Any) -> Message:
    """An agent that likes the third move best, and every other move less."""
    moves = message["scene"]["moves"]
    shares = [0.7 if i == 2 else 0.3 / (len(moves) - 1) for i in range(len(moves))]
    values = [0.5 if i == 2 else -0.1 - 0.01 * i for i in range(len(moves))]
    rows = [
        {"action": move["action"], "text": move["text"], "share": share, "value": value}
        for move, share, value in zip(moves, shares, values, strict=True)
    ]
    told = {"is": "thought", "kind": kind, "ply": message["ply"], "by": "best(3)", "value": 0.25, "moves": rows}
    return {**told, "chosen": None, **more}


# Moves.


@pytest.mark.parametrize("game", GAMES)
def test_every_move_of_the_rules_can_be_made_and_no_other(page: Page, game: str) -> None:
    for message in turns(game)[:4]:
        hear(page, message)
        legal = {move["action"] for move in message["scene"]["moves"]}
        shown = page.evaluate("""() => [...document.querySelectorAll(".stage [data-move], .tray [data-move]")]
            .map((element) => +element.dataset.move)""")
        if game.startswith("doudizhu") and len(legal) > 24:
            assert set(shown) <= legal
        elif game == "domino":
            assert set(shown) <= legal
            assert bool(shown) == bool(legal)
        else:
            assert set(shown) == legal


@pytest.mark.parametrize("game", ["othello", "truco(mazo=true)", "leduc", "dudo(6,3,3)"])
def test_a_click_sends_the_move_that_is_written_there_and_once(page: Page, game: str) -> None:
    for message in turns(game)[:3]:
        hear(page, message)
        wanted = message["scene"]["moves"][-1]["action"]
        page.evaluate(
            """action => { const e = document.querySelector(`[data-move="${action}"]`); e.click(); e.click(); }""",
            wanted,
        )
        assert sent(page) == [{"do": "act", "ply": message["ply"], "action": wanted}]


def test_after_a_move_was_sent_no_other_can_be(page: Page) -> None:
    message = turns("leduc")[0]
    hear(page, message)
    page.keyboard.press("1")
    page.keyboard.press("2")
    assert [each["action"] for each in sent(page)] == [message["scene"]["moves"][0]["action"]]


@pytest.mark.parametrize("game", ["leduc", "othello", "truco(mazo=true)"])
def test_digits_play_the_moves_in_their_order(page: Page, game: str) -> None:
    for digit, message in zip((1, 2), turns(game), strict=False):
        hear(page, message)
        page.keyboard.press(str(digit))
        shown = page.locator(f'[data-digit="{digit}"]').first.get_attribute("data-move")
        assert (
            [each["action"] for each in sent(page)]
            == [message["scene"]["moves"][digit - 1]["action"]]
            == [int(shown or -1)]
        )


def test_nothing_can_be_played_when_it_is_not_ones_turn(page: Page) -> None:
    message = next(each for each in game_told("othello") if each["player"] == 1)
    hear(page, message)
    assert page.locator(".stage .legal, .tray .legal").count() == 0
    page.keyboard.press("1")
    page.keyboard.press("h")
    assert sent(page) == []


def test_keys_ask_for_a_hint_and_take_back(page: Page) -> None:
    message = turns("othello")[1]
    hear(page, {**message, "practice": True, "can_undo": True})
    page.keyboard.press("h")
    page.keyboard.press("u")
    assert sent(page) == [{"do": "hint"}, {"do": "undo"}]
    hear(page, {**message, "can_undo": False, "practice": True, "pace": 1})
    page.keyboard.press("u")
    assert sent(page) == []


def test_picking_cards_leaves_the_moves_that_have_them(page: Page) -> None:
    message = next(each for each in turns("doudizhu(bidding=true)") if len(each["scene"]["moves"]) > 8)
    hear(page, message)
    hand = part(message, "hand", 0)["faces"]
    index = next(i for i, face in enumerate(hand) if hand.count(face) > 1)
    face = hand[index]
    page.locator(".own .piece").nth(index).click(position={"x": 8, "y": 12})
    texts = {move["action"]: move["text"] for move in message["scene"]["moves"]}
    listed = page.evaluate("() => [...document.querySelectorAll('.tray.sets [data-move]')].map((e) => +e.dataset.move)")
    cards = [texts[action] for action in listed if texts[action] != "pass"]
    assert cards
    assert all(face in text for text in cards)
    assert cards[0] == face  # what was picked, first
    able = page.evaluate("() => [...document.querySelectorAll('.own .piece')].map((e) => e.matches('.legal'))")
    for i, other in enumerate(hand):
        together = Counter([face, other]) if i != index else Counter([face])
        assert able[i] == any(not together - Counter(text) for text in texts.values() if text != "pass")


def test_two_cards_that_are_picked_leave_the_moves_that_have_both(page: Page) -> None:
    message = next(each for each in turns("doudizhu(bidding=true)") if len(each["scene"]["moves"]) > 8)
    hear(page, message)
    texts = {move["action"]: move["text"] for move in message["scene"]["moves"]}
    hand = part(message, "hand", 0)["faces"]
    face = next(face for face in hand if face * 2 in texts.values())
    page.keyboard.press("Tab")  # who used the keyboard last sees what has the focus, which must cover nothing
    for index in [i for i, each in enumerate(hand) if each == face][:2]:
        page.locator(".own .piece").nth(index).click(position={"x": 8, "y": 12}, timeout=5000)
    listed = page.evaluate("() => [...document.querySelectorAll('.tray.sets [data-move]')].map((e) => +e.dataset.move)")
    cards = [texts[action] for action in listed if texts[action] != "pass"]
    assert cards[0] == face * 2
    assert all(text.count(face) >= 2 for text in cards)
    wanted = [text for text in texts.values() if text.count(face) >= 2]
    assert len(cards) == min(len(wanted), 24 + 1)


# Things on the table.


def test_discs_lie_where_they_are(page: Page) -> None:
    for message in turns("othello")[::6]:
        hear(page, message)
        board = next(part for part in message["scene"]["parts"] if part["is"] == "board")
        shown = page.evaluate("""() => [...document.querySelectorAll(".square")]
            .map((e) => /black|negra/.test(e.ariaLabel) ? "black" : /white|blanca/.test(e.ariaLabel) ? "white" : "")""")
        assert shown == list(board["cells"])
        values = part(message, "discs")["values"]
        plates = page.locator(".plate [data-score=discs] b").all_inner_texts()
        assert [float(text) for text in plates] == [values[1], values[0]]  # the other's above one's own


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", ["truco(mazo=true)", "goofspiel", "leduc"])
def test_cards_lie_before_those_who_have_them(page: Page, game: str, seat: int) -> None:
    for message in game_told(game, 2, seat)[1:-1:3]:
        hear(page, message)
        for thing in message["scene"]["parts"]:
            if thing["is"] != "things" or thing["owner"] is None or not thing["faces"]:
                continue
            label = page.evaluate(
                """([owner, name]) => [...document.querySelectorAll(`.seat[data-seat="${owner}"] .piece`)]
                    .filter((e) => e.dataset.key.startsWith(`${name}/`)).map((e) => e.ariaLabel === "face down")""",
                [thing["owner"], thing["name"]],
            )
            expected = [not face for face in thing["faces"]]
            assert label == expected[: len(label)]
            assert label


def test_who_won_is_marked_and_nobody_else(page: Page) -> None:
    for seed in range(1, 4):
        end = game_told("holdem(players=6)", seed, 2)[-1]
        sit_down(page)
        hear(page, end)
        marked = page.evaluate("() => [...document.querySelectorAll('.seat.winner')].map((e) => +e.dataset.seat)")
        assert sorted(marked) == [seat for seat, value in enumerate(end["returns"]) if value > 0]


def test_whose_turn_it_is_is_marked_and_said(page: Page) -> None:
    for message in game_told("holdem(players=6)", 1, 2)[1:-1:2]:
        hear(page, message)
        marked = page.evaluate("() => [...document.querySelectorAll('.seat.turn')].map((e) => +e.dataset.seat)")
        assert marked == [message["player"]]
        is_mine = message["player"] == 2
        assert (page.locator(".status strong").inner_text() == "Your turn") == is_mine
        assert page.locator(".table-page").get_attribute("data-turn") == ("mine" if is_mine else "other")


# Thoughts.


def test_a_hint_points_at_the_move_that_is_liked_best(page: Page) -> None:
    message = next(each for each in turns("othello") if len(each["scene"]["moves"]) > 3)
    best = message["scene"]["moves"][2]
    hear(page, message)
    hear(page, thought(message, "hint"))
    assert page.locator(".hinted").get_attribute("data-move") == str(best["action"])
    assert page.locator(".status").inner_text() == f"Your turn Hint: {best['text']} (70 %)"
    worths = page.locator(".square .worth").all_inner_texts()
    assert len(worths) == len(message["scene"]["moves"])
    assert worths.count("+0.50") == 1
    assert page.locator(".worth.best").inner_text() == "+0.50"


def test_a_hint_is_gone_with_the_move(page: Page) -> None:
    first, second = turns("othello")[3:5]
    hear(page, first)
    hear(page, thought(first, "hint"))
    assert page.locator(".hinted").count() == 1
    hear(page, second)
    assert page.locator(".hinted, .worth").count() == 0
    assert page.locator(".status").inner_text() == "Your turn"


def test_thoughts_are_listed_from_the_best_down_with_ones_own(page: Page) -> None:
    message = next(each for each in turns("othello") if 4 < len(each["scene"]["moves"]) < 9)
    moves = message["scene"]["moves"]
    hear(page, message)
    hear(page, thought(message, "after", chosen=moves[0]["action"]))
    rows = page.locator(".bars tbody tr").all_inner_texts()
    assert rows[0].split() == [moves[2]["text"], "70", "%", "+0.50"]
    assert page.locator(".bars tr.own th").inner_text().split() == [moves[0]["text"], "●"]
    assert page.locator(".thought .by").inner_text() == "What Level 3 makes of it — expects +0.25"


def test_a_thought_tells_whose_it_is_and_what_its_values_are(page: Page) -> None:
    message = turns("truco")[0]
    hear(page, message)
    hear(page, thought(message, "after", called="Don Aldo", in_wins=True))
    assert page.locator(".thought .by").inner_text() == "What Don Aldo makes of it — expects +0.25 (1: won, −1: lost)"


# When a game is over.


@pytest.mark.parametrize(("game", "asked"), [("othello(size=4)", "again"), ("holdem", "swap")])
def test_another_game_is_asked_for(page: Page, game: str, asked: str) -> None:
    hear(page, game_told(game)[-1])
    page.keyboard.press("a")
    page.locator(".after .primary").click()
    assert sent(page) == [{"do": asked}, {"do": asked}]
    if asked == "again":
        page.click("text=Swap seats")
        assert sent(page) == [{"do": "swap"}]


def test_games_of_the_same_people_are_added_up(page: Page) -> None:
    end = game_told("othello(size=4)")[-1]
    hear(page, {**end, "totals": {"games": 3, "returns": [-1.0, 1.0]}})
    assert page.locator(".totals").inner_text() == "3 games here: You −1, Kenji +1"


def test_who_only_watches_is_offered_nothing_to_play(page: Page) -> None:
    message = turns("leduc")[0]
    hear(
        page,
        {**message, "seat": None, "can_steer": False, "seats": [{**seat, "me": False} for seat in message["seats"]]},
    )
    assert page.locator(".tray .legal, .stage .legal, .bar .tool:has-text('Hint')").count() == 0


def statistics(browser: Browser, files: Files, width: int) -> Page:
    """The page of somebody who has played twelve games of Kuhn poker."""
    row = {
        "title": "Kuhn poker",
        "against": "random",
        "games": 12,
        "wins": 7,
        "draws": 2,
        "mean": 0.25,
        "value": -1 / 18,
    }
    row |= {"interval": [-0.5, 1.0], "curve": [[1, 1.0], [6, -0.5], [12, 0.25]]}
    page = open_table(browser, files, width, 800)
    body = json.dumps([row])

    def answer(route: Route) -> None:
        route.fulfill(body=body, content_type="application/json")

    page.route("**/api/stats", answer)
    page.goto("/stats")
    page.wait_for_selector(".stats")
    return page


def test_statistics_are_in_their_columns(browser: Browser, files: Files) -> None:
    page = statistics(browser, files, 1280)
    cells = page.locator(".stats tbody tr").locator("th, td").all_inner_texts()
    assert cells == ["Kuhn poker", "Random", "12", "7", "2", "+0.25 −0.5 … +1", "−0.056"]
    points = (page.locator("polyline.mean").get_attribute("points") or "").split()
    xs, ys = zip(*[map(float, point.split(",")) for point in points], strict=True)
    assert list(xs) == sorted(xs)
    assert ys[0] < ys[2] < ys[1]
    page.context.close()


def test_statistics_are_seen_whole_on_a_phone(browser: Browser, files: Files) -> None:
    page = statistics(browser, files, 390)
    boxes = [cell.bounding_box() for cell in page.locator(".stats tbody :is(th, td)").all()]
    assert len(boxes) == 7
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    titles = "cells => cells.map(cell => getComputedStyle(cell, '::before').content)"
    assert '"Average gain"' in page.locator(".stats td").evaluate_all(titles)
    icons = [icon.bounding_box() for icon in page.locator("#frame .tool svg").all()]
    assert {box and box["width"] for box in icons} == {24}
    page.context.close()


def test_the_dice_that_ended_a_game_are_seen_on_a_phone(browser: Browser, files: Files) -> None:
    """While others are under the cups there is no room for those of the round before."""
    page = open_table(browser, files, 390, 844)
    messages = game_told("dudo(6,3,3)")
    begun = next(m for m in messages if any(p["name"] == "last round" for p in m["scene"]["parts"]) and not m["over"])
    page.evaluate("(message) => hear(message)", begun)
    expect(page.locator(".lane.last-round:visible")).to_have_count(0)
    page.evaluate("(message) => hear(message)", messages[-1])
    expect(page.locator(".lane.last-round:visible")).to_have_count(2)
    page.context.close()


def test_the_story_stays_in_its_card_on_a_phone(browser: Browser, files: Files) -> None:
    page = open_table(browser, files, 390, 844)
    page.evaluate("(message) => hear(message)", game_told("domino")[-1])
    story, card = (page.locator(name).bounding_box() for name in (".story", ".story-part"))
    assert story is not None
    assert card is not None
    assert story["height"] > 200
    assert story["y"] + story["height"] <= card["y"] + card["height"]
    page.context.close()


def test_cards_on_the_table_have_no_ring_of_the_review(told: Page) -> None:
    message = next(
        each
        for each in game_told("truco(mazo=true)")
        if any(p["name"] == "played" and p["faces"] for p in each["scene"]["parts"])
    )
    told.evaluate("(message) => hear(message)", message)
    lane = told.locator(".lane.played").first
    assert lane.evaluate("lane => getComputedStyle(lane).boxShadow") == "none"


@pytest.mark.parametrize("game", ["dudo(6,3,3)", "othello", "doudizhu"])
def test_a_refusal_covers_neither_hand_nor_board(told: Page, game: str) -> None:
    told.evaluate("(message) => hear(message)", game_told(game)[0])
    told.evaluate("() => hear({ is: 'error', code: 'busy', text: '' })")
    alert, stage = (told.locator(name).bounding_box() for name in (".alert", ".stage"))
    assert alert is not None
    assert stage is not None
    assert alert["y"] + alert["height"] <= stage["y"] + 1


def test_bids_are_told_in_words(told: Page) -> None:
    message = next(m for m in game_told("doudizhu(bidding=true)", 3) if any(e["text"] == "bid2" for e in m["told"]))
    told.evaluate("(message) => hear(message)", message)
    assert "bid 2" in told.locator(".story").inner_text()
    assert "bid2" not in told.locator(".play").inner_text()


@pytest.mark.parametrize(
    ("game", "titles", "cells"),
    [
        ("monopoly", {"exit", "stay"}, {"0, 0", "0, 4", "4, 0", "−2, −2"}),
        ("token_domino", {"a1", "b1", "a1-b1"}, {"−1", "1"}),
    ],
)
def test_a_table_of_payoffs_is_written_as_the_game_has_it(
    told: Page, game: str, titles: set[str], cells: set[str]
) -> None:
    message = game_told(game)[0]
    told.evaluate("(message) => hear(message)", message)
    assert titles <= set(told.locator(".payoffs th").all_inner_texts())
    assert set(told.locator(".payoffs tbody td").all_inner_texts()) == cells


def test_squares_are_written_alike_on_buttons_and_boards(told: Page) -> None:
    message = game_told("token_domino")[0]
    told.evaluate("(message) => hear(message)", message)
    buttons = told.locator(".tray .legal").all_inner_texts()
    assert set(buttons) <= set(told.locator(".payoffs th").all_inner_texts())


@pytest.mark.parametrize("width", [1280, 390])
def test_the_newest_line_below_the_table_is_seen_whole(browser: Browser, files: Files, width: int) -> None:
    page = open_table(browser, files, width, 800)
    page.evaluate("(message) => hear(message)", game_told("holdem(players=6)", 3)[-2])
    last, recent = page.locator(".recent span").last, page.locator(".recent")
    assert page.locator(".recent span").count() == 3
    edges = [
        part.evaluate("e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right]")
        for part in (last, recent)
    ]
    assert edges[0][0] >= edges[1][0] - 1
    assert edges[0][1] <= edges[1][1] + 1
    assert last.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    page.context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_line_below_the_table_is_seen_whole_or_not_at_all(browser: Browser, files: Files, width: int) -> None:
    page = open_table(browser, files, width, 800)
    for message in game_told("truco(points=15)")[:60]:
        page.evaluate("(message) => hear(message)", message)
        lines, box = page.locator(".recent").evaluate("""(recent) => {
            const sides = ["left", "right", "top", "bottom"];
            const edges = (e) => sides.map((side) => Math.round(e.getBoundingClientRect()[side]));
            return [[...recent.children].map(edges), edges(recent)];
        }""")
        seen = [line for line in lines if line[2] < box[3] - 1]
        assert seen[-1:] == lines[-1:], "the newest"
        assert seen == sorted(seen), "in the order in which they happened"
        for left, right, _, bottom in seen:
            assert left >= box[0] - 1
            assert right <= box[1] + 1
            assert bottom <= box[3] + 1
    page.context.close()
