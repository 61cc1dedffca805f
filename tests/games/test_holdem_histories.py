"""Hand histories: read back by us and by PokerKit, statistics against a slow reference, and files that are broken."""

from __future__ import annotations

import io
import json
import random
import re
import tracemalloc
from functools import cache
from pathlib import Path
from typing import Any

import pokerkit
import pytest

from tapete.core import Rng, TapeteError, make
from tapete.core.contract import CHANCE
from tapete.games.holdem import histories
from tapete.games.holdem.histories import Hand, Problem, of_game, phh, pokerstars
from tapete.games.holdem.histories.hand import CENTS
from tapete.games.holdem.histories.statistics import CLASSES, POSITIONS, Statistics, position_of, study
from tapete.games.holdem.histories.words import spoken
from tests.conftest import Tapete

TABLE = "holdem(players=10,rake=0.05,rake_cap=3)"
SEVERAL = (TABLE, "holdem(players=6)", "holdem(players=3,rake=0.1)", "holdem")


@cache
def played(game: str, count: int) -> list[tuple[int, ...]]:
    """Games in which everybody mostly calls or folds, so that all streets are seen."""
    found = []
    for number in range(count):
        rng, state = Rng(number, game), make(game).start()
        while not state.deal(rng).over:
            legal = state.actions()
            state.apply(legal[0] if rng.uniform() < 0.35 else rng.choice(legal))
        found.append(tuple(state.history or []))
    return found


@cache
def hands(game: str = TABLE, count: int = 60) -> list[Hand]:
    names = [f"Player {seat}" for seat in range(make(game).players)]
    return [of_game(make(game), actions, names, number=i) for i, actions in enumerate(played(game, count), 1)]


def read_all(form: Any, text: str) -> tuple[list[Hand], list[Problem]]:
    problems: list[Problem] = []
    return list(form.hands_in(text.splitlines(keepends=True), problems.append)), problems


@pytest.mark.parametrize("game", SEVERAL)
@pytest.mark.parametrize("form", [pokerstars, phh])
def test_what_is_written_is_read_back(form: Any, game: str) -> None:
    before = hands(game)
    after, problems = read_all(form, "".join(map(form.text_of, before)))
    assert problems == []
    assert after == before


@pytest.mark.parametrize("game", SEVERAL)
def test_a_hand_tells_the_payoffs_of_the_game(game: str) -> None:
    rules = make(game)
    for actions, hand in zip(played(game, 60), hands(game), strict=True):
        assert hand.net == [round(CENTS * gain) for gain in rules.replay(list(actions)).returns()]
        assert hand.wrong() == ""
        assert hand.rake == -sum(hand.net)


class LimitParser(pokerkit.PokerStarsParser):  # type: ignore[misc]
    """PokerKit's parser, told of fixed limits: two sizes of bets instead of a smallest one."""

    VARIANT = re.compile(r" (?P<variant>Hold'em Limit) ")
    VARIANTS = {"Hold'em Limit": "FT"}  # noqa: RUF012

    def _parse(self, s: str, parse_value: Any) -> pokerkit.HandHistory:
        seats, blinds = self._parse_seats(s), self._parse_blinds_or_straddles(s, parse_value)
        names = sorted(self._parse_players(s), key=seats.__getitem__)
        order = self._get_ordered_players(s, self._parse_final_seat(s), blinds, names, [seats[name] for name in names])
        stacks, posted = self._parse_starting_stacks(s, parse_value), [blinds[name] for name in order]
        small = max(posted)
        return pokerkit.HandHistory(
            variant="FT",
            antes=[0] * len(order),
            blinds_or_straddles=posted[::-1] if len(order) == 2 else posted,
            small_bet=small,
            big_bet=2 * small,
            starting_stacks=[stacks[name] for name in order],
            actions=self._parse_actions(s, parse_value, order),
        )


def check_end(hand: Hand, history: pokerkit.HandHistory) -> None:
    """PokerKit plays a hand to the same stacks, winners and pot. It takes no rake.

    Who wins without a showdown gets his last bet back from it, so that its pot is less than what is told as the pot.
    """
    state, order = list(history)[-1], phh.order_of(hand)
    stacks = [float(state.stacks[order.index(player)]) for player in range(len(order))]
    assert stacks == pytest.approx(expected(hand), abs=0.02), hand.number
    pushed = [operation.amounts for operation in state.operations if isinstance(operation, pokerkit.ChipsPushing)]
    assert {order[i] for amounts in pushed for i, amount in enumerate(amounts) if amount} == set(hand.collected)
    assert not hand.shown or sum(map(sum, pushed)) == hand.pot / CENTS, hand.number


