"""`tapete bench`: how fast it is."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tapete.cli.app import Address, Json, app

bench_app = typer.Typer(no_args_is_help=True, help="Measure speed, beside other people's code in the same run.")
app.add_typer(bench_app, name="bench")

Peers = Annotated[bool, typer.Option("--peers", help="Measure other people's code too, in the same run.")]
Case = Annotated[str, typer.Option(help="Only the cases whose name contains this.")]
Seconds = Annotated[float, typer.Option(min=0.01, max=60, help="How long each measurement takes.")]


@bench_app.command("sim")
def bench_sim(
    peers: Peers = False,
    case: Case = "",
    seconds: Seconds = 1.0,
    cpu: Annotated[bool, typer.Option("--cpu", help="Count seconds of the processor, not of the clock.")] = False,
    as_json: Json = False,
) -> None:
    """Random play: decisions and steps a second on one core."""
    from tapete.bench import sim

    clock = time.process_time if cpu else time.perf_counter
    _report(sim.run(rivals=peers, case=case, seconds=seconds, clock=clock), as_json)


@bench_app.command("solve")
def bench_solve(peers: Peers = False, case: Case = "", seconds: Seconds = 1.0, as_json: Json = False) -> None:
    """Solving: iterations of CFR+ and Monte Carlo CFR a second on one core."""
    from tapete.bench import solve

    _report(solve.run(rivals=peers, case=case, seconds=seconds), as_json)


@bench_app.command("search")
def bench_search(peers: Peers = False, case: Case = "", seconds: Seconds = 1.0, as_json: Json = False) -> None:
    """Search: simulations a second on one core, and moves a second with the networks that ship."""
    from tapete.bench import search

    _report(search.run(rivals=peers, case=case, seconds=seconds), as_json)


@bench_app.command("nets")
def bench_nets(peers: Peers = False, case: Case = "", seconds: Seconds = 1.0, as_json: Json = False) -> None:
    """Networks: positions a second on one core, one at a time and many at once."""
    from tapete.bench import nets

    _report(nets.run(rivals=peers, case=case, seconds=seconds), as_json)


@bench_app.command("learn")
def bench_learn(
    peers: Peers = False,
    case: Annotated[str, typer.Option(help="Only the games whose name contains this.")] = "",
    learner: Annotated[str, typer.Option(help="Only the learners whose name contains this.")] = "",
    seconds: Annotated[float, typer.Option(min=0.1, max=86400, help="How long each learner may learn.")] = 60.0,
    plot: Annotated[Path | None, typer.Option(help="Draw NashConv against seconds into this PNG file.")] = None,
    as_json: Json = False,
) -> None:
    """Learning: exact NashConv against seconds of one core; --peers: OpenSpiel's NFSP, Deep CFR and DQN too."""
    from tapete.bench import learn
    from tapete.core.plots import check_plots

    if plot:
        check_plots(plot)
    layout = "{:14} {:10} {:10} {:>10} {:>10} {:>14}"
    if not as_json:
        print(layout.format("game", "learner", "whose", "NashConv", "seconds", "steps a second"), flush=True)

    def tell(trace: learn.Trace) -> None:
        best = f"{trace.best.exploitability:.4f}", f"{trace.best.seconds:.2f}"
        if not as_json:
            print(layout.format(trace.game, trace.learner, trace.whose, *best, f"{trace.rate:,.0f}"), flush=True)

    traces = learn.run(rivals=peers, case=case, learner=learner, seconds=seconds, tell=tell)
    duels = learn.duels(traces)
    if plot:
        learn.draw(traces, plot)
    if as_json:
        plain = {"traces": [trace.to_json() for trace in traces], "duels": [duel.to_json() for duel in duels]}
        print(json.dumps(plain, indent=2))
    elif duels:
        for line in learn.markdown(duels):
            print(line)


