"""How fast the rules are: random play on one core, through the contract, beside every peer that is installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapete.bench import Case, Clock, Row, Work, doors, measure, peers
from tapete.core import Rng, make
from tapete.core.compile import ahead
from tapete.core.contract import open_rules
from tapete.core.evaluator import Evaluator, evaluator, floats_at, longs_at
from tapete.core.players import LARGE, play, random_play
from tapete.core.rng import below
from tapete.core.tables import Tables

TABLES = 1024  # side by side


def run(*, rivals: bool, case: str, seconds: float, clock: Clock = time.perf_counter) -> Iterator[Row]:
    """Measures every case, ours and then each peer's."""
    return measure("sim", cases(), rivals=rivals, case=case, seconds=seconds, clock=clock)


def cases() -> list[Case]:
    """What is measured. A step is a decision or a move of chance; peers deal one card at a time too."""
    openspiel = peers.openspiel
    return [
        Case("matrix rps, games", lambda: games("rps")),
        Case("kuhn, steps", lambda: steps("kuhn"), (("OpenSpiel", lambda: openspiel("kuhn_poker")),)),
        Case("leduc, steps", lambda: steps("leduc"), (("OpenSpiel", lambda: openspiel("leduc_poker")),)),
        Case("dudo(6,1,1), steps", lambda: steps("dudo(6,1,1)"), (("OpenSpiel", lambda: openspiel("liars_dice")),)),
        Case("domino(6,7), decisions", lambda: decisions("domino(6,7)")),
        Case("truco, decisions", lambda: decisions("truco")),
        Case(
            "holdem, steps",
            lambda: steps("holdem"),
            (("OpenSpiel", lambda: openspiel(peers.LIMIT_HOLDEM)), ("RLCard", lambda: peers.rlcard("limit-holdem"))),
        ),
        Case("holdem(players=10), hands", lambda: games("holdem(players=10)")),
        Case("holdem 7-card ranks", peers.our_ranks, (("eval7", peers.eval7), ("phevaluator", peers.phevaluator))),
        Case(
            "doudizhu, decisions",
            lambda: decisions("doudizhu"),
            (("DouZero", peers.douzero), ("RLCard", lambda: peers.rlcard("doudizhu"))),
        ),
        Case("doudizhu observed, decisions", lambda: observed("doudizhu", observe=True), (("DouZero", peers.douzero),)),
        Case("doudizhu, games", lambda: games("doudizhu"), (("OpenSpiel", lambda: openspiel("dou_dizhu", "games")),)),
        Case("othello, steps", lambda: steps("othello"), (("OpenSpiel", lambda: openspiel("othello")),)),
        *(side_by_side(name, threads) for name in ("truco", "holdem(players=10)", "doudizhu") for threads in (1, 2)),
        *doors.cases(),
    ]


def side_by_side(name: str, threads: int) -> Case:
    """Decisions at many tables, one compiled call a step for all, beside the same game after game in one kernel.

    In Dou Dizhu, where networks score actions, both write down the features of all legal ones.
    """
    scored = name == "doudizhu"
    what = f"{name} tables{'+features' * scored}/{threads}"  # by threads
    one_kernel = (lambda: observed(name, threads)) if scored else (lambda: decisions(name, threads))
    return Case(what, lambda: stepped(name, threads, features=scored), (("one kernel", one_kernel),))


def stepped(name: str, threads: int, *, features: bool) -> Work:
    """Decisions at many tables."""
    tables = Tables(make(name), TABLES, Rng(1), threads=threads)

    def work(rounds: int) -> int:
        for _ in range(rounds):
            if features:
                tables.features()
            tables.step()
        return rounds * len(tables)

    return work


def games(name: str) -> Work:
    """Whole games."""
    game, rng = make(name), Rng(1)

    def work(rounds: int) -> int:
        random_play(game, rounds, rng)
        return rounds

    return work


def steps(name: str) -> Work:
    """Decisions and moves of chance."""
    game, rng = make(name), Rng(1)
    return lambda rounds: random_play(game, rounds, rng).steps


def decisions(name: str, threads: int = 1) -> Work:
    """Decisions of players, the deals between them included in the time."""
    game, rng = make(name), Rng(1)
    return lambda rounds: random_play(game, rounds * threads, rng, threads=threads).decisions


def observed(name: str, threads: int = 1, *, observe: bool = False) -> Work:
    """Decisions with the features of every legal action, and with `observe` what the mover sees."""
    game, rng = make(name), Rng(1)
    spec = game.spec

    def writer() -> Evaluator:
        rows = np.zeros(max(spec.max_actions * spec.feature_size, 1), dtype=np.float32)
        widths = np.array([spec.feature_size, observe])
        return Evaluator(_write_down, (rows, np.zeros(spec.observation_size, dtype=np.float32), widths), priors=True)

    players = [writer] * game.players
    deals = 1 if threads == 1 else threads * LARGE  # every thread has as much to do as the others
    return lambda rounds: play(game, players, rounds * deals, rng, duplicate=False, threads=threads).decisions


@evaluator
def _write_down(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """A player that writes down what a network would be fed, and then takes any move."""
    rules, rows, widths = open_rules(rulebook), floats_at(model[0]), longs_at(model[2])
    if widths[1]:
        rules.observe(state, seat, floats_at(model[1]))
    for i in range(n):
        rules.features(state, legal[i], ahead(rows, i * widths[0]))
        priors[i] = 0.0
    priors[below(rng, n)] = 1.0
