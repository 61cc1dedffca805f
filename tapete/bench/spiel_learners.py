"""OpenSpiel's deep learners in PyTorch, set as its own examples set them, and driven as those drive them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tapete.bench.peers import load

GAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker", "dudo(6,1,1)": "liars_dice"}  # its sixes are wild
NFSP = {  # nfsp_kuhn_pytorch.py, nfsp_leduc_pytorch.py
    "replay_buffer_capacity": 200_000,
    "reservoir_buffer_capacity": 2_000_000,
    "anticipatory_param": 0.1,
    "epsilon_start": 0.06,
    "epsilon_end": 0.001,
}
NFSP_BY_GAME = {
    "kuhn_poker": {"epsilon_decay_duration": 3_000_000},
    "leduc_poker": {"epsilon_decay_duration": 20_000_000, "update_target_network_every": 19200},
}
DQN = {"hidden_layers_sizes": [64, 64], "replay_buffer_capacity": 100_000, "batch_size": 32}  # dqn_breakthrough_pytorch
DEEP_CFR = {  # deep_cfr_pytorch.py
    "policy_network_layers": (64,),
    "advantage_network_layers": (64,),
    "learning_rate": 1e-3,
    "batch_size_advantage": 256,
    "batch_size_strategy": 256,
    "memory_capacity": 100_000,
    "policy_network_train_steps": 2500,
    "advantage_network_train_steps": 375,
}
TRAVERSALS = 375


class Peer(Protocol):
    """A learner of theirs at work."""

    def advance(self) -> int:
        """Learns for as short a time as it can; returns how many states were gone through."""

    def settle(self) -> None:
        """Does what has to be done before it can be judged."""

    def probabilities(self, state: Any, player: Any = None) -> dict[int, float]:
        """What it does in a state."""


class Agents:
    """Agents that learn from games against each other, a network each."""

    def __init__(self, game: str, make_agent: Any) -> None:
        environment = load("open_spiel.python.rl_environment")
        self.environment, self.time_step = environment.Environment(game), environment.TimeStep
        size, actions = self.environment.observation_spec()["info_state"][0], self.environment.action_spec()
        self.agents = [make_agent(player, size, actions["num_actions"]) for player in range(2)]

    def advance(self) -> int:
        """A game."""
        now, steps = self.environment.reset(), 0
        while not now.last():
            agent = self.agents[now.observations["current_player"]]
            now, steps = self.environment.step([agent.step(now).action]), steps + 1
        for agent in self.agents:
            agent.step(now)
        return steps

    def settle(self) -> None:
        """There is nothing to do."""

    def act(self, agent: Any, now: Any) -> Any:
        """The probabilities of an agent's moves."""
        return agent.step(now, is_evaluation=True).probs

    def probabilities(self, state: Any, player: Any = None) -> dict[int, float]:
        """What the agent that moves does."""
        mover, legal = state.current_player(), state.legal_actions()
        seen: dict[str, Any] = {"info_state": [None, None], "legal_actions": [None, None], "current_player": mover}
        seen["info_state"][mover], seen["legal_actions"][mover] = state.information_state_tensor(mover), legal
        said = self.act(self.agents[mover], self.time_step(seen, None, None, None))
        return {action: float(said[action]) for action in legal}


class Nfsp(Agents):
    """Neural fictitious self-play, judged by its average policy."""

    def __init__(self, game: str) -> None:
        self.nfsp = load("open_spiel.python.pytorch.nfsp")
        knobs = NFSP | NFSP_BY_GAME.get(game, NFSP_BY_GAME["leduc_poker"])
        super().__init__(game, lambda player, size, actions: self.nfsp.NFSP(player, size, actions, [128], **knobs))

    def act(self, agent: Any, now: Any) -> Any:
        """The average policy's probabilities."""
        with agent.temp_mode_as(self.nfsp.MODE.AVERAGE_POLICY):
            return super().act(agent, now)


class Dqn(Agents):
    """Two DQN agents that play each other, judged without exploration."""

    def __init__(self, game: str) -> None:
        dqn = load("open_spiel.python.pytorch.dqn")
        super().__init__(game, lambda player, size, actions: dqn.DQN(player, size, actions, **DQN))


class DeepCfr:
    """Deep CFR, judged by its average policy."""

    def __init__(self, game: str) -> None:
        deep_cfr = load("open_spiel.python.pytorch.deep_cfr")
        self.solver = deep_cfr.DeepCFRSolver(load("pyspiel").load_game(game), **DEEP_CFR)
        self.visits, self.walk = 0, self.solver._traverse_game_tree
        self.solver._traverse_game_tree = self._count

    def _count(self, state: Any, player: int) -> Any:
        self.visits += not state.is_chance_node()  # of players and at the end, as ours counts
        return self.walk(state, player)

    def advance(self) -> int:
        """An iteration, as its `solve` does it."""
        solver, before = self.solver, self.visits
        for player in range(2):
            for _ in range(TRAVERSALS):
                solver._traverse_game_tree(solver._root_node, player)
            solver._reinitialize_advantage_network(player)
            solver._learn_advantage_network(player)
        solver._iteration += 1
        return self.visits - before

    def settle(self) -> None:
        """Trains the average policy's network, as at the end of its `solve`."""
        self.solver._reinitialize_policy_network()
        self.solver._learn_strategy_network()

    def probabilities(self, state: Any, player: Any = None) -> dict[int, float]:
        """What the network says, of legal moves only: its own method leaves some probability to others."""
        said = self.solver.action_probabilities(state)
        total = float(sum(said.values()))
        return {action: float(share) / total if total else 1 / len(said) for action, share in said.items()}


PEERS: dict[str, Callable[[str], Peer]] = {"nfsp": Nfsp, "deep-cfr": DeepCfr, "dqn": Dqn}  # by the name that ours has


def nash_conv(game: str, peer: Peer) -> float:
    """How far the peer is from an equilibrium, by OpenSpiel's own best responses in C++."""
    spiel, policy = load("pyspiel"), load("open_spiel.python.policy")
    rules = spiel.load_game(game)
    table = policy.tabular_policy_from_callable(rules, peer.probabilities)
    return float(spiel.nash_conv(rules, policy.python_policy_to_pyspiel_policy(table)))
