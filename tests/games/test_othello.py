"""Othello: rules by hand-made positions, published counts, agreement with OpenSpiel and with a slow board of text."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import tapete
from tapete import Game, Rng, State, TapeteError
from tapete.core.scene import Board, Note, Place, Score
from tapete.games.othello.notation import SIGNS, read_position, start_position, write_position
from tapete.testing import check_game, check_redeal, check_tree, perft

SIZES = (4, 6, 8)

# Leaves of the tree from the start, as published: a pass is a ply, and a game that has ended is a leaf.
PERFT = (4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800)

PASSING = "XO-- XXXX XXXX XXXX O"  # white can't move, then black takes the last white disc


def set_up(position: str, size: int = 8) -> State:
    return tapete.make(f"othello(size={size},position={position})").start()


def position_of(state: State) -> str:
    return write_position(state.game.record(state.data))


def discs_of(state: State) -> tuple[int, int]:
    squares = position_of(state)[:-2]
    return squares.count("X"), squares.count("O")


def legal_of(state: State) -> list[str]:
    return [state.write(action) for action in state.actions()]


def random_states(game: Game, rng: Rng) -> list[State]:
    """A random game, state by state."""
    states = [game.start()]
    while not states[-1].over:
        states.append(states[-1].copy().apply(rng.choice(states[-1].actions())))
    return states


# The contract


@pytest.mark.parametrize("name", ["othello", "othello(size=6)", "othello(size=4)"])
def test_contract(name):
    check_game(name, games=8)


def test_contract_from_a_position():
    rng = Rng("contract")
    for size in SIZES:
        for state in random_states(tapete.make(f"othello(size={size})"), rng)[::9]:
            check_game(f"othello(size={size},position={position_of(state)})", games=1)


def test_information_over_the_games_from_a_position():
    state = random_states(tapete.make("othello(size=4)"), Rng("tree"))[4]
    check_tree(f"othello(size=4,position={position_of(state)})")


@pytest.mark.slow
def test_information_over_all_games_of_4x4():
    check_tree("othello(size=4)", limit=224_821)


def test_redeal_changes_nothing():
    states = random_states(tapete.make("othello(size=4)"), Rng("redeal"))
    check_redeal(f"othello(size=4,position={position_of(states[-7])})", samples=10)


def test_equal_positions_by_different_moves_are_different_information():
    game = tapete.make("othello")
    one, two = game.read("d3 c3 c4"), game.read("c4 c3 d3")
    assert position_of(one) == position_of(two)
    assert one.infoset(0) != two.infoset(0)
    assert one.infoset(0) != one.infoset(1)


# The rules


def test_black_begins_with_four_squares_to_choose_from():
    state = tapete.make("othello").start()
    assert position_of(state) == "-" * 27 + "OX------XO" + "-" * 27 + " X"
    assert state.player == 0
    assert legal_of(state) == ["d3", "c4", "f5", "e6"]


def test_a_disc_turns_the_lines_in_all_eight_directions():
    state = set_up("X-X-X--- -OOO---- XO-OOOOX -OOOX--- X-OOO--- --O--O-- --O---O- --X----X X").apply("c3")
    after = "X-X-X--- -XXX---- XXXXXXXX -XXXX--- X-XOX--- --X--X-- --X---X- --X----X O"
    assert read_position(8, position_of(state)) == read_position(8, after)


@pytest.mark.parametrize(
    ("row", "after"),
    [
        ("-OOX----", "XXXX----"),
        ("-OOOOOOX", "XXXXXXXX"),
        ("-OXOX---", "XXXOX---"),  # only up to the first own disc
        ("-OXO-OX-", "XXXO-OX-"),
    ],
)
def test_a_line_is_turned_up_to_the_first_own_disc(row, after):
    middle = "-" * 16 + "---OX------XO---"
    state = set_up(f"{row}{middle}{'-' * 24} X").apply("a1")
    assert position_of(state)[:8] == after


@pytest.mark.parametrize("row", ["-OOOOOOO", "-OO-X---", "-XO-----", "--OX----"])
def test_a_line_without_an_own_disc_at_its_end_is_not_turned(row):
    middle = "-" * 16 + "---OX------XO---"
    assert "a1" not in legal_of(set_up(f"{row}{middle}{'-' * 24} X"))


def test_turned_discs_turn_nothing_themselves():
    # Black on a4 turns b4 and c4; c3, between c4 and black's c2, stays white.
    state = set_up("-------- --X----- --O----- -OOXX--- ---XX--- -------- -------- -------- X").apply("a4")
    after = "-------- --X----- --O----- XXXXX--- ---XX--- -------- -------- -------- O"
    assert read_position(8, position_of(state)) == read_position(8, after)


def test_who_cannot_move_has_to_pass_and_that_is_a_ply():
    state = set_up(PASSING, size=4)
    assert state.player == 1
    assert state.actions() == [16]
    assert legal_of(state) == ["pass"]
    state.apply("pass")
    assert state.player == 0
    assert position_of(state) == "XO--XXXXXXXXXXXX X"
    assert legal_of(state) == ["c1"]


def test_who_can_move_may_not_pass():
    state = tapete.make("othello").start()
    with pytest.raises(tapete.IllegalAction):
        state.apply("pass")


def test_the_game_is_over_at_once_when_neither_can_move():
    state = set_up(PASSING, size=4).apply("pass").apply("c1")
    assert state.over
    assert state.actions() == []
    assert position_of(state) == "XXX-XXXXXXXXXXXX O"
    assert state.returns() == [1, -1]


def test_the_shortest_game_takes_all_discs_in_nine_moves():
    state = tapete.make("othello").read("e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert state.over
    assert discs_of(state) == (13, 0)
    assert state.returns() == [1, -1]


@pytest.mark.parametrize(
    ("position", "returns"),
    [
        ("XXX- XXX- XXX- ---O X", [1, -1]),  # both have discs, there is room, and nobody can enclose anything
        ("XXX- XXX- XXX- ---O O", [1, -1]),
        ("OOOO OOOO OOOX OXXX X", [-1, 1]),
        ("OOOO OOOO XXXX XXXX X", [0, 0]),
    ],
)
def test_more_discs_win_and_as_many_draw(position, returns):
    state = set_up(position, size=4)
    assert state.over
    assert state.returns() == returns


# Text and numbers


def test_squares_are_written_by_column_and_row():
    state = tapete.make("othello").start()
    assert [state.write(action) for action in (0, 7, 8, 63, 64)] == ["a1", "h1", "a2", "h8", "pass"]
    assert tapete.make("othello(size=6)").start().write(35) == "f6"
    assert str(tapete.make("othello").read("F5 d6")) == "othello: f5 d6"


@pytest.mark.parametrize("size", SIZES)
def test_positions_read_back(size):
    for state in random_states(tapete.make(f"othello(size={size})"), Rng("positions")):
        again = set_up(position_of(state), size)
        assert position_of(again) == position_of(state)
        assert (again.player, again.actions(), again.returns()) == (state.player, state.actions(), state.returns())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("othello(size=5)", "size must be 4, 6 or 8, not 5"),
        ("othello(size=10)", "size must be 4, 6 or 8, not 10"),
        ("othello(position=XO)", "64 squares"),
        (f"othello(size=6,position={start_position(8)})", "36 squares"),
        ("othello(size=4,position=-----OX--XO----- -)", "X or O for who is to move"),
        ("othello(size=4,position=-----OX--XO----? X)", "X, O and -"),
        ("othello(size=4,position=-----OX--X------ X)", "the four squares in the middle"),
    ],
)
def test_what_is_not_a_board_is_refused(name, reason):
    with pytest.raises(TapeteError, match=reason):
        tapete.make(name)


def test_observation_is_own_discs_the_others_and_where_to_move():
    state = tapete.make("othello(size=4)").start().apply("b1")
    black, white = state.view(0).observation(), state.view(1).observation()
    own, other, legal = white[:-1].reshape(3, 4, 4)
    assert own.tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert other.tolist() == [[0, 1, 0, 0], [0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert np.flatnonzero(legal).tolist() == state.actions()
    assert white[-1] == 1
    assert np.array_equal(black, np.concatenate([other.ravel(), own.ravel(), np.zeros(17)]))


def test_observation_tells_a_pass_from_waiting():
    state = set_up(PASSING, size=4)
    assert state.view(1).observation()[32:].tolist() == [0] * 16 + [1]
    assert state.view(0).observation()[32:].tolist() == [0] * 17


def test_features_are_the_square():
    view = tapete.make("othello(size=6)").start().view(0)
    assert np.array_equal(view.features(), np.eye(37)[view.actions()])
    assert np.array_equal(set_up(PASSING, size=4).view(1).features(), np.eye(17)[[16]])


def test_scene_has_the_board_the_count_and_where_to_click():
    scene = tapete.make("othello").read("d3").view(1).scene()
    board, score, note = scene.parts
    assert isinstance(board, Board)
    assert (board.columns[3], board.rows[2], board.last) == ("d", "3", 19)
    assert (board.cells[18], board.cells[19], board.cells[36]) == ("", "black", "white")
    assert score == Score(name="discs", values=(4, 1))
    assert note == Note(name="turn", text="white (seat 1) to move")
    assert [(move.text, move.place) for move in scene.moves] == [
        (text, Place(part="board", index=index)) for text, index in (("c3", 18), ("e3", 20), ("c5", 34))
    ]


def test_scene_says_why_somebody_moves_twice():
    state = set_up(PASSING, size=4)
    scene = state.view(1).scene()
    assert Note(name="turn", text="white (seat 1) can only pass") in scene.parts
    assert [(move.text, move.place) for move in scene.moves] == [("pass", None)]
    scene = state.apply("pass").view(0).scene()
    assert Note(name="turn", text="white passed, black (seat 0) to move again") in scene.parts
    assert [part.last for part in scene.parts if isinstance(part, Board)] == [None]
    assert Note(name="turn", text="neither can move: the game is over") in state.apply("c1").scene().parts


# A slow board of text, by the words of the rules: what the bitboards must agree with

DIRECTIONS = [(down, right) for down, right in product((-1, 0, 1), repeat=2) if (down, right) != (0, 0)]


def slow_turned(squares: str, size: int, square: int, mover: str) -> list[int]:
    """The squares of the discs that are turned by a disc there; none if it can't be laid."""
    turned: list[int] = []
    for down, right in DIRECTIONS if squares[square] == "-" else []:
        line: list[int] = []
        row, column = square // size + down, square % size + right
        while 0 <= row < size and 0 <= column < size and squares[row * size + column] not in ("-", mover):
            line.append(row * size + column)
            row, column = row + down, column + right
        if 0 <= row < size and 0 <= column < size and squares[row * size + column] == mover:
            turned += line
    return turned


