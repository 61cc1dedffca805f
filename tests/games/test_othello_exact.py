"""Perfect play in Othello: against a slow minimax over all moves, published results, and itself elsewhere."""

import threading

import numpy as np
import pytest
from numba import njit

import tapete
from tapete import Rng, State, TapeteError
from tapete.bench.endgame import positions
from tapete.core.exact import judge_exactly
from tapete.games.othello import bitboard, rays
from tapete.games.othello.exact import Exact, Solver, best, judge, solve, within
from tapete.games.othello.notation import SIGNS, write_position

PASSING = "XO-- XXXX XXXX XXXX O"  # white can't move, then black takes the last white disc

# Positions of the FFO endgame test, by their numbers there, with the published leads and best moves.
FFO = {
    40: ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X", 38, "a2"),
    41: ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X", 0, "h4"),
    42: ("--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO-- X", 6, "g2"),
    43: ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX- O", -12, "c7 g3"),
    44: ("--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX-- O", -14, "d2 b8"),
}


def set_up(position: str, size: int = 8) -> State:
    return tapete.make(f"othello(size={size},position={position})").start()


def record_of(state: State) -> np.void:
    return state.game.record(state.data)


def random_positions(n: int, empties: int, size: int) -> list[State]:
    """Positions with so many empty squares from random games, some of them with nothing but a pass."""
    game, found = tapete.make(f"othello(size={size})"), []
    for i in range(n):
        state, rng = game.start(), Rng("exact", size, i)
        while write_position(record_of(state)).count("-") > empties:
            state.apply(rng.choice(state.actions()))
            if state.over:  # too early
                state = game.start()
        found.append(state)
    return found


def lead_after(state: State, line: tuple[int, ...]) -> int:
    """The lead of who is to move now, after a line that must lead to the end of the game."""
    end = state.copy()
    for action in line:
        end.apply(action)
    assert end.over
    squares = write_position(record_of(end))[:-2]
    return squares.count(SIGNS[state.player]) - squares.count(SIGNS[1 - state.player])


# A slow minimax over all moves, on a board with a border: squares are 0, discs 1 and -1, the border 2

STEPS = np.array([-11, -10, -9, -1, 1, 9, 10, 11])


def bordered(state: State) -> np.ndarray:
    squares = write_position(record_of(state))[:-2]
    size = int(len(squares) ** 0.5)
    board = np.full((10, 10), 2, dtype=np.int64)
    values = {SIGNS[state.player]: 1, SIGNS[1 - state.player]: -1, "-": 0}
    board[1 : size + 1, 1 : size + 1] = np.array([values[sign] for sign in squares]).reshape(size, size)
    return board.ravel()


@njit
def slow_play(board, square, mover):
    """The board after a disc there, and how many it turns."""
    after, total = board.copy(), 0
    after[square] = mover
    for step in STEPS:
        end = square + step
        while board[end] == -mover:
            end += step
        if board[end] == mover:
            while end != square:
                end -= step
                total += after[end] == -mover
                after[end] = mover
    return after, total


@njit
def slow_lead(board, mover, passed):
    best = -100
    for square in range(100):
        if board[square] == 0:
            after, total = slow_play(board, square, mover)
            if total > 0:
                best = max(best, -slow_lead(after, -mover, False))
    if best == -100:
        if passed:
            return mover * (np.sum(board == 1) - np.sum(board == -1))
        best = -slow_lead(board, -mover, True)
    return best


