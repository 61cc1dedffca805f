"""Our games as PettingZoo environments, agent by agent (AEC).

>>> from tapete.bridges import pettingzoo
>>> env = pettingzoo.env("leduc")
>>> env.reset(seed=1)
>>> env.agent_selection, sorted(env.last()[0])
('seat_0', ['action_mask', 'observation'])
"""

from __future__ import annotations

import secrets
from typing import Any

from tapete.bridges import needs
from tapete.bridges.playing import RENDER_MODES, Playing
from tapete.core.contract import TERMINAL
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.names import make
from tapete.core.rng import Rng

spaces = needs("gymnasium", "pettingzoo").spaces
pettingzoo = needs("pettingzoo", "pettingzoo")
wrappers = needs("pettingzoo.utils.wrappers", "pettingzoo")


def env(game: Game | str, *, render_mode: str | None = None) -> Any:
    """An environment of a game, wrapped as PettingZoo's own are: an illegal move ends it, and costs its mover the most
    that the game can cost.
    """
    raw = SeatsEnv(game, render_mode=render_mode)
    stopping = wrappers.TerminateIllegalWrapper(raw, illegal_reward=raw.playing.game.spec.utility[0])
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(stopping))


class SeatsEnv(pettingzoo.AECEnv):  # type: ignore[name-defined, misc]
    """The environment itself; here an illegal move changes nothing and raises."""

    def __init__(self, game: Game | str, *, render_mode: str | None = None) -> None:
        if render_mode not in (None, *RENDER_MODES):
            raise TapeteError(f"render_mode must be one of {', '.join(RENDER_MODES)}, not {render_mode!r}")
        game = make(game) if isinstance(game, str) else game
        super().__init__()
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "name": f"tapete_{game.spec.name}",
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.render_mode, self.playing = render_mode, Playing(game)
        spec = game.spec
        self.possible_agents = [f"seat_{seat}" for seat in range(spec.players)]
        self.agents: list[str] = []
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._actions = {agent: spaces.Discrete(spec.actions) for agent in self.possible_agents}
        self._observations = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(-float("inf"), float("inf"), (spec.observation_size,), "float32"),
                    "action_mask": spaces.Box(0, 1, (spec.actions,), "int8"),
                }
            )
            for agent in self.possible_agents
        }
        self._rng, self._games = Rng("pettingzoo", secrets.randbits(63)), 0

    def observation_space(self, agent: str) -> Any:
        """What a seat may see."""
        return self._observations[agent]

    def action_space(self, agent: str) -> Any:
        """What a seat may play, legal or not."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game: the first of those that a seed names, or without one the next."""
        if seed is not None:
            self._rng, self._games = Rng("pettingzoo", seed), 0
        self.playing.begin(self._rng.spawn(self._games))
        self._games += 1
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._arrive()

    def step(self, action: Any) -> None:
        """A move of the agent whose turn it is; None from one whose game is over."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.playing.move(action)
        self._cumulative_rewards[agent] = 0.0
        self._arrive()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _arrive(self) -> None:
        """Says whose turn it is, or that the game is over and what it paid."""
        playing = self.playing
        if playing.who == TERMINAL:
            self.rewards = dict(zip(self.agents, playing.returns(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = self.possible_agents[playing.who]
        for agent in self.agents:
            self.infos[agent] = {"action_mask": playing.mask(self._seats[agent])}

    def observe(self, agent: str) -> dict[str, Any]:
        """What a seat sees, and which actions it may play now."""
        seat = self._seats[agent]
        return {"observation": self.playing.observation(seat), "action_mask": self.playing.mask(seat)}

    def render(self) -> str | None:
        """The table as the agent sees it whose turn it is: as a text, or printed."""
        return self.playing.show(self._seats[self.agent_selection], self.render_mode)

    def close(self) -> None:
        """Nothing is open."""
