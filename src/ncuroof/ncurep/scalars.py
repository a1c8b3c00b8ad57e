"""Decodes the scalar values of many metrics at once, with numpy over their concatenated bytes.

A metric message is, in the order in which every known version writes it::

    08 <name id> 12 <length> <value> [1A <length> <instance>]* [20 <series flag>]

and its value exactly one of ``0A`` text, ``15`` float, ``19`` double, ``20`` uint32, ``28`` uint64. Messages of this
shape are decoded together; any other (they are legal protobuf, if nobody writes them) goes through protobuf one by one.
Instances are passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ncuroof.ncurep.messages import message
from ncuroof.ncurep.varints import LOW, join_sevens, length_of, value_of

if TYPE_CHECKING:
    import mmap
    from collections.abc import Sequence

    from numpy.typing import NDArray

ABSENT, NUMBER, INTEGER, TEXT = 0, 1, 2, 3
PAD = bytes(16)
BLOCK = 1 << 14
# Continuation bits of a well-formed varint of n bytes: set in all bytes but the last.
_CONTINUED = np.array([sum(0x80 << (8 * i) for i in range(n - 1)) if n else 1 for n in range(9)], dtype=np.uint64)
_TOP = np.uint64(0x8080808080808080)
# The first octets of a value that is a double (12 09 19) or a uint64 (12 size 28), as a little-endian word.
_SHAPE_OF_DOUBLE, _A_DOUBLE = np.uint64(0xFFFFFF), np.uint64(0x190912)
_SHAPE_OF_INTEGER, _AN_INTEGER = np.uint64(0xFF00FF), np.uint64(0x280012)


@dataclass
class Scalars:
    """Decoded metrics, one element per metric.

    Attributes:
        row: position of the metric in the list that was decoded.
        name_id: index into the string table.
        kind: ABSENT, NUMBER, INTEGER or TEXT.
        number: the value as float64; 0 for text and absent values.
        integer: the value of an INTEGER as uint64; 0 otherwise.
        texts: row position in this object to text bytes, for each TEXT.
    """

    row: NDArray[np.int64]
    name_id: NDArray[np.int64]
    kind: NDArray[np.uint8]
    number: NDArray[np.float64]
    integer: NDArray[np.uint64]
    texts: dict[int, bytes]


class Buffer:
    """Bytes that can be read at many offsets at once; at least 16 bytes of them lie behind the last offset used.

    Attributes:
        content: the bytes.
        octets: the same as an array.
        words: element i is the 8 bytes from offset i on, little endian, whatever the alignment.
    """

    def __init__(self, content: bytes | mmap.mmap) -> None:
        self.content = content
        self.octets = np.frombuffer(content, np.uint8)
        self.words: NDArray[np.uint64] = np.ndarray((len(content) - 7,), "<u8", content, strides=(1,))


def joined(messages: Sequence[bytes]) -> tuple[Buffer, NDArray[np.int64], NDArray[np.int64]]:
    """Messages in one buffer: the buffer, and where each begins and ends."""
    length = np.fromiter(map(len, messages), np.int64, len(messages))
    end = np.cumsum(length)
    return Buffer(b"".join(messages) + PAD), end - length, end


def decode(
    buffer: Buffer, start: NDArray[np.int64], end: NDArray[np.int64], wanted: NDArray[np.bool_] | None = None
) -> Scalars:
    """Decode the scalars of metric messages.

    Args:
        buffer: where they lie.
        start: offset of each.
        end: offset after each.
        wanted: for each name id whether its values are needed; None for all. Its last element stands for all ids beyond
            the string table, and is true, so that the caller can complain about them.

    Raises:
        google.protobuf.message.DecodeError: for bytes that are no metric.
    """
    blocks = []
    for first in range(0, max(len(start), 1), BLOCK):
        part = slice(first, first + BLOCK)
        block = _block(buffer, start[part], end[part], wanted)
        block.row += first
        blocks.append(block)
    return _chained(blocks)


def decode_runs(
    buffer: Buffer,
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    runs: Sequence[tuple[Scalars | None, int]],
    wanted: NDArray[np.bool_] | None,
) -> Scalars:
    """As :func:`decode`, where some of the metrics have been decoded already.

    Args:
        runs: where each run of metrics ends in ``start``, and its scalars, or None where they have yet to be decoded.
    """
    parts: list[Scalars] = []
    first = 0  # of what has not been decoded
    begin = 0
    for decoded, stop in runs:
        if decoded is not None:
            if first < begin:
                parts.append(_moved(decode(buffer, start[first:begin], end[first:begin], wanted), first))
            parts.append(_moved(decoded, begin))
            first = stop
        begin = stop
    if first < len(start) or not parts:
        parts.append(_moved(decode(buffer, start[first:], end[first:], wanted), first))
    return _chained(parts)


def _moved(part: Scalars, by: int) -> Scalars:
    part.row += by
    return part


def alike(
    buffer: Buffer, value: NDArray[np.int64], end: NDArray[np.int64], name_id: int, head: NDArray[np.uint64]
) -> Scalars | None:
    """Metrics of one name that all have a double, or all an integer, as their value; None for any others.

    Args:
        buffer: where they lie.
        value: offset of each metric's value, with its tag.
        end: offset after each metric.
        name_id: what they have in common.
        head: the first three bytes of each value, little endian.
    """
    integer = np.zeros(len(value), np.uint64)
    if ((head & _SHAPE_OF_DOUBLE) == _A_DOUBLE).all():
        after = value + 11
        kind, number = NUMBER, buffer.words[value + 3].view(np.float64)
    elif ((head & _SHAPE_OF_INTEGER) == _AN_INTEGER).all():
        size = ((head >> np.uint64(8)) & np.uint64(0xFF)).view(np.int64)
        raw = buffer.words[value + 3]
        length = length_of(raw)
        if (length != size - 1).any() or not length.all():
            return None
        after = value + 2 + size
        integer = value_of(raw, length)
        kind, number = INTEGER, integer.astype(np.float64)
    else:
        return None
    more = after != end
    if more.any():
        if (after > end).any():
            return None
        follower = buffer.octets[after[more]]
        if not ((follower == 0x1A) | (follower == 0x20)).all():
            return None
    count = len(value)
    row, name_ids = np.arange(count), np.full(count, name_id, np.int64)
    return Scalars(row, name_ids, np.full(count, kind, np.uint8), number, integer, {})


def _chained(blocks: list[Scalars]) -> Scalars:
    """Blocks of scalars as one."""
    if len(blocks) == 1:
        return blocks[0]
    texts: dict[int, bytes] = {}
    base = 0
    for block in blocks:
        texts.update((base + place, said) for place, said in block.texts.items())
        base += len(block.row)
    return Scalars(
        np.concatenate([block.row for block in blocks]),
        np.concatenate([block.name_id for block in blocks]),
        np.concatenate([block.kind for block in blocks]),
        np.concatenate([block.number for block in blocks]),
        np.concatenate([block.integer for block in blocks]),
        texts,
    )


def _block(
    buffer: Buffer, start: NDArray[np.int64], end: NDArray[np.int64], wanted: NDArray[np.bool_] | None
) -> Scalars:
    """As :func:`decode`, for as many metrics as leave the intermediate arrays in the processor's cache."""
    length = end - start
    head = buffer.words[start]
    plain = (length >= 2) & ((head & np.uint64(0xFF)) == 0x08)
    # The name id: a varint of one to three bytes after the tag.
    b1, b2, b3 = ((head >> np.uint64(shift)) & np.uint64(0xFF) for shift in (8, 16, 24))
    two = b1 >= 0x80
    three = two & (b2 >= 0x80)
    low7 = np.uint64(0x7F)
    name_id = (b1 & low7).astype(np.int64)
    name_id[two] |= ((b2[two] & low7) << np.uint64(7)).astype(np.int64)
    name_id[three] |= ((b3[three] & low7) << np.uint64(14)).astype(np.int64)
    wide = 1 + two + three.astype(np.int64)
    plain &= ~(three & (b3 >= 0x80)) & (length > wide)
    value = start + 1 + wide
    plain &= (value == end) | (buffer.octets[value] == 0x12)

    odd = np.flatnonzero(~plain)
    row = np.arange(len(start), dtype=np.int64)
    keep = plain if wanted is None else plain & wanted[np.minimum(name_id, len(wanted) - 1)]
    if not keep.all():
        row, name_id, value, end = row[keep], name_id[keep], value[keep], end[keep]
    kind, number, integer, texts, strange = _values(buffer, value, end)
    result = Scalars(row, name_id, kind, number, integer, texts)
    if len(odd) or len(strange):
        spans = list(zip(start.tolist(), (start + length).tolist(), strict=True))
        _one_by_one(result, buffer, spans, odd, strange, wanted)
    return result


