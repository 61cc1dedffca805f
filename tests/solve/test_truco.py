"""Truco solved by an abstraction: its tables against counting, its player against the rules, and small runs."""

from __future__ import annotations

import json
import threading
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete import Rng, TapeteError, make
from tapete.agents import load
from tapete.agents.compiled import seated
from tapete.core import State
from tapete.core.arrays import read_arrays
from tapete.core.players import judge_moves
from tapete.games.truco import equity
from tapete.games.truco.bets import NO_QUIERO, QUIERO
from tapete.games.truco.cards import CARDS, NAMES, STRENGTH, SUIT_POINTS
from tapete.shipped import find
from tapete.solve.truco import blueprint, open_hands
from tapete.solve.truco.abstraction import PLACES, tables
from tapete.solve.truco.knowledge import FIRST_LEVELS, PAIRS, POINTS, RANKS, TRIPLES, Knowledge, holdings
from tapete.solve.truco.levels import POOR, weakened
from tapete.solve.truco.local import respond, single_hand, worth_of_a_point
from tapete.solve.truco.player import strategy_player
from tapete.solve.truco.training import LEAST, OLD, Training, averages, backwards, backwards_against, first_guess, train
from tapete.solve.truco.uniform import uniform
from tapete.testing import check_player
from tests.conftest import Tapete


@pytest.fixture(scope="module")
def shipped() -> tuple[NDArray[np.uint8], Knowledge]:
    path = find("blueprints/truco.safetensors")
    assert path
    return blueprint.read(path)[:2]


# Hands with open cards


def open_value(state: State, seat: int) -> int:
    """Whether the seat wins the hand if both see all cards and nobody bets, by the rules themselves."""
    if state.over:
        return int(state.returns()[seat] > 0)
    cards = [action for action in state.actions() if action < CARDS]
    values = [open_value(state.copy().apply(card), seat) for card in cards]
    return max(values) if state.player == seat else min(values)


def test_open_hands_are_won_as_by_the_rules():
    rng = Rng("open")
    for _ in range(30):
        state = make("truco(hand=true)").start().deal(rng)
        hands = [
            [card for card in range(CARDS) if int(state.game.record(state.data)["hand"][seat]) >> card & 1]
            for seat in range(2)
        ]
        one, two = (np.array([open_hands.written(STRENGTH[hand])]) for hand in hands)
        mano = open_hands.share_first(int(one[0]), 0, 1, two, np.ones(1))
        pie = open_hands.share_first(int(two[0]), 0, 0, one, np.ones(1))
        assert (mano, pie) == (open_value(state, 0), open_value(state, 1))
        card = rng.choice(hands[0])
        state.apply(card)
        left = np.array([open_hands.written(STRENGTH[[other for other in hands[0] if other != card]])])
        follows = open_hands.share_following(int(two[0]), int(STRENGTH[card]) + 1, left, np.ones(1))
        assert follows == open_value(state, 1)
        state.apply(rng.choice(hands[1]))
        if not state.over:
            second(state)


def second(state: State) -> None:
    """The same in the second trick."""
    s = state.game.record(state.data)
    first = [open_hands.MINE, open_hands.THEIRS, open_hands.PARDA]
    left = [
        [int(STRENGTH[c]) for c in range(CARDS) if (int(s["hand"][i]) & ~int(s["played"])) >> c & 1] for i in range(2)
    ]
    won = first[2] if s["winner"][0] == 2 else first[int(s["winner"][0])]
    theirs = np.array([open_hands.written(left[1])])
    value = open_hands.share_second(open_hands.written(left[0]), 0, int(state.player == 0), won, 1, theirs, np.ones(1))
    assert value == open_value(state, 0)


# What is known of the other's cards


def test_the_last_card_is_as_likely_as_counting_says():
    """Who has shown 27 and played the 7 of espadas and a 4 has a figure of espadas left."""
    lasts = holdings().lasts
    seven, four = STRENGTH[NAMES.index("7e")], STRENGTH[NAMES.index("4c")]
    pair = PAIRS.index(tuple(sorted((int(seven), int(four)))))
    counts = np.zeros(RANKS)
    for suit in "bco":
        for card in range(CARDS):
            hand = {NAMES.index("7e"), NAMES.index(f"4{suit}"), card}
            if len(hand) == 3 and points_of(hand) == 27:
                counts[STRENGTH[card]] += 1
    for card in range(CARDS):  # and the 4 of espadas, which with the 7 makes 31
        assert points_of({NAMES.index("7e"), NAMES.index("4e"), card}) != 27
    assert lasts[1 + POINTS.index(27), pair] == pytest.approx(counts / counts.sum())


