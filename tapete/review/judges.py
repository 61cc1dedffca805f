"""Who judges a game: perfect play near its end, its solution, a player whom we trust, a network, or a long search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from tapete.agents import NotForThisGame, Policy, load, opponents
from tapete.agents.blueprint import blueprint, bucketed
from tapete.agents.holdem import calling_station, champion, maniac, rock, tight_aggressive
from tapete.core import Game, Rng
from tapete.core.exact import judge_exactly
from tapete.review.choices import Choice
from tapete.review.judgement import Judge, Judgement
from tapete.review.search import Searching
from tapete.review.solved import solved
from tapete.review.trials import Trials

# Compiled players that are trusted to play a game on, the strongest first: one that plays it well, or all sorts.
PLAYERS: tuple[tuple[Callable[[Game], Policy], ...], ...] = (
    (bucketed,),
    (blueprint,),
    (champion,),
    (tight_aggressive, calling_station, maniac, rock),
)
# Agents that search, by their texts.
SEARCHES = ("dmc(60)", "ntuple(4000)", "ismcts(1000)", "mcts(4000)")
IN_WINS = ("dmc",)  # those that say how likely a game is won, whatever it pays
Loader = Callable[[str, Game], Policy]


class Exact:
    """Judges where the game itself knows perfect play."""

    def judge(self, choice: Choice, rng: Rng) -> Judgement | None:
        """Payoffs of perfect play; None where the end is too far away."""
        thought = judge_exactly(choice.view)
        if thought is None or len(thought.values) < 2:
            return None
        best = max(thought.probabilities, key=lambda action: thought.probabilities[action])
        return Judgement(by="perfect play", how="exact", best=best, values=thought.values)


class Strongest:
    """Asks one judge after another, the strongest first."""

    def __init__(self, game: Game, loader: Loader) -> None:
        self.judges = list(_judges(game, loader))

    @property
    def texts(self) -> tuple[str, ...]:
        """The agents that it may ask."""
        return tuple(judge.text for judge in self.judges if isinstance(judge, Searching))

    def judge(self, choice: Choice, rng: Rng) -> Judgement | None:
        """What the first judge says who can say something."""
        return next((said for each in self.judges if (said := each.judge(choice, rng)) is not None), None)


def judge_of(game: Game, loader: Loader = load) -> Strongest:
    """The strongest judge of a game. `loader` makes the agents that search, for those who bound their memory."""
    return Strongest(game, loader)


def _judges(game: Game, loader: Loader) -> Iterator[Judge]:
    yield Exact()
    with suppress(NotForThisGame):
        yield solved(str(game))
        return
    for players in PLAYERS:
        with suppress(NotForThisGame):
            text = " + ".join(player.__name__.replace("_", "-") for player in players)
            yield Trials(text, game, [player(game).player for player in players])  # type: ignore[attr-defined]
            return
    offered = {text.partition("(")[0] for text in opponents(game)}
    text = next(text for text in SEARCHES if text.partition("(")[0] in offered)
    loader(text, game)  # one that is damaged is an error, never a weaker judge
    yield Searching(text, lambda: loader(text, game), in_wins=text.startswith(IN_WINS))