def _values(
    buffer: Buffer, value: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.uint64], dict[int, bytes], NDArray[np.int64]]:
    """Kind, number, integer and texts of values at these offsets, and the positions of values of another shape."""
    octets, words = buffer.octets, buffer.words
    count = len(value)
    kind = np.zeros(count, np.uint8)
    number = np.zeros(count, np.float64)
    integer = np.zeros(count, np.uint64)
    present = value < end
    head = words[value]
    size = ((head >> np.uint64(8)) & np.uint64(0xFF)).astype(np.int64)
    tag = ((head >> np.uint64(16)) & np.uint64(0xFF)).astype(np.uint8)
    after = value + 2 + size
    good = present & (size < 0x80) & (size > 0) & (after <= end)
    # What follows may be instances or the series flag, but not a second value.
    follower = octets[np.minimum(after, end)]
    good &= (after == end) | (follower == 0x1A) | (follower == 0x20)

    doubles = np.flatnonzero(good & (tag == 0x19) & (size == 9))
    number[doubles] = words[value[doubles] + 3].view(np.float64)
    kind[doubles] = NUMBER

    varints = np.flatnonzero(good & ((tag == 0x28) | (tag == 0x20)) & (size >= 2) & (size <= 9))
    width = size[varints] - 1
    raw = words[value[varints] + 3] & LOW[width]
    whole = (raw & _TOP) == _CONTINUED[width]
    varints, raw = varints[whole], raw[whole]
    decoded = join_sevens(raw)
    small = (tag[varints] == 0x28) | (decoded < 1 << 32)
    varints, decoded = varints[small], decoded[small]
    integer[varints] = decoded
    number[varints] = decoded
    kind[varints] = INTEGER

    texts: dict[int, bytes] = {}
    strings = good & (tag == 0x0A) & (size >= 2)
    inner = ((head >> np.uint64(24)) & np.uint64(0xFF)).astype(np.int64)
    places = np.flatnonzero(strings & (inner == size - 2))
    kind[places] = TEXT
    for place, begin, long in zip(places.tolist(), (value[places] + 4).tolist(), inner[places].tolist(), strict=True):
        texts[place] = buffer.content[begin : begin + long]
    return kind, number, integer, texts, np.flatnonzero(present & (kind == ABSENT))


