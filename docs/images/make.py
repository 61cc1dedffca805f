"""Makes the pictures of the README: a hand of Truco as the terminal shows it. Run: .venv/bin/python docs/images/make.py."""

from pathlib import Path

from rich.console import Console

import tapete
from tapete.terminal.draw import draw

state = tapete.make("truco").read("truco: 1e 4c 7e 5b 7o 6o envido quiero 7o 6o truco")
view = state.view(1)
console = Console(record=True, width=76, file=open("/dev/null", "w"))  # noqa: SIM115
console.print(draw(view.scene(), ("random", "you")))
console.print("   ".join(f"[b]{i + 1}[/b] {move.text}" for i, move in enumerate(view.scene().moves)), highlight=False)
Path(__file__).with_name("play-truco.svg").write_text(console.export_svg(title="tapete play truco"))
