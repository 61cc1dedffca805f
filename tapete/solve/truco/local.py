"""Local best responses to a player of truco (Lisy and Bowling 2017): what is won by who knows how it plays.

The responder keeps the exact probability of every hand that the other may hold: all that fit, each weighed by how
likely the player would have done with it what he did. Where he has a choice he takes the move that is best if both went
on as the player does. So he never does worse than the player in his place, and finds much of what can be found: what
suits tell, what was forgotten, what bets give away.

What he gains is measured move by move: by how much the move is better, over all those hands, than what the player would
have done there. Added up over a hand that is, on average, exactly what the response wins more than the player
(Kakade and Langford 2002), and it varies much less than what hands pay. Hands that choose a move are not those that
measure it, else luck would count as gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOATS,
    INTS,
    WORDS,
    float64_ptr,
    helper,
    kernel,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator, open_evaluator, words_at
from tapete.core.game import Game
from tapete.core.names import changed
from tapete.core.players import RANDOM, SEATED, Seated, choose, draw_move
from tapete.core.records import copy_state, pointers
from tapete.core.rng import Rng, uniform
from tapete.games.truco.cards import HANDS
from tapete.games.truco.equity import chances
from tapete.games.truco.moves import NONE, bit, envido_points, view
from tapete.solve.truco.ranges import LONGEST

WORLDS = 200  # hands of the other's by which a move is chosen, and as many again by which it is measured
MEASURED = 8  # hands that measure a move of the first trick, where each is solved to its end
CHUNK = 50  # hands played between two looks at whether to stop
N_HANDS = len(HANDS)
PLAYER, GUIDE = range(2)  # who is responded to, and a faster one who plays much the same
SITUATIONS = ("asked envido", "asked truco", "first trick", "second trick", "third trick")  # in which there is a choice


class Desk(NamedTuple):
    """Room for one hand."""

    state: NDArray[np.uint8]  # [bytes] as it is
    world: NDArray[np.uint8]  # [bytes] as it may be
    legal: NDArray[np.int32]  # [max_actions] in the state
    moves: NDArray[np.int32]  # [max_actions] in a world
    weights: NDArray[np.float64]  # [hands] how likely the other holds each, but for a factor
    reached: NDArray[np.float64]  # [hands] the same, added up
    gains: NDArray[np.float64]  # [max_actions] of each move
    usual: NDArray[np.float32]  # [max_actions] how likely the player makes it

    @classmethod
    def of(cls, game: Game) -> Desk:
        """An empty one."""
        states = np.zeros((2, game.size), dtype=np.uint8)
        moves = np.zeros((2, game.spec.max_actions), dtype=np.int32)
        hands = np.zeros((2, N_HANDS))
        usual = np.zeros(game.spec.max_actions, dtype=np.float32)
        return cls(states[0], states[1], moves[0], moves[1], hands[0], hands[1], np.zeros(len(usual)), usual)


DESK = types.NamedTuple([BYTES, BYTES, INTS, INTS, DOUBLES, DOUBLES, DOUBLES, FLOATS], Desk)


@helper
def ask(book: Any, state: Any, seat: int, legal: Any, n: int, seated: Any, rng: Any) -> None:
    """Fills `seated.priors` with what the player does on a seat."""
    function = seated.functions[0]
    if function == RANDOM:
        for move in range(n):
            seated.priors[move] = 1.0 / n
        return
    model = words_at(seated.models[0])
    open_evaluator(function)(book, state, seat, legal, n, model, rng, seated.values, seated.priors)


@helper
def expect_any(state: Any, seat: int, desk: Any) -> None:
    """Before anything was done: all hands without the seat's own cards."""
    own = view(state).hand[seat]
    for i in range(N_HANDS):
        desk.weights[i] = 0.0 if HANDS[i] & own else 1.0


@helper
def learn_move(book: Any, size: int, desk: Any, other: int, action: int, doubt: float, seated: Any, rng: Any) -> None:
    """Weighs every hand by how likely the other makes this move with it; a `doubt` of his moves may be any move."""
    rules = open_rules(book)
    for i in range(N_HANDS):
        if desk.weights[i] == 0.0:
            continue
        if action < 40 and not HANDS[i] & bit(action):
            desk.weights[i] = 0.0
            continue
        copy_state(desk.world, desk.state, size)
        view(desk.world).hand[other] = HANDS[i]
        n = rules.actions(desk.world, desk.moves)
        if n > 1:
            ask(book, desk.world, other, desk.moves, n, seated, rng)
            for move in range(n):
                if desk.moves[move] == action:
                    desk.weights[i] *= (1.0 - doubt) * float(seated.priors[move]) + doubt / n


