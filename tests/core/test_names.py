from __future__ import annotations

import pytest

from tapete import TapeteError, make
from tapete.core.names import Call, needs_parameters, playable, usage, variants


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


def test_usage_tells_the_usual_values() -> None:
    def search(game: str, iterations: int = 0, *, c: float = 1.5, keep: bool = True) -> None: ...

    assert usage("search", search) == "search(game, iterations=0, c=1.5, keep=true)"
    assert usage("nothing", lambda: None) == "nothing"
    assert needs_parameters(search)
    assert not needs_parameters(lambda: None)


def test_values_are_read_as_what_they_are() -> None:
    def search(name: str, n: int = 1, *, c: float = 1.5, keep: bool = True) -> tuple[object, ...]:
        return name, n, c, keep

    call = Call.read("search( a b , -3, keep = False, c=-2 )", "agent", {"search": search})
    assert call.run() == ("a b", -3, -2.0, False)
    assert isinstance(call.values["c"], float)
    assert str(call) == "search(a b,-3,c=-2.0,keep=false)"
    assert str(Call.read("search(x,c=1.5)", "agent", {"search": search})) == "search(x,1)", "what is usual is left out"
    for wrong in ("c=1e12", "c=-1e12", "c=inf", "n=1.0", "n=true", "keep=1", "n=" + "1" * 20):
        with pytest.raises(TapeteError, match="must be"):
            Call.read(f"search(x,{wrong})", "agent", {"search": search})
    with pytest.raises(TapeteError, match="search needs name; write search"):
        Call.read("search(n=2)", "agent", {"search": search})


def test_what_a_function_refuses_is_told_with_its_name() -> None:
    def search(n: int) -> None:
        raise TapeteError(f"{n} is too much")

    with pytest.raises(TapeteError, match=r"^search: 3 is too much$"):
        Call.read("search(3)", "agent", {"search": search}).run()


def test_playable_games_need_nothing_but_their_name() -> None:
    assert {"kuhn", "truco", "holdem"} <= set(playable())
    assert "matrix" not in playable(), "it is read from a file"
    assert playable() == sorted(playable())
