"""Alpha-beta to the end of a game of Othello, compiled: a bound on the lead in discs that perfect play leads to.

There is one question, asked with a null window: is the mover's lead more than `alpha`? The answer is fail-soft: a lead
of at least that many discs if it is above alpha, of at most that many otherwise. Exact leads are made of such answers
(`exact.py`). The game thins out towards its end, and there are three ways to look at it:

- the last six empty squares: every move is tried, first where an odd number of squares is left in a quadrant, because
  who moves there first can also move there last;
- seven and eight: moves are sorted, those first that leave the other the fewest replies (fastest first);
- nine and more: the same, with a hash table of bounds. From eleven on, what the table says of the positions after all
  moves is looked at before any is searched; from twenty on, boards that are images of one another are one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from tapete.core.compile import UINT64_PTR, WORDS, ahead, helper, kernel, uint64_ptr
from tapete.games.othello.bitboard import ONE, count, lowest
from tapete.games.othello.memory import lower_bound, place_of, recall, remember, reply, upper_bound
from tapete.games.othello.rays import NEIGHBOURS, QUADRANTS, around, disc_on, first_image, legal, turned

# The desk on which the search works, in words: what it is told, what it tells, and the moves on the way down.
NODES, BOARD, CORNERS, BUCKETS, DATE = range(5)
TRIED = 8  # [64, 2] by empty squares: which move is being searched, of how many
MOVE = 4
MOVES = TRIED + 128  # [n, MOVE] for every number n of empty squares, from 1 on
DESK = MOVES + MOVE * 64 * 65 // 2

OTHER, OWN, REPLIES, TAG = range(MOVE)  # a move: the discs after it, where the other may go then, and
SQUARE = np.uint64(255)  # how promising it is, with its square in the lowest byte

WORST = -100  # less than any lead
LEAST, MOST = 1 << 13, 1 << 20  # what is promised: never negative, and as much as can be
FEW, REMEMBERED, FORESEEN, MIRRORED = 6, 9, 11, 20  # empty squares, see above

MASK = types.uint64
LEAD = types.int64


@helper
def _lead(own: Any, other: Any) -> int:
    """What the game counts. Squares that stay empty count for nobody."""
    return count(own) - count(other)


@helper
def _last_one(own: Any, other: Any, empty: Any, odd: Any, alpha: int, desk: Any) -> int:
    desk[NODES] += ONE
    square, lead = lowest(empty), _lead(own, other)
    discs = turned(own, other, square)
    if discs != 0:
        return lead + 2 * count(discs) + 1
    discs = turned(other, own, square)
    return lead - 2 * count(discs) - 1 if discs != 0 else lead


def _one_more(rest: Any) -> Callable[..., int]:
    """The search of one more empty square than `rest` searches; `odd` is the quadrants with an odd number of them.

    A helper: a kernel that is made inside of a function would be compiled anew by every process.
    """

    @helper
    def best_move(own: Any, other: Any, empty: Any, odd: Any, alpha: int, desk: Any) -> int:
        best = WORST
        for squares in (empty & odd, empty & ~odd):
            while squares != 0 and best <= alpha:
                square = lowest(squares)
                squares &= squares - ONE
                discs = turned(own, other, square) if NEIGHBOURS[square] & other != 0 else np.uint64(0)
                if discs != 0:
                    disc = disc_on(square)
                    left, parity = empty ^ disc, odd ^ QUADRANTS[square]
                    best = max(best, -rest(other ^ discs, own | discs | disc, left, parity, -alpha - 1, desk))
        return best

    @helper
    def search(own: Any, other: Any, empty: Any, odd: Any, alpha: int, desk: Any) -> int:
        desk[NODES] += ONE
        best = best_move(own, other, empty, odd, alpha, desk)
        if best == WORST:  # no move: pass
            best = -best_move(other, own, empty, odd, -alpha - 1, desk)
        return best if best != -WORST else _lead(own, other)

    return search


_last_two = _one_more(_last_one)
_last_three = _one_more(_last_two)
_last_four = _one_more(_last_three)
_last_five = _one_more(_last_four)
_last_six = _one_more(_last_five)


@helper
def _odd_quadrants(empty: Any) -> Any:
    odd = np.uint64(0)
    for corner in (0, 7, 56, 63):
        if count(empty & QUADRANTS[corner]) % 2 == 1:
            odd |= QUADRANTS[corner]
    return odd


@helper
def _promise(move: Any, square: int, empty: Any, odd: Any, corners: Any) -> int:
    """How good a move looks: the fewer replies the better, and the fewer empty squares beside the mover's discs."""
    replies = move[REPLIES]
    promise = 16 * (64 - count(empty & around(move[OWN]))) - 64 * (count(replies) + count(replies & corners))
    promise += 64 * count(disc_on(square) & corners) + 20 * count(disc_on(square) & odd)
    return promise + LEAST


