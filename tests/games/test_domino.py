"""Dominó: rules by hand, the counts of Rojas' table, and what may be inferred from takes and passes."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from math import factorial
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
from tapete.games.domino.state import DEAL, GIVE, OVER, TAKEN
from tapete.games.domino.tiles import POINTS, TILES, tile_name, tiles_of
from tapete.testing import check_game, check_redeal, check_tree, perft


def after(name: str, moves: str) -> State:
    return tapete.make(name).read(moves)


def legal(state: State) -> list[str]:
    return [state.write(action) for action in state.actions()]


# The contract


@pytest.mark.parametrize("name", ["domino", "domino(2,2)", "domino(3,2)", "domino(2,3)", "domino(9,5)", "domino(4,7)"])
def test_contract(name: str) -> None:
    check_game(name, games=12)


@pytest.mark.parametrize("name", ["domino(1,1)", "domino(2,1)", "domino(2,2)"])
def test_information_sets_of_the_whole_tree(name: str) -> None:
    check_tree(name)


@pytest.mark.parametrize("name", ["domino(1,1)", "domino(2,1)", "domino(2,2)", "domino(2,3)"])
def test_redeal_over_the_whole_tree(name: str) -> None:
    check_redeal(name)


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


# Counts: the tree is walked by a second implementation, and what it counts is compared with Rojas' table and with perft

Ends = tuple[int, int] | None


class Counted:
    """The tree of a game, hands and boneyard as sets; a turn is one step, with what is taken in it.

    `turns` and `ends` are its nodes, `taken` the tiles given within turns (where perft counts a decision more).
    `histories` is Rojas' N: his chance shuffles all tiles at the start, and each shuffle has its own branch.
    """

    def __init__(self, m: int, n: int) -> None:
        self.turns = self.ends = self.taken = 0
        self.histories = 1
        self.choices: set[tuple[Any, ...]] = set()
        self.most = 0
        self.orders_of_hands = factorial(n) ** 2
        tiles = frozenset((i, j) for i in range(m + 1) for j in range(i, m + 1))
        for first in map(frozenset, combinations(sorted(tiles), n)):
            for second in map(frozenset, combinations(sorted(tiles - first), n)):
                known = (0, first), (1, second)
                self.walk((first, second), tiles - first - second, None, 0, 0, known)

    def walk(self, hands: Any, boneyard: Any, ends: Ends, seat: int, passes: int, known: Any) -> None:
        self.histories += self.orders_of_hands * factorial(len(boneyard))
        if not all(hands) or (passes >= 2 and not boneyard):
            self.ends += 1
            self.most = max(self.most, *(sum(map(sum, hand)) for hand in hands))
            return
        self.turns += 1
        moves = ways_to_lay(hands[seat], ends)
        if moves:
            self.lay_each(moves, hands, boneyard, ends, seat, known)
        elif not boneyard:
            self.walk(hands, boneyard, ends, 1 - seat, passes + 1, tell(known, "pass"))
        for tile in () if moves else boneyard:
            self.taken += 1
            larger = swap(hands, seat, hands[seat] | {tile})
            learned = swap(tell(known, "take"), seat, (*known[seat], "take", tile))
            moves = ways_to_lay({tile}, ends)
            if moves:
                self.lay_each(moves, larger, boneyard - {tile}, ends, seat, learned)
            else:
                self.walk(larger, boneyard - {tile}, ends, 1 - seat, passes + 1, tell(learned, "pass"))

    def lay_each(self, moves: Any, hands: Any, boneyard: Any, ends: Ends, seat: int, known: Any) -> None:
        if len(moves) > 1:
            self.choices.add(known[seat])
        for tile, end in moves:
            opened = tile
            if ends is not None:
                opened = swap(ends, end, sum(tile) - ends[end])
            smaller = swap(hands, seat, hands[seat] - {tile})
            self.walk(smaller, boneyard, opened, 1 - seat, 0, tell(known, (tile, end)))


def ways_to_lay(tiles: Any, ends: Ends) -> list[tuple[tuple[int, int], int]]:
    if ends is None:
        return [(tile, 0) for tile in tiles]
    left = [(tile, 0) for tile in tiles if ends[0] in tile]
    return left if ends[0] == ends[1] else left + [(tile, 1) for tile in tiles if ends[1] in tile]


def swap(pair: Any, index: int, value: Any) -> Any:
    return (value, pair[1]) if index == 0 else (pair[0], value)


def tell(known: Any, event: Any) -> Any:
    return (*known[0], event), (*known[1], event)


class Published(NamedTuple):
    """N and I are Rojas'; nodes are those of the tree with the boneyard as a set."""

    size: tuple[int, int]
    nodes: int
    histories: int
    choices: int


@pytest.mark.parametrize(
    "row",
    [
        Published((2, 2), 1_164, 7_321, 102),
        Published((3, 2), 1_932_516, 46_534_657, 88_947),
        pytest.param(Published((3, 3), 2_396_220, 246_760_993, 107_854), marks=pytest.mark.slow),
        pytest.param(Published((3, 4), 2_064_366, 1_547_645_185, 104_050), marks=pytest.mark.slow),
    ],
    ids=lambda row: "domino({},{})".format(*row.size),
)
def test_counts_of_rojas(row: Published) -> None:
    tree = Counted(*row.size)
    assert tree.turns + tree.ends == row.nodes
    assert tree.histories == row.histories
    assert len(tree.choices) == row.choices
    game = tapete.make("domino({},{})".format(*row.size))
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
                walk(state.copy().apply(action), swap(sequences, seat, index), prob)

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


