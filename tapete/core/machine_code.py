"""Machine code on disk, one file a function: never the reason why a command stops.

A file is its mark, the stamp of what the code was made of, a digest, and the code as numba packs it. Nothing of it
reaches numba before the digest has been checked, because numba unpickles the code and the processor runs it. So a file
that is torn, scrambled, of another version or for another function is as good as none: the code is compiled anew and
the file replaced. What others may have written is not read at all.

It lies in the `__pycache__` beside the source; where that can't be written, in the user's folder for such things
(`$XDG_CACHE_HOME/tapete`, usually `~/.cache/tapete`); where neither can, code stays in memory. `NUMBA_CACHE_DIR` names
another folder in place of both. What went wrong is told in one line, once in the life of a process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from numba.core import config
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from tapete.core import ingredients

MARK = b"tapete machine code 2\n"
DIGEST = 32  # bytes
LARGEST = 1 << 28  # bytes; no function comes near

# Numba tells closures of one name apart by a count, which each process begins anew. Files here come from several
# processes, and of two functions under one symbol the one that was loaded first is run in place of the other. So a
# count that no two processes share, not even those that were forked.
FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(63), None)


class Shelf(NamedTuple):
    """A folder for machine code."""

    folder: Path
    mode: int  # permissions, where it has to be made
    owners: frozenset[int]  # whose files are read


class MachineCode:
    """The machine code of one function for this machine: what numba's dispatchers call their cache."""

    def __init__(self, function: FunctionType, signature: Any, options: dict[str, Any], target: Any) -> None:
        target.refresh()  # numba's tables have to be complete before code is loaded into them
        codegen = target.codegen()
        kind = ingredients.machine(codegen)
        self.target = target
        self.stamp = ingredients.digest(kind, ingredients.stamp(function, signature, options))
        name = function.__qualname__.replace("<locals>.", "")[:80]
        which = ingredients.digest(kind, ingredients.variant(function, signature)).hex()[:16]
        self.name = f"{Path(function.__code__.co_filename).stem}.{name}.{which}.machine"
        self.shelves = list(_shelves(Path(function.__code__.co_filename)))
        self.found: Any = None

    def find(self) -> bool:
        """Whether there is fresh code on disk; `load_overload` will return it."""
        for shelf in self.shelves:
            path = shelf.folder / self.name
            try:
                raw = _read(path, shelf.owners)
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                _tell(f"{path} is not used: {getattr(error, 'strerror', None) or error}")
                continue
            if not _is_whole(raw):
                _tell(f"{path} is damaged: what was in it is compiled anew")
            elif raw[len(MARK) :].startswith(self.stamp):
                # Code that was packed well and can't be unpacked is one more kind of stale code.
                with suppress(Exception):
                    self.found = CompileResult._rebuild(self.target, *pickle.loads(raw[_HEAD:]))
                    return True
        return False

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Called by numba: the code if there is any."""
        return self.found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Called by numba: keeps what was compiled, on the first shelf that takes it."""
        if compiled.lifted or compiled.library.has_dynamic_globals:
            return  # it holds addresses of this process
        body = dumps(compiled._reduce())
        head = MARK + self.stamp
        trouble: str | None = None
        for shelf in self.shelves:
            path = shelf.folder / self.name
            try:
                _write(path, head + hashlib.sha256(head + body).digest() + body, shelf)
                return
            except OSError as error:
                trouble = trouble or f"{path} can't be written ({error.strerror or error}): code stays in memory"
        if trouble:
            _tell(trouble)


_HEAD = len(MARK) + 2 * DIGEST


def _is_whole(raw: bytes) -> bool:
    """Whether these are the bytes that were written."""
    head, digest, body = raw[: _HEAD - DIGEST], raw[_HEAD - DIGEST : _HEAD], raw[_HEAD:]
    return head.startswith(MARK) and hashlib.sha256(head + body).digest() == digest


def _shelves(source: Path) -> Iterator[Shelf]:
    """Where the code of a file of source may lie, best first. What was never in a file stays in memory."""
    try:
        owner = source.stat().st_uid
    except OSError:
        return
    mine = frozenset((0, getattr(os, "geteuid", int)()))
    apart = f"{source.parent.name}-{ingredients.digest(os.fsencode(source.parent.absolute())).hex()[:16]}"
    if config.CACHE_DIR:
        yield Shelf(Path(config.CACHE_DIR) / apart, 0o700, mine)
        return
    yield Shelf(Path(cache_from_source(str(source))).parent, 0o777, mine | {owner})
    home = os.environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(home):
        home = os.path.expanduser("~/.cache")
    if os.path.isabs(home):  # somebody without a home has no folder either
        yield Shelf(Path(home) / "tapete" / apart, 0o700, mine)


def keep_in(folder: Path) -> None:
    """Keeps what is compiled from now on in a folder, also by processes begun from here, if it could be kept nowhere.

    What lies elsewhere and can be read is still found, unless `NUMBA_CACHE_DIR` names a folder that is of no use.
    """
    if any(_takes(shelf) for shelf in _shelves(Path(__file__))):
        return
    if config.CACHE_DIR:
        config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = str(folder.absolute())
    else:
        os.environ["XDG_CACHE_HOME"] = str(folder.absolute())


def _takes(shelf: Shelf) -> bool:
    """Whether something can be written there."""
    probe = shelf.folder / "probe"
    with suppress(OSError):
        _write(probe, b"", shelf)
        probe.unlink()
        return True
    return False


def _read(path: Path, owners: frozenset[int]) -> bytes:
    """The bytes of a file, if it is one that nobody else can have written."""
    _check(path.parent.stat(), owners, "its folder")
    # Neither a link to elsewhere nor a pipe, at which a reader would wait for ever.
    with os.fdopen(
        os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)), "rb"
    ) as file:
        status = os.fstat(file.fileno())
        _check(status, owners, "it")
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise ValueError("it is no file of this kind")
        return file.read()


def _check(status: os.stat_result, owners: frozenset[int], what: str) -> None:
    if status.st_uid not in owners or status.st_mode & stat.S_IWOTH:
        raise PermissionError(f"others may write to {what}")


def _write(path: Path, raw: bytes, shelf: Shelf) -> None:
    """All of the file or nothing of it, whoever writes or reads it at the same time."""
    shelf.folder.mkdir(mode=shelf.mode, parents=True, exist_ok=True)
    _check(shelf.folder.stat(), shelf.owners, "its folder")
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(raw)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


_told = False


def _tell(text: str) -> None:
    """One line on stderr, the first time; a cache with a hundred damaged files is one trouble, not a hundred."""
    global _told
    if not _told and sys.stderr is not None:
        _told = True
        with suppress(OSError, ValueError):
            print(f"tapete: {text}", file=sys.stderr, flush=True)
