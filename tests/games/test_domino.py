"""Dominó: rules by hand, and the counts and the value of Rojas' table."""

from collections import Counter, defaultdict
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import chi2

import tapete
from tapete.core import calls
from tapete.core.contract import CHANCE
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.game import Game, State
from tapete.core.rng import Rng
from tapete.core.scene import Place, Scene, Score, Things
from tapete.games.domino.tiles import POINTS, TILES, tile_name, tiles_of
from tapete.testing import check_game, check_tree, perft
from tests.oracles.domino import Counted


def after(name: str, moves: str) -> State:
    return tapete.make(name).read(moves)


def legal(state: State) -> list[str]:
    return [state.write(action) for action in state.actions()]


# The contract


@pytest.mark.parametrize(
    ("name", "games"),
    [
        ("domino", 5),
        ("domino(2,2)", 10),
        ("domino(3,2)", 8),
        ("domino(2,3)", 8),
        ("domino(9,5)", 2),
        ("domino(4,7)", 5),
    ],
)
def test_contract(name: str, games: int) -> None:
    check_game(name, games=games)


@pytest.mark.parametrize("name", ["domino(1,1)", "domino(2,1)", "domino(2,2)"])
def test_information_sets_of_the_whole_tree(name: str) -> None:
    check_tree(name)


@pytest.mark.parametrize("name", ["domino(0,1)", "domino(10,7)", "domino(6,0)", "domino(6,15)", "domino(1,2)"])
def test_sizes_that_cannot_be(name: str) -> None:
    with pytest.raises(TapeteError, match="must be between"):
        tapete.make(name)


# Rules


def test_the_first_player_lays_any_tile() -> None:
    assert legal(after("domino(2,2)", "0-0 1-2 0-1 1-1")) == ["0-0", "1-2"]


def test_a_tile_must_match_an_open_end() -> None:
    state = after("domino(3,3)", "0-1 2-2 2-3  0-3 1-2 3-3  0-1")
    assert legal(state) == ["1-2>", "0-3<"]
    with pytest.raises(IllegalAction):
        state.apply("3-3<")


def test_a_tile_that_fits_both_ends_has_two_moves() -> None:
    state = after("domino(2,2)", "0-2 0-1 1-2 1-1  0-2 1-2>")
    assert legal(state) == ["0-1<", "0-1>"]


@pytest.mark.parametrize(
    ("moves", "lays"),
    [("0-0 1-1 1-2  0-1 2-2 0-2  0-0", "0-1< 0-2<"), ("0-1 0-2 1-1  1-2 0-0 2-2  0-1 1-2> 0-2>", "0-0<")],
)
def test_where_the_ends_are_equal_a_tile_has_one_move(moves: str, lays: str) -> None:
    assert legal(after("domino(2,3)", moves)) == lays.split()


def test_ends_after_laying_left_and_right() -> None:
    state = after("domino(3,3)", "0-1 2-3 3-3  1-2 0-3 0-0  0-1 1-2> 2-3>")
    assert state.game.record(state.data)["ends"].tolist() == [0, 3]
    state.apply("0-3<")
    assert state.game.record(state.data)["ends"].tolist() == [3, 3]


CANNOT = "0-0 0-1 1-2 2-2  0-0"  # seat 1 has nothing that fits; 1-1 and 0-2 are left to take


def test_who_can_lay_may_not_take() -> None:
    assert legal(after("domino(2,2)", "0-0 1-1 0-1 2-2  0-0")) == ["0-1<"]


def test_who_cannot_lay_takes_a_tile() -> None:
    state = after("domino(2,2)", CANNOT)
    assert legal(state) == ["take"]
    state.apply("take")
    assert state.player == CHANCE
    assert dict(state.outcomes()) == {2: 0.5, 3: 0.5}


def test_a_tile_taken_that_fits_is_laid_at_once() -> None:
    assert legal(after("domino(2,2)", f"{CANNOT} take 0-2")) == ["0-2<"]


def test_a_tile_taken_that_fits_both_ends_leaves_the_choice_of_the_end() -> None:
    assert legal(after("domino(2,2)", "0-2 2-2 1-2 1-1  0-2 1-2> take 0-1")) == ["0-1<", "0-1>"]


def test_a_tile_taken_that_does_not_fit_is_kept_and_the_turn_passes() -> None:
    state = after("domino(2,2)", f"{CANNOT} take 1-1")
    assert legal(state) == ["pass"]
    state.apply("pass")
    assert state.player == 0
    assert tiles_of(state.game.record(state.data)["hand"][1]) == [2, 4, 5]


