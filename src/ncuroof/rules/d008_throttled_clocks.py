"""D008 throttled-clocks: the clocks were not what they should have been.

What it does
    Finds reports in which the SM clock stayed well below its maximum although it was free to rise, in which launches of
    one kernel ran at different clocks, or in which the memory clock was below its nominal value.

Why it matters
    Times at different clocks must not be compared, and a GPU that throttles is slower than it will be elsewhere.

How it decides
    Only kernels of at least 20 µs count, below that the clocks are not measured well. (a) Clock control none or boost
    and the median SM clock below 90 % of the maximum; (b) launches of one kernel with clocks more than 10 % apart;
    (c) the memory clock of a kernel below 90 % of nominal and low beside the SM clock too: a power state of the memory.
    Beside the SM clock means by more than 10 % against the longest launch on that device, or lower than at the maximum
    SM clock. Where both clocks are low alike it is the time that is in doubt: such kernels are left to D009. Clocks
    locked to base are D004's. The time in doubt is what the same cycles would have saved at full clock, of the kernels
    that this clock limits: the SM's those that compute or L1 limits, the memory's those that DRAM limits.

What to do
    Warm the GPU up, watch temperature and power limit (nvidia-smi -q -d PERFORMANCE), lock the clocks (nvidia-smi -lgc,
    or --clock-control base) when comparing.

When it is wrong
    Laptop parts and power-capped servers never reach the maximum: that is their normal state. A memory clock that was
    low throughout, under an SM clock locked to base, looks like a time base in doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import percent
from ncuroof.rules import Limit, _clocks
from ncuroof.rules._findings import Row
from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "D008"
NAME = "throttled-clocks"
SEVERITY = "info"
NEEDS = (("clock_ratio", "memory_clock_ratio"), "duration_s")
TIER = "roofline"
LIMITS = {
    "min_duration": Limit(
        _clocks.LONG_S, "s", "above it the clock ratios lie within 0.92 and 1.05", "1,634 public kernels"
    ),
    "sm": Limit(0.90, "1", "boost clocks wander by a few percent on their own", "H200 at boost: 0.90"),
    "spread": Limit(1.10, "x", "between launches of one kernel", "as for a lost boost step"),
    "memory": Limit(
        _clocks.LOW, "1", "one report in ten measures 0.92 and less of nominal by scatter", "1,634 public kernels"
    ),
    "beside_sm": Limit(
        _clocks.RATIO,
        "1",
        "the clock ratio of memory and SM; a time base scales both",
        "RTX 4090: memory 0.73 to 0.98 of nominal, their ratio within 0.6 %",
    ),
}

ADVICE = (
    "Warm the GPU up and check its temperature and power limit (nvidia-smi -q -d PERFORMANCE); lock the clocks when "
    "results are to be compared."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One finding per report whose clocks were off; see the module's documentation."""
    slow = _clocks.memory_slow(limits["memory"], limits["beside_sm"])
    doubted = ((pl.col("memory_clock_ratio") - 1).abs() > 1 - limits["memory"]).fill_null(value=False)
    frame = kernels.with_columns(_slow=slow).filter(
        (pl.col("duration_s") >= limits["min_duration"]) & (pl.col("_slow") | ~doubted)
    )
    report = "source_sha256"
    free = pl.col("clock_control").is_in(["none", "boost", "force-boost"]).fill_null(value=False)
    sm = pl.col("clock_ratio").median().over(report)
    same = [report, "kernel_name", "device_index"]
    spread = (pl.col("sm_hz").max() / pl.col("sm_hz").min()).over(same)
    frame = frame.with_columns(
        _sm=pl.when(free & (sm < limits["sm"])).then(sm),
        _spread=pl.when(spread > limits["spread"]).then(spread),
        _memory=pl.when("_slow").then("memory_clock_ratio"),
    )
    by_sm = (pl.col("verdict") == verdicts.COMPUTE) | (pl.col("limiter") == "l1")
    binds = pl.when(by_sm).then("_sm").when(pl.col("limiter") == "dram").then("_memory")
    lost = (pl.col("duration_s") * (1 - binds.clip(upper_bound=1.0))).drop_nulls()
    stake = pl.when(lost.len() > 0).then(lost.sum())
    return per_report(
        frame,
        pl.any_horizontal(pl.col(c).is_not_null() for c in ("_sm", "_spread", "_memory")),
        carry=(pl.col("_sm").first(), pl.col("_spread").max(), pl.col("_memory").min(), stake.alias("stake")),
        message=_message,
        advice=ADVICE,
        confidence="medium",
    )


def _message(r: Row) -> str:
    parts = []
    if r["_sm"] is not None:
        parts.append(f"the SM clock was free and ran at {percent(100 * r['_sm'])} of its maximum")
    if r["_spread"] is not None:
        parts.append(f"launches of one kernel ran at SM clocks up to {percent(100 * r['_spread'] - 100)} apart")
    if r["_memory"] is not None:
        parts.append(f"the memory clock ran at down to {percent(100 * r['_memory'])} of nominal")
    return f"{r['which']}: {'; '.join(parts)}"
