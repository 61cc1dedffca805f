"""What a notebook shows: the drawings of the page, of what a seat may know, and nobody's markup."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tapete.arena import match
from tapete.core import Rng, TapeteError, Thought, make
from tapete.core.names import playable
from tapete.core.pictures import Picture, bars_html, curve_html, drawings, face_html


def shown(kind: str, face: str) -> str:
    """The inside of a drawing, as it is found in a page."""
    return drawings()["faces"][kind][face].partition(">")[2]


@pytest.mark.parametrize("name", playable())
def test_every_state_and_view_shows_itself_and_all_signs_that_it_uses(name: str) -> None:
    rng = Rng("pictures", name)
    state = make(name).start()
    for _ in range(30):
        if state.over:
            break
        state.apply(rng.choice(state.actions()))
    for html in (state._repr_html_(), *(state.view(seat)._repr_html_() for seat in range(state.game.players))):
        ElementTree.fromstring(html)  # nothing is left open
        assert "<script" not in html
        used = {*re.findall(r'href="#([\w-]+)"', html), *re.findall(r"url\(#([\w-]+)\)", html)}
        assert used <= set(re.findall(r'id="([\w-]+)"', html))
        assert ">None<" not in html


def test_a_view_shows_its_own_cards_and_the_backs_of_the_others() -> None:
    hand = make("truco").read("truco: 1e 4c 7e 5b 7o 6o")
    mine, all_open = hand.view(0)._repr_html_(), hand._repr_html_()
    for face in ("1e", "7e", "7o"):
        assert shown("spanish", face) in mine
        assert shown("spanish", face) in all_open
    for face in ("4c", "5b", "6o"):
        assert shown("spanish", face) not in mine
        assert shown("spanish", face) in all_open
    assert mine.count(shown("spanish", "")) == 3
    other = hand.view(0).sample(Rng(5))
    assert other.view(0)._repr_html_() == mine
    assert "<code>envido</code>" in mine


def test_a_board_shows_discs_and_marks_the_last_move() -> None:
    html = make("othello").read("d3")._repr_html_()
    assert html.count(shown("disc", "black")) == 4
    assert html.count(shown("disc", "white")) == 1
    assert html.count("2px solid") == 1


def test_texts_of_a_file_are_texts() -> None:
    assert "&lt;b&gt;" in face_html("text", "<b>")
    assert "<img" not in bars_html({"<img src=x>": 1.0}, {})


def test_names_of_a_table_are_no_markup(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text('{"rows": ["<i>up", "down"], "columns": ["l", "r"], "payoffs": [[1, 0], [0, 1]]}')
    html = make(f"matrix({file})").start().view(0)._repr_html_()
    assert "<i>" not in html
    assert "&lt;i&gt;up" in html


def test_a_thought_is_bars_the_longest_first() -> None:
    view = make("kuhn").read("K J").view(0)
    picture = view.show(Thought(probabilities={0: 0.25, 1: 0.75}, visits={0: 10, 1: 30}))
    assert isinstance(picture, Picture)
    html = picture._repr_html_()
    assert html.startswith(view._repr_html_())
    bars = html.removeprefix(view._repr_html_())
    assert bars.index("bet") < bars.index("pass")
    assert "75.0 %" in bars
    assert "<td>30</td>" in bars


def test_a_match_is_a_table_of_what_the_command_prints() -> None:
    result = match("kuhn", "random", "random", games=20)
    html = result._repr_html_()
    ElementTree.fromstring(html)
    assert "kuhn: random against random, 20 games on 10 deals" in html
    assert "payoff a game" in html
    assert "+0, 95 % interval" in html


def test_a_film_has_every_position_and_an_imagined_state_none() -> None:
    state = make("kuhn").read("J Q pass bet pass")
    film = state.film()._repr_html_()
    ElementTree.fromstring(film)
    assert film.count("scroll-snap-align") == len(state.history or ()) + 1 == 6
    assert film.endswith(f"{state._repr_html_()}</div></div>")
    with pytest.raises(TapeteError, match="imagined"):
        state.view(0).sample(Rng(1)).film()


def test_a_curve_goes_from_its_highest_point_to_its_lowest() -> None:
    html = curve_html("a run", "steps", "exploitability", [(0, 1.0), (10, 0.1), (20, 0.01)])
    ElementTree.fromstring(html)
    assert 'points="0.0,0.0 210.0,80.0 420.0,160.0"' in html
    assert "1 at first, 0.01 now" in html
    assert 'points="0.0,160.0 420.0,0.0"' in curve_html("a run", "steps", "payoff", [(0, -1.0), (5, 1.0)])
    assert "nothing yet" in curve_html("a run", "steps", "loss", [])
