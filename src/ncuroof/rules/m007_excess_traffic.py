"""M007 excess-traffic: DRAM moves the same data several times.

What it does
    Finds memory-bound kernels that move far more bytes through DRAM than their data needs: what L2 evicts before it is
    used again comes back from DRAM.

Why it matters
    Under the slope of the roof the time is the bytes. Halving the excess halves that part of the time.

How it decides
    With Q the bytes measured at DRAM and Qc the compulsory bytes of the annotated shape: Q / Qc is at least 1.5 and the
    kernel's time is near Q / B. Without a shape only one case is certain: Q exceeds the GPU's whole memory, so data was
    read more than once; Qc is then at most that. Where arithmetic sets the time, excess traffic is harmless and nothing
    is reported: H200 moves 5.1 times the compulsory bytes in a prefill of 32,768 tokens, right of the ridge point.

What to do
    Block for L2 and shared memory, visit output tiles in an order that shares inputs (rasterization, swizzle), fuse
    what reads the same data; check that the working set of the active blocks fits in L2.

When it is wrong
    A wrong shape in the annotation looks like excess. Split-K writes and reads partial sums on purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "M007"
NAME = "excess-traffic"
SEVERITY = "warning"
NEEDS = ("dram_bytes", "duration_s", "roof_bytes_s", ("compulsory_bytes", "dram_size_bytes"))
TIER = "roofline"
LIMITS = {
    "over_compulsory": Limit(
        1.5, "x", "tiles at the edges and partial sums alone reach 1.2", "layers with known shapes: 1.0 to 1.2"
    ),
    "memory_pct": Limit(HIGH_PCT, "%", "below it the bytes do not set the time", "Nsight rule SOLBottleneck"),
}

ADVICE = (
    "Block for L2 and shared memory, visit output tiles in an order that shares inputs (rasterization, swizzle), and "
    "fuse kernels that read the same data."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Memory-bound kernels with avoidable DRAM bytes; see the module's documentation."""
    by_size = pl.col("compulsory_bytes").is_null()
    needed = pl.coalesce("compulsory_bytes", "dram_size_bytes")
    # What remains when the excess is gone: the compulsory bytes or the arithmetic, whichever takes longer.
    rest = pl.max_horizontal(needed / pl.col("roof_bytes_s"), "time_compute_s")
    least = pl.when(by_size).then(1.0).otherwise(limits["over_compulsory"])
    hit = (
        kernels.with_columns(_needed=needed, _ratio=pl.col("dram_bytes") / needed, _by_size=by_size, _rest=rest)
        .filter(
            pl.col("_matters")
            & (pl.col("_ratio") >= least)
            & (pl.col("memory_roof_pct") >= limits["memory_pct"])
            & (pl.col("_rest") < pl.col("time_memory_s"))
        )
        .with_columns(_stake=pl.col("duration_s") * (1 - pl.col("_rest") / pl.col("time_memory_s")))
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence=lambda k: "medium" if k["_by_size"] else "high",
        evidence=[
            Evidence("dram_bytes", "byte", "_needed"),
            Evidence("_ratio", "x", limits["over_compulsory"], "DRAM bytes / needed bytes"),
            Evidence("l2_hit_pct", "%"),
            Evidence("memory_roof_pct", "%", limits["memory_pct"], "Q / B / T"),
        ],
    )


def _message(k: Row) -> str:
    hits = f"; L2 hits {percent(k['l2_hit_pct'])}" if k["l2_hit_pct"] is not None else ""
    if k["_by_size"]:
        needed = f"more than the {si(k['_needed'], 'byte')} this GPU holds, so it reads data more than once"
    else:
        needed = f"{digits(k['_ratio'])} x the {si(k['_needed'], 'byte')} that its shape demands"
    return f"moves {si(k['dram_bytes'], 'byte')} through DRAM, {needed}{hits}"
