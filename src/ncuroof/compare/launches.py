"""Repeated launches as one row: what is matched and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import tables

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = ("name",)
SHAPE = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")
ANNOTATION = ("op", "op_dtype", "op_shape", "op_label")
CIRCUMSTANCES = ("gpu_name", "sm_count", "clock_control", "cache_control", "replay_mode", "ncu_release")
"""Known from the report alone, and the same for all launches of one group; the measured ones are compared later."""

IDENTITY = (*NAME, *SHAPE, *ANNOTATION)

_KNOWN = {c.name: c.dtype for c in (*tables.LAUNCHES, *tables.WORKLOAD, *tables.PLACEMENT)}
_SOURCES = ("duration_s_source", "traffic_bytes_source", "flop_source")
_MEDIANS = ("roof_pct", "memory_roof_pct", "traffic_bytes", "flop", "sm_hz", "dram_hz", "passes")
_OF_THE_MIDDLE = ("kernel_name", "verdict", "path")
_NEEDED = (
    "row",
    "duration_s",
    "kernel_name",
    "kernel_demangled",
    "result_kind",
    "gpu_name",
    "sm_count",
    "clock_control",
    "cache_control",
    "replay_mode",
    "ncu_version",
    *SHAPE,
    *ANNOTATION,
    *_SOURCES,
    *_MEDIANS,
    *_OF_THE_MIDDLE,
)


def distinct(kernels: pl.DataFrame) -> pl.DataFrame:
    """One row per distinct launch of a placed kernels table, in order of first appearance.

    Two launches are the same work done again where name, grid, block and annotation agree and they were measured on
    the same GPU in the same way. Columns: :data:`IDENTITY`, :data:`CIRCUMSTANCES`, ``group`` (0, 1, …), ``rows`` (all
    of them), ``durations`` (s, those that are known, in order), ``launches``, ``timed`` (their numbers), ``median_s``,
    ``total_s``, ``spread`` (robust standard deviation of ln duration; null below two), ``counters`` (how time, bytes
    and work were obtained, as text), the medians of roof percentages, bytes, work, clocks and passes, and ``verdict``
    and ``path`` of the launch of median duration.
    """
    frame = _selected(kernels, dict.fromkeys(_NEEDED)).with_columns(
        name=pl.coalesce(
            "kernel_demangled", "kernel_name", pl.format("unnamed {}", pl.col("result_kind").fill_null("kernel"))
        ),
        ncu_release=pl.col("ncu_version").str.extract(r"^(\d+\.\d+)"),
        sm_count=pl.col("sm_count").cast(pl.Int64),
        duration_s=pl.when(pl.col("duration_s") > 0).then(pl.col("duration_s")),
        counters=pl.concat_str([pl.col(s).fill_null("none") for s in _SOURCES], separator=", "),
    )
    time = pl.col("duration_s")
    log = time.log()
    middle = time.arg_sort(nulls_last=True).get((time.count().clip(1) - 1) // 2)
    return (
        frame.group_by((*IDENTITY, *CIRCUMSTANCES), maintain_order=True)
        .agg(
            pl.col("row").alias("rows"),
            time.drop_nulls().alias("durations"),
            pl.len().cast(pl.Int64).alias("launches"),
            time.count().cast(pl.Int64).alias("timed"),
            time.median().alias("median_s"),
            pl.when(time.count() > 0).then(time.sum()).alias("total_s"),
            # 1.4826 makes the median absolute deviation of a normal distribution its standard deviation.
            pl.when(time.count() > 1).then(1.4826 * (log - log.median()).abs().median()).alias("spread"),
            # Ties go to the first in alphabetical order, so that the result does not depend on the order of launches.
            pl.col("counters").mode().sort().first(),
            *(pl.col(c).median() for c in _MEDIANS),
            *(pl.col(c).get(middle) for c in _OF_THE_MIDDLE),
        )
        .with_row_index("group")
    )


def _selected(kernels: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """These columns; those that the table lacks become null."""
    other: dict[str, pl.DataType] = {s: pl.String() for s in _SOURCES}
    return kernels.select(
        pl.col(n) if n in kernels.columns else pl.lit(None, dtype=_KNOWN.get(n, other.get(n, pl.Float64()))).alias(n)
        for n in names
    )