def expected(hand: Hand) -> list[float]:
    """Stacks without the rake, which the winners paid alike."""
    share = hand.rake / len(hand.collected)
    return [
        (player.stack + net + (share if i in hand.collected else 0)) / CENTS
        for i, (player, net) in enumerate(zip(hand.players, hand.net, strict=True))
    ]


@pytest.mark.parametrize("game", SEVERAL)
def test_pokerkit_plays_our_phh_to_the_same_end(game: str, tmp_path: Path) -> None:
    histories.write(tmp_path / "hands.phhs", hands(game))
    with (tmp_path / "hands.phhs").open("rb") as file:
        loaded = list(pokerkit.HandHistory.load_all(file))
    assert len(loaded) == len(hands(game))
    for hand, history in zip(hands(game), loaded, strict=True):
        check_end(hand, history)


@pytest.mark.parametrize("game", SEVERAL)
def test_pokerkit_plays_our_pokerstars_text_to_the_same_end(game: str) -> None:
    text = "".join(map(pokerstars.text_of, hands(game)))
    parsed = list(LimitParser()(text, error_status=True))
    assert len(parsed) == len(hands(game))
    for hand, history in zip(hands(game), parsed, strict=True):
        check_end(hand, history)


@pytest.mark.slow
def test_ten_thousand_hands_are_read_back_by_us_and_by_pokerkit(tmp_path: Path) -> None:
    before = hands(TABLE, 10_000)
    texts = {form: "".join(map(form.text_of, before)) for form in (pokerstars, phh)}
    for form, text in texts.items():
        after, problems = read_all(form, text)
        assert (after, problems) == (before, [])
        assert {n: s.figures() for n, s in study(after).players.items()} == {
            n: s.figures() for n, s in study(before).players.items()
        }
    for hand, history in zip(before, LimitParser()(texts[pokerstars], error_status=True), strict=True):
        check_end(hand, history)
    loaded = pokerkit.HandHistory.load_all(io.BytesIO(texts[phh].encode()))
    for hand, history in zip(before, loaded, strict=True):
        check_end(hand, history)


LINES = [  # of trackers, each for a kind of line
    r"PokerStars Hand #\d+:  Hold'em Limit \(\$\d+(\.\d\d)?/\$\d+(\.\d\d)? USD\) - \d{4}/\d\d/\d\d \d\d:\d\d:\d\d ET",
    r"Table '[^']+' \d+-max Seat #\d+ is the button",
    r"Seat \d+: .+ \(\$\d+(\.\d\d)? in chips\)",
    r".+: posts (small|big) blind \$\d+(\.\d\d)?",
    r"\*\*\* (HOLE CARDS|SHOW DOWN|SUMMARY) \*\*\*",
    r"\*\*\* FLOP \*\*\* \[(\w\w ){2}\w\w\]",
    r"\*\*\* (TURN|RIVER) \*\*\* \[(\w\w ){2,3}\w\w\] \[\w\w\]",
    r"Dealt to .+ \[\w\w \w\w\]",
    r".+: (folds|checks)",
    r".+: (calls|bets) \$\d+",
    r".+: raises \$\d+ to \$\d+",
    r"Uncalled bet \(\$\d+\) returned to .+",
    r".+: shows \[\w\w \w\w\] \((high card|two pair,|(a|three|four) (pair|straight|flush|full|of|Royal)).*\)",
    r".+ collected \$\d+(\.\d\d)? from pot",
    r".+: doesn't show hand",
    r"Total pot \$\d+ \| Rake \$\d+(\.\d\d)?",
    r"Board \[(\w\w ){2,4}\w\w\]",
    r"Seat \d+: .+ folded (before Flop|on the (Flop|Turn|River))( \(didn't bet\))?",
    r"Seat \d+: .+ collected \(\$\d+(\.\d\d)?\)",
    r"Seat \d+: .+ showed \[\w\w \w\w\] and (won \(\$\d+(\.\d\d)?\)|lost) with .+",
    r"",
]


def test_every_line_is_one_that_trackers_know() -> None:
    seen = set()
    for hand in hands():
        for line in pokerstars.text_of(hand).split("\n"):
            fits = [pattern for pattern in LINES if re.fullmatch(pattern, line)]
            assert fits, line
            seen |= set(fits)
    assert seen == set(LINES), "every kind of line came up"


