"""Pérez-Fajardo (2012), *Diseño y evaluación de una heurística de juego de póker*: players bred by co-evolution.

The study bred nine trainers, each in a run of about 20 hours of its own, and then a last player against the nine. Here
a `Way` says how: the study's own, and ours with a hall of fame, rule-based guests and fresh deals, whose last player is
then mended by hindsight; and both with fewer replacements. As a control, each last player is bred once more by
separable CMA-ES, with as many individuals and generations. Every run lives in a folder, so that the study goes on where
it was stopped. Last players are measured on 100,000 hands that nobody was trained on, and looked at with the tools that
people look at themselves with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any

from tapete import learn
from tapete.core import Game, Rng, TapeteError, make
from tapete.core.contract import CHANCE
from tapete.core.players import opinion
from tapete.core.plots import picture
from tapete.games.holdem import histories
from tapete.games.holdem.breeding import species
from tapete.games.holdem.chromosome import Chromosome
from tapete.games.holdem.contest import Contest
from tapete.games.holdem.deals import HANDS, SEATS, Deals, shuffle
from tapete.games.holdem.histories import Hand, of_game
from tapete.games.holdem.histories.statistics import study
from tapete.learn.run import FILES, read_metrics
from tapete.scale import Executor, Job, Local, Serial

TITLE = "Hold'em 2012: players bred by co-evolution"
GAME = "holdem(players=10,rake=0.05,rake_cap=3)"
TRAINERS = SEATS - 1
OURS = {"founders": True, "hall": 3, "guests": 2, "pool": 1000, "fresh": 5}
THEIRS = {"VP$IP": 21.91, "PFR": 9.07, "AF": 1.34, "WTSD": 54.43, "W$SD": 53.41, "W$WSF": 44.83, "style": "mouse"}
THEIR_HOURS = 20  # that a trainer took
FIGURES = tuple(THEIRS)
RESULTS = "results.json"
HANDS_FILE = "hands.txt"  # in the folder of a last player's run: the hands that it was looked at in
AFTERWARDS = "mended"  # what a last player is that has looked back
CONTROL = "cma"  # what a last player is that a standard optimiser has made
LAST_RUN = "last"  # the folder of its run
LAST_PLAYER = "0"  # at the tables where profiles are made; its trainers are 1 to 9
Say = Callable[[str], None]


@dataclass(frozen=True)
class Way:
    """How players are bred: knobs of the trainers' runs and of the last player's, where they are not the usual ones."""

    name: str
    trainer: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    mended: dict[str, Any] = field(default_factory=dict)  # knobs of `hindsight` for the last player; none: it stays
    deals: int = 1000  # that the last player is measured on; each is a hundred hands
    profile: int = 5000  # hands that the last player is looked at in


LAST = {"generations": 500, "deals": 520}
SHORTER = "short"  # the row of both ways with less of everything
SHORT = {"population": 40, "deals": 100, "replacements": 8, "generations": 20}
SHORT_LAST = {"population": 60, "deals": 300, "generations": 60}
MENDED = {"rounds": 8, "deals": 1000, "caution": 2.5, "calls": 1.5}
WAYS = (
    Way("study", {}, LAST),
    Way("ours", OURS, {**OURS, **LAST, "hall": 0, "guests": 3, "pool": 2080}, MENDED),
    Way("study-short", SHORT, SHORT_LAST, profile=2000),
    Way(
        "ours-short",
        {**OURS, **SHORT, "pool": 200},
        {**OURS, **SHORT_LAST, "hall": 0, "guests": 3, "pool": 600},
        MENDED,
        profile=2000,
    ),
)
TINY = {"population": 8, "deals": 4, "test_deals": 2, "generations": 3, "replacements": 2, "pool": 0}
TINY_MENDED = {"rounds": 2, "deals": 2}


def run(out: Path, *, row: str = "", quick: bool = False, say: Say = print, executor: Executor | None = None) -> None:
    """Breeds and measures, and writes results.json, README.md and the plots into a folder.

    Rows that the folder has from before stay, so that the study can be made row by row.
    """
    names = {"": ("study", "ours"), SHORTER: (f"study-{SHORTER}", f"ours-{SHORTER}")}.get(row, (row,))
    chosen = [way for way in WAYS if way.name in names]
    if not chosen:
        raise TapeteError(f"there is no row {row!r}; there are {', '.join(way.name for way in WAYS)}, {SHORTER}")
    if quick:
        chosen = [
            replace(
                way,
                trainer={**way.trainer, **TINY},
                last={**way.last, **TINY},
                mended={**way.mended, **TINY_MENDED} if way.mended else {},
                deals=4,
                profile=40,
            )
            for way in chosen
        ]
    out.mkdir(parents=True, exist_ok=True)
    where = executor or Local(os.cpu_count() or 1)
    results = [result for way in chosen for result in breed_and_measure(way, out, say, where)]
    write(out, _with_earlier_rows(out / RESULTS, results))
    say(f"written to {out}/README.md")


def _with_earlier_rows(path: Path, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results and those of other rows in the file, in the order of the ways."""
    new = {_row_of(result["way"]) for result in results}
    earlier = json.loads(path.read_text()) if path.exists() else []
    order = [way.name for way in WAYS]
    both = [*results, *(result for result in earlier if _row_of(result["way"]) not in new)]
    return sorted(both, key=lambda result: order.index(_row_of(result["way"])))


