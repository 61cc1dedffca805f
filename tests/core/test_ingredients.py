"""The stamp of a compiled function changes when something that it is made of does, and not otherwise."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tapete.core import ingredients

FILES = {
    "ask.py": """
import numpy as np
import far.tools
from far import kept
from far.layout import STATE
from far.pairs import Pair
from far.numbers import ANSWERS, LIMIT, START, TABLE, WORD
from near import bumped, default_step, gap
from tapete.core.compile import kernel

def make(step):
    @kernel("int64(int64)")
    def ask(x):
        s = np.zeros(1, STATE)[0]
        total = Pair(x, s.level).left + TABLE[0] + LIMIT + far.tools.twice(x) + kept.WEIGHT + ANSWERS[1] + len(WORD)
        return bumped(total) + step + gap() + default_step(x)
    return ask

ask = make(START)
""",
    "near.py": """
from far.deep import deeper
from far.making import making_gap
from far.numbers import STEP
from numba import types
from numba.extending import intrinsic
from tapete.core.compile import helper

@helper
def bumped(x):
    return deeper(x) + 1

@helper
def default_step(x, step=STEP):
    return x + step

@intrinsic
def gap(typing_context):
    def generate(context, builder, signature, arguments):
        return making_gap(context)
    return types.int64(), generate
""",
    "far/__init__.py": "",
    "far/deep.py": """
from tapete.core.compile import helper

@helper
def deeper(x):
    return x + 10 if x < 1000 else deeper(x - 1000)
""",
    "far/tools.py": """
from tapete.core.compile import helper

@helper
def twice(x):
    return 2 * x

def unused(x):
    return x
""",
    "far/kept.py": "WEIGHT = 5\nOTHER = 6\n",
    "far/making.py": """
from numba import types
WIDTH = 64

class Gap:
    def size(self):
        return WIDTH

def making_gap(context):
    return context.get_constant(types.int64, Gap().size())
""",
    "far/layout.py": """
import numpy as np
STATE = np.dtype([("level", "i4"), ("hand", "u8")], align=True)
""",
    "far/pairs.py": """
from typing import NamedTuple

class Pair(NamedTuple):
    left: int
    right: int
""",
    "far/numbers.py": """
