"""Goofspiel: the contract, OpenSpiel's rules state by state, known values, and secrets that stay secret."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

import tapete
from tapete.core import Rng, State, TapeteError
from tapete.core.story import witness
from tapete.solve import solve
from tapete.solve.linear import solve_form
from tapete.solve.response import prove
from tapete.solve.sequence_form import SequenceForm
from tapete.testing import check_game, check_redeal, check_tree
from tapete.testing.expect import expect_frequencies

SMALL = [
    "goofspiel(3)",
    "goofspiel(3,sealed=true)",
    "goofspiel(2,players=3,pays=points)",
    "goofspiel(3,players=3,prizes=ascending)",
    "goofspiel(4,sealed=true,prizes=descending,pays=difference)",
    "goofspiel(4,prizes=ascending,pays=points)",
]
LARGE = ["goofspiel", "goofspiel(13,sealed=true)", "goofspiel(12,players=3,prizes=descending,pays=difference)"]


@pytest.mark.parametrize("name", SMALL)
def test_contract(name: str) -> None:
    check_game(name, games=20)
    check_tree(name)
    check_redeal(name)


@pytest.mark.parametrize("name", LARGE)
def test_contract_with_a_whole_suit(name: str) -> None:
    check_game(name, games=5)


# ---- against OpenSpiel

RETURNS = {"win": "win_loss", "difference": "point_difference", "points": "total_points"}


def peer(name: str) -> Any:
    import pyspiel

    values = tapete.make(name).spec.parameters
    return pyspiel.load_game_as_turn_based(
        "goofspiel",
        {
            "num_cards": values["cards"],
            "players": values["players"],
            "imp_info": values["sealed"],
            "points_order": values["prizes"],
            "returns_type": RETURNS[str(values["pays"])],
        },
    )


@pytest.mark.parametrize(
    ("name", "sets"),
    [
        ("goofspiel(3)", 114),
        ("goofspiel(3,sealed=true)", 90),
        ("goofspiel(2,players=3,pays=points)", 6),
        ("goofspiel(3,players=3,prizes=ascending)", 84),
        ("goofspiel(4,sealed=true,prizes=descending)", 162),
        ("goofspiel(4,sealed=true,prizes=ascending,pays=difference)", 162),
    ],
)
def test_every_state_is_as_in_openspiel(name: str, sets: int) -> None:
    from tests.oracles.spiel import expect_same_tree

    assert expect_same_tree(name, peer(name)) == sets


@pytest.mark.parametrize("name", [*LARGE, "goofspiel(7,sealed=true,prizes=descending,pays=points)"])
def test_random_games_are_as_in_openspiel(name: str) -> None:
    from tests.oracles.spiel import expect_same_play, same_number

    expect_same_play(name, peer(name), same_number, games=20)


# ---- the rules


@pytest.mark.parametrize(
    ("game", "moves", "payoffs"),
    [
        ("goofspiel(3,prizes=descending)", "3s 2h As 3h", [1, -1]),  # 3 against 2 and 1
        ("goofspiel(3,prizes=ascending)", "3s 2h As 3h", [1, -1]),  # 1 and the last, 3, against 2
        ("goofspiel(3,prizes=ascending)", "As Ah 2s 2h", [0, 0]),
        ("goofspiel(3,prizes=ascending,pays=difference)", "3s 2h As 3h", [1, -1]),
        ("goofspiel(3,prizes=ascending,pays=points)", "3s 2h As 3h", [4, 2]),
        ("goofspiel(3)", "2d 3s 2h Ad As 3h", [1, -1]),  # 2 and the last prize, 3, in which 2 meets 1
        ("goofspiel(2,players=3)", "Ad 2s 2h Ac", [-0.5, -0.5, 1]),  # equal bids win nothing: 2c meets two aces
        ("goofspiel(2,players=3,pays=difference)", "2d As 2h Ac", [-2 / 3, 4 / 3, -2 / 3]),  # and the ace nobody's
    ],
)
def test_payoffs(game: str, moves: str, payoffs: list[float]) -> None:
    state = tapete.make(game).read(moves)
    assert state.over
    assert state.returns() == pytest.approx(payoffs)


@pytest.mark.parametrize(
    "name",
    ["cards=1", "cards=14", "players=1", "players=4", "prizes=up", "pays=money", "players=3,sealed=true"],
)
def test_wrong_parameters_get_one_line(name: str) -> None:
    with pytest.raises(TapeteError, match=r"goofspiel: (cards|players|prizes|pays|sealed) "):
        tapete.make(f"goofspiel({name})")


# ---- secrets


@pytest.mark.parametrize("name", ["goofspiel(4,sealed=true)", "goofspiel(5,sealed=true,prizes=descending)"])
def test_sealed_bids_are_told_to_nobody(name: str) -> None:
    """Nothing that a seat gets, from the first bid to the end, names a card of the other's suit."""
    for i in range(30):
        rng, state = Rng(name, i), tapete.make(name).start()
        while not state.over:
            state.deal(rng)
            action = rng.choice(state.actions())
            for seat, suit in enumerate("hs"):
                event = witness(state, action, [seat])
                assert (event.text is None) == (state.player != seat)
                shown = f"{event} {state.view(seat)} {state.view(seat).scene().to_json()}"
                assert not any(f"{rank}{suit}" in shown for rank in "A2345"), shown
            state.apply(action)
        for seat, suit in enumerate("hs"):
            assert not any(f"{rank}{suit}" in str(state.view(seat).scene()) for rank in "A2345")


