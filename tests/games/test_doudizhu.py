"""Dou Dizhu, rule by rule, against DouZero and RLCard, and by counting."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from numba import types
from scipy.stats import chisquare

from tapete import Game, IllegalAction, Rng, State, TapeteError, make
from tapete.core import calls
from tapete.core.compile import BYTES, INTS, LONGS, WORDS, int32_ptr, kernel, state_ptr
from tapete.core.contract import RULEBOOK, open_rules
from tapete.core.scene import Things
from tapete.games.doudizhu.cards import DECK, RANKS, text
from tapete.games.doudizhu.moves import CARDS, KIND, LENGTH, MOVES, RANK
from tapete.games.doudizhu.table import STATE
from tapete.testing import SIGNIFICANCE, check_game

GAME = make("doudizhu")
AUCTION = make("doudizhu(bidding=true)")
WORDS_OF = ["pass", *(text(cards) for cards in CARDS[1:])]
ID_OF = {word: i for i, word in enumerate(WORDS_OF)}
DOUZERO_CARD = dict(zip(RANKS, [*range(3, 15), 17, 20, 30], strict=True))
DOUZERO_RANK = {card: rank for rank, card in DOUZERO_CARD.items()}
POSITIONS = ("landlord", "landlord_down", "landlord_up")


def encode(cards: str) -> int:
    return sum(1 << 4 * RANKS.index(card) for card in cards)


def ordered(cards: str) -> str:
    return text(encode(cards))


def deal(game: Game, hands: list[str], open_cards: str) -> State:
    """The state in which the seats have got these 17 cards each and, if there is no auction, the landlord his three."""
    state = game.start()
    for i in range(51):
        state.apply(hands[i % 3][i // 3])
    for card in open_cards:
        state.apply(card)
    return state


def fill(hands: list[str], open_cards: str = "") -> tuple[list[str], str]:
    """Completes the hands to 17 cards and the open cards to three, lowest cards first."""
    rest = list(text(int(DECK) - encode("".join(hands) + open_cards)))
    hands = [hand + "".join(rest.pop(0) for _ in range(17 - len(hand))) for hand in hands]
    return hands, open_cards + "".join(rest)


def record(state: State) -> np.void:
    return state.data[: STATE.itemsize].view(STATE)[0]


def moves_of(hand: str, beat: str = "") -> set[str]:
    """What a hand may lead, or play on a move: the rules alone, without a game around them."""
    state = GAME.start()
    s = record(state)
    s["dealt"], s["mover"], s["hand"][0] = 54, 0, encode(hand)
    if beat:
        action = ID_OF[beat]
        s["kind"], s["length"], s["rank"] = KIND[action], LENGTH[action], RANK[action]
    return {state.write(action) for action in state.actions()}


# The contract.


@pytest.mark.parametrize("game", ["doudizhu", "doudizhu(bidding=true)"])
def test_contract(game):
    check_game(game, games=3)


# The moves.


def test_leads_of_a_small_hand():
    assert moves_of("33344") == {"3", "4", "33", "44", "333", "3334", "33344"}
    assert moves_of("BR") == {"B", "R", "BR"}


def test_a_higher_card_beats_a_solo_and_jokers_are_highest():
    assert moves_of("3345", "4") == {"pass", "5"}
    assert moves_of("A2R", "K") == {"pass", "A", "2", "R"}
    assert moves_of("2R", "B") == {"pass", "R"}


def test_pairs_and_trios_are_beaten_by_their_own_kind_only():
    assert moves_of("334455566", "44") == {"pass", "55", "66"}
    assert moves_of("334445556", "444") == {"pass", "555"}
    assert moves_of("3444", "333") == {"pass", "444"}


def test_a_trio_with_a_kicker_is_compared_by_the_trio():
    assert moves_of("34445", "333K") == {"pass", "3444", "4445"}
    assert moves_of("334445", "333KK") == {"pass", "33444"}
    assert moves_of("3334R", "444K") == {"pass"}


def test_a_straight_has_five_cards_at_least_and_no_two_or_joker():
    assert {move for move in moves_of("34567TJQKA2BR") if len(move) > 2} == {"34567", "TJQKA"}
    assert not any(len(move) > 2 for move in moves_of("JQKA2"))
    assert max(moves_of("3456789TJQKA2"), key=len) == "3456789TJQKA"


def test_a_straight_is_beaten_by_a_higher_one_of_its_length():
    assert moves_of("3456789", "34567") == {"pass", "45678", "56789"}
    assert moves_of("456789", "34567") == {"pass", "45678", "56789"}
    assert moves_of("34567", "34567") == {"pass"}


def test_serial_pairs_are_three_at_least():
    assert {move for move in moves_of("33445566") if len(move) > 2} == {"334455", "445566", "33445566"}
    assert moves_of("33445566", "334455") == {"pass", "445566"}
    assert not any(len(move) > 2 for move in moves_of("KKAA22"))


def test_planes_with_and_without_kickers():
    assert moves_of("444555", "333444") == {"pass", "444555"}
    assert moves_of("44455567", "33344489") == {"pass", "44455567"}
    assert moves_of("4445556677", "3334448899") == {"pass", "4445556677"}
    assert moves_of("44455566", "33344489") == {"pass", "44455566"}  # two solos of one rank
    assert "AAA222" not in moves_of("AAA222")


def test_solos_are_neither_both_jokers_nor_a_bomb_nor_a_longer_plane():
    for cards in ("3333BR", "333444BR", "3334445556667777", "3334445556667778"):
        assert cards not in moves_of(cards)
    for cards in ("33334B", "33344477", "333444555666888R", "QQQKKKAAA222"):  # 2s never belong to a plane
        assert cards in moves_of(cards)


def test_fours_with_kickers_are_no_bombs():
    assert moves_of("555567", "444489") == {"pass", "555567", "5555"}
    assert moves_of("55556677", "44448899") == {"pass", "55556677", "5555"}
    assert moves_of("33335555", "4444") == {"pass", "5555"}
    assert "33334444" not in moves_of("33334444")  # two pairs are of different ranks


@pytest.mark.parametrize("beat", ["A", "AA", "222", "3334", "33344", "34567", "334455", "333444", "333345", "333444AK"])
def test_bombs_beat_everything_but_higher_bombs(beat):
    beat = ordered(beat)
    assert {"3333", "QQQQ", "BR"} <= moves_of("3333QQQQBR", beat)
    assert moves_of("3333QQQQBR", "5555") == {"pass", "QQQQ", "BR"}


def test_nothing_beats_the_rocket():
    assert moves_of("2222AAAA", "BR") == {"pass"}


def test_features_tell_what_a_move_leaves_and_how_far_that_is_from_winning():
    state = GAME.start()
    s = record(state)
    s["dealt"], s["mover"], s["hand"][0] = 54, 0, encode("34567JJQ")
    features = np.zeros(GAME.spec.feature_size, dtype=np.float32)
    for move, left, fewest in (("34567", "JJQ", 2), ("JJ", "34567Q", 2), ("3", "4567JJQ", 6)):
        calls.features(GAME.rulebook, state.data, ID_OF[move], features)
        assert features[:54].sum() == len(move)
        assert [features[54 + 4 * rank : 58 + 4 * rank].sum() for rank in range(13)] == [
            left.count(c) for c in RANKS[:13]
        ]
        assert features[108:].tolist() == np.eye(12)[fewest].tolist()


def test_most_moves_at_once():
    assert len(moves_of("3456789TJJJQQQKKKAAA")) == GAME.spec.max_actions - 1 == 519


@kernel(types.int64(RULEBOOK, BYTES, WORDS, INTS, LONGS, types.int64, types.int64))
def most_leads(rulebook, state, words, out, hands, rank, left):
    """The most moves of all hands that are made of words[0] and of `left` more cards of this rank and higher ones.

    `words` are the bytes of the state, in which the hand of seat 0 comes first.
    """
    if left > max(0, 4 * (13 - rank)) + min(2, 15 - rank):
        return 0
    if rank == 15:
        hands[0] += 1
        return open_rules(rulebook).actions(state_ptr(state), int32_ptr(out))
    hand = words[0]
    most = 0
    for number in range(min(left, 4 if rank < 13 else 1) + 1):
        words[0] = hand + (np.uint64(number) << np.uint64(4 * rank))
        most = max(most, most_leads(rulebook, state, words, out, hands, rank + 1, left - number))
    words[0] = hand
    return most


@pytest.mark.slow
def test_no_hand_of_twenty_cards_has_more_moves():
    state = GAME.start()
    s = record(state)
    s["dealt"], s["mover"] = 54, 0
    out, hands = np.zeros(MOVES, dtype=np.int32), np.zeros(1, dtype=np.int64)
    most = most_leads(GAME.rulebook, state.data, state.data.view(np.uint64), out, hands, 0, 20)
    assert (most, hands[0]) == (519, 153_009_740)


# The game.


def thirteen_bombs() -> State:
    """The landlord holds five bombs, the peasants four and a joker each."""
    return deal(GAME, ["333366669999QQQQ2", "44447777TTTTKKKKB", "55558888JJJJAAAAR"], "222")


def faces(state: State, seat: int, name: str, owner: int | None = None) -> tuple[str, ...]:
    """What a seat sees of a row of cards."""
    parts = (part for part in state.view(seat).scene().parts if isinstance(part, Things))
    return next(part.faces for part in parts if (part.name, part.owner) == (name, owner))


def test_the_deal_goes_round_and_the_landlord_gets_three_open_cards():
    state = GAME.start()
    for card in "345":
        state.apply(card)
    assert [text(hand) for hand in record(state)["hand"]] == ["3", "4", "5"]
    state.deal(Rng(3))
    s = record(state)
    assert [len(text(hand)) for hand in s["hand"]] == [20, 17, 17]
    assert sum(int(hand) for hand in s["hand"]) == int(DECK)
    assert state.player == 0
    assert len(state.history or []) == 54


def test_cards_are_taken_up_when_all_are_dealt_and_turned_up_when_all_three_are():
    state = GAME.start()
    for _ in range(50):
        state.apply(state.actions()[0])
    assert "hand none" in str(state.view(0))
    state.apply(state.actions()[0])
    assert f"hand {text(record(state)['hand'][0])}," in str(state.view(0))
    for _ in range(2):
        state.apply(state.actions()[0])
        assert set(faces(state, 0, "open")) == {""}
    state.apply(state.actions()[0])
    assert f"open {text(record(state)['open'])}," in str(state.view(1))


def test_landlord_then_down_then_up_and_after_two_passes_the_third_leads():
    state = thirteen_bombs()
    state.apply("3")
    assert state.player == 1
    state.apply("4").apply("pass")
    assert state.player == 0
    state.apply("pass")
    assert state.player == 1
    with pytest.raises(IllegalAction):
        state.apply("pass")
    state.apply("777").apply("pass").apply("pass")
    assert state.player == 1


def test_each_bomb_doubles_and_thirteen_are_the_most():
    state = thirteen_bombs()
    for i in range(13):
        assert not state.over
        state.apply(RANKS[i] * 4)
    assert state.over
    assert state.returns() == [2.0 * 2**13, -(2.0**13), -(2.0**13)]
    assert GAME.spec.utility == (-2.0 * 2**13, 2.0 * 2**13)


def test_the_rocket_doubles_and_fours_with_kickers_do_not():
    state = deal(GAME, *fill(["33334444BR", "", ""]))
    state.apply("334444")
    assert record(state)["bombs"] == 0
    state.apply("pass").apply("pass").apply("BR")
    assert record(state)["bombs"] == 1


def test_peasants_win_together():
    state = thirteen_bombs()
    state.apply("3").apply("B").apply("pass").apply("pass")
    for rank in "47T":
        state.apply(rank * 4).apply("pass").apply("pass")
    state.apply("KKKK")
    assert state.over
    assert state.returns() == [-32.0, 16.0, 16.0]


def test_moves_are_written_as_their_cards_whatever_the_case():
    state = thirteen_bombs()
    assert state.copy().apply("qqq").history == state.copy().apply("QQQ").history
    assert state.write(ID_OF["33336Q"]) == "33336Q"
    with pytest.raises(IllegalAction, match="legal: 3, 6, 9, Q, 2, 33"):
        state.apply("44")


def test_a_move_is_made_on_its_lowest_card():
    state = thirteen_bombs()
    hand = faces(state, 0, "hand", owner=0)
    assert "".join(hand) == "333366669999QQQQ2222"
    assert faces(state, 0, "hand", owner=1) == ("",) * 17
    for move in state.view(0).scene().moves:
        assert move.place is not None
        assert hand[move.place.index] == move.text[0]


# The auction.


def auction(seed: int = 0) -> State:
    return AUCTION.start().deal(Rng("auction", seed))


def test_each_seat_speaks_once_and_a_bid_must_be_higher():
    state = auction()
    assert [state.write(action) for action in state.actions()] == ["pass", "bid1", "bid2", "bid3"]
    state.apply("bid1")
    assert [state.write(action) for action in state.actions()] == ["pass", "bid2", "bid3"]
    state.apply("bid2")
    assert [state.write(action) for action in state.actions()] == ["pass", "bid3"]
    state.apply("pass").deal(Rng(1))
    s = record(state)
    assert (s["landlord"], s["bid"], state.player) == (1, 2, 1)
    assert [len(text(hand)) for hand in s["hand"]] == [17, 20, 17]


def test_three_ends_the_auction_at_once():
    state = auction().apply("bid3").deal(Rng(1))
    assert (record(state)["landlord"], state.player) == (0, 0)


def test_all_pass_deals_again_and_the_third_time_the_first_seat_is_landlord_at_one():
    state = auction()
    for thrown in range(2):
        before = state.infoset(0)
        state.apply("pass").apply("pass").apply("pass")
        assert record(state)["dealt"] == 0
        state.deal(Rng("again", thrown))
        assert (state.player, record(state)["thrown"]) == (0, thrown + 1)
        assert state.infoset(0) != before
    state.apply("pass").apply("pass").apply("pass").deal(Rng("last"))
    s = record(state)
    assert (s["landlord"], s["bid"], state.player) == (0, 1, 0)


def test_a_seat_remembers_hands_that_were_thrown_in():
    one, two = (auction(seed).apply("pass").apply("pass").apply("pass") for seed in (1, 2))
    assert one.infoset(0) != two.infoset(0)
    assert str(one.view(0)) == str(two.view(0))


def test_what_others_had_in_a_deal_that_was_thrown_in_is_dealt_anew():
    state = auction().apply("pass").apply("pass").apply("pass").deal(Rng("again")).apply("bid3").deal(Rng("open"))
    for seat in range(3):
        view = state.view(seat)
        world = view.sample(Rng("world"))
        assert world.infoset(seat) == state.infoset(seat)
        assert world.view(seat)._world.tobytes() == view._world.tobytes()
        assert world.infoset((seat + 1) % 3) != state.infoset((seat + 1) % 3)


def test_the_bid_multiplies_the_payoff():
    rng = Rng("payoff")
    for bid, landlord in product((1, 2, 3), range(3)):
        state = auction(bid)
        for seat in range(3 if bid < 3 else landlord + 1):
            state.apply(f"bid{bid}" if seat == landlord else "pass")
        while not state.deal(rng).over:
            state.apply(rng.choice(state.actions()))
        s = record(state)
        sign = -1 if s["hand"][landlord] else 1
        stake = float(sign * bid * 2 ** int(s["bombs"]))
        assert state.returns() == [2 * stake if seat == landlord else -stake for seat in range(3)]


def test_with_bidding_a_role_sees_the_same_as_without():
    rng = Rng("roles")
    for landlord in range(3):
        state = auction(landlord)
        for seat in range(landlord + 1):
            state.apply("bid3" if seat == landlord else "pass")
        state.deal(rng)
        s = record(state)
        hands = [text(s["hand"][(landlord + role) % 3]) for role in range(3)]
        open_cards = text(s["open"])
        for card in open_cards:
            hands[0] = hands[0].replace(card, "", 1)
        plain = deal(GAME, hands, open_cards)
        while not plain.over:
            role = plain.player
            seat = (landlord + role) % 3
            theirs, ours = state.view(seat).observation(), plain.view(role).observation()
            assert theirs[:3].tolist() == [float(role == i) for i in range(3)]
            width = len(ours) - 810
            assert np.array_equal(theirs[21 : 21 + width], ours[:width])
            assert not theirs[21 + width : 21 + 430].any()
            assert np.array_equal(theirs[-810:], ours[-810:])
            word = plain.write(rng.choice(plain.actions()))
            state.apply(word)
            plain.apply(word)


# What a seat may know.


def redealt_hands(state: State, seat: int, of: int, samples: int) -> Counter[str]:
    """How often each hand of another seat comes out of `redeal`."""
    rng = Rng("redeal", seat, of)
    drawn: Counter[str] = Counter()
    for _ in range(samples):
        world = state.copy()
        calls.redeal(state.game.rulebook, world.data, seat, rng.words)
        drawn[text(record(world)["hand"][of])] += 1
    return drawn


def group(hands: Counter[str], key: Callable[[str], int]) -> Counter[int]:
    """The same, of hands with something in common."""
    groups: Counter[int] = Counter()
    for hand, number in hands.items():
        groups[key(hand)] += number
    return groups


def expect_frequencies(drawn: Counter[Any], weights: Mapping[Any, int]) -> None:
    """Pearson's test of how often each world came against its weight; the rare ones are put together."""
    assert drawn.keys() <= weights.keys()
    due = np.array(list(weights.values())) * (sum(drawn.values()) / sum(weights.values()))
    seen = np.array([drawn[world] for world in weights])
    cells = np.where(due >= 5, np.arange(len(due)), len(due))
    _, cells = np.unique(cells, return_inverse=True)
    if cells.max() > 0:
        assert chisquare(np.bincount(cells, seen), np.bincount(cells, due)).pvalue > SIGNIFICANCE


