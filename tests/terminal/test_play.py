"""What a person sees and types at the table."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from rich.console import Console

from tapete import Rng, State, make
from tapete.core.names import needs_parameters, variants
from tapete.terminal.play import CLEAR, _ask, play, read_number, rules_text, story
from tapete.terminal.sitting import Sitting

GAMES = sorted(name for name, variant in variants().items() if not needs_parameters(variant.spec))
MORE = [
    "holdem(players=10)",
    "dudo(6,5,5)",
    "doudizhu(bidding=true)",
    "truco(points=15,mazo=true)",
    "truco(flor=true)",
    "ocp(1000)",
]


class Typist(io.StringIO):
    """Types the moves that it is given, and then any legal ones."""

    def __init__(self, state: State, moves: Iterable[str]) -> None:
        super().__init__()
        self.state, self.moves, self.rng = state, list(moves), Rng("typist")

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        move = self.moves.pop(0) if self.moves else self.state.write(self.rng.choice(self.state.actions()))
        return f"{move}\n"


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """Plays a game to its end; returns all that was on screen."""

    def sit(sitting: Sitting, *typed: str, width: int = 80, terminal: bool = False) -> str:
        monkeypatch.setattr(sys, "stdin", Typist(sitting.state, typed))
        console = Console(file=io.StringIO(), width=width, height=24, force_terminal=terminal, color_system=None)
        play(sitting, console, tmp_path / "game.json")
        assert sitting.state.over
        return console.file.getvalue()  # type: ignore[attr-defined]

    return sit


def sitting(game: str, moves: str, *seats: str) -> Sitting:
    """Somewhere in the middle of a game."""
    return Sitting(make(game).read(moves), seats, Rng(1))


@pytest.mark.parametrize("game", [*GAMES, *MORE])
def test_every_game_is_played_to_the_end_in_a_small_terminal(game: str, person: Callable[..., str]) -> None:
    screen = person(Sitting.begin(make(game), 1, "random", seed=2))
    assert max(map(len, screen.splitlines())) <= 80
    for look in screen.split("─\n")[1:-1]:  # ends with the title of the next one
        assert len(look.splitlines()) <= 24, look


@pytest.mark.parametrize("width", [30, 120])
@pytest.mark.parametrize(
    "game", ["truco(points=15)", "othello(size=4)", "doudizhu", "domino", "holdem(players=6)", "rps"]
)
def test_no_line_is_wider_than_the_terminal(game: str, width: int, person: Callable[..., str]) -> None:
    screen = person(Sitting.begin(make(game), 0, "random", seed=3), width=width)
    assert max(len(line) for line in screen.splitlines() if "(? for help)" not in line) <= width


@pytest.mark.parametrize(
    "game",
    ["kuhn", "leduc", "rps", "truco(points=15,score0=12,score1=12)", "dudo(4,2,1)", "holdem(players=3)", "doudizhu"],
)
def test_people_at_one_keyboard_never_see_the_cards_of_another(game: str, person: Callable[..., str]) -> None:
    """Between two screens that are not for the same eyes there is an empty one; at the end all look."""
    rules = make(game)
    screen = person(Sitting(rules.start(), ("person",) * rules.players, Rng(3)), terminal=True)
    _, *looks, end = screen.split(CLEAR)
    names = [name for look in looks for name in re.findall(r"(person \d) is next", look)]
    assert names
    for asks, answers in zip(looks[::2], looks[1::2], strict=True):
        assert "is next" in asks
        assert "your move" not in asks
        assert "your move" in answers
        assert set(re.findall(r": (person \d) ─", answers)) == {names.pop(0)}
    assert "the end" in end
    assert "your move" not in end


def test_without_hidden_cards_the_screen_is_not_cleared(person: Callable[..., str]) -> None:
    assert CLEAR not in person(sitting("othello(size=4)", "", "person", "person"), terminal=True)


def test_at_the_end_people_see_what_all_of_them_may(person: Callable[..., str]) -> None:
    folded = person(sitting("kuhn", "K Q bet", "person", "person"), "", "pass", terminal=True).split(CLEAR)[-1]
    assert "K" not in folded.replace("Kuhn", "")
    assert "person 0 won: person 0 +1, person 1 -1" in folded
    shown = person(sitting("kuhn", "K Q bet", "person", "person"), "", "bet", terminal=True).split(CLEAR)[-1]
    assert "person 0 showed K" in shown
    assert "person 1 showed Q" in shown


def told(game: str, moves: str, *seats: str, who: int = 0) -> list[str]:
    return [str(line) for line in story(sitting(game, moves, *seats), [who], 80)]


def test_a_hidden_move_stays_hidden() -> None:
    assert told("rps", "rock", "random", "person", who=1) == ["random: chosen in secret"]
    assert told("rps", "rock", "person", "random") == ["you: rock"]
    assert told("rps", "rock paper", "person", "random") == ["you: rock   random: paper"]


def test_the_story_begins_with_the_own_last_move_and_has_the_ends_of_tricks_and_hands() -> None:
    deal = "1e 4c 1b 5o 7e 6b"
    assert told("truco", f"{deal} truco quiero 1e", "person", "random", who=1) == ["random: quiero   you: 1e"]
    assert told("truco", f"{deal} 1e 4c", "person", "random") == ["you: 1e   random: 4c", "you won trick 1"]
    assert told("truco", f"{deal} envido quiero", "person", "random")[1] == "you won the envido, 28 to 6: 2 points"
    assert told("truco", f"{deal} truco quiero 1e 4c 1b 5o 2c 4e 2o 4b 2b 5e envido", "person", "random") == [
        "you: 1b   random: 5o",
        "you won the hand: 2 points",
        "the next hand is dealt; mano: random",
        "random: envido",
    ]


def test_the_story_of_other_games() -> None:
    assert told("dudo(6,1,1)", "3 5 1x3 2x3 dudo", "person", "random") == [
        "you: dudo",
        "you had 3, random had 5: 2x3 was wrong",
        "random lost a die",
    ]
    assert told("leduc", "Ks Jh check check Kh check check", "person", "random")[-2:] == [
        "you showed Ks",
        "random showed Jh",
    ]
    holdem = told(
        "holdem", "As Ah Ks Kh call check Ac Kc 2d check check 3d check check 4h check check", "person", "random"
    )
    assert holdem[-2:] == ["you showed Ah As: three of a kind", "random showed Kh Ks: three of a kind"]


@pytest.mark.parametrize("game", [*GAMES, *MORE])
def test_news_are_the_same_for_all_seats(game: str) -> None:
    rng = Rng("news", game)
    state = make(game).start()
    while not state.over:
        before = [state.view(seat) for seat in range(state.game.players)]
        state.apply(rng.choice(state.actions()))
        news = [state.view(seat).news(view) for seat, view in enumerate(before)]
        assert all(lines == news[0] for lines in news)
        assert all("\n" not in line for line in news[0])


def typed(game: str, moves: str, text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The move that comes of what is typed, and what is said meanwhile."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    console = Console(file=io.StringIO(), width=80)
    at = sitting(game, moves, *["person"] * make(game).players)
    action = _ask(console, at)
    return at.state.write(action), console.file.getvalue()  # type: ignore[attr-defined]


def test_a_move_is_typed_by_number_or_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("2", "bet", " BET "):
        assert typed("kuhn", "J Q", text, monkeypatch)[0] == "bet"
    move, said = typed("kuhn", "J Q", "3\n0\n-1\nfold\n\n1.0\n²\n" + "9" * 5000 + "\nm\n?\n1", monkeypatch)
    assert move == "pass"
    assert said.count("can't be played now") == 7
    assert " ".join(said.split()).count("? tells the rules, q leaves") == 8, "once for no text"
    assert "One-card poker" in said
    assert "One-card poker" in typed("kuhn", "J Q", "help\n1", monkeypatch)[1]
    with pytest.raises(EOFError):
        typed("kuhn", "J Q", "quit", monkeypatch)


DEAL = "3 4 5 3 4 5 3 4 5 3 4 5 6 7 8 6 7 8 6 7 8 6 7 8 9 T J 9 T J 9 T J 9 T J Q K A Q K A Q K A Q K A 2 B R 2 2 2"


def test_where_cards_are_numbers_a_number_is_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed("doudizhu", DEAL, "33", monkeypatch)[0] == "33"
    assert typed("doudizhu", DEAL, "#1", monkeypatch)[0] == "3"
    move, said = typed("doudizhu", DEAL, "1\n1\n", monkeypatch)
    assert (move, "type it again if you mean move 1, 3" in said) == ("3", True)
    move, said = typed("doudizhu", DEAL, "6333\n3336", monkeypatch)
    assert (move, "did you mean 3336?" in said) == ("3336", True)
    assert typed("doudizhu", DEAL, "Q", monkeypatch)[0] == "Q"
    with pytest.raises(EOFError):
        typed("doudizhu", DEAL, "q", monkeypatch)


@pytest.mark.parametrize("game", [*GAMES, *MORE])
def test_a_bare_number_never_means_two_moves(game: str) -> None:
    state = make(game).start().deal(Rng(4))
    words = [state.write(action) for action in state.actions()]
    assert state.game.spec.max_actions > 99 or not any(word.isdecimal() for word in words)


def test_numbers_are_read_strictly() -> None:
    assert [read_number(text, 12) for text in ("1", "12", "03", "13", "0", "-1", "", "x", "１", "1e1")] == [
        1, 12, 3, 0, 0, 0, 0, 0, 0, 0,
    ]  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_its_rules_written_down(game: str) -> None:
    assert rules_text(make(game)).startswith("# ")


def test_a_hint_is_a_legal_move_of_the_strongest_player_and_changes_nothing(person: Callable[..., str]) -> None:
    shown = person(sitting("kuhn", "K Q", "person", "random"), "h", "hint", "bet")
    assert re.findall(r"best would play (\w+)", shown) in (["bet", "bet"], ["pass", "pass"])
    plain, helped = sitting("leduc", "Js Qs", "person", "random"), sitting("leduc", "Js Qs", "person", "random")
    person(plain, "check")
    person(helped, "h", "check")
    assert helped.rng.words.tolist() == plain.rng.words.tolist() or helped.state.history != plain.state.history


def test_nobody_is_helped_against_another_person(person: Callable[..., str]) -> None:
    shown = person(sitting("kuhn", "K Q", "person", "person"), "", "h", "u", "bet", "", "bet")
    assert "no help in a game against other people" in shown
    assert "nothing that can be taken back" in shown


def test_the_last_move_is_taken_back(person: Callable[..., str]) -> None:
    table = sitting("othello(size=4)", "a2 a1", "person", "random")
    before = list(table.state.history or [])
    assert table.take_back()
    assert table.state.history == []
    assert not table.take_back()
    assert before


def test_from_where_a_move_was_taken_back_the_game_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = sitting("kuhn", "K Q pass bet", "person", "random")
    monkeypatch.setattr(sys, "stdin", io.StringIO("u\nu\nbet\n"))
    console = Console(file=io.StringIO(), width=80, height=24, color_system=None)
    play(table, console, tmp_path / "game.json")
    assert "nothing that can be taken back" in console.file.getvalue()  # type: ignore[attr-defined]
    assert (table.state.history or [])[:3] == make("kuhn").read("K Q bet").history


def test_the_beginning_of_a_move_is_enough_where_it_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sitting("truco", "1e 4c 1b 5o 7e 6b", "person", "random")
    for typed, move in (("real", "real-envido"), ("tru", "truco"), ("FALTA", "falta-envido")):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{typed}\n"))
        console = Console(file=io.StringIO(), width=80, height=24, color_system=None)
        assert table.state.write(_ask(console, table)) == move
