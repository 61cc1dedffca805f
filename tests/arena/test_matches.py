"""Matches: fair, exact, and the same for any number of workers."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from tapete.agents import load
from tapete.agents.equilibrium import Equilibrium
from tapete.arena import Deal, match, matches, play
from tapete.arena.lineups import rotations
from tapete.arena.playing import Stopped
from tapete.arena.statistics import mean_interval, p_value
from tapete.core import CHANCE, TapeteError, Thought, make
from tapete.solve import find
from tapete.solve.response import prove
from tapete.solve.sequence_form import SequenceForm
from tests.oracles.trees import choices, grow, plans, strategy_of


def split(game, actions):
    """The actions of chance, and those of players."""
    state = game.start()
    split: tuple[list[int], list[int]] = ([], [])
    for action in actions:
        split[state.player != CHANCE].append(action)
        state.apply(action)
    return split


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("kuhn", "random"),
        ("kuhn", "equilibrium"),
        ("leduc", "random"),
        ("leduc", "equilibrium"),
        ("truco", "random"),
        ("othello", "random"),
        ("othello", "mcts(20)"),
        ("dilemma", "random"),
        ("doudizhu", "random"),
        ("holdem(players=7)", "random"),
        ("holdem(players=4,rake=0.07,rake_cap=3)", "random"),
    ],
)
def test_an_agent_is_exactly_even_with_itself(name, agent):
    result = match(name, agent, agent, games=14)
    assert (result.differences == 0).all()
    assert (result.shares == 0.5).all()
    assert result.p == result.share_p == 1
    assert result.interval[0] < 0.5 < result.interval[1], "not known for sure"
    assert len({played.actions for played in result.games}) > 1, "and not because nothing happened"
    if result.game.spec.zero_sum:
        assert result.mean == 0
        assert result.mean_interval[0] < 0 < result.mean_interval[1], "not known for sure"


def test_the_mean_is_the_exact_one():
    """Of the equilibrium of Kuhn poker against random play, on both seats, by the sequence form."""
    game = make("kuhn")
    form, root = SequenceForm.of(game), grow(game)
    keys = choices(root, 0) | choices(root, 1)
    strategy = find(game)
    assert strategy is not None
    best = plans(form, strategy_of(strategy, keys))

    def equilibrium(game):
        return Equilibrium(game, strategy)

    uniform = plans(form, {key: [1 / n] * n for key, n in keys.items()})
    exact = (prove(form, (best[0], uniform[1])).value - prove(form, (uniform[0], best[1])).value) / 2
    result = match(game, equilibrium, "random", games=6000)
    low, high = result.mean_interval
    assert low < exact < high
    assert high - low < 0.05
    assert result.p < 0.001


FIXED = {
    "first": lambda game: _Fixed(lambda view: view.actions()[0]),
    "last": lambda game: _Fixed(lambda view: view.actions()[-1]),
}


@pytest.mark.parametrize(
    ("name", "lineups"),
    [
        ("leduc", ()),
        ("battle", ()),  # payoffs that add up to something
        ("doudizhu", ()),
        ("doudizhu", ("ABB", "BAA")),
        ("holdem(players=4,rake=0.05)", ()),
        ("holdem(players=4,rake=0.05,rake_cap=1)", ("AABB", "BBAA")),
    ],
)
@pytest.mark.parametrize("agents", [("random", "last"), ("first", "random")])
def test_the_figures_are_those_of_the_games(name, lineups, agents):
    """All of them computed again, by loops, from what each seat was paid in each game."""
    result = match(name, *(FIXED.get(agent, agent) for agent in agents), games=24, lineups=lineups, seed=5)
    step = len(result.lineups)
    shares, payoffs, differences, results = [], [], [], [0, 0, 0]
    for number, start in enumerate(range(0, len(result.games), step)):
        share = paid = ahead = 0.0
        for played, lineup in zip(result.games[start : start + step], result.lineups, strict=True):
            assert (played.deal, played.lineup) == (number, lineup)
            ours = [pay for side, pay in zip(lineup, played.returns, strict=True) if side == "A"]
            theirs = [pay for side, pay in zip(lineup, played.returns, strict=True) if side == "B"]
            better = [1.0 if x > y else 0.5 if x == y else 0.0 for x in ours for y in theirs]
            more = sum(ours) / len(ours) - sum(theirs) / len(theirs)
            share, paid, ahead = share + sum(better) / len(better), paid + sum(ours), ahead + more
            results[0 if more > 1e-9 else 1 if more > -1e-9 else 2] += 1
        shares.append(share / step)
        payoffs.append(paid / step)
        differences.append(ahead / step)
    assert result.shares == pytest.approx(shares)
    assert result.payoffs == pytest.approx(payoffs)
    assert result.differences == pytest.approx(differences)
    assert any(differences)
    assert result.results == tuple(results)
    assert (result.win_share, result.mean) == pytest.approx((np.mean(shares), np.mean(payoffs)))
    data = result.to_json()
    assert data["difference"] == pytest.approx(np.mean(differences))
    assert (data["wins"], data["draws"], data["losses"]) == tuple(results)
    assert (data["games"], data["deals"]) == (len(result.games), len(shares))


def test_who_is_better_is_ahead():
    """Signs, where it is known who wins: paper against rock."""
    paper, rock = (
        lambda game, move=move: _Fixed(lambda view: next(a for a in view.actions() if view.write(a) == move))
        for move in ("paper", "rock")
    )
    for one, other, sign in ((paper, rock, 1), (rock, paper, -1)):
        result = match("rps", one, other, games=20)
        assert result.differences.tolist() == [2.0 * sign] * 10
        assert result.payoffs.tolist() == [1.0 * sign] * 10
        assert result.win_share == (1 + sign) / 2
        assert result.to_json()["difference"] == 2 * sign
        assert result.p == pytest.approx(1), "one deal, repeated"
        result = replace(result, games=tuple(map(drawn, result.games)))  # as if it had happened ten times by chance
        assert (result.p, result.share_p) == pytest.approx((2 / 2**10, 2 / 2**10))


def drawn(played):
    """A game as it would be if something had been drawn in it."""
    return played._replace(draws=1)


@pytest.mark.parametrize(
    ("name", "lineups", "bounds", "differences"),
    [
        ("kuhn", (), (-2, 2), (-4, 4)),
        ("doudizhu", (), (-16384, 16384), (-24576, 24576)),
        ("doudizhu", ("ABB", "BAA"), (-16384, 16384), (-24576, 24576)),  # two peasants lose what the landlord wins
        ("holdem(players=3)", (), (-48, 96), (-72, 144)),  # a seat wins what two others pay
        ("holdem(players=4)", ("AABB", "BBAA"), (-96, 96), (-96, 96)),
        ("holdem(players=3,rake=0.05)", (), (-48, 96), (-144, 144)),  # somebody else is paid too
        ("battle", (), (0, 2), (-2, 2)),
    ],
)
def test_intervals_know_what_is_possible(name, lineups, bounds, differences):
    """The figures of a match are those of the statistics, with the least and the most that a deal can bring."""
    result = match(name, "random", FIXED["last"], games=7, lineups=lineups)
    assert result.mean_interval == mean_interval(result.payoffs, *bounds)
    assert result.interval == mean_interval(result.shares, 0, 1)
    assert result.p == p_value(result.differences, 0, *differences)
    assert result.share_p == p_value(result.shares, 0.5, 0, 1)


def test_deals_on_which_nothing_is_drawn_count_once():
    """The case that was found: 100 games that were two, and p = 1.8e-15."""
    result = match("othello", FIXED["first"], FIXED["last"], games=100)
    assert (len(result.games), result.different, result.independent) == (100, 2, 1)
    assert result.p == p_value(result.differences[:1], 0, -2, 2) >= 0.5
    assert result.interval == mean_interval(result.shares[:1], 0, 1)
    assert result.mean_interval == mean_interval(result.payoffs[:1], -1, 1)
    (warning,) = result.warnings
    assert "only 1 of 50 deals differ" in warning
    assert "--openings 8" in warning
    data = result.to_json()
    assert (data["different"], data["independent"], data["warnings"]) == (2, 1, [warning])


def test_openings_make_deals_differ():
    """One ply gives four openings, of which two are the same in a mirror; eight plies give as many as one likes."""
    few, many = (match("othello", FIXED["first"], FIXED["last"], games=60, openings=n) for n in (1, 8))
    assert (few.different, few.independent) == (8, 4)
    assert (many.different, many.independent, many.warnings) == (60, 30, [])
    assert len(few.warnings) == 1


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [("kuhn", "first", "last"), ("rps", "first", "random"), ("rps", "random", "first")],
)
def test_deals_count_where_chance_or_an_agent_draws(name, a, b):
    """Small games repeat themselves, and are independent all the same."""
    result = match(name, FIXED.get(a, a), FIXED.get(b, b), games=80)
    assert result.different < 40
    assert result.independent == 40
    assert result.warnings == []


def test_a_deal_counts_if_anything_was_drawn_in_one_of_its_games():
    result = match("rps", FIXED["first"], FIXED["last"], games=20)
    games = list(result.games)
    games[7] = drawn(games[7])  # of the fourth deal
    assert replace(result, games=tuple(games)).independent == 2
    games[6] = drawn(games[6])
    assert replace(result, games=tuple(games)).independent == 2


def test_draws_are_those_of_chance_and_of_agents_that_are_not_sure():
    game = make("leduc")
    sides = {"A": FIXED["first"], "B": lambda game: load("random", game)}
    for number in range(20):
        played = play(game, "AB", sides, Deal(1, number))
        state, draws = game.start(), 0
        for action in played.actions:
            draws += (state.player == CHANCE or state.player == 1) and len(state.actions()) > 1
            state.apply(action)
        assert played.draws == draws > 0
        assert played.luck == ()
    assert play(make("othello"), "AA", {"A": FIXED["first"]}, Deal(1, 1), openings=4).draws == 0


def test_who_wins_more_often_may_still_be_paid_less():
    result = match("doudizhu", "random", "random", games=30)
    games = [
        played._replace(returns=tuple(2.0 if side == "A" else -1.0 for side in played.lineup), draws=1)
        for played in result.games
    ]
    ahead = replace(result, games=tuple(games))
    assert ahead.share_p < 0.05 < ahead.p
    (warning,) = ahead.warnings
    assert "-16,384 to +16,384" in warning
    assert result.warnings == []


def test_moves_and_time_are_counted_by_side():
    def slow(game):
        return _Fixed(lambda view: threading.Event().wait(0.001) or view.actions()[0])

    result = match("leduc", "random", slow, games=6)
    for played in result.games:
        state, moves = result.game.start(), [0, 0]
        for action in played.actions:
            if state.player != CHANCE:
                moves["AB".index(played.lineup[state.player])] += 1
            state.apply(action)
        assert played.moves == tuple(moves)
        assert played.seconds[1] >= 0.001 * moves[1] > 0
    total = sum(played.seconds[1] for played in result.games) / sum(played.moves[1] for played in result.games)
    assert result.milliseconds[1] == pytest.approx(1000 * total)


def test_seats_draw_from_streams_of_their_own():
    """Whoever sits there: the same seat of the same deal draws the same, and no two seats or deals do."""
    drawn: dict[tuple[int, int], set[int]] = {}  # by deal and seat
    done: list[int] = []

    class Draws:
        def think(self, view, rng):
            drawn.setdefault((len(done), view.seat), set()).add(rng.below(2**30))
            return Thought(probabilities={view.actions()[0]: 1.0})

    def watch(played: int, of: int, share: float) -> None:
        done.append(played)

    match("rps", lambda game: Draws(), lambda game: Draws(), games=8, workers=1, watch=watch)  # one deal at a time
    assert len(drawn) == 8
    assert all(len(numbers) == 1 for numbers in drawn.values()), "in both games of a deal the same"
    assert len(set().union(*drawn.values())) == 8


def test_swapping_the_agents_turns_the_result_around():
    one, other = match("leduc", "equilibrium", "random", games=60), match("leduc", "random", "equilibrium", games=60)
    assert other.differences.tolist() == (-one.differences).tolist()
    assert other.win_share == pytest.approx(1 - one.win_share)
    assert other.results == one.results[::-1]
    assert other.p == one.p


@pytest.mark.parametrize("name", ["leduc", "holdem", "truco", "domino(3,3)"])
def test_games_of_a_deal_see_the_same_cards(name):
    """Even after play has diverged: what chance does in one game begins with what it does in the other."""
    result = match(name, "random", _last, games=40)
    first, second = (
        [split(result.game, played.actions) for played in result.games if played.lineup == lineup]
        for lineup in ("AB", "BA")
    )
    assert any(one != other for (_, one), (_, other) in zip(first, second, strict=True))
    for (one, _), (other, _) in zip(first, second, strict=True):
        shorter = min(len(one), len(other))
        if name != "domino(3,3)":
            assert one[:shorter] == other[:shorter]
        else:  # later a tile may be drawn from what the other game has no longer
            assert one[:6] == other[:6]
    assert len({tuple(chance[:4]) for chance, _ in first}) > 10, "deals differ from one another"


def _last(game):
    """Always makes the last legal move."""
    return _Fixed(lambda view: view.actions()[-1])


class _Fixed:
    def __init__(self, move):
        self.move = move

    def think(self, view, rng):
        return Thought(probabilities={self.move(view): 1.0})


@pytest.mark.parametrize("plies", [1, 3, 8])
def test_openings_are_random_and_the_same_for_both(plies):
    result = match("othello", _last, "random", games=24, openings=plies)
    begun = [played.actions[:plies] for played in result.games]
    assert begun[::2] == begun[1::2]
    assert len(set(begun)) >= {1: 3, 3: 9, 8: 12}[plies]
    assert all(sum(played.moves) == len(played.actions) - plies for played in result.games)


def test_an_opening_may_be_the_whole_game():
    result = match("kuhn", "random", "equilibrium", games=10, openings=9)
    assert (result.differences == 0).all()
    assert result.milliseconds == (0, 0)


@pytest.mark.parametrize("name", ["kuhn", "othello"])
def test_workers_change_nothing(name, monkeypatch):
    alone = match(name, "random", _last, games=30, workers=1)
    monkeypatch.setattr(matches, "QUICK", 0.0)  # threads, however quick the agents
    for workers in (2, 5):
        result = match(name, "random", _last, games=30, workers=workers)
        assert [played[:4] for played in result.games] == [played[:4] for played in alone.games]
        assert result.to_json() | {"milliseconds": 0} == alone.to_json() | {"milliseconds": 0}


def test_another_seed_is_another_match():
    games = [match("leduc", "random", "random", games=10, seed=seed).games for seed in (1, 1, 2)]
    actions = [[played.actions for played in some] for some in games]
    assert actions[0] == actions[1] != actions[2]


def test_more_deals_begin_with_the_same_ones():
    few, many = (match("leduc", "random", "equilibrium", games=n) for n in (9, 30))
    assert len(few.games) == 10, "rounded up to whole deals"
    assert [played.actions for played in many.games[:10]] == [played.actions for played in few.games]


def test_every_seat_of_every_game_gets_a_fresh_agent():
    made = []

    def make_one(game):
        made.append(_Fixed(lambda view: view.actions()[0]))
        return made[-1]

    match("holdem(players=3)", make_one, "random", games=12)
    assert len(made) == 12 + 1, "one a game, and one to see whether it can be made"


def test_an_agent_sees_a_view_of_its_own_seat():
    seats = []

    def look(view):
        seats.append((view.seat, view.player))
        return view.actions()[0]

    match("leduc", lambda game: _Fixed(look), "random", games=4)
    assert set(seats) == {(0, 0), (1, 1)}


def test_lineups_seat_teams():
    result = match("doudizhu", "random", _last, games=8, lineups=("ABB", "BAA"))
    assert [played.lineup for played in result.games] == ["ABB", "BAA"] * 4
    assert set(result.shares) <= {0.0, 0.5, 1.0}, "the landlord wins or the peasants do"
    assert result.mean == pytest.approx(np.mean([_of_a(played) for played in result.games]))
    even = match("doudizhu", "random", "random", games=8, lineups=("ABB", "BAA"))
    assert (even.mean, even.win_share) == (0, 0.5)


def _of_a(played):
    return sum(payoff for side, payoff in zip(played.lineup, played.returns, strict=True) if side == "A")


def test_draws_count_half():
    result = match("rps", _last, _last, games=6)
    assert (result.results, result.win_share) == ((0, 6, 0), 0.5)
    result = match("rps", _last, lambda game: _Fixed(lambda view: view.actions()[0]), games=6)
    assert (result.results, result.win_share, result.mean) in [((6, 0, 0), 1, 1), ((0, 0, 6), 0, -1)]


@pytest.mark.parametrize("players", [2, 3, 10])
def test_everybody_takes_every_seat(players):
    lineups = rotations(players)
    assert [lineup.index("A") for lineup in lineups] == list(range(players))
    assert all(len(lineup) == players and lineup.count("A") == 1 for lineup in lineups)


def test_records_tell_the_games():
    result = match("truco", "random", _last, games=4)
    for played in result.games:
        record = result.record(played)
        assert record.seats == tuple({"A": "random", "B": "_last"}[side] for side in played.lineup)
        state = record.replay()
        assert state.over
        assert tuple(state.returns()) == played.returns
        assert tuple(state.history or ()) == played.actions


def test_time_is_told_by_agent():
    def think_long(game):
        return _Fixed(lambda view: threading.Event().wait(0.002) or view.actions()[0])

    slow, quick = match("kuhn", think_long, "random", games=10).milliseconds
    assert slow > 2
    assert slow > 3 * quick > 0


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(("name", "action"), [("othello", 63), ("kuhn", 7)])
def test_an_illegal_move_is_told_in_one_line(name, action, workers, monkeypatch):
    monkeypatch.setattr(matches, "QUICK", 0.0)
    with pytest.raises(TapeteError, match=r"^_Fixed on seat \d: .* can't be played here; legal: .*$"):
        match(name, "random", lambda game: _Fixed(lambda view: action), games=40, workers=workers)


def test_a_game_that_is_stopped_ends_before_the_next_move():
    game, stop, moves = make("othello"), threading.Event(), []

    def move(view):
        moves.append(view.player)
        if len(moves) == 3:
            stop.set()
        return view.actions()[0]

    sides = dict.fromkeys("AB", lambda game: _Fixed(move))
    with pytest.raises(Stopped):
        play(game, "AB", sides, Deal(1, 0), stop=stop)
    assert moves == [0, 1, 0]


def test_ctrl_c_leaves_no_thread_behind(monkeypatch):
    monkeypatch.setattr(matches, "QUICK", 0.0)
    before = threading.active_count()
    seen = []

    def watch(done, of, share):
        seen.append((done, of))
        if done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        match("othello", "random", "random", games=100_000, workers=3, watch=watch)
    assert threading.active_count() == before
    assert seen == [(done, 100_000) for done in (2, 4, 6, 8, 10)]


def test_the_running_score_ends_at_the_result():
    seen = []
    result = match("leduc", "random", "equilibrium", games=20, watch=lambda *now: seen.append(now))
    assert seen[-1] == (20, 20, pytest.approx(result.win_share))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"games": 0}, "games must be 1 or more, not 0"),
        ({"openings": -1}, "openings must be 0 or more, not -1"),
        ({"workers": 0}, "workers must be 1 or more, not 0"),
        ({"lineups": ("AB",)}, "seat 0 is not shared out evenly"),
        ({"lineups": ("AB", "AB", "BA")}, "seat 0 is not shared out evenly"),
        ({"lineups": ("ABB", "BAA")}, "'ABB' doesn't seat A and B on the 2 seats of kuhn"),
        ({"lineups": ("AA", "BB")}, "'AA' doesn't seat A and B"),
        ({"b": "nobody"}, "there is no agent 'nobody'"),
    ],
)
def test_bad_input_is_refused_before_the_first_game(options, complaint):
    with pytest.raises(TapeteError, match=complaint):
        match("kuhn", "random", **{"b": _untouched, **options})


def _untouched(game):
    def fail(view):
        raise AssertionError("a game was begun")

    return _Fixed(fail)


def test_play_is_a_game_on_a_deal():
    game = make("leduc")
    sides = {"A": lambda game: load("random", game), "B": lambda game: load("equilibrium", game)}
    played = [play(game, lineup, sides, Deal(1, 2)) for lineup in ("AB", "AB", "BA")]
    assert played[0][:4] == played[1][:4]
    assert split(game, played[0].actions)[0][:2] == split(game, played[2].actions)[0][:2]
