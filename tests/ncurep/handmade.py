"""Writes pieces of reports byte by byte, independently of the project's own writer."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ncuroof.inputs import InputFile

NVR = b"NVR\0"
NAMES = ["sm__a.sum", "sm__b.sum", "text", "gpu__time_duration.sum", "launch__grid_size"]


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def sized(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def double(field: int, value: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<d", value)


def single(field: int, value: float) -> bytes:
    return varint(field << 3 | 5) + struct.pack("<f", value)


def prefixed(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def metric(name_id: int, value: bytes | None, after: bytes = b"") -> bytes:
    return sized(13, number(1, name_id) + (b"" if value is None else sized(2, value)) + after)


def result(*parts: bytes, name: bytes = b"k") -> bytes:
    """A result: a name, then the given fields."""
    return number(1, 77) + sized(5, b"_Z1kv") + sized(6, name) + sized(7, b"") + b"".join(parts)


def block(
    entries: Sequence[bytes] = (),
    *,
    counts: dict[int, int] | None = None,
    strings: Sequence[str] = (),
    extra: bytes = b"",
    size: int | None = None,
) -> bytes:
    """A block with its payload; ``counts`` maps a field of the header to a number of entries."""
    payload = b"".join(prefixed(entry) for entry in entries)
    header = number(1, 0) if counts is None or 1 not in counts else b""
    header += b"".join(number(field, count) for field, count in (counts or {2: len(entries)}).items())
    if strings:
        header += sized(4, b"".join(sized(1, s.encode()) for s in strings))
    header += number(5, len(payload) if size is None else size) + extra
    return prefixed(header) + payload


def report(*blocks: bytes) -> bytes:
    return NVR + prefixed(number(1, 7)) + b"".join(blocks)


def opened(content: bytes, name: str = "hand.ncu-rep") -> InputFile:
    return InputFile(name, None, content, "0" * 64, len(content))