@helper
def _list_moves(own: Any, other: Any, squares: Any, odd: Any, first: int, mirrored: bool, moves: Any, desk: Any) -> int:
    """Writes down the moves to these squares, unsorted; the one to the square `first` is the most promising."""
    total = 0
    while squares != 0:
        square = lowest(squares)
        squares &= squares - ONE
        disc, discs = disc_on(square), turned(own, other, square)
        after, mine = other ^ discs, own | discs | disc
        if mirrored:
            after, mine = first_image(after, mine)
        empty = desk[BOARD] & ~(after | mine)
        move = ahead(moves, MOVE * total)
        move[OTHER], move[OWN], move[REPLIES] = after, mine, legal(after, mine, empty)
        promise = MOST if square == first else _promise(move, square, empty, odd, desk[CORNERS])
        move[TAG] = (np.uint64(promise) << np.uint64(8)) | np.uint64(square)
        total += 1
    return total


@helper
def _first_move(n: int) -> int:
    """Where on the desk the moves are written down while n squares are empty. There are never more than n."""
    return MOVES + MOVE * (n * (n - 1) // 2)


@helper
def _best_to_front(moves: Any, total: int) -> None:
    """Puts the most promising of the moves in the first place."""
    best = 0
    for i in range(1, total):
        if moves[MOVE * i + TAG] > moves[MOVE * best + TAG]:
            best = i
    for word in range(MOVE):
        moves[word], moves[MOVE * best + word] = moves[MOVE * best + word], moves[word]


@helper
def _foresee(moves: Any, total: int, alpha: int, desk: Any, table: Any) -> int:
    """The best lead that the table knows to follow from a move, as far as it is above alpha; else WORST."""
    for i in range(total):
        move = ahead(moves, MOVE * i)
        known = recall(place_of(move[OTHER], move[OWN], desk[BUCKETS], table), move[OTHER], move[OWN], desk[BOARD])
        if known != 0 and -upper_bound(known) > alpha:
            return -upper_bound(known)
    return WORST


@kernel(LEAD(MASK, MASK, MASK, LEAD, LEAD, UINT64_PTR, UINT64_PTR))
def _search(own: Any, other: Any, squares: Any, alpha: int, n: int, desk: Any, table: Any) -> int:
    """The bound for a mover who may go to these squares, n squares being empty."""
    desk[NODES] += ONE
    board = desk[BOARD]
    empty = board & ~(own | other)
    if squares == 0:
        squares = legal(other, own, empty)
        return -_search(other, own, squares, -alpha - 1, n, desk, table) if squares != 0 else _lead(own, other)
    place = place_of(own, other, desk[BUCKETS], table)
    known = recall(place, own, other, board) if n >= REMEMBERED else np.uint64(0)
    first = -1
    if known != 0:
        if lower_bound(known) > alpha:
            return lower_bound(known)
        if upper_bound(known) <= alpha:
            return upper_bound(known)
        first = reply(known)
    moves = ahead(desk, _first_move(n))
    odd = _odd_quadrants(empty)
    total = _list_moves(own, other, squares, odd, first, n > MIRRORED, moves, desk)
    best = _foresee(moves, total, alpha, desk, table) if n >= FORESEEN else WORST
    best_square = first
    desk[TRIED + 2 * n + 1] = np.uint64(total)
    i = 0
    while i < total and best <= alpha:
        move = ahead(moves, MOVE * i)
        _best_to_front(move, total - i)
        i += 1
        desk[TRIED + 2 * n] = np.uint64(i)
        square: Any = np.int64(move[TAG] & SQUARE)
        if n == FEW + 1:
            left, parity = empty ^ disc_on(square), odd ^ QUADRANTS[square]
            lead = -_last_six(move[OTHER], move[OWN], left, parity, -alpha - 1, desk)
        else:
            lead = -_search(move[OTHER], move[OWN], move[REPLIES], -alpha - 1, n - 1, desk, table)
        if lead > best:
            best, best_square = lead, square
    if n >= REMEMBERED:
        remember(place, own, other, board, alpha, best, best_square, desk[DATE] * np.uint64(64) + np.uint64(n))
    return best


@kernel(LEAD(MASK, MASK, LEAD, WORDS, WORDS))
def bound(own: Any, other: Any, alpha: int, desk: Any, table: Any) -> int:
    """The mover's lead at the end: at least what comes back if that is above alpha, at most that otherwise."""
    words = uint64_ptr(desk)
    empty = words[BOARD] & ~(own | other)
    n = count(empty)
    if n >= MIRRORED:
        own, other = first_image(own, other)
        empty = words[BOARD] & ~(own | other)
    return _search(own, other, legal(own, other, empty), alpha, n, words, uint64_ptr(table))


@kernel(LEAD(MASK, MASK, WORDS))
def list_moves(own: Any, other: Any, desk: Any) -> int:
    """Writes down the mover's moves on the desk from MOVES on, the most promising first; how many there are."""
    words = uint64_ptr(desk)
    empty = words[BOARD] & ~(own | other)
    moves = ahead(words, MOVES)
    total = _list_moves(own, other, legal(own, other, empty), _odd_quadrants(empty), -1, False, moves, words)
    for i in range(total - 1):
        _best_to_front(ahead(moves, MOVE * i), total - i)
    return total
