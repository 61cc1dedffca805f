"""Dudo: rule by rule, published counts and values, a slow oracle, and OpenSpiel's liar's dice without its wild face."""

from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, csc_array, hstack

from tapete.core import CHANCE, TERMINAL, Board, Game, IllegalAction, Rng, State, TapeteError, Things, make
from tapete.testing import check_game, check_redeal, check_tree, perft

# ---- the contract


@pytest.mark.parametrize(
    ("name", "games"),
    [
        ("dudo(6,1,1)", 20),
        ("dudo(2,1,2)", 20),
        ("dudo(4,2,1)", 15),
        ("dudo(6,2,2,one_round=true,win=0.5,lose=-0.25)", 20),
        ("dudo(9,5,5)", 3),  # 90 claims: more than the bits of one word
    ],
)
def test_random_play_keeps_every_promise(name, games):
    check_game(name, games=games)


@pytest.mark.parametrize("name", ["dudo(3,1,1)", "dudo(2,1,2)", pytest.param("dudo(2,2,1)", marks=pytest.mark.slow)])
def test_information_sets_of_the_whole_tree(name):
    check_tree(name)


@pytest.mark.parametrize("name", ["dudo(4,1,1)", "dudo(2,1,2)", "dudo(2,3,1,one_round=true)"])
def test_redeal_rolls_the_other_dice_anew(name):
    check_redeal(name)


# ---- the rules, one by one


def play(name, moves):
    return make(name).read(moves)


def legal(state):
    return [state.write(action) for action in state.actions()]


def test_claims_are_ordered_by_quantity_then_face():
    assert legal(play("dudo(3,1,1)", "1 1")) == ["1x1", "1x2", "1x3", "2x1", "2x2", "2x3"]
    assert legal(play("dudo(3,1,1)", "1 1 1x3")) == ["2x1", "2x2", "2x3", "dudo"]


def test_dudo_needs_a_claim_before_it():
    with pytest.raises(IllegalAction):
        play("dudo(3,1,1)", "1 1 dudo")


def test_dudo_is_the_only_move_after_the_highest_claim():
    assert legal(play("dudo(3,1,1)", "1 1 2x3")) == ["dudo"]


@pytest.mark.parametrize(
    ("moves", "first_gets"),
    [
        ("3 3 2x3 dudo", 1),  # exactly as many as claimed: the call loses
        ("3 3 1x3 dudo", 1),  # more than claimed: the call loses
        ("3 2 2x3 dudo", -1),  # fewer: the claim loses
        ("3 2 1x1 1x2 dudo", -1),  # seat 0 calls, and the claim holds
        ("3 2 1x1 2x2 dudo", 1),  # seat 0 calls, and it doesn't
    ],
)
def test_a_call_loses_if_at_least_that_many_dice_show_the_face(moves, first_gets):
    state = play("dudo(3,1,1)", moves)
    assert state.over
    assert state.returns() == [first_gets, -first_gets]


def test_no_face_is_wild():
    for wild in (1, 6):
        assert play("dudo(6,1,1)", f"{wild} {wild} 1x4 dudo").returns() == [-1, 1]


def test_the_dice_of_both_are_counted():
    assert not play("dudo(4,2,2)", "2-2 2-3 3x2 dudo").view(0).over
    assert "seat 1 lost a die" in str(play("dudo(4,2,2)", "2-2 2-3 3x2 dudo").view(0))
    assert "seat 0 lost a die" in str(play("dudo(4,2,2)", "2-2 1-3 3x2 dudo").view(0))


def test_the_loser_of_a_round_loses_a_die_and_starts_the_next():
    state = play("dudo(4,2,2)", "2-2 2-3 3x2 dudo")  # seat 1 loses
    assert state.player == CHANCE
    assert state.scene().parts[0].values == (2, 1)
    state = state.apply("1-1").apply("4")
    assert state.player == 1
    state = state.apply("1x1").apply("3x4").apply("dudo")  # seat 0 loses
    assert state.apply("1").apply("1").player == 0