def test_with_the_boneyard_empty_who_cannot_lay_passes() -> None:
    state = after("domino(2,3)", "0-0 0-2 0-1  1-1 2-2 1-2  0-0")
    assert legal(state) == ["pass"]
    assert state.apply("pass").player == 0


def test_the_others_tile_is_not_seen() -> None:
    kept = [after("domino(3,2)", f"0-0 0-1 1-2 2-2  0-0 take {tile} pass") for tile in ("1-1", "1-3", "3-3")]
    assert len({state.infoset(0) for state in kept}) == len({str(state.view(0)) for state in kept}) == 1
    assert len({state.infoset(1) for state in kept}) == len({str(state.view(1)) for state in kept}) == 3


def test_the_order_of_the_deal_leaves_no_trace_and_that_of_tiles_taken_does() -> None:
    assert (
        after("domino(2,2)", "0-0 0-1 1-2 2-2").data.tobytes() == after("domino(2,2)", "0-1 0-0 2-2 1-2").data.tobytes()
    )
    taken = [
        after("domino(4,3)", f"0-0 0-1 1-1  2-2 2-3 2-4  0-0 take {one} pass 0-1< take {two} pass")
        for one, two in (("3-3", "3-4"), ("3-4", "3-3"))
    ]
    assert taken[0].infoset(0) == taken[1].infoset(0)
    assert taken[0].infoset(1) != taken[1].infoset(1)


def test_who_goes_out_wins_the_points_in_the_other_hand() -> None:
    state = after("domino(2,2)", f"{CANNOT} take 1-1 pass 0-1<")
    assert state.over
    assert state.returns() == [2 + 3 + 4, -9]


def test_going_out_against_the_double_blank_wins_nothing() -> None:
    state = after("domino(2,2)", "1-1 0-0 1-2 0-1  1-1 1-2< take 2-2 2-2< 0-1>")
    assert state.over
    assert state.returns() == [0, 0]


def test_with_one_tile_each_the_first_player_is_out_at_once() -> None:
    assert after("domino(6,1)", "0-3 5-6  0-3").returns() == [11, -11]


@pytest.mark.parametrize(
    ("name", "moves", "payoff"),
    [  # the winner gets what the loser holds, not the difference
        ("domino(2,3)", "0-0 2-2 1-2  0-2 1-1 0-1  0-0 0-2< 1-2< 0-1< pass pass", -4),  # 2-2 against 1-1
        ("domino(2,3)", "0-0 0-2 0-1  1-1 2-2 1-2  0-1 1-1> 0-2< 1-2< pass pass", 4),  # 0-0 against 2-2
        (  # 3-3 against 1-1 1-3
            "domino(3,3)",
            "0-3 2-3 1-2  0-0 1-3 0-2  0-3 0-0< 2-3> 0-2> take 3-3 pass take 0-1 0-1< 1-2< take 1-1 pass take 2-2 2-2< "
            "pass pass",
            0,
        ),
    ],
)
def test_when_blocked_fewer_points_win_the_points_of_the_loser(name: str, moves: str, payoff: float) -> None:
    state = after(name, moves)
    assert state.over
    assert state.returns() == [payoff, -payoff]


def test_two_passes_do_not_end_the_game_while_there_are_tiles_to_take() -> None:
    state = after("domino(3,2)", "3-3 2-3 0-0 1-1  2-3 take 1-3 1-3> take 1-2 1-2< 1-1< take 0-3 pass take 0-2 pass")
    assert legal(state) == ["take"]


def test_a_pass_after_taking_the_last_tile_counts_for_the_block() -> None:
    blocked = "0-1 0-2 0-3 0-4 1-3 2-3  1-2 0-0 1-1 1-4 2-2 2-4  0-1 1-2> 0-2> 0-0< 0-3< take 3-4 3-4< 0-4<"
    state = after("domino(4,6)", f"{blocked} take 3-3 pass take 4-4")
    assert not state.over
    assert state.apply("pass").returns() == [2 + 5 + 4 + 6 + 6, -23]


# What is written and shown


def faces(scene: Scene, name: str, owner: int | None = None) -> tuple[str, ...]:
    (row,) = (part for part in scene.parts if isinstance(part, Things) and (part.name, part.owner) == (name, owner))
    return row.faces


def test_notation_is_read_back_in_any_case() -> None:
    text = f"domino(2,2): {CANNOT} take 1-1 pass 0-1<".replace("  ", " ")
    state = tapete.make("domino(2,2)").read(text.replace("take", "TAKE"))
    assert str(state) == text