@bench_app.command("dmc")
def bench_dmc(
    peers: Peers = False,
    case: Case = "",
    seconds: Annotated[float, typer.Option(min=0.1, max=600, help="How long each training is measured.")] = 20.0,
    as_json: Json = False,
) -> None:
    """Deep Monte Carlo in Dou Dizhu: training frames a second, actors and learner; --peers: DouZero's `train` too."""
    from tapete.bench import dmc

    speeds = dmc.run(rivals=peers, case=case, seconds=seconds)
    if as_json:
        print(json.dumps([speed.to_json() for speed in speeds], indent=2))
        return
    layout = "{:22} {:>7} {:>10} {:>11} {:>8} {:>13} {:>9}"
    print(layout.format("training", "threads", "frames/s", "moves/s", "ratio", "MFLOP a frame", "of peak"))
    for speed in speeds:
        figures = (
            f"{speed.frames:,.0f}" if speed.frames else "",
            f"{speed.moves:,.0f}",
            f"{speed.ratio:.1f}x" if speed.ratio else "",
            f"{speed.arithmetic / 1e6:.1f}" if speed.arithmetic else "",
            f"{100 * speed.of_peak:.0f} %" if speed.of_peak else "",
        )
        print(layout.format(speed.case, speed.threads, *figures), flush=True)


@bench_app.command("scale")
def bench_scale(
    case: Case = "",
    seconds: Annotated[float, typer.Option(min=0.1, max=600, help="How long each measurement takes.")] = 6.0,
    address: Address = "",
    ray: Annotated[bool, typer.Option("--ray/--no-ray", help="Also on Ray.")] = True,
    as_json: Json = False,
) -> None:
    """Tournaments, evolution and actors by one worker, by threads and on Ray: how much faster on all cores."""
    from tapete.bench import scale

    found = scale.run(case=case, seconds=seconds, address=address, with_ray=ray)
    if as_json:
        print(json.dumps([one.to_json() for one in found], indent=2))
        return
    layout = "{:22} {:8} {:>7} {:>12} {:12} {:>7}"
    print(layout.format("case", "executor", "workers", "a second", "", "times"))
    for one in found:
        print(
            layout.format(one.case, one.executor, one.workers, f"{one.rate:,.1f}", one.unit, f"{one.times:.2f}x"),
            flush=True,
        )
        if one.bytes:
            print(f"    {one.bytes:.0f} bytes a frame come back; a version of the weights has {one.weights:,} bytes")


@bench_app.command("cluster")
def bench_cluster(
    case: Case = "",
    bandwidth: Annotated[
        float, typer.Option(min=0.001, max=1e6, help="Gigabits a second of the learner's machine.")
    ] = 10.0,
    seconds: Annotated[float, typer.Option(min=0.1, max=600, help="How long each measurement takes.")] = 6.0,
    as_json: Json = False,
) -> None:
    """What a cluster would do: measured here, checked against these cores, simulated for 16, 256 and 4,096."""
    from tapete.bench import forecast

    found = forecast.run(case=case, bandwidth=bandwidth * 1e9 / 8, seconds=seconds)
    if as_json:
        print(json.dumps([one.to_json() for one in found], indent=2))
        return
    layout = "{:12} {:>7} {:>14} {:8} {:>14} {:>7}  {}"
    print(layout.format("case", "cores", "simulated/s", "", "measured/s", "off", "waits for"))
    for one in found:
        measured = f"{one.measured:,.0f}" if one.measured else ""
        off = f"{100 * (one.simulated / one.measured - 1):+.0f} %" if one.measured else ""
        print(
            layout.format(one.case, one.cores, f"{one.simulated:,.0f}", one.unit, measured, off, one.bottleneck),
            flush=True,
        )


@bench_app.command("ntuple")
def bench_ntuple(peers: Peers = False, case: Case = "", seconds: Seconds = 1.0, as_json: Json = False) -> None:
    """Pattern tables: positions of Othello a second on one core; --peers: looked up square by square."""
    from tapete.bench import ntuple

    _report(ntuple.run(rivals=peers, case=case, seconds=seconds), as_json)


@bench_app.command("endgame")
def bench_endgame(case: Case = "", seconds: Seconds = 1.0, as_json: Json = False) -> None:
    """Perfect play in Othello: positions solved a second on one core, by their empty squares."""
    from tapete.bench import endgame

    _report(endgame.run(rivals=False, case=case, seconds=seconds), as_json)