def test_fewer_dice_mean_fewer_claims():
    state = play("dudo(4,2,2)", "2-2 2-3 3x2 dudo 1-1 4")
    assert legal(state)[-1] == "3x4"
    assert legal(state.apply("3x4")) == ["dudo"]


def test_a_new_round_begins_without_claims():
    """The highest claim of dudo(9,4,4) is the 72nd: its bit is in the second word."""
    state = play("dudo(9,4,4)", "1-1-1-1 1-1-1-1 1x1 8x9 dudo")
    assert "claims: none" in str(state.view(0))
    after = play("dudo(9,4,4)", "1-1-1-1 1-1-1-1 1x1 8x9 dudo 1-1-1-1 1-1-1 2x2")
    assert "claims: 2x2;" in str(after.view(0))


def test_chance_rolls_what_is_left_seat_0_first():
    state = play("dudo(4,1,2)", "")
    assert legal(state) == ["1", "2", "3", "4"]
    state.apply("2")
    assert len(legal(state)) == 10
    state = state.apply("1-2").apply("3x1").apply("dudo")
    assert state.over  # seat 0 had one die


def test_who_has_no_dice_has_lost():
    after_one = "1 2-2 1x1 dudo"  # seat 1 loses one of its two dice
    assert not play("dudo(4,1,2)", after_one).over
    assert play("dudo(4,1,2)", f"{after_one} 1 2 1x2 dudo").returns() == [-1, 1]  # seat 0 loses its last
    assert play("dudo(4,1,2)", f"{after_one} 1 2 1x3 dudo").returns() == [1, -1]  # seat 1 loses its last


def test_rolls_are_multisets_with_their_probabilities():
    state = play("dudo(6,5,1)", "")
    orders = Counter(tuple(sorted(dice)) for dice in product(range(1, 7), repeat=5))
    due = {"-".join(map(str, dice)): n / 6**5 for dice, n in orders.items()}
    assert {state.write(roll): prob for roll, prob in state.outcomes()} == pytest.approx(due)


def test_only_the_own_roll_is_known_until_dudo_is_called():
    state = play("dudo(6,2,2)", "1-3 2-6 1x2")
    assert state.infoset(0) == play("dudo(6,2,2)", "1-3 4-5 1x2").infoset(0)
    assert state.infoset(1) != play("dudo(6,2,2)", "1-3 4-5 1x2").infoset(1)
    assert str(state.view(0)) == str(play("dudo(6,2,2)", "1-3 4-5 1x2").view(0))
    state.apply("dudo")
    assert state.infoset(0) != play("dudo(6,2,2)", "1-3 2-5 1x2 dudo").infoset(0)
    assert "dice 1-3 and 2-6" in str(state.view(0))


def test_rolls_of_past_rounds_are_never_forgotten():
    one, two = (play("dudo(6,2,2)", f"1-3 {roll} 1x2 dudo 1-1 6 1x1") for roll in ("2-6", "2-5"))
    assert one.infoset(0) != two.infoset(0)
    assert one.infoset(1) != two.infoset(1)


# ---- one round, for solvers


def test_one_round_pays_what_it_is_told():
    name = "dudo(4,2,2,one_round=true,win=0.5,lose=-0.25)"
    assert play(name, "2-2 2-3 3x2 dudo").returns() == [0.5, -0.5]
    assert play(name, "2-2 1-3 3x2 dudo").returns() == [-0.25, 0.25]
    assert make(name).spec.utility == (-0.5, 0.5)


@pytest.mark.parametrize(
    "name",
    [
        "dudo(1,1,1)",
        "dudo(10,1,1)",
        "dudo(6,0,1)",
        "dudo(6,1,6)",
        "dudo(6,1,1,one_round=true,win=1.5)",
        "dudo(6,1,1,one_round=true,lose=-2)",
        "dudo(6,1,1,win=0.5)",
    ],
)
def test_bad_parameters_are_refused_in_one_line(name):
    with pytest.raises(TapeteError) as error:
        make(name)
    assert "\n" not in str(error.value)


