"""Every method that learns Truco here, searches, and what ships, against each other in whole matches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from tapete.agents import NotForThisGame, load
from tapete.arena import match
from tapete.arena.learning import against_random
from tapete.core import make
from tapete.core.files import replacing
from tapete.learn.run import FILES
from tapete.nets import Network
from tapete.scale import Executor
from tapete.studies.opentruco import Say
from tapete.studies.opentruco.configurations import tell, train

GAME = "truco"
HANDS = "truco(hand=true,equity=true,anyscore=true)"  # single hands from any score, paid in chances to win the match

# The knobs of each learner, its iterations, and those of the quick study.
LEARNERS: dict[str, tuple[list[str], int, int]] = {
    "dqn": (["tables=1024", "hidden=256", "rate=0.001"], 1500, 80),
    "nfsp": (["tables=1024", "hidden=256", "layers=2", "buffer=200000", "rate=0.001", "policy_rate=0.002"], 3000, 100),
    "ppo": (["tables=1024", "hidden=256", "rate=0.001", "entropy=0.05", "last_entropy=0.01"], 2000, 80),
    "mmd": (["tables=1024", "hidden=256", "rate=0.001", "entropy=0.05", "last_entropy=0.01", "magnet=0.2"], 2000, 80),
    "deep-cfr": (["walks=1000", "hidden=128", "layers=2", "steps=300", "average_steps=1500"], 40, 3),
}
LOOKS = 5  # at how good it is, in a training
SEARCHES = ("ismcts(100)", "ismcts(1000)", "ismcts(10000)")
SHIPPED = ("blueprint", "resolve")  # MCCFR in an abstraction; the same in the first trick, the rest of the hand solved
# Matches of a pair: the fewer of both.
MATCHES = {"random": 2000, "resolve": 400, "ismcts(100)": 200, "ismcts(1000)": 60, "ismcts(10000)": 10}
QUICK = {"random": 400, "resolve": 40, "ismcts(100)": 100, "ismcts(1000)": 20, "ismcts(10000)": 2}
USUAL = 2000
QUICK_USUAL = 400


def run(out: Path, *, quick: bool, say: Say, executor: Executor) -> Iterator[dict[str, Any]]:
    """Trains the learners, then plays the table, the pairs that take least time first."""
    learned = {name: _learn(out, name, quick=quick, say=say) for name in LEARNERS}
    field = {"random": "random", **{name: entry["agent"] for name, entry in learned.items()}}
    field |= {name: name for name in (*shipped(), *SEARCHES)}
    pairs: list[Any] = []
    games = {pair: _matches(*pair, quick=quick) for pair in combinations(field, 2)}
    for a, b in sorted((pair for pair in games if games[pair]), key=lambda pair: -games[pair]):
        pairs.append(_play(out, (a, field[a]), (b, field[b]), games[a, b], say, executor))
        yield {"learned": learned, "agents": list(field), "pairs": pairs}


def shipped() -> Iterator[str]:
    """Those that there are."""
    for name in SHIPPED:
        with suppress(NotForThisGame):
            load(name, make(GAME))
            yield name


def _matches(a: str, b: str, *, quick: bool) -> int:
    known, usual = (QUICK, QUICK_USUAL) if quick else (MATCHES, USUAL)
    return min(known.get(a, usual), known.get(b, usual))


def _learn(out: Path, name: str, *, quick: bool, say: Say) -> dict[str, Any]:
    """Trains on single hands; the network plays matches, in which a hand looks the same."""
    knobs, full, short = LEARNERS[name]
    iterations = short if quick else full
    game, hands = make(GAME), make(HANDS)
    settings = [*knobs, f"iterations={iterations}", f"every={-(-iterations // LOOKS)}"]
    folder = out / "runs" / f"{'quick-' * quick}{name}"
    logged = train(folder, name, hands, settings, lambda policy: against_random(game, policy))
    tell(folder.name, logged, say)
    network = Network.load(folder / FILES.network)
    agent = out / "agents" / f"{'quick-' * quick}{name}.safetensors"
    agent.parent.mkdir(exist_ok=True)
    replace(network, about={**network.about, "game": GAME, "trained_on": HANDS}).save(agent)
    return {"agent": str(agent), "settings": settings, "curve": logged}


def _play(
    out: Path, a: tuple[str, str], b: tuple[str, str], games: int, say: Say, executor: Executor
) -> dict[str, Any]:
    """A match of two agents, each a name and what `load` takes, unless it was played before."""
    terms = {"a": a[0], "b": b[0], "games": games, "files": [_checksum(agent) for _, agent in (a, b)]}
    path = out / "pairs" / f"{a[0]} - {b[0]}, {games}.json"
    if path.exists():
        known: dict[str, Any] = json.loads(path.read_text())
        if {key: known.get(key) for key in terms} == terms:
            return known
    found = match(GAME, a[1], b[1], games=games, executor=executor)
    low, high = found.interval
    share = {"share": found.win_share, "interval": [low, high], "milliseconds": list(found.milliseconds)}
    path.parent.mkdir(exist_ok=True)
    with replacing(path) as draft:
        draft.write_text(json.dumps({**terms, **share}))
    say(f"{a[0]:14} {b[0]:14} {100 * found.win_share:5.1f} % ({100 * low:.1f} to {100 * high:.1f}) of {games}")
    return {**terms, **share}


def _checksum(agent: str) -> str:
    """Of a network's file; other agents are what their names say."""
    return hashlib.sha256(Path(agent).read_bytes()).hexdigest() if Path(agent).is_file() else ""