def slow_scores(state: State) -> dict[int, int]:
    board, size = bordered(state), int(record_of(state)["size"])
    scores = {}
    for action in state.actions():
        if action == size * size:
            scores[action] = -slow_lead(board, -1, True)
        else:
            after, _ = slow_play(board, 10 * (action // size + 1) + action % size + 1, 1)
            scores[action] = -slow_lead(after, -1, False)
    return scores


def expect_slow_minimax_agrees(state: State, solver: Solver) -> None:
    scores = slow_scores(state)
    judged, found = solver.judge(record_of(state)), solver.best(record_of(state))
    assert judged.scores == scores
    assert found.score == judged.score == max(scores.values())
    assert found.line == judged.line
    assert lead_after(state, found.line) == found.score


@pytest.mark.parametrize("kind", ["random", "sensible"])
def test_agrees_with_a_slow_minimax_where_eight_squares_are_empty(kind):
    states = random_positions(250, 8, size=8) if kind == "random" else positions(250, 8, seed=3)
    solver = Solver(1)
    for state in states:
        expect_slow_minimax_agrees(state, solver)


@pytest.mark.parametrize(("size", "empties"), [(4, 9), (6, 9), (8, 1), (8, 2), (8, 3), (8, 4), (8, 5), (8, 6), (8, 7)])
def test_agrees_with_a_slow_minimax_on_other_boards_and_nearer_to_the_end(size, empties):
    solver = Solver(1)
    for state in random_positions(30, empties, size):
        expect_slow_minimax_agrees(state, solver)


# Published results


def test_4x4_is_lost_by_eight_discs_whatever_the_first_move():
    start = tapete.make("othello(size=4)").start()
    exact = solve(start)
    assert exact.score == -8
    assert lead_after(start, exact.line) == -8
    assert set(judge(record_of(start)).scores.values()) == {-8}


@pytest.mark.parametrize("number", [40, *(pytest.param(n, marks=pytest.mark.slow) for n in (41, 42, 43, 44))])
def test_positions_of_the_ffo_endgame_test(number):
    position, score, moves = FFO[number]
    state = set_up(position)
    exact = Solver(64).best(record_of(state))
    assert exact.score == score
    assert state.write(exact.action) in moves.split()
    assert lead_after(state, exact.line) == score


# Circumstances that must not matter


def test_what_is_in_the_table_does_not_matter():
    used = Solver(1)
    for boards in zip(positions(12, 13, seed=5), positions(12, 15, seed=5, size=6), strict=True):
        for state in (*boards, tapete.make("othello(size=4)").start()):
            record = record_of(state)
            fresh = Solver(1).best(record)
            assert (used.best(record).scores, used.best(record).line) == (fresh.scores, fresh.line)
            assert used.judge(record).line == fresh.line


def test_a_second_look_comes_out_of_the_table():
    solver = Solver(1)
    record = record_of(positions(1, 14, seed=6)[0])
    assert solver.best(record).nodes > 20 * solver.best(record).nodes


def test_images_of_a_board_have_the_same_score():
    state = positions(1, 21, seed=8, size=6)[0]  # boards with 20 empty squares and more are looked at as images
    squares, mover = write_position(record_of(state)).split()
    board = np.array(list(squares)).reshape(6, 6)
    scores = set()
    for k in range(4):
        for side in (board, board.T):
            image = set_up(f"{''.join(np.rot90(side, k).ravel())} {mover}", size=6)
            exact = Solver(16).best(record_of(image))
            assert lead_after(image, exact.line) == exact.score
            scores.add(exact.score)
    assert len(scores) == 1
    assert max(judge(record_of(state)).scores.values()) in scores


def test_bounds_close_in_on_the_score():
    record = record_of(positions(1, 12, seed=9)[0])
    score = best(record).score
    for guess in (-64, score - 1, score, score + 1, 64):
        bounds = list(Solver(1).close_in(record, guess))
        assert all(lower <= score <= upper for lower, upper in bounds)
        assert bounds[-1] == (score, score)
    assert len(list(Solver(1).close_in(record, score))) == 2


def test_two_threads_may_share_a_solver():
    records = [record_of(state) for state in positions(8, 12, seed=10)]
    expected = [best(record).line for record in records]
    found: dict[int, list[tuple[int, ...]]] = {}

    def work(number: int) -> None:
        found[number] = [best(record).line for record in records]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: expected, 1: expected}


# Where it is asked, and what it answers


def test_a_pass_is_judged_and_is_part_of_the_line():
    state = set_up(PASSING, size=4)
    assert solve(state) == Exact({16: -15}, (16, 2), solve(state).nodes)
    assert judge(record_of(state)).scores == {16: -15}


def test_the_end_is_near_at_sixteen_empty_squares():
    near, far = (record_of(positions(1, empties, seed=1)[0]) for empties in (16, 17))
    assert within(near)
    assert not within(far)
    assert within(record_of(tapete.make("othello(size=4)").start()))
    assert not within(record_of(tapete.make("othello(size=6)").start()))
    assert not within(record_of(set_up("XXX- XXX- XXX- ---O X", size=4)))


def test_agents_are_told_the_perfect_move():
    state = positions(1, 10, seed=2)[0]
    thought = judge_exactly(state.view(state.player))
    exact = solve(state)
    assert thought is not None
    assert thought.probabilities == {action: float(action == exact.action) for action in state.actions()}
    forced = judge_exactly(set_up(PASSING, size=4).view(1))
    assert forced is not None
    assert forced.probabilities == {16: 1.0}
    assert thought.value == np.sign(exact.score)
    assert thought.values == {action: np.sign(score) for action, score in judge(record_of(state)).scores.items()}
    assert thought.line == exact.line
    assert judge_exactly(tapete.make("othello").start().view(0)) is None
    assert judge_exactly(tapete.make("kuhn").start().view(0)) is None


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(TapeteError, match="the game is over"):
        solve(set_up("OOOO OOOO XXXX XXXX X", size=4))
    with pytest.raises(TapeteError, match="this solves othello, not kuhn"):
        solve(tapete.make("kuhn").start())
    with pytest.raises(TapeteError, match="megabytes, not 0"):
        Solver(0)


# The board in the middle of 8x8


def test_turned_discs_are_those_of_the_rules():
    rng = np.random.default_rng(1)
    for own, mask in rng.integers(0, 2**64, (300, 2), dtype=np.uint64):
        other = mask & ~own
        for square in np.flatnonzero(~np.unpackbits((own | other).reshape(1).view(np.uint8), bitorder="little") & 1):
            disc = np.uint64(1) << np.uint64(square)
            assert rays.turned(own, other, int(square)) == bitboard.turned(own, other, disc, np.uint64(8))


def test_all_images_of_a_board_have_the_same_first_image():
    rng = np.random.default_rng(2)
    for _ in range(50):
        board = rng.integers(-1, 2, (8, 8))
        images = [np.rot90(side, k) for side in (board, board.T) for k in range(4)]
        first = {
            rays.first_image(*(np.packbits(image == disc, bitorder="little").view(np.uint64)[0] for disc in (1, -1)))
            for image in images
        }
        assert len(first) == 1
