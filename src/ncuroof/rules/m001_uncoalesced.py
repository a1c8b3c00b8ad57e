"""M001 uncoalesced: global accesses touch more sectors than their data needs.

What it does
    Finds kernels whose warps spread their global loads and stores over more 32-byte sectors than side-by-side addresses
    would.

Why it matters
    L1, L2 and DRAM move whole sectors. A warp that reads 32 floats at a stride of 8 moves eight times the bytes.

How it decides
    First that is known: (a) the sectors beyond the ideal, counted per instruction, as a share of all; (b) sectors per
    request of loads and stores against 16, the most that a warp of 16-byte accesses needs. The time at stake is that
    share of the time in which L2 or DRAM is busy (or L1, where shared memory does not take most of it); less than 5 %
    of the kernel's time is not worth a finding. Kernels limited by compute are left out.

What to do
    Let neighbouring threads read neighbouring addresses: structure of arrays, transposed through shared memory, float4
    for rows. It is silent where compute is the limit.

When it is wrong
    Gathers and graph algorithms are uncoalesced by nature. Where L1 catches the rest of each sector, only L1 pays: the
    confidence is lower with a high L1 hit rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import digits, percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "M001"
NAME = "uncoalesced"
SEVERITY = "warning"
NEEDS = ("duration_s", ("l2_sectors_global_excess", "sectors_per_request_ld", "sectors_per_request_st"))
TIER = "full"
LIMITS = {
    "excess": Limit(0.10, "1", "of all sectors; Nsight names any excess", "Nsight rule UncoalescedGlobalAccess"),
    "sectors_per_request": Limit(
        16.0, "sector", "a warp of 16-byte accesses needs 16, of 4-byte accesses 4", "32 threads x 16 byte / 32 byte"
    ),
    "worth": Limit(0.05, "1", "of the kernel's time must be at stake", "Nsight drops gains below 5 % in its rules"),
    "absorbed_pct": Limit(80.0, "%", "an L1 hit rate above it means that L1 pays, not L2", "judgement"),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels with wasted sectors; see the module's documentation."""
    by_instruction = pl.when(pl.col("l2_sectors_global") > 0).then(
        pl.col("l2_sectors_global_excess") / pl.col("l2_sectors_global")
    )
    worst = pl.max_horizontal("sectors_per_request_ld", "sectors_per_request_st")
    by_request = pl.when(worst > limits["sectors_per_request"]).then(1 - limits["sectors_per_request"] / worst)
    shared = pl.coalesce(pl.col("shared_bytes") / 128, "shared_wavefronts").fill_null(0)
    l1 = pl.when(shared < pl.col("global_ld_sectors") + pl.col("global_st_sectors")).then(pl.col("l1_pct"))
    hit = (
        kernels.with_columns(
            _share=pl.coalesce(by_instruction, by_request),
            _by_request=by_instruction.is_null(),
            _worst=worst,
            _busy_pct=pl.max_horizontal("l2_pct", "memory_roof_pct", l1),
        )
        .with_columns(_gain=pl.col("_share") * pl.col("_busy_pct").clip(upper_bound=100) / 100)
        .filter(
            pl.col("_matters")
            & (pl.col("_share") >= limits["excess"])
            & (pl.col("verdict") != verdicts.COMPUTE)
            & (pl.col("_gain") >= limits["worth"]).fill_null(value=True)
        )
        .with_columns(_stake=pl.col("duration_s") * pl.col("_gain"))
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence=lambda k: (
            "low" if k["_by_request"] or (k["l1_hit_pct"] or 0) >= limits["absorbed_pct"] else "medium"
        ),
        evidence=[
            Evidence("_share", "1", limits["excess"], "sectors beyond the ideal / all sectors"),
            Evidence("l2_sectors_global_excess", "sector", "l2_sectors_global"),
            Evidence("sectors_per_request_ld", "sector", limits["sectors_per_request"]),
            Evidence("sectors_per_request_st", "sector", limits["sectors_per_request"]),
            Evidence("l1_hit_pct", "%"),
            Evidence("_busy_pct", "%", None, "busiest of DRAM, L2 and L1"),
        ],
    )


def _message(k: Row) -> str:
    if k["_by_request"]:
        return (
            f"a warp's access touches {digits(k['_worst'])} sectors, where 16-byte accesses side by side need 16: at "
            f"least {percent(100 * k['_share'])} of them are wasted"
        )
    wasted = si(32 * k["l2_sectors_global_excess"], "byte")
    return (
        f"{percent(100 * k['_share'])} of the sectors of global accesses are beyond what their data needs: "
        f"{wasted} of {si(32 * k['l2_sectors_global'], 'byte')}"
    )


def _advice(k: Row) -> str:
    text = (
        "Let neighbouring threads access neighbouring addresses: structure of arrays, float4, transposes through "
        "shared memory."
    )
    if k["l1_hit_pct"] is not None and k["l1_hit_pct"] >= LIMITS["absorbed_pct"].value:
        hits = f"{text} L1 hits {percent(k['l1_hit_pct'])}"
        if k["limiter"] in {"dram", "l2"}:
            return f"{hits} and absorbs most of it: {k['limiter'].upper()}, which is the limit, may gain little."
        return f"{hits}, so it saves time in L1 rather than bytes behind it."
    return text
