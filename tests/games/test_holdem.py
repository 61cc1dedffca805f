import dataclasses
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

import tapete
from tapete.core import Note, calls, make
from tapete.core.contract import CHANCE
from tapete.core.errors import TapeteError
from tapete.core.rng import Rng
from tapete.games.holdem import most_moves
from tapete.games.holdem.evaluator import rank_hands
from tapete.games.holdem.notation import board_faces, card_name, cards_in, hand_faces, hand_name, seats_playing
from tapete.testing import check_game


def play(game, moves):
    return tapete.make(game).read(moves)


def words(state):
    return [state.write(action) for action in state.actions()]


# The contract


@pytest.mark.parametrize(
    ("game", "games"),
    [
        ("holdem", 10),
        ("holdem(players=3,cap=1)", 10),
        ("holdem(players=6,cap=6,stacks=25)", 4),
        ("holdem(players=4,stacks=2)", 6),
        ("holdem(players=10,rake=0.05,rake_cap=3)", 3),
    ],
)
def test_contract(game, games):
    check_game(game, games=games)


@pytest.mark.parametrize(
    "name",
    ["holdem(players=1)", "holdem(players=11)", "holdem(cap=0)", "holdem(stacks=1)", "holdem(rake=-0.1)"],
)
def test_bad_parameters_are_refused(name):
    with pytest.raises(TapeteError, match="must be between"):
        tapete.make(name)


@pytest.mark.parametrize("players", [2, 3, 10])
@pytest.mark.parametrize("cap", [1, 4])
def test_the_longest_and_dearest_hand_meets_the_bounds(players, cap):
    game = tapete.make(f"holdem(players={players},cap={cap})")
    state = game.start()
    moves = 0
    while not state.over:
        if state.player == CHANCE:
            state.deal(Rng(players))
            continue
        # Whoever may raise waits until all others have answered.
        record = game.record(state.data)
        is_last = record["waiting"] == 1 and state.actions()[-1] == 2
        state.apply(2 if is_last else 1)
        moves += 1
    assert moves == most_moves(players, cap)
    assert len(state.record().moves) == game.spec.longest
    assert min(state.returns()) == game.spec.utility[0] == -12 * cap


# Who acts when, and what he may do


def deal(players):
    """The hands of a deal in which nothing matters."""
    return " ".join(card_name(card) for card in range(2 * players))


@pytest.mark.parametrize(
    ("players", "preflop", "flop"), [(2, [0, 1], [1, 0]), (3, [2, 0, 1], [0, 1, 2]), (4, [2, 3, 0, 1], [0, 1, 2, 3])]
)
def test_order_of_play(players, preflop, flop):
    state = play(f"holdem(players={players})", deal(players))
    acted: list[int] = []
    while len(acted) < 2 * players:
        acted.append(state.player)
        state.apply(1).deal(Rng(players))
    assert acted == preflop + flop


def test_the_big_blind_may_raise_when_all_have_called():
    state = play("holdem(players=3)", deal(3) + " call call")
    assert state.player == 1
    assert words(state) == ["check", "raise"]


def test_a_fold_is_only_offered_to_who_owes_chips():
    state = play("holdem", deal(2))
    assert words(state) == ["fold", "call", "raise"]
    state.apply("call")
    assert words(state) == ["check", "raise"]
    for word in ("check", "As", "Ks", "Qs"):
        state.apply(word)
    assert words(state) == ["check", "bet"]


def test_four_bets_a_street_of_which_the_big_blind_is_the_first():
    state = play("holdem", deal(2) + " raise raise raise")
    assert words(state) == ["fold", "call"]
    for word in ("call", "As", "Ks", "Qs", "bet", "raise", "raise", "raise"):
        state.apply(word)
    assert words(state) == ["fold", "call"]


def test_the_cap_is_a_parameter():
    assert words(play("holdem(cap=1)", deal(2))) == ["fold", "call"]
    assert words(play("holdem(cap=2)", deal(2) + " raise")) == ["fold", "call"]


