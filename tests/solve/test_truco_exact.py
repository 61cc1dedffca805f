"""Truco's walks on hands so small that their value is known exactly, and what becomes of planted mistakes.

Three ways lead to a value: the walks of `solve/truco`, with best responses to the strategies that they find; our rules
played out into the sequence form; and the sequence form of the oracle's rules, which have nothing in common with ours.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapete
from tapete import Rng
from tapete.core.evaluator import Evaluator
from tapete.core.players import judge_moves
from tapete.games.truco.cards import NAMES
from tapete.solve.cfr import CFR
from tapete.solve.linear import solve_form
from tapete.solve.response import Plan, Proof, prove
from tapete.solve.schemes import SCHEMES
from tapete.solve.sequence_form import SequenceForm, _sparse, _treeplex
from tapete.solve.truco.abstraction import PLACES, tables
from tapete.solve.truco.blueprint import in_steps
from tapete.solve.truco.knowledge import knowledge
from tapete.solve.truco.player import strategy_player
from tapete.solve.truco.training import shares
from tapete.solve.truco.walks import SIDE, Stack, walk_hands
from tests.oracles.truco import CHANCE, OVER, TIE, Truco
from tests.pocket import PARDAS, pocket

THREE_HANDS = ("1e 12o 4c", 2)  # for each seat, after two pardas
FOUR_HANDS = ("1e 2o 12o 4c", 2)
TIES = ("3e 3o 11o", 2)  # two of three cards are equal: then mano wins
TWO_CARDS = ("1e 3o 12o 6c 4c", 1)  # thirty deals, after one parda
HALF = 8  # points that are as good as half a match, where a point is worth the same everywhere


@cache
def form_of(pack: str, tricks: int) -> SequenceForm:
    return SequenceForm.of(pocket(pack, tricks=tricks))


def walk(pack: str, tricks: int, epochs: int = 20, hands: int = 2000) -> Proof:
    """What the strategies of the walks are worth in the game itself, in points, and their best responses."""
    game, words = pocket(pack, tricks=tricks), Rng("exact").words.copy()
    stack, form = Stack.of(game), form_of(pack, tricks)
    regrets, sums, lacks = np.zeros(PLACES), np.zeros(PLACES), np.arange(SIDE)
    equity = 0.5 + (lacks - lacks[:, None]) / (2 * HALF)  # [what mano lacks, what the other lacks]
    for epoch in range(epochs):
        regrets *= epoch / (epoch + 1)
        sums *= epoch / (epoch + 1)
        walk_hands(
            game.rulebook, game.params.copy(), regrets, sums, np.zeros(0, dtype=np.uint8), 0.0, stack, knowledge(),
            np.tile(equity.reshape(-1), 2), hands, False, 0.0, words,
        )  # fmt: skip
    steps = np.zeros(PLACES, dtype=np.uint8)
    for table, out in zip(tables(sums).values(), tables(steps).values(), strict=True):
        out[:] = in_steps(shares(table).astype(np.float32))
    return prove(form, plans(form, strategy_player(steps, knowledge())))


def plans(form: SequenceForm, player: Evaluator) -> tuple[Plan, Plan]:
    """A player as what both seats do in the game."""
    found = []
    for seat, (plex, states) in enumerate(zip(form.plexes, form.states, strict=True)):
        plan = np.ones(plex.sequences)
        for infoset, state in enumerate(states):
            first, after = plex.first[infoset : infoset + 2]
            said = judge_moves(player, form.game, state, seat, form.game.actions(state))
            plan[first:after] = plan[plex.parent[infoset]] * said
        found.append(plan)
    return found[0], found[1]


class OracleForm:
    """The sequence form by the oracle's rules, grown by hand."""

    def __init__(self, pack: str, tricks: int) -> None:
        cards = [NAMES.index(name) for name in pack.split()]
        deals = {(frozenset(order[: 3 - tricks]), frozenset(order[3 - tricks : 6 - 2 * tricks]))
                 for order in permutations(cards)}  # fmt: skip
        self.infosets: list[dict[object, int]] = [{}, {}]  # of each seat: its first sequence
        self.parents: tuple[list[int], list[int]] = ([], [])
        self.counts: tuple[list[int], list[int]] = ([], [])
        self.ends: list[tuple[int, int, float]] = []
        for deal in deals:
            self.grow(dealt(deal, tricks), (), [0, 0], 1 / len(deals))

    def grow(self, state: Truco, past: tuple[int, ...], at: list[int], chance: float) -> None:
        seat = state.player
        assert seat != CHANCE
        if seat == OVER:
            self.ends.append((at[0], at[1], chance * state.returns()[0]))
            return
        legal = state.actions()
        key = (past, frozenset(state.dealt[seat]))
        if len(legal) > 1 and key not in self.infosets[seat]:
            self.infosets[seat][key] = 1 + sum(self.counts[seat])
            self.parents[seat].append(at[seat])
            self.counts[seat].append(len(legal))
        for i, action in enumerate(legal):
            after, child = list(at), state.copy()
            if len(legal) > 1:
                after[seat] = self.infosets[seat][key] + i
            child.apply(action)
            self.grow(child, (*past, action), after, chance)

    def value(self) -> float:
        plexes = tuple(_treeplex(np.array(p), np.array(c)) for p, c in zip(self.parents, self.counts, strict=True))
        row, column, payoff = (np.array(part) for part in zip(*self.ends, strict=True))
        sizes = [plex.sequences for plex in plexes]
        payoffs = _sparse(row, column, payoff, *sizes), _sparse(column, row, -payoff, *sizes[::-1])
        empty = (np.zeros(0, dtype=np.uint64),) * 2
        form = SequenceForm(pocket("4c", tricks=2), plexes, payoffs, empty, empty, 0)  # type: ignore[arg-type]
        return solve_form(form).value