def _row_of(name: str) -> str:
    """The way to which a result belongs, whatever became of its last player."""
    return name.removesuffix(f"-{AFTERWARDS}").removesuffix(f"-{CONTROL}")


def breed(
    folder: Path, executor: Executor, learner: str = "coevolution", source: Path | None = None, **knobs: Any
) -> Path:
    """One run, which goes on if it was stopped; the file of its player."""
    game, found = make(GAME), learn.learner(learner)
    config = found.config(**knobs)
    threads = executor.workers if executor.is_here else 1
    run = learn.Run(folder, learner, game, config, resume=True, source=source, threads=threads, executor=executor)
    try:  # a run that is at its end stays as it is
        found.training()(game, config, run)
    finally:
        run.close()
    return folder / FILES.network


def open_breeding(stop: Event, *, knobs: dict[str, Any]) -> Callable[[tuple[str, int]], None]:
    """What breeds one player in a folder that all machines share, with a seed of its own: a cell of the grid."""

    def breed_one(cell: tuple[str, int]) -> None:
        folder, seed = cell
        breed(Path(folder), Serial(), **{**knobs, "seed": seed})

    return breed_one


def _tell(folder: Path, say: Say) -> None:
    lines = read_metrics(folder)
    if lines:
        say(f"{folder.name}: {', '.join(f'{key} {lines[-1][key]:,.0f}' for key in RUN if key in lines[-1])}")


def breed_and_measure(way: Way, out: Path, say: Say, executor: Executor) -> Iterator[dict[str, Any]]:
    """The nine trainers, the last player, and what becomes of it; and of the same when it was mended."""
    place = 1000 * (1 + [known.name for known in WAYS].index(way.name))
    folders = [out / way.name / f"trainer-{i}" for i in range(TRAINERS)]
    cells = [(str(folder), place + i) for i, folder in enumerate(folders)]
    for i, _ in executor.spread(Job(f"{__name__}:open_breeding", {"knobs": way.trainer}), cells):
        _tell(folders[i], say)
    files = [folder / FILES.network for folder in folders]
    folder = out / way.name / LAST_RUN
    knobs: dict[str, Any] = {"trainers": "+".join(map(str, files)), "seed": place + TRAINERS}
    last = breed(folder, executor, **way.last, **knobs)
    _tell(folder, say)
    yield examine(way, way.name, last, files, [*folders, folder], say)
    folder = out / way.name / CONTROL
    control = breed(folder, executor, **way.last, **knobs, optimiser=CONTROL)
    _tell(folder, say)
    yield examine(way, f"{way.name}-{CONTROL}", control, files, [folder], say)
    if way.mended:
        folder = out / way.name / AFTERWARDS
        mended = breed(folder, executor, "hindsight", last, **way.mended, **knobs)
        _tell(folder, say)
        yield examine(way, f"{way.name}-{AFTERWARDS}", mended, files, [folder], say)


