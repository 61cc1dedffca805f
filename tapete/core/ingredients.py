"""What a compiled function is made of, as a digest: machine code is fresh as long as this has not changed.

A function is followed to all that it refers to: the helpers that it calls and those that they call, intrinsics with the
Python functions that generate their code, kernels, constants, arrays, layouts of records, the values of its closure.
Of every function count its code and the whole file it stands in; of every constant, its value, wherever it was
computed. The file is read when the digest is taken, which may be long after the function was imported, so the code
itself must count too: otherwise who edits a file while a program runs would find old code under the new file's digest.

Python's own library, numba, NumPy and llvmlite count by their versions.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import importlib
import os
import sys
import types as python
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

LIBRARIES = ("llvmlite", "numba", "numpy")
STANDARD = Path(os.__file__).parent

VERSIONS = (sys.version, numba.__version__, np.__version__, llvmlite.__version__)
SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX")


def digest(*parts: bytes) -> bytes:
    """Of all these bytes."""
    return hashlib.sha256(b"".join(parts)).digest()


def machine(codegen: Any) -> bytes:
    """What machine code is made for: the processor with its features, versions, and settings of numba."""
    walk = _Walk()
    walk.add((*codegen.magic_tuple(), VERSIONS, [str(getattr(config, name, None)) for name in SETTINGS]))
    return walk.digest.digest()


def variant(function: Any, signature: Any) -> bytes:
    """What tells functions of one name apart: the signature, and the values of the closure if there is one."""
    walk = _Walk()
    walk.add(sigutils.normalize_signature(signature))
    walk.closure(function)
    return walk.digest.digest()


def stamp(function: Any, signature: Any, options: dict[str, Any]) -> bytes:
    """The digest of everything that the machine code of the function is made of."""
    walk = _Walk()
    walk.add((options, sigutils.normalize_signature(signature), function))
    return walk.digest.digest()


class _Walk:
    """Writes values into a digest, each object once: what comes again is written as its number, so cycles end."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: dict[int, tuple[int, Any]] = {}  # by id: its number, and the object, so that the id stays its own

    def write(self, *words: object) -> None:
        """Texts and bytes, each behind its length, so that no two lists of them run into the same digest."""
        for word in words:
            raw = word if isinstance(word, bytes) else str(word).encode(errors="surrogatepass")
            self.digest.update(b"%d:" % len(raw) + raw)

    def add(self, value: Any) -> None:
        """Any value that code refers to."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes | python.EllipsisType):
            self.write(type(value).__qualname__, repr(value))
        elif id(value) in self.seen:
            self.write("again", self.seen[id(value)][0])
        else:
            self.seen[id(value)] = len(self.seen), value
            self._add_new(value)

    def _add_new(self, value: Any) -> None:
        match value:
            case np.ndarray() | np.generic():
                self.write(type(value).__qualname__, repr(value.dtype), value.shape, value.tobytes())
            case np.dtype():
                self.write("dtype", repr(value))
            case tuple() | list():
                self.add(type(value))
                self._each(value)
            case dict():
                self.write("dict")
                self._each(item for pair in value.items() for item in pair)
            case set() | frozenset():
                self.write("set", *sorted(map(repr, value)))
            case python.ModuleType():
                self.write("module", value.__name__)
            case type():
                self._class(value)
            case python.FunctionType():
                self._function(value)
            case Dispatcher():
                self.write("dispatcher")
                self._each((value.py_func, value.targetoptions))
            case CFunc():
                rule: Any = value
                self.write("C function")
                self._each((rule._pyfunc, rule._compiler.targetoptions, rule._sig.args, rule._sig.return_type))
            case _Intrinsic():
                self.write("intrinsic")
                self._each((value._defn, value._prefer_literal, value._ctor_kwargs))
            case types.Type():
                self.write("type", type(value).__qualname__, value)
                self.add(value.key if isinstance(value.key, tuple) else None)
            case python.MethodType() | staticmethod() | classmethod():
                self._each((type(value), value.__func__, getattr(value, "__self__", None)))
            case property():
                self._each((property, value.fget, value.fset))
            case _:
                self._object(value)

    def closure(self, function: python.FunctionType) -> None:
        """The names that a function takes from the function around it, with their values."""
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.write("cell", name)
            try:
                self.add(cell.cell_contents)
            except ValueError:
                self.write("empty")

    def _each(self, values: Iterable[Any]) -> None:
        listed = list(values)
        self.write(len(listed))
        for value in listed:
            self.add(value)

    def _function(self, function: python.FunctionType) -> None:
        self.write("function", function.__module__, function.__qualname__)
        if _is_library(function.__module__):
            return
        code = function.__code__
        self.write(_digest_of(code.co_filename))
        self._code(code)
        self._each((function.__defaults__, function.__kwdefaults__))
        self.closure(function)
        attributes = _names(code, dis.hasname)
        for name in sorted(_names(code, [dis.opmap["IMPORT_NAME"]])):
            self.write("import", name)
            if not _is_library(name):
                self._module(importlib.import_module(name), attributes, set())
        for name in sorted(_names(code, [dis.opmap["LOAD_GLOBAL"]])):
            value = function.__globals__.get(name, getattr(builtins, name, None))
            self.write("global", name)
            if isinstance(value, python.ModuleType):
                self._module(value, attributes, set())
            else:
                self.add(value)

    def _module(self, module: python.ModuleType, names: set[str], entered: set[str]) -> None:
        """What code that has these names in it may take from a module, and from modules inside of it."""
        self.write("module", module.__name__)
        if _is_library(module.__name__) or module.__name__ in entered:
            return
        entered.add(module.__name__)
        for name in sorted(names & vars(module).keys()):
            self.write("attribute", name)
            value = vars(module)[name]
            if isinstance(value, python.ModuleType):
                self._module(value, names, entered)
            else:
                self.add(value)

    def _code(self, code: python.CodeType) -> None:
        self.write("code", code.co_name, code.co_code, code.co_exceptiontable, code.co_flags)
        self.write(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self._each((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
        for constant in code.co_consts:
            if isinstance(constant, python.CodeType):
                self._code(constant)
            else:
                self.add(constant)

    def _class(self, cls: type) -> None:
        self.write("class", cls.__module__, cls.__qualname__)
        if _is_library(cls.__module__):
            return
        self.write(_digest_of(getattr(sys.modules.get(cls.__module__), "__file__", None) or ""))
        self._each(cls.__bases__)
        for name, value in sorted(vars(cls).items()):
            if isinstance(value, python.FunctionType) or not (name.startswith("__") and name.endswith("__")):
                self.write("member", name)
                self.add(value)

    def _object(self, value: Any) -> None:
        """Anything else: by what it holds if its class is ours, by what it says of itself if it is a library's."""
        kind: Any = type(value)
        self.add(kind)
        if hasattr(value, "__wrapped__"):
            self.add(value.__wrapped__)
        elif not _is_library(kind.__module__) and hasattr(value, "__dict__"):
            self.add(vars(value))
        elif kind.__repr__ is object.__repr__:
            self.write(os.urandom(16))  # says nothing: its code is never taken from the cache
        else:
            self.write(repr(value), str(value))


def _names(code: python.CodeType, operations: list[int]) -> set[str]:
    """The names in instructions of these kinds, those of functions inside of the function too."""
    found = {str(step.argval) for step in dis.get_instructions(code) if step.opcode in operations}
    return found.union(*(_names(inner, operations) for inner in code.co_consts if isinstance(inner, python.CodeType)))


@cache
def _is_library(module: str | None) -> bool:
    """Whether a module counts by its version. A file of ours may well be called like one of Python's."""
    top = (module or "builtins").partition(".")[0]
    if top not in sys.stdlib_module_names:
        return top in LIBRARIES
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is None or (Path(file).is_relative_to(STANDARD) and "site-packages" not in Path(file).parts)


@cache
def _digest_of(file: str) -> bytes:
    try:
        return hashlib.sha256(Path(file).read_bytes()).digest()
    except OSError:
        return b""  # code that was never in a file
