"""OpenSpiel's states by the actions that lead there, and what each seat knows in them."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from tapete.bridges import needs
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.errors import TapeteError

REMEMBERED = 1 << 14  # nodes
WORD = 4  # bytes of an action in a history


class Node:
    """A state of OpenSpiel's. Its history is all actions so far, 4 bytes each."""

    def __init__(self, guests: Guests, state: Any, history: bytes, parent: Node | None) -> None:
        self.guests, self.state, self.history, self.parent = guests, state, history, parent
        self._texts: dict[int, str] = {}
        self._keys: dict[int, int] = {}

    @cached_property
    def who(self) -> int:
        """Who moves, as we number it."""
        if self.state.is_terminal():
            return TERMINAL
        return CHANCE if self.state.is_chance_node() else int(self.state.current_player())

    @cached_property
    def options(self) -> dict[int, float]:
        """What may be done here, ascending, and with what probability where it is chance; else 1."""
        if self.who == CHANCE:
            return {int(outcome): prob for outcome, prob in sorted(self.state.chance_outcomes()) if prob > 0}
        return dict.fromkeys(sorted(map(int, self.state.legal_actions())), 1.0) if self.who >= 0 else {}

    @cached_property
    def words(self) -> dict[int, str]:
        """How the options are written: as OpenSpiel does, in one word, with the number where that is not enough."""
        player = self.state.current_player()
        said = {each: re.sub(r"[\s:]+", "_", self.state.action_to_string(player, each)) for each in self.options}
        lower = [word.lower() for word in said.values()]
        return {
            each: word if word and lower.count(word.lower()) == 1 else f"{word}#{each}" for each, word in said.items()
        }

    def text(self, seat: int) -> str:
        """What OpenSpiel says that the seat knows here, in one line."""
        if seat not in self._texts:
            self._texts[seat] = " / ".join(self.guests.told(self.state, seat).splitlines())
        return self._texts[seat]

    def line(self, seat: int) -> str:
        """What the seat sees here. Once the game is over, everything is turned up.

        Who waits for others sees that they, or chance, did something: that is our contract. It is forgotten when the
        seat has to move, where OpenSpiel tells all that it knows: in a phantom game nobody hears how often the other
        tried.
        """
        if self.who == TERMINAL:
            return f"seat {seat}, over: {self.state.history_str()}"
        if self.who == seat and self.guests.recalls:
            return f"seat {seat}, to move: {self.text(seat)}"
        turn = "chance" if self.who == CHANCE else f"seat {self.who}"
        return f"seat {seat}, after {len(self.history) // WORD} steps, {turn} to move: {self.text(seat)}"

    def key(self, seat: int) -> int:
        """Names what the seat knows: the line, and all before it where OpenSpiel's text has no perfect recall."""
        if seat not in self._keys:
            before = b""
            if not self.guests.recalls and self.parent is not None:
                before = self.parent.key(seat).to_bytes(8, "little")
            digest = hashlib.blake2b(before + self.line(seat).encode(), digest_size=8).digest()
            self._keys[seat] = int.from_bytes(digest, "little")
        return self._keys[seat]

    def trace(self, seat: int) -> int | str:
        """What the seat still knows of this state later on."""
        return self.text(seat) if self.guests.recalls else self.key(seat)

    def path(self, seat: int) -> set[int | str]:
        """The traces of all states on the way here."""
        node: Node | None = self
        found = set()
        while node is not None:
            found.add(node.trace(seat))
            node = node.parent
        return found


