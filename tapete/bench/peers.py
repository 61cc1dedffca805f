"""Other people's code doing the same as ours: random play, and ranks of hands. Each is imported only when asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from tapete.bench import Work
from tapete.core import TapeteError

LIMIT_HOLDEM = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=1 2,raiseSize=2 2 4 4,firstPlayer=1 2 2 2,"
    "maxRaises=3 4 4 4,numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1)"
)
UCT = 1.4  # times sqrt(ln N / n), in units of payoffs: how much a search of OpenSpiel explores
HANDS = 100_000


def load(module: str) -> Any:
    """A peer's module, or one line that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise TapeteError(f"{module.split('.')[0]} is not installed; `pip install tapete[peers]` brings it") from None


def openspiel(name: str, unit: str = "steps") -> Work:
    """OpenSpiel's C++ games, played from Python as its documentation does: chance by its outcomes and probabilities."""
    game, rng = load("pyspiel").load_game(name), Random(1)

    def work(rounds: int) -> int:
        steps = 0
        for _ in range(rounds):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes, probs = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(outcomes, probs)[0])
                else:
                    state.apply_action(rng.choice(state.legal_actions()))
                steps += 1
        return rounds if unit == "games" else steps

    return work


def openspiel_solver(solver: str, name: str) -> Work:
    """One of OpenSpiel's tabular solvers in C++; iterations that update both players."""
    module = load("pyspiel")
    run = getattr(module, solver)(module.load_game(name))

    def work(rounds: int) -> int:
        for _ in range(rounds):
            run.evaluate_and_update_policy()
        return rounds

    return work


def openspiel_sampler(name: str) -> Work:
    """OpenSpiel's external-sampling MCCFR in C++; iterations that update both players."""
    module = load("pyspiel")
    run = module.ExternalSamplingMCCFRSolver(module.load_game(name), 1)

    def work(rounds: int) -> int:
        for _ in range(rounds):
            run.run_iteration()
        return rounds

    return work


def openspiel_mcts(name: str, simulations: int) -> Work:
    """OpenSpiel's MCTS in C++ with random rollouts; simulations from the beginning of the game."""
    module = load("pyspiel")
    game = module.load_game(name)
    bot = module.MCTSBot(game, module.RandomRolloutEvaluator(1, 1), UCT, simulations, 1000, False, 1, False)
    return _searches(bot, game, simulations)


def openspiel_ismcts(name: str, simulations: int) -> Work:
    """OpenSpiel's IS-MCTS in C++ with random rollouts; simulations from the first decision."""
    module = load("pyspiel")
    game = module.load_game(name)
    judge, final = module.RandomRolloutEvaluator(1, 1), module.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
    bot = module.ISMCTSBot(1, judge, UCT, simulations, -1, final, False, False)
    return _searches(bot, game, simulations)


def _searches(bot: Any, game: Any, simulations: int) -> Work:
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])

    def work(rounds: int) -> int:
        for _ in range(rounds):
            bot.step(state)
        return rounds * simulations

    return work


def rlcard(name: str) -> Work:
    """RLCard's environments; decisions of players."""
    env, rng = load("rlcard").make(name), Random(1)

    def work(rounds: int) -> int:
        decisions = 0
        for _ in range(rounds):
            state, _ = env.reset()
            while not env.is_over():
                state, _ = env.step(rng.choice(list(state["legal_actions"])))
                decisions += 1
        return decisions

    return work


def douzero() -> Work:
    """DouZero's environment, which always makes its observation of every legal action."""
    env, rng = load("douzero.env.env").Env("adp"), Random(1)

    def work(rounds: int) -> int:
        decisions = 0
        for _ in range(rounds):
            env.reset()
            over = False
            while not over:
                _, _, over, _ = env.step(rng.choice(env.infoset.legal_actions))
                decisions += 1
        return decisions

    return work


def our_ranks() -> Work:
    """Our ranks of seven cards, in bulk."""
    from tapete.games.holdem.evaluator import rank_hands

    hands = random_hands()

    def work(rounds: int) -> int:
        for _ in range(rounds):
            rank_hands(hands)
        return rounds * HANDS

    return work


def eval7() -> Work:
    """eval7, a C library, called from Python hand by hand."""
    module = load("eval7")
    cards = [module.Card(rank + suit) for rank in "23456789TJQKA" for suit in "cdhs"]
    hands = [[cards[card] for card in hand] for hand in random_hands()[:1000].tolist()]
    return _each(module.evaluate, hands)


def phevaluator() -> Work:
    """phevaluator's Python version."""
    evaluate = load("phevaluator").evaluate_cards
    return _each(lambda hand: evaluate(*hand), random_hands()[:1000].tolist())


def random_hands() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Hands of seven different cards [HANDS, 7]."""
    rng = np.random.default_rng(1)
    return rng.permuted(np.tile(np.arange(52, dtype=np.uint8), (HANDS, 1)), axis=1)[:, :7].copy()


def _each(evaluate: Callable[[Any], Any], hands: list[Any]) -> Work:
    def work(rounds: int) -> int:
        for _ in range(rounds):
            for hand in hands:
                evaluate(hand)
        return rounds * len(hands)

    return work