def contains(cards: int, others: int) -> bool:
    return not Counter(text(others)) - Counter(text(cards))


def physical_worlds(state: State, seat: int) -> Counter[str]:
    """How many ways there are to deal a real pack of 54 different cards so that the next seat now holds each hand.

    Every single hidden card of the ranks that are still in play goes to the next seat or to the one after.
    """
    s = record(state)
    one, other = (seat + 1) % 3, (seat + 2) % 3
    hands, played = [int(hand) for hand in s["hand"]], [int(cards) for cards in s["played"]]
    mask = sum(15 << 4 * RANKS.index(rank) for rank in set(text(hands[one] + hands[other])))
    shown = [int(s["open"]) if s["landlord"] == who else 0 for who in range(3)]
    hidden = text((int(DECK) - hands[seat] - played[seat] - shown[one] - shown[other]) & mask)
    worlds: Counter[str] = Counter()
    for owners in product((one, other), repeat=len(hidden)):
        got = {
            who: shown[who] + encode("".join(card for owner, card in zip(owners, hidden, strict=True) if owner == who))
            for who in (one, other)
        }
        if all(contains(got[who], played[who] & mask) for who in got):
            now = text((got[one] & mask) - (played[one] & mask))
            worlds[now] += len(now) == len(text(hands[one]))
    return +worlds