# ---- published counts (Rojas 2020, and TARGETS.md where the slides misprint)

COUNTS = [
    ("4,1,1", 8_177, 512),
    ("5,1,1", 51_176, 2_560),
    ("6,1,1", 294_877, 12_288),
    ("4,1,2", 327_641, 14_336),
    ("4,2,1", 327_641, 14_336),
    ("5,1,2", 4_915_126, 163_840),
    ("5,2,1", 4_915_126, 163_840),
    ("4,2,2", 13_107_101, 327_680),
]
LARGE_COUNTS = [("6,1,2", 66_060_163, 1_769_472), ("6,2,1", 66_060_163, 1_769_472), ("5,2,2", 471_858_976, 7_864_320)]


def check_counts(parameters, histories, choices):
    counts = perft(make(f"dudo({parameters},one_round=true)").start())
    assert (counts.histories, counts.choices) == (histories, choices)


@pytest.mark.parametrize(("parameters", "histories", "choices"), COUNTS)
def test_histories_and_choices_of_the_first_round(parameters, histories, choices):
    check_counts(parameters, histories, choices)


@pytest.mark.slow
@pytest.mark.parametrize(("parameters", "histories", "choices"), LARGE_COUNTS)
def test_histories_and_choices_of_the_large_ones(parameters, histories, choices):
    check_counts(parameters, histories, choices)


# ---- published values, by a linear program over realization plans (von Stengel 1996)


class Plans:
    """The sequences of one seat: what it has done, and at which information sets that leads further."""

    def __init__(self):
        self.sequences: dict[tuple[int, int], int] = {}  # (infoset, action) -> number; 0 is to have done nothing
        self.infosets: dict[int, tuple[int, int]] = {}  # infoset -> (number, the sequence that leads to it)

    def flow(self):
        """[infosets + 1, sequences] what goes into an information set comes out of it; the first row starts it all."""
        entries = [(0, 0, 1.0)]
        entries += [(row, parent, -1.0) for row, parent in self.infosets.values()]
        entries += [(self.infosets[key][0], i, 1.0) for (key, _), i in self.sequences.items()]
        rows, columns, values = zip(*entries, strict=True)
        return coo_array((values, (rows, columns)), shape=(len(self.infosets) + 1, len(self.sequences) + 1))


def value(game: Game) -> float:
    """What the first seat gets when both play best."""
    plans = (Plans(), Plans())
    payoffs: dict[tuple[int, int], float] = defaultdict(float)

    def walk(state: State, at: tuple[int, int], prob: float) -> None:
        who = state.player
        if who == TERMINAL:
            payoffs[at] += prob * state.returns()[0]
        elif who == CHANCE:
            for roll, p in state.outcomes():
                walk(state.copy().apply(roll), at, prob * p)
        else:
            plan, key = plans[who], state.infoset(who)
            plan.infosets.setdefault(key, (len(plan.infosets) + 1, at[who]))
            for action in state.actions():
                done = plan.sequences.setdefault((key, action), len(plan.sequences) + 1)
                walk(state.copy().apply(action), (done, at[1]) if who == 0 else (at[0], done), prob)

    walk(game.start(), (0, 0), 1.0)
    first, second = (plan.flow() for plan in plans)
    rows, columns = zip(*payoffs, strict=True)
    table = coo_array((list(payoffs.values()), (rows, columns)), shape=(first.shape[1], second.shape[1]))
    n, m = first.shape[1], second.shape[0]  # variables: the plan of seat 0, and what each infoset of seat 1 costs
    result = linprog(
        c=np.eye(1, n + m, n)[0] * -1,
        A_ub=hstack([-table.T, second.T]),
        b_ub=np.zeros(second.shape[1]),
        A_eq=hstack([first, csc_array((first.shape[0], m))]),
        b_eq=np.eye(1, first.shape[0])[0],
        bounds=[(0, None)] * n + [(None, None)] * m,
        method="highs-ipm",
    )
    assert result.success, result.message
    return -float(result.fun)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("dudo(4,1,1)", -0.125),
        ("dudo(5,1,1)", -0.120),
        ("dudo(4,1,2,one_round=true,win=0.125)", -0.508),  # if seat 1 loses, it starts dudo(4,1,1)
        ("dudo(4,2,1,one_round=true,lose=-0.125)", 0.552),  # if seat 0 loses, it starts dudo(4,1,1)
        pytest.param("dudo(6,1,1)", -0.111, marks=pytest.mark.slow),
    ],
)
def test_values_are_the_published_ones(name, published):
    assert value(make(name)) == pytest.approx(published, abs=5e-4)