class Guests:
    """A game of OpenSpiel's, and those of its states that were met lately."""

    def __init__(self, name: str) -> None:
        self.pyspiel = pyspiel = needs("pyspiel", "openspiel")
        short, known = name.partition("(")[0], pyspiel.registered_names()
        if short not in known:
            close = difflib.get_close_matches(short, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "`pyspiel.registered_names()` lists them all"
            raise TapeteError(f"OpenSpiel has no game {short[:60]!r}; {hint}")
        try:
            game = pyspiel.load_game(name)
            if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
                game = pyspiel.convert_to_turn_based(game)
        except (pyspiel.SpielError, ValueError) as error:
            raise TapeteError(f"OpenSpiel can't load {name[:60]!r}: {str(error).splitlines()[0][:100]}") from None
        self.name, self.game, kind, types = name, game, game.get_type(), pyspiel.GameType
        if kind.dynamics != types.Dynamics.SEQUENTIAL or kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
            raise TapeteError(f"openspiel({name}) has moves that can't be listed one after another")
        if not (kind.provides_information_state_string or kind.provides_observation_string):
            raise TapeteError(f"openspiel({name}) doesn't tell what a seat knows")
        self.hidden = kind.information != types.Information.PERFECT_INFORMATION
        self.zero_sum = kind.utility == types.Utility.ZERO_SUM
        self.recalls = kind.provides_information_state_string
        self.tensor_shape, self.tensor_about, self.tensor = self._find_tensor(kind)
        self.root = Node(self, game.new_initial_state(), b"", None)
        self._nodes: dict[bytes, Node] = {}
        self._error: BaseException | None = None

    def _find_tensor(self, kind: Any) -> tuple[list[int], str, Any]:
        """The shape of what a network is fed, what it is called, and how to get it."""
        game = self.game
        if kind.provides_information_state_tensor:
            return (
                game.information_state_tensor_shape(),
                "OpenSpiel's information state",
                lambda state, seat: state.information_state_tensor(seat),
            )
        if kind.provides_observation_tensor:
            return (
                game.observation_tensor_shape(),
                "OpenSpiel's observation",
                lambda state, seat: state.observation_tensor(seat),
            )
        return [1], "nothing: OpenSpiel has no numbers for this game", lambda state, seat: [0.0]

    def told(self, state: Any, seat: int) -> str:
        """All that a seat knows; where OpenSpiel only says what it sees, its own moves are added."""
        if self.recalls:
            return str(state.information_state_string(seat))
        own = [str(step.action) for step in state.full_history() if step.player == seat]
        return f"{state.observation_string(seat)} / own moves: {' '.join(own) or 'none'}"

    def node(self, history: bytes) -> Node:
        """The state that a history leads to."""
        at, found = len(history), None
        while at and (found := self._nodes.get(history[:at])) is None:  # another thread may forget nodes at any time
            at -= WORD
        node = found or self.root
        for end in range(at + WORD, len(history) + WORD, WORD):
            node = self._made(node, history[:end])
        return node

    def child(self, node: Node, action: int) -> Node:
        """The state after an action."""
        history = node.history + action.to_bytes(WORD, "little")
        return self._nodes.get(history) or self._made(node, history)

    def children(self, node: Node) -> Iterator[tuple[Node, float]]:
        """What may come next, with the probability of chance."""
        for action, prob in node.options.items():
            yield self.child(node, action), prob

    def _made(self, parent: Node, history: bytes) -> Node:
        node = Node(self, parent.state.child(int.from_bytes(history[-WORD:], "little")), history, parent)
        if not self.recalls:
            for seat in range(self.game.num_players()):
                node.key(seat)  # while that of its parent is at hand
        if len(self._nodes) >= REMEMBERED:
            self._nodes.clear()
        self._nodes[history] = node
        return node

    def remember(self, error: BaseException) -> None:
        """Keeps an error that can't be raised where it happened, inside of a kernel."""
        if self._error is None:
            self._error = error

    def complain(self) -> None:
        """Raises what was kept."""
        error, self._error = self._error, None
        if isinstance(error, Exception):
            what = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise TapeteError(f"openspiel({self.name}): {what}") from error
        if error is not None:  # somebody pressed Ctrl-C
            raise error


@cache
def loaded(name: str) -> Guests:
    """The game of that name, once a process."""
    return Guests(name)
