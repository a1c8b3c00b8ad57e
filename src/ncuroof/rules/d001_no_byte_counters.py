"""D001 no-byte-counters: the report does not tell how many bytes went through DRAM.

What it does
    Counts the kernels for which no DRAM byte count can be had, neither from a counter nor derived, on a GPU that has
    such counters.

Why it matters
    Without Q there is no arithmetic intensity and no bandwidth roof: the kernel cannot be placed.

How it decides
    ``dram_bytes`` is null and the chip has DRAM counters (where it has none, D003 says so). A launch with an annotated
    shape is still placed, by the bytes its shape demands.

What to do
    Profile with the roofline tier of ``ncuroof collect``, or add dram__bytes_read.sum and dram__bytes_write.sum
    (dram__bytes_op_read.sum and dram__bytes_op_write.sum on compute capability 12.0) to ncu's --metrics.

When it is wrong
    Never for what the report holds; the bytes may be known to you by other means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.rules import Limit

CODE = "D001"
NAME = "no-byte-counters"
SEVERITY = "note"
NEEDS: tuple[str, ...] = ()
TIER = "roofline"
LIMITS: dict[str, Limit] = {}


def check(kernels: pl.DataFrame, _limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report that holds kernels without DRAM bytes."""
    missing = pl.col("dram_bytes").is_null() & ~pl.col("dram_counters_absent").fill_null(value=False)
    return per_report(
        kernels,
        missing,
        carry=(pl.col("traffic_bytes").is_not_null().all().alias("by_formula"),),
        message=lambda r: (
            f"{r['which']}: no DRAM byte counters; placed by the bytes that the annotated shape demands"
            if r["by_formula"]
            else f"{r['which']}: no DRAM byte counters, so no arithmetic intensity and no bandwidth roof"
        ),
        advice="Collect the roofline tier (`ncuroof collect`), or add dram__bytes_read.sum and dram__bytes_write.sum.",
    )
