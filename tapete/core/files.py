"""Files that may come from anywhere, and files that nobody may ever see half of."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tapete.core.errors import TapeteError


def read_text(path: str | Path, most: int) -> str:
    """The text of a file that has at most so many bytes. Whatever is wrong with it is told in one line."""
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


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft to write into, beside `path`, which takes its place at the end: all of it, or nothing where that failed.

    The draft is on the disk before it gets the name, so that after a crash of the machine there is the old file or the
    new one; then the name is brought there too.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o644)
        sync(draft)
        os.replace(draft, path)
        with suppress(OSError):  # file systems of other machines may not know how
            sync(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Returns when a file, or the list of names in a folder, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def version_of(path: str | Path) -> tuple[int, int, int]:
    """What changes when a file is overwritten or replaced: a key for a cache of what was read from it."""
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns
