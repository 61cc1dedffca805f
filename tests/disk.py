"""Watches what is brought to the disk and what is given its name, in order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


def watch_disk(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """A list that grows: ("disk", number of the file) for an fsync, (name, number of the file) for a rename."""
    seen: list[tuple[str, int]] = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(handle: int) -> None:
        fsync(handle)
        seen.append(("disk", os.fstat(handle).st_ino))

    def watched_replace(draft: Any, path: Any) -> None:
        seen.append((Path(path).name, os.stat(draft).st_ino))
        replace(draft, path)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    return seen
