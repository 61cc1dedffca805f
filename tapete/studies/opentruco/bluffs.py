"""Who calls and who answers with what: the first hand of matches from some scores, an agent against itself.

An agent tells how likely each of its moves is, so what is counted are chances, not only what it happened to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.agents import Policy, draw, load
from tapete.core import CHANCE, Game, Rng, State, TapeteError, make
from tapete.games.truco.bets import ENVIDO, NO_QUIERO, QUIERO, RAISE
from tapete.games.truco.cards import HANDS, STRENGTH, SUIT_POINTS
from tapete.games.truco.moves import STATE
from tapete.scale import Executor, Job
from tapete.studies.opentruco import Say, results
from tapete.studies.opentruco.table import shipped

GAME = "truco"
SCORES = {"0-0": (0, 0), "14-14": (14, 14), "29-29": (29, 29), "behind, 10-25": (10, 25), "ahead, 25-10": (25, 10)}
DEALS = 4000  # hands from each score
QUICK = 200
OPPONENTS = 400  # random hands by which a hand's strength is told


@dataclass(frozen=True)
class Spot:
    """A decision: who had to decide what, with which cards, and how likely it called, accepted, declined, raised."""

    kind: str  # "envido", "envido answer", "truco", "truco answer", "last card", "last answer"
    score: str  # own points first
    mano: bool
    points: int  # of its envido
    strength: float  # of its three cards: the share of hands that are weaker
    call: float = 0.0  # makes the bet, or raises one that it answers
    accept: float = 0.0
    decline: float = 0.0
    card: int = -1  # its last one, 0 (a 4) to 13 (1 espadas)
    wins: int = -1  # whether the last card wins the hand: the other's lies open; -1 where it doesn't
    passed: bool = False  # it could have called the envido before, and didn't


def open_counting(stop: Event, *, deals: int) -> Callable[[str], dict[str, Any]]:
    """What plays hands of an agent, and counts."""
    return lambda agent: count([spot for score in SCORES for spot in play(agent, score, deals)])


def run(out: Path, *, quick: bool, say: Say, executor: Executor) -> Iterator[dict[str, Any]]:
    """Plays hands of what ships and of the networks that were trained, and counts."""
    deals, agents = QUICK if quick else DEALS, {name: name for name in shipped()}
    agents |= {name: entry["agent"] for name, entry in results(out).get("table", {}).get("learned", {}).items()}
    if not agents:
        raise TapeteError("nobody to watch: `tapete reproduce opentruco --row table` trains some")
    found: dict[str, Any] = {}
    names = list(agents)
    for i, counted in executor.spread(Job(f"{__name__}:open_counting", {"deals": deals}), list(agents.values())):
        name = names[i]
        found[name] = counted
        say(
            f"{name:14} "
            + "  ".join(f"{key} {number:.3f}" for key, number in found[name]["headlines"].items() if number is not None)
        )
        yield {"deals": deals, "agents": found}


def play(agent: str, score: str, deals: int, seed: int = 1) -> Iterator[Spot]:
    """The decisions of so many hands; seat 0, whose points the score tells first, is mano in every second one."""
    game = make(GAME)
    policies = [load(agent, game) for _ in range(2)]
    for number in range(deals):
        rng = Rng(seed, "bluffs", score, number)
        yield from Hand(game, policies, score, rng, mano=number % 2).play()


class Hand:
    """The first hand of a match from a score, in which both seats belong to one agent."""

    def __init__(self, game: Game, policies: list[Policy], score: str, rng: Rng, *, mano: int) -> None:
        self.state, self.policies, self.rng, self.score = game.start(), policies, rng, score
        own = SCORES[score]
        self.labels = [score, next(label for label, pair in SCORES.items() if pair == own[::-1])]
        record = self.state.data[: STATE.itemsize].view(STATE)  # [1]
        record["mano"] = record["turn"] = mano
        record["score"] = record["score_before"] = record["origin"] = own
        self.silent: dict[int, float] = {}  # how likely a seat has not called truco so far, though it could
        self.passed = [False, False]

    def play(self) -> Iterator[Spot]:
        """Its decisions. Whether truco is called at all is told once, at the end."""
        state = self.state
        while not state.over and state.game.record(state.data)["hands"] == 0:
            if state.player == CHANCE:
                state.deal(self.rng)
                continue
            chances = self.policies[state.player].think(state.view(state.player), self.rng).probabilities
            yield from self._spots(chances)
            state.apply(draw(chances, self.rng))
        for seat, silent in self.silent.items():
            yield self._spot("truco", seat, call=1 - silent)

    def _spots(self, chances: dict[int, float]) -> Iterator[Spot]:
        s, seat = self.state.game.record(self.state.data), self.state.player
        legal = self.state.actions()
        self.hands = s["hand"].copy()
        self.mano = int(s["mano"])
        envido = sum(chances.get(ENVIDO + call, 0.0) for call in range(3))
        answer = {"accept": chances.get(QUIERO, 0.0), "decline": chances.get(NO_QUIERO, 0.0)}
        last = int(s["trick"]) == 2
        if s["waits"]:
            yield self._spot("envido answer", seat, call=envido, passed=self.passed[seat], **answer)
        elif s["asked"]:
            card = _last_card(s, seat) if last else -1
            kind = "last answer" if card >= 0 else "truco answer"
            yield self._spot(kind, seat, call=chances.get(RAISE, 0.0), card=card, **answer)
        else:
            if ENVIDO in legal and not self.passed[seat]:
                yield self._spot("envido", seat, call=envido)
                self.passed[seat] = True
            raises = chances.get(RAISE, 0.0)
            if RAISE in legal and s["level"] == 1:
                self.silent[seat] = self.silent.get(seat, 1.0) * (1 - raises)
            if RAISE in legal and last:
                yield self._spot("last card", seat, call=raises, card=_last_card(s, seat), wins=self._wins(s, seat))

    def _wins(self, s: Any, seat: int) -> int:
        """Whether the seat's last card wins the hand, where the other's lies there."""
        if s["table"][4 + 1 - seat] < 0:
            return -1
        after = State(self.state.game, self.state.data.copy(), None)
        after.apply(next(action for action in after.actions() if action < ENVIDO))
        return int(after.game.record(after.data)["score"][seat] > s["score"][seat])

    def _spot(self, kind: str, seat: int, **told: Any) -> Spot:
        hand = int(self.hands[seat])
        return Spot(kind, self.labels[seat], seat == self.mano, _envido(hand), strengths()[hand], **told)


def _last_card(s: Any, seat: int) -> int:
    """The strength of the only card that the seat has left; -1 where it has played it."""
    left = int(s["hand"][seat] & ~s["played"])
    return int(STRENGTH[left.bit_length() - 1]) if left else -1


def _envido(hand: int) -> int:
    return int(max(SUIT_POINTS[hand >> 10 * suit & 1023] for suit in range(4)))


@cache
def strengths() -> dict[int, float]:
    """Every hand: the share of hands that win less often than it does, when cards are played in any order."""
    masks = HANDS.astype(np.int64)
    cards = np.array([[STRENGTH[i] for i in range(40) if mask >> i & 1] for mask in masks.tolist()])  # [hands, 3]
    kinds, kind = np.unique(np.sort(cards, axis=1), axis=0, return_inverse=True)  # [kinds, 3], [hands]
    draws = np.random.Generator(np.random.PCG64(1))
    others = draws.permuted(cards[draws.integers(len(cards), size=OPPONENTS)], axis=1)  # [opponents, 3]
    orders = draws.permuted(np.tile(np.arange(3), (OPPONENTS, 1)), axis=1)
    won = _won(np.sign(kinds[:, orders] - others)).mean(axis=1)[kind.ravel()]  # [hands]
    ranked = np.searchsorted(np.sort(won), won) / len(won)
    return dict(zip(masks.tolist(), ranked.tolist(), strict=True))


def _won(tricks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Who wins the hand by the winners of its tricks [..., 3], 1 or -1, 0 parda: 1, 0, or 1/2 where all are parda."""
    first, second, third = np.moveaxis(tricks, -1, 0)
    decided = np.where(third != 0, third, first)
    decided = np.where((second == 0) | (second == first), first, decided)
    tied = np.where(second != 0, second, third)
    return (np.where(first != 0, decided, tied) + 1) / 2


