"""What moves do to a state."""

from typing import Any

from tapete.core.compile import helper
from tapete.games.domino.masks import NO_TILES, only
from tapete.games.domino.state import LEFT, OVER, PLAY, RIGHT, TAKEN
from tapete.games.domino.tiles import HIGH, LOW, POINTS


@helper
def take_action(s: Any) -> int:
    """The ids of moves: 2 x tile + end to lay a tile, then take, then pass."""
    return 2 * s.tiles


@helper
def pass_action(s: Any) -> int:
    """The last id."""
    return 2 * s.tiles + 1


@helper
def deal(s: Any, tile: int) -> None:
    """Seat 0 gets all its tiles first."""
    seat = s.given // s.each
    s.hand[seat] |= only(tile)
    s.dealt[seat] |= only(tile)
    s.boneyard ^= only(tile)
    s.given += 1
    if s.given == 2 * s.each:
        s.stage = PLAY


@helper
def give(s: Any, tile: int) -> None:
    """A tile from the boneyard. It counts as kept until it is laid."""
    seat = s.turn
    s.hand[seat] |= only(tile)
    s.boneyard ^= only(tile)
    s.kept[seat, s.keeps[seat]] = tile
    s.keeps[seat] += 1
    s.stage = TAKEN


@helper
def note_origin(s: Any, seat: int, tile: int) -> None:
    """Remembers what everybody can tell of where a tile that is laid came from."""
    if s.stage == TAKEN:
        s.laid_at_once[seat] |= only(tile)
        s.keeps[seat] -= 1
    else:
        s.laid[seat] |= only(tile)
        s.earliest[tile] = max(s.lacks[seat, LOW[tile]], s.lacks[seat, HIGH[tile]])
        s.latest[tile] = s.keeps[seat]


@helper
def end_turn(s: Any, passing: bool) -> None:
    """The other's turn, unless the game is over: someone is out of tiles, or the line is blocked."""
    is_blocked = passing and s.passed and s.boneyard == NO_TILES
    s.stage = OVER if is_blocked or s.hand[s.turn] == NO_TILES else PLAY
    s.passed = passing
    s.turn = 1 - s.turn


@helper
def lay(s: Any, tile: int, end: int) -> None:
    """Puts a tile at an end of the line, or begins the line with it."""
    seat = s.turn
    note_origin(s, seat, tile)
    s.hand[seat] ^= only(tile)
    if s.length == 0:
        s.ends[LEFT] = LOW[tile]
        s.ends[RIGHT] = HIGH[tile]
    else:
        s.ends[end] = POINTS[tile] - s.ends[end]
    s.line[s.length] = 2 * tile + end
    s.length += 1
    end_turn(s, False)


@helper
def show_lack(s: Any) -> None:
    """Who takes or passes shows that none of his tiles fits: one that does must be kept after the ones he has."""
    next_keep = s.keeps[s.turn] + 1
    s.lacks[s.turn, s.ends[LEFT]] = next_keep
    s.lacks[s.turn, s.ends[RIGHT]] = next_keep