def test_a_raise_and_a_returned_bet_are_told_as_trackers_expect() -> None:
    game = make("holdem(players=3)")
    state = game.read("2c 7d 3c 8d As Ah raise raise fold call Kc Kd 4h bet fold")
    hand = of_game(game, state.history or [], ["a", "b", "c"])
    text = pokerstars.text_of(hand)
    for line in (
        "c: raises $2 to $4", "a: raises $2 to $6", "c: calls $2", "a: bets $2",
        "Uncalled bet ($2) returned to a", "Total pot $14 | Rake $0",
    ):  # fmt: skip
        assert f"\n{line}\n" in text, text


@pytest.mark.parametrize(
    ("cards", "said"),
    [
        ("Ah Kh Qh Jh Th 2c 3c", "a Royal Flush"),
        ("Ah 2h 3h 4h 5h Kc Kd", "a straight flush, Ace to Five"),
        ("6c 6d 6h 6s 2c 3c 4d", "four of a kind, Sixes"),
        ("2c 2d 3h 3s 3c Kc Kd", "a full house, Threes full of Kings"),
        ("Th Jh 2h 4h 5h Kc Kd", "a flush, Jack high"),
        ("9c Td Jh Qs Kc Kd 2c", "a straight, Nine to King"),
        ("9c 9d 9h Qs Kc 3d 2c", "three of a kind, Nines"),
        ("9c 9d Qh Qs Kc Kd 2c", "two pair, Kings and Queens"),
        ("9c 7d 5h 3s Kc", "high card King"),
    ],
)
def test_hands_are_called_by_their_names(cards: str, said: str) -> None:
    assert spoken(cards.split()) == said


SHARES = (
    ("VP$IP", "paid", "chances"),
    ("PFR", "raised", "chances"),
    ("WTSD", "showdowns", "flops"),
    ("W$SD", "sd_won", "showdowns"),
    ("W$WSF", "flops_won", "flops"),
)
COUNTED = ("chances", "paid", "raised", "flops", "showdowns", "sd_won", "flops_won", "bets", "calls")


def slow_figures(game: str, seat: int, count: int) -> dict[str, float]:
    """The same figures from the games themselves, with nothing of the histories."""
    rules, n = (
        make(game),
        dict.fromkeys(COUNTED, 0),
    )
    won = 0.0
    for actions in played(game, count):
        state, moves, saw_flop = rules.start(), [], False
        for action in actions:
            street, mover = int(rules.record(state.data)["street"]), state.player
            if mover != CHANCE:
                moves.append((street, mover, state.write(action)))
            state.apply(action)
            s = rules.record(state.data)
            saw_flop |= bool(s["board"][2] >= 0 and s["playing"] >> seat & 1)
        gain = state.returns()[seat]
        s = rules.record(state.data)
        own = [word for street, mover, word in moves if mover == seat and street == 0]
        walk = not own and seat == 1 and all(word == "fold" for _, _, word in moves)
        n["chances"] += not walk
        n["paid"] += any(word in ("call", "raise") for word in own)
        n["raised"] += "raise" in own
        later = [word for street, mover, word in moves if mover == seat and street > 0]
        n["bets"] += sum(word in ("bet", "raise") for word in later)
        n["calls"] += later.count("call")
        wins = gain > -float(s["paid"][seat])
        n["flops"] += saw_flop
        n["flops_won"] += saw_flop and wins
        at_end = bool(s["active"] > 1 and s["playing"] >> seat & 1)
        n["showdowns"] += at_end
        n["sd_won"] += at_end and wins
        won += gain
    share = {name: 100 * n[part] / max(n[whole], 1) for name, part, whole in SHARES}
    return {"hands": count, "won": won, "AF": n["bets"] / max(n["calls"], 1), **share}


@pytest.mark.parametrize("game", ["holdem(players=6)", "holdem(players=3,rake=0.1)"])
def test_statistics_are_those_of_the_games(game: str) -> None:
    book = study(hands(game))
    for seat in range(make(game).players):
        figures, slow = book.players[f"Player {seat}"].figures(), slow_figures(game, seat, 60)
        for name, value in slow.items():
            assert figures[name] == pytest.approx(value, abs=0.006), (seat, name)
        by_position = [s for (name, _), s in book.positions.items() if name == f"Player {seat}"]
        assert sum(s.counts["cents"] for s in by_position) == book.players[f"Player {seat}"].counts["cents"]


