"""Curves as TensorBoard reads them, written without it: records of a length, a checksum and a message each.

The format is TensorFlow's (`tensorflow/core/lib/io/record_writer`, `event.proto`): of an event's message only what
scalars need is written.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tapete.core.errors import TapeteError
from tapete.core.files import replacing
from tapete.learn.runs import SECONDS, PastRun, metrics_of, steps_of

FILE = "events.out.tfevents.tapete"
VERSION = b"brain.Event:2"
CASTAGNOLI = 0x82F63B78


@cache
def _table() -> list[int]:
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (CASTAGNOLI if byte & 1 else 0)
        found.append(byte)
    return found


def checksum(data: bytes) -> int:
    """CRC-32C.

    >>> hex(checksum(b"123456789"))
    '0xe3069283'
    """
    word, table = 0xFFFFFFFF, _table()
    for byte in data:
        word = table[(word ^ byte) & 0xFF] ^ word >> 8
    return word ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    word = checksum(data)
    return struct.pack("<I", ((word >> 15 | word << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(message: bytes) -> bytes:
    """A message as it stands in the file."""
    length = struct.pack("<Q", len(message))
    return length + _masked(length) + message + _masked(message)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _inside(field: int, data: bytes) -> bytes:
    """A field that is bytes: a text, or another message."""
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def scalar(wall: float, step: int, tag: str, value: float) -> bytes:
    """The event of one number."""
    told = _inside(1, tag.encode()) + _varint(2 << 3 | 5) + struct.pack("<f", value)
    when = _varint(1 << 3 | 1) + struct.pack("<d", wall) + _varint(2 << 3) + _varint(step)
    return when + _inside(5, _inside(1, told))


def events(run: PastRun) -> Iterator[bytes]:
    """All records of a run; the times of its lines are told back from that of the last."""
    last, over = run.wall, steps_of(run.last)
    yield record(_varint(1 << 3 | 1) + struct.pack("<d", last) + _inside(3, VERSION))
    end = run.last.get(SECONDS, 0.0)
    for line in run.lines:
        wall, step = last - end + line.get(SECONDS, end), line.get(over, 0)
        if math.isfinite(step) and step >= 0:
            names = [name for name in metrics_of(line) if math.isfinite(line[name])]
            yield from (record(scalar(wall, int(step), name, line[name])) for name in names)


def write_events(run: PastRun, folder: Path) -> None:
    """Writes a run's curves, in the place of those that were written before."""
    try:
        with replacing(folder / FILE) as draft:
            draft.write_bytes(b"".join(events(run)))
    except OSError as error:
        raise TapeteError(f"can't write to {folder}: {error.strerror}") from None