POINTS = (0, 4, 6, 20, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 34)  # where classes of envido points begin
STRENGTHS = tuple(i / 10 for i in range(11))


def count(spots: list[Spot]) -> dict[str, Any]:
    """Mean chances by class of cards, for the plots; and some numbers that tell most."""
    rows: dict[str, Any] = {"points": POINTS, "strengths": STRENGTHS}
    for score in SCORES:
        here = [spot for spot in spots if spot.score == score]
        for mano in (True, False):
            chosen = [spot for spot in here if spot.kind == "envido" and spot.mano == mano]
            rows[f"envido, {'mano' if mano else 'pie'}, {score}"] = _by(chosen, "points", POINTS)
        for kind, by, edges in (("envido answer", "points", POINTS), ("truco", "strength", STRENGTHS),
                                ("truco answer", "strength", STRENGTHS)):  # fmt: skip
            rows[f"{kind}, {score}"] = _by([spot for spot in here if spot.kind == kind], by, edges)
        for wins, name in ((1, "wins"), (0, "loses")):
            last = [spot for spot in here if spot.kind == "last card" and spot.wins == wins]
            rows[f"last card {name}, {score}"] = {"n": len(last), "call": _mean([spot.call for spot in last])}
        answers = [spot for spot in here if spot.kind == "last answer"]
        rows[f"last answer, {score}"] = {"n": len(answers), "accept": _mean([1 - spot.decline for spot in answers])}
    return {"rows": rows, "headlines": headlines(spots)}


