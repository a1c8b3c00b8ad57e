"""M004 local-memory: register spills or local arrays cost memory traffic.

What it does
    Finds kernels that move a good part of their L1 traffic for local memory, and says how much of it reaches L2 and at
    most DRAM.

Why it matters
    Local memory is DRAM with a cache in front of it. A spilled register costs a store and a load where an operand cost
    nothing, and the traffic takes bandwidth from the data.

How it decides
    Local sectors are at least 5 % of all L1 sectors of the kernel. The traffic to L2 is the counted L1 misses of local
    memory (all of it where they are not known); DRAM sees at most the share of it that misses L2. Nsight's own count of
    spill requests, or a thread that uses all 255 registers, makes it a spill; otherwise an array that registers cannot
    hold is as likely. Debug builds, which keep their variables there, are left to W005. The time at stake is the
    local share of the memory system's busy time.

What to do
    Spills: raise the register limit (__launch_bounds__, -maxrregcount), give each thread fewer results, shorten live
    ranges. Arrays: index them with constants (unroll the loop), or keep them in shared memory.

When it is wrong
    A few spills outside the inner loop are cheaper than the occupancy that more registers would cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit, _builds
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "M004"
NAME = "local-memory"
SEVERITY = "warning"
NEEDS = ("duration_s", "local_sectors", "l1_sectors")
TIER = "rules"
LIMITS = {
    "share": Limit(0.05, "1", "of all L1 sectors", "a twentieth of the traffic is the least one can measure"),
    "registers": Limit(255.0, "register", "a thread cannot have more, so the rest was spilled", "CUDA, all GPUs"),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels with much local-memory traffic; see the module's documentation."""
    share = pl.col("local_sectors") / pl.col("l1_sectors")
    to_l2 = pl.coalesce("local_miss_sectors", "local_sectors")
    hit = (
        kernels.with_columns(
            _share=pl.when(pl.col("l1_sectors") > 0).then(share),
            _local_bytes=32 * pl.col("local_sectors"),
            _l2_bytes=32 * to_l2,
            _dram_bytes=32 * to_l2 * (1 - pl.col("l2_hit_pct") / 100),
            _spill=(pl.col("local_spill_requests") > 0).fill_null(value=False)
            | (pl.col("registers_per_thread") >= limits["registers"]).fill_null(value=False),
        )
        .filter(pl.col("_matters") & (pl.col("_share") >= limits["share"]) & ~_builds.debug())
        .with_columns(_stake=pl.col("duration_s") * pl.col("_share") * pl.col("memory_pct") / 100)
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence=lambda k: "high" if k["_spill"] else "medium",
        evidence=[
            Evidence("_share", "1", limits["share"], "local sectors / all L1 sectors"),
            Evidence("_local_bytes", "byte", None, "local sectors x 32"),
            Evidence("_l2_bytes", "byte", "l2_bytes", "local sectors that miss L1 x 32; limit: all L2 bytes"),
            Evidence("_dram_bytes", "byte", "dram_bytes", "at most: those x (1 - L2 hit rate); limit: all DRAM bytes"),
            Evidence("registers_per_thread", "register", limits["registers"], "launch"),
            Evidence("local_spill_requests", "request", None, "counter"),
        ],
    )


def _message(k: Row) -> str:
    what = "register spills" if k["_spill"] else "local memory (spills, or arrays that registers cannot hold)"
    dram = f", up to {si(k['_dram_bytes'], 'byte')} of it reach DRAM" if k["_dram_bytes"] is not None else ""
    return (
        f"{percent(100 * k['_share'])} of the L1 traffic is {what}: {si(k['_local_bytes'], 'byte')} at L1, "
        f"{si(k['_l2_bytes'], 'byte')} at L2{dram}"
    )


def _advice(k: Row) -> str:
    fix = (
        "Allow more registers (__launch_bounds__, -maxrregcount) or give each thread fewer results."
        if k["_spill"]
        else "Index local arrays with constants (unroll) or keep them in shared memory; if it is spilling, allow more "
        "registers."
    )
    if k["verdict"] == verdicts.COMPUTE:
        return f"{fix} It frees issue slots rather than bandwidth here."
    if k["verdict"] == verdicts.LATENCY:
        return f"{fix} Each reload is one more wait."
    if k["limiter"] in {"l1", "l2"} or (k["limiter"] == "dram" and _reaches_dram(k)):
        return f"{fix} What it saves is time: {k['limiter'].upper()} is the limit."
    return fix


def _reaches_dram(k: Row) -> bool:
    known = k["_dram_bytes"] is not None and k["dram_bytes"] is not None
    return known and k["_dram_bytes"] >= LIMITS["share"].value * k["dram_bytes"]
