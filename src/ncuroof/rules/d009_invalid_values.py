"""D009 invalid-values: counters that contradict themselves.

What it does
    Counts the kernels with values that cannot be: hit rates above 100 %, an SM clock above the maximum, percentages of
    peak far above 100, a memory clock that is off although the kernel is long enough to measure it, unless D008 finds
    that the memory did run at that clock.

Why it matters
    Counters of one kernel come from different replay passes. Where they do not fit together every rate made of them is
    off by as much.

How it decides
    L2 hit rate above 100 %; SM clock above 1.02 of the maximum; a percentage of peak above 105; memory clock outside
    0.9 to 1.1 of nominal for kernels of 5 µs and more, which puts the time base in doubt. Above 20 µs a low memory
    clock whose ratio to the SM clock dropped as well is believed (D008).

What to do
    Measure a longer kernel (a larger problem, several iterations in one launch), or collect fewer counters so that one
    pass holds them all. Rates of these kernels are good to 30 % at best.

When it is wrong
    A memory clock that was lowered for the whole report, on purpose or to save power, looks like a wrong time base.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.rules import Limit, _clocks
from ncuroof.rules._findings import Row
from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "D009"
NAME = "invalid-values"
SEVERITY = "note"
NEEDS = ("duration_s",)
TIER = "none"
LIMITS = {
    "hit_pct": Limit(100.0, "%", "no cache hits more often than it is asked", "definition"),
    "clock": Limit(1.02, "1", "of the maximum clock, with rounding", "1 % of public kernels lie above"),
    "percent": Limit(105.0, "%", "of peak, with the skew between passes", "definition"),
    "memory_clock": Limit(0.10, "1", "distance from nominal", "12 % of public kernels, nearly all below 5 µs"),
    "short": Limit(5e-6, "s", "below it a wrong time base is the rule", "time-base scatter over 1,634 public kernels"),
    "long": Limit(
        _clocks.LONG_S,
        "s",
        "above it a memory clock that is low beside the SM's is believed (D008)",
        "as for short",
    ),
}

PERCENTAGES = ("sm_pct", "memory_pct", "l2_pct", "l1_pct", "dram_pct", "occupancy_achieved_pct", "fp64_pct", "fma_pct")


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report with impossible values; see the module's documentation."""
    timed = (pl.col("duration_s") >= limits["short"]) & ~(
        (pl.col("duration_s") >= limits["long"]) & _clocks.memory_slow()
    )
    faults = {
        "_hit": pl.col("l2_hit_raw_pct") > limits["hit_pct"],
        "_clock": pl.col("clock_ratio") > limits["clock"],
        "_percent": pl.max_horizontal(PERCENTAGES) > limits["percent"],
        "_base": timed & ((pl.col("memory_clock_ratio") - 1).abs() > limits["memory_clock"]),
    }
    frame = kernels.with_columns(**{name: fault.fill_null(value=False) for name, fault in faults.items()})
    return per_report(
        frame,
        pl.any_horizontal(*faults),
        carry=tuple(pl.col(name).sum() for name in faults),
        message=_message,
        advice="Measure a longer kernel, or fewer counters at once; take rates of these kernels as good to 30 %.",
    )


def _message(r: Row) -> str:
    texts = {
        "_hit": "an L2 hit rate above 100 %",
        "_clock": "an SM clock above the maximum",
        "_percent": "a percentage of peak above 105",
        "_base": "a time base in doubt (memory clock away from nominal)",
    }
    parts = [f"{text} ({r[name]})" for name, text in texts.items() if r[name]]
    return f"{r['which']}: {', '.join(parts)}"