@helper
def learn_points(s: Any, desk: Any, other: int) -> None:
    """Leaves out hands with another envido than the other has shown."""
    if s.shown[other] == NONE:
        return
    for i in range(N_HANDS):
        if desk.weights[i] > 0.0 and envido_points(HANDS[i]) != s.shown[other]:
            desk.weights[i] = 0.0


@helper
def go_through(
    book: Any, size: int, desk: Any, moves: Any, n: int, other: int, doubt: float, seated: Any, rng: Any
) -> None:
    """Makes the first n moves of a hand, as `moves_of` tells them, and weighs what the other may hold by his."""
    s = view(desk.state)
    for i in range(n):
        if moves[LONGEST + i] == other:
            learn_move(book, size, desk, other, int(moves[i]), doubt, seated, rng)
        open_rules(book).apply(desk.state, moves[i])
        learn_points(s, desk, other)


@helper
def add_up(desk: Any) -> None:
    """Adds up the weights, so that hands can be drawn by them."""
    total = 0.0
    for i in range(N_HANDS):
        total += desk.weights[i]
        desk.reached[i] = total


@helper
def draw_hand(desk: Any, rng: Any) -> Any:
    """A hand of the other's, as often as it is likely; they have been added up."""
    sought = uniform(rng) * desk.reached[N_HANDS - 1]
    low, high = 0, N_HANDS - 1
    while low < high:
        middle = (low + high) // 2
        if desk.reached[middle] > sought:
            high = middle
        else:
            low = middle + 1
    return HANDS[low]


@helper
def try_moves(book: Any, size: int, desk: Any, n: int, seat: int, worlds: int, seated: Any, who: int, rng: Any) -> None:
    """Fills `gains`: what each of n moves comes to on average, if both go on as the player (or the guide) does."""
    rules = open_rules(book)
    for move in range(n):
        desk.gains[move] = 0.0
    for _ in range(worlds):
        hand = draw_hand(desk, rng)
        for move in range(n):
            copy_state(desk.world, desk.state, size)
            s = view(desk.world)
            s.hand[1 - seat] = hand
            rules.apply(desk.world, desk.legal[move])
            while s.mover != TERMINAL:
                count = rules.actions(desk.world, desk.moves)
                chosen = choose(book, desk.world, int(s.mover), desk.moves, count, seated, who, rng)
                rules.apply(desk.world, desk.moves[chosen])
            rules.returns(desk.world, seated.values)
            desk.gains[move] += seated.values[seat] / worlds


@helper
def respond_to(
    book: Any, size: int, desk: Any, n: int, seat: int, worlds: int, measured: int, seated: Any, rng: Any
) -> tuple[int, float]:
    """The move that is best as far as the first hands tell; and how much better than the player's, by the second.

    In the first trick the guide says what is best, and so many hands measure it.
    """
    add_up(desk)
    ask(book, desk.state, seat, desk.legal, n, seated, rng)
    for move in range(n):
        desk.usual[move] = seated.priors[move]
    is_first = view(desk.state).trick == 0
    best = 0
    for again in range(2):
        who = PLAYER if not is_first or (again and measured > 0) else GUIDE
        count = measured if is_first and again and measured > 0 else worlds
        try_moves(book, size, desk, n, seat, count, seated, who, rng)
        if not again:
            for move in range(n):
                if desk.gains[move] > desk.gains[best]:
                    best = move
    gain = desk.gains[best]
    for move in range(n):
        gain -= float(desk.usual[move]) * desk.gains[move]
    return best, gain


@helper
def situation(s: Any) -> int:
    """Which of SITUATIONS it is."""
    if s.waits:
        return 0
    return 1 if s.asked else 2 + int(s.trick)


