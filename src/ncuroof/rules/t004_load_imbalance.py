"""T004 load-imbalance: some SMs, L2 slices or memory channels work much longer than the others.

What it does
    Finds kernels in which the busiest instance of a unit is active much longer than the average one.

Why it matters
    The kernel ends when the busiest one does; the others wait.

How it decides
    Idle share = (largest - mean) of the active cycles over the cycles of the kernel, for SMs, L2 slices and memory
    channels; the largest of the three counts. What a partly filled last wave (T003) or a grid smaller than the GPU
    (T002) explains is taken off, so that one cause gives one finding. L2 slices and memory channels count only where
    the busiest of them limits: it is active for most of the kernel, and its throughput, the unit's times largest over
    mean, is at least 60 % of peak. A slice that has a request open all the time and moves little keeps nobody waiting.
    Where the busiest SM was not counted, T007 names SMs that idle for more than half of the time.

What to do
    SMs: make blocks equal in work, sort long ones first, or let blocks fetch work (a queue, stream-K). L2 slices and
    channels: avoid strides that are large powers of two, pad the leading dimension.

When it is wrong
    Active cycles say that an instance had something to do, not that it was efficient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T004"
NAME = "load-imbalance"
SEVERITY = "warning"
NEEDS = ("duration_s", "sm_cycles_active_avg", "sm_cycles_active_max", "sm_cycles")
TIER = "rules"
LIMITS = {
    "idle": Limit(
        0.15,
        "1",
        "three times Nsight's 5 %, which uneven ends of blocks alone reach",
        "Nsight rule WorkloadImbalance",
    ),
    "busy": Limit(0.6, "1", "a slice or channel that idles most of the time limits nothing", "Nsight's 60 % of peak"),
    "peak_pct": Limit(HIGH_PCT, "%", "of peak in the busiest slice or channel; below it none limits", "SOLBottleneck"),
}

UNITS = {"sm": ("SM", "sm_cycles"), "l2_slice": ("L2 slice", "lts_cycles"), "dram": ("memory channel", "dram_cycles")}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels whose busiest instance of a unit keeps the others waiting; see the module's documentation."""
    throughput = {
        "l2_slice": pl.coalesce("l2_pct", "l2_roof_pct"),
        "dram": pl.max_horizontal("memory_roof_pct", "dram_pct"),
    }
    shares = {}
    for unit, (_, cycles) in UNITS.items():
        largest, mean = pl.col(f"{unit}_cycles_active_max"), pl.col(f"{unit}_cycles_active_avg")
        limiting: pl.Expr = pl.lit(value=True)
        if unit in throughput:
            of_busiest = throughput[unit] * largest / pl.when(mean > 0).then(mean)
            limiting = (largest / pl.col(cycles) >= limits["busy"]) & (of_busiest >= limits["peak_pct"])
        shares[f"_idle_{unit}"] = pl.when(limiting).then((largest - mean) / pl.col(cycles))
    explained = pl.when(pl.col("grid_blocks") < pl.col("_sms")).then(1.0).otherwise(pl.col("_tail_loss").fill_null(0.0))
    frame = kernels.filter("_matters").with_columns(**shares)
    frame = frame.with_columns(_idle_sm=pl.col("_idle_sm") - explained)
    frame = frame.with_columns(_idle=pl.max_horizontal(*shares))
    hit = frame.filter(pl.col("_idle") >= limits["idle"]).with_columns(
        _stake=pl.col("duration_s") * pl.col("_idle"),
        _unit=pl.coalesce(pl.when(pl.col(f"_idle_{u}") == pl.col("_idle")).then(pl.lit(u)) for u in UNITS),
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence="high",
        evidence=[
            Evidence(
                "_idle", "1", limits["idle"], "(max - mean) of active cycles / cycles, without tail and small grid"
            ),
            Evidence("sm_cycles_active_max", "cycle", "sm_cycles", "counter; limit: cycles of the kernel"),
            Evidence("sm_cycles_active_avg", "cycle", "sm_cycles_active_max", "counter; limit: the busiest SM"),
        ],
    )


def _message(k: Row) -> str:
    name = UNITS[k["_unit"]][0]
    return (
        f"the busiest {name} is active for {k[k['_unit'] + '_cycles_active_max']:.0f} cycles, the average one for "
        f"{k[k['_unit'] + '_cycles_active_avg']:.0f}: {percent(100 * k['_idle'])} of the time is waiting for it"
    )


def _advice(k: Row) -> str:
    if k["_unit"] == "sm":
        return "Give blocks equal work, start the long ones first, or let blocks fetch work from a queue (stream-K)."
    return "Spread addresses: avoid strides of large powers of two, pad the leading dimension of the array."