def _by(spots: list[Spot], what: str, edges: tuple[float, ...]) -> dict[str, list[Any]]:
    """Means in each class of cards; None where there was no such decision."""
    classes: list[list[Spot]] = [[] for _ in edges[1:]]
    for spot in spots:
        place = int(np.searchsorted(edges, getattr(spot, what), side="right")) - 1
        classes[min(place, len(classes) - 1)].append(spot)
    told: dict[str, list[Any]] = {"n": [len(chosen) for chosen in classes]}
    for chance in ("call", "accept", "decline"):
        told[chance] = [_mean([getattr(spot, chance) for spot in chosen]) for chosen in classes]
    return told


def _mean(numbers: list[float]) -> float | None:
    return float(np.mean(numbers)) if numbers else None


def headlines(spots: list[Spot]) -> dict[str, float | None]:
    """What a Truco player would ask first; at even scores of which a hand does not decide the match."""
    even = [spot for spot in spots if spot.score in ("0-0", "14-14")]

    def share(kind: str, field: str, keep: Any = lambda spot: True) -> float | None:
        return _mean([getattr(spot, field) for spot in even if spot.kind == kind and keep(spot)])

    return {
        "envido called with 30 or more, mano": share("envido", "call", lambda x: x.mano and x.points >= 30),
        "envido called with 7 or less, mano": share("envido", "call", lambda x: x.mano and x.points <= 7),
        "30 or more, passed, then raised": share("envido answer", "call", lambda x: x.passed and x.points >= 30),
        "truco called with the best tenth": share("truco", "call", lambda x: x.strength >= 0.9),
        "truco called with the worst fifth": share("truco", "call", lambda x: x.strength < 0.2),
        "truco declined": share("truco answer", "decline"),
        "truco with a last card that wins": share("last card", "call", lambda x: x.wins == 1),
        "truco with a last card that loses": share("last card", "call", lambda x: x.wins == 0),
        "bet on the last card declined": share("last answer", "decline"),
    }
