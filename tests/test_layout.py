"""The package as a whole: every game has all its pieces, and imports follow the flow of the data."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tapete
from tapete.core.contract import Rules
from tapete.core.names import playable

ROOT = Path(tapete.__file__).parent
FOLDERS = sorted(path.parent for path in (ROOT / "games").glob("*/__init__.py"))
PLAYABLE = playable()

# Each layer may import from itself and from those before it.
LAYERS = [
    {"core"},
    {"scale"},
    {"games", "perft", "testing", "shipped"},
    {"nets"},
    {"solve", "search", "learn"},
    {"agents"},
    {"arena", "review"},
    {"front"},
    {"studies", "web", "terminal", "bridges", "bench"},
    {"cli", "__main__"},
]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_game_has_all_its_pieces(folder: Path) -> None:
    for name in ("__init__.py", "rules.py", "notation.py", "scene.py", "README.md"):
        assert (folder / name).exists(), f"{folder.name} has no {name}"
    assert (Path(__file__).parent / "games" / f"test_{folder.name}.py").exists()
    assert len((folder / "README.md").read_text()) > 800, "a README tells the rules to somebody who has never played"


@pytest.mark.parametrize("name", PLAYABLE)
def test_a_game_gives_every_function_of_the_contract(name: str) -> None:
    game = tapete.make(name)
    assert all(getattr(game.rules, function).address for function in Rules._fields)
    assert game.spec.name.startswith(name)


def layer(module: str) -> int:
    top = module.split(".")[1]
    return next(i for i, names in enumerate(LAYERS) if top in names)


def imports(path: Path, source: str | None = None) -> set[str]:
    """Everything of the package that a file imports, anywhere in it, each as module.name."""
    package = path.relative_to(ROOT.parent).parent.parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text() if source is None else source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return {name for name in found if name == "tapete" or name.startswith("tapete.")}


def games_known(path: Path, source: str | None = None) -> set[str]:
    """What a file takes from `tapete.games`: the names of games, "" for the package itself."""
    names = [name.split(".") for name in imports(path, source)]
    return {(*name, "")[2] for name in names if name[:2] == ["tapete", "games"]}


@pytest.mark.parametrize(
    "line",
    [
        "from tapete.games import kuhn",
        "from tapete import games",
        "import tapete.games",
        "from tapete.games.ocp import rules",
        "from tapete.games import VARIANTS as all_of_them",
        "from ..games import ocp",
        "from .. import games",
        "def f():\n    from tapete.games import kuhn",
    ],
)
def test_a_game_in_an_algorithm_is_found(line: str) -> None:
    assert games_known(ROOT / "search" / "mcts.py", line)


@pytest.mark.parametrize(
    "line", ["from tapete import agents", "from tapete.agents import load", "from ..agents import x"]
)
def test_an_import_against_the_flow_is_found(line: str) -> None:
    assert {name.split(".")[1] for name in imports(ROOT / "search" / "mcts.py", line)} == {"agents"}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_flow(path: Path) -> None:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    if parts == ("tapete", "__init__"):
        return
    module = ".".join(parts)
    assert "tapete" not in imports(path), "the package's own front door is for others"
    for name in imports(path):
        if name.split(".")[1] in {entry for names in LAYERS for entry in names}:
            assert layer(name) <= layer(module), f"{module} imports {name}, which is further down the stream"


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_game_does_not_know_other_games(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    known = games_known(path)
    if parts[0] in ("games", "solve") and len(parts) > 2:  # solve/truco solves truco and knows no other game
        assert known <= {parts[1]}
    elif parts[0] in ("core", "nets", "solve", "search", "learn"):
        assert not known, "algorithms know no game"
