"""How fast the solvers are: iterations a second of CFR+ and of Monte Carlo CFR, beside OpenSpiel's in C++."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tapete.bench import Case, Row, Work, measure, peers
from tapete.core import Rng, make
from tapete.solve.cfr import CFR
from tapete.solve.mccfr import MCCFR
from tapete.solve.schemes import SCHEMES
from tapete.solve.sequence_form import SequenceForm

DICE = "liars_dice(numdice=1,dice_sides=6)"  # as large as dudo(6,1,1); its sixes are wild


def run(*, rivals: bool, case: str, seconds: float) -> Iterator[Row]:
    """Measures every case, ours and then each peer's."""
    return measure("solve", cases(), rivals=rivals, case=case, seconds=seconds)


def cases() -> list[Case]:
    """What is measured: iterations that update both players."""
    plus = partial(peers.openspiel_solver, "CFRPlusSolver")
    sampler = peers.openspiel_sampler
    return [
        _case("cfr+", cfr, plus, "kuhn", "kuhn_poker"),
        _case("cfr+", cfr, plus, "leduc", "leduc_poker"),
        _case("cfr+", cfr, plus, "dudo(6,1,1)", DICE),
        _case("mccfr external", mccfr, sampler, "leduc", "leduc_poker"),
        _case("mccfr external", mccfr, sampler, "dudo(6,1,1)", DICE),
    ]


def _case(what: str, ours: Callable[[str], Work], theirs: Callable[[str], Work], game: str, their_game: str) -> Case:
    return Case(f"{what} {game}", partial(ours, game), (("OpenSpiel", partial(theirs, their_game)),))


def cfr(name: str) -> Work:
    """CFR+ over the sequence form."""
    solver = CFR(SequenceForm.of(make(name)), SCHEMES["cfr+"])

    def work(rounds: int) -> int:
        solver.run(rounds)
        return rounds

    return work


def mccfr(name: str) -> Work:
    """External sampling through the contract."""
    solver = MCCFR(make(name), "external", Rng(1))

    def work(rounds: int) -> int:
        solver.run(rounds)
        return rounds

    return work
