"""One seat of our games as a Gymnasium environment: alone against agents, or many at once against compiled players.

>>> from tapete.bridges import gymnasium
>>> env = gymnasium.env("leduc", opponent="equilibrium")
>>> observation, info = env.reset(seed=1)
>>> observation.shape, info["action_mask"].tolist()
((38,), [0, 1, 1])

An illegal action ends the episode, as nothing keeps a learner that knows no masks from one: it is paid the least that
the game can pay, and ``info["illegal"]`` is true.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.agents import Policy, choose, load
from tapete.agents.compiled import Compiled
from tapete.bridges import needs
from tapete.bridges.playing import RENDER_MODES, Playing
from tapete.core.contract import TERMINAL
from tapete.core.errors import TapeteError
from tapete.core.evaluator import MakeEvaluator
from tapete.core.floor import PATIENCE
from tapete.core.game import Game
from tapete.core.names import make, needs_parameters, variants
from tapete.core.players import random
from tapete.core.rng import Rng
from tapete.core.tables import Tables

gymnasium = needs("gymnasium", "gymnasium")
vector = needs("gymnasium.vector", "gymnasium")
spaces = gymnasium.spaces

Opponent = str | MakeEvaluator  # an agent by name, or a compiled player


def env(game: Game | str, *, opponent: Opponent = "random", seat: int = 0, render_mode: str | None = None) -> SeatEnv:
    """One seat; all others are the opponent."""
    return SeatEnv(game, opponent=opponent, seat=seat, render_mode=render_mode)


def vector_env(
    game: Game | str, num_envs: int = 1, *, opponent: Opponent = "random", seat: int = 0, threads: int = 1
) -> SeatVectorEnv:
    """The same seat at many tables; all others are a compiled player."""
    return SeatVectorEnv(game, num_envs, opponent=opponent, seat=seat, threads=threads)


def _checked(game: Game | str, seat: int) -> Game:
    game = make(game) if isinstance(game, str) else game
    if not 0 <= seat < game.players:
        raise TapeteError(f"{game} has seats 0 to {game.players - 1}, not {seat}")
    return game


def _compiled(opponent: Opponent) -> Opponent:
    return random if opponent == "random" else opponent


def _observations(game: Game) -> Any:
    return spaces.Box(-np.inf, np.inf, (game.spec.observation_size,), np.float32)


class SeatEnv(gymnasium.Env):  # type: ignore[name-defined, misc]
    """Episodes are games in which the seat has to move at least once; its payoff is the reward of the last step."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self, game: Game | str, *, opponent: Opponent = "random", seat: int = 0, render_mode: str | None = None
    ) -> None:
        if render_mode not in (None, *RENDER_MODES):
            raise TapeteError(f"render_mode must be one of {', '.join(RENDER_MODES)}, not {render_mode!r}")
        self.game, self.seat, self.render_mode = _checked(game, seat), seat, render_mode
        self.playing, self.opponent = Playing(self.game), _compiled(opponent)
        self.observation_space = _observations(self.game)
        self.action_space = spaces.Discrete(self.game.spec.actions)
        self._others = self._sit()

    def _sit(self) -> dict[int, Policy]:
        """The others, by seat."""
        seats = [seat for seat in range(self.game.players) if seat != self.seat]
        if isinstance(self.opponent, str):
            return {seat: load(self.opponent, self.game) for seat in seats}
        return {seat: Compiled(self.opponent()) for seat in seats}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a game."""
        super().reset(seed=seed)
        rng = Rng("gymnasium", int(self.np_random.integers(1 << 63)))
        for number in range(PATIENCE):
            self._rng = rng.spawn(number, "others")
            if isinstance(self.opponent, str):  # an agent may remember the game that it plays
                self._others = self._sit()
            self.playing.begin(rng.spawn(number))
            self._wait()
            if self.playing.who == self.seat:
                return self._seen(illegal=False)
        raise TapeteError(f"{PATIENCE} games of {self.game} in a row ended before seat {self.seat} had to move")

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """A move of the seat, and those of the others until it has to move again or the game is over."""
        playing = self.playing
        illegal = playing.who == self.seat and not playing.may(action)
        if illegal:
            playing.who = TERMINAL
        else:
            playing.move(action)
            self._wait()
        over = playing.who == TERMINAL
        reward = self.game.spec.utility[0] if illegal else playing.returns()[self.seat]
        observation, info = self._seen(illegal)
        return observation, float(reward), over, False, info

    def _wait(self) -> None:
        """Lets the others move."""
        playing = self.playing
        while playing.who not in (self.seat, TERMINAL):
            playing.move(choose(self._others[playing.who], playing.view(playing.who), self._rng))

    def _seen(self, illegal: bool) -> tuple[NDArray[np.float32], dict[str, Any]]:
        if self.render_mode == "human":
            self.render()
        return self.playing.observation(self.seat), {"action_mask": self.action_masks(), "illegal": illegal}

    def action_masks(self) -> NDArray[np.int8]:
        """Which actions are legal now [actions]: the name under which Stable-Baselines3 asks for it."""
        return self.playing.mask(self.seat)

    def render(self) -> str | None:
        """The table as the seat sees it: as a text, or printed."""
        return self.playing.show(self.seat, self.render_mode)


class SeatVectorEnv(vector.VectorEnv):  # type: ignore[name-defined, misc]
    """Many tables, one compiled call a step for all of them, the opponents' moves included (`tapete.core.tables`).

    A table whose game ends begins the next one in the same step; what was seen last is in ``info["final_obs"]``.
    """

    metadata: dict[str, Any] = {"autoreset_mode": vector.AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        opponent: Opponent = "random",
        seat: int = 0,
        threads: int = 1,
        render_mode: str | None = None,
    ) -> None:
        other = _compiled(opponent)
        if isinstance(other, str):
            raise TapeteError(
                f"many tables need a compiled player or 'random', not {opponent!r}; `env` plays any agent"
            )
        if render_mode is not None:
            raise TapeteError("many tables are not drawn; `env` draws one")
        self.game, self.seat, self.num_envs, self.threads = _checked(game, seat), seat, num_envs, threads
        self._players = [None if i == seat else other for i in range(self.game.players)]
        self.single_observation_space = _observations(self.game)
        self.single_action_space = spaces.Discrete(self.game.spec.actions)
        self.observation_space = vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = vector.utils.batch_space(self.single_action_space, num_envs)
        self.tables: Tables | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a game at every table."""
        super().reset(seed=seed)
        if self.tables is None or seed is not None:
            rng = Rng("gymnasium", int(self.np_random.integers(1 << 63)))
            self.tables = Tables(self.game, self.num_envs, rng, players=self._players, threads=self.threads)
        else:
            self.tables.begin()
        info = {"action_mask": self.action_masks(), "illegal": np.zeros(self.num_envs, dtype=np.bool_)}
        return self.tables.observe(self.seat).copy(), info

    def step(
        self, actions: Any
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """A move at every table [num_envs], and all that happens until the seat has to move again."""
        tables = self._begun()
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or not np.issubdtype(actions.dtype, np.integer):
            raise TapeteError(f"{self.num_envs} whole numbers are needed, not {actions.dtype} {actions.shape}")
        known = (0 <= actions) & (actions < self.game.spec.actions)
        illegal = ~(known & tables.mask()[np.arange(self.num_envs), np.where(known, actions, 0)])
        last = tables.observe(self.seat).copy() if illegal.any() else None
        tables.step(np.where(illegal, tables.legal[:, 0], actions).astype(np.int32))
        rewards, over = tables.rewards[:, self.seat].copy(), tables.over.copy()
        final = tables.observe(self.seat, ended=True).copy() if over.any() else None
        if last is not None:
            tables.begin(illegal)
            rewards[illegal], over[illegal] = self.game.spec.utility[0], True
            final = np.where(illegal[:, None], last, last if final is None else final)
        info = {"action_mask": self.action_masks(), "illegal": illegal}
        if final is not None:
            info |= {"final_obs": final, "_final_obs": over.copy()}
        return tables.observe(self.seat).copy(), rewards, over, np.zeros(self.num_envs, dtype=np.bool_), info

    def action_masks(self) -> NDArray[np.int8]:
        """Which actions are legal now: [num_envs, actions]."""
        return self._begun().mask().astype(np.int8)

    def _begun(self) -> Tables:
        if self.tables is None:
            raise TapeteError("reset it first")
        return self.tables


def register() -> None:
    """Makes ``tapete/<name>-v0`` known to `gymnasium.make` and `make_vec`; done once, on import."""
    for name, variant in variants().items():
        gymnasium.register(
            id=f"tapete/{name}-v0",
            entry_point=f"{__name__}:SeatEnv",
            vector_entry_point=f"{__name__}:SeatVectorEnv",
            kwargs={} if needs_parameters(variant.spec) else {"game": name},
        )


register()
