"""Texas hold'em with fixed limits, for two to ten."""

import numpy as np

from tapete.core.errors import TapeteError
from tapete.core.spec import Field, Spec, within

MAX_PLAYERS = 10
MAX_CAP = 6
STREETS = ("preflop", "flop", "turn", "river")
SMALL_BLIND, BIG_BLIND = 1, 2
BETS = (2, 2, 4, 4)  # what a bet or a raise adds on each street
NO_LIMIT = 32_000  # chips that nobody can spend


def holdem(*, players: int = 2, cap: int = 4, rake: float = 0.0, rake_cap: float = 0.0, stacks: int = 0) -> Spec:
    """One hand of hold'em, paid in chips: blinds 1 and 2, bets of 2, 2, 4 and 4, at most `cap` of them a street."""
    within("players", players, 2, MAX_PLAYERS)
    within("cap", cap, 1, MAX_CAP)
    within("rake", rake, 0, 0.5)
    within("rake_cap", rake_cap, 0, NO_LIMIT)
    if stacks:  # 0: nobody ever runs out
        within("stacks", stacks, BIG_BLIND, NO_LIMIT)
    most = most_paid(cap, stacks)
    return Spec(
        title=f"Texas hold'em, fixed limit, {players} players",
        players=players,
        actions=3,
        max_actions=3,
        outcomes=52,
        longest=2 * players + 5 + most_moves(players, cap),
        utility=(-most, (players - 1) * most),  # a seat loses what it paid, and wins what the others did
        zero_sum=rake == 0,
        hidden=True,
        observations=(observation(players, cap),),
        features=(
            Field(name="action", shape=(3,), about="one-hot: fold, check or call, bet or raise"),
            Field(name="chips", about="what it adds to the pot, in big bets"),
        ),
        params=(players, cap, rake, rake_cap, stacks or NO_LIMIT),
    )


def most_paid(cap: int, stacks: int) -> int:
    """What a seat can put into the pot: every bet of every street, or all it has."""
    return min(cap * sum(BETS), stacks or NO_LIMIT)


def most_moves(players: int, cap: int) -> int:
    """Of the players in one hand.

    After a bet all others answer: `players - 1` moves, the last of which may be a raise. So each of the `cap` bets of a
    street brings at most that many. After the flop there are as many checks before the first bet, and then that bet
    itself; preflop there is the move of the big blind, who is asked though nobody has raised.
    """
    others = players - 1
    return (1 + cap * others) + 3 * (1 + (cap + 1) * others)


def observation(players: int, cap: int) -> tuple[Field, ...]:
    """Seats are counted from the observer: it is seat 0, the next to act after it seat 1."""
    return (
        Field(name="hand", shape=(4, 13), about="own cards, by suit and rank"),
        Field(name="board", shape=(3, 4, 13), about="the flop, the turn and the river, by suit and rank"),
        Field(name="street", shape=(4,), about="one-hot: preflop, flop, turn, river"),
        Field(name="position", shape=(players,), about="one-hot: the observer's seat at the table"),
        Field(name="to_move", shape=(players,), about="one-hot; none while cards are dealt and at the end"),
        Field(name="playing", shape=(players,), about="1 for seats that haven't folded"),
        Field(name="paid", shape=(players,), about="chips put in so far, of the most that is possible"),
        Field(name="to_call", about="chips that the observer lacks to stay in, in big bets"),
        Field(
            name="line", shape=(4, cap + 1, players, 3), about="[street, bets standing, seat]: folded, called, raised"
        ),
    )


def equity(hand: str, board: str = "", *, opponents: int = 1, samples: int = 20_000) -> float:
    """The share of the pot that a hand wins on average if nobody folds, whatever the others hold.

    Cards are written as in notation. From the flop on, one opponent's hands are all tried, with all that may come;
    else it is simulated, always with the same draws.

    >>> equity("Ah Ad", "Ac As 2d 7h 9c"), round(equity("AhKh", "QhJh2c"), 4)
    (1.0, 0.7633)
    >>> 0.30 < equity("AsAh", opponents=9) < 0.32
    True
    """
    from tapete.games.holdem.notation import cards_in
    from tapete.games.holdem.strength import exact_strength, strengths

    cards = cards_in(hand, 2), cards_in(board, 0, 3, 4, 5)
    within("opponents", opponents, 1, MAX_PLAYERS - 1)
    within("samples", samples, 1, 10**9)
    if cards[0] & cards[1]:
        raise TapeteError(f"a card of {hand!r} is on the board {board!r} too")
    if opponents == 1 and cards[1]:
        return exact_strength(*cards)
    hands, boards = (np.array([held], dtype=np.uint64) for held in cards)
    return float(strengths(hands, boards, samples=samples)[0, opponents - 1])


VARIANTS = (holdem,)
