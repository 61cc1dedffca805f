"""Chromosomes and contests: the fast kernel against the rules, played move by move through views."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError, make
from tapete.core.breeding import MOST, species_of
from tapete.core.contract import CHANCE
from tapete.core.players import opinion
from tapete.games.holdem.chromosome import BETTING, USUAL, Chromosome, Factors, betting_of, gene_at, wish
from tapete.games.holdem.contest import Contest
from tapete.games.holdem.deals import HANDS, SEATS, judged, shuffle
from tapete.games.holdem.preflop import CLASSES, FOLDER, STARTS, TABLES, read_tables, start_name, start_of, table_of
from tapete.games.holdem.rules import CALL, FOLD, RAISE
from tapete.games.holdem.styles import styles
from tapete.learn.coevolution.training import joined, open_contest
from tapete.testing import check_player

TABLE = "holdem(players=10,rake=0.05,rake_cap=3)"


def some_players(count: int, factors: Factors = USUAL) -> list[Chromosome]:
    """Random ones, that rather stay in."""
    draws = np.random.default_rng(3)
    genes = np.sort(draws.integers(-60, 80, size=(count, factors.genes, 2), dtype=np.int8), axis=2)[:, :, ::-1]
    return [Chromosome(np.ascontiguousarray(thresholds), factors=factors) for thresholds in genes]


def played_slowly(
    game: Game, cards: NDArray[np.int8], players: list[Chromosome], turn: int = 1, move: int = 1
) -> NDArray[np.float64]:
    """What ten players win in the hundred hands of a deal, by the rules and by what each sees."""
    judges = [player.evaluator(game) for player in players]
    gains = np.zeros(SEATS)
    for turned, moved in product(range(SEATS), repeat=2):
        who = [(seat + move * moved) % SEATS for seat in range(SEATS)]
        order = [2 * ((seat + turn * turned) % SEATS) + i for seat in range(SEATS) for i in range(2)]
        deck = [int(cards[i]) for i in [*order, *range(2 * SEATS, 2 * SEATS + 5)]]
        state = game.start()
        while not state.over:
            if state.player == CHANCE:
                state.apply(deck.pop(0))
            else:
                said = opinion(judges[who[state.player]], state.view(state.player))
                state.apply(max(said, key=lambda action: said[action]))
        for seat, gain in enumerate(state.returns()):
            gains[who[seat]] += gain
    return gains


@pytest.mark.parametrize("factors", [Factors(), Factors(names=True, left=True)], ids=["study", "more"])
def test_a_contest_is_what_the_rules_and_the_players_say(factors: Factors) -> None:
    """And would not be with an error in the rotation or in the rake: those are planted in what it is compared with."""
    game, cards, players = make(TABLE), shuffle(2, Rng(4))[1:], some_players(SEATS, factors)
    individual, opponents = players[0], players[1:]
    results = Contest(game, judged(cards), opponents).play(individual.thresholds[None])
    fast = [results.gains[0, 0], *results.others[0]]
    slow = played_slowly(game, cards[0], players)
    assert fast == pytest.approx(slow, abs=1e-6)
    assert sum(fast) < -1, "the rake is taken"
    if factors == Factors():
        assert fast != pytest.approx(played_slowly(game, cards[0], players, turn=0), abs=1e-3)
        assert fast != pytest.approx(played_slowly(game, cards[0], players, move=0), abs=1e-3)
        assert fast != pytest.approx(played_slowly(make("holdem(players=10,rake=0.05)"), cards[0], players), abs=1e-3)


def test_results_do_not_depend_on_company() -> None:
    game, players = make(TABLE), some_players(14)
    individuals = np.stack([player.thresholds for player in players[9:]])
    contest = Contest(game, judged(shuffle(6, Rng(5)), samples=50), players[:9])
    one = contest.play(individuals)
    play = open_contest(Event(), contest=contest)
    two = joined([play(individuals[i : i + 2]) for i in range(0, len(individuals), 2)], contest.genes)
    assert (one.hands, one.simulated) == (two.hands, two.simulated)
    assert np.array_equal(one.gains.sum(axis=1), two.gains[:, 0])
    assert np.array_equal(one.others, two.others)
    assert np.array_equal(one.used, two.used)
    alone = contest.play(individuals[2:3])
    assert np.array_equal(alone.gains[0], one.gains[2])
    assert np.array_equal(alone.used[0], one.used[2])
    assert one.hands == 5 * 6 * HANDS
    assert 0 < one.simulated < one.hands / 2, "most hands are folded before the flop"


def test_hands_are_retold_as_they_were_played() -> None:
    """Cards, moves and who sat where of every hand, by the rules, give what the contest says that all have won."""
    game, players = make(TABLE), some_players(11)
    lineups = np.array([[*range(9)], [9, 8, 7, 6, 5, 4, 3, 2, 2]])
    contest = Contest(game, judged(shuffle(2, Rng(9)), samples=50), players[:10], lineups=lineups)
    results, own, others = contest.play(players[10].thresholds[None]), [0.0, 0.0], np.zeros(10)
    hands = list(contest.retold(players[10].thresholds))
    assert len(hands) == len({(*actions, *who) for actions, who in hands}) == 2 * HANDS
    for number, (actions, who) in enumerate(hands):
        for seat, gain in enumerate(game.replay(actions).returns()):
            if who[seat] < 0:
                own[number // HANDS] += gain
            else:
                others[who[seat]] += gain
    assert own == pytest.approx(results.gains[0], abs=1e-6)
    assert others == pytest.approx(results.others[0], abs=1e-6)


def test_genes_that_were_not_used_change_nothing() -> None:
    game, players = make(TABLE), some_players(10)
    contest = Contest(game, judged(shuffle(8, Rng(6)), samples=50), players[:9])
    before = contest.play(players[9].thresholds[None])
    changed = players[9].thresholds.copy()
    changed[~before.used[0]] = 7
    after = contest.play(changed[None])
    assert np.array_equal(before.gains, after.gains)
    assert np.array_equal(before.used, after.used)
    changed[before.used[0]] = MOST  # folds whatever costs something
    assert not np.array_equal(contest.play(changed[None]).gains, before.gains)


def test_lineups_say_who_sits_where() -> None:
    game, players = make(TABLE), some_players(11)
    deals = judged(shuffle(4, Rng(7)), samples=50)
    lineups = np.array([[*range(9)], [*range(1, 10)], [*range(9)], [9] * 9])
    whole = Contest(game, deals, players[:10], lineups=lineups).play(players[10].thresholds[None])
    for deal, row in enumerate(lineups):
        alone = Contest(game, deals.take(np.array([deal])), [players[i] for i in row])
        assert alone.play(players[10].thresholds[None]).gains[0, 0] == whole.gains[0, deal]
    with pytest.raises(TapeteError, match="a lineup is nine of 10 opponents"):
        Contest(game, deals, players[:10], lineups=lineups + 1)


@pytest.mark.parametrize("game", ["holdem(players=9)", "kuhn", "holdem(players=10,stacks=20)"])
def test_other_tables_are_refused(game: str) -> None:
    with pytest.raises(TapeteError, match=r"tables of ten|runs out of chips"):
        Contest(make(game), judged(shuffle(1, Rng(1)), samples=1), some_players(9))


def test_deals_reach_the_flop_and_come_again() -> None:
    species = species_of(make(TABLE))
    deals = species.deals(12, Rng(1))
    assert deals.n == 12
    assert all(len(set(row)) == 25 for row in deals.cards.reshape(12, 25).tolist())
    contest = Contest(make(TABLE), deals, some_players(9))
    assert set(contest.places[:, 0]) == set(range(12))
    assert np.array_equal(species.deals(12, Rng(1), threads=2).strengths, deals.strengths)


@pytest.mark.parametrize("factors", [Factors(), Factors(names=True), Factors(left=True)])
def test_every_situation_has_a_gene_of_its_own(factors: Factors) -> None:
    numbers = factors.numbers(SEATS)
    betting = {
        (street, before, now): betting_of(street, before, now)
        for street in (1, 2, 3)
        for before in range(1 if street == 1 else 0, 5)
        for now in range(5)
    }
    assert sorted(betting.values()) == list(range(BETTING))
    positions = {int(position) for position in numbers[2::2]}
    assert positions == set(range(factors.positions))
    active = (2, 3, 4) if factors.left else (2,)
    genes = [
        gene_at(category, position, way, left, numbers)
        for category, position, way, left in product(range(9), positions, betting.values(), active)
    ]
    assert sorted(genes) == list(range(factors.genes))


def test_the_thresholds_decide() -> None:
    assert wish(0.5, 10, 0, 49, 20) == RAISE  # d is 50
    assert wish(0.5, 10, 0, 50, 20) == CALL
    assert wish(0.5, 10, 10, 49, 20) == CALL  # half of the pot would be one's own: d is 25
    assert wish(0.5, 10, 10, 49, 25) == FOLD


def test_starting_hands_have_names_and_places() -> None:
    assert [start_name(start_of(a, b)) for a, b in ((12, 25), (12, 11), (12, 24), (0, 14))] == [
        "AA",
        "AKs",
        "AKo",
        "32o",
    ]
    hands = [start_of(a, b) for a in range(52) for b in range(a)]
    counts = np.bincount(hands, minlength=STARTS)
    assert sorted(set(counts)) == [4, 6, 12]
    assert len({start_name(start) for start in range(STARTS)}) == STARTS
    assert [TABLES[table_of(seat, 6)] for seat in range(6)] == [
        "small-blind",
        "big-blind",
        "seventh",
        "eighth",
        "ninth",
        "dealer",
    ]
    assert [TABLES[table_of(seat, 2)] for seat in range(2)] == ["dealer", "big-blind"]


def test_the_tables_are_tighter_the_earlier_one_speaks() -> None:
    tables = read_tables()
    weights = np.bincount([start_of(a, b) for a in range(52) for b in range(a)], minlength=STARTS) / 1326
    played = [(weights * (tables[TABLES.index(name)] > 0)).sum() for name in TABLES[2:]]
    assert played == sorted(played)
    assert 0.1 < played[0] < 0.2 < played[-1] < 0.4
    assert (tables[:, start_of(12, 25)] == CLASSES.index("RRRC")).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [("0 1 2\n", "13 rows of 13"), (("7 " * 13 + "\n") * 13, "row 1 has other things"), ("", "13 rows")],
)
def test_a_broken_table_is_refused(tmp_path: Path, text: str, said: str) -> None:
    for name in TABLES:
        (tmp_path / f"{name}.txt").write_text((FOLDER / f"{name}.txt").read_text())
    assert np.array_equal(read_tables(tmp_path), read_tables())
    read_tables.cache_clear()
    (tmp_path / "ninth.txt").write_text(text)
    with pytest.raises(TapeteError, match=said):
        read_tables(tmp_path)


def test_a_player_is_kept_in_a_file(tmp_path: Path) -> None:
    player = Chromosome(some_players(1)[0].thresholds, about={"game": TABLE, "name": "Ana"})
    player.save(tmp_path / "a.safetensors")
    again = Chromosome.load(tmp_path / "a.safetensors")
    assert np.array_equal(again.thresholds, player.thresholds)
    assert np.array_equal(again.classes, player.classes)
    assert (again.about, again.factors) == (player.about, player.factors)
    Chromosome(player.thresholds[:4410], factors=Factors()).save(tmp_path / "b.safetensors")
    with pytest.raises(TapeteError, match="its arrays are not those of one"):
        Chromosome.load(tmp_path / "b.safetensors")


def test_players_look_at_their_own_cards_only() -> None:
    check_player(lambda: some_players(1)[0].evaluator(make(TABLE)), TABLE, games=6)
    for player in styles().values():
        check_player(partial(player.evaluator, make("holdem(players=3)")), "holdem(players=3)", games=2)
    with pytest.raises(TapeteError, match="for hold'em"):
        some_players(1)[0].evaluator(make("kuhn"))
