"""Games that break the contract, one promise each, and the check that must notice.

Each is `tests/stranger`, an honest game, with one thing replaced. It lives outside of the package,
as a stranger's would.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba import carray

from tapete.core import Game, TapeteError
from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import below, mix
from tapete.core.scene import Note, Part
from tapete.core.spec import Field
from tapete.testing import BrokenContract, check_game, check_redeal, check_tree
from tests.stranger import higher, notation, rules, scene
from tests.stranger.rules import NONE, draw_card, knows_coin, redeal_card, redeal_coin, view

Change = dict[str, Any]
Stranger = Callable[..., Game]
Check = Callable[..., None]
LARGE = 200  # cards; the tree of that game has too many states to be listed
names = (f"stranger{i}" for i in count())


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Stranger:
    """Makes a game of the honest one: `stranger(rules={"apply": other}, spec={"hidden": False})`; None takes away."""

    def make(*, cards: int = 4, spec: Change | None = None, without: str = "", **changes: Change) -> Game:
        package = next(names)
        monkeypatch.setitem(sys.modules, package, ModuleType(package))
        for module in (rules, notation, scene):
            name = module.__name__.rpartition(".")[2]
            copy = ModuleType(f"{package}.{name}")
            pieces = {**vars(module), **changes.get(name, {}), "__name__": copy.__name__}
            vars(copy).update({key: piece for key, piece in pieces.items() if piece is not None})
            if name != without:
                monkeypatch.setitem(sys.modules, copy.__name__, copy)
        return Game(replace(higher(cards), **(spec or {})), package)

    return make


@pytest.mark.parametrize("cards", [2, 4])
def test_the_honest_game_passes(stranger: Stranger, cards: int) -> None:
    game = stranger(cards=cards)
    check_game(game)
    check_tree(game)
    check_redeal(game)


def test_the_honest_game_passes_where_it_is_too_large_to_list(stranger: Stranger) -> None:
    game = stranger(cards=LARGE)
    check_game(game)
    check_redeal(game, limit=5000)
    with pytest.raises(BrokenContract, match="the tree has more than 1000 states"):
        check_tree(game, limit=1000)


def caught(check: Check, game: Game, message: str) -> None:
    with pytest.raises(BrokenContract, match=message):
        check(game)


# ---- memory


def actions_written(first: int, last: int) -> Any:
    """Writes from one place to another, and says that there are two."""

    @rule
    def actions(p: Any, out: Any) -> int:
        for i in range(first, last):
            out[i] = i
        return 2

    return actions


@pytest.mark.parametrize("check", [check_game, check_tree, check_redeal])
def test_more_actions_than_declared(stranger: Stranger, check: Check) -> None:
    caught(check, stranger(spec={"max_actions": 1}), "actions: 2 of them, the Spec says at most 1")
    for first, last in ((0, 2000), (-1, 2)):
        game = stranger(rules={"actions": actions_written(first, last)})
        caught(check, game, "actions: writes outside of the 2 numbers of the Spec")


@pytest.mark.parametrize("check", [check_game, check_tree, check_redeal])
def test_more_outcomes_than_declared(stranger: Stranger, check: Check) -> None:
    caught(check, stranger(spec={"outcomes": 3}), "outcomes: 4 of them, the Spec says at most 3")
    caught(check, stranger(spec={"outcomes": 0}), "chance moves, but the Spec says it never does")


def test_a_longer_observation_than_declared(stranger: Stranger) -> None:
    fields = higher().observations[0]
    caught(check_game, stranger(spec={"observations": (fields[:-1],)}), "observe for seat 0: writes outside of the 7")
    caught(check_game, stranger(spec={"observations": ((*fields, Field(name="more")),)}), "left unwritten")
    caught(check_game, stranger(spec={"observations": (fields, fields[:-1])}), "observe for seat 1: writes outside")


def test_longer_features_than_declared(stranger: Stranger) -> None:
    short, long = ((Field(name="action", shape=(n,)),) for n in (1, 3))
    caught(check_game, stranger(spec={"features": short}), "features: writes outside of the 1 numbers")
    caught(check_game, stranger(spec={"features": long}), "features: some of the 3 numbers are left unwritten")


def test_more_payoffs_than_seats(stranger: Stranger) -> None:
    @rule
    def returns(p: Any, out: Any) -> None:
        out[0] = out[1] = out[2] = 0.0

    caught(check_game, stranger(rules={"returns": returns}), "returns: writes outside of the 2 numbers")


def test_a_number_that_is_not_one(stranger: Stranger) -> None:
    @rule
    def features(p: Any, action: int, out: Any) -> None:
        out[0] = action
        out[1] = np.nan

    caught(check_game, stranger(rules={"features": features}), "features: a number is not finite")


@pytest.mark.parametrize("check", [check_game, check_tree, check_redeal])
def test_a_move_that_writes_outside_of_the_state(stranger: Stranger, check: Check) -> None:
    @rule
    def apply(p: Any, action: int) -> None:
        carray(p, (25,), np.uint8)[24] = 1

    caught(check, stranger(rules={"apply": apply}), "apply writes outside of the 24 bytes of a state")


@pytest.mark.parametrize("check", [check_game, check_tree, check_redeal])
def test_a_redeal_that_writes_outside_of_the_state(stranger: Stranger, check: Check) -> None:
    @rule
    def redeal(p: Any, player: int, rng: Any) -> None:
        carray(p, (1000,), np.uint8)[999] = 1

    caught(check, stranger(rules={"redeal": redeal}), "redeal for seat . writes outside of the 24 bytes")


@pytest.mark.parametrize("check", [check_game, check_tree, check_redeal])
def test_a_start_that_leaves_a_field_as_it_was(stranger: Stranger, check: Check) -> None:
    @rule
    def start(p: Any, params: Any) -> None:
        s = view(p)
        s.cards = np.int32(params[0])
        s.card[0] = s.card[1] = NONE
        s.coin = s.asked = s.higher = NONE
        s.turns = 0

    caught(check, stranger(rules={"start": start}), "start leaves the field 'shown' as it was before")


def test_a_state_that_keeps_something_between_its_fields(stranger: Stranger) -> None:
    @rule
    def start(p: Any, params: Any) -> None:
        everything = carray(p, (24,), np.uint8)
        for i in range(24):
            everything[i] = 0

    @rule
    def apply(p: Any, action: int) -> None:
        carray(p, (24,), np.uint8)[17] = 1  # behind `turns`, the last field

    caught(check_game, stranger(rules={"start": start}), "start writes bytes of the state that belong to no field")
    caught(check_game, stranger(rules={"apply": apply}), "apply writes bytes that belong to no field")


def test_a_start_that_writes_outside_of_the_state(stranger: Stranger) -> None:
    @rule
    def start(p: Any, params: Any) -> None:
        carray(p, (25,), np.uint8)[24] = 1

    caught(check_game, stranger(rules={"start": start}), "start writes outside of the 24 bytes of a state")


def test_a_question_that_changes_the_state(stranger: Stranger) -> None:
    @rule
    def actions(p: Any, out: Any) -> int:
        view(p).asked = 1
        out[0], out[1] = 0, 1
        return 2

    caught(check_game, stranger(rules={"actions": actions}), "actions: asking about a state changes it")


# ---- what a seat may know

Texts = Iterator[str]


@pytest.mark.parametrize("check", [check_game, check_tree])
def test_a_game_that_says_that_nothing_is_hidden(stranger: Stranger, check: Check) -> None:
    @rule
    def redeal(p: Any, player: int, rng: Any) -> None:
        pass

    caught(check, stranger(spec={"hidden": False}), "hidden=False, but seat . (doesn't know|can't see)")
    caught(check, stranger(spec={"hidden": False}, rules={"redeal": redeal}), "hidden=False, but seat")
    game = stranger(spec={"hidden": False}, rules={"redeal": redeal}, cards=LARGE)
    caught(check_game, game, "hidden=False, but seat . can't see what happens here")


def news_of_the_coin(spec: Any, before: Any, s: Any) -> Texts:
    if s["turns"] == 1:
        yield f"it is {notation.COIN[s['coin']]}"


def describe_the_coin(spec: Any, s: Any, seat: int) -> str:
    return f"{notation.describe(spec, s, seat)}, {s['coin']}"


def scene_with_the_coin(spec: Any, s: Any, seat: int | None) -> Iterator[Part]:
    yield from scene.parts(spec, s, seat)
    yield Note(name="coin", text=str(s["coin"]))


def write_with_the_coin(spec: Any, s: Any, action: int) -> str:
    """How seat 0 writes its last move tells of the coin."""
    return notation.write(spec, s, action) + ("!" if s["turns"] == 2 and s["coin"] == 1 else "")


def write_own_with_the_coin(spec: Any, s: Any, action: int) -> str:
    """How the moves of seat 1 are written tells it of the coin."""
    return notation.write(spec, s, action) + ("!" if s["turns"] == 1 and s["coin"] == 1 else "")


@pytest.mark.parametrize("cards", [4, LARGE])
def test_words_and_pictures_that_tell_too_much(stranger: Stranger, cards: int) -> None:
    def told(message: str, **changes: Change) -> None:
        caught(check_game, stranger(cards=cards, **changes), message)

    told("the news tell what seat 1 can't know", notation={"news": news_of_the_coin})
    told("describe tells what seat 1 can't know|infoset forgets", notation={"describe": describe_the_coin})
    told("the scene shows what seat 1 can't know", scene={"parts": scene_with_the_coin})
    told("how a move is written tells what seat 1 can't know", notation={"write": write_with_the_coin})
    told("the scene shows what seat 1 can't know", notation={"write": write_own_with_the_coin})


@pytest.mark.parametrize("check", [check_game, check_tree])
def test_a_secret_move_that_is_told(stranger: Stranger, check: Check) -> None:
    caught(check, stranger(notation={"is_secret": None}), "seat 1 is told .* of a move that it can't tell from")


def test_a_text_that_tells_a_secret_is_noticed_over_the_whole_tree(stranger: Stranger) -> None:
    game = stranger(notation={"write": write_with_the_coin})
    caught(check_tree, game, "seat 1 is told .* of a move that it can't tell from")


def observe_too_much() -> Any:
    @rule
    def observe(p: Any, player: int, out: Any) -> None:
        s = view(p)
        for i in range(8):
            out[i] = 0.0
        out[7] = s.coin

    return observe


def test_an_observation_that_sees_too_much(stranger: Stranger) -> None:
    caught(check_game, stranger(rules={"observe": observe_too_much()}), "observe tells what seat 1 can't know")


def infoset_of(with_turns: bool, with_coin: bool) -> Any:
    """A key without the moves so far, or with the coin for both."""

    @rule
    def infoset(p: Any, player: int) -> Any:
        s = view(p)
        key = mix(mix(player, s.card[player]), (s.card[0] != NONE) + 2 * (s.card[1] != NONE))
        key = mix(mix(mix(key, s.turns if with_turns else 0), s.asked), s.shown)
        key = mix(mix(key, s.higher), s.coin if with_coin or knows_coin(s, player) else NONE)
        return mix(key, s.card[1 - player] if s.shown == 1 else NONE)

    return infoset


@pytest.mark.parametrize("check", [check_game, check_tree])
def test_an_information_set_that_forgets_or_knows_too_much(stranger: Stranger, check: Check) -> None:
    caught(check, stranger(rules={"infoset": infoset_of(False, False)}), "infoset forgets what seat . has seen")
    caught(check, stranger(rules={"infoset": infoset_of(True, True)}), "infoset knows more|redeal changes what seat 1")


# ---- other worlds


def redeal_without_result() -> Any:
    """Forgets that all were told who has the higher card."""

    @rule
    def redeal(p: Any, player: int, rng: Any) -> None:
        s = view(p)
        if s.card[1 - player] != NONE and s.shown != 1:
            s.card[1 - player] = draw_card(s, s.card[player], rng)
        redeal_coin(s, player, rng)

    return redeal


def redeal_unevenly() -> Any:
    """Deals the lowest card that may be in one of five worlds too many."""

    @rule
    def redeal(p: Any, player: int, rng: Any) -> None:
        s = view(p)
        if s.card[1 - player] != NONE and s.shown != 1:
            redeal_card(s, 1 - player, rng)
            if s.higher == NONE and below(rng, 5) == 0:
                s.card[1 - player] = s.card[player] == 0
        redeal_coin(s, player, rng)

    return redeal


def redeal_with_help() -> Any:
    """Uses what is hidden: the card before the real one."""

    @rule
    def redeal(p: Any, player: int, rng: Any) -> None:
        s = view(p)
        other = s.card[1 - player]
        if other != NONE and s.shown != 1:
            redeal_card(s, 1 - player, rng)
            if other > 0 and s.higher == NONE and other - 1 != s.card[player]:
                s.card[1 - player] = other - 1
        redeal_coin(s, player, rng)

    return redeal


def redeal_nothing() -> Any:
    @rule
    def redeal(p: Any, player: int, rng: Any) -> None:
        pass

    return redeal


def redeal_no_coin() -> Any:
    """A secret move stays where it was."""

    @rule
    def redeal(p: Any, player: int, rng: Any) -> None:
        s = view(p)
        if s.card[1 - player] != NONE and s.shown != 1:
            redeal_card(s, 1 - player, rng)

    return redeal


def redeal_shown() -> Any:
    """Deals cards anew that lie open."""

    @rule
    def redeal(p: Any, player: int, rng: Any) -> None:
        s = view(p)
        if s.card[1 - player] != NONE:
            redeal_card(s, 1 - player, rng)
        redeal_coin(s, player, rng)

    return redeal


@pytest.mark.parametrize("redeal", [redeal_without_result, redeal_unevenly])
def test_a_redeal_with_wrong_worlds(stranger: Stranger, redeal: Callable[[], Any]) -> None:
    wrong = {"redeal": redeal()}
    caught(check_redeal, stranger(rules=wrong), "redeal for seat . (.*has the wrong frequencies|makes a world that)")
    message = "redeal for seat . forgets something that it has seen"
    caught(lambda game: check_redeal(game, limit=5000), stranger(rules=wrong, cards=LARGE), message)
    caught(check_game, stranger(rules=wrong, cards=LARGE), message)


@pytest.mark.parametrize("redeal", [redeal_with_help, redeal_nothing, redeal_no_coin])
@pytest.mark.parametrize("cards", [4, LARGE])
def test_a_redeal_that_uses_what_is_hidden(stranger: Stranger, redeal: Callable[[], Any], cards: int) -> None:
    caught(check_game, stranger(rules={"redeal": redeal()}, cards=cards), "depends on what it can't know")
    if cards < LARGE:
        caught(check_tree, stranger(rules={"redeal": redeal()}), "depends on what it can't know")


def test_a_redeal_of_what_lies_open(stranger: Stranger) -> None:
    caught(check_game, stranger(rules={"redeal": redeal_shown()}), "redeal changes what seat . knows")


# ---- the rest of the promises


def test_chance_that_draws_otherwise_than_it_says(stranger: Stranger) -> None:
    @rule
    def draw(p: Any, rng: Any) -> int:
        s = view(p)
        return (s.card[0] == 0) if below(rng, 4) == 0 else draw_card(s, s.card[0], rng)

    caught(check_game, stranger(rules={"draw": draw}), "draw has the wrong frequencies")


def test_chance_that_draws_what_it_does_not_list(stranger: Stranger) -> None:
    @rule
    def draw(p: Any, rng: Any) -> int:
        return below(rng, view(p).cards)

    caught(check_game, stranger(rules={"draw": draw}), "draw gives .*, which outcomes doesn't list")


def test_a_player_that_does_not_exist(stranger: Stranger) -> None:
    @rule
    def player(p: Any) -> int:
        s = view(p)
        if s.card[1] == NONE:
            return CHANCE
        return TERMINAL if s.turns == 3 else s.turns

    caught(check_game, stranger(rules={"player": player}), "there is no player 2")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"utility": (-1, 2)}, "is out of bounds"),
        ({"utility": (-2, 1)}, "is out of bounds"),
        ({"longest": 4}, "longer than the 4 steps"),
        ({"actions": 1}, "action ids out of range"),
    ],
)
def test_a_spec_that_promises_too_little(stranger: Stranger, spec: Change, message: str) -> None:
    caught(check_game, stranger(spec=spec), message)


# ---- pieces that are missing


def wrong(game: Game, message: str) -> None:
    with pytest.raises(TapeteError, match=message) as error:
        check_game(game)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("team", "message"),
    [
        (lambda spec, s, seat: "all", "some of a team win, others don't"),
        (lambda spec, s, seat: "", "the game is over, and somebody has no team"),
        (lambda spec, s, seat: "us", "are not teams of the Spec"),
        (lambda spec, s, seat: ("all", "them")[s["card"][seat] % 2], "changes who plays together"),
        (None, "no 'team'"),
    ],
)
def test_teams_that_are_none(stranger: Stranger, team: Any, message: str) -> None:
    with pytest.raises(TapeteError if team is None else BrokenContract, match=message):
        check_game(stranger(spec={"teams": ("all", "them")}, notation={"team": team}))


def test_a_misspelt_rule_gets_one_line() -> None:
    with pytest.raises(TapeteError, match=r"the contract has no function 'obsrve' .*; did you mean 'observe'"):

        @rule
        def obsrve(p: Any, player: int, out: Any) -> None:
            pass

    with pytest.raises(TapeteError, match=r"the contract has no function 'zzz' .*; it has start, player, "):

        @rule
        def zzz(p: Any) -> None:
            pass


def test_a_missing_piece_gets_one_line(stranger: Stranger) -> None:
    wrong(stranger(rules={"observe": None, "obsrve": rules.observe}), "rules has no 'observe'; it has 'obsrve'")
    wrong(stranger(rules={"observe": None}), r"stranger\d+.rules has no 'observe'")
    wrong(stranger(rules={"STATE": None}), "rules has no 'STATE'")
    wrong(stranger(rules={"observe": lambda p, player, out: None}), "rules.observe is not compiled: put @rule above it")
    wrong(stranger(notation={"describe": None}), "notation has no 'describe'")
    wrong(stranger(notation={"write": None}), "notation has no 'write'")
    wrong(stranger(scene={"place": None}), "scene has no 'place'")
    for name in ("rules", "notation", "scene"):
        wrong(stranger(without=name), rf"the game stranger\d+ has no {name}.py")