def test_bets_are_2_2_4_4():
    state = play("holdem", deal(2) + " call raise")
    paid = []
    for street in ("call As Ks Qs bet", "call Js bet", "call Ts bet", "call"):
        paid.append(int(state.game.record(state.data)["price"]))
        for word in street.split():
            state.apply(word)
    assert paid == [2 + 2, 4 + 2, 6 + 4, 10 + 4]
    assert state.returns() == [0, 0]  # the board is a royal flush


def test_the_street_ends_when_the_last_raise_is_answered():
    state = play("holdem(players=3)", deal(3) + " call call raise raise fold call")
    assert state.player == CHANCE


# Who wins what


def test_all_fold_to_the_big_blind():
    state = play("holdem(players=3)", deal(3) + " fold fold")
    assert state.returns() == [-1, 1, 0]


def test_the_better_hand_takes_the_pot():
    state = play("holdem", "As Ah Ks Kh call check 2c 7d 9h check check 3c check check Jd check check")
    assert state.returns() == [2, -2]


def test_a_split_pot_gives_odd_chips_left_of_the_button():
    hands = "2c 3c Ah Kd Ad Kh 2h 3h"  # the small blind folds; seats 1 and 2 have the same; seat 3 folds
    state = play(
        "holdem(players=4)", hands + " call fold fold check As Ks 8d check check 9d check check 4s check check"
    )
    assert state.returns() == [-1, 1, 0, 0]  # a pot of 5: three to seat 1, two to seat 2


def test_heads_up_the_button_is_seat_0():
    state = play("holdem", deal(2) + " call check As Ks Qs check")
    assert state.player == 0


CHECKED_DOWN = "As Ah Ks Kh call check 2c 7d 9h check check 3c check check Jd check check"


@pytest.mark.parametrize(
    ("rake", "moves", "payoffs"),
    [
        ("rake=0.05", CHECKED_DOWN, [1.8, -2]),  # 5 % of 4
        ("rake=0.5,rake_cap=1", CHECKED_DOWN, [1, -2]),
        ("rake=0.05", deal(2) + " raise fold", [1.8, -2]),  # a bet that nobody calls isn't raked
        ("rake=0.05", deal(2) + " call check As Ks Qs check check Js check check Ts check check", [-0.1, -0.1]),
    ],
)
def test_rake(rake, moves, payoffs):
    state = play(f"holdem({rake})", moves)
    assert state.returns() == payoffs
    assert not state.game.spec.zero_sum


ROYAL = (
    " As Ks Qs" + " check" * 3 + " Js" + " check" * 3 + " Ts" + " check" * 3
)  # on the board: three seats share the pot


@pytest.mark.parametrize(
    ("rake", "each"),
    [("rake=0.1", 0.2), ("rake=0.5,rake_cap=1", 0.33), ("rake=0.5,rake_cap=0.9", 0.3), ("rake=0.05,rake_cap=9", 0.1)],
)
def test_rake_is_that_of_the_pot_however_many_share_it(rake, each):
    """A pot of 6; the cap is one for all winners together."""
    state = play(f"holdem(players=3,{rake})", deal(3) + " call call check" + ROYAL)
    assert state.returns() == pytest.approx([-each] * 3)


def test_rake_and_odd_chips():
    """A pot of 7 for three: one chip more to the first left of the button, half a chip of rake for all."""
    state = play("holdem(players=4,rake=0.1,rake_cap=0.5)", deal(4) + " call call fold check" + ROYAL)
    assert state.returns() == pytest.approx([-1, 1 - 0.17, -0.17, -0.17])


def test_stacks_that_run_out_are_run_out():
    state = play("holdem(stacks=5)", "As Ah Ks Kh raise raise")
    assert state.game.record(state.data)["price"] == 5  # one chip was left for the second raise
    assert words(state) == ["fold", "call"]
    state.apply("call")
    for card in ("2c", "7d", "9h", "3c", "Jd"):
        assert state.player == CHANCE
        state.apply(card)
    assert state.returns() == [5, -5]


# Who sees what


def test_a_showdown_turns_up_the_hands_that_are_still_in():
    hands = "2c 3c Ah Kd Ad Kh 2h 3h"
    state = play(
        "holdem(players=4)", hands + " call fold fold check As Ks 8d check check 9d check check 4s check check"
    )
    assert "shown 1: Kd Ah; 2: Ad Kh" in str(state.view(0))
    assert "3c" not in str(state.view(1))
    assert "2h" not in str(state.view(1))


