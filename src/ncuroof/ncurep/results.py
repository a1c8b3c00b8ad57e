"""Decodes a batch of results: in step where they have the usual shape, else one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf.message import DecodeError

from ncuroof.ncurep import fields, spans, stored
from ncuroof.ncurep.container import Entry, damaged
from ncuroof.ncurep.messages import message
from ncuroof.ncurep.scalars import ABSENT, PAD, Buffer, Scalars, decode, decode_runs, joined
from ncuroof.ncurep.stored import Stored

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Ints = NDArray[np.int64]


@dataclass
class Batch:
    """Decoded results.

    Attributes:
        kinds: result kind of each.
        stored: what they hold beside the metrics.
        scalars: scalars of all of them, in the order of :class:`ncuroof.ncurep.spans.Spans`.
        owner: for each scalar the position of its result.
        refused: entries of other kinds than kernel whose layout is not that of a kernel.
        buffer, start, end: where the whole metric of each scalar lies.
    """

    kinds: list[str]
    stored: Stored
    scalars: Scalars
    owner: Ints
    refused: list[Entry]
    buffer: Buffer
    start: Ints
    end: Ints

    def messages(self, name_ids: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        """The undecoded metrics of these names: position of the result, name id and message, in file order."""
        for place in np.flatnonzero(np.isin(self.scalars.name_id, name_ids)).tolist():
            raw = self.buffer.content[int(self.start[place]) : int(self.end[place])]
            yield int(self.owner[place]), int(self.scalars.name_id[place]), raw


def read_batch(
    data: bytes | mmap.mmap, name: str, entries: Sequence[Entry], names: Sequence[str], wanted: Flags | None
) -> Batch:
    """Decode results.

    Args:
        data: the whole report.
        name: how to call it in errors.
        entries: the results to decode, at least one.
        names: the string table.
        wanted: for each name id whether its values are needed, and one more element, true; None for all.

    Raises:
        DamagedError: for a result or a metric that cannot be decoded, and for a name that is not in the table.
    """
    batch = None
    if len(entries) >= spans.WORTHWHILE and all(e.kind == "kernel" for e in entries):
        batch = _in_step(data, entries, wanted)
    if batch is None:
        batch = _one_by_one(data, name, entries, names, wanted)
    highest = int(batch.scalars.name_id.max(initial=-1))
    if highest >= len(names):
        found = f"a result from here on has a metric named by string {highest} of {len(names)}"
        raise damaged(name, entries[0].offset, found)
    return batch


def _in_step(data: bytes | mmap.mmap, entries: Sequence[Entry], wanted: Flags | None) -> Batch | None:
    """Decode kernel results together; None where one of them is of another shape, or damaged."""
    _, offsets, sizes = zip(*entries, strict=True)
    begin, size = np.array(offsets, np.int64), np.array(sizes, np.int64)
    content = data
    if begin[-1] + size[-1] + len(PAD) > len(data):  # at the end of the file, where nothing lies behind the last result
        view = memoryview(data)
        content = b"".join([*(view[e.offset : e.offset + e.size] for e in entries), PAD])
        begin = np.cumsum(size) - size
    limit = begin + size
    buffer = Buffer(content)
    head = fields.walk(buffer.words, begin, limit, below=spans.METRIC_TAG)
    found = head and spans.find(buffer, head[1], limit, wanted)
    rest = found and fields.walk(buffer.words, found.after, limit)
    # A metric behind other fields does not stand in the run of metrics.
    if not head or not found or not rest or any(step.tag == spans.METRIC_TAG for step in rest[0]):
        return None
    try:
        scalars = decode_runs(buffer, found.start, found.end, found.runs, wanted)
    except DecodeError:
        return None
    beside = stored.from_steps(buffer, head[0] + rest[0], begin, head[1])
    if beside is None:
        return None
    kinds = ["kernel"] * len(entries)
    places = (found.owner, found.start, found.end)
    if len(scalars.row) < len(found.start):
        places = (found.owner[scalars.row], found.start[scalars.row], found.end[scalars.row])
    owner, begins, ends = places
    return Batch(kinds, beside, scalars, owner, [], buffer, begins, ends)


def _one_by_one(
    data: bytes | mmap.mmap, name: str, entries: Sequence[Entry], names: Sequence[str], wanted: Flags | None
) -> Batch:
    kinds: list[str] = []
    results: list[Any] = []
    refused: list[Entry] = []
    metrics: list[bytes] = []
    counts: list[int] = []
    for entry in entries:
        try:
            result = message("Result").FromString(data[entry.offset : entry.offset + entry.size])
        except DecodeError:
            if entry.kind != "kernel":
                refused.append(entry)
                continue
            raise damaged(name, entry.offset, "a result that cannot be decoded") from None
        if entry.kind != "kernel" and not _like_a_kernel(result.metrics, names):
            refused.append(entry)
            continue
        before = len(metrics)
        metrics.extend(result.metrics)
        counts.append(len(metrics) - before)
        kinds.append(entry.kind)
        results.append(result)
    buffer, start, end = joined(metrics)
    try:
        scalars = decode(buffer, start, end, wanted)
    except DecodeError:
        found = "a result from here on has a metric that cannot be decoded"
        raise damaged(name, entries[0].offset, found) from None
    owner = np.repeat(np.arange(len(results)), counts)
    row = scalars.row
    return Batch(kinds, stored.from_messages(results), scalars, owner[row], refused, buffer, start[row], end[row])


def _like_a_kernel(metrics: Sequence[bytes], names: Sequence[str]) -> bool:
    """Whether another kind of result has the layout of a kernel's: most of its metrics have a metric's name."""
    try:
        found = decode(*joined(list(metrics)))
    except DecodeError:
        return False
    ids = found.name_id.tolist()
    if not ids or max(ids) >= len(names):
        return False
    return sum("__" in names[i] for i in ids) * 2 > len(ids) and bool((found.kind != ABSENT).any())