def test_the_line_is_shown_as_it_lies() -> None:
    state = after("domino(3,3)", "0-1 2-3 3-3  1-2 0-3 0-0  0-1 1-2> 2-3> 0-3<")
    scene = state.view(0).scene()
    assert faces(scene, "line") == ("3-0", "0-1", "1-2", "2-3")
    assert faces(scene, "hand", 0) == ("3-3",)
    assert faces(scene, "hand", 1) == ("",)
    assert faces(scene, "boneyard") == ("",) * 4
    assert {move.text: move.place for move in scene.moves} == {"3-3<": Place(part="hand", index=0)}


def test_take_is_made_on_the_boneyard_and_pass_is_a_button() -> None:
    (take,) = after("domino(2,2)", CANNOT).view(1).scene().moves
    assert (take.text, take.place) == ("take", Place(part="boneyard", index=0))
    (pass_,) = after("domino(2,2)", f"{CANNOT} take 1-1").view(1).scene().moves
    assert (pass_.text, pass_.place) == ("pass", None)


def test_hands_are_shown_when_the_game_is_over() -> None:
    state = after("domino(2,2)", f"{CANNOT} take 1-1 pass 0-1<")
    scene = state.view(0).scene()
    assert faces(scene, "hand", 1) == ("1-1", "1-2", "2-2")
    assert scene.parts[-1] == Score(name="points in hand", values=(0.0, 9.0))


def test_all_lies_open_in_a_replay() -> None:
    scene = after("domino(2,2)", CANNOT).scene()
    assert (faces(scene, "hand", 0), faces(scene, "hand", 1)) == (("0-1",), ("1-2", "2-2"))
    assert (faces(scene, "line"), faces(scene, "boneyard")) == (("0-0",), ("1-1", "0-2"))


def fields_of(state: State, seat: int) -> dict[str, Any]:
    numbers = iter(state.view(seat).observation().tolist())
    return {
        field.name: np.array([next(numbers) for _ in range(field.size)]).reshape(field.shape).tolist()
        for field in state.game.spec.observation(seat)
    }


def test_observation() -> None:
    seen = fields_of(after("domino(2,2)", f"{CANNOT} take 1-1 pass"), 0)
    assert seen["hand"] == [0, 1, 0, 0, 0, 0]
    assert seen["laid"] == [[1, 0, 0, 0, 0, 0], [0] * 6]
    assert seen["ends"] == [[1, 0, 0], [1, 0, 0]]
    assert seen["lacks"] == [[0, 0, 0], [1, 0, 0]]
    assert seen["counts"] == pytest.approx([1 / 6, 3 / 6, 1 / 6])
    assert seen["turn"] == [1, 0, 1]


def test_a_lack_is_less_certain_with_every_tile_kept_since() -> None:
    state = after("domino(4,3)", "0-0 0-1 1-1  2-2 2-3 2-4  0-0 take 3-3 pass")
    assert fields_of(state, 1)["lacks"][0][0] == 1.0
    state.apply("0-1<").apply("take").apply("3-4")
    assert fields_of(state, 1)["lacks"][0][:2] == [0.5, 0.5]
    assert fields_of(state, 1)["turn"] == [1, 1, 0]
    assert fields_of(state.apply("pass"), 1)["lacks"][0][:2] == [1.0, 1.0]


