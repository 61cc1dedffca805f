"""Goofspiel: bids for prizes, made in secret with one's own suit of cards."""

from tapete.core.errors import TapeteError
from tapete.core.spec import Field, Spec, within

MOST_CARDS = 13
MOST_PLAYERS = 3  # one suit each, and diamonds for the prizes
PRIZES = ("random", "ascending", "descending")
PAYS = ("win", "difference", "points")


def goofspiel(
    cards: int = 13, *, players: int = 2, sealed: bool = False, prizes: str = "random", pays: str = "win"
) -> Spec:
    """Everybody bids one of `cards` cards for each prize; the highest bid wins it, equal highest bids win nothing.

    With `sealed` bids only the winner is told, never the bids. `prizes` come up in random, ascending or descending
    order. `pays` win (shared among those with the most points), the difference to the average, or the points.
    """
    within("cards", cards, 2, MOST_CARDS)
    within("players", players, 2, MOST_PLAYERS)
    for name, value, words in (("prizes", prizes, PRIZES), ("pays", pays, PAYS)):
        if value not in words:
            raise TapeteError(f"{name} must be {', '.join(words[:-1])} or {words[-1]}, not {value!r}")
    if sealed and players > 2:
        raise TapeteError("sealed bids are for two players")
    points = cards * (cards + 1) // 2
    low, high = {"win": (-1, 1), "difference": (-points / players, points * (players - 1) / players)}.get(
        pays, (0, points)
    )
    return Spec(
        title=f"Goofspiel, {players} players, {cards} cards{', sealed bids' if sealed else ''}",
        players=players,
        actions=cards,
        max_actions=cards,
        outcomes=cards if prizes == "random" else 0,
        longest=(cards - 1) * (players + (prizes == "random")),  # the last cards are played without being asked for
        utility=(low, high),
        zero_sum=pays != "points",
        hidden=True,
        observations=(
            (
                Field(name="seat", shape=(players,), about="one-hot"),
                Field(name="hand", shape=(cards,), about="own cards"),
                Field(name="prize", shape=(cards,), about="for which bids are made, one-hot"),
                Field(name="prizes", shape=(cards,), about="that are still to come"),
                Field(name="points", shape=(players,), about="of each seat, of all there are"),
                Field(name="bid", shape=(cards,), about="own, for this prize, one-hot"),
                Field(name="others", shape=(players, cards), about="hands of all seats before this prize; 0 if sealed"),
                Field(name="results", shape=(cards, 3), about="if sealed, by own bid: won, lost, equal"),
            ),
        ),
        features=(Field(name="card", shape=(cards,), about="one-hot"),),
        params=(cards, players, sealed, PRIZES.index(prizes), PAYS.index(pays)),
    )


VARIANTS = (goofspiel,)