@pytest.mark.slow
def test_statistics_of_ten_thousand_hands_are_those_of_the_games() -> None:
    book = study(hands(TABLE, 10_000))
    for seat in (1, 6):
        figures = book.players[f"Player {seat}"].figures()
        for name, value in slow_figures(TABLE, seat, 10_000).items():
            assert figures[name] == pytest.approx(value, abs=0.006), (seat, name)


def test_three_bets_and_walks() -> None:
    def book_of(*moves: str) -> dict[str, Statistics]:
        game = make("holdem(players=3)")
        state = game.read(" ".join(["2c 7d 3c 8d As Ah", *moves]))
        return study([of_game(game, state.history or [], ["a", "b", "c"])]).players

    walk = book_of("fold", "fold")
    assert walk["b"].counts["chances"] == 0
    assert walk["c"].counts["chances"] == walk["a"].counts["chances"] == 1
    three = book_of("raise", "raise", "fold", "raise", "fold")
    assert {name: (s.counts["three_bet_chances"], s.counts["three_bets"]) for name, s in three.items()} == {
        "a": (1, 1), "b": (0, 0), "c": (0, 0),
    }  # fmt: skip


def test_the_studys_classes() -> None:
    assert len(CLASSES) == 12
    mouse = Statistics()
    mouse.counts.update(chances=10000, paid=2191, raised=600, bets=134, calls=100)
    assert (mouse.style, mouse.vpip, mouse.aggression) == ("mouse", 21.91, 1.34)
    mouse.counts.update(raised=100, bets=66)
    assert mouse.style == "shark"
    assert [position_of(player, 6) for player in range(6)] == [
        "small blind",
        "big blind",
        "middle",
        "late",
        "late",
        "button",
    ]
    assert {position_of(player, 10) for player in range(10)} == set(POSITIONS)


