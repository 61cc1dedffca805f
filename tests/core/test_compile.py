from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tapete.core.compile import compiled_modules

HELPER = "from tapete.core.compile import helper\n\n@helper\ndef number():\n    return {}\n"
KERNEL = """
from tapete.core.compile import kernel, progress
from neighbour import number

@kernel("int64()")
def ask():
    return number()

print(ask(), progress.done)
"""


def run(folder: Path) -> list[str]:
    done = subprocess.run([sys.executable, "ask.py"], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_cache_notices_a_change_in_a_neighbouring_file(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text(HELPER.format(1))
    (tmp_path / "ask.py").write_text(KERNEL)
    assert run(tmp_path) == ["1", "1"]
    assert run(tmp_path) == ["1", "0"], "nothing has changed, so nothing is compiled"
    (tmp_path / "neighbour.py").write_text(HELPER.format(2))
    assert run(tmp_path) == ["2", "1"], "numba's own cache would still answer 1"


def test_everything_that_compiles_is_found() -> None:
    modules = compiled_modules()
    assert "tapete.games.ocp.rules" in modules
    assert "tapete.core.tables" in modules
    assert "tapete.cli" not in modules