@cache
def slow_moves(squares: str, size: int, mover: str) -> dict[int, str]:
    """The squares on which a disc may be laid, and the board after it."""
    moves = {}
    for square in range(size * size):
        if turned := slow_turned(squares, size, square, mover):
            moves[square] = "".join(mover if i in (square, *turned) else old for i, old in enumerate(squares))
    return moves


@cache
def slow_leaves(squares: str, size: int, mover: str, depth: int) -> int:
    """What perft counts."""
    other = SIGNS[1 - SIGNS.index(mover)]
    moves = slow_moves(squares, size, mover)
    if depth == 0 or not (moves or slow_moves(squares, size, other)):
        return 1
    return sum(slow_leaves(after, size, other, depth - 1) for after in (moves.values() if moves else [squares]))


def expect_slow_board_agrees(state: State, size: int) -> None:
    squares, mover = position_of(state).split()
    moves = slow_moves(squares, size, mover)
    if state.over:
        assert not moves
        assert not slow_moves(squares, size, SIGNS[1 - SIGNS.index(mover)])
        lead = squares.count("X") - squares.count("O")
        assert state.returns() == [np.sign(lead), -np.sign(lead)]
        return
    assert state.player == SIGNS.index(mover)
    assert state.actions() == (list(moves) or [size * size])
    for action in state.actions():
        after = state.copy().apply(action)
        assert position_of(after) == f"{moves.get(action, squares)} {SIGNS[1 - state.player]}"


