"""Locks between processes, by a file: held as long as it is open, so they end with the process whatever ends it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int, *, shared: bool = False) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: int, *, shared: bool = False) -> None:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


class FileLock:
    """A lock on a file, which is made where there is none; raises BlockingIOError where another process has it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(self._file)
        except OSError as error:
            self.release()
            raise BlockingIOError(f"{path} is locked by another process") from error

    def release(self) -> None:
        """Lets others have it; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def is_locked(path: Path) -> bool:
    """Whether somebody has the lock of a file, found out without leaving anything behind.

    It is shared with others who ask, and taken for some microseconds: who wants the lock just then does not get it.
    """
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:  # there is none
        return False
    try:
        _lock(file, shared=True)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