def dealt(hands: tuple[frozenset[int], frozenset[int]], tricks: int) -> Truco:
    """The oracle's hand after so many pardas."""
    state: Any = Truco(hand=True)
    for trick in range(tricks):
        state.played[trick] = [NAMES.index(name) for name in PARDAS[trick].split()]
        state.winners.append(TIE)
    for seat in range(2):
        state.dealt[seat].extend([*hands[seat], *(played[seat] for played in state.played[:tricks])])
    state.leaders = [0] * (tricks + 1)
    state.to_play = 0
    return state


def check(pack: str, tricks: int, *, within: float) -> None:
    """The walks' strategies are worth what the oracle's rules say, and nobody gains more than `within` against them."""
    exact, proof = OracleForm(pack, tricks).value(), walk(pack, tricks)
    assert proof.lower - 1e-9 <= exact <= proof.upper + 1e-9
    assert proof.exploitability < within
    assert abs(proof.value - exact) < within


def check_all() -> None:
    for hand in (THREE_HANDS, FOUR_HANDS, TIES):
        check(*hand, within=0.03)


@pytest.mark.parametrize("hand", [THREE_HANDS, FOUR_HANDS, TIES], ids=lambda hand: hand[0])
def test_the_last_trick_is_solved(hand: tuple[str, int]):
    """Each hand has rows of its own there, so that the abstraction loses nothing."""
    check(*hand, within=0.03)


@pytest.mark.parametrize("hand", [THREE_HANDS, FOUR_HANDS, TIES, TWO_CARDS], ids=lambda hand: hand[0])
def test_our_rules_and_the_oracles_have_one_value(hand: tuple[str, int]):
    exact = solve_form(form_of(*hand)).value
    assert exact == pytest.approx(OracleForm(*hand).value(), abs=1e-9)
    run = CFR(form_of(*hand), SCHEMES["cfr+"])
    run.run(1000)
    assert run.prove().exploitability < 0.01
    assert run.prove().lower - 1e-9 <= exact <= run.prove().upper + 1e-9


def test_with_two_cards_the_intervals_of_walks_and_of_cfr_overlap():
    """In a pack of five the abstraction, which is made for forty cards, loses something."""
    run = CFR(form_of(*TWO_CARDS), SCHEMES["cfr+"])
    run.run(1000)
    exact, walks = run.prove(), walk(*TWO_CARDS)
    assert max(walks.lower, exact.lower) <= min(walks.upper, exact.upper)
    assert walks.exploitability < 0.25


WALKS, STAGES, MOVES = "solve/truco/walks.py", "solve/truco/stages.py", "games/truco/moves.py"
MISTAKES = [
    (WALKS, "return chance - 0.5 if seat == 1", "return chance - 0.5 if seat == 0"),
    (WALKS, "equity[(s.points - s.score[1]) * SIDE + s.points - s.score[0]]",
     "equity[(s.points - s.score[0]) * SIDE + s.points - s.score[1]]"),
    (WALKS, "block[a] + gains[a] - value", "block[a] + value - gains[a]"),
    (WALKS, "gains[stack.tried[level]] = value", "gains[stack.tried[level]] = -value"),
    (WALKS, "sums[a] += positive(block[a]) / total if", "sums[a] += positive(-block[a]) / total if"),
    (MOVES, "end_hand(s, 1 - seat, s.level, NO_QUIERO)", "end_hand(s, 1 - seat, s.asked, NO_QUIERO)"),
    (MOVES, "return int(s.mano) if trick == 2", "return 1 - int(s.mano) if trick == 2"),
    (STAGES, "return NO_QUIERO if choice == 0 else QUIERO", "return QUIERO if choice == 0 else NO_QUIERO"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [None, *MISTAKES], ids=lambda mistake: mistake[2] if mistake else "none")
def test_mistakes_are_caught(mistake: tuple[str, str, str] | None, tmp_path: Path):
    """A copy of the package, compiled with the mistake in it."""
    root = Path(tapete.__file__).parents[1]
    for folder in ("tapete", "tests"):
        shutil.copytree(root / folder, tmp_path / folder)
    if mistake:
        path = tmp_path / "tapete" / mistake[0]
        assert path.read_text().count(mistake[1]) == 1, f"{mistake[1]!r} is not once in {path}: plant something else"
        path.write_text(path.read_text().replace(mistake[1], mistake[2]))
    command = [sys.executable, "-c", "from tests.solve.test_truco_exact import check_all; check_all()"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True)
    assert (done.returncode == 0) == (mistake is None), done.stderr.decode()
    assert mistake is None or b"AssertionError" in done.stderr
