"""How fast our games are through other people's frameworks (`tapete.bridges`), beside what those have themselves."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from tapete.bench import Case, Work, peers
from tapete.core import Rng, make
from tapete.core.players import random_play

TABLES = 1024  # of the vector environment


def cases() -> Iterator[Case]:
    """Those doors whose framework is installed; a step is a decision or a move of chance."""
    if find_spec("pyspiel"):
        yield Case(
            "bridge openspiel leduc, steps",
            lambda: _registered("python_tapete_leduc"),
            (("OpenSpiel, C++", lambda: peers.openspiel("leduc_poker")),),
        )
        yield Case(
            "bridge openspiel kuhn, steps",
            lambda: _registered("python_tapete_kuhn"),
            (("OpenSpiel, Python", _their_python_kuhn), ("OpenSpiel, C++", lambda: peers.openspiel("kuhn_poker"))),
        )
        yield Case(
            "bridge openspiel leduc, external MCCFR",
            lambda: _solved("python_tapete_leduc"),
            (("OpenSpiel, C++", lambda: peers.openspiel_sampler("leduc_poker")),),
        )
        yield Case(
            "bridge openspiel(leduc_poker), steps",
            lambda: _guest("openspiel(leduc_poker)"),
            (("OpenSpiel", lambda: peers.openspiel("leduc_poker")),),
        )
    if find_spec("pettingzoo"):
        theirs = (("PettingZoo", _their_leduc),) if find_spec("pygame") and find_spec("rlcard") else ()
        yield Case("bridge pettingzoo leduc, decisions", lambda: _agents(_door("pettingzoo").env("leduc")), theirs)
    if find_spec("gymnasium"):
        yield Case("bridge gymnasium leduc, decisions", lambda: _alone("leduc"))
        yield Case("bridge gymnasium leduc vector, decisions", lambda: _many("leduc"))


def _door(name: str) -> Any:
    return importlib.import_module(f"tapete.bridges.{name}")


def _registered(name: str) -> Work:
    _door("openspiel")
    return peers.openspiel(name)


def _their_python_kuhn() -> Work:
    peers.load("open_spiel.python.games")
    return peers.openspiel("python_kuhn_poker")


def _solved(name: str) -> Work:
    _door("openspiel")
    return peers.openspiel_sampler(name)


def _guest(name: str) -> Work:
    game, rng = make(name), Rng(1)
    return lambda rounds: random_play(game, rounds, rng).steps


def _their_leduc() -> Work:
    return _agents(peers.load("pettingzoo.classic.leduc_holdem_v4").env())


def _agents(env: Any) -> Work:
    """Decisions of all agents; they take any legal action."""
    draw = random.Random(1)

    def work(rounds: int) -> int:
        decisions = 0
        for _ in range(rounds):
            env.reset()
            for _ in env.agent_iter():
                seen, _, over, cut, _ = env.last()
                action = None if over or cut else draw.choice(np.flatnonzero(seen["action_mask"]).tolist())
                decisions += action is not None
                env.step(action)
        return decisions

    return work


def _alone(name: str) -> Work:
    """Decisions of one seat against another that plays at random."""
    env, draw = _door("gymnasium").env(name), random.Random(1)

    def work(rounds: int) -> int:
        decisions = 0
        for _ in range(rounds):
            _, info = env.reset()
            over = False
            while not over:
                _, _, over, _, info = env.step(draw.choice(np.flatnonzero(info["action_mask"]).tolist()))
                decisions += 1
        return decisions

    return work


def _many(name: str) -> Work:
    """The same at many tables."""
    env = _door("gymnasium").vector_env(name, TABLES)
    env.reset(seed=1)
    sample: Callable[[], Any] = env.tables.sample

    def work(rounds: int) -> int:
        for _ in range(rounds):
            env.step(sample())
        return rounds * TABLES

    return work