def endgames(number: int) -> Iterator[tuple[State, int]]:
    """States late in random games, that many for each seat, with few enough hidden cards to try all deals of them."""
    rng = Rng("endgames")
    found: Counter[int] = Counter()
    while min(found[seat] for seat in range(3)) < number:
        state = GAME.start().deal(rng)
        while not state.over:
            seat = rng.below(3)
            others = [text(hand) for i, hand in enumerate(record(state)["hand"]) if i != seat]
            if all(others) and len(set("".join(others))) <= 4 and found[seat] < number:
                found[seat] += 1
                yield state, seat
                break
            calls.apply(GAME.rulebook, state.data, rng.choice(state.actions()))


def test_redeal_gives_every_deal_of_a_real_pack_the_same_chance():
    uneven = 0
    for state, seat in endgames(4):
        worlds = physical_worlds(state, seat)
        expect_frequencies(redealt_hands(state, seat, (seat + 1) % 3, 4000), worlds)
        uneven += len(set(worlds.values())) > 1
    assert uneven >= 6  # in most of these the worlds are not just equally likely


def test_a_played_king_may_have_been_the_open_one():
    """Of 34 hidden cards two are kings: nothing is learned when the landlord plays a third one that was open."""
    state = deal(GAME, *fill(["K", "K", "K"], "K")).apply("K")
    kings = group(redealt_hands(state, 1, 0, 20_000), lambda hand: hand.count("K"))
    expect_frequencies(kings, {n: comb(2, n) * comb(32, 17 - n) for n in range(3)})


