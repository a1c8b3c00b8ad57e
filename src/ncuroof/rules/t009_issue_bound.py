"""T009 issue-bound: the schedulers are busy, but little of it is floating-point work.

What it does
    Finds kernels whose instruction schedulers issue almost every cycle although the FLOP roof is far away.

Why it matters
    The limit is the number of instructions: addresses, conversions, loop counters, integer work. No bandwidth and no
    tensor core makes them fewer.

How it decides
    Instructions are issued in at least 80 % of the active cycles, and the kernel reaches less than 60 % of the flat
    roof of its path (or its floating-point work is none, or was not counted). Memory is not busy either: neither the
    DRAM roof nor the memory throughput, which holds L1 and shared memory, reaches 80 %. Where it does, M003 and M008
    tell what fills it. Debug builds are left to W005.

What to do
    Fewer instructions for the same work: wider loads and stores (float4), unrolled loops with addresses computed once,
    32-bit instead of 64-bit index arithmetic, no integer division, packed half arithmetic, tensor cores for products.

When it is wrong
    Integer kernels (hashing, sorting, compression) are supposed to be there: then this is what full use looks like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit, _builds
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T009"
NAME = "issue-bound"
SEVERITY = "info"
NEEDS = ("duration_s", "issue_active")
TIER = "rules"
LIMITS = {
    "issue": Limit(0.8, "1", "issue slots used; the rest cannot be had in practice", "Nsight rule CPIStall"),
    "compute_pct": Limit(HIGH_PCT, "%", "above it the issue slots carry the work itself", "Nsight rule SOLBottleneck"),
    "memory_pct": Limit(
        80.0, "%", "above it DRAM, L2, L1 or shared memory is as much the limit", "Nsight's bound for high throughput"
    ),
}

ADVICE = (
    "Issue fewer instructions for the same work: wider loads (float4), addresses computed once and in 32 bits, no "
    "integer division, packed half arithmetic, tensor cores for matrix products."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels limited by the number of their instructions; see the module's documentation."""
    hit = kernels.filter(
        pl.col("_matters")
        & (pl.col("issue_active") >= limits["issue"])
        & (pl.col("compute_roof_pct").fill_null(0) < limits["compute_pct"])
        & (pl.max_horizontal("memory_roof_pct", "memory_pct").fill_null(0) < limits["memory_pct"])
        & (pl.col("tensor_pct").fill_null(0) < limits["compute_pct"])
        & ~_builds.debug()
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        confidence=lambda k: "high" if k["compute_roof_pct"] is not None else "medium",
        evidence=[
            Evidence("issue_active", "1", limits["issue"]),
            Evidence("compute_roof_pct", "%", limits["compute_pct"], "W/F / T"),
            Evidence("memory_pct", "%", limits["memory_pct"]),
            Evidence("alu_pct", "%", None, "integer and logic pipe"),
            Evidence("lsu_pct", "%", None, "load and store pipe"),
        ],
    )


def _message(k: Row) -> str:
    if k["flop"] is None:
        reached = "; its FLOPs were not collected, so how much of that is arithmetic is not known"
    elif k["flop"] == 0:
        reached = ", but the kernel does no floating-point work"
    elif k["compute_roof_pct"] is None:
        reached = ", but how near that is to a roof is not known"
    else:
        reached = f", but the kernel reaches {percent(k['compute_roof_pct'])} of the {k['path'] or 'compute'} roof"
    return f"the schedulers issue in {percent(100 * k['issue_active'])} of the cycles{reached}"
