from __future__ import annotations

import pytest

from tapete import TapeteError, make
from tapete.core.names import Call, variants


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kuhn", "kuhn"),
        (" ocp ( 12 ) ", "ocp(12)"),
        ("ocp(cards=12)", "ocp(12)"),
        ("ocp", "ocp(13)"),
        ("dudo(5,2,2)", "dudo(5,2,2)"),
        ("domino(3,4)", "domino(3,4)"),
        ("blotto(5,3)", "blotto(5,3)"),
        ("holdem(players=10)", "holdem(players=10)"),
        ("holdem(2)", "holdem"),
        ("truco(points=15)", "truco(points=15)"),
        ("truco(mazo=TRUE)", "truco(mazo=true)"),
    ],
)
def test_a_name_is_read_and_written_in_one_way(text: str, name: str) -> None:
    assert make(text).spec.name == name
    assert make(name).spec == make(text).spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a name"),
        ("(3)", "is not a name"),
        ("ocp(3", "is not a name"),
        ("ocp" * 1000, "is not a name"),
        ("chess", "there is no game 'chess'; `tapete games` lists them all"),
        ("trucco", "did you mean 'truco'?"),
        ("ocp(1)", "ocp: cards must be between 2 and"),
        ("ocp(x)", "ocp: cards must be a whole number, not 'x'"),
        ("ocp(2.5)", "must be a whole number"),
        ("ocp(99999999999999999999999)", "must be a whole number"),
        ("ocp(3,4)", "ocp has at most 1 parameters, not 2; write ocp(cards=13)"),
        ("ocp(deck=3)", "ocp has no parameter 'deck'; write ocp(cards=13)"),
        ("ocp(3,cards=3)", "ocp: cards is given twice"),
        ("kuhn(3)", "kuhn has no parameters; write kuhn"),
        ("truco(mazo=2)", "truco: mazo must be true or false, not '2'"),
        ("holdem(players=11)", "holdem: players must be between 2 and 10, not 11"),
        ("holdem(rake=nan)", "holdem: rake must be a number, not 'nan'"),
        ("othello(size=7)", "othello: "),
        ("dudo(6,0,1)", "dudo: "),
        ("domino(3,9)", "domino: "),
    ],
)
def test_a_wrong_name_gets_one_line_that_helps(text: str, message: str) -> None:
    with pytest.raises(TapeteError) as error:
        make(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_any_function_can_be_called_by_name() -> None:
    def mcts(simulations: int = 100, *, constant: float = 1.4, reuse: bool = True) -> tuple[int, float, bool]:
        return simulations, constant, reuse

    call = Call.read("mcts(50, reuse=false)", "agent", {"mcts": mcts})
    assert call.run() == (50, 1.4, False)
    assert str(call) == "mcts(50,reuse=false)"


def test_no_two_games_have_the_same_name() -> None:
    from importlib import import_module

    packages = {variant.package for variant in variants().values()}
    assert sum(len(import_module(package).VARIANTS) for package in packages) == len(variants())
