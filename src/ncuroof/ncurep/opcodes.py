"""Finds the values per opcode that a report holds: how often each instruction was executed, by its full mnemonic.

They are instances of two metrics, keyed by text (``HMMA.16816.F32.BF16``), and stand in every report with source
counters since 2020, whether or not it has FLOP counters. Their metrics are looked up by the bytes they begin with, so
that nothing else of a result is decoded for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from google.protobuf.message import DecodeError

from ncuroof.ncurep.messages import message

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable, Sequence

    from ncuroof.ncurep.container import Entry

METRICS = (
    "sass__inst_executed_per_opcode_with_modifier_all",
    "sass__thread_inst_executed_true_per_opcode_with_modifier_all",
)
"""Warp instructions, and thread instructions that were not predicated off."""

SCHEMA = {
    "source_sha256": pl.String,
    "result_index": pl.UInt32,
    "metric": pl.String,
    "instance": pl.String,
    "value": pl.Float64,
}
METRIC_TAG = 0x6A  # field 13 of a result, length-delimited
LONGEST_LENGTH = 5  # bytes of a length below 2^35


def wanted(names: Sequence[str], want: frozenset[str] | None) -> dict[str, list[int]]:
    """The ids under which the string table holds the metrics, of those that are asked for."""
    ids: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        if name in METRICS and (want is None or name in want):
            ids.setdefault(name, []).append(number)
    return ids


def rows(
    data: bytes | mmap.mmap, entries: Iterable[Entry], ids: dict[str, list[int]], sha256: str, first: int
) -> pl.DataFrame:
    """The instances of the metrics ``ids`` in results.

    Args:
        data: the whole report.
        entries: the results, in order.
        ids: as :func:`wanted` gives them.
        sha256: of the report.
        first: index of the first result.

    Returns:
        Columns of :data:`SCHEMA`.
    """
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA if name != "source_sha256"}
    for index, entry in enumerate(entries, first):
        content = data[entry.offset : entry.offset + entry.size]  # searching a memory map itself is slow
        for name, numbers in ids.items():
            for opcode, value in _instances(content, numbers):
                columns["result_index"].append(index)
                columns["metric"].append(name)
                columns["instance"].append(opcode)
                columns["value"].append(value)
    frame = pl.DataFrame(columns, schema={k: v for k, v in SCHEMA.items() if k != "source_sha256"})
    return frame.select(pl.lit(sha256).alias("source_sha256"), pl.all())


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def _instances(content: bytes, numbers: Iterable[int]) -> list[tuple[str, float]]:
    """The instances of one metric of one result, of its last occurrence; empty where it has none."""
    found: list[tuple[str, float]] = []
    for number in numbers:
        head = b"\x08" + _varint(number) + b"\x12"
        at = content.find(head)
        while at >= 0:
            parts = _metric_at(content, at)
            if parts is not None and parts.name_id == number:
                found = _values(parts)
            at = content.find(head, at + 1)
    return found


def _metric_at(content: bytes, at: int) -> Any | None:  # noqa: ANN401
    """The metric message at an offset, if one begins there: its tag and length stand right before it."""
    for width in range(1, LONGEST_LENGTH + 1):
        start = at - width - 1
        if start < 0:
            return None
        raw = content[start + 1 : at]
        if content[start] != METRIC_TAG or raw[-1] & 0x80 or not all(b & 0x80 for b in raw[:-1]):
            continue
        length = sum((b & 0x7F) << (7 * i) for i, b in enumerate(raw))
        if at + length > len(content):
            continue
        try:
            return message("MetricParts").FromString(content[at : at + length])
        except DecodeError:
            continue
    return None


def _values(parts: Any) -> list[tuple[str, float]]:  # noqa: ANN401
    found = []
    for instance in parts.instances:
        value = instance.value
        kind = next((k for k in ("float64", "uint64", "uint32", "float32") if value.HasField(k)), None)
        if kind and instance.id.HasField("text"):
            found.append((instance.id.text.decode("utf-8", "replace"), float(getattr(value, kind))))
    return found
