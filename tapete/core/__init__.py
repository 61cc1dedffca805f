"""The contract between rules and algorithms, and what people hold in their hands: games, states, views, records."""

from tapete.core.contract import CHANCE, TERMINAL, Rules
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.game import Game, State, View
from tapete.core.names import Call, make, variants
from tapete.core.record import Record
from tapete.core.rng import Rng
from tapete.core.scene import Board, Move, Note, Place, Scene, Score, Things
from tapete.core.spec import Field, Spec
from tapete.core.thought import Thought, check_asked, choices

__all__ = [
    "CHANCE",
    "TERMINAL",
    "Board",
    "Call",
    "Field",
    "Game",
    "IllegalAction",
    "Move",
    "Note",
    "Place",
    "Record",
    "Rng",
    "Rules",
    "Scene",
    "Score",
    "Spec",
    "State",
    "TapeteError",
    "Things",
    "Thought",
    "View",
    "check_asked",
    "choices",
    "make",
    "variants",
]
