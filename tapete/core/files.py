"""Reading files that may come from anywhere, and knowing beforehand whether one can be written."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from tapete.core.errors import TapeteError


def read_text(path: str | Path, most: int) -> str:
    """A file of text of at most so many bytes. Whatever is wrong with it is told in one line."""
    if not isinstance(path, str | Path) or not os.path.isfile(path):  # reading a pipe might never end
        raise TapeteError(f"there is no file {str(path)!r}")
    try:
        with open(path, "rb") as file:
            raw = file.read(most + 1)
    except OSError as error:
        raise TapeteError(f"can't read {str(path)!r}: {error.strerror}") from None
    if len(raw) > most:
        raise TapeteError(f"{str(path)!r} is too large: more than {most} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TapeteError(f"{str(path)!r} is not text") from None


def check_writable(path: str | Path) -> None:
    """Raises where a file can't be written, before hours are spent on what is to be in it. Nothing is left behind."""
    path = Path(path)
    if path.is_dir():
        raise TapeteError(f"can't write {path}: it is a folder")
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise TapeteError(f"can't write {path}: {error.strerror}") from None
    finally:
        for folder in missing:  # the deepest first
            with suppress(OSError):
                folder.rmdir()