def points_of(hand: set[int]) -> int:
    return max(int(SUIT_POINTS[sum(1 << card % 10 for card in hand if card // 10 == suit)]) for suit in range(4))


def test_all_hands_are_counted():
    held = holdings()
    assert held.triples.sum(axis=1) == pytest.approx(1)
    assert (held.triples[0] > 0).sum() == 502, "the multisets of truco ranks"
    assert sum((held.triples[shown] > 0).sum() for shown in range(1, len(POINTS) + 1)) == 1476
    best = STRENGTH.argmax()
    with_best = sum(best in hand for hand in combinations(range(CARDS), 3)) / 9880
    assert held.pairs[0, STRENGTH[best]].sum() == pytest.approx(1)
    assert with_best == pytest.approx(3 / 40)


# The strategy as a player


@pytest.mark.parametrize("game", ["truco", "truco(points=15)", "truco(hand=true,score0=28,score1=3)"])
def test_the_player_is_in_order_and_looks_at_nothing_hidden(game: str, shipped: Any):
    check_player(lambda: strategy_player(*shipped), game, games=8)


def test_every_move_but_equal_cards_has_a_choice(shipped: Any):
    """Where a strategy is even everywhere, each legal move is made, and of equal cards one."""
    known = shipped[1]
    for name in ("truco", "truco(mazo=true)"):
        game, even = make(name), strategy_player(np.ones(PLACES, dtype=np.uint8), known)
        for number in range(6):
            rng = Rng("choice", number)
            state = game.start().deal(rng)
            while not state.over:
                legal = state.actions()
                said = judge_moves(even, game, state.data, state.player, legal)
                never = [legal[i] for i in np.flatnonzero(said == 0)]
                strengths = {int(STRENGTH[card]) for card in legal if card < CARDS and card not in never}
                assert all(card < CARDS and STRENGTH[card] in strengths for card in never)
                state.apply(rng.choice(legal)).deal(rng)


def test_it_knows_what_it_is_worth_to_win_and_to_lose():
    """At 29-29 whoever wins the envido wins: 33 points want it, and nobody declines who must not."""
    game = make("truco(score0=29,score1=29)")
    policy = load("best", game)
    state = game.read("7o 1e 6o 4c 1b 5b")
    calls = policy.think(state.view(0), Rng(1)).probabilities
    assert sum(calls[action] for action in (40, 41, 42)) > 0.9, "33 points win the match at once"
    state.apply("envido")
    assert policy.think(state.view(1), Rng(1)).probabilities[45] < 0.05, "declining it loses the match at once"


def test_best_answers_without_torch_and_levels_differ():
    game = make("truco")
    state = game.read("1e 4c 1b 5o 7e 6b")
    thoughts = [load(f"best({level})", game).think(state.view(0), Rng(1)) for level in range(1, 6)]
    assert thoughts[4] == load("blueprint", game).think(state.view(0), Rng(1))
    assert thoughts[0] != thoughts[4]
    with pytest.raises(TapeteError, match="between 1 and 5"):
        load("blueprint(6)", game)
    with pytest.raises(TapeteError, match="no strategy for whole matches"):
        load("blueprint", make("kuhn"))


def test_weaker_levels_bluff_less(shipped: Any):
    probs = shipped[0]

    def raises_on_poor_hands(level: int, name: str) -> float:
        found = tables(weakened(probs, level))
        table = found[name][POOR[len(TRIPLES)]] if name == "bet_leading" else found[name][:, : FIRST_LEVELS // 2]
        return float(table[..., 1].sum() / table.sum())

    for name in ("bet0", "bet_leading"):
        bluffs = [raises_on_poor_hands(level, name) for level in (1, 3, 5)]
        assert bluffs[0] == 0
        assert bluffs[2] > bluffs[1] > bluffs[0]
    assert (weakened(probs, 5) == probs).all()


# Equity and training


def test_equity_follows_from_what_hands_come_to():
    """If mano wins every hand by a point, who is mano wins alternately; a fair coin for a point gives binomials."""

    def mano_wins(mano: int, other: int) -> NDArray[np.int64]:
        counts = np.zeros((31, 31), dtype=np.int64)
        counts[mano - 1, other] = 1
        return counts

    equity = backwards(mano_wins)
    assert equity[1, 1] == 1
    assert equity[2, 1] == 0
    assert equity[2, 2] == 1
    assert equity[5, 3] == 0

    def coin(mano: int, other: int) -> NDArray[np.int64]:
        return mano_wins(mano, other) + mano_wins(other, mano).T

    equity = backwards(coin)
    assert equity[1, 2] == 0.75
    assert equity[2, 3] == pytest.approx(11 / 16)
    assert np.diagonal(equity)[1:] == pytest.approx(0.5)


def test_equity_of_two_who_play_differently():
    """Who wins every hand as mano and two of three as the other, by a point; and a fair coin, as above."""

    def one_is_better(first: int, mano: int, other: int) -> NDArray[np.int64]:
        counts = np.zeros((31, 31), dtype=np.int64)
        counts[mano - 1, other], counts[mano, other - 1] = (1, 2) if first else (1, 0)
        return counts

    chances = backwards_against(one_is_better)
    assert chances[:, 1, 1] == pytest.approx([1, 2 / 3])
    assert chances[0, 2, 1] == pytest.approx(2 / 3), "he wins as mano, then two of three"
    assert chances[1, 1, 2] == pytest.approx(2 / 3 + 1 / 3)
    assert chances[1, 2, 1] == pytest.approx(2 / 3)

    def coin(first: int, mano: int, other: int) -> NDArray[np.int64]:
        counts = np.zeros((31, 31), dtype=np.int64)
        counts[mano - 1, other] = counts[mano, other - 1] = 1
        return counts

    same = backwards(lambda mano, other: coin(0, mano, other))
    np.testing.assert_allclose(backwards_against(coin)[:, 1:, 1:], np.tile(same[1:, 1:], (2, 1, 1)))


@pytest.mark.parametrize("name", ["truco", "truco(mazo=true)"])
def test_random_play_has_a_row_for_everything(name: str, shipped: Any):
    """Every legal move is equally likely; of equal cards, one stands for all. Nobody declines and loses the match."""
    game, player = make(name), strategy_player(uniform(mazo="mazo" in name), shipped[1])
    for number in range(12):
        rng = Rng("uniform", number)
        state = game.start().deal(rng)
        while not state.over:
            legal = state.actions()
            said = judge_moves(player, game, state.data, state.player, legal)
            moves = legal
            if NO_QUIERO in legal and state.copy().apply(NO_QUIERO).over:
                moves = [QUIERO if move == NO_QUIERO else move for move in legal]
                assert said[legal.index(NO_QUIERO)] == 0
            kinds = [int(STRENGTH[move]) if move < CARDS else 100 + move for move in moves]
            for kind in kinds:
                share = sum(chance for other, chance in zip(kinds, said, strict=True) if other == kind)
                assert share == pytest.approx(kinds.count(kind) / len(legal), abs=1e-5)
            state.apply(rng.choice(legal)).deal(rng)


def test_a_response_to_random_play_wins_more_with_every_hand_it_walks():
    run = Training(make("truco"), seed=2, against=Path("random"))
    assert run.equity[1, 30, 30] == pytest.approx(0.5, abs=0.05)
    run.epoch(40_000)
    gain, margin = run.gain(20_000)
    assert gain - margin > 0.05, "0.08 +- 0.003 of a match, in one hand"
    run.refresh(4)  # noise of some 5 %, either seat
    assert (run.equity[1, 30, 30] + 1 - run.equity[0, 30, 30]) / 2 > 0.58
    assert "wins as mano" in run.standing()


def test_the_first_guess_is_a_probability_that_falls_with_what_one_lacks():
    guess = first_guess()
    assert ((guess >= 0) & (guess <= 1)).all()
    assert (np.diff(guess[1:, 1:], axis=0) < 0).all()


@pytest.mark.parametrize("name", ["kuhn", "truco(hand=true)", "truco(points=15)"])
def test_only_whole_matches_to_30_are_solved(name: str):
    with pytest.raises(TapeteError, match="a blueprint is of truco"):
        Training(make(name), seed=1)


def test_a_run_that_was_stopped_goes_on_as_if_nothing_had_happened(tmp_path: Path):
    def runs(*hands: int) -> Training:
        path = tmp_path / f"{len(hands)}.run"
        for i, until in enumerate(hands):
            run = Training(make("truco(mazo=true)"), seed=3)
            if i:
                run.load(path)
            train(run, path, hands=until, epoch=100, stop=threading.Event(), tell=lambda line: None)
        return run

    whole, parts = runs(400), runs(200, 400)
    assert (whole.hands, whole.epochs) == (parts.hands, parts.epochs) == (400, 4)
    assert (whole.regrets == parts.regrets).all()
    assert (whole.equity == parts.equity).all()
    probs = averages(whole.sums)
    assert 0 < (whole.sums > 0).mean() < (probs > 0).mean() < 1, "rows lean on their neighbours"
    whole.write_equity(tmp_path / "equity.safetensors", 3)
    counted, _ = read_arrays(tmp_path / "equity.safetensors", equity.FORMAT)
    assert (counted["plain"] == equity.table()[0]).all(), "only the run's own table is counted"
    assert (counted["mazo"] == whole.equity).all()
    assert (counted["mazo"] != equity.table()[1]).any()
    whole.write(tmp_path / "strategy.safetensors")
    again, known, about = blueprint.read(tmp_path / "strategy.safetensors")
    assert about["hands"] == 400
    assert np.abs(again / 255 - np.where(probs < LEAST, 0, probs)).max() < 0.01
    check_player(lambda: strategy_player(again, known), "truco(mazo=true)", games=2)
    other = Training(make("truco"), seed=3)
    with pytest.raises(TapeteError, match="another game"):
        other.load(tmp_path / "1.run")
    other.begin_with(tmp_path / "1.run")
    assert (other.regrets == OLD * whole.regrets).all()
    assert (other.hands, other.epochs) == (0, int(OLD * whole.epochs))
    assert not other.sums.any()
    other.epoch(100)
    kept = other.regrets[(whole.regrets != 0) & (other.sums == 0)]
    assert kept.any(), "what was learned is not lost"
    load(str(tmp_path / "strategy.safetensors"), make("truco")).think(
        make("truco").start().deal(Rng(1)).view(0), Rng(1)
    )


def test_a_damaged_strategy_is_refused(tmp_path: Path, shipped: Any):
    path = tmp_path / "strategy.safetensors"
    blueprint.write(path, *shipped)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 255
    path.write_bytes(raw)
    with pytest.raises(TapeteError, match="is not a strategy of truco"):
        blueprint.read(path)


def test_a_response_gains_nothing_where_it_is_what_it_responds_to(tmp_path: Path, shipped: Any):
    path = tmp_path / "strategy.safetensors"
    blueprint.write(path, *shipped)
    run = Training(make("truco"), seed=1, against=path, score=(29, 29))
    gain, margin = run.gain(4000)  # nothing was learned, so that it plays the same
    assert abs(gain) < 2 * margin < 0.1
    run.epoch(20_000)
    after, _ = run.gain(4000)
    assert after > -2 * margin


# The commands


def test_equity_is_printed_by_score(tapete: Tapete, tmp_path: Path):
    found = json.loads(tapete("equity", "truco", "--score", "29-28", "--json").out)
    assert found.keys() == {"game", "score", "mano", "other"}
    assert 0.6 < found["mano"] < 0.9
    assert found["mano"] + found["other"] == pytest.approx(1)
    whole = json.loads(tapete("equity", "truco(points=15,mazo=true)", "--json").out)
    assert np.shape(whole["mano"]) == (15, 15)
    assert "mano's points" in tapete("equity").out
    tapete("equity", "--plot", str(tmp_path / "equity.png"))
    assert (tmp_path / "equity.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("equity", "truco", "--score", "30-0"), "both below 30"),
        (("equity", "truco", "--score", "seven"), "both below 30"),
        (("equity", "kuhn"), "nothing is known of the match equity of kuhn"),
        (("blueprint", "kuhn"), "a blueprint is of truco"),
        (("blueprint", "holdem", "--from", "a.run"), "--from begins a strategy of truco"),
        (("blueprint", "holdem", "--equity", "a.safetensors"), "--equity goes with a strategy of truco"),
        (("exploit", "kuhn", "random", "--local"), "a local response is to truco"),
        (("exploit", "truco(flor=true)", "random", "--local"), "a local response is to truco"),
        (("exploit", "truco", "ismcts(10)", "--local"), "asked in Python"),
        (("exploit", "--local"), "tapete exploit truco best --local"),
    ],
)
def test_what_has_no_equity_is_told_in_a_line(arguments: tuple[str, ...], reason: str, tapete: Tapete):
    done = tapete(*arguments)
    assert done.status == 2
    assert reason in done.err


def test_equity_is_compared_with_self_play(tapete: Tapete):
    found = json.loads(tapete("equity", "truco", "--check", "60", "--json").out)
    assert len(found["scores"]) == 20
    assert all(each["interval"][0] <= each["played"] <= each["interval"][1] for each in found["scores"])
    assert sum(each["agrees"] for each in found["scores"]) >= 17
    assert "scores are inside" in tapete("equity", "truco(points=15)", "--check", "20").out


# Local best responses


def test_a_point_is_worth_a_point_or_what_equity_says():
    assert worth_of_a_point(make("truco(hand=true)")) == 1
    assert worth_of_a_point(single_hand(make("truco(score0=29,score1=29)"))) == 1, "from 29-29 a point is the match"
    assert 0.05 < worth_of_a_point(single_hand(make("truco"))) < 0.1


def test_a_local_response_knows_what_the_other_may_hold():
    """Against who plays at random there is more to gain than against the blueprint."""
    game = single_hand(make("truco"))
    even, best = (respond(game, seated(name, game).player(), 40, worlds=60) for name in ("random", "blueprint"))
    assert even.gain(0, 1)[0] > best.gain(0, 1)[0] + best.gain(0, 1)[1]
    again = respond(game, seated("blueprint", game).player(), 40, worlds=60)
    assert (again.gains == best.gains).all(), "the same seed, the same hands"
    assert best.gains.shape == (2, 40, 5)
    assert sum(best.situations().values()) == pytest.approx(best.gain(0, 1)[0])


def test_a_guide_chooses_for_a_player_who_thinks_for_long():
    """Where the guide is the player himself, only the hands that measure a move are others."""
    game = single_hand(make("truco"))
    player = seated("blueprint", game).player()
    alone, guided = respond(game, player, 20, worlds=30), respond(game, player, 20, worlds=30, guide=player, measured=5)
    assert guided.gains.shape == alone.gains.shape
    assert (guided.gains != alone.gains).any()


def test_local_responses_are_printed(tapete: Tapete):
    done = tapete("exploit", "truco(score0=29,score1=29)", "blueprint", "--local", "-n", "4")
    assert "points a hand" in done.out
    found = json.loads(tapete("exploit", "truco", "blueprint", "--local", "-n", "4", "--json").out)
    assert found["hands"] == 4
    assert found["both"]["points"] == pytest.approx((found["mano"]["points"] + found["pie"]["points"]) / 2)


def test_a_blueprint_is_made_resumed_and_answered(tapete: Tapete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run, save, answer = (str(tmp_path / name) for name in ("a.run", "a.safetensors", "b.safetensors"))
    assert tapete("blueprint", "truco", "--run", run, "--hands", "50").status == 0
    assert "is there already" in tapete("blueprint", "truco", "--run", run).err
    assert "50 hands" not in tapete("blueprint", "truco", "--run", run, "--resume", "--hands", "60", "--save", save).err
    monkeypatch.setattr("tapete.cli.blueprint.MEASURED", 1000)
    response = tapete("blueprint", "--run", f"{run}2", "--against", save, "--hands", "60", "--save", answer)
    assert "at 0-0 the response wins" in response.out
    monkeypatch.setattr("tapete.cli.blueprint.COUNTED", 2)
    with_mazo = ("blueprint", "truco(mazo=true)", "--run", f"{run}5", "--from", run, "--hands", "60")
    assert "wins as mano" in tapete(*with_mazo, "--equity", str(tmp_path / "equity")).out
    single = tapete("blueprint", "--run", f"{run}3", "--against", save, "--score", "29-28", "--hands", "60")
    assert "at 29-28 the response wins" in single.out
    assert "both below 30" in tapete("blueprint", "--run", f"{run}4", "--against", save, "--score", "30-1").err
    assert tapete("match", "truco", answer, f"{save}(2)", "-n", "2").status == 0
