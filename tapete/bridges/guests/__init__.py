"""OpenSpiel's games as ours: ``tapete.make("openspiel(leduc_poker)")``, for the arena, searches and learners.

Between the brackets stands the game's name as OpenSpiel writes it. Our rules are eleven addresses of C functions; a
guest's lead back into Python (`rules.py`), where the bytes of a state, all actions so far, stand for one of OpenSpiel's
states (`nodes.py`). So everything runs, at the speed of OpenSpiel from Python and not of compiled rules.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.bridges.guests.nodes import Guests, loaded
from tapete.core.contract import Rules
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.spec import Field, Spec

MOST_PLAYERS = 10
LONGEST_HISTORY = 100_000  # actions: a state is all of them
MOST_ACTIONS = 1 << 20


class Guest(Game):
    """A game of OpenSpiel's."""

    @property
    def guests(self) -> Guests:
        """OpenSpiel's states of the game, in this process."""
        return loaded(str(self.spec.parameters["game"]))

    @cached_property
    def rules(self) -> Rules:
        """The functions of the contract."""
        from tapete.bridges.guests.rules import rules_of

        return rules_of(self.guests)

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """A state: the actions so far, of chance too, and whether something went wrong in it."""
        return np.dtype([("length", "i4"), ("broken", "i4"), ("moves", "i4", (self.spec.longest,))])

    @cached_property
    def _addresses(self) -> NDArray[np.uint64]:
        return np.array([function.address for function in self.rules], dtype=np.uint64)

    @property
    def rulebook(self) -> NDArray[np.uint64]:
        """The addresses; an error that a kernel met since they were last asked for is raised here."""
        self.guests.complain()
        return self._addresses

    def __reduce__(self) -> tuple[Any, ...]:
        return Guest, (self.spec, self.package)


def make(text: str) -> Guest:
    """The game that a text names: ``openspiel(kuhn_poker)``, ``openspiel(liars_dice(numdice=2))``."""
    text = text.strip()
    _, bracket, rest = text.partition("(")
    if not bracket or not rest.endswith(")") or not rest[:-1].strip():
        raise TapeteError(
            f"{text[:60]!r} is not a name; write openspiel(kuhn_poker), with OpenSpiel's name of the game"
        )
    return Guest(spec_of(rest[:-1].strip()), __name__)


def spec_of(name: str) -> Spec:
    """What OpenSpiel tells of a game, as ours declare it."""
    guests = loaded(name)
    game, kind = guests.game, guests.game.get_type()
    longest = game.max_game_length() + game.max_chance_nodes_in_history()
    for what, value, most in (
        ("seats", game.num_players(), MOST_PLAYERS),
        ("actions", game.num_distinct_actions(), MOST_ACTIONS),
        ("moves in the longest game", longest, LONGEST_HISTORY),
    ):
        if not 0 < value <= most:
            raise TapeteError(f"openspiel({name}) has {value} {what}, and not between 1 and {most}")
    return Spec(
        title=kind.long_name,
        players=game.num_players(),
        actions=game.num_distinct_actions(),
        max_actions=game.num_distinct_actions(),
        outcomes=game.max_chance_outcomes(),
        longest=longest,
        utility=(game.min_utility(), game.max_utility()),
        zero_sum=guests.zero_sum,
        hidden=guests.hidden,
        observations=((Field(name="tensor", shape=tuple(guests.tensor_shape), about=guests.tensor_about),),),
        features=(Field(name="action", shape=(game.num_distinct_actions(),), about="one-hot"),),
        name=f"openspiel({name})",
        parameters={"game": name},
    )
