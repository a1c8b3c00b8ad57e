"""T002 small-grid: the launch has fewer blocks than the GPU has SMs.

What it does
    Finds kernels that leave SMs without a single block although no roof is near.

Why it matters
    An SM without a block does nothing: its share of the compute roof, of L1 and of the requests in flight to memory is
    lost for the whole kernel.

How it decides
    The grid leaves at least a tenth of the SMs that the launch had without a block, and neither a roof nor a unit is
    busy. The time at stake is the share of idle SMs, (SMs - blocks) / SMs, as far as the busiest roof or unit and the
    launch floor leave that much room. Kernels within one and a half launch floors, or under 3 µs, are left to T001;
    kernels that own less than 1 % of the report's time are left out unless T001 would otherwise speak of them.

What to do
    Split the work finer: smaller tiles, split-K or stream-K for matrix products, several blocks per row for
    reductions. Where the problem is that small, run it beside other kernels (streams) or batch it.

When it is wrong
    A few blocks can saturate memory with bulk copies: then memory is busy and the rule is silent. A kernel that runs
    beside others on purpose leaves SMs to them; ncu profiles it alone. What the blocks wait for may not spread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._context import MATTERS_SHARE, gain
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T002"
NAME = "small-grid"
SEVERITY = "warning"
NEEDS = ("grid_blocks", ("sm_count_launch", "sm_count"), "duration_s")
TIER = "roofline"
LIMITS = {
    "blocks_per_sm": Limit(1.0, "1", "with fewer blocks than SMs some SM has none", "Nsight rule LaunchConfiguration"),
    "idle": Limit(
        verdicts.GRID_IDLE, "1", "of the SMs; a grid that leaves a few idle is a good one", "as for the tail, T003"
    ),
    "floors": Limit(
        verdicts.GRID_FLOORS, "x", "launch floors; what is shorter is explained by its launch", "scatter of the floor"
    ),
    "busy_pct": Limit(
        verdicts.HIGH_PCT, "%", "above it the chip is used well whatever the grid", "Nsight rule SOLBottleneck"
    ),
}


def applies() -> pl.Expr:
    """Launches of kernels: a range of several has no grid of its own."""
    return (pl.col("result_kind") == "kernel").fill_null(value=True)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels with idle SMs; see the module's documentation."""
    few = pl.col("grid_blocks") < limits["blocks_per_sm"] * pl.col("_sms")
    idle = 1 - pl.col("grid_blocks") / pl.col("_sms")
    room = pl.col("_used_pct").fill_null(0) < limits["busy_pct"]
    floor = pl.col("_floor_s")
    long = verdicts.beyond_launch(floor, limits["floors"])
    # Whatever its share, a kernel that is taken from T001 must not fall between the two rules.
    worth = (pl.col("_kernel_share") >= MATTERS_SHARE) | verdicts.launch_like(floor)
    hit = kernels.filter(long & worth & few & room & (idle >= limits["idle"])).with_columns(
        # More blocks do not make launching faster.
        _stake=pl.min_horizontal(pl.col("duration_s") * gain(idle), pl.col("duration_s") - floor)
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence=lambda k: "medium" if k["_used_pct"] is not None else "low",
        evidence=[
            Evidence("grid_blocks", "block", "_sms", "launch; limit: SMs of the launch"),
            Evidence("_used_pct", "%", limits["busy_pct"], "busiest roof or unit"),
        ],
    )


def _message(k: Row) -> str:
    blocks = "1 block runs" if k["grid_blocks"] == 1 else f"{k['grid_blocks']:.0f} blocks run"
    used = (
        f"; no roof or unit is busier than {percent(k['_used_pct'])}, averaged over the GPU"
        if k["_used_pct"] is not None
        else ""
    )
    return f"{blocks} on {k['_sms']:.0f} SMs: {percent(100 - 100 * k['grid_blocks'] / k['_sms'])} of them idle{used}"


def _advice(k: Row) -> str:
    if k["op_m"] is not None or "gemm" in (k["kernel_name"] or "").lower():
        return "Use a smaller tile, or split K (split-K, stream-K) so that every SM has a block; batch small products."
    return (
        f"Split the work into at least {2 * k['_sms']:.0f} blocks (smaller tiles, several blocks a row), or run the "
        "kernel beside others."
    )