def test_a_bid_is_seen_when_all_have_been_made() -> None:
    state = tapete.make("goofspiel(3,players=3,prizes=descending)").start()
    told = []
    for bid in ("3s", "Ah", "2c"):
        told.append([witness(state, state.read(bid), [seat]).text for seat in range(3)])
        news = witness(state, state.read(bid), range(3)).news
        state.apply(bid)
        seen = [any(f"{rank}s" in str(state.view(seat).scene()) for rank in "A23") for seat in range(3)]
        assert seen == [True, bid == "2c", bid == "2c"]  # the card that is missing from a hand would be the bid
    assert told == [["3s", None, None], [None, "Ah", None], ["2c", "2c", "2c"]]
    assert news == ("seat 0 won 3d (3s, Ah, 2c)", "the prize is 2d")
    assert "3s" in str(state.view(1))


def test_secret_bids_are_redealt_as_all_sequences_that_agree() -> None:
    """The other's bids of four decided rounds and one that waits, against every permutation there is."""
    state = tapete.make("goofspiel(6,sealed=true,prizes=ascending)").read("4s 2h As 3h 6s 6h 2s 5h 5s")
    own, winners = [3, 0, 5, 1], [0, 1, None, 1]

    def agrees(bids: tuple[int, ...]) -> bool:
        signs = [(mine > its) - (mine < its) for mine, its in zip(own, bids, strict=False)]
        return signs == [{0: 1, 1: -1, None: 0}[winner] for winner in winners]

    possible = {bids[:4] for bids in permutations(range(6)) if agrees(bids)}
    drawn = dict.fromkeys(sorted(possible), 0)
    for i in range(5000):
        drawn[bids_of(state.view(0).sample(Rng(i)), 1)] += 1  # a KeyError would be a world that can't be
    assert len(possible) > 4
    chance = 1 / len(possible)
    expect_frequencies(list(drawn.values()), [chance] * len(drawn), "redeal", state)


def bids_of(state: State, seat: int) -> tuple[int, ...]:
    return tuple(int(bid) for bid in state.game.record(state.data)["bid"][seat][:4])


# ---- solved


@pytest.mark.parametrize(
    "name",
    ["goofspiel(3)", "goofspiel(3,sealed=true)", "goofspiel(4,sealed=true,prizes=descending,pays=difference)"],
)
def test_the_value_is_nothing_for_either(name: str) -> None:
    """Both have the same cards and choose at once, so the value is 0: by a linear program, and exactly proved."""
    form = SequenceForm.of(tapete.make(name))
    solution = solve_form(form)
    assert solution.value == pytest.approx(0, abs=1e-9)
    assert abs(prove(form, (solution.x, solution.y)).exploitability) < 1e-8


def test_cfr_finds_it_too() -> None:
    progress, strategy = solve(tapete.make("goofspiel(4,sealed=true,prizes=ascending)"), until=1e-3)
    assert strategy is not None
    assert progress.proof.exploitability <= 1e-3
