"""Public trees: the same game as the sequence form, and as the rules played hand by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tapete.core import Rng, TapeteError, make
from tapete.solve import public_tree
from tapete.solve.public_tree import PublicTree
from tapete.solve.sequence_form import SequenceForm

ROUND = "dudo(3,1,2,one_round=true,win=0.5,lose=-0.25)"
GAMES = ["kuhn", "ocp(13)", "dudo(3,1,1)", ROUND, "dudo(2,2,2,one_round=true)"]


@pytest.mark.parametrize("name", GAMES)
def test_both_forms_are_of_one_game(name):
    game = make(name)
    public, form = PublicTree.of(game), SequenceForm.of(game)
    assert (public.histories, public.infosets) == (form.histories, form.infosets)
    for player in range(2):
        assert sorted(public.keys(player).ravel().tolist()) == sorted(form.keys[player].tolist())
    actions = dict(zip(form.keys[0].tolist(), np.diff(form.plexes[0].first).tolist(), strict=True))
    own = public.tree.player == 0
    for keys, count in zip(public.keys(0).tolist(), np.diff(public.tree.first)[own].tolist(), strict=True):
        assert {actions[key] for key in keys} == {count}


def expect_same_game(public: PublicTree, games: int) -> None:
    """Random games, each played for all pairs of hands: who moves, how many ways there are, what is paid at the end."""
    game, tree, payoffs = public.game, public.tree, public.payoffs()
    rng = Rng("public tree", str(game))
    pairs = np.argwhere(public.chance > 0).tolist()
    for _ in range(games):
        states = [game.start().apply(int(public.deals[0][i])).apply(int(public.deals[1][j])) for i, j in pairs]
        node = 0
        while not states[0].over:
            actions = states[0].actions()
            choice = rng.below(len(actions))
            if len(actions) > 1:
                assert (tree.player[node], tree.first[node + 1] - tree.first[node]) == (states[0].player, len(actions))
                node = int(tree.child[tree.first[node] + choice])
            for state in states:
                state.apply(actions[choice])
        assert node < 0
        assert all(state.over for state in states)
        for (i, j), state in zip(pairs, states, strict=True):
            assert payoffs[~node, i, j] == public.chance[i, j] * state.returns()[0]


@pytest.mark.parametrize("name", [*GAMES, "dudo(3,2,2,one_round=true)", "dudo(5,1,2,one_round=true)"])
def test_a_tree_plays_like_the_game(name):
    expect_same_game(PublicTree.of(make(name)), 25)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kinds"), [("dudo(4,2,2,one_round=true)", 31), ("dudo(5,2,2,one_round=true)", 39)])
def test_rare_terminals_are_told_apart(name, kinds):
    """Four of a kind is true for one pair of hands in 225: no sample of pairs tells all claims of four apart."""
    public = PublicTree.of(make(name))
    assert len(public.paths) == kinds
    expect_same_game(public, 200)


@pytest.mark.parametrize("name", ["dudo(3,2,2,one_round=true)", "dudo(5,1,2,one_round=true)", "ocp(50)"])
def test_parts_of_any_size_give_one_tree(name, monkeypatch):
    """However few pairs of hands are played side by side, terminals are of one kind only if all pairs agree."""
    game = make(name)
    whole = PublicTree.of(game)
    monkeypatch.setattr(public_tree, "CACHE", 3 * game.size * (game.spec.longest + 1))
    parts = PublicTree.of(game)
    assert len(parts.paths) == len(whole.paths)
    ends = whole.tree.child < 0
    assert ((parts.tree.child < 0) == ends).all()
    assert (parts.tree.child[~ends] == whole.tree.child[~ends]).all()
    for field in ("player", "first", "end", "slot"):
        assert (getattr(parts.tree, field) == getattr(whole.tree, field)).all()
    assert (parts.payoffs()[~parts.tree.child[ends]] == whole.payoffs()[~whole.tree.child[ends]]).all()


@pytest.mark.parametrize("name", GAMES)
def test_paths_lead_to_different_terminals(name):
    public = PublicTree.of(make(name))
    payoffs = public.payoffs().reshape(len(public.paths), -1)
    assert len(np.unique(payoffs, axis=0)) == len(public.paths)
    assert np.abs(payoffs).sum() > 0
    assert public.chance.sum() == pytest.approx(1)


def test_another_games_payoffs_on_the_same_tree():
    """What stands at the end of a round may change; the tree is the same."""
    first, second = make(ROUND), make(ROUND.replace("0.5", "0.75"))
    public = PublicTree.of(first)
    assert (public.payoffs(second) == PublicTree.of(second).payoffs()).all()
    assert (public.payoffs(second) != public.payoffs()).any()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("leduc", "not a public tree"),
        ("domino(2,2)", "not a public tree"),
        ("holdem(players=2)", "not a public tree"),
        ("truco", "not a public tree"),
        ("rps", "not a public tree"),
        ("othello", "not a public tree"),
        ("dudo(2,1,2)", "not a public tree"),
        ("holdem(players=3)", "has 3 players"),
        ("battle", "not zero-sum"),
    ],
)
def test_other_games_are_refused(name, why):
    with pytest.raises(TapeteError, match=why) as error:
        PublicTree.of(make(name))
    assert name.split("(")[0] in str(error.value)
    assert "\n" not in str(error.value)
