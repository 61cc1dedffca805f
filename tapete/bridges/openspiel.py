"""Our games in OpenSpiel: importing this module registers every one of them as ``python_tapete_<name>``.

>>> import pyspiel, tapete.bridges.openspiel
>>> pyspiel.load_game("python_tapete_truco(points=15)").num_distinct_actions()
46

A state there holds one `bytes` object: its base class deep-copies all that a state of Python holds, whenever it is
cloned. The other direction, their games as ours, is `tapete.bridges.guests`.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from tapete.bridges import needs
from tapete.bridges.raw import Raw
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.game import Game
from tapete.core.names import make, needs_parameters, variants
from tapete.core.rng import Rng
from tapete.core.spec import Spec, Value

pyspiel = needs("pyspiel", "openspiel")

PREFIX = "python_tapete_"
WHO = {CHANCE: pyspiel.PlayerId.CHANCE, TERMINAL: pyspiel.PlayerId.TERMINAL}
MOST_PLAYERS = 10
REMEMBERED = 1 << 14  # lines of text


class OurGame(pyspiel.Game):  # type: ignore[name-defined, misc]
    """A game of ours as OpenSpiel sees it; there is a class for each name."""

    name: str

    def __init__(self, parameters: dict[str, Value] | None = None) -> None:
        name = self.name
        self.ours: Game = make(f"{name}({','.join(_said(parameters or {}))})")
        spec = self.ours.spec
        info = pyspiel.GameInfo(
            num_distinct_actions=spec.actions,
            max_chance_outcomes=spec.outcomes,
            num_players=spec.players,
            min_utility=spec.utility[0],
            max_utility=spec.utility[1],
            utility_sum=0.0 if spec.zero_sum else None,
            max_game_length=spec.longest,
        )
        super().__init__(game_type(name, spec), info, parameters or {})
        self.raw = Raw(self.ours)
        # The game is an attribute of the class and not of its states: what a state has is copied with it.
        members = {"ours": self.ours, "raw": self.raw, "describe": staticmethod(_describer(self.ours))}
        self._state = type("OurState", (OurState,), members)

    def new_initial_state(self) -> OurState:
        """The state before anything happened."""
        return self._state(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """What an observer of this kind sees; called by OpenSpiel."""
        if params:
            raise TapeteError(f"observers of our games take no parameters, not {params}")
        return Observer(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class OurState(pyspiel.State):  # type: ignore[name-defined, misc]
    """A state of one of our games; `data` is all of it."""

    ours: Game
    raw: Raw
    describe: Callable[[bytes, int], str]

    def __init__(self, game: OurGame) -> None:
        super().__init__(game)
        self.data = self.raw.first

    def current_player(self) -> int:
        """Who moves, as OpenSpiel numbers it."""
        who = self.raw.player(self.data)
        return who if who >= 0 else WHO[who]

    def is_terminal(self) -> bool:
        """Whether the game has ended."""
        return bool(self.raw.player(self.data) == TERMINAL)

    def _legal_actions(self, player: int) -> list[int]:
        return self.raw.legal(self.data) if self.raw.player(self.data) == player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What chance may do, with probabilities."""
        return self.raw.outcomes(self.data)

    def _apply_action(self, action: int) -> None:
        if not self.raw.may(self.data, action):
            raise IllegalAction(f"action {action} can't be played here: {self}")
        self.data = self.raw.apply(self.data, action)

    def returns(self) -> list[float]:
        """The payoffs; zeros until the game is over."""
        return self.raw.returns(self.data)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.ours.write(np.frombuffer(self.data, dtype=np.uint8), action)

    def resample_from_infostate(self, player: int, sampler: Any) -> OurState:
        """A world that the seat can't tell from this one, for searches; as all that is imagined, without a history."""
        words = Rng("openspiel", *(float(sampler()).hex() for _ in range(4))).words
        world: OurState = self.get_game().new_initial_state()
        world.data = self.raw.redeal(self.data, player, words.ctypes.data)
        return world

    def seen(self, seat: int) -> str:
        """What the seat sees at this moment."""
        return self.describe(self.data, seat)

    def known(self, seat: int) -> str:
        """What the seat sees, and the key of all that it has ever seen."""
        return f"{self.seen(seat)} [{self.raw.infoset(self.data, seat):016x}]"

    def __str__(self) -> str:
        """What all seats see; the number behind it is the same for equal states only."""
        digest = hashlib.blake2b(self.data, digest_size=8).hexdigest()
        return "\n".join([*(self.seen(seat) for seat in range(self.ours.players)), f"state {digest}"])


