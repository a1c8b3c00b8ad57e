"""Finds the metrics of many results at once, without decoding the results.

A result holds its metrics as one run of fields 13, hundreds of them. Walking that run in Python costs a step per
metric and result; here all results of a batch are walked in step, one NumPy operation for the n-th metric of each.
Results of any other shape are legal protobuf, if nobody writes them; the caller then decodes them one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ncuroof.ncurep.scalars import alike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ncuroof.ncurep.scalars import Buffer, Scalars

    Ints = NDArray[np.int64]

METRIC_TAG = 0x6A  # field 13, length-delimited
WORTHWHILE = 48  # results from which walking in step is faster than one by one
_BYTE, _SEVEN_BITS, _EIGHT = np.uint64(0xFF), np.uint64(0x7F), np.uint64(8)


@dataclass
class Spans:
    """Where metrics lie.

    Attributes:
        start, end: of each metric message in the buffer. Metrics of a result stand in their order; results stand in
            order where all metrics are wanted, else all results' first wanted metrics come first, and so on.
        owner: position of each metric's result in the batch.
        runs: where each step of that second order ends in ``start``, with its scalars, or None where they have yet to
            be decoded; empty in the first order.
        after: for each result, where its run of metrics ends.
    """

    start: Ints
    end: Ints
    owner: Ints
    runs: list[tuple[Scalars | None, int]]
    after: Ints


def find(buffer: Buffer, before: Ints, limit: Ints, wanted: NDArray[np.bool_] | None) -> Spans | None:
    """The metrics of results that are walked in step.

    Args:
        buffer: where they lie.
        before: for each result the offset of its first metric's tag.
        limit: for each result the offset after it.
        wanted: for each name id whether its metrics are needed; None for all. Its last element stands for all ids
            beyond the string table and for metrics whose id cannot be told, and is true.

    Returns:
        The spans; None where a result is of another shape, so that it has to be decoded field by field.
    """
    steps: list[tuple[Ints, Ints, Ints]] = []
    decoded: list[Scalars | None] = []
    words = buffer.words
    after = before.copy()
    alive = np.flatnonzero(before < limit)
    position, stop = before[alive], limit[alive]
    while len(alive):
        head = words[position]
        # Results mostly have the same metrics in the same order: one comparison then stands for all.
        same, end = _uniform(head, position)
        if same is None or (end > stop).any():
            going = ((head & _BYTE) == METRIC_TAG) & (position < stop)
            if not going.all():
                after[alive[~going]] = position[~going]
                alive, position, stop, head = alive[going], position[going], stop[going], head[going]
            sized = _sizes(words, head, position)
            if sized is None:
                return None
            start, end, head = sized
            if (end > stop).any():
                return None
            keep = slice(None) if wanted is None else wanted[np.minimum(_name_ids(head), len(wanted) - 1)]
            steps.append((alive[keep], start[keep], end[keep]))
            decoded.append(None)
        elif wanted is None or wanted[min(same, len(wanted) - 1)]:
            start = position + 2
            steps.append((alive, start, end))
            if wanted is not None:
                # At once, while their bytes are in the processor's cache.
                wide = 4 if same < 0x80 else 5
                decoded.append(alike(buffer, position + wide, end, same, head >> np.uint64(8 * wide)))
        position = end
    if wanted is None:
        return Spans(*_in_order(steps, len(before)), [], after)
    nothing = np.empty(0, np.int64)
    owner, start, end = (np.concatenate([nothing, *(step[part] for step in steps)]) for part in range(3))
    ends = np.cumsum([len(owners) for owners, _, _ in steps], dtype=np.int64)
    return Spans(start, end, owner, list(zip(decoded, ends.tolist(), strict=True)), after)


def _in_order(steps: list[tuple[Ints, Ints, Ints]], results: int) -> tuple[Ints, Ints, Ints]:
    """Start, end and owner of all spans, results in order, from one step per metric."""
    if all(len(owners) == results for owners, _, _ in steps):
        start = np.array([s for _, s, _ in steps], np.int64).reshape(-1, results).T.ravel()
        end = np.array([e for _, _, e in steps], np.int64).reshape(-1, results).T.ravel()
        return start, end, np.repeat(np.arange(results), len(steps))
    found = np.zeros(results, np.int64)
    for owners, _, _ in steps:
        found[owners] += 1
    total = int(found.sum())
    place = np.cumsum(found) - found
    starts, ends = np.empty(total, np.int64), np.empty(total, np.int64)
    for owners, start, end in steps:
        to = place[owners]
        starts[to], ends[to] = start, end
        place[owners] += 1
    return starts, ends, np.repeat(np.arange(results), found)


def _uniform(head: NDArray[np.uint64], position: Ints) -> tuple[int | None, Ints]:
    """Name id and ends of the next metric, where all results have the same and its size takes one byte; else None."""
    first = int(head[0])
    if first & 0xFF80FF != 0x080000 | METRIC_TAG:
        return None, position
    name_id, mask = (first >> 24) & 0xFF, 0xFFFF80FF
    if name_id & 0x80:
        name_id, mask = (name_id & 0x7F) | ((first >> 25) & 0x3F80), 0xFFFFFF80FF
        if (first >> 32) & 0x80:
            return None, position
    if not ((head & np.uint64(mask)) == np.uint64(first & mask)).all():
        return None, position
    return name_id, position + (((head >> _EIGHT) & _SEVEN_BITS).view(np.int64) + 2)


def _sizes(
    words: NDArray[np.uint64], head: NDArray[np.uint64], position: Ints
) -> tuple[Ints, Ints, NDArray[np.uint64]] | None:
    """Start and end of metrics, and words whose third byte is the first of the metric; None for absurd sizes."""
    size = ((head >> _EIGHT) & _BYTE).astype(np.int64)
    start = position + 2
    long = np.flatnonzero(size >= 0x80)
    if len(long):
        wide = _long_sizes(head[long])
        if wide is None:
            return None
        size[long], extra = wide
        start[long] += extra
        head = head.copy()
        head[long] = words[start[long]] << np.uint64(16)
    return start, start + size, head


def _long_sizes(head: NDArray[np.uint64]) -> tuple[Ints, Ints] | None:
    """Size and number of further bytes of sizes that need two to four bytes; None for longer ones."""
    u = np.uint64
    size = (head >> u(8)) & u(0x7F)
    more = np.zeros(len(head), np.int64)
    open_ = np.ones(len(head), bool)
    for step in (1, 2, 3):
        octet = (head >> u(8 + 8 * step)) & u(0xFF)
        size |= np.where(open_, (octet & u(0x7F)) << u(7 * step), 0).astype(np.uint64)
        more += open_
        open_ &= octet >= 0x80
    return None if open_.any() else (size.astype(np.int64), more)


def _name_ids(head: NDArray[np.uint64]) -> Ints:
    """Name ids from words whose third byte is the metric's first; -1 where that begins no name id of up to 3 bytes."""
    u = np.uint64
    first = (head >> u(24)) & u(0xFF)
    second = (head >> u(32)) & u(0xFF)
    third = (head >> u(40)) & u(0xFF)
    ids = first & u(0x7F)
    wide = first >= 0x80
    ids = np.where(wide, ids | ((second & u(0x7F)) << u(7)), ids)
    wide &= second >= 0x80
    ids = np.where(wide, ids | ((third & u(0x7F)) << u(14)), ids)
    plain = (((head >> u(16)) & u(0xFF)) == 0x08) & ~(wide & (third >= 0x80))
    return np.where(plain, ids.astype(np.int64), -1)