@kernel(types.void(RULEBOOK, DOUBLES, SEATED, DESK, types.int64, types.int64, types.int64, WORDS, DOUBLES))
def _respond(
    rulebook: Any, params: Any, arrays: Any, room: Any, seat: int, worlds: int, measured: int, words: Any, gains: Any
) -> None:
    """Plays hands and adds up what the response gains in each: `gains` is [hands, situations], flat."""
    rules, book, rng = open_rules(rulebook), uint64_ptr(rulebook), uint64_ptr(words)
    seated, desk, size = pointers(arrays), pointers(room), len(room.state)
    for hand in range(len(gains) // len(SITUATIONS)):
        rules.start(desk.state, float64_ptr(params))
        while rules.player(desk.state) == CHANCE:
            rules.apply(desk.state, rules.draw(desk.state, rng))
        expect_any(desk.state, seat, desk)
        s = view(desk.state)
        while s.mover != TERMINAL:
            mover, n = int(s.mover), rules.actions(desk.state, desk.legal)
            move = 0
            if n > 1 and mover == seat:
                move, gain = respond_to(book, size, desk, n, seat, worlds, measured, seated, rng)
                gains[hand * len(SITUATIONS) + situation(s)] += gain
            elif n > 1:
                ask(book, desk.state, mover, desk.legal, n, seated, rng)
                move = draw_move(seated.priors, n, rng)
            action = desk.legal[move]
            if mover != seat:
                learn_move(book, size, desk, mover, action, 0.0, seated, rng)
            rules.apply(desk.state, action)
            learn_points(s, desk, 1 - seat)


class Local(NamedTuple):
    """What came of it."""

    game: Game
    point: float  # what a point is worth there, in the payoffs of the game
    gains: NDArray[np.float64]  # [seats, hands, situations] what the response gains, in those payoffs

    def gain(self, *seats: int) -> tuple[float, float]:
        """What a response on these seats gains in a hand, in points, and the half of a 95 % interval."""
        gains = self.gains[list(seats)].mean(axis=0).sum(axis=1) / self.point
        return float(gains.mean()), float(1.96 * gains.std() / np.sqrt(len(gains)))

    def situations(self) -> dict[str, float]:
        """Where it is gained, in points a hand, both seats together."""
        return dict(zip(SITUATIONS, (self.gains.mean(axis=(0, 1)) / self.point).tolist(), strict=True))

    def to_json(self) -> dict[str, Any]:
        """In points a hand, and in the payoffs of the game."""
        found: dict[str, Any] = {"game": str(self.game), "hands": self.gains.shape[1], "point": self.point}
        for name, seats in (("mano", (0,)), ("pie", (1,)), ("both", (0, 1))):
            gain, margin = self.gain(*seats)
            found[name] = {"points": gain, "margin": margin, "payoff": gain * self.point}
        return found | {"situations": self.situations()}


def single_hand(game: Game) -> Game:
    """The hand that a response is measured on: of a match, its first, paid in equity."""
    if game.package != "tapete.games.truco" or any(map(game.spec.parameters.get, ("flor", "buenas", "anyscore"))):
        raise TapeteError(f"a local response is to truco as it was solved, from a given score; not to {game}")
    return game if game.spec.parameters["hand"] else changed(game, hand=True, equity=True)


def worth_of_a_point(game: Game) -> float:
    """What a point is worth where a hand begins, in the payoffs of the game, whoever is mano."""
    if not game.spec.parameters["equity"]:
        return 1.0
    points, first, second = (int(game.spec.parameters[name]) for name in ("points", "score0", "score1"))
    table = chances(game.spec)

    def chance(mine: int, other: int) -> float:  # of winning the match, whoever is mano
        if mine == points or other == points:
            return float(mine == points)
        return float(table[mine, other] + 1 - table[other, mine]) / 2

    return chance(first + 1, second) - chance(first, second + 1)


def respond(
    game: Game,
    player: Evaluator,
    hands: int,
    *,
    worlds: int = WORLDS,
    guide: Evaluator | None = None,
    measured: int | None = None,
    seed: int = 1,
    tell: Callable[[int], bool] = lambda done: True,
) -> Local:
    """Plays so many hands of a `single_hand` on each seat; `tell` hears how many are done, and stops it by False.

    :param worlds: hands of the other's by which a move is chosen, and as many again by which it is measured.
    :param guide: chooses moves of the first trick in place of a player who thinks for long: what is gained stays true.
    :param measured: hands that measure moves of the first trick, if not as many as chose them; with 0 it is the guide
        who goes on from there, so that what is gained in the first trick is an estimate.
    """
    players, desk = [player, guide or player], Desk.of(game)
    models = [each.model for each in players]
    measuring = worlds if measured is None else measured
    seated = Seated.of(game, players, models)
    gains = np.zeros((2, hands, len(SITUATIONS)))
    done = 0
    while done < hands and tell(done):
        n = min(CHUNK, hands - done)
        for seat in range(2):
            words = Rng(seed, "local", seat, done).words.copy()
            part = gains[seat, done : done + n].reshape(-1)
            _respond(game.rulebook, game.params, seated, desk, seat, worlds, measuring, words, part)
        done += n
    return Local(game, worth_of_a_point(game), gains[:, :done])