def test_the_whole_game_is_worth_its_rounds_put_together():
    inner = value(make("dudo(2,1,1)"))
    assert value(make("dudo(2,1,2)")) == pytest.approx(value(make(f"dudo(2,1,2,one_round=true,win={-inner})")))
    assert value(make("dudo(2,2,1)")) == pytest.approx(value(make(f"dudo(2,2,1,one_round=true,lose={inner})")))


# ---- a slow oracle, written from GAMES.md alone


class SlowDudo:
    """Dudo with lists of dice and of (quantity, face)."""

    def __init__(self, faces, *dice):
        self.faces, self.left = faces, list(dice)
        self.starter, self.rolls, self.claims = 0, [], []

    @property
    def mover(self):
        if 0 in self.left:
            return TERMINAL
        return CHANCE if len(self.rolls) < 2 else (self.starter + len(self.claims)) % 2

    def outcomes(self):
        dice = self.left[len(self.rolls)]
        orders = Counter(tuple(sorted(roll)) for roll in product(range(1, self.faces + 1), repeat=dice))
        return {"-".join(map(str, roll)): n / self.faces**dice for roll, n in orders.items()}

    def moves(self):
        claims = sorted(product(range(1, sum(self.left) + 1), range(1, self.faces + 1)))
        higher = [claim for claim in claims if not self.claims or claim > self.claims[-1]]
        return [f"{quantity}x{face}" for quantity, face in higher] + ["dudo"] * bool(self.claims)

    def play(self, word):
        if self.mover == CHANCE:
            self.rolls.append([int(face) for face in word.split("-")])
        elif word != "dudo":
            quantity, face = word.split("x")
            self.claims.append((int(quantity), int(face)))
        else:
            quantity, face = self.claims[-1]
            caller = self.mover
            loser = caller if (self.rolls[0] + self.rolls[1]).count(face) >= quantity else 1 - caller
            self.left[loser] -= 1
            self.starter, self.rolls, self.claims = loser, [], []

    def returns(self):
        return [0, 0] if self.mover != TERMINAL else [-1 if dice == 0 else 1 for dice in self.left]


@pytest.mark.parametrize("parameters", [(2, 1, 1), (6, 1, 1), (3, 1, 3), (4, 3, 2), (9, 2, 2), (6, 5, 4)])
def test_random_play_agrees_with_the_oracle(parameters):
    game = make(f"dudo({','.join(map(str, parameters))})")
    for i in range(40):
        rng = Rng("oracle", i)
        state, slow = game.start(), SlowDudo(*parameters)
        while True:
            assert state.player == slow.mover
            assert state.returns() == slow.returns()
            if state.over:
                break
            if state.player == CHANCE:
                assert {state.write(roll): prob for roll, prob in state.outcomes()} == pytest.approx(slow.outcomes())
            else:
                assert legal(state) == slow.moves()
            word = rng.choice(legal(state))
            state.apply(word)
            slow.play(word)


# ---- OpenSpiel's liar's dice: its highest face is wild, so a game in which nobody rolls or claims it is ours


