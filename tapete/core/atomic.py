"""Words that threads share, inside kernels: what one wrote before it changed a word, another reads after it."""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tapete.core.compile import UINT64_PTR

ORDER = "seq_cst"
ALIGN = 8
PAUSE = "llvm.x86.sse2.pause" if platform.machine() in ("x86_64", "AMD64") else None  # others go without


@intrinsic  # type: ignore[untyped-decorator]
def load_word(typing_context: Any, word: Any) -> Any:
    """The word as it is now."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(arguments[0], ORDER, ALIGN)

    return types.uint64(UINT64_PTR), generate


@intrinsic  # type: ignore[untyped-decorator]
def exchange_word(typing_context: Any, word: Any, new: Any) -> Any:
    """Writes the word, and returns what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("xchg", arguments[0], arguments[1], ORDER)

    return types.uint64(UINT64_PTR, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def replace_word(typing_context: Any, word: Any, old: Any, new: Any) -> Any:
    """Writes the word if it is `old`, and returns whether it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_value(builder.cmpxchg(*arguments, ORDER, ORDER), 1)

    return types.boolean(UINT64_PTR, types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def relax(typing_context: Any) -> Any:
    """Tells the processor that this thread only waits: a moment, in which a thread on the same core gets on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if PAUSE:
            builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), []), PAUSE), [])
        return context.get_dummy_value()

    return types.void(), generate
