"""Makes the picture of the README, a hand of Truco as the terminal shows it: .venv/bin/python docs/images/make.py."""

import os
import re
from pathlib import Path

from rich.console import Console

import tapete
from tapete.terminal.play import _show
from tapete.terminal.sitting import Sitting

state = tapete.make("truco").read("truco: 1e 4c 7e 5b 7o 6o envido quiero 7o 6o truco")
sitting = Sitting(state, ("random", "person"), tapete.Rng(1))
with open(os.devnull, "w") as nowhere:
    console = Console(record=True, width=80, file=nowhere, force_terminal=True)
    _show(console, sitting, [1])
    picture = console.export_svg(title="tapete play truco")
# Without the fonts that rich would fetch from the network: any monospaced one does.
picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL).replace("Fira Code, monospace", "monospace")
Path(__file__).with_name("play-truco.svg").write_text(picture)
