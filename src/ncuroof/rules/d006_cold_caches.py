"""D006 cold-caches: the caches were flushed before every pass, so L2 residency cannot show.

What it does
    Says once per report that ncu flushed the caches before every replay pass.

Why it matters
    A kernel whose data sits in L2 in the real program is profiled cold: its DRAM bytes are the compulsory ones and its
    time is longer. Rule R001 then has nothing to see, which is not the same as nothing being there.

How it decides
    Cache control is all, by ncu's command line or by the default of its version, for kernels whose compulsory bytes or
    measured DRAM bytes would fit in L2: larger ones could not be resident anyway.

What to do
    Profile bytes and time in a single pass with --cache-control none (``ncuroof collect --cache both`` does both).

When it is wrong
    If your program really runs each kernel on cold data, the cold profile is the true one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.rules import Limit

CODE = "D006"
NAME = "cold-caches"
SEVERITY = "note"
NEEDS: tuple[str, ...] = ()
TIER = "roofline"
LIMITS: dict[str, Limit] = {}


def check(kernels: pl.DataFrame, _limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report that was profiled with cold caches and holds kernels that could be resident."""
    demand = pl.coalesce("compulsory_bytes", "dram_bytes")
    could = (demand <= pl.col("l2_size_bytes")).fill_null(value=True)
    return per_report(
        kernels,
        (pl.col("cache_control") == "all") & could,
        carry=(pl.col("cache_control_source").first(),),
        message=lambda r: (
            f"{r['which']}: caches flushed before every pass ({r['cache_control_source']}), so what stays in L2 in "
            "the real program was read from DRAM here"
        ),
        advice="To see L2 residency, collect with warm caches too (`ncuroof collect --cache both`).",
    )
