"""M002 partial-sectors: of each sector that is moved only a few bytes are used.

What it does
    Finds kernels whose global loads or stores use at most half of each 32-byte sector they touch, although the
    addresses within a warp are no worse than they must be (else M001 says so).

Why it matters
    A sector is moved whole. With 4 of 32 bytes used, seven eighths of the traffic carries nothing.

How it decides
    Bytes used per sector, of loads and of stores, are at most 16, and M001's count of excess sectors is either not
    there or small. The unused part is weighted by the share that these accesses have in the traffic: their sectors over
    all that L1 handles, or, where that is more, over all that passes L2, which holds bulk copies too. A tenth of the
    traffic must be unused, as for M001. The time at stake is that share of the time in which L2 or DRAM is busy; less
    than 5 % of the kernel's time is not worth a finding. Where sectors were not counted the share is not known, and the
    confidence is low. Kernels limited by compute are left out.

What to do
    Pack data: split structures so that what is read together lies together, use smaller index types only where they
    are dense, let one thread handle more neighbouring elements, drop warps of which one lane works.

When it is wrong
    Scattered reads of single elements (gather, hash tables) cannot use more. Copies by the tensor memory accelerator
    are not counted here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import digits, percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "M002"
NAME = "partial-sectors"
SEVERITY = "warning"
NEEDS = ("duration_s", ("bytes_per_sector_ld", "bytes_per_sector_st"))
TIER = "rules"
LIMITS = {
    "bytes": Limit(16.0, "byte", "half a sector; Nsight names anything below 32", "24 % of public kernels are below"),
    "excess": Limit(0.10, "1", "a larger share of excess sectors is M001's", "threshold of M001"),
    "unused": Limit(0.10, "1", "of all traffic, as for M001's excess sectors", "threshold of M001"),
    "worth": Limit(0.05, "1", "of the kernel's time must be at stake", "Nsight drops gains below 5 % in its rules"),
}

ADVICE = (
    "Pack what is read together: structure of arrays, more neighbouring elements a thread, all lanes of a warp at work."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels that use little of each sector; see the module's documentation."""
    counted = pl.sum_horizontal("global_ld_sectors", "global_st_sectors")
    traffic = pl.max_horizontal(counted, "l1_sectors", pl.col("l2_bytes") / 32)
    total = pl.when(counted > 0).then(traffic)

    def wasted(side: str) -> pl.Expr:
        used = pl.col(f"bytes_per_sector_{side}")
        weight = pl.when(total.is_not_null()).then(pl.col(f"global_{side}_sectors").fill_null(0) / total).otherwise(1.0)
        # A ratio of 0 is that of a side without any access.
        few = (used > 0) & (used <= limits["bytes"])
        return pl.when(few).then((1 - used / 32) * weight)

    explained = (pl.col("l2_sectors_global_excess") / pl.col("l2_sectors_global") >= limits["excess"]).fill_null(
        value=False
    )
    hit = (
        kernels.with_columns(
            _ld=wasted("ld"),
            _st=wasted("st"),
            _traffic=total,
            _busy_pct=pl.max_horizontal("l2_pct", "memory_roof_pct"),
        )
        .with_columns(_waste=pl.sum_horizontal("_ld", "_st"), _any=pl.coalesce("_ld", "_st"))
        .with_columns(_gain=pl.col("_waste") * pl.col("_busy_pct").clip(upper_bound=100) / 100)
        .filter(
            pl.col("_matters")
            & pl.col("_any").is_not_null()
            & ~explained
            & (pl.col("verdict") != verdicts.COMPUTE)
            & (pl.col("_waste") >= limits["unused"])
            & (pl.coalesce("_gain", "_waste") >= limits["worth"])
        )
        .with_columns(_stake=pl.col("duration_s") * pl.col("_gain"))
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence=lambda k: "medium" if k["_traffic"] is not None else "low",
        evidence=[
            Evidence("bytes_per_sector_ld", "byte", limits["bytes"]),
            Evidence("bytes_per_sector_st", "byte", limits["bytes"]),
            Evidence("_waste", "1", limits["unused"], "unused share of the traffic"),
            Evidence("_busy_pct", "%", None, "busier of DRAM and L2"),
        ],
    )


def _message(k: Row) -> str:
    sides = [
        f"{name} use {digits(k[column])} of 32 bytes"
        for name, column, wasted in (
            ("loads", "bytes_per_sector_ld", "_ld"),
            ("stores", "bytes_per_sector_st", "_st"),
        )
        if k[wasted] is not None
    ]
    share = f": {percent(100 * k['_waste'])} of the traffic is unused" if k["_traffic"] is not None else ""
    return f"of each sector that is moved, {' and '.join(sides)}{share}"