class LiarsDice:
    """`liars_dice` with one face more than ours, which is its wild one and never comes up here."""

    def __init__(self, faces, dice):
        import pyspiel

        self.faces = faces
        self.call = (faces + 1) * 2 * dice
        self.game = pyspiel.load_game(f"liars_dice(numdice={dice},dice_sides={faces + 1})")

    def moves(self, theirs):
        """Their legal actions as words, without claims of the wild face."""
        words = {action: self.word(action) for action in theirs.legal_actions()}
        return {word: action for action, word in words.items() if not word.endswith(f"x{self.faces + 1}")}

    def word(self, action):
        quantity, face = divmod(action, self.faces + 1)
        return "dudo" if action == self.call else f"{quantity + 1}x{face + 1}"

    def rolled(self, words):
        """Their state after these two rolls."""
        theirs = self.game.new_initial_state()
        for face in "-".join(words).split("-"):
            theirs.apply_action(int(face) - 1)
        return theirs


def rolled_states(game):
    """Every state after both rolls."""
    for first in game.start().actions():
        one = game.start().apply(first)
        for second in one.actions():
            yield one.copy().apply(second)


def test_every_state_of_one_die_each_agrees_with_open_spiel():
    peer, game = LiarsDice(4, 1), make("dudo(4,1,1)")
    visited = 0

    def walk(state, theirs):
        nonlocal visited
        visited += 1
        assert state.over == theirs.is_terminal()
        if state.over:
            assert state.returns() == theirs.returns()
            return
        assert state.player == theirs.current_player()
        moves = peer.moves(theirs)
        assert legal(state) == list(moves)
        for word, action in moves.items():
            walk(state.copy().apply(word), theirs.child(action))

    for state in rolled_states(game):
        walk(state, peer.rolled(str(state).split()[1:]))
    assert visited == 8_176


@pytest.mark.parametrize(("faces", "dice"), [(6, 1), (3, 2), (5, 3)])
def test_random_rounds_agree_with_open_spiel(faces, dice):
    peer, game = LiarsDice(faces, dice), make(f"dudo({faces},{dice},{dice},one_round=true)")
    for i in range(300):
        rng = Rng("liars dice", i)
        state = game.start().deal(rng)
        theirs = peer.rolled(str(state).split()[1:])
        while not state.over:
            moves = peer.moves(theirs)
            assert state.player == theirs.current_player()
            assert legal(state) == list(moves)
            word = rng.choice(legal(state))
            state.apply(word)
            theirs.apply_action(moves[word])
        assert theirs.is_terminal()
        assert state.returns() == theirs.returns()


# ---- what a network and a table are given


def test_an_observation_tells_dice_and_claims():
    game = make("dudo(3,2,1)")
    view = game.read("1-3 2 1x2 2x3").view(0)
    parts, at = {}, 0
    for field in game.spec.observation(0):
        parts[field.name] = view.observation()[at : at + field.size].tolist()
        at += field.size
    assert parts["own"] == [0.5, 0, 0.5]
    assert parts["dice"] == [1, 0.5]
    assert [i for i, bit in enumerate(parts["claims"]) if bit] == [1, 5]
    assert parts["quantity"] == pytest.approx([2 / 3])
    assert parts["face"] == [0, 0, 1]
    assert parts["starter"] == [1, 0]
    assert view.features()[0].tolist() == pytest.approx([1, 1, 0, 0, 0])  # 3x1
    assert view.features()[-1].tolist() == [0, 0, 0, 0, 1]  # dudo


def test_a_scene_hides_the_other_dice_and_offers_claims_on_a_grid():
    scene = make("dudo(3,2,1)").read("1-3 2 1x2").view(1).scene()
    dice = {part.owner: part.faces for part in scene.parts if isinstance(part, Things)}
    assert dice == {0: ("", ""), 1: ("2",)}
    (grid,) = (part for part in scene.parts if isinstance(part, Board))
    assert (len(grid.rows), len(grid.columns), grid.cells.index("●"), grid.last) == (3, 3, 1, 1)
    assert [move.text for move in scene.moves if move.place is None] == ["dudo"]
    assert all(move.place.index == move.action for move in scene.moves if move.place is not None)