import numpy as np
LIMIT = 7
START = 3
TABLE = np.arange(3) * 2
ANSWERS = (1, 2.0)
WORD = "word"
STEP = 1
UNUSED = 1
""",
    "notes.py": "from near import bumped\n",
}

CHANGES = [  # file, what stands there, what instead
    ("ask.py", "ask = make", "# a comment\nask = make"),
    ("ask.py", "make(START)", "make(START + 1)"),
    ("ask.py", "int64(int64)", "int64(int32)"),
    ("near.py", "    return deeper", "    # a comment\n    return deeper"),
    ("far/numbers.py", "STEP = 1", "STEP = 2"),
    ("far/deep.py", "x + 10", "x + 11"),
    ("far/deep.py", "@helper", "# a comment, in the helper of a helper\n@helper"),
    ("far/tools.py", "2 * x", "3 * x"),
    ("far/kept.py", "WEIGHT = 5", "WEIGHT = 6"),
    ("far/making.py", "WIDTH = 64", "WIDTH = 65"),
    ("far/making.py", "return WIDTH", "return WIDTH + 1"),
    ("far/layout.py", '"i4"', '"i8"'),
    ("far/layout.py", "align=True", "align=False"),
    ("far/pairs.py", "left: int\n    right: int", "right: int\n    left: int"),
    ("far/numbers.py", "LIMIT = 7", "LIMIT = 8"),
    ("far/numbers.py", "LIMIT = 7", "LIMIT = 7.0"),
    ("far/numbers.py", "START = 3", "START = 4"),
    ("far/numbers.py", "LIMIT = 7\nSTART = 3", "LIMIT = 3\nSTART = 7"),
    ("far/numbers.py", "np.arange(3) * 2", "np.arange(3) * 3"),
    ("far/numbers.py", "np.arange(3) * 2", "np.arange(3, dtype=np.uint64) * 2"),
    ("far/numbers.py", "np.arange(3) * 2", "np.arange(3).reshape(1, 3) * 2"),
    ("far/numbers.py", "(1, 2.0)", "(1, 3.0)"),
    ("far/numbers.py", '"word"', '"words"'),
]

NO_CHANGES = [
    ("notes.py", "import bumped", "import bumped  # a comment beside what is compiled"),
    ("far/__init__.py", "", "# the package of a helper"),
    ("far/numbers.py", "LIMIT = 7", "# only the values count of a file that has no code in it\nLIMIT = 7"),
    ("far/numbers.py", "UNUSED = 1", "UNUSED = 2"),
    ("far/kept.py", "OTHER = 6", "OTHER = 7"),
]

Import = Callable[[], Any]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Writes the files; what it returns imports `ask` as a new process would."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a .pyc knows files by size and second

    def fresh_ask() -> Any:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("ask", "near", "far", "notes")]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        ingredients._digest_of.cache_clear()
        return importlib.import_module("ask").ask

    return fresh_ask


def stamp(kernel: Any, **options: Any) -> bytes:
    return ingredients.stamp(kernel.py_func, kernel.signature, options)


def edit(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))


def test_the_stamp_is_the_same_for_the_same_files(fresh: Import) -> None:
    assert stamp(fresh()) == stamp(fresh())
    assert stamp(fresh()) != stamp(fresh(), fastmath=True)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change[0]}: {change[2]}")
def test_a_change_in_what_a_function_is_made_of_changes_its_stamp(
    fresh: Import, tmp_path: Path, change: tuple[str, str, str]
) -> None:
    before = stamp(fresh())
    edit(tmp_path, *change)
    assert stamp(fresh()) != before


@pytest.mark.parametrize("change", NO_CHANGES, ids=lambda change: f"{change[0]}: {change[2]}")
def test_a_change_elsewhere_does_not(fresh: Import, tmp_path: Path, change: tuple[str, str, str]) -> None:
    before = stamp(fresh())
    edit(tmp_path, *change)
    assert stamp(fresh()) == before


def test_code_that_was_imported_before_its_file_changed_has_a_stamp_of_its_own(fresh: Import, tmp_path: Path) -> None:
    old = fresh()
    edit(tmp_path, "far/deep.py", "x + 10", "x + 11")
    ingredients._digest_of.cache_clear()
    old_code_new_file = stamp(old)
    assert stamp(fresh()) != old_code_new_file, "else the next process would load the old code"


def test_functions_made_in_a_function_are_told_apart_by_its_values(fresh: Import) -> None:
    make = sys.modules[fresh().py_func.__module__].make
    one, same, two = make(1), make(1), make(2)
    name = [ingredients.variant(kernel.py_func, kernel.signature) for kernel in (one, same, two)]
    assert name[0] == name[1] != name[2]
    assert stamp(one) == stamp(same) != stamp(two)


def test_what_says_nothing_of_itself_is_never_fresh() -> None:
    def stamp_of(thing: Any) -> bytes:
        return ingredients.stamp(lambda: thing, "int64()", {})

    iterator = iter([1])
    assert stamp_of(iterator) != stamp_of(iterator)
    assert stamp_of({1, 2}) == stamp_of({2, 1}) != stamp_of({1, 3})


def test_a_file_of_ours_may_be_called_like_one_of_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "this.py").write_text("LIMIT = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "this", raising=False)
    importlib.import_module("this")
    ingredients._is_library.cache_clear()
    assert not ingredients._is_library("this")
    assert ingredients._is_library("json.decoder")
    assert ingredients._is_library("numba.core")
    monkeypatch.delitem(sys.modules, "this")
    ingredients._is_library.cache_clear()