def test_a_played_king_that_was_not_open_was_one_of_the_hidden():
    """Of 34 hidden cards three are kings, and the landlord had one at least."""
    state = deal(GAME, *fill(["K", "K", "KK"], "2")).apply("K")
    kings = group(redealt_hands(state, 1, 0, 20_000), lambda hand: hand.count("K"))
    expect_frequencies(kings, {n - 1: comb(3, n) * comb(31, 17 - n) for n in range(1, 4)})


def test_both_jokers_are_in_one_peasants_hand_in_16_of_33_deals():
    state = deal(GAME, *fill(["", "B", "R"]))
    jokers = group(redealt_hands(state, 0, 1, 20_000), lambda hand: len(set("BR") & set(hand)))
    expect_frequencies(jokers, {0: 8, 1: 17, 2: 8})


def test_in_the_auction_three_cards_are_in_no_hand():
    state = deal(AUCTION, fill(["", "B", "R"])[0], "")
    red = group(redealt_hands(state, 0, 2, 20_000), lambda hand: hand.count("R"))
    expect_frequencies(red, {0: 20, 1: 17})


def test_features_of_a_move_that_is_not_legal_come_back_too():
    """Nothing is checked inside of the rules, so a wrong id must not lead a count of moves astray."""
    state = deal(GAME, *fill(["333444", "5", "6"]))
    out = np.zeros(GAME.spec.feature_size, dtype=np.float32)
    for action in set(range(0, MOVES, 97)) - set(state.actions()):
        calls.features(GAME.rulebook, state.data, action, out)
        assert out.sum() > 0


