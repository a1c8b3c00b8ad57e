"""Whether the memory ran slowly, or the time was measured wrongly: what D008 claims, and D009 notes.

A clock is cycles over time. A wrong time base (passes of different length) scales the clocks of SM and memory alike,
and so leaves their ratio as it is; a power state of the memory lowers the memory clock alone.
"""

from __future__ import annotations

import polars as pl

LOW = 0.90
"""Memory clocks below this share of nominal are more than scatter: one report in ten measures 0.92 and less."""

RATIO = 0.90
"""The memory clock over the SM clock must drop by as much as the memory clock itself."""

LONG_S = 20e-6
"""Above it a clock can be believed if its ratio to the other agrees; below it neither is measured well."""


def memory_slow(low: float = LOW, ratio: float = RATIO) -> pl.Expr:
    """The memory clock is low, and low beside the SM clock too.

    It is held against the longest launch of the report on that device, which has the best time base, and against the
    lowest ratio that a memory at its nominal clock can have: that to the SM's maximum clock.
    """
    beside = pl.col("dram_hz") / pl.when(pl.col("sm_hz") > 0).then(pl.col("sm_hz"))
    length = pl.when(beside.is_not_null()).then(pl.col("duration_s"))
    longest = beside.sort_by(length, nulls_last=False).last().over("source_sha256", "device_index")
    lowest = pl.col("memory_clock_hz") / pl.when(pl.col("clock_max_hz") > 0).then(pl.col("clock_max_hz"))
    dropped = beside < ratio * pl.max_horizontal(longest, lowest)
    return ((pl.col("memory_clock_ratio") < low) & dropped).fill_null(value=False)