# Redealing


def gets_tile(state: State) -> int | None:
    """The seat to which chance gives a tile now."""
    s = state.game.record(state.data)
    if s["stage"] == DEAL:
        return int(s["given"] // s["each"])
    return int(s["turn"]) if s["stage"] == GIVE else None


def explanations(state: State, seat: int) -> dict[bytes, State]:
    """All states that the seat can't tell from this one: what the other was given, in every way that allows the moves.

    They are equally likely: each stands for as many orders of the deal, and boneyards are of the same size in all.
    """
    real = state.game.start()
    worlds = {real.data.tobytes(): real.copy()}
    assert state.history is not None
    for action in state.history:
        is_hidden = gets_tile(real) == 1 - seat
        following = {}
        for world in worlds.values():
            allowed = world.actions()
            for choice in allowed if is_hidden else {action} & set(allowed):
                child = world.copy().apply(choice)
                following[child.data.tobytes()] = child
        worlds = following
        real.apply(action)
    known = state.infoset(seat)
    return {data: world for data, world in worlds.items() if world.infoset(seat) == known}


def states_of_random_games(name: str, seed: int) -> Iterator[State]:
    game, rng = tapete.make(name), Rng(seed)
    while True:
        state = game.start()
        while not state.over:
            action = (
                calls.draw(game.table, state.data, rng.words) if state.player == CHANCE else rng.choice(state.actions())
            )
            state.apply(int(action))
            yield state


def origins(state: State, seat: int) -> list[tuple[int, int]]:
    """Earliest and latest slot of the tiles that a seat laid from its hand."""
    s = state.game.record(state.data)
    return [(int(s["earliest"][tile]), int(s["latest"][tile])) for tile in tiles_of(s["laid"][seat])]


def has_tiles_kept_between(state: State, seat: int) -> bool:
    """Whether a tile was laid that was surely taken, after one moment and before another: the hardest to redeal."""
    return any(0 < earliest < latest for earliest, latest in origins(state, seat))


def expect_each_explanation_as_often(state: State, seat: int, rng: Rng) -> None:
    worlds = explanations(state, seat)
    samples = max(1000, 30 * len(worlds))
    found: Counter[bytes] = Counter()
    for _ in range(samples):
        data = state.data.copy()
        calls.redeal(state.game.table, data, seat, rng.words)
        found[data.tobytes()] += 1
    assert found.keys() <= worlds.keys(), f"a world that can't be, for seat {seat} in {state}"
    expected = samples / len(worlds)
    statistic = sum((found[data] - expected) ** 2 / expected for data in worlds)
    assert len(worlds) == 1 or chi2.sf(statistic, len(worlds) - 1) > 1e-6, f"wrong frequencies for {seat} in {state}"


@pytest.mark.parametrize(("name", "boneyard"), [("domino(3,2)", 6), ("domino(4,3)", 3)])
def test_redeal_gives_every_explanation_equally_often(name: str, boneyard: int) -> None:
    rng = Rng(name)
    plain = hard = 0
    stages = set()
    for state in states_of_random_games(name, seed=1):
        s = state.game.record(state.data)
        for seat in range(2):
            other = 1 - seat
            if s["keeps"][other] < 2 or int(s["boneyard"]).bit_count() > boneyard:
                continue
            if has_tiles_kept_between(state, other):
                hard += 1
            elif plain < 50:
                plain += 1
            else:
                continue
            stages.add(int(s["stage"]))
            expect_each_explanation_as_often(state, seat, rng)
        if hard >= 50 and plain >= 50:
            break
    assert {TAKEN, OVER} <= stages


def replayed(state: State, world: State, seat: int) -> State:
    """The moves of a state made again, with what the other seat was given in another world."""
    again, other = state.game.start(), 1 - seat
    s = world.game.record(world.data)
    dealt, kept = iter(tiles_of(s["dealt"][other])), iter(s["kept"][other].tolist())
    assert state.history is not None
    following = [*state.history[1:], None]
    lays = 2 * int(s["tiles"])
    for action, next_action in zip(state.history, following, strict=True):
        if gets_tile(again) == other:
            is_deal = again.game.record(again.data)["stage"] == DEAL
            is_laid_at_once = not is_deal and next_action is not None and next_action < lays
            action = next(dealt) if is_deal else action if is_laid_at_once else next(kept)
        again.apply(action)
    return again


@pytest.mark.parametrize("name", ["domino(6,7)", "domino(5,2)", "domino(9,5)"])
def test_every_move_is_possible_in_a_world_redealt(name: str) -> None:
    rng = Rng(name)
    kept_between = 0
    for i, state in enumerate(states_of_random_games(name, seed=2)):
        s = state.game.record(state.data)
        for seat in range(2):
            if s["stage"] != DEAL and rng.below(4) == 0:
                world = state.view(seat).sample(rng)
                assert replayed(state, world, seat) == world
                kept_between += has_tiles_kept_between(state, 1 - seat)
        if i > 4000:
            break
    assert kept_between > 10


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
        state.apply(int(calls.draw(state.game.table, state.data, rng.words)))
    outcomes = [outcome for outcome, _ in state.outcomes()]
    drawn = Counter(int(calls.draw(state.game.table, state.data, rng.words)) for _ in range(20_000))
    assert drawn.keys() == set(outcomes)
    due = 20_000 / len(outcomes)
    assert chi2.sf(sum((drawn[tile] - due) ** 2 / due for tile in outcomes), len(outcomes) - 1) > 1e-6
