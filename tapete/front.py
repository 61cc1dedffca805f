"""The front door: what somebody who has imported `tapete` asks for, each a few lines over the package behind it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from tapete.agents import Policy, load
from tapete.agents.equilibrium import Equilibrium
from tapete.arena import Agent, match
from tapete.arena.matches import maker
from tapete.core import Game, Rng, TapeteError, make
from tapete.core.spec import Value
from tapete.core.thought import check_thought

if TYPE_CHECKING:  # it compiles the solvers: not before somebody asks for a solution
    from tapete.learn import Watch
    from tapete.solve import Progress

__all__ = ["agent", "equilibrium", "exploitability", "match", "matrix", "train"]

CLOSE = 1e-3  # the exploitability at which a search for an equilibrium ends, where nothing is said


def agent(text: str, game: Game | str) -> Policy:
    """The agent that a text names, ready to play one game: `tapete agents GAME` lists them.

    A file or the folder of a training run is a name too: ``runs/othello-zero(400)``.

    >>> view = make("kuhn").read("Q J").view(0)
    >>> thought = agent("equilibrium", "kuhn").think(view, Rng(1))
    >>> view.named(thought.probabilities).keys()
    dict_keys(['pass', 'bet'])
    """
    return load(text, _game(game))


def equilibrium(
    game: Game | str,
    *,
    until: float | None = None,
    seconds: float = math.inf,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> Equilibrium:
    """An equilibrium of a zero-sum game of two: one that ships, one that was solved before, or else it is solved now.

    What is solved is kept in the user's store, as `tapete solve` does, and is there the next time.

    :param until: the exploitability that is small enough, in units of payoff, as the best responses prove it. Without
        it, what is known is taken as it is, and what isn't is solved to 0.001.
    :param seconds: stop solving after so many; the proof is then wider, and right.
    :param watch: called with the progress after every proof.

    >>> strategy = equilibrium("kuhn")
    >>> round(strategy.value, 4), strategy.exploitability < 1e-4
    (-0.0556, True)
    >>> view = make("kuhn").read("J Q bet").view(1)
    >>> {move: round(share, 2) for move, share in view.named(strategy.at(view)).items()}
    {'pass': 0.67, 'bet': 0.33}
    """
    from tapete.solve import Stale, find, solve

    game = _game(game)
    try:
        known = find(game)
    except Stale as stale:
        warnings.warn(f"{str(stale).partition(';')[0]}; it is solved again", stacklevel=2)
        known = None
    if known is not None and (until is None or (known.about.get("exploitability") or math.inf) <= until):
        return Equilibrium(game, known)
    _, found = solve(game, until=CLOSE if until is None else until, seconds=seconds, watch=watch)
    if found is None:
        raise TapeteError(f"the solution of {game} is very large: `tapete solve '{game}' --save FILE` writes it")
    return Equilibrium(game, found)


def matrix(payoffs: ArrayLike, *, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None) -> Game:
    """The game of a table: seat 0 chooses a row, seat 1 in secret a column.

    Its name is made of its numbers, so that a solution which is kept is that of this table. No other process can make
    the game of that name: where it should be replayed, write the table to a file, `make("matrix(FILE)")`.

    :param payoffs: [rows, columns], what seat 0 gets and seat 1 loses; or [rows, columns, 2], what each of them gets.
    :param rows: names of the rows; else r1, r2, ...
    :param columns: names of the columns; else c1, c2, ...

    >>> game = matrix([[-1, 1], [2, -1]], rows=["left", "right"])
    >>> view = game.start().view(0)
    >>> {row: round(share, 2) for row, share in view.named(equilibrium(game).at(view)).items()}
    {'left': 0.6, 'right': 0.4}
    """
    from tapete.games.matrix import array_spec

    return Game(array_spec(payoffs, rows, columns), "tapete.games.matrix")


def exploitability(game: Game | str, agent: Agent, *, seed: int = 1) -> float:
    """What best responses on both seats gain against an agent, added up: exact, in zero-sum games of two, if small.

    The agent is asked once at every information set, and what it says there is taken for all that it does; one that
    draws while it thinks would say something else with another `seed`.

    :param agent: as `match` takes it: a name, a function that makes a policy of the game, or a policy.

    >>> round(exploitability("kuhn", "random"), 4)
    0.9167
    """
    from tapete.solve.examiner import Examiner

    game = _game(game)
    examiner, make_policy, rng = Examiner(game), maker(game, agent), Rng(seed, "exploitability")
    said = examiner.ask(lambda view: check_thought(make_policy(game).think(view, rng)).probabilities)
    return examiner.prove(lambda seen, mask: said).exploitability


def train(
    game: Game | str,
    learner: str,
    *,
    run: str | Path | None = None,
    resume: bool = False,
    seconds: float = math.inf,
    threads: int = 1,
    device: str = "cpu",
    watch: Watch = lambda progress: None,
    **knobs: Value,
) -> Path:
    """Learns a game, as `tapete train` does; returns the folder of the run, whose path is then an agent's name.

    :param learner: one of those that `tapete train` lists: "mmd", "deep-cfr", ...
    :param run: the folder of the run; else runs/GAME-LEARNER.
    :param resume: go on with the run that is there, by the knobs that it has.
    :param seconds: stop after so many, in good order.
    :param threads: cores to use.
    :param device: where PyTorch computes.
    :param watch: called with the progress of the run.
    :param knobs: of the learner, as in ``iterations=200``; `tapete train` lists them with their usual values.
    """
    from tapete import learn
    from tapete.arena.learning import evaluation

    game = _game(game)
    folder = Path(run) if run else Path("runs") / f"{game.file_name}-{learner}"
    settings = (learn.Description.read(folder).config if resume else {}) | knobs
    config = learn.configure(learner, [f"{name}={value}" for name, value in settings.items()])
    train_it = learn.learner(learner).training()
    at_work = learn.Run(
        folder,
        learner,
        game,
        config,
        resume=resume,
        seconds=seconds,
        threads=threads,
        device=device,
        evaluate=evaluation(game),
        watch=watch,
    )
    try:
        train_it(game, config, at_work)
    finally:
        at_work.close()
    return folder


def _game(game: Game | str) -> Game:
    if isinstance(game, Game):
        return game
    if not isinstance(game, str):
        raise TapeteError(
            f"a game is a name or a tapete.Game, not {game!r:.60}; tapete.matrix(table) makes one of payoffs"
        )
    return make(game)
