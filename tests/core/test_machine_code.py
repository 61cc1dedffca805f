"""Machine code on disk: whatever happens to a file, or to the place for it, the code runs."""

from __future__ import annotations

import errno
import importlib
import json
import os
import pickle
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import tapete
from tapete.core import compile as compiler
from tapete.core import machine_code
from tapete.core.compile import progress

SOURCE = """
from tapete.core.compile import helper, kernel

@helper
def half(x):
    return x // 2

@kernel("int64(int64)")
def ask(x):
    return half(x) + 1

@kernel("int64(int64)")
def other(x):
    return half(x) + 2
"""
LETTERS = np.frombuffer(os.urandom(4096), dtype=np.uint8)

Damage = Callable[[bytes], bytes]
DAMAGES: dict[str, Damage] = {
    "emptied": lambda raw: b"",
    "one byte": lambda raw: raw[:1],
    "cut in the mark": lambda raw: raw[:10],
    "cut in the head": lambda raw: raw[:60],
    "cut behind the head": lambda raw: raw[: machine_code._HEAD],
    "cut in the middle": lambda raw: raw[: len(raw) // 2],
    "the last byte missing": lambda raw: raw[:-1],
    "a byte more": lambda raw: raw + b"\0",
    "another mark": lambda raw: b"x" + raw[1:],
    "zeros": lambda raw: bytes(len(raw)),
    "noise": lambda raw: np.resize(LETTERS, len(raw)).tobytes(),
    "noise behind the head": lambda raw: raw[: machine_code._HEAD] + np.resize(LETTERS, len(raw)).tobytes(),
    "twice": lambda raw: raw + raw,
    "a pickle": lambda raw: pickle.dumps(("0.68.1", {})),
    **{f"bit {i} of 12 flipped": (lambda raw, i=i: flip(raw, i)) for i in range(12)},  # type: ignore[misc]
}


def flip(raw: bytes, i: int) -> bytes:
    """One bit, at places spread over the whole file."""
    data = bytearray(raw)
    data[(len(data) - 1) * i // 11] ^= 1 << i % 8
    return bytes(data)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module `asking`; machine code lies in its `__pycache__`."""
    (tmp_path / "asking.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(machine_code, "_told", False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    yield tmp_path
    sys.modules.pop("asking", None)


def ask(name: str = "ask") -> tuple[int, int]:
    """The answer to 20 as a new process would get it, and how many functions were compiled for that."""
    sys.modules.pop("asking", None)
    importlib.invalidate_caches()
    before = progress.done
    answer = getattr(importlib.import_module("asking"), name)(20)
    return answer, progress.done - before


def the_file(folder: Path, name: str = "ask") -> Path:
    (path,) = folder.rglob(f"asking.{name}.*.machine")
    return path


def test_nothing_is_compiled_before_it_is_called(folder: Path) -> None:
    before = progress.done
    module = importlib.import_module("asking")
    assert progress.done == before
    assert {module.ask, module.other} <= set(compiler.waiting())
    assert module.ask(20) == 11
    assert progress.done == before + 1
    assert module.ask not in compiler.waiting()
    assert module.other in compiler.waiting()
    assert type(module.ask).__call__ is numba.core.registry.CPUDispatcher.__call__, "a second call costs nothing more"
    with pytest.raises(TypeError, match="No matching definition"):
        module.ask("20")
    with pytest.raises(TypeError, match="No matching definition"):
        module.other("20")


def test_what_was_compiled_is_loaded(folder: Path) -> None:
    assert ask() == (11, 1)
    assert the_file(folder).parent == folder / "__pycache__"
    assert ask() == (11, 0)
    (folder / "asking.py").write_text(SOURCE.replace("// 2", "// 5"))
    importlib.import_module("tapete.core.ingredients")._digest_of.cache_clear()
    (folder / "__pycache__").joinpath("asking.cpython-311.pyc").unlink(missing_ok=True)
    assert ask() == (5, 1)
    assert ask() == (5, 0)
    assert len(list(folder.rglob("*.machine*"))) == 1, "stale code is overwritten, and no draft is left"


CLOSURES = """
from tapete.core.compile import helper, kernel

def adding(n):
    @helper
    def add(x):
{body}
        return x + n

    return add

one, ten = adding(1), adding(10)

@kernel("int64(int64)")
def ask(x):
    return one(x) + one(x * x)

@kernel("int64(int64)")
def other(x):
    return ten(x) + ten(x * x)
""".format(
    body="\n".join(f"        x += {i} if x % {i} == 3 else -x // {i}" for i in range(7, 80))
)  # too long to inline


def test_closures_of_one_name_that_two_processes_compiled_stay_apart(folder: Path) -> None:
    """Under one symbol, whichever is loaded second would run the code of the first."""
    (folder / "asking.py").write_text(CLOSURES)

    def tell(*names: str) -> list[int]:
        code = f"import asking; print([asking.__dict__[name](x) for name in {names} for x in (2, 5)])"
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, check=True
        )
        return list(json.loads(done.stdout))

    alone = {name: tell(name) for name in ("ask", "other")}
    assert alone["ask"] != alone["other"]
    assert tell("ask", "other") == alone["ask"] + alone["other"]
    assert tell("other", "ask") == alone["other"] + alone["ask"]


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_told_once_and_made_anew(
    folder: Path, name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    ask("other")
    whole = the_file(folder).read_bytes()
    for each in ("ask", "other"):
        the_file(folder, each).write_bytes(DAMAGES[name](the_file(folder, each).read_bytes()))
    monkeypatch.setattr(pickle, "loads", lambda raw: pytest.fail("damaged bytes were unpickled"))
    assert ask() == (11, 1)
    assert ask("other") == (12, 1)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1, "two files, one line"
    assert str(the_file(folder)) in err
    assert "damaged" in err
    monkeypatch.undo()
    assert len(the_file(folder).read_bytes()) == pytest.approx(len(whole), rel=0.2)
    monkeypatch.syspath_prepend(str(folder))
    assert ask() == (11, 0)


def test_the_code_of_another_function_is_not_taken(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ask()
    ask("other")
    the_file(folder).write_bytes(the_file(folder, "other").read_bytes())
    assert ask() == (11, 1), "not 12"
    assert capfd.readouterr().err == "", "whole, but stale: as after an edit"


def test_code_of_another_version_is_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask()
    monkeypatch.setattr("tapete.core.ingredients.VERSIONS", ("3.11", "0.67.0"))
    assert ask() == (11, 1)
    assert len(list(folder.rglob("asking.ask.*.machine"))) == 2, "either version finds its own"


def test_whole_code_that_cant_be_unpacked_is_compiled_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask()
    monkeypatch.setattr("tapete.core.machine_code.CompileResult._rebuild", lambda *all: 1 / 0)
    assert ask() == (11, 1)


@pytest.mark.parametrize("obstacle", ["folder", "pipe", "link", "open to all", "folder open to all", "of another"])
def test_what_is_not_our_own_file_is_not_read(
    folder: Path, obstacle: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    path = the_file(folder)
    if obstacle == "open to all":
        path.chmod(0o666)
    elif obstacle == "folder open to all":
        path.parent.chmod(0o777)
    elif obstacle == "of another":
        real = os.fstat

        def fstat(descriptor: int) -> os.stat_result:
            values = list(real(descriptor))
            values[stat.ST_UID] = os.geteuid() + 4711
            return os.stat_result(values)

        monkeypatch.setattr(os, "fstat", fstat)
    else:
        path.rename(folder / "elsewhere")
        if obstacle == "folder":
            path.mkdir()
            (path / "full").write_text("")
        elif obstacle == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(folder / "elsewhere")
    assert ask() == (11, 1)
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert str(path) in err
    assert "Traceback" not in err


def test_the_second_place_is_taken_where_the_first_cant_be_written(folder: Path) -> None:
    (folder / "__pycache__").write_text("no folder")
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        assert ask() == (11, 1)
        assert the_file(folder).is_relative_to(folder / "home" / "tapete")
        assert stat.S_IMODE(the_file(folder).parent.stat().st_mode) == 0o700
        assert ask() == (11, 0)
    finally:
        sys.dont_write_bytecode = before


@pytest.mark.parametrize("trouble", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_without_a_place_code_stays_in_memory(
    folder: Path, trouble: int, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(*names: object) -> None:
        raise OSError(trouble, os.strerror(trouble))

    monkeypatch.setattr(os, "replace", replace)
    assert ask() == (11, 1)
    assert ask("other") == (12, 1)
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert os.strerror(trouble) in err
    assert "asking.ask" in err
    assert not list(folder.rglob("*.machine*")), "no draft is left"


def test_who_has_no_home_has_a_place_less(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    (shelf,) = machine_code._shelves(folder / "asking.py")
    assert shelf.folder == folder / "__pycache__"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert len(list(machine_code._shelves(folder / "asking.py"))) == 1
    assert not list(machine_code._shelves(folder / "there is no such file.py")), "code that was typed in"


@pytest.mark.parametrize("named", ["", "/dev/null/named"])
def test_a_server_has_a_folder_of_its_own_where_nothing_else_takes_code(
    named: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", named)
    monkeypatch.setattr(numba.config, "CACHE_DIR", named)
    monkeypatch.setattr(sys, "pycache_prefix", "/dev/null/cache")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/home")
    machine_code.keep_in(folder / "kept")
    assert ask() == (11, 1)
    assert len(list((folder / "kept").rglob("*.machine"))) == 1
    before = os.environ["XDG_CACHE_HOME"], os.environ["NUMBA_CACHE_DIR"]
    machine_code.keep_in(folder / "another")
    assert (os.environ["XDG_CACHE_HOME"], os.environ["NUMBA_CACHE_DIR"]) == before, "one place is enough"


def test_a_closed_stderr_is_no_trouble(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask()
    the_file(folder).write_bytes(b"")
    monkeypatch.setattr(sys, "stderr", None)
    assert ask() == (11, 1)


ROOT = Path(tapete.__file__).parent.parent
COMMAND = [
    sys.executable,
    "-m",
    "tapete",
    "match",
    "kuhn",
    "random",
    "random",
    "--games",
    "20",
    "--workers",
    "1",
    "--json",
]


def command(cache: Path, *, most: int | None = None, **environment: str) -> tuple[dict[str, Any], str]:
    """What a whole command prints, and what it says on stderr."""

    def limit() -> None:
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(
        COMMAND,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    return {key: value for key, value in result.items() if "seconds" not in key and "speed" not in key}, done.stderr


@pytest.fixture(scope="module")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A cache with all that the command needs, and what the command prints. Who asks for it is in one xdist group."""
    cache = tmp_path_factory.mktemp("cache")
    return cache, command(cache)[0]


@pytest.mark.xdist_group("commands")
def test_a_command_does_its_work_whatever_is_in_its_files(warm_cache: tuple[Path, dict[str, Any]]) -> None:
    cache, result = warm_cache
    files = sorted(cache.rglob("*.machine"))
    assert len(files) > 10
    assert command(cache) == (result, "")
    for path, damage in zip(files[::3], DAMAGES.values(), strict=False):  # whatever the damage, it is compiled anew
        path.write_bytes(damage(path.read_bytes()))
    again, err = command(cache)
    assert again == result
    assert err.count("\n") == 1
    assert "damaged" in err


@pytest.mark.xdist_group("commands")
@pytest.mark.parametrize("size", [0, 2000])
def test_a_command_does_its_work_on_a_full_disk(
    tmp_path: Path, warm_cache: tuple[Path, dict[str, Any]], size: int
) -> None:
    cache, wanted = warm_cache
    shutil.copytree(cache, tmp_path, dirs_exist_ok=True)
    missing = sorted(tmp_path.rglob("*.machine"))[:2]
    for path in missing:
        path.unlink()
    result, err = command(tmp_path, most=size)
    assert result == wanted
    assert err.count("\n") == 1
    assert f"{tmp_path}" in err
    assert not any(path.exists() for path in missing)


@pytest.mark.xdist_group("commands")
def test_a_command_does_its_work_where_nothing_can_be_written(warm_cache: tuple[Path, dict[str, Any]]) -> None:
    result, err = command(
        Path(), NUMBA_CACHE_DIR="", XDG_CACHE_HOME="/dev/null/home", PYTHONPYCACHEPREFIX="/dev/null/cache"
    )
    assert result == warm_cache[1]
    assert err.count("\n") == 1
    assert "/dev/null/cache" in err


@pytest.mark.slow
def test_two_hundred_damaged_files(warm_cache: tuple[Path, dict[str, Any]]) -> None:
    cache, result = warm_cache
    files = sorted(cache.rglob("*.machine"))
    kinds = list(DAMAGES.items())
    for case in range(200):
        path = files[case % len(files)]
        name, damage = kinds[case % len(kinds)]
        if case % 10 == 0:
            name, damaged = "another's", files[(case + 1) % len(files)].read_bytes()
        else:
            damaged = damage(path.read_bytes())
        assert damaged != path.read_bytes()
        path.write_bytes(damaged)
        again, err = command(cache)
        print(f"{case + 1:3} {path.name} {name}: {err.strip() or 'silent'}", flush=True)
        assert again == result, (path, name)
        assert err.count("\n") <= 1
        assert "Traceback" not in err
        assert machine_code._is_whole(path.read_bytes())