def test_the_winner_shows_nothing_when_all_fold():
    state = play("holdem", "As Ah Ks Kh raise fold")
    assert "shown none" in str(state.view(1))
    assert all("As" not in getattr(part, "faces", ()) for part in state.view(1).scene().parts)


def test_a_seat_sees_moves_in_their_order():
    state = play("holdem(players=3)", deal(3) + " raise call raise call call As Ks Qs check bet")
    text = "preflop 2:raise 0:call 1:raise 2:call 0:call; flop 0:check 1:bet"
    assert text in str(state.view(0))
    state = play("holdem", deal(2) + " call raise call As Ks Qs bet")
    assert "preflop 0:call 1:raise 0:call; flop 1:bet" in str(state.view(0))


def test_the_order_of_the_deal_leaves_no_trace():
    one = play("holdem", "As Ah Ks Kh call check 2c 7d 9h")
    two = play("holdem", "Ah As Kh Ks call check 9h 2c 7d")
    assert one == two
    assert one.infoset(0) == two.infoset(0)
    assert one.infoset(0) != play("holdem", "As Ah Ks Kh call check 2c 7d 8h").infoset(0)


def test_nobody_looks_before_everybody_has_two_cards():
    assert "As" not in str(play("holdem", "As Ah Ks").view(0))
    assert "As" in str(play("holdem", "As Ah Ks Kh").view(0))
    assert "2c" not in str(play("holdem", "As Ah Ks Kh call check 2c 7d").view(0))


@pytest.mark.parametrize(
    ("moves", "hidden"),
    [
        ("As Ah Ks Kh Qs Qh fold call check 2c 7d 9h", [1, 2]),  # the folded hand too
        ("As Ah Ks Kh Qs Qh fold call check 2c 7d 9h check check 3c check check Jd check check", [2]),
        ("As Ah Ks Kh Qs Qh fold call check 2c 7d 9h bet fold", [1, 2]),
    ],
)
def test_redeal_gives_every_unseen_card_alike(moves, hidden):
    state = play("holdem(players=3)", moves)
    record = state.game.record(state.data)
    known = [card for seat in range(3) if seat not in hidden for card in record["hole"][seat]]
    known += [card for card in record["board"] if card >= 0]
    unseen = np.setdiff1d(np.arange(52), known)
    samples, rng = 20_000, Rng("redeal", moves)
    counts = np.zeros((3, 52))  # [seat, card]
    world = state.data.copy()
    for _ in range(samples):
        calls.redeal(state.game.rulebook, world, 0, rng.words)
        for seat in hidden:
            counts[seat, state.game.record(world)["hole"][seat]] += 1
    due = 2 * samples / len(unseen)
    for seat in hidden:
        assert counts[seat, unseen].sum() == 2 * samples
        assert chi2.sf(((counts[seat, unseen] - due) ** 2 / due).sum(), len(unseen) - 1) > 1e-6


def fields_of(view):
    """An observation taken apart by the fields of the Spec."""
    fields = view.game.spec.observation(view.seat)
    ends = np.cumsum([field.size for field in fields])
    parts = np.split(view.observation(), ends[:-1])
    return {field.name: part.reshape(field.shape) for field, part in zip(fields, parts, strict=True)}


def faces_of(planes):
    """The cards that a field tells, by suit and rank."""
    return {card_name(13 * suit + rank) for *_, suit, rank in np.argwhere(planes).tolist()}


def test_an_observation_counts_seats_from_the_observer():
    state = play("holdem(players=3)", "As Ah Ks Kh Qs Qh fold call check 2c 7d 9h bet call Jd")
    fields = fields_of(state.view(1))
    assert faces_of(fields["hand"]) == {"Ks", "Kh"}
    assert [faces_of(street) for street in fields["board"]] == [{"2c", "7d", "9h"}, {"Jd"}, set()]
    assert fields["street"].tolist() == [0, 0, 1, 0]
    assert fields["position"].tolist() == [0, 1, 0]
    assert fields["to_move"].tolist() == [0, 0, 1]  # itself, seat 2, seat 0
    assert fields["playing"].tolist() == [1, 0, 1]
    assert np.allclose(48 * fields["paid"], [4, 0, 4])
    assert fields["to_call"].tolist() == [0]
    moves = {tuple(index) for index in np.argwhere(fields["line"]).tolist()}  # street, bets standing, seat, move
    assert moves == {(0, 1, 1, 0), (0, 1, 2, 1), (0, 1, 0, 1), (1, 0, 2, 2), (1, 1, 0, 1)}


