"""Records of arrays inside kernels, as records of pointers.

Taking an array out of a tuple counts a reference, in every helper that does it; a pointer costs nothing. The arrays
must outlive the kernel's use of them: open records that a kernel was called with, not those of its own arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

LINES = 128  # bytes: processors fetch lines of cache in pairs


@intrinsic  # type: ignore[untyped-decorator]
def pointers(typing_context: Any, record: Any) -> Any:
    """The same NamedTuple with the address of its first element in place of each array; bytes are what rules take."""
    fields = [_pointer(field) if isinstance(field, types.Array) else field for field in record.types]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = []
        for i, (old, new) in enumerate(zip(record.types, fields, strict=True)):
            part = builder.extract_value(arguments[0], i)
            if isinstance(old, types.Array):
                data = cgutils.create_struct_proxy(old)(context, builder, part).data
                part = builder.bitcast(data, context.get_value_type(new))
            parts.append(part)
        return context.make_tuple(builder, signature.return_type, parts)

    return types.BaseTuple.from_types(fields, record.instance_class)(record), generate


def opener(record: Any, first: int = 0) -> Any:
    """An intrinsic that opens a record of pointers and numbers, as `words_of` wrote it, behind a pointer.

    first: which of the words there is the record's first.
    """
    fields = [_pointer(field) if isinstance(field, types.Array) else field for field in record.types]
    opened = types.BaseTuple.from_types(fields, record.instance_class)

    @intrinsic  # type: ignore[untyped-decorator]
    def record_at(typing_context: Any, words: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            parts = []
            for i, field in enumerate(fields):
                word = builder.load(cgutils.gep_inbounds(builder, arguments[0], first + i))
                if isinstance(field, types.Float):
                    word = builder.bitcast(word, context.get_value_type(field))
                elif not isinstance(field, types.Integer):
                    word = builder.inttoptr(word, context.get_value_type(field))
                parts.append(word)
            return context.make_tuple(builder, signature.return_type, parts)

        return opened(words), generate

    return record_at


def words_of(record: tuple[Any, ...]) -> list[int]:
    """The addresses of the arrays of a record, its whole numbers as they are and the bits of its other numbers."""
    return [
        field.ctypes.data
        if isinstance(field, np.ndarray)
        else int(np.float64(field).view(np.uint64) if isinstance(field, float) else field)
        for field in record
    ]


def apart(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that shares no line of cache with anything else, so that a thread that writes there disturbs no other."""
    room = np.zeros(array.nbytes + 2 * LINES, dtype=np.uint8)
    first = -room.ctypes.data % LINES
    found = room[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def _pointer(array: Any) -> Any:
    return types.voidptr if array.dtype is types.uint8 else types.CPointer(array.dtype)


@intrinsic  # type: ignore[untyped-decorator]
def at(typing_context: Any, records: Any, i: Any) -> Any:
    """One of the records behind a pointer, to read and to write: `at(nodes, i).visits += 1`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return records.dtype(records, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def words_behind(typing_context: Any, state: Any) -> Any:
    """The bytes of a state, eight at a time."""
    pointer = types.CPointer(types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(pointer))

    return pointer(state), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_state(typing_context: Any, target: Any, source: Any, size: Any) -> Any:
    """Copies the bytes of a state."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cgutils.raw_memcpy(builder, arguments[0], arguments[1], arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.voidptr, types.voidptr, types.int64), generate
