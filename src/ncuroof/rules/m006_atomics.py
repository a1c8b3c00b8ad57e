"""M006 atomics: atomic operations take much of L2.

What it does
    Finds kernels in which atomics and reductions are a good part of the L2 traffic while L2 is busy.

Why it matters
    L2 does atomics one after the other per address. Many threads adding to few counters queue up there.

How it decides
    Sectors of atomics and reductions are at least 20 % of the L2 sectors of the SMs, and L2 is at least 40 % busy. The
    time at stake is that share of L2's busy time.

What to do
    Reduce within the warp (__reduce_add_sync, shuffles) and the block (shared memory) first, so that one thread a block
    goes to L2; give each block its own copy of a histogram; use reductions that return nothing.

When it is wrong
    A counter of sectors does not know how many threads hit one address: scattered atomics cost less than they look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "M006"
NAME = "atomics"
SEVERITY = "warning"
NEEDS = ("duration_s", ("l2_atomic_sectors", "l2_red_sectors"), "l2_sectors", "l2_pct")
TIER = "full"
LIMITS = {
    "share": Limit(0.20, "1", "of the L2 sectors of the SMs", "judgement; plain kernels have none"),
    "l2_pct": Limit(40.0, "%", "below it L2 has room for them", "share of peak"),
}

ADVICE = (
    "Reduce within the warp and the block first so that one thread a block goes to L2; spread hot counters over "
    "several copies."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels whose atomics load L2; see the module's documentation."""
    atomics = pl.col("l2_atomic_sectors").fill_null(0) + pl.col("l2_red_sectors").fill_null(0)
    hit = (
        kernels.with_columns(_atomics=atomics)
        .with_columns(_share=pl.when(pl.col("l2_sectors") > 0).then(pl.col("_atomics") / pl.col("l2_sectors")))
        .filter(pl.col("_matters") & (pl.col("_share") >= limits["share"]) & (pl.col("l2_pct") >= limits["l2_pct"]))
        .with_columns(
            _stake=pl.col("duration_s")
            * pl.col("_share").clip(upper_bound=1.0)
            * pl.col("l2_pct").clip(upper_bound=100.0)
            / 100
        )
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence="medium",
        evidence=[
            Evidence("_atomics", "sector", "l2_sectors", "atomics + reductions; limit: all L2 sectors"),
            Evidence("_share", "1", limits["share"], "their share of L2 sectors"),
            Evidence("l2_pct", "%", limits["l2_pct"]),
        ],
    )


def _message(k: Row) -> str:
    return (
        f"atomics and reductions are {percent(100 * k['_share'])} of the L2 traffic, and L2 is "
        f"{percent(k['l2_pct'])} busy"
    )