# Variants.


def test_contract_of_variants():
    check_game("doudizhu(bidding=true,around=true,spring=true)", games=3)


def test_an_auction_goes_round_until_nobody_but_the_highest_bidder_is_left():
    state = make("doudizhu(bidding=true,around=true)").start().deal(Rng("around"))
    state.apply("bid1").apply("pass").apply("bid2")
    assert state.player == 0, "the first may raise, the second has passed"
    assert {state.write(action) for action in state.actions()} == {"pass", "bid3"}
    state.apply("pass").deal(Rng(1))
    s = record(state)
    assert (s["landlord"], s["bid"], state.player) == (2, 2, 2)


def test_an_auction_that_goes_round_ends_when_the_others_have_passed_or_somebody_bids_three():
    game = make("doudizhu(bidding=true,around=true)")
    alone = game.start().deal(Rng(1)).apply("pass").apply("bid1").apply("pass").deal(Rng(1))
    assert (record(alone)["landlord"], record(alone)["bid"]) == (1, 1)
    three = game.start().deal(Rng(1)).apply("bid1").apply("bid3").deal(Rng(1))
    assert record(three)["landlord"] == 1
    none = game.start().deal(Rng(1)).apply("pass").apply("pass").apply("pass")
    assert record(none)["thrown"] == 1