def test_features_tell_what_a_move_costs():
    assert play("holdem", deal(2)).view(0).features().tolist() == [[1, 0, 0, 0], [0, 1, 0, 0.25], [0, 0, 1, 0.75]]


# Agreement with others


def test_random_hands_of_two_are_those_of_universal_poker():
    import pyspiel

    from tests.oracles.spiel import expect_same_play

    def translate(state, action):
        """Theirs number cards rank by rank, ours suit by suit."""
        return 4 * (action % 13) + action // 13 if state.player == CHANCE else action

    limit_holdem = pyspiel.load_game(
        "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=1 2,firstPlayer=1 2 2 2,numSuits=4,numRanks=13,"
        "numHoleCards=2,numBoardCards=0 3 1 1,stack=1000 1000,raiseSize=2 2 4 4,maxRaises=3 4 4 4,"
        "bettingAbstraction=fcpa)"
    )
    expect_same_play("holdem", limit_holdem, translate, games=300)


def pokerkit_table(players, stack):
    """PokerKit's fixed limit with three raises preflop, as here; it counts four beside the blind."""
    from pokerkit import Automation, FixedLimitTexasHoldem

    by_hand = {Automation.HOLE_DEALING, Automation.BOARD_DEALING, Automation.CARD_BURNING}
    game = FixedLimitTexasHoldem(tuple(set(Automation) - by_hand), True, 0, (1, 2), 2, 4)
    preflop, *later = game.streets
    game.streets = (dataclasses.replace(preflop, max_completion_betting_or_raising_count=3), *later)
    return game(stack, players)


def expect_pokerkit_agrees(game, rng, stack):
    """One random hand, with more or less folding and raising from hand to hand."""
    state, peer = game.start(), pokerkit_table(game.players, stack)
    weights = (1, rng.choice((2, 6)), rng.choice((1, 3)))
    seats = [1, 0] if game.players == 2 else range(game.players)  # theirs: of two, the big blind comes first
    while not state.over:
        if state.player == CHANCE:
            state.deal(rng)
            record = game.record(state.data)
            if record["street"] == 0:
                for seat in seats:
                    peer.deal_hole("".join(hand_faces(record, seat, None)))
            else:
                deal_board(peer, board_faces(record, None))
            continue
        assert peer.actor_index == seats[state.player], str(state)
        can = (peer.can_fold(), peer.can_check_or_call(), peer.can_complete_bet_or_raise_to())
        assert state.actions() == [action for action in range(3) if can[action]], str(state)
        action = rng.choice([action for action in state.actions() for _ in range(weights[action])])
        (peer.fold, peer.check_or_call, peer.complete_bet_or_raise_to)[action]()
        state.apply(action)
    assert not peer.status, str(state)
    assert raked(game, peer, seats) == pytest.approx(state.returns(), abs=1e-9), str(state)


def raked(game, peer, seats):
    """What PokerKit pays, less the rake: a share of the pot, up to the cap, which those to whom it is pushed part."""
    _, _, rake, cap, _ = game.spec.params
    paid, bets, pushed = (np.zeros(game.players) for _ in range(3))
    for step in peer.operations:
        kind = type(step).__name__
        if kind in ("BlindOrStraddlePosting", "CheckingOrCalling"):
            bets[step.player_index] += step.amount
        elif kind == "CompletionBettingOrRaisingTo":
            bets[step.player_index] = step.amount
        elif kind == "BetCollection":
            paid += bets
            bets[:] = 0
        elif kind == "ChipsPushing":
            pushed += step.amounts
    paid += bets
    pot = np.minimum(paid, np.sort(paid)[-2]).sum()  # what nobody called goes back
    part = np.floor(100 * min(rake * pot, cap or np.inf) / np.count_nonzero(pushed) + 0.5) / 100
    return [peer.payoffs[seat] - (part if pushed[seat] else 0) for seat in seats]


