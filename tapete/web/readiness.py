"""What a game or an agent needs is there before anybody waits for it: loaded here, compiled elsewhere.

Loading machine code takes a moment, compiling it up to half a minute, for which numba's lock is taken and most of the
interpreter: nobody else's table would get what it needs. So this process loads. What is not on disk yet is compiled by
another process, which does the same there and leaves its machine code behind.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable

from tapete.core import Game
from tapete.core.compile import NotCompiled, loading_only
from tapete.review import Strongest
from tapete.web.limits import Who
from tapete.web.lines import MOVE, NICE, Line
from tapete.web.rehearsal import judge, rehearse, rehearse_judge
from tapete.web.thinking import Explainer, offered

COMPILERS = 2  # processes that compile at a time; and no address has the last of them
LONGEST = 600.0  # seconds that one may take
MOST = 4096  # kinds that are remembered
Work = Callable[..., object]


class Readiness:
    """All that has been made ready, each kind once."""

    def __init__(self) -> None:
        self.loaders = Line("loaders", 1)
        self.compilers = Line("compilers", COMPILERS)
        self.kinds: dict[tuple[Work, tuple[str, ...]], asyncio.Task[None]] = {}

    def close(self) -> None:
        """Nobody waits any more."""
        for task in self.kinds.values():
            task.cancel()
        self.loaders.close()
        self.compilers.close()

    async def ready(self, who: Who, work: Work, *texts: str, rank: int = MOVE) -> None:
        """Returns when a work of the table below can be done with what is loaded; it is done once for everybody."""
        task = self.kinds.get((work, texts))
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            if len(self.kinds) >= MOST:
                self.kinds = {kind: each for kind, each in self.kinds.items() if not each.done()}
            task = self.kinds[work, texts] = asyncio.ensure_future(self._prepare(who, work, texts, rank))
        await asyncio.shield(task)

    async def explainer(self, who: Who, game: Game, rank: int = MOVE) -> Explainer:
        """Somebody who explains a game, and has all that he needs."""
        await self.ready(who, offered, str(game), rank=rank)
        made = await self.loaders.run(who, Explainer, game, rank=rank)
        for text in made.texts:
            await self.ready(who, rehearse, str(game), text, rank=rank)
        return made

    async def judge(self, who: Who, game: Game, rank: int = MOVE) -> tuple[Strongest, int]:
        """Who judges a game, and has all that he needs; and the bytes that his trees may take."""
        await self.ready(who, offered, str(game), rank=rank)
        await self.ready(who, rehearse_judge, str(game), rank=rank)
        return await self.loaders.run(who, judge, game, rank=rank)

    async def _prepare(self, who: Who, work: Work, texts: tuple[str, ...], rank: int) -> None:
        try:
            await self.loaders.run(who, load, work, texts, rank=rank)
        except NotCompiled:
            await self.compilers.run(who, compile_apart, work, texts, rank=rank)
            await self.loaders.run(
                who, work, *texts, rank=rank
            )  # what could not be left on disk is compiled here after all


def load(work: Work, texts: tuple[str, ...]) -> None:
    """Does a work, if that needs no compiling."""
    with loading_only():
        work(*texts)


def compile_apart(work: Work, texts: tuple[str, ...]) -> None:
    """Does a work in another process, for the machine code that it leaves on disk."""
    command = [sys.executable, "-m", __spec__.name, work.__name__, *texts]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=LONGEST, check=False)


WORKS: dict[str, Work] = {work.__name__: work for work in (offered, rehearse, rehearse_judge)}

if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(NICE)
    WORKS[sys.argv[1]](*sys.argv[2:])