def test_only_an_auction_can_go_round():
    with pytest.raises(TapeteError, match="bidding=true"):
        make("doudizhu(around=true)")


def spring_payoff(moves: list[str], hands: list[str], open_cards: str) -> list[float]:
    state = deal(make("doudizhu(spring=true)"), hands, open_cards)
    for move in moves:
        state.apply(move)
    assert state.over
    return state.returns()


def test_spring_doubles_if_a_side_has_played_nothing():
    straights = fill(["3456789TJQKA34567", "", ""], "89T")
    assert spring_payoff(["3456789TJQKA", "pass", "pass", "3456789T"], *straights) == [4, -2, -2]
    beaten = fill(["4456677889TTJJQQK", "3456789TJQKA2222R", ""], "3KA")
    won = ["3", "2", "pass", "pass", "3456789TJQKA", "pass", "pass", "222", "pass", "pass", "R"]
    assert spring_payoff(won, *beaten) == [-4, 2, 2], "the landlord's first move doesn't count"
    again = ["3", "R", "pass", "pass", "3456789TJQKA", "pass", "pass", "2", "pass", "pass", "222"]
    assert spring_payoff(again, *beaten) == [-4, 2, 2]
    answered = ["3", "2", "pass", "pass", "222", "pass", "pass", "3456789TJQKA", "pass", "pass", "R"]
    assert spring_payoff(answered, *beaten) == [-4, 2, 2]


def test_no_spring_where_both_sides_have_played():
    hands = fill(["3456789TJQKA34567", "", "22"], "89T")
    moves = ["3456789T", "pass", "pass", "7", "pass", "2", "pass", "pass", "2", "pass", "pass"]
    state = deal(make("doudizhu(spring=true)"), *hands)
    rng = Rng("no spring")
    for move in moves:
        state.apply(move)
    while not state.over:
        state.apply(rng.choice(state.actions()))
    s = record(state)
    assert s["leads"] > 1
    assert abs(state.returns()[1]) == 2 ** s["bombs"]


def test_a_plane_whose_solos_are_a_trio_counts_as_its_highest_trio():
    assert moves_of("456777888999", "333444555222") == {"pass"}
    assert "456777888999" in moves_of("456777888999", "333444555777")
