"""Finds the fields of many results at once, without decoding the results.

All results of a batch are walked in step, a few NumPy operations for the next field of each. Fields stand in ascending
order in every known file, so taking the lowest of the next tags keeps the results in step where one has a field, or
more of a repeated one, than another. Any other order is legal protobuf and is found as well, with more steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ncuroof.ncurep.varints import length_of, value_of

if TYPE_CHECKING:
    import mmap

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]

NO_TAG = 1 << 16  # above every tag of two octets
MOST_STEPS = 2000  # a batch that needs more is decoded one by one; the largest public one needs 90
_FIXED = {1: 8, 5: 4}
_LONGEST_SIZE = 4  # octets of a size: 2^28 bytes
_OCTET, _PAIR, _CONTINUES = np.uint64(0xFF), np.uint64(0xFFFF), np.uint64(0x80)


class Step(NamedTuple):
    """The same field of some results.

    Attributes:
        tag: its tag; see :func:`tag_of`.
        rows: positions of the results.
        begin: where its tag begins in each of them.
        start, end: where its content begins and ends.
    """

    tag: int
    rows: Ints
    begin: Ints
    start: Ints
    end: Ints


@dataclass
class Spans:
    """Where the content of one field lies in each result; -1 where a result has none."""

    start: Ints
    end: Ints


def tag_of(number: int, wire: int) -> int:
    """A tag as it stands in the file, read as a little-endian number of one or two octets."""
    tag = number << 3 | wire
    return tag if tag < 0x80 else (tag & 0x7F | 0x80) | tag >> 7 << 8


def walk(words: Words, position: Ints, limit: Ints, below: int = NO_TAG) -> tuple[list[Step], Ints] | None:
    """The fields of results.

    Args:
        words: element i is the 8 bytes from offset i of the buffer on, little endian; it reaches at least 8 bytes
            beyond the last result.
        position: for each result the offset of a tag.
        limit: for each result the offset after it.
        below: go on while a result's next tag is lower.

    Returns:
        The steps, and for each result the offset reached. None for bytes that are no message, and for fields that have
        to be decoded by other means (groups, and numbers of more than eight octets).
    """
    position = position.copy()
    steps: list[Step] = []
    rows = np.flatnonzero(position < limit)
    while len(rows):
        at = position[rows]
        head = words[at]
        tags = head & _OCTET
        if (tags >= 0x80).any():
            tags = np.where(tags >= 0x80, head & _PAIR, tags)
        tag = int(tags.min())
        if tag >= below:
            break
        mine = tags == tag
        if not mine.all():
            at = at[mine]
        owners = rows[mine]
        wide = tag >= 0x80
        plain = 8 <= tag < 0x80 or 0x100 <= tag < 0x8000  # of one octet, or of two that are needed
        span = _content(words, at + 1 + wide, tag & 7) if plain else None
        if span is None or (span[1] > limit[owners]).any() or len(steps) == MOST_STEPS:
            return None
        steps.append(Step(tag, owners, at, *span))
        position[owners] = span[1]
        rows = rows[position[rows] < limit[rows]]
    return steps, position


def _content(words: Words, start: Ints, wire: int) -> tuple[Ints, Ints] | None:
    """Where the content of fields of a wire type begins and ends."""
    if wire in _FIXED:
        return start, start + _FIXED[wire]
    if wire not in (0, 2):
        return None
    raw = words[start]
    if not (raw & _CONTINUES).any():  # the usual case: one octet in all of them
        return (start, start + 1) if wire == 0 else (start + 1, start + 1 + (raw & _OCTET).view(np.int64))
    length = length_of(raw)
    if not length.all() or (wire == 2 and length.max() > _LONGEST_SIZE):
        return None
    if wire == 0:
        return start, start + length
    start = start + length
    return start, start + value_of(raw, length).view(np.int64)


def single(steps: list[Step], tag: int, count: int) -> Spans:
    """Where a field that is not repeated lies in each of ``count`` results; the last one counts."""
    spans = Spans(np.full(count, -1, np.int64), np.full(count, -1, np.int64))
    for step in steps:
        if step.tag == tag:
            spans.start[step.rows], spans.end[step.rows] = step.start, step.end
    return spans


def run(steps: list[Step], tag: int, count: int) -> Spans | None:
    """Where all fields of a tag lie in each of ``count`` results, tags included; None where they are not in a row."""
    spans = Spans(np.full(count, -1, np.int64), np.full(count, -1, np.int64))
    size = np.zeros(count, np.int64)
    found = [step for step in steps if step.tag == tag]
    for step in found:
        spans.end[step.rows] = step.end
        size[step.rows] += step.end - step.begin
    for step in reversed(found):
        spans.start[step.rows] = step.begin
    return spans if (spans.end - spans.start == size).all() else None


def members(length: Ints, groups: Ints) -> Ints:
    """Indices of all members of these groups, where groups of that length lie one after another."""
    begin = np.cumsum(length) - length
    repeats = length[groups]
    within = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    indices: Ints = np.repeat(begin[groups], repeats) + within
    return indices


@dataclass
class Distinct:
    """Many byte strings, equal ones kept once.

    Attributes:
        values: the different ones.
        places: of each string, where it is in ``values``; -1 where there is none.
    """

    values: list[bytes]
    places: Ints

    @classmethod
    def of(cls, strings: list[bytes | None]) -> Distinct:
        """From the strings themselves."""
        known: dict[bytes, int] = {}
        places = [-1 if one is None else known.setdefault(one, len(known)) for one in strings]
        return cls(list(known), np.array(places, np.int64))

    @classmethod
    def at(cls, content: bytes | mmap.mmap, spans: Spans) -> Distinct:
        """From where they lie."""
        pairs = zip(spans.start.tolist(), spans.end.tolist(), strict=True)
        return cls.of([content[start:end] if start >= 0 else None for start, end in pairs])