def test_features_of_moves() -> None:
    left, right = after("domino(2,2)", "0-2 0-1 1-2 1-1  0-2 1-2>").view(0).features().tolist()
    assert left == [0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
    assert right == [0, 1, 0, 0, 0, 0, 0, 1, 0, 0]
    assert after("domino(2,2)", CANNOT).view(1).features().tolist() == [[0] * 8 + [1, 0]]
    assert after("domino(2,2)", f"{CANNOT} take 1-1").view(1).features().tolist() == [[0] * 9 + [1]]


# Counts: Rojas' table, a second implementation, and perft


class Published(NamedTuple):
    """N and I are Rojas'; nodes are those of the tree with the boneyard as a set."""

    size: tuple[int, int]
    nodes: int
    histories: int
    choices: int


def size(row: Published) -> str:
    return "domino({},{})".format(*row.size)


SMALLEST, *LARGER = [
    Published((2, 2), 1_164, 7_321, 102),
    Published((3, 2), 1_932_516, 46_534_657, 88_947),
    Published((3, 3), 2_396_220, 246_760_993, 107_854),
    Published((3, 4), 2_064_366, 1_547_645_185, 104_050),
]


@pytest.mark.parametrize("row", LARGER[:1], ids=size)
def test_information_sets_of_rojas(row: Published) -> None:
    assert perft(tapete.make(size(row)).start(), merge=True).choices == row.choices


@pytest.mark.parametrize("row", [SMALLEST, *(pytest.param(row, marks=pytest.mark.slow) for row in LARGER)], ids=size)
def test_counts_of_rojas(row: Published) -> None:
    tree = Counted(*row.size)
    assert tree.turns + tree.ends == row.nodes
    assert tree.histories == row.histories
    assert len(tree.choices) == row.choices
    game = tapete.make(size(row))
    counts = perft(game.start(), merge=True)
    assert (counts.decisions, counts.terminals) == (tree.turns + tree.taken, tree.ends)
    assert counts.choices == row.choices
    assert tree.most <= game.spec.utility[1]


def test_value_of_rojas() -> None:
    assert value_by_linear_program(tapete.make("domino(2,2)")) == pytest.approx(2.4)


def value_by_linear_program(game: Game) -> float:
    """The value to seat 0, by sequences of moves (Koller, Megiddo and von Stengel 1996): good for small trees."""
    rows: list[dict[Any, int]] = [{(): 0}, {(): 0}]  # of each seat: sequences, by the last information set and move
    parents: list[dict[int, int]] = [{}, {}]  # of each seat: the sequence that leads to each information set
    payoffs: dict[tuple[int, int], float] = defaultdict(float)

    def walk(state: State, sequences: tuple[int, int], prob: float) -> None:
        if state.over:
            payoffs[sequences] += prob * state.returns()[0]
        elif state.player == CHANCE:
            for outcome, chance in state.outcomes():
                walk(state.copy().apply(outcome), sequences, prob * chance)
        else:
            seat = state.player
            key = state.infoset(seat)
            parents[seat][key] = sequences[seat]
            for action in state.actions():
                index = rows[seat].setdefault((key, action), len(rows[seat]))
                longer = (index, sequences[1]) if seat == 0 else (sequences[0], index)
                walk(state.copy().apply(action), longer, prob)

    walk(game.start(), (0, 0), 1.0)
    flows = []
    for sequences, leads in zip(rows, parents, strict=True):
        index = {key: i for i, key in enumerate(leads, start=1)}
        flow = np.zeros((len(index) + 1, len(sequences)))  # probability that comes into a set goes on by its moves
        flow[0, 0] = 1.0
        for key, parent in leads.items():
            flow[index[key], parent] -= 1.0
        for name, column in sequences.items():
            if name:
                flow[index[name[0]], column] += 1.0
        flows.append(flow)
    matrix = np.zeros((len(rows[0]), len(rows[1])))
    for cell, payoff in payoffs.items():
        matrix[cell] = payoff
    own, other = flows
    solution = linprog(  # over seat 0's plan x and the other's values v: the most v[0] with other^T v <= matrix^T x
        np.concatenate([np.zeros(own.shape[1]), [-1.0], np.zeros(len(other) - 1)]),
        A_ub=np.hstack([-matrix.T, other.T]),
        b_ub=np.zeros(other.shape[1]),
        A_eq=np.hstack([own, np.zeros((len(own), len(other)))]),
        b_eq=np.eye(len(own))[0],
        bounds=[(0, None)] * own.shape[1] + [(None, None)] * len(other),
    )
    return float(-solution.fun)


# Tables


def test_tiles_of_a_smaller_set_are_the_first_of_a_larger_one() -> None:
    for m in range(1, 10):
        tiles = tapete.make(f"domino({m},1)").spec.outcomes
        assert set(TILES[:tiles]) == {(i, j) for j in range(m + 1) for i in range(j + 1)}
    assert tile_name(12) == "2-4"
    assert POINTS[12] == 6


@pytest.mark.parametrize("name", ["domino(6,7)", "domino(9,27)"])
def test_chance_gives_each_tile_equally_often(name: str) -> None:
    state = tapete.make(name).start()
    rng = Rng(5)
    for _ in range(2 * int(state.game.record(state.data)["each"]) - 2):
        state.apply(int(calls.draw(state.game.rulebook, state.data, rng.words)))
    outcomes = [outcome for outcome, _ in state.outcomes()]
    drawn = Counter(int(calls.draw(state.game.rulebook, state.data, rng.words)) for _ in range(20_000))
    assert drawn.keys() == set(outcomes)
    due = 20_000 / len(outcomes)
    assert chi2.sf(sum((drawn[tile] - due) ** 2 / due for tile in outcomes), len(outcomes) - 1) > 1e-6
