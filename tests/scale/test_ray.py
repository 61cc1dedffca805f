"""A real cluster of two nodes on this machine: the same numbers, also when workers and nodes are lost.

One cluster serves all tests here.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from tapete import arena
from tapete.core import TapeteError, make
from tapete.learn import configure, learner
from tapete.learn.run import Progress, Run
from tapete.scale import Executor, Job, Serial
from tapete.scale.ray import OnRay

pytestmark = pytest.mark.xdist_group("ray")

AGENTS = ["random", "ismcts(20)", "equilibrium"]
TABLE = "holdem(players=10)"
EVOLUTION = [
    "replacements=2",
    "generations=3",
    "population=40",
    "deals=3",
    "test_deals=2",
    "mutations=40",
    "points=100",
]
DMC = ["frames=1000", "games=64", "units=16", "trunk=16", "memory=500", "batch=64", "every=5"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.getcwd(), before]))  # workers import the tests too
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture
def executor(cluster: Cluster) -> Iterator[OnRay]:
    """Two nodes, whoever was killed before."""
    while len(cluster.list_all_nodes()) < 2:
        cluster.add_node(num_cpus=1)
    with OnRay(cluster.address) as executor:
        yield executor


def open_notes(stop: Event, folder: str, seconds: float) -> Callable[[int], int]:
    """Work that leaves a note of who did it."""

    def work(parcel: int) -> int:
        (Path(folder) / f"{parcel}-{os.getpid()}-{ray.get_runtime_context().get_node_id()}").touch()
        time.sleep(seconds)
        if parcel == 1313:
            raise TapeteError("1313 brings bad luck")
        return parcel**2

    return work


def notes(folder: Path) -> list[tuple[int, int, str]]:
    found = [path.name.split("-") for path in folder.iterdir()]
    return [(int(parcel), int(process), node) for parcel, process, node in found]


def far_node(cluster: Cluster) -> Any:
    return next(node for node in cluster.list_all_nodes() if node is not cluster.head_node)


def kill_node(cluster: Cluster) -> None:
    cluster.remove_node(far_node(cluster), allow_graceful=False)


def workers() -> list[int]:
    """The processes of this cluster that do lots now."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::_do") and is_ours(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:  # it has just ended
            continue
    return found


def is_ours(pid: int) -> bool:
    """Whether a process descends from this one."""
    while pid > 1 and pid != os.getpid():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid == os.getpid()


def told(match: Any) -> list[Any]:
    return [game._replace(seconds=(0, 0)) for game in match.games]


def kill_a_worker() -> None:
    for _ in range(200):
        if found := workers():
            os.kill(found[0], signal.SIGKILL)
            return
        time.sleep(0.01)
    raise AssertionError("nobody is at work")


def test_a_tournament_is_the_same_as_here_though_a_worker_is_killed(executor: OnRay, cluster: Cluster) -> None:
    assert executor.workers == 2
    killed: list[str] = []

    def watch(title: str, done: int, of: int, share: float) -> None:
        if not killed and done >= 20:
            kill_a_worker()
            killed.append(title)

    far = arena.tournament("kuhn", AGENTS, games=60, executor=executor, watch=watch)
    assert killed
    here = arena.tournament("kuhn", AGENTS, games=60, executor=Serial())
    assert [told(match) for match in far.matches.values()] == [told(match) for match in here.matches.values()]


def train(folder: Path, name: str, game: str, knobs: list[str], executor: Executor, on_step: Any = None) -> Path:
    """Trains to the end; `on_step` is called with how often it was told of progress."""
    steps = iter(range(10**9))

    def watch(progress: Progress) -> None:
        if on_step:
            on_step(next(steps))

    config = configure(name, knobs)
    run = Run(folder, name, make(game), config, executor=executor, watch=watch)
    try:
        learner(name).training()(make(game), config, run)
    finally:
        run.close()
    return run.network


def test_a_training_of_deep_monte_carlo_is_the_same_as_here(executor: OnRay, tmp_path: Path) -> None:
    far = train(tmp_path / "far", "dmc", "leduc", DMC, executor)
    assert far.read_bytes() == train(tmp_path / "here", "dmc", "leduc", DMC, Serial()).read_bytes()


def test_errors_of_the_work_come_back_in_their_own_words(executor: OnRay, tmp_path: Path) -> None:
    with pytest.raises(TapeteError, match="there is no agent 'nobody'"):
        arena.match("kuhn", "random", "nobody", games=4, executor=executor)
    with pytest.raises(TapeteError, match=r"^1313 brings bad luck$"):
        list(executor.spread(Job(f"{__name__}:open_notes", {"folder": str(tmp_path), "seconds": 0.0}), [1, 1313]))
    with pytest.raises(TapeteError, match="functions can't be sent elsewhere"):
        arena.match("kuhn", "random", lambda game: None, games=4, executor=executor)  # type: ignore[arg-type, return-value]


def test_an_evolution_is_the_same_as_here_though_a_node_is_killed(
    cluster: Cluster, executor: OnRay, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(step: int) -> None:
        if step == 2:
            kill_node(cluster)
            killed.append(step)

    far = train(tmp_path / "far", "coevolution", TABLE, EVOLUTION, executor, kill)
    assert killed
    here = train(tmp_path / "here", "coevolution", TABLE, EVOLUTION, Serial())
    assert far.read_bytes() == here.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("knob", ["asynchronous=true", "asynchronous=false"])
@pytest.mark.parametrize("victim", ["worker", "node"])
def test_a_training_goes_on_though_somebody_is_killed(
    cluster: Cluster, executor: OnRay, tmp_path: Path, victim: str, knob: str
) -> None:
    def kill(step: int) -> None:
        if step == 4:
            kill_a_worker() if victim == "worker" else kill_node(cluster)

    far = train(tmp_path / "far", "dmc", "leduc", [*DMC, knob], executor, kill)
    if knob == "asynchronous=false":
        assert far.read_bytes() == train(tmp_path / "here", "dmc", "leduc", DMC, Serial()).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["worker", "node"])
def test_who_is_killed_in_the_middle_changes_nothing(
    cluster: Cluster, executor: OnRay, tmp_path: Path, victim: str
) -> None:
    job = Job(f"{__name__}:open_notes", {"folder": str(tmp_path), "seconds": 0.05})
    results: dict[int, int] = {}
    for index, result in executor.spread(job, range(100, 200)):
        assert index not in results
        results[index] = result
        if len(results) == 20 and victim == "worker":
            os.kill(notes(tmp_path)[-1][1], signal.SIGKILL)
        elif len(results) == 20:
            kill_node(cluster)
    assert results == {i: (100 + i) ** 2 for i in range(100)}
    assert len({process for _, process, _ in notes(tmp_path)}) >= 2


@pytest.mark.slow
def test_a_node_that_joins_gets_work(cluster: Cluster, executor: OnRay, tmp_path: Path) -> None:
    job = Job(f"{__name__}:open_notes", {"folder": str(tmp_path), "seconds": 0.3})
    before = len(cluster.list_all_nodes())
    for index, _ in executor.spread(job, range(100, 180)):
        if index == 0:
            cluster.add_node(num_cpus=1)
    assert len({node for _, _, node in notes(tmp_path)}) == before + 1


def test_a_cluster_that_is_not_there_is_one_line(executor: OnRay) -> None:
    with pytest.raises(TapeteError, match=r"there is no Ray cluster at 127\.0\.0\.1:9"):
        OnRay("127.0.0.1:9")