@bench_app.command("compare")
def bench_compare(
    old: Annotated[Path, typer.Argument(help="Another tree of this package, as `git worktree add` makes it.")],
    bench: Annotated[list[str] | None, typer.Option(help="Only these benchmarks; may be given several times.")] = None,
    case: Case = "",
    slices: Annotated[int, typer.Option(min=1, max=1000, help="How many slices of each case in each tree.")] = 11,
    seconds: Annotated[float, typer.Option(min=0.001, max=60, help="How long a slice takes.")] = 0.2,
) -> None:
    """Two trees, slice by slice in turn, in time of the processor: what a change did to the speed."""
    from tapete.bench import compare

    layout = "{:44} {:>14} {:>14} {:>6}   {}"
    print(layout.format("case", "old a second", "new a second", "ratio", "half of all ratios"))
    for row in compare.run(old, benches=bench or compare.BENCHES, case=case, slices=slices, seconds=seconds):
        spread = f"{row.low:.2f} to {row.high:.2f}"
        print(layout.format(row.case, f"{row.old:,.0f}", f"{row.new:,.0f}", f"{row.ratio:.2f}", spread), flush=True)


@bench_app.command("web")
def bench_web(
    tables: Annotated[int, typer.Option(min=1, max=2000, help="People who play at once.")] = 200,
    seconds: Annotated[float, typer.Option(min=1, max=86400, help="How long they play.")] = 20.0,
    settle: Annotated[float, typer.Option(min=0, max=600, help="Seconds of play before that, told apart.")] = 10.0,
    pause: Annotated[float, typer.Option(min=0, max=60, help="Seconds that a person thinks, on the average.")] = 1.0,
    searching: Annotated[float, typer.Option(min=0, max=1, help="The share of tables at which agents search.")] = 0.0,
    plot: Annotated[Path | None, typer.Option(help="Draw the server's memory over time into this PNG file.")] = None,
) -> None:
    """The table in the browser under load: how long answers take, its memory, and what `kill -9` loses."""
    from tapete.bench import web

    load = web.run(tables=tables, seconds=seconds, settle=settle, pause=pause, searching=searching, plot=plot)
    print(json.dumps(load.to_json(), indent=2))


@bench_app.command("schemes")
def bench_schemes(as_json: Json = False) -> None:
    """Which member of the CFR family is the first at a given exploitability; the page docs/schemes.md."""
    from tapete.bench import schemes

    entries = schemes.run()
    if as_json:
        print(json.dumps(list(entries), indent=2))
        return
    for line in schemes.markdown(entries):
        print(line, flush=True)


@bench_app.command("calibration")
def bench_calibration(
    case: Case = "",
    repeats: Annotated[int, typer.Option(min=1, max=1_000_000, help="Matches of each kind.")] = 4000,
    as_json: Json = False,
) -> None:
    """Whether the arena's figures hold: how often intervals have the truth in them, by matches whose truth is known."""
    from tapete.bench import calibration

    rows = calibration.run(case, repeats)
    if as_json:
        print(json.dumps([row.to_json() for row in rows], indent=2))
        return
    print("| case | deals | held | worst | p <= 5 % | width | before: held | p <= 5 % | width |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        p, old_p = (f"{100 * share:.1f}" if share is not None else "" for share in (row.p, row.old_p))
        held, worst, old_held = (f"{100 * share:.1f}" for share in (row.coverage, row.worst, row.old_coverage))
        figures = (held, worst, p, f"{row.width:.3g}", old_held, old_p, f"{row.old_width:.3g}")
        print(f"| {row.case} | {row.deals} | {' | '.join(figures)} |", flush=True)


def _report(rows: Any, as_json: bool) -> None:
    """Prints the rows of a benchmark, as they come or as JSON at the end."""
    if as_json:
        print(json.dumps([row.to_json() for row in rows], indent=2))
        return
    layout = "{:38} {:22} {:>14} {:>14} {:>10}"
    print(layout.format("case", "peer", "ours a second", "theirs", "ratio"))
    for row in rows:
        theirs = "" if row.theirs is None else f"{row.theirs:,.0f}"
        ratio = "" if row.ratio is None else f"{row.ratio:,.2f}x" if row.ratio < 2 else f"{row.ratio:,.1f}x"
        print(layout.format(row.case, row.peer or "", f"{row.ours:,.0f}", theirs, ratio), flush=True)