def examine(way: Way, name: str, last: Path, files: list[Path], folders: list[Path], say: Say) -> dict[str, Any]:
    """What a last player wins, and how it plays; `folders` are those of the runs that are told of."""
    player, trainers = Chromosome.load(last), [Chromosome.load(file) for file in files]
    say(f"measuring the last player of {name}")
    game = make(GAME)
    kind = species(game)
    deals = kind.deals(way.deals, Rng("coevolution", "held out"), threads=os.cpu_count() or 1)
    tables = kind.tables(trainers, Rng("coevolution", "strangers"))
    measured = {table: measure(game, deals, player, nine) for table, nine in tables.items()}
    hands = list(hands_of(game, [player, *trainers], way.profile))
    histories.write(last.parent / HANDS_FILE, hands)
    players = study(hands).players
    statistics = players[LAST_PLAYER]
    return {
        "way": name,
        "runs": [_about(folder) for folder in folders],
        "measured": measured,
        "copies": {table: measure(game, deals, nine[0], nine) for table, nine in tables.items()},
        "hands": way.deals * HANDS,
        "profile": statistics.figures(),
        "profile_hands": way.profile,
        "trainers": [players[str(i + 1)].figures() for i in range(TRAINERS)],
        "starts": {name: asdict(result) for name, result in statistics.starts.items()},
        "finals": {name: asdict(result) for name, result in statistics.finals.items()},
        "curves": {folder.name: [_drawn(line) for line in read_metrics(folder)] for folder in folders},
    }


def _drawn(line: dict[str, float]) -> dict[str, float]:
    """What is drawn of a line of numbers."""
    return {key: value for key, value in line.items() if key in DRAWN or key.startswith("against_")}


def _about(folder: Path) -> dict[str, Any]:
    last = (read_metrics(folder) or [{}])[-1]
    return {"run": folder.name, **{key: last.get(key) for key in RUN}}


def measure(game: Game, deals: Deals, player: Chromosome, table: list[Chromosome]) -> dict[str, float]:
    """What a player wins in a hundred hands, in big bets, with a 95 % interval over the deals."""
    gains = Contest(game, deals, table, classes=player.classes).play(player.thresholds[None]).gains[0] / 4
    error = 1.96 * float(gains.std(ddof=1)) / len(gains) ** 0.5
    mean = float(gains.mean())
    return {"mean": round(mean, 3), "low": round(mean - error, 3), "high": round(mean + error, 3)}


def hands_of(game: Game, players: Sequence[Chromosome], count: int) -> Iterator[Hand]:
    """Hands of ten players, every one on other cards, everybody on each seat in turn; they are called 0 to 9."""
    judges = [player.evaluator(game) for player in players]
    for number, cards in enumerate(shuffle(count, Rng("coevolution", "profile")).tolist(), 1):
        who = [(seat + number) % SEATS for seat in range(SEATS)]
        state = game.start()
        while not state.over:
            if state.player == CHANCE:
                state.apply(cards.pop(0))
                continue
            said = opinion(judges[who[state.player]], state.view(state.player))
            state.apply(max(said, key=lambda action: said[action]))
        yield of_game(game, state.history or [], [str(i) for i in who], number=number)


def write(out: Path, results: list[dict[str, Any]]) -> None:
    """The tables as Markdown and JSON, and the plots."""
    (out / RESULTS).write_text(json.dumps(results, indent=1) + "\n")
    (out / "README.md").write_text("\n".join(_markdown(results)) + "\n")
    for result in results:
        if AFTERWARDS in result["curves"]:
            plot_rounds(out / f"{result['way']}.png", result)
        elif CONTROL in result["curves"]:
            before = results[results.index(result) - 1]
            plot_generations(out / f"{result['way']}.png", {"genetic": before["curves"][LAST_RUN], **result["curves"]})
        else:
            plot(out / f"{result['way']}.png", result)


DRAWN = ("round", "generation", "generations", "best")
RUN = ("replacement", "generation", "round", "seconds", "hands", "hands_per_second", "simulated_per_second")


