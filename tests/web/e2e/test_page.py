"""The page as such: language, theme, weight, sizes for fingers, names for screen readers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tapete.core import Rng, make
from tapete.core.names import playable
from tests.web.e2e.conftest import NewPage, Server
from tests.web.e2e.table import TableDriver

pytestmark = pytest.mark.xdist_group("e2e")

HEAVIEST = 300_000  # bytes of the first page, all that it loads
FINGER = 44  # pixels


def test_the_first_page_is_light(page: Page) -> None:
    sizes: list[int] = []
    page.on(
        "requestfinished",
        lambda request: sizes.append(sum(request.sizes()[k] for k in ("responseBodySize", "responseHeadersSize"))),
    )
    page.goto("/")
    page.wait_for_selector(".game-card")
    page.wait_for_load_state("networkidle")
    assert len(sizes) > 5
    assert sum(sizes) < HEAVIEST


def test_tables_of_payoffs_and_no_other_games_are_called_so(page: Page) -> None:
    """They are two moves long."""
    with page.expect_response("**/api/games") as answer:
        page.goto("/")
    page.wait_for_selector(".game-cards.small [data-game]")
    cards = page.locator(".game-cards.small [data-game]")
    named = set(cards.evaluate_all("cards => cards.map(card => card.dataset.game)"))
    assert named == {game["name"].split("(")[0] for game in answer.value.json() if game["longest"] == 2}


def test_two_clicks_from_the_first_page_to_a_game(page: Page) -> None:
    page.goto("/")
    page.click("[data-game=kuhn]")
    page.click(".start:not([disabled])")
    page.wait_for_selector(".felt")


def test_the_language_is_changed_and_remembered(page: Page) -> None:
    page.goto("/")
    expect(page.locator("h1")).to_have_text("Sit down and play")
    page.click(".settings")
    page.click("text=Español")
    expect(page.locator("h1")).to_have_text("Sentate a jugar")
    page.reload()
    expect(page.locator("h1")).to_have_text("Sentate a jugar")
    assert page.get_attribute("html", "lang") == "es"


def test_the_language_is_the_browsers_at_first(new_page: NewPage) -> None:
    page = new_page(locale="es-AR")
    page.add_init_script("localStorage.removeItem('tapete')")
    page.goto("/")
    expect(page.locator("h1")).to_have_text("Sentate a jugar")


def test_a_table_changes_its_language_in_the_middle_of_a_game(table: TableDriver) -> None:
    table.sit("truco(hand=true)", ["me", "random"])
    table.wait_for_turn()
    table.page.click(".settings")
    table.page.click("text=Español")
    expect(table.page.locator(".status strong")).to_have_text("Te toca")
    expect(table.page.locator(".bottom .name")).to_have_text("Vos")


def background(page: Page) -> str:
    return str(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))


def test_light_and_dark(new_page: NewPage) -> None:
    page = new_page(color_scheme="light")
    page.goto("/")
    light = background(page)
    page.emulate_media(color_scheme="dark")
    dark = background(page)
    assert light != dark
    page.click(".settings")
    page.click("dialog [data-value=light]")
    assert background(page) == light
    page.reload()
    assert background(page) == light


@pytest.mark.parametrize("game", ["truco", "domino", "dudo(6,3,3)", "holdem", "doudizhu", "othello", "leduc", "rps"])
def test_a_finger_finds_every_move_on_a_phone(new_page: NewPage, game: str) -> None:
    table = TableDriver(new_page(width=360, height=740, has_touch=True))
    table.sit(game, ["me"] + ["random"] * (make(game).players - 1))
    assert table.wait_for_turn()
    sizes = table.page.evaluate(
        """() => [...document.querySelectorAll(".legal, .tool, .tray button")].filter((e) => e.offsetParent).map((e) =>{
            const box = e.getBoundingClientRect();
            const next = e.nextElementSibling?.getBoundingClientRect();
            const covered = next && next.top < box.bottom && next.left > box.left && next.left < box.right;
            return [covered ? next.left - box.left : box.width, box.height, e.className];
        })"""
    )
    assert sizes
    assert not [size for size in sizes if min(size[:2]) < FINGER]
    assert table.page.evaluate("() => document.documentElement.scrollWidth") <= 360, "nothing sticks out"


@pytest.mark.parametrize("path", ["/", "/stats"])
def test_everything_that_can_be_pressed_has_a_name(page: Page, path: str) -> None:
    page.goto(path)
    page.wait_for_selector("h1")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, a, input, select")]
            .filter((e) => !(e.innerText?.trim() || e.getAttribute("aria-label") || e.labels?.length))
            .map((e) => e.outerHTML)"""
    )
    assert not nameless


COUNT = """
  globalThis.flights = 0;
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...all) { globalThis.flights += 1; return animate.apply(this, all); };
"""


