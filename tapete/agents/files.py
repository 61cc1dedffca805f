"""Agents that were trained or solved, from their files: what a file is, its header tells."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

from tapete.agents import Policy
from tapete.agents.auction import AfterAuction, plain_game
from tapete.agents.blueprint import from_file
from tapete.agents.compiled import Compiled
from tapete.agents.search import Options, Searcher, searching
from tapete.core import Game, TapeteError, make
from tapete.core.arrays import read_format
from tapete.core.evaluator import MakeEvaluator
from tapete.core.players import rule_player
from tapete.games.holdem import chromosome
from tapete.learn.run import FILES
from tapete.nets import Network, moves, network, ntuple
from tapete.search import ISMCTS, MCTS, Worlds
from tapete.solve.holdem import buckets

NETWORK = FILES.network  # in the folder of a run
SEARCH = "search"
PLAYS = (SEARCH, *network.JUDGES)  # what a network's header may say about how it plays: with a search, or by that head
Model = Network | ntuple.NTuple | moves.MoveNetwork | chromosome.Chromosome | buckets.Bucketed
LOADERS: dict[str, Callable[[str], Model]] = {
    network.FORMAT: Network.load,
    ntuple.FORMAT: ntuple.NTuple.load,
    moves.FORMAT: moves.MoveNetwork.load,
    chromosome.FORMAT: chromosome.Chromosome.load,
    buckets.FORMAT: buckets.Bucketed.load,
}


def file_of(path: str) -> Path:
    """The file of an agent; `path` may be the folder of a run."""
    return Path(path) / NETWORK if os.path.isdir(path) else Path(path)


def player(path: str, game: Game) -> Callable[..., Policy]:
    """A function of the parameters that the agent in a file takes; `path` may be the folder of a run."""
    file = file_of(path)
    form = read_format(file)
    if form not in LOADERS:
        from tapete.solve.truco import blueprint as truco

        return partial(from_file, game, file) if form == truco.FORMAT else lambda: _solution(file, game)

    @searching
    def play(options: Options) -> Policy:
        return trained(game, file, options)

    return play


def trained(game: Game, file: Path, options: Options) -> Policy:
    """The network of a file, as its header says that it plays: by its own moves; in a search where that says nothing.

    Whoever asks for simulations or seconds, `runs/x(400)`, gets a search with the network in the tree, or where it
    scores moves by their features, one over sampled worlds. A network for Dou Dizhu also plays its variants.
    """
    model = _model(str(file), version(file))
    if model.about.get("game") != str(game):
        if model.about.get("game") == plain_game(game):
            return AfterAuction(game, trained(make(plain_game(game)), file, options))
        raise TapeteError(f"{file} plays {model.about.get('game')}, not {game}")
    plays = model.about.get("plays", SEARCH)
    if plays not in PLAYS:
        raise TapeteError(f"{file} plays by {str(plays)[:40]!r}, which is none of {', '.join(PLAYS)}")
    if plays != SEARCH and not (options.iterations or options.seconds):
        return Compiled(model.evaluator(game))
    if isinstance(model, moves.MoveNetwork):
        return Searcher(Worlds(game, lambda: model.evaluator(game), habitual(game)), options)
    if game.spec.hidden or game.spec.has_chance:
        return Searcher(ISMCTS(game, lambda: model.evaluator(game), keep=options.keep, memory=options.memory), options)
    return Searcher(MCTS(game, lambda: model.evaluator(game), keep=options.keep, memory=options.memory), options)


def habitual(game: Game) -> Sequence[MakeEvaluator]:
    """Whom others may be taken for besides the network itself: who goes by rules of thumb, where there is one."""
    with suppress(TapeteError):
        return (rule_player(game),)
    return ()


def version(file: Path) -> tuple[int, ...]:
    """Changes when the file does: the time of a change (ctime) can't be set, that of a modification can."""
    about = file.stat()
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


@lru_cache(maxsize=8)  # a run that is watched while it learns gives a new network every few minutes
def _model(path: str, version: tuple[int, ...]) -> Model:
    """A network, read once as long as its file does not change."""
    return LOADERS[read_format(path)](path)


def _solution(file: Path, game: Game) -> Policy:
    from tapete.agents.equilibrium import Equilibrium
    from tapete.solve import Strategy, check_game

    strategy = Strategy.load(file)
    if strategy.about.get("game") != str(game):
        raise TapeteError(f"{file} plays {strategy.about.get('game')}, not {game}")
    check_game(strategy.about, game, file)
    return Equilibrium(game, strategy)
