"""A lock is one process's, and ends with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tapete.core.locks import FileLock

HOLD = "import sys; from pathlib import Path; from tapete.core.locks import FileLock; " + (
    "lock = FileLock(Path(sys.argv[1])); print('mine', flush=True); input()"
)


def test_one_has_it_at_a_time(tmp_path: Path) -> None:
    first = FileLock(tmp_path / "lock")
    with pytest.raises(BlockingIOError, match="another process"):
        FileLock(tmp_path / "lock")
    first.release()
    first.release()
    FileLock(tmp_path / "lock").release()


def test_it_ends_with_the_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "mine\n"
        with pytest.raises(BlockingIOError):
            FileLock(path)
        process.kill()
    FileLock(path).release()
