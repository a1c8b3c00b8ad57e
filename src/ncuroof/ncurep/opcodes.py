"""Finds the values per opcode that a report holds: how often each instruction was executed, by its full mnemonic.

They are instances of two metrics, keyed by text (``HMMA.16816.F32.BF16``), and stand in every report with source
counters since 2020, whether or not it has FLOP counters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.ncurep.messages import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncuroof.ncurep.results import Batch

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


def wanted(names: Sequence[str], want: frozenset[str] | None) -> dict[str, list[int]]:
    """The ids under which the string table holds the metrics, of those that are asked for."""
    ids: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        if name in METRICS and (want is None or name in want):
            ids.setdefault(name, []).append(number)
    return ids


def rows(batch: Batch, ids: dict[str, list[int]], sha256: str, first: int) -> pl.DataFrame:
    """The instances of the metrics ``ids`` in a batch of results.

    Args:
        batch: the results.
        ids: as :func:`wanted` gives them.
        sha256: of the report.
        first: index of the first result.

    Returns:
        Columns of :data:`SCHEMA`; of a metric that a result has twice, the last one.

    Raises:
        google.protobuf.message.DecodeError: for instances that cannot be decoded.
    """
    names = {number: name for name, numbers in ids.items() for number in numbers}
    last = {(place, names[number]): raw for place, number, raw in batch.messages(list(names))}
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA if name != "source_sha256"}
    read = message("MetricParts").FromString
    for (place, name), raw in last.items():
        for opcode, value in _values(read(raw)):
            columns["result_index"].append(first + place)
            columns["metric"].append(name)
            columns["instance"].append(opcode)
            columns["value"].append(value)
    frame = pl.DataFrame(columns, schema={k: v for k, v in SCHEMA.items() if k != "source_sha256"})
    return frame.select(pl.lit(sha256).alias("source_sha256"), pl.all())


def _values(parts: Any) -> list[tuple[str, float]]:  # noqa: ANN401
    found = []
    for instance in parts.instances:
        value = instance.value
        kind = next((k for k in ("float64", "uint64", "uint32", "float32") if value.HasField(k)), None)
        if kind and instance.id.HasField("text"):
            found.append((instance.id.text.decode("utf-8", "replace"), float(getattr(value, kind))))
    return found