def _one_by_one(  # noqa: PLR0917
    into: Scalars,
    buffer: Buffer,
    spans: Sequence[tuple[int, int]],
    odd: NDArray[np.int64],
    strange: NDArray[np.int64],
    wanted: NDArray[np.bool_] | None,
) -> None:
    """Decode through protobuf what has another shape: ``odd`` are rows to insert, ``strange`` are places to redo."""
    metric = message("MetricScalar")

    def read(row: int) -> Any:  # noqa: ANN401  protobuf messages have no static type
        start, end = spans[row]
        return metric.FromString(buffer.content[start:end])

    places = strange.tolist()
    rows = into.row[strange].tolist()
    parsed = [read(r) for r in rows]
    extra_rows: list[int] = []
    extra = []
    for r in odd.tolist():
        one = read(r)
        if wanted is None or wanted[min(one.name_id, len(wanted) - 1)]:
            extra_rows.append(r)
            extra.append(one)
    if extra:
        base = len(into.row)
        into.row = np.concatenate([into.row, np.array(extra_rows, np.int64)])
        # An id of 2^63 or more is as wrong as any other beyond the table.
        ids = [min(one.name_id, (1 << 62)) for one in extra]
        into.name_id = np.concatenate([into.name_id, np.array(ids, np.int64)])
        into.kind = np.concatenate([into.kind, np.zeros(len(extra), np.uint8)])
        into.number = np.concatenate([into.number, np.zeros(len(extra))])
        into.integer = np.concatenate([into.integer, np.zeros(len(extra), np.uint64)])
        places += range(base, base + len(extra))
        parsed += extra
    for place, one in zip(places, parsed, strict=True):
        value = one.value
        if value.HasField("text"):
            into.kind[place] = TEXT
            into.texts[place] = value.text
        elif value.HasField("float64") or value.HasField("float32"):
            into.kind[place] = NUMBER
            into.number[place] = value.float64 if value.HasField("float64") else value.float32
        elif value.HasField("uint64") or value.HasField("uint32"):
            into.kind[place] = INTEGER
            into.integer[place] = value.uint64 if value.HasField("uint64") else value.uint32
            into.number[place] = float(into.integer[place])
    if extra:
        order = np.argsort(into.row, kind="stable")
        moved = {old: new for new, old in enumerate(order.tolist()) if old in into.texts}
        into.texts = {moved[old]: text for old, text in into.texts.items()}
        into.row, into.name_id, into.kind = into.row[order], into.name_id[order], into.kind[order]
        into.number, into.integer = into.number[order], into.integer[order]
