"""What `tapete solve` shows: a line that tells how far it is, and a strategy as a person would read it."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from tapete.agents.equilibrium import Equilibrium
from tapete.core import TapeteError, make
from tapete.solve import Progress, Strategy, check_game, file_name, store
from tapete.solve.sampled import ALGORITHMS as SAMPLING

TELL = 20.0  # seconds between two lines where there is no terminal


def read_share(text: str) -> float:
    """An exploitability: "0.1%" or "0.001"."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 <= share < math.inf:
        raise TapeteError(f"--until must be a share like 0.1% or 0.001, not {text!r}")
    return share


class SolvingScreen:
    """A live line on standard error; on a terminal it is overwritten, else it comes now and then."""

    def __init__(self, until: float, *, quiet: bool) -> None:
        self.until = until
        self.console = Console(stderr=True, quiet=quiet)
        self.live = Live(console=self.console, refresh_per_second=4, transient=True)
        self.last: Progress | None = None
        self.told = 0.0  # seconds of the run when the last line was printed, where lines are printed
        self.told_beginning = -math.inf  # when, by the clock, it was said how much is played out

    def __enter__(self) -> SolvingScreen:
        self.live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.live.stop()

    def begin(self, game: str, share: float) -> None:
        """Says that a game is being played out, to have it as a matrix or a tree, before anything is learnt."""
        line = f"{game}: playing it out" + (f", {100 * share:.0f} %" if share else "")
        self.live.update(Text(f"  {line}"))
        now = time.monotonic()
        if share and not self.console.is_terminal and now > self.told_beginning + TELL:
            self.console.print(line, highlight=False)
            self.told_beginning = now

    def __call__(self, progress: Progress) -> None:
        """Shows where a run is."""
        if self.last is None or self.last.game != progress.game:
            about = f"{progress.information_sets:,} information sets, {_size(progress.bytes)} of memory"
            if progress.algorithm in SAMPLING:
                about = "information sets as they are met"
            histories = f"{progress.histories:,} histories" if progress.histories else "too large for a proof"
            self.console.print(f"{progress.game}: {histories}, {about}, {progress.algorithm}", highlight=False)
            self.last = None
        self.live.update(Text(self._line(progress)))
        if not self.console.is_terminal and (self.last is None or progress.seconds > self.told + TELL):
            self.console.print(self._line(progress), highlight=False, soft_wrap=True)
            self.told = progress.seconds
        self.last = progress

    def _line(self, progress: Progress) -> str:
        left, proof = self._time_left(progress), progress.proof
        proven = f"exploitability {100 * proof.exploitability:.4g} %  value {proof.lower:.6f} to {proof.upper:.6f}"
        met = f"{progress.information_sets:,} information sets met, {_size(progress.bytes)} of memory"
        parts = [proven] * is_proven(progress) + [met] * (progress.algorithm in SAMPLING)
        return f"  iteration {progress.iterations:,}  {'  '.join(parts)}  {progress.seconds:.0f} s" + (
            f", about {left:.0f} s more" if left is not None else ""
        )

    def _time_left(self, progress: Progress) -> float | None:
        """By the slope of the last two proofs, on logarithmic scales."""
        before = self.last
        if before is None or before.iterations < 20 or self.until <= 0:
            return None
        was, now = before.proof.exploitability, progress.proof.exploitability
        if now >= was or now <= self.until or progress.seconds <= before.seconds or now <= 0:
            return None
        slope = math.log(was / now) / math.log(progress.seconds / max(before.seconds, 1e-9))
        return progress.seconds * ((now / self.until) ** (1 / max(slope, 0.1)) - 1)

    def conclude(self, progress: Progress, strategy: Strategy | None, save: Path | None) -> None:
        """Says what came out, and the command that plays it."""
        proof, game = progress.proof, progress.game
        path = save or store() / file_name(make(game))
        agent = f"equilibrium --new '{game}'" if save is None else f"{save} --new '{game}'"
        spent = f"{progress.iterations:,} iterations, {progress.seconds:.1f} s"
        if is_proven(progress):
            print(
                f"{game}: value {proof.value:.6f}, between {proof.lower:.6f} and {proof.upper:.6f}; "
                f"exploitability {100 * proof.exploitability:.4g} % after {spent}"
            )
        else:
            print(f"{game}: nothing is proven: how far this is from an equilibrium is not known; {spent}")
        if progress.algorithm in SAMPLING:
            print(
                f"{progress.information_sets:,} information sets were met ({_size(progress.bytes)} of memory); "
                "in others, which the strategy doesn't know, any move is played"
            )
        if progress.is_full:
            print("stopped, because there is no memory for more; go on with --resume and a larger --memory")
        elif not is_proven(progress):
            print("go on with --resume and a larger --time or --iterations")
        if strategy is None:
            print("the solution is very large and was not kept; --save FILE would write it")
        else:
            print(f"saved in {path} ({_size(os.path.getsize(path))})\nplay against it: tapete play --against {agent}")


def is_proven(progress: Progress) -> bool:
    """Whether there are best responses to what was found."""
    return math.isfinite(progress.proof.exploitability)


def _size(count: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count = count / 1000  # type: ignore[assignment]
    return f"{count:.3g} GB"


def _is_game(text: str) -> bool:
    try:
        make(text)
    except TapeteError:
        return False
    return True


def show_strategy(text: str, path: Path | None, as_json: bool) -> None:
    """Prints what a solution does at the information set of whoever moves in a state."""
    name, colon, _ = text.rpartition(":")
    if not colon and _is_game(text):  # before the first move
        name, colon, text = text, ":", f"{text}:"
    if not colon:
        raise TapeteError(f"{text!r} is not a state; write the game and its moves, as in 'kuhn: J Q pass'")
    game = make(name)
    state = game.read(text)
    if state.player < 0:
        raise TapeteError(
            "no player moves in this state" + ("; chance does" if not state.over else ": the game is over")
        )
    view = state.view(state.player)
    strategy = Strategy.load(path) if path else None
    if path and strategy:
        check_game(strategy.about, game, path)
    policy = Equilibrium(game, strategy)
    known = policy.strategy(game)
    was_met = not known.about.get("sampled") or known.lookup(view.infoset) is not None or len(view.actions()) == 1
    shares = view.named(policy.at(view))
    if as_json:
        print(json.dumps({"game": str(game), "seat": view.seat, "sees": str(view), "probabilities": shares}))
        return
    print(view)
    if not was_met:
        print("  no walk has come here: any move")
    for move, share in shares.items():
        print(f"  {move:12} {100 * share:6.2f} %  {'█' * round(40 * share)}")