@pytest.mark.parametrize("size", SIZES)
def test_agrees_with_a_slow_board_in_random_games(size):
    for i in range(10):
        for state in random_states(tapete.make(f"othello(size={size})"), Rng("slow", i)):
            expect_slow_board_agrees(state, size)


@pytest.mark.parametrize("size", SIZES)
def test_agrees_with_a_slow_board_in_random_positions(size):
    rng = Rng("positions", size)
    middle = [usual != "-" for usual in start_position(size)[:-2]]
    for _ in range(80):
        empty = rng.below(90)  # per cent
        squares = ["-" if rng.below(100) < empty and not taken else rng.choice(SIGNS) for taken in middle]
        expect_slow_board_agrees(set_up(f"{''.join(squares)} {rng.choice(SIGNS)}", size), size)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("size", "depth"),
    [(4, 24), (6, 6), (8, 5), pytest.param(6, 7, marks=SLOW), pytest.param(8, 6, marks=SLOW)],
)
def test_counts_of_a_slow_board(size, depth):
    squares, mover = start_position(size).split()
    start = tapete.make(f"othello(size={size})").start()
    assert perft(start, depth).leaves == slow_leaves(squares, size, mover, depth)


# Published numbers


@pytest.mark.parametrize(("depth", "leaves"), list(enumerate(PERFT[:9], start=1)))
def test_published_counts(depth, leaves):
    assert perft(tapete.make("othello").start(), depth).leaves == leaves


