"""Monte Carlo CFR as `tapete solve` runs it: proven where the game can be played out, unproven and honest elsewhere."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.scale import Executor
from tapete.solve.mccfr import MCCFR, SAMPLINGS
from tapete.solve.response import Proof
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.strategy import Strategy
from tapete.solve.walkers import Walkers

ALGORITHMS = {f"mccfr-{sampling}": sampling for sampling in SAMPLINGS}
UNPROVEN = Proof(math.nan, -math.inf, math.inf)
NEARLY = 0.97  # of the book: what is left is for the walks until somebody looks again


class Sampled:
    """A run over a whole game, rounds and all; information sets that no walk came to are not in its strategy."""

    def __init__(
        self,
        game: Game,
        algorithm: str,
        *,
        seed: int,
        memory: float,
        walkers: int = 1,
        executor: Executor | None = None,
    ) -> None:
        """`memory` is how many bytes the book may take, old and new one together while it grows."""
        sampling, rng = ALGORITHMS[algorithm], Rng(seed, "solve", str(game))
        self.walkers = Walkers(game, sampling, rng, walkers=walkers, executor=executor) if walkers > 1 else None
        self.mccfr = self.walkers.book if self.walkers else MCCFR(game, sampling, rng)
        self.memory = memory
        self.form: SequenceForm | None = None
        self.why = ""  # nothing can be proven
        try:
            self.form = SequenceForm.of(game)
        except TapeteError as error:
            self.why = str(error).partition(";")[0]

    @property
    def iterations(self) -> int:
        """How many were made so far."""
        return self.mccfr.iterations

    @property
    def facts(self) -> dict[str, int]:
        """What is known of the game, and how large the book is by now."""
        histories = self.form.histories if self.form else 0
        return {"histories": histories, "information_sets": self.mccfr.infosets, "bytes": self.mccfr.bytes}

    @property
    def is_full(self) -> bool:
        """Whether the book must grow soon, and may not."""
        return self.mccfr.fullness > NEARLY and 3 * self.mccfr.bytes > self.memory

    def run(self, iterations: int) -> None:
        """Makes so many more iterations, or fewer where there is no room for what they would meet; walkers some more.

        A part of them takes a quarter of the room at most, if walks meet as much as they did until now; so the book is
        full between two iterations, and not in the middle of one.
        """
        until = self.iterations + iterations
        self.mccfr.run(0)
        while self.walkers and self.iterations < until and not self.is_full:
            self.walkers.epoch()
        while self.iterations < until and not self.is_full:
            pace = self.mccfr.fullness / max(self.iterations, 1)  # of the room, an iteration
            part = (1 - self.mccfr.fullness) / (4 * pace) if pace else 1.0
            self.mccfr.run(int(min(max(part, 1.0), until - self.iterations)))

    def prove(self) -> Proof:
        """Tells the value and both best responses, where the game can be played out; else nothing at all."""
        return self.mccfr.prove(self.form) if self.form else UNPROVEN

    def strategy(self, **about: Any) -> Strategy:
        """The strategy so far; its header says that it was sampled."""
        return self.mccfr.strategy(**about, sampled=True)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it remembers."""
        return self.mccfr.arrays()

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        """Goes back to what `arrays` said."""
        self.mccfr.restore(arrays)
        if self.iterations != iterations:
            raise TapeteError(f"its arrays are of iteration {self.iterations}, not {iterations}")