def _markdown(results: list[dict[str, Any]]) -> Iterator[str]:
    ways, first = [result["way"] for result in results], results[0]
    yield f"# {TITLE}\n"
    yield f"Made by {_commands(ways)} on {os.cpu_count()} cores."
    yield "Theirs: the study's figures for its last player, where hands without a flop were left out."
    hands = dict.fromkeys(f"{result['profile_hands']:,}" for result in results)
    yield f"Ours: {' or '.join(hands)} hands with its nine trainers.\n"
    yield f"| figure | theirs | {' | '.join(ways)} |"
    yield f"|---|---|{'---|' * len(ways)}"
    for name in FIGURES:
        yield f"| {name} | {THEIRS[name]} | {' | '.join(str(result['profile'][name]) for result in results)} |"
    yield "\n## What the last player wins\n\nBig bets in a hundred hands, after rake, with 95 % intervals:"
    yield f"{first['hands']:,} hands a table that nobody was trained on. A copy: what another one like the first of the"
    yield f"nine ({ways[-1]}) wins in the tenth seat; where all ten are alike, that is the rake.\n"
    yield f"| nine opponents | {' | '.join(ways)} | a copy |"
    yield f"|---|{'---|' * len(ways)}---|"
    for name in first["measured"]:
        won = [_interval(result["measured"][name]) for result in results]
        yield f"| {name} | {' | '.join([*won, _interval(results[-1]['copies'][name])])} |"
    yield f"\n## The runs\n\nA trainer of the study took about {THEIR_HOURS} hours.\n"
    yield "| way | run | replacements | generations | rounds | seconds | hands | hands a second | simulated a second |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for result in results:
        for about in result["runs"]:
            texts = ["-" if about.get(key) is None else f"{about[key]:,.0f}" for key in RUN]
            yield f"| {result['way']} | {about['run']} | {' | '.join(texts)} |"
    for result in results:
        yield f"\n![Curves of {result['way']}]({result['way']}.png)"


def _commands(ways: list[str]) -> str:
    """By which these ways were made."""
    rows = dict.fromkeys(map(_row_of, ways))
    return " and ".join(f"`tapete reproduce coevolution --row {row}`" for row in rows)


def _interval(measured: dict[str, float]) -> str:
    return f"{measured['mean']:+.2f} ({measured['low']:+.2f} to {measured['high']:+.2f})"


def plot(path: Path, result: dict[str, Any]) -> None:
    """The study's curves: winnings during the run, against random players, against others, generations a trainer."""
    with picture(path, 2, 2, size=(11, 7)) as axes:
        kinds = (
            ("best", "chips a hand, against the trainers"),
            ("against_random", "against random players"),
            ("against_rules", "against rule-based players"),
            ("generations", "generations a trainer"),
        )
        for axis, (kind, title) in zip(axes.flat, kinds, strict=True):
            for name, lines in result["curves"].items():
                if name != LAST_RUN:
                    axis.plot([line[kind] for line in lines], linewidth=0.8)
            axis.set(title=title, xlabel="replacement")


def plot_generations(path: Path, curves: dict[str, list[dict[str, Any]]]) -> None:
    """What the best individual wins from the trainers, on the deals it is bred on, generation by generation."""
    with picture(path, size=(8, 5)) as axis:
        for name, lines in curves.items():
            axis.plot([line["generation"] for line in lines], [line["best"] for line in lines], label=name)
        axis.axhline(0, color="black", linewidth=0.8)
        axis.set(xlabel="generation", ylabel="chips a hand")
        axis.legend()


def plot_rounds(path: Path, result: dict[str, Any]) -> None:
    """What a player wins at each table while it is mended, round by round, on deals that it sees for the first time."""
    lines = result["curves"][AFTERWARDS]
    with picture(path, size=(8, 5)) as axis:
        for key in lines[0]:
            if key.startswith("against_"):
                label = key.removeprefix("against_").replace("_", " ")
                axis.plot([line["round"] for line in lines], [line[key] for line in lines], label=label)
        axis.axhline(0, color="black", linewidth=0.8)
        axis.set(xlabel="round", ylabel="chips a hand")
        axis.legend()
