"""Decisions judged by trials: every move is played out in the same worlds, by players whom we trust.

That is what backgammon players call a rollout. Moves share their worlds and what chance deals afterwards, so that luck
is the same for all of them, and how much their differences vary from world to world is the judge's doubt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core import Game, Rng
from tapete.core.compile import DOUBLES, INTS, STATES, WORDS, first_of, kernel, state_ptr, uint64_ptr
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator, open_evaluator
from tapete.core.players import SEATED, Seated, choose, seed_stream
from tapete.core.records import pointers
from tapete.core.rng import mix
from tapete.core.worlds import outlook_of
from tapete.review.beliefs import worlds_of
from tapete.review.choices import Choice
from tapete.review.judgement import Judgement
from tapete.search.tree import LEAF, Leaf

WORLDS = 2400
Z95 = 1.96
MOVES, SEATS = 1 << 20, 1 << 40  # labels of streams: events of chance come before, then moves, then who sits where


class Trials:
    """Judges by compiled players, which are trusted to look at what each seat may know.

    The first goes on for the seat. On the others sits any of them, in each world anew: where nobody is known who plays
    a game well, a move should be good against all sorts of players.
    """

    def __init__(self, text: str, game: Game, players: Sequence[Evaluator]) -> None:
        self.text, self.game, self.players = text, game, players
        self.outlook = outlook_of(game)

    def judge(self, choice: Choice, rng: Rng) -> Judgement | None:
        """Mean payoffs of all moves."""
        legal = choice.view.actions()
        worlds, worth = worlds_of(choice, self.players, WORLDS, rng)
        paid = self._play(worlds, legal, choice.view.seat, rng)
        means = paid.mean(axis=0)
        best = int(means.argmax())
        behind = (paid[:, [best]] - paid).std(axis=0, ddof=1) / math.sqrt(min(worth, len(worlds)))
        return Judgement(
            by=self.text,
            how="trials",
            best=legal[best],
            values=dict(zip(legal, means.tolist(), strict=True)),
            doubts=dict(zip(legal, (Z95 * behind).tolist(), strict=True)),
        )

    def _play(self, worlds: NDArray[np.uint8], legal: list[int], seat: int, rng: Rng) -> NDArray[np.float64]:
        """What the seat is paid in each world after each move: [worlds, moves]."""
        models, nothing = [player.model for player in self.players], np.zeros(1, np.uint64)
        outlook = Leaf(self.outlook.address, self.outlook.model) if self.outlook else Leaf(0, nothing)
        paid = np.zeros((len(worlds), len(legal)))
        _try_all(
            self.game.rulebook, worlds, np.array(legal, dtype=np.int32), seat,
            Seated.of(self.game, self.players, models), outlook, np.zeros((1, self.game.size), np.uint8),
            np.zeros(max(self.game.spec.max_actions, 1), np.int32), rng.words[0], np.zeros(4, np.uint64),
            paid.reshape(-1),
        )  # fmt: skip
        return paid


@kernel(
    types.void(
        *(RULEBOOK, STATES, INTS, types.int64, SEATED, LEAF, STATES, INTS, types.uint64, WORDS, DOUBLES),
    )
)
def _try_all(
    rulebook: Any, worlds: Any, moves: Any, seat: int, arrays: Any, ahead: Any, room: Any, legal: Any, key: Any,
    words: Any, out: Any,
) -> None:  # fmt: skip
    """Fills `out` [worlds, moves], flat."""
    rules, book, seated, outlook = open_rules(rulebook), uint64_ptr(rulebook), pointers(arrays), pointers(ahead)
    state, options, rng = state_ptr(room[0]), first_of(legal), uint64_ptr(words)
    at = 0
    for w in range(len(worlds)):
        world = mix(key, np.uint64(w))
        for m in range(len(moves)):
            room[0] = worlds[w]
            rules.apply(state, moves[m])
            events = decisions = 0
            who = rules.player(state)
            while who != TERMINAL:
                seated.values[seat] = np.nan
                if outlook.address:
                    open_evaluator(np.uint64(outlook.address))(
                        book, state, seat, options, 0, outlook.model, rng, seated.values, seated.priors
                    )
                    if not math.isnan(seated.values[seat]):
                        break
                if who == CHANCE:
                    seed_stream(rng, world, events)
                    rules.apply(state, rules.draw(state, rng))
                    events += 1
                else:
                    seed_stream(rng, world, MOVES + decisions)
                    player: Any = np.int64(0)
                    if who != seat:
                        player = np.int64(mix(world, np.uint64(SEATS + who)) % np.uint64(len(arrays.functions)))
                    n = rules.actions(state, options)
                    rules.apply(state, options[choose(book, state, who, options, n, seated, player, rng)])
                    decisions += 1
                who = rules.player(state)
            if who == TERMINAL:
                rules.returns(state, seated.values)
            out[at] = seated.values[seat]
            at += 1
