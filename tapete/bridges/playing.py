"""A game being played move by move from Python, as PettingZoo and Gymnasium do it; chance moves by itself."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from tapete.bridges.raw import Raw
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.game import Game, State, View
from tapete.core.rng import Rng
from tapete.terminal.draw import draw

WIDTH = 100  # columns of a drawing
RENDER_MODES = ("ansi", "human")


class Playing:
    """The bytes of a game in progress, and what its seats may know of it."""

    def __init__(self, game: Game) -> None:
        self.game, self.raw = game, Raw(game)
        self.data = self.raw.first
        self.who = TERMINAL  # nothing can be played before `begin`

    def begin(self, rng: Rng) -> None:
        """Starts anew; the generator deals."""
        self.rng, self.data = rng, self.raw.first
        self._deal()

    def move(self, action: int) -> None:
        """Makes a move, and lets chance move after it. Checked: an illegal one changes nothing and raises."""
        if self.who == TERMINAL:
            raise TapeteError(f"the game of {self.game} is over, or has not begun: reset it")
        if not self.may(action):
            raise IllegalAction(f"action {action} can't be played here; legal: {self.raw.legal(self.data)}")
        self.data = self.raw.apply(self.data, int(action))
        self._deal()

    def may(self, action: int) -> bool:
        """Whether who is to move may do so."""
        return self.who >= 0 and action in self.raw.legal(self.data)

    def _deal(self) -> None:
        raw, words = self.raw, self.rng.words.ctypes.data
        while (who := raw.player(self.data)) == CHANCE:
            self.data = raw.apply(self.data, raw.draw(self.data, words))
        self.who = who

    def returns(self) -> list[float]:
        """The payoffs; zeros until the game is over."""
        return self.raw.returns(self.data)

    def observation(self, seat: int) -> NDArray[np.float32]:
        """What a seat sees: [observation_size], zeros behind it where others see more."""
        out = np.zeros(self.game.spec.observation_size, dtype=np.float32)
        self.raw.observe(self.data, seat, out.ctypes.data)
        return out

    def mask(self, seat: int) -> NDArray[np.int8]:
        """Which actions the seat may play now: [actions]."""
        out = np.zeros(self.game.spec.actions, dtype=np.int8)
        if self.who == seat:
            out[self.raw.legal(self.data)] = 1
        return out

    def view(self, seat: int) -> View:
        """What a policy on that seat is handed."""
        return State(self.game, np.frombuffer(self.data, dtype=np.uint8).copy(), None).view(seat)

    def show(self, seat: int, render_mode: str | None) -> str | None:
        """What `render` does: prints the table as the seat sees it, or returns it as a text."""
        if render_mode == "ansi":
            return self.text(seat)
        if render_mode == "human":
            print(self.text(seat))
        return None

    def text(self, seat: int) -> str:
        """The table as the seat sees it, drawn with characters."""
        game, view = self.game, self.view(seat)
        console = Console(file=io.StringIO(), width=WIDTH, color_system=None)
        console.print(draw(view.scene(), [f"seat {i}" for i in range(game.players)], {}, width=WIDTH))
        if view.player == seat:
            console.print("moves:", " ".join(view.write(action) for action in view.actions()))
        drawn: Any = console.file
        return str(drawn.getvalue())
