"""Turning Python functions into machine code, and keeping it on disk.

Three decorators, and no other way to compile anything in this package:

``rule``
    a function of the contract, compiled to a C function with the signature that its name has in the contract;
``kernel(signature)``
    an algorithm, compiled once for all games;
``helper``
    a small function that rules and kernels call, compiled into each of its callers.

Numba's own disk cache only notices a change in the file of the compiled function. The cache here also notices a change
in its folder and in every file of the package from which that folder takes helpers, so that stale machine code is never
loaded.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core import cgutils, sigutils
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

# What crosses the line between rules and algorithms: bare pointers, which cost 2 ns where an array would cost 30.
STATE_PTR = types.voidptr
INT32_PTR = types.CPointer(types.int32)
FLOAT32_PTR = types.CPointer(types.float32)
FLOAT64_PTR = types.CPointer(types.float64)
UINT64_PTR = types.CPointer(types.uint64)

# What a kernel takes from Python: NumPy arrays.
BYTES = types.uint8[::1]
INTS = types.int32[::1]
LONGS = types.int64[::1]
FLOATS = types.float32[::1]
DOUBLES = types.float64[::1]
WORDS = types.uint64[::1]

OPTIONS: dict[str, Any] = {"nopython": True, "error_model": "numpy"}
PACKAGE = Path(__file__).parent.parent
CORE = [Path(__file__).parent / name for name in ("compile.py", "contract.py", "rng.py")]

helper = cast("Callable[[Function], Function]", njit(error_model="numpy"))


@cache
def _stamp(folder: Path) -> str:
    """What the machine code of a folder's functions was made from."""
    digest = hashlib.sha256()
    for path in sorted(_sources({*folder.glob("*.py"), *CORE})):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _sources(files: set[Path]) -> set[Path]:
    """These files and all files with helpers that they import, directly or not."""
    found = set(files)
    for path in files:
        for module in re.findall(r"^\s*from tapete\.([\w.]+) import", path.read_text(), re.MULTILINE):
            source = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
            if source.exists() and any(mark in source.read_text() for mark in ("@helper", "@intrinsic")):
                found.add(source)
    return found if found == files else _sources(found)


def compiled_modules() -> list[str]:
    """The modules of the package that compile something when they are imported."""
    package = importlib.import_module("tapete")
    found = []
    for module in pkgutil.walk_packages(package.__path__, "tapete."):
        source = Path(*package.__path__, *module.name.split(".")[1:]).with_suffix(".py")
        marks = ("\n@rule\n", "\n@kernel(", "\n@evaluator\n")
        if source.exists() and any(mark in source.read_text() for mark in marks):
            found.append(module.name)
    return found


class _Cache(FunctionCache):  # type: ignore[misc]
    """A disk cache that is stale as soon as the function's folder or the core's helpers have changed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = _stamp(Path(function.__code__.co_filename).parent)


class _Progress:
    """Says on screen what is being compiled, when that takes long enough for a person to wonder."""

    def __init__(self) -> None:
        self.done = 0
        self.seconds = 0.0

    def compiling(self, function: Callable[..., Any], work: Callable[[], Any]) -> None:
        began = time.perf_counter()
        if sys.stderr.isatty():
            name = f"{function.__module__.removeprefix('tapete.')}.{function.__name__}"
            print(f"\r\x1b[Kcompiling {name} (only the first time)", end="", file=sys.stderr, flush=True)
        work()
        self.done += 1
        self.seconds += time.perf_counter() - began
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


progress = _Progress()


def compile_rule(function: Callable[..., Any], signature: Any) -> Any:
    """The function as a C function of that signature, from the disk cache where it is still fresh."""
    compiled: Any = CFunc(function, sigutils.normalize_signature(signature), locals={}, options=dict(OPTIONS))
    compiled._cache = _Cache(function)
    _load_or_compile(function, compiled._cache, compiled._sig, compiled._targetdescr, compiled.compile)
    return compiled


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Compiles an algorithm. The signature is explicit: without one, a recursive kernel from the cache crashes.

    A kernel lets other threads of Python run beside it; two cores are used by calling it in two threads.
    """

    def decorate(function: Function) -> Function:
        from numba.core import typeinfer

        dispatcher: Any = njit(error_model="numpy", nogil=True)(function)
        dispatcher._cache = _Cache(function)

        def compile_all() -> None:
            with typeinfer.register_dispatcher(dispatcher):
                dispatcher.compile(signature)
            dispatcher.disable_compile()

        _load_or_compile(function, dispatcher._cache, signature, dispatcher.targetdescr, compile_all)
        return cast(Function, dispatcher)

    return decorate


def _load_or_compile(
    function: Callable[..., Any], cache: _Cache, signature: Any, target: Any, compile_it: Callable[[], Any]
) -> None:
    key = cache._index_key(signature, target.target_context.codegen())
    if key in cache._cache_file._load_index():
        compile_it()
    else:
        progress.compiling(function, compile_it)


def _pointer_to(pointer: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def address(typing_context: Any, array: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
            return builder.bitcast(data, context.get_value_type(pointer))

        return pointer(array), generate

    return address


# The address of an array's first element, inside a kernel: `state_ptr(states[i])`.
state_ptr = _pointer_to(STATE_PTR)
int32_ptr = _pointer_to(INT32_PTR)
float32_ptr = _pointer_to(FLOAT32_PTR)
float64_ptr = _pointer_to(FLOAT64_PTR)
uint64_ptr = _pointer_to(UINT64_PTR)


@intrinsic  # type: ignore[untyped-decorator]
def first_of(typing_context: Any, array: Any) -> Any:
    """The address of an array's first element, as a pointer to its own type."""
    pointer = types.CPointer(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data

    return pointer(array), generate


@intrinsic  # type: ignore[untyped-decorator]
def ahead(typing_context: Any, pointer: Any, n: Any) -> Any:
    """The pointer n elements further on. Pointers know no negative indices, so loops over them become vector code."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.int64), generate