def deal_board(peer, faces):
    """Brings PokerKit's board up to ours, street by street."""
    for begin, end in ((0, 3), (3, 4), (4, 5)):
        if len(list(peer.get_board_cards(0))) == begin and len(faces) >= end:
            peer.burn_card("??")
            peer.deal_board("".join(faces[begin:end]))


@pytest.mark.parametrize("players", [2, 3, 6, 10])
def test_random_hands_are_those_of_pokerkit(players):
    game = tapete.make(f"holdem(players={players})")
    for i in range(50):
        expect_pokerkit_agrees(game, Rng("pokerkit", players, i), 1000)


@pytest.mark.parametrize("rake", ["rake=0.07,rake_cap=0.5", "rake=0.1,rake_cap=3", "rake=0.03"])
def test_random_hands_are_raked_as_those_of_pokerkit(rake):
    for i in range(60):
        rng = Rng("rake", rake, i)
        game = tapete.make(f"holdem(players={2 + rng.below(5)},{rake})")
        expect_pokerkit_agrees(game, rng, 1000)


@pytest.mark.parametrize("stack", [2, 3, 5, 17, 40])
def test_random_hands_with_short_stacks_are_those_of_pokerkit(stack):
    for i in range(40):
        rng = Rng("stacks", stack, i)
        game = tapete.make(f"holdem(players={2 + rng.below(9)},stacks={stack})")
        expect_pokerkit_agrees(game, rng, stack)


@pytest.mark.slow
def test_two_thousand_hands_of_ten_are_those_of_pokerkit():
    game = tapete.make("holdem(players=10)")
    for i in range(2000):
        expect_pokerkit_agrees(game, Rng("pokerkit", "slow", i), 1000)


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("Ah Kd", "high card"),
        ("7h 7d", "pair"),
        ("7h 7d 2c 3c 9s", "pair"),
        ("7h 7d 2c 2s 9s Ks", "two pair"),
        ("7h 8d 9c Ts Js 2s 2d", "straight"),
        ("7h 2h 9h Th Jh 2s 2d", "flush"),
    ],
)
def test_the_name_of_a_hand(cards: str, name: str) -> None:
    bits = cards_in(cards, *range(2, 8))
    assert hand_name([card for card in range(52) if bits >> card & 1]) == name


def test_the_scene_names_the_own_hand_and_the_cards_that_won() -> None:
    rng = Rng("won by")
    showdowns = 0
    for _ in range(60):
        state = make("holdem(players=4)").start().deal(rng)
        while not state.over:
            notes = {part.name: part.text for part in state.view(1).scene().parts if isinstance(part, Note)}
            assert "won by" not in notes
            s = state.game.record(state.data)
            assert notes["your hand"] == hand_name([*s["hole"][1], *(card for card in s["board"] if card >= 0)])
            assert notes.get("folded", "") == ", ".join(f"seat {i}" for i in range(4) if not s["playing"] >> i & 1)
            state.apply(rng.choice([a for a in state.actions() if state.write(a) != "raise"])).deal(rng)
        s = state.game.record(state.data)
        notes = {part.name: part.text for part in state.view(1).scene().parts if isinstance(part, Note)}
        assert ("won by" in notes) == (s["active"] > 1)
        if s["active"] < 2:
            continue
        showdowns += 1
        lit = cards_in(notes["won by"], *range(5, 11))
        sevens = {seat: [int(card) for card in (*s["hole"][seat], *s["board"])] for seat in seats_playing(s)}
        ranked = {seat: rank_hands(np.array([seven], dtype=np.uint8))[0] for seat, seven in sevens.items()}
        winners = [seat for seat, rank in ranked.items() if rank == max(ranked.values())]
        assert max(state.returns()) == max(state.returns()[seat] for seat in winners)
        for seat in winners:
            five = [card for card in sevens[seat] if lit >> card & 1]
            ranks = [rank_hands(np.array([some], dtype=np.uint8))[0] for some in combinations(five, 5)]
            assert max(ranks) == ranked[seat], "they are as good as all seven"
        if len(winners) == 1:
            assert lit.bit_count() == 5
    assert showdowns > 10
