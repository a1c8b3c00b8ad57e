"""M008 l1-bound: the memory side is busy in L1 and shared memory, not in DRAM.

What it does
    Finds memory-bound kernels whose limit is the throughput of L1 and shared memory while L2 and DRAM have room.

Why it matters
    "Memory-bound" makes one save DRAM bytes. Here none of them is missing. Either the same data is fetched from L1 or
    shared memory too often, a few bytes at a time: a matrix product without register tiles is the usual case. Or each
    access takes many passes, since the threads of a warp touch many lines or one bank.

How it decides
    Memory throughput is at least 60 % of peak, L1 is what makes it so, and both L2 and DRAM are below 40 %. Where the
    SM's own throughput, its pipes and issue slots, is below 40 % too, few instructions keep L1 busy: then it is the
    pattern of the accesses and not their number. How much of the traffic tiling would save cannot be seen from
    counters, so no time is at stake; bank conflicts (M003) and uncoalesced accesses (M001), which can be counted, are
    found on their own and come first.

What to do
    Number: keep more results per thread (register tiles), so that each value fetched is used several times; fetch 16
    bytes at a time (float4); use shared memory for what several threads read, and tensor cores for products, which read
    whole tiles. Pattern: let the threads of a warp access neighbouring addresses, without bank conflicts.

When it is wrong
    A kernel that does nothing but shuffle data in shared memory is supposed to be here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "M008"
NAME = "l1-bound"
SEVERITY = "info"
NEEDS = ("duration_s", "memory_pct", "l1_pct", "l2_pct", ("memory_roof_pct", "dram_pct"))
TIER = "roofline"
LIMITS = {
    "busy_pct": Limit(verdicts.HIGH_PCT, "%", "below it memory is not the limit", "Nsight rule SOLBottleneck"),
    "idle_pct": Limit(40.0, "%", "L2, DRAM and SM with this much room do not limit", "20 points from busy"),
    "margin_pct": Limit(10.0, "%", "memory throughput is that of its busiest unit", "Nsight's margin of 10 points"),
}

REUSE = (
    "Use each value fetched several times: more results per thread (register tiles), 16-byte accesses (float4), tensor "
    "cores for matrix products. Saving DRAM bytes would not help."
)
PATTERN = (
    "Let the threads of a warp access neighbouring addresses, and different banks of shared memory: sectors a request "
    "and bank conflicts (the rules tier) tell which accesses. Saving DRAM bytes would not help."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels limited by L1; see the module's documentation."""
    dram = pl.coalesce("memory_roof_pct", "dram_pct")
    hit = kernels.with_columns(
        _dram_pct=dram, _pattern=(pl.col("sm_pct") < limits["idle_pct"]).fill_null(value=False)
    ).filter(
        pl.col("_matters")
        & (pl.col("verdict") == verdicts.MEMORY)
        & (pl.col("memory_pct") >= limits["busy_pct"])
        & (pl.col("l1_pct") >= pl.col("memory_pct") - limits["margin_pct"])
        & (pl.max_horizontal("l2_pct", "_dram_pct") < limits["idle_pct"])
    )
    return findings(
        hit,
        message=_message,
        advice=lambda k: PATTERN if k["_pattern"] else REUSE,
        confidence="medium",
        evidence=[
            Evidence("memory_pct", "%", limits["busy_pct"]),
            Evidence("l1_pct", "%"),
            Evidence("l2_pct", "%", limits["idle_pct"]),
            Evidence("_dram_pct", "%", limits["idle_pct"], "share of the DRAM roof"),
            Evidence("sm_pct", "%", limits["idle_pct"]),
        ],
    )


def _message(k: Row) -> str:
    cause = "fetching the same data again and again is the limit, not DRAM"
    if k["_pattern"]:
        cause = (
            f"with the SM at {percent(k['sm_pct'])}, each access takes many passes: its pattern is the limit, not DRAM"
        )
    return (
        f"L1 and shared memory are {percent(k['l1_pct'])} busy, L2 {percent(k['l2_pct'])}, DRAM "
        f"{percent(k['_dram_pct'])}: {cause}"
    )
