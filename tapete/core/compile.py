"""Turning Python functions into machine code when they are first needed, and keeping it on disk.

Three decorators, and no other way to compile anything in this package:

``rule``
    a function of the contract, compiled to a C function with the signature that its name has in the contract;
``kernel(signature)``
    an algorithm, compiled once for all games;
``helper``
    a small function that rules and kernels call, compiled into each of its callers (``innermost``: without a call).

Nothing is compiled when a module is imported. A kernel is loaded from disk, or compiled, when it is first called or
when code that calls it is compiled; a rule, when somebody asks for its address. Numba's own disk cache only notices a
change in the file of the compiled function; ours notices one in anything that the function is made of
(`ingredients.py`), and no file in it can stop anybody (`machine_code.py`).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from numba import njit, types
from numba.core import cgutils, sigutils
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from tapete.core.machine_code import MachineCode

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
FLAGS = types.int8[::1]
STATES = types.uint8[:, ::1]
INT_ROWS = types.int32[:, ::1]
FLOAT_ROWS = types.float32[:, ::1]
DOUBLE_ROWS = types.float64[:, ::1]
WORD_ROWS = types.uint64[:, ::1]

OPTIONS: dict[str, Any] = {"nopython": True, "error_model": "numpy"}


class _Progress:
    """Says on screen what is being compiled, when that takes long enough for a person to wonder."""

    def __init__(self) -> None:
        self.done = 0  # functions that were compiled, not loaded
        self.seconds = 0.0
        self.names: list[str] = []  # what is being compiled; the last for the sake of the one before it

    def compiling(self, function: Callable[..., Any], work: Callable[[], Any]) -> None:
        """Does the work, which compiles the function."""
        self.names.append(f"{function.__module__.removeprefix('tapete.')}.{function.__name__}")
        began = time.perf_counter()
        try:
            self._show()
            work()
            self.done += 1
        finally:
            self.names.pop()
            if not self.names:
                self.seconds += time.perf_counter() - began
            self._show()

    def _show(self) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            text = f"compiling {self.names[-1]} (only the first time)" if self.names else ""
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


progress = _Progress()


class NotCompiled(Exception):
    """Machine code is not there, and may not be compiled here: see `loading_only`."""


_this_thread = threading.local()


@contextmanager
def loading_only() -> Iterator[None]:
    """This thread loads machine code, and compiles none: who would have to gets `NotCompiled`."""
    _this_thread.loads = True
    try:
        yield
    finally:
        _this_thread.loads = False


_waiting: WeakValueDictionary[int, Any] = WeakValueDictionary()


def waiting() -> list[Any]:
    """The kernels and rules that have been made, but not needed yet; `load()` of each of them gets its machine code."""
    return list(_waiting.values())


class _Helper(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled once for all whole numbers written in its callers.

    Numba would compile it anew for `f(x, 1)` and for `f(x, 2)`; LLVM does so where it puts the code in place of a call.
    Nor is it compiled for Python too, before Python calls it.
    """

    @cached_property
    def alone(self) -> Any:
        """The same for Python."""
        return njit(error_model="numpy")(self.py_func)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.alone(*arguments, **named)

    def get_call_template(self, arguments: Any, named: Any) -> Any:
        """Called by numba where it compiles code that calls the helper."""
        return super().get_call_template(
            tuple(map(_any_number, arguments)), {k: _any_number(v) for k, v in named.items()}
        )


def _any_number(kind: Any) -> Any:
    return kind.literal_type if isinstance(kind, types.IntegerLiteral) else kind


def helper(function: Function) -> Function:
    """Compiles a function into each of its callers."""
    return _helper(function)


def innermost(function: Function) -> Function:
    """A helper whose code always takes the place of a call, for the innermost steps of a kernel."""
    return _helper(function, forceinline=True)


def _helper(function: Function, **options: bool) -> Function:
    dispatcher: Any = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
    dispatcher.__class__ = _Helper
    return cast(Function, dispatcher)


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel without its machine code. With it, it is a dispatcher of numba's own class, and calls cost no more."""

    def load(self) -> None:
        """Gets the machine code, from disk or by compiling. Whoever comes while another thread does so, waits."""
        with global_compiler_lock:
            if isinstance(self, _Kernel):  # no other thread has been here before
                _load(self.py_func, self.signature, self.targetoptions, self, lambda: self.compile(self.signature))
                self.disable_compile()
                _waiting.pop(id(self), None)
                self.__class__ = CPUDispatcher

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.load()
        return self(*arguments, **named)

    def get_call_template(self, arguments: Any, named: Any) -> Any:
        """Called by numba where it compiles code that calls the kernel."""
        self.load()
        return self.get_call_template(arguments, named)

    def get_compile_result(self, signature: Any) -> Any:
        """Called by numba where the kernel is handed to another as a function."""
        self.load()
        return self.get_compile_result(signature)


class _Rule(CFunc):
    """A C function that is loaded or compiled when its address is asked for."""

    _at: int | None = None

    def load(self) -> None:
        """Gets the machine code, from disk or by compiling."""
        with global_compiler_lock:
            if self._at is None:
                own: Any = self
                _load(own._pyfunc, own._sig, own._compiler.targetoptions, own, own.compile)
                _waiting.pop(id(self), None)

    @property
    def _wrapper_address(self) -> int:  # numba writes it when it has compiled, and reads it in several places
        if self._at is None:
            self.load()
        return cast(int, self._at)

    @_wrapper_address.setter
    def _wrapper_address(self, address: int | None) -> None:
        self._at = address


def compile_rule(function: Callable[..., Any], signature: Any) -> Any:
    """The function as a C function of that signature."""
    compiled: Any = _Rule(function, sigutils.normalize_signature(signature), locals={}, options=dict(OPTIONS))
    _waiting[id(compiled)] = compiled
    return compiled


def kernel(signature: Any, *, is_short: bool = False) -> Callable[[Function], Function]:
    """Compiles an algorithm. The signature is explicit: without one, a recursive kernel from the cache crashes.

    A kernel lets other threads of Python run beside it; two cores are used by calling it in two threads. One that
    `is_short` does not: where others wait for the interpreter, giving it up costs more than the call.
    """

    def decorate(function: Function) -> Function:
        dispatcher: Any = njit(error_model="numpy", nogil=not is_short)(function)
        dispatcher.__class__ = _Kernel
        dispatcher.signature = signature
        _waiting[id(dispatcher)] = dispatcher
        return cast(Function, dispatcher)

    return decorate


def _load(function: Any, signature: Any, options: Any, compiled: Any, compile_it: Callable[[], Any]) -> None:
    target = compiled.targetctx if isinstance(compiled, CPUDispatcher) else compiled._targetdescr.target_context
    compiled._cache = MachineCode(function, signature, options, target)
    if compiled._cache.find():
        compile_it()
    elif getattr(_this_thread, "loads", False):
        raise NotCompiled(f"{function.__module__}.{function.__qualname__}")
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


def stack_of(pointer: Any, size: int) -> Any:
    """Makes a helper that gives room for so many elements as long as its caller runs, at no cost."""

    @intrinsic  # type: ignore[untyped-decorator]
    def room(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return cgutils.alloca_once(builder, context.get_value_type(pointer.dtype), size=size)

        return pointer(), generate

    return room