@pytest.mark.slow
@pytest.mark.parametrize("depth", [10, 11])
def test_published_counts_of_ten_and_eleven_plies(depth):
    assert perft(tapete.make("othello").start(), depth, infosets=False).leaves == PERFT[depth - 1]


def test_4x4_is_won_by_white_with_11_discs_to_3():
    known: dict[str, tuple[int, set[tuple[int, int]]]] = {}

    def solve(state: State) -> tuple[int, set[tuple[int, int]]]:
        """Black's lead in discs under perfect play, and the scores that such play may end in."""
        key = position_of(state)
        if key not in known:
            black, white = discs_of(state)
            known[key] = black - white, {(black, white)}
            if not state.over:
                solved = [solve(state.copy().apply(action)) for action in state.actions()]
                best = (max, min)[state.player](lead for lead, _ in solved)
                known[key] = best, set().union(*(scores for lead, scores in solved if lead == best))
        return known[key]

    lead, scores = solve(tapete.make("othello(size=4)").start())
    assert lead == -8
    assert scores == {(3, 11)}


# Symmetry


def images(squares: str) -> list[str]:
    """A board turned and mirrored in all eight ways."""
    board = np.array(list(squares)).reshape(int(len(squares) ** 0.5), -1)
    turns = [np.rot90(side, k) for side in (board, board.T) for k in range(4)]
    return ["".join(turn.ravel()) for turn in turns]


@pytest.mark.parametrize("size", SIZES)
def test_all_symmetries_and_both_colours_give_the_same_counts(size):
    states = random_states(tapete.make(f"othello(size={size})"), Rng("symmetry", size))
    for state in states[2 :: len(states) // 4]:
        squares, mover = position_of(state).split()
        swap = str.maketrans("XO", "OX")
        leaves = perft(state, 4).leaves
        for image in images(squares):
            assert perft(set_up(f"{image} {mover}", size), 4).leaves == leaves
            assert perft(set_up(f"{image} {mover}".translate(swap), size), 4).leaves == leaves


# OpenSpiel


def expect_open_spiel_agrees(games: int, seed: int) -> None:
    """Random games, compared at every state: mover, board, legal moves, payoffs."""
    import pyspiel

    ours, theirs = tapete.make("othello"), pyspiel.load_game("othello")
    rng = Rng("open_spiel", seed)
    for _ in range(games):
        state, peer = ours.start(), theirs.new_initial_state()
        while True:
            lines = str(peer).splitlines()[2:10]  # "4 - - - o x - - - 4"
            squares = "".join("".join(line.split()[1:9]) for line in lines).upper()
            assert position_of(state).split()[0] == squares
            assert state.over == peer.is_terminal()
            if state.over:
                break
            actions = state.actions()
            assert state.player == peer.current_player()
            assert actions == peer.legal_actions()
            action = rng.choice(actions)
            assert state.write(action) == peer.action_to_string(action)
            state.apply(action)
            peer.apply_action(action)
        assert state.returns() == peer.returns()


def test_agrees_with_open_spiel():
    expect_open_spiel_agrees(games=1000, seed=0)


@pytest.mark.slow
def test_agrees_with_open_spiel_over_ten_thousand_games():
    expect_open_spiel_agrees(games=10_000, seed=1)
