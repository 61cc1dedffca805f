"""The calls of truco and what they cost."""

# Actions after the forty cards.
ENVIDO = 40
REAL_ENVIDO = 41
FALTA_ENVIDO = 42
RAISE = 43  # truco, retruco or vale cuatro
QUIERO = 44
NO_QUIERO = 45
MAZO = 46
FLOR = 47
CONTRAFLOR = 48
AL_RESTO = 49

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

# The same of two flores (flor, contraflor, contraflor al resto). Where the other has none, flor pays FLOR_ALONE.
FLORES: dict[str, tuple[int, int]] = {
    "L": (4, 3),
    "LC": (6, 4),
    "LX": (FALTA, 4),
    "LCX": (FALTA, 6),
}
FLOR_LETTERS = "LCX"
FLOR_ALONE = 3

MALAS = 15  # the first half of a match to 30


def falta(points: int, winner: int, loser: int) -> int:
    """What a falta envido or a contraflor al resto is worth: the match in malas, else what the leader lacks."""
    if points > MALAS and winner < MALAS and loser < MALAS:
        return points - winner
    return points - max(winner, loser)