class Observer:
    """What a seat sees, as numbers and as a text; with perfect recall the text tells all that it has ever seen.

    A seat's private knowledge and the public one come together in our games, so there is no observer of one of them
    alone. One with the private knowledge of all players has the observations of all seats, one after another.
    """

    def __init__(self, game: OurGame, kind: Any) -> None:
        if not kind.public_info or kind.private_info == pyspiel.PrivateInfoType.NONE:
            raise TapeteError("our games don't tell what is public from what a seat knows: ask for both together")
        spec = game.ours.spec
        self.recall = kind.perfect_recall
        self.everybody = range(spec.players) if kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS else None
        self.observe = game.raw.observe
        rows = spec.players if self.everybody else 1
        self._table = np.zeros((rows, spec.observation_size), dtype=np.float32)
        self.tensor = self._table.reshape(-1)
        self.dict = {"observations": self._table} if self.everybody else dict(_fields(spec, self.tensor))

    def set_from(self, state: OurState, player: int) -> None:
        """Fills `tensor`, and with it `dict`, with what the seat sees of a state."""
        self.tensor.fill(0)  # seats may have shorter observations than others
        for row, seat in zip(self._table, self.everybody or (player,), strict=True):
            self.observe(state.data, seat, row.ctypes.data)

    def string_from(self, state: OurState, player: int) -> str:
        """The same in words."""
        tell = state.known if self.recall else state.seen
        return "\n".join(tell(seat) for seat in self.everybody or (player,))


def _describer(game: Game) -> Callable[[bytes, int], str]:
    """What a seat sees of a state, in words; remembered, as solvers come to the same states again and again."""

    @lru_cache(maxsize=REMEMBERED)
    def describe(data: bytes, seat: int) -> str:
        return game.describe(np.frombuffer(data, dtype=np.uint8), seat)

    return describe


def _fields(spec: Spec, tensor: np.ndarray[Any, np.dtype[np.float32]]) -> Iterator[tuple[str, Any]]:
    """The parts of an observation by name, as views; one part where they are not the same for all seats."""
    if len(spec.observations) > 1:
        yield "observation", tensor
        return
    at = 0
    for field in spec.observation(0):
        yield field.name, tensor[at : at + field.size].reshape(field.shape)
        at += field.size


def _said(parameters: dict[str, Value]) -> Iterator[str]:
    """Parameters as we write them; an empty text stands for what must be said and wasn't."""
    for key, value in parameters.items():
        if value != "":
            yield f"{key}={str(value).lower() if isinstance(value, bool) else value}"


def game_type(name: str, spec: Spec | None = None) -> Any:
    """What OpenSpiel is told of a game before it is made; more precisely once its parameters are known."""
    function = variants()[name].spec
    parameters = inspect.signature(function).parameters.values()
    kind = pyspiel.GameType
    chance = spec is None or spec.has_chance
    return kind(
        short_name=PREFIX + name,
        long_name=spec.title if spec else (function.__doc__ or name).splitlines()[0].rstrip("."),
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC if chance else kind.ChanceMode.DETERMINISTIC,
        information=kind.Information.IMPERFECT_INFORMATION
        if spec is None or spec.hidden
        else kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM if spec and spec.zero_sum else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=spec.players if spec else MOST_PLAYERS,
        min_num_players=spec.players if spec else 1,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={p.name: "" if p.default is p.empty else p.default for p in parameters},
        default_loadable=not needs_parameters(function),
    )


def register() -> None:
    """Makes every game of ours known to OpenSpiel; done once, when this module is imported."""
    for name, variant in variants().items():
        spec = None if needs_parameters(variant.spec) else variant.spec()
        # A class, and not any function: OpenSpiel lets go of it when Python has already ended, which ends a function.
        pyspiel.register_game(game_type(name, spec), type("OurGame", (OurGame,), {"name": name}))


register()
