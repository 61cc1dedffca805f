"""Matrix games: published tables, values by linear programming, OpenSpiel's tables, and files good and bad."""

import json

import numpy as np
import pytest
from scipy.optimize import linprog

from tapete.core import Rng, TapeteError, make
from tapete.core.players import random_play
from tapete.games.matrix import payoffs
from tapete.games.matrix.file import LONGEST_FILE
from tapete.testing import check_game, check_redeal, check_tree, perft

NAMES = ["rps", "pennies", "battle", "dilemma", "benefit", "monopoly", "token_domino", "blotto(5,3)", "blotto(2,4)"]


def value(name: str) -> float:
    """What the row player can make sure of: max v such that the mixture gets v or more against every column."""
    first, _ = payoffs(make(name))
    rows, columns = first.shape
    result = linprog(
        c=[0.0] * rows + [-1.0],
        A_ub=np.hstack([-first.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=[[1.0] * rows + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    assert result.success, result.message
    return -float(result.fun)


# ---- the contract


@pytest.mark.parametrize("name", NAMES)
def test_every_promise_of_the_contract(name):
    check_game(name)
    check_tree(name)
    check_redeal(name)


@pytest.mark.parametrize(("name", "rows", "columns"), [("rps", 3, 3), ("token_domino", 7, 6), ("blotto(5,3)", 21, 21)])
def test_one_choice_each_the_second_without_knowing_the_first(name, rows, columns):
    counts = perft(make(name).start())
    assert (counts.decisions, counts.terminals, counts.infosets) == (1 + rows, rows * columns, 2)


def test_the_first_choice_is_hidden_until_both_have_chosen():
    rock, paper = (make("rps").read(choice) for choice in ("rock", "paper"))
    assert rock.infoset(1) == paper.infoset(1)
    assert rock.infoset(0) != paper.infoset(0)
    assert rock.view(1).scene() == paper.view(1).scene()
    rock.apply("rock")
    paper.apply("rock")
    assert rock.infoset(1) != paper.infoset(1)
    assert "other's choice: paper" in str(paper.view(1))


def test_every_cell_is_paid_as_its_table_says():
    for name in NAMES:
        game = make(name)
        first, second = payoffs(game)
        for row in range(first.shape[0]):
            for column in range(first.shape[1]):
                assert game.replay([row, column]).returns() == [first[row, column], second[row, column]]


# ---- published tables


@pytest.mark.parametrize(
    ("name", "rows", "columns", "table"),
    [
        ("battle", "ballet baseball", "ballet baseball", [[(2, 1), (0, 0)], [(0, 0), (1, 2)]]),
        ("dilemma", "silent accuse", "silent accuse", [[(-1, -1), (-15, 0)], [(0, -15), (-9, -9)]]),
        ("benefit", "aid no-aid", "search rest", [[(5, 4), (-3, 5)], [(-3, 3), (0, 0)]]),
        ("monopoly", "exit stay", "exit stay", [[(0, 0), (0, 4)], [(4, 0), (-2, -2)]]),
        ("pennies", "heads tails", "heads tails", [[(1, -1), (-1, 1)], [(-1, 1), (1, -1)]]),
    ],
)
def test_tables_are_those_of_rojas(name, rows, columns, table):
    spec = make(name).spec
    assert spec.labels == (tuple(rows.split()), tuple(columns.split()))
    assert np.stack(payoffs(spec), axis=-1).tolist() == np.array(table).tolist()


def test_rock_paper_scissors():
    assert make("rps").read("paper rock").returns() == [1, -1]
    assert make("rps").read("rock paper").returns() == [-1, 1]
    assert make("rps").read("scissors scissors").returns() == [0, 0]


def test_bounds_and_zero_sum_are_computed():
    assert (make("dilemma").spec.utility, make("dilemma").spec.zero_sum) == ((-15, 0), False)
    assert (make("rps").spec.utility, make("rps").spec.zero_sum) == ((-1, 1), True)


def test_a_domino_lies_in_one_of_7_ways_and_a_token_on_one_of_6_cells():
    first, _ = payoffs(make("token_domino"))
    assert first.shape == (7, 6)
    assert (first == -1).sum(axis=1).tolist() == [2] * 7  # a domino covers two cells
    assert (first == -1).sum(axis=0).tolist() == [2, 3, 2, 2, 3, 2]  # the middle ones are covered more often
    assert make("token_domino").read("b1-b2 b2").returns() == [-1, 1]
    assert make("token_domino").read("b1-b2 a1").returns() == [1, -1]


@pytest.mark.parametrize(("soldiers", "fields", "strategies"), [(5, 3, 21), (10, 3, 66), (1, 2, 2), (3, 5, 35)])
def test_blotto_strategies(soldiers, fields, strategies):
    game = make(f"blotto({soldiers},{fields})")
    assert payoffs(game)[0].shape == (strategies, strategies)
    assert all(sum(map(int, name.split("-"))) == soldiers for name in game.spec.labels[0])


def test_blotto_pays_fields_won_minus_fields_lost():
    assert make("blotto(5,3)").read("2-2-1 5-0-0").returns() == [1, -1]
    assert make("blotto(5,3)").read("0-1-4 0-0-5").returns() == [0, 0]
    assert make("blotto(3,4)").read("0-1-1-1 3-0-0-0").returns() == [2, -2]


@pytest.mark.parametrize(
    ("name", "published"), [("rps", 0), ("pennies", 0), ("token_domino", 1 / 3), ("blotto(5,3)", 0)]
)
def test_values_by_linear_programming(name, published):
    assert value(name) == pytest.approx(published, abs=1e-9)


def test_payoffs_are_of_matrix_games_only():
    with pytest.raises(TapeteError, match="not a matrix game"):
        payoffs(make("ocp(3)"))


# ---- OpenSpiel


@pytest.mark.parametrize(("name", "theirs"), [("rps", "matrix_rps"), ("pennies", "matrix_mp")])
def test_tables_agree_with_open_spiel(name, theirs):
    import pyspiel

    game = pyspiel.load_matrix_game(theirs)
    first, second = payoffs(make(name))
    assert first.tolist() == np.asarray(game.row_utilities()).tolist()
    assert second.tolist() == np.asarray(game.col_utilities()).tolist()
    assert make(name).spec.labels[0] == tuple(game.row_action_name(i).lower() for i in range(len(first)))


@pytest.mark.parametrize(("soldiers", "fields"), [(5, 3), (10, 3), (4, 4)])
def test_blotto_has_the_winners_of_open_spiel(soldiers, fields):
    """Theirs pays 1 to whoever won more fields: the sign of ours."""
    import pyspiel

    peer = pyspiel.load_game(f"blotto(coins={soldiers},fields={fields},players=2)")
    start = peer.new_initial_state()
    game = make(f"blotto({soldiers},{fields})")
    first, _ = payoffs(game)
    ours = {name: i for i, name in enumerate(game.spec.labels[0])}
    theirs = {
        ours[start.action_to_string(0, action).strip("[]").replace(",", "-")]: action
        for action in start.legal_actions(0)
    }
    assert sorted(theirs) == list(range(len(ours)))
    for row, column in np.ndindex(*first.shape):
        state = start.clone()
        state.apply_actions([theirs[row], theirs[column]])
        assert state.returns()[0] == np.sign(first[row, column])


# ---- files


@pytest.fixture
def write(tmp_path):
    def write(content, name="table"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return f"matrix({path})"

    return write


def as_json(**data):
    return json.dumps(data)


def test_a_table_in_json(write):
    name = write(as_json(rows=["up", "go down"], columns=["l", "m", "r"], payoffs=[[1, 2, 3], [4, 5.5, -6]]))
    spec = make(name).spec
    assert spec.labels == (("up", "go-down"), ("l", "m", "r"))
    assert payoffs(spec)[0].tolist() == [[1, 2, 3], [4, 5.5, -6]]
    assert spec.zero_sum
    assert make(name).read("go-down r").returns() == [-6, 6]
    check_game(name)
    check_tree(name)
    check_redeal(name)


def test_a_table_of_pairs_in_json(write):
    spec = make(write(as_json(payoffs=[[[2, 1], [0, 0]], [[0, 0], [1, 2]]]))).spec
    assert spec.labels == (("r1", "r2"), ("c1", "c2"))
    assert [table.tolist() for table in payoffs(spec)] == [[[2, 0], [0, 1]], [[1, 0], [0, 2]]]
    assert not spec.zero_sum


@pytest.mark.parametrize("text", ["2,1 0,0\n0,0 1,2\n", "\ufeff2,1\t0,0\r\n\r\n 0,0  1,2"])
def test_a_table_of_pairs_in_plain_text(write, text):
    assert payoffs(make(write(text)))[1].tolist() == [[1, 0], [0, 2]]


def test_a_table_of_numbers_in_plain_text_is_zero_sum(write):
    game = make(write("1 -1 0\n-0.5 1e3 2"))
    assert payoffs(game)[0].tolist() == [[1, -1, 0], [-0.5, 1000, 2]]
    assert payoffs(game)[1].tolist() == [[-1, 1, 0], [0.5, -1000, -2]]
    assert game.spec.utility == (-1000, 1000)


def test_the_largest_table_there_may_be(write):
    table = np.arange(10_000).reshape(50, 200)
    game = make(write("\n".join(" ".join(map(str, row)) for row in table)))
    assert game.read("r50 c200").returns() == [9999, -9999]
    assert random_play(game, 10, Rng(1)).decisions == 20


BAD = {
    "an empty file": "",
    "only blanks": " \n\n",
    "not text": b"\xff\xfe\x00\x01",
    "not numbers": "a b\nc d",
    "three numbers in a cell": "1,2,3",
    "half a pair": "1, 2",
    "rows of different lengths": "1 2\n3",
    "numbers and pairs": "1 2,3",
    "nan": "1 nan",
    "infinity": "1 inf",
    "too large a number": "1 1e13",
    "too many cells": "\n".join(["1 " * 101] * 100),
    "too many bytes": " " * (LONGEST_FILE + 1),
    "broken json": '{"payoffs": [[1, 2]',
    "json nested too deep": '{"payoffs": ' + "[" * 100_000,
    "no payoffs": as_json(rows=["a"], columns=["b"]),
    "an unknown key": as_json(row=["a"], payoffs=[[1]]),
    "payoffs that are no list": as_json(payoffs=7),
    "rows that are no lists": as_json(payoffs=[1, 2]),
    "no rows": as_json(payoffs=[]),
    "no columns": as_json(payoffs=[[], []]),
    "json of different lengths": as_json(payoffs=[[1, 2], [3]]),
    "a word as payoff": as_json(payoffs=[["1"]]),
    "true as payoff": as_json(payoffs=[[True]]),
    "null as payoff": as_json(payoffs=[[None]]),
    "nan in json": '{"payoffs": [[NaN]]}',
    "infinity in a pair": '{"payoffs": [[[1, -Infinity]]]}',
    "a huge number in json": '{"payoffs": [[1' + "0" * 400 + "]]}",
    "a number with too many digits": '{"payoffs": [[1' + "0" * 5000 + "]]}",
    "too few names": as_json(rows=["a"], payoffs=[[1], [2]]),
    "too many names": as_json(columns=["a", "b"], payoffs=[[1]]),
    "names that are no texts": as_json(rows=[1], payoffs=[[1]]),
    "names that are no list": as_json(rows="a", payoffs=[[1]]),
    "an empty name": as_json(rows=[" "], payoffs=[[1]]),
    "a name too long": as_json(rows=["x" * 41], payoffs=[[1]]),
    "a name with a colon": as_json(rows=["a:b"], payoffs=[[1]]),
    "a name that can't be printed": as_json(rows=["a\u0000"], payoffs=[[1]]),
    "the same name twice, but for case": as_json(rows=["a b", "A-b"], payoffs=[[1], [2]]),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_in_one_line(write, content):
    with pytest.raises(TapeteError) as error:
        make(write(content))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_what_is_no_file_is_refused(tmp_path):
    for path in (tmp_path / "missing", tmp_path, "/dev/zero", "a\0b", "x" * 900):
        with pytest.raises(TapeteError, match="there is no file"):
            make(f"matrix({path})")


def test_errors_say_where(write):
    for content, where in [("1 2\n3 x", "row 2, column 2"), ("1 2\n3", "row 2 has 1 cells"), (BAD["nan"], "column 2")]:
        with pytest.raises(TapeteError, match=where):
            make(write(content))


@pytest.mark.parametrize("name", ["blotto(0,3)", "blotto(5,1)", "blotto(20,5)", "blotto(99,99)", "matrix", "rps(3)"])
def test_bad_parameters_are_refused_in_one_line(name):
    with pytest.raises(TapeteError) as error:
        make(name)
    assert "\n" not in str(error.value)
