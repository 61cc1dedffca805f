"""The calls of truco and what they cost."""

# Actions after the forty cards.
ENVIDO = 40
REAL_ENVIDO = 41
FALTA_ENVIDO = 42
RAISE = 43  # truco, retruco or vale cuatro
QUIERO = 44
NO_QUIERO = 45
MAZO = 46

TRUCO = ("", "", "truco", "retruco", "vale-cuatro")  # by level: what the hand is worth

FALTA = -1  # the price is what `falta` says

# The calls of an envido (envido, real, falta): what its winner gets if the last is accepted, the last caller if not.
CHAINS: dict[str, tuple[int, int]] = {
    "": (0, 0),
    "E": (2, 1),
    "R": (3, 1),
    "F": (FALTA, 1),
    "EE": (4, 2),
    "ER": (5, 2),
    "EF": (FALTA, 2),
    "RF": (FALTA, 3),
    "EER": (7, 4),
    "EEF": (FALTA, 4),
    "ERF": (FALTA, 5),
    "EERF": (FALTA, 7),
}
LONGEST_CHAIN = 4
LETTERS = "ERF"

MALAS = 15  # the first half of a match to 30


def falta(points: int, winner: int, loser: int) -> int:
    """What the falta envido is worth at these scores: the match in malas, else what the leader lacks."""
    if points > MALAS and winner < MALAS and loser < MALAS:
        return points - winner
    return points - max(winner, loser)