BREAKS = [
    (lambda text: text.replace("Total pot $", "Total pot $9"), "total pot is told"),
    (lambda text: text.replace("USD", "EUR").replace("$", "€"), "not in dollars|breaks off"),
    (lambda text: text.replace("Hold'em Limit", "Omaha Pot Limit"), "this is Omaha Pot Limit"),
    (lambda text: text[: len(text) // 2], "breaks off"),
    (
        lambda text: text.replace("Player 3: folds", "Nobody: folds").replace("posts big blind", "posts big blind of"),
        "",
    ),
    (lambda text: re.sub(r"collected \$\d+", "collected $1", text), "were won"),
    (lambda text: re.sub(r"Seat 2: Player 1 ", "Seat 2: Player 0 ", text, count=1), "sits there twice"),
]


@pytest.mark.parametrize(("break_it", "said"), BREAKS)
def test_a_broken_hand_is_named_and_the_rest_is_read(break_it: Any, said: str) -> None:
    one, two, three = hands()[:3]
    text = pokerstars.text_of(one) + break_it(pokerstars.text_of(two)) + "\n\n" + pokerstars.text_of(three)
    found, problems = read_all(pokerstars, text)
    assert found == [one, three]
    assert len(problems) == 1
    assert problems[0].hand == "2"
    first = pokerstars.text_of(one).count("\n")
    assert first < problems[0].line <= text.count("\n")
    assert re.search(said, problems[0].text), problems[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("'FT'", "'NT'", "variant 'NT'"),
        ("'$'", "'€'", "not in dollars"),
        ("small_bet = ", "small_bet = [", "not TOML"),
        ("starting_stacks", "stacks", "'starting_stacks' is missing"),
        ("cc", "zz", "is no action"),
        ("finishing_stacks = [", "finishing_stacks = [9", "who folded won"),
    ],
)
def test_a_broken_phh_is_named_too(old: str, new: str, said: str) -> None:
    one, two, three = map(phh.text_of, hands("holdem(players=6)")[:3])
    found, problems = read_all(phh, one + two.replace(old, new) + three)
    assert [hand.number for hand in found] == ["1", "3"]
    assert [problem.hand for problem in problems] == ["2"]
    assert re.search(said, problems[0].text), problems[0]


def test_noise_is_no_hand(tmp_path: Path) -> None:
    noise = bytes((i * 7919 + i // 251) % 256 for i in range(1 << 20))
    for name in ("noise.txt", "noise.phhs"):
        (tmp_path / name).write_bytes(noise)
        problems: list[Problem] = []
        assert list(histories.read(tmp_path / name, problems.append)) == []
        assert problems
    with pytest.raises(TapeteError, match=r"should end in \.txt"):
        list(histories.read(tmp_path / "hands.csv", problems.append))
    with pytest.raises(TapeteError, match="there is no file"):
        list(histories.read(tmp_path / "none.txt", problems.append))


@pytest.mark.parametrize("form", [pokerstars, phh])
def test_whatever_is_changed_in_a_file_nothing_crashes(form: Any) -> None:
    """A thousand files with characters changed, lines dropped, doubled or cut: every hand is read or named."""
    text, draws = "".join(map(form.text_of, hands("holdem(players=3,rake=0.1)")[:4])), random.Random(7)
    refused = 0
    for _ in range(1000):
        lines = text.splitlines(keepends=True)
        for _ in range(draws.randint(1, 4)):
            at, new = draws.randrange(len(lines)), draws.choice(["", "9", "-", "[", "'", "$", "999999999999", "é"])
            line, place = lines[at], draws.randrange(len(lines[at]) + 1)
            lines[at] = draws.choice(["", 2 * line, line[:place], line[:place] + new + line[place + 1 :]])
        broken = "".join(lines)
        found, problems = read_all(form, broken)
        assert len(found) <= 8
        assert all(hand.wrong() == "" for hand in found)
        assert all(1 <= problem.line <= broken.count("\n") + 2 for problem in problems)
        refused += bool(problems)
    assert refused > 200


KINDS_OF_NOISE = {
    "bytes": lambda n: random.Random(1).randbytes(n),
    "one line": lambda n: b"x" * n,
    "hands without end": lambda n: b"PokerStars Hand #1:  Hold'em\n[1]\n" * (n // 34),
}


def make_noise(path: Path, kind: str, size: int) -> None:
    """Writes so many bytes of noise, and five hands behind them."""
    good = "".join(map(histories.format_of(path).text_of, hands()[:5])).encode()
    path.write_bytes(KINDS_OF_NOISE[kind](size) + b"\n" + good)


def find_hands_in_noise(path: Path) -> None:
    """Reads such a file; something is wrong in it, and the five hands are found."""
    problems = 0

    def notice(problem: Problem) -> None:
        nonlocal problems
        problems += 1

    assert list(histories.read(path, notice)) == hands()[:5]
    assert problems


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS_OF_NOISE)
@pytest.mark.parametrize("name", ["noise.txt", "noise.phhs"])
def test_the_hands_behind_a_hundred_megabytes_of_noise_are_read(name: str, kind: str, tmp_path: Path) -> None:
    """Without `tracemalloc`, by which three million broken hands take minutes."""
    make_noise(tmp_path / name, kind, 100 << 20)
    find_hands_in_noise(tmp_path / name)


@pytest.mark.parametrize("kind", KINDS_OF_NOISE)
@pytest.mark.parametrize("name", ["noise.txt", "noise.phhs"])
def test_noise_takes_no_more_memory_if_there_is_more(name: str, kind: str, tmp_path: Path) -> None:
    peaks = []
    for size in (1 << 17, 1 << 19):
        make_noise(tmp_path / name, kind, size)
        tracemalloc.start()
        try:
            find_hands_in_noise(tmp_path / name)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + (1 << 17)


def test_the_commands_write_and_read_histories(tapete: Tapete, tmp_path: Path) -> None:
    file = tmp_path / "match.txt"
    done = tapete("match", "holdem(players=3)", "random", "random", "-n", "30", "--histories", str(file))
    assert done.status == 0, done.err
    told = tapete("stats", str(file), "--json", "--player", "random 1", "--out", str(tmp_path / "report"))
    assert told.status == 0, told.err
    data = json.loads(told.out)
    assert (data["hands"], data["left_out"]) == (30, 0)
    assert sum(figures["won"] for figures in data["players"].values()) == pytest.approx(0)
    assert sum(figures["hands"] for figures in data["positions"].values()) == data["players"]["random 1"]["hands"]
    assert "best starting hands" in (tmp_path / "report" / "report.html").read_text()
    assert (tmp_path / "report" / "winnings-1.png").stat().st_size > 1000
    shown = tapete("stats", str(file), "--player", "random 2")
    assert "by combination" in shown.out
    assert tapete("stats", str(file), "--player", "Ana").status == 2
    assert "hold'em" in tapete("match", "kuhn", "random", "random", "--histories", str(file)).err
    assert "\n76.33 %" in "\n" + tapete("strength", "AhKh", "QhJh2c").out
    told = json.loads(tapete("strength", "AhKh", "QhJh2c", "--json").out)
    assert (told["hand"], round(told["share"], 4)) == ("AhKh", 0.7633)