@pytest.mark.parametrize("system", ["no-preference", "reduce"])
@pytest.mark.parametrize("wish", ["auto", "off"])
def test_discs_turn_unless_motion_is_off(new_page: NewPage, system: str, wish: str) -> None:
    table = TableDriver(new_page(reduced_motion=system))
    page = table.page
    page.add_init_script(COUNT)
    page.goto("/")
    page.click(".settings")
    page.click(f"dialog [aria-label=Motion] [data-value={wish}]")
    table.sit("othello(size=4)", ["me", "random"])
    table.wait_for_turn()
    table.click_something()
    table.wait_for_turn()
    moved = page.evaluate("() => flights")
    assert (moved > 0) == (system == "no-preference" and wish == "auto")


@pytest.fixture(scope="module")
def modules(browser: Browser, server: Server) -> Iterator[Page]:
    """A page for those who only want to call the modules."""
    context = browser.new_context(base_url=server.address)
    page = context.new_page()
    page.goto("/")
    yield page
    context.close()


def texts_of(name: str, games: int) -> dict[str, list[str]]:
    """Everything that random games say: moves, news, notes, names of parts, and the title."""
    game = make(name)
    said: dict[str, set[str]] = {"title": {game.spec.title}, "moves": set(), "sentences": set(), "parts": set()}
    for seed in range(games):
        rng = Rng(seed, "texts")
        state = game.start()
        while not state.over:
            before = state.view(0)
            if state.player < 0:
                state.apply(state.copy().deal(rng).history[len(state.history or [])])  # type: ignore[index]
            else:
                scene = state.view(state.player).scene()
                said["moves"] |= {move.text for move in scene.moves}
                for part in scene.to_json()["parts"]:
                    said["parts"].add(part["name"])
                    if part["is"] == "note" and part["text"]:
                        said["sentences"].add(part["text"])
                actions = state.actions()
                state.apply(actions[int(rng.uniform() * len(actions))])
            said["sentences"] |= set(state.view(0).news(before))
        said["parts"] |= {part["name"] for part in state.view(0).scene().to_json()["parts"]}
    return {kind: sorted(texts) for kind, texts in said.items()}


UNKNOWN = """async ({ title, moves, sentences, parts }) => {
  const { inSpanish, gameTitle, isNotation } = await import("/static/js/i18n/speech.js");
  const { PARTS, WORDS, ORDERS, TITLES } = await import("/static/js/i18n/speech-es.js");
  const seats = [{ name: "x", kind: "agent", me: false }, { name: "", kind: "person", me: true }];
  while (seats.length < 10) seats.push({ name: "y", kind: "agent", me: false });
  return [
    ...title.filter((text) => !TITLES.some(([pattern]) => pattern.test(text))),
    ...moves.filter((text) => !(text in WORDS) && !isNotation(text)),
    ...parts.filter((text) => !/seat \\d/.test(text) && !(text in PARTS)),
    ...sentences.filter((text) => inSpanish(text, seats) === null || /seat \\d/.test(inSpanish(text, seats))),
  ];
}"""

SPOKEN = [*playable(), "truco(points=15,mazo=true)", "truco(hand=true)", "doudizhu(bidding=true)", "holdem(players=6)"]
SPOKEN += ["truco(buenas=true,flor=true)", "dudo(6,3,3)", "dudo(5,2,2,one_round=true)", "othello(size=4)"]


@pytest.mark.parametrize("name", SPOKEN)
def test_random_games_leave_nothing_in_english(modules: Page, name: str) -> None:
    assert modules.evaluate(UNKNOWN, texts_of(name, 3 if "truco" in name or "doudizhu" in name else 8)) == []


def test_both_languages_have_the_same_words(modules: Page) -> None:
    books = modules.evaluate("""async () => {
        const [en, es] = await Promise.all(["en", "es"].map((code) => import(`/static/js/i18n/${code}.js`)));
        const holes = (text) => (text.match(/\\{\\d\\}/g) ?? []).sort().join("");
        const entries = (book) => Object.entries(book).map(([key, text]) => `${key} ${holes(text)}`).sort();
        return [entries(en.default), entries(es.default)];
    }""")
    assert books[0] == books[1]


def faces_of(name: str) -> list[tuple[str, str]]:
    """Every kind of thing with every face that a random game with open hands shows."""
    rng = Rng("faces", name)
    state = make(name).start()
    seen: set[tuple[str, str]] = set()
    while not state.over:
        for part in state.scene().to_json()["parts"]:
            if part["is"] == "things":
                seen |= {(part["kind"], face) for face in part["faces"] if face}
            elif part["is"] == "board" and part["kind"] != "number":
                seen |= {(part["kind"], face) for face in part["cells"] if face}
        actions = state.actions()
        state.apply(actions[int(rng.uniform() * len(actions))])
    return sorted(seen)


UNDRAWN = """async (faces) => {
  const { draw } = await import("/static/js/draw/index.js");
  const isBlank = (picture) => picture.innerHTML.includes("card-back") || picture.childElementCount < 2;
  return faces.filter(([kind, face]) => isBlank(draw(kind, face)) || draw(kind, face).matches(".unknown"));
}"""


@pytest.mark.parametrize("name", [name for name in SPOKEN if "holdem" not in name] + ["holdem(players=10)"])
def test_every_face_has_a_drawing(modules: Page, name: str) -> None:
    assert modules.evaluate(UNDRAWN, faces_of(name)) == []
