"""T006 achieved-occupancy: far fewer warps are active than fit on the SM.

What it does
    Finds kernels that could hold more warps than they have, although the grid would fill the GPU, where latency is
    what they wait for.

Why it matters
    Warps that are not there hide no latency. The cause lies in how blocks start and end, not in their resources.

How it decides
    Achieved occupancy is well below theoretical, no roof or unit is busy, the grid fills the GPU at least once, and the
    last wave does not explain it (T003). Both numbers alone differ that much in 60 % of public kernels.

What to do
    Warps of a block that end early hold its place: give them equal work. Very short blocks spend their time starting:
    let each do more. Rows of uneven length: sort or split them.

When it is wrong
    Producer and consumer warps of a pipelined kernel are uneven by design.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._context import gain
from ncuroof.rules._findings import Evidence, findings
from ncuroof.rules._occupancy import GAP_PCT, TAIL, few_active
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T006"
NAME = "achieved-occupancy"
SEVERITY = "info"
NEEDS = (
    "occupancy_theoretical_pct",
    "occupancy_achieved_pct",
    "waves",
    "duration_s",
    "sm_pct",
    ("memory_pct", "memory_roof_pct"),
)
TIER = "roofline"
LIMITS = {
    "gap_pct": Limit(GAP_PCT, "%", "points between theoretical and achieved", "Nsight rule AchievedOccupancy"),
    "busy_pct": Limit(HIGH_PCT, "%", "above it latency is hidden well enough", "Nsight rule SOLBottleneck"),
    "tail": Limit(TAIL, "1", "a last wave that wastes this much is the cause (T003)", "threshold of T003"),
}

ADVICE = (
    "Look for blocks whose warps end at different times, and for blocks so short that starting them takes their time: "
    "give warps of a block equal work, and each block more of it."
)


def applies() -> pl.Expr:
    """Kernels that do not compute on tensor cores."""
    return ~pl.col("_tensor")


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels that hold fewer warps than fit; see the module's documentation."""
    gap = pl.col("occupancy_theoretical_pct") - pl.col("occupancy_achieved_pct")
    room = pl.col("_used_pct") < limits["busy_pct"]
    hit = kernels.filter(pl.col("_matters") & few_active(limits["gap_pct"], limits["tail"]) & room).with_columns(
        _stake=pl.col("duration_s") * gain(gap / pl.col("occupancy_theoretical_pct")),
    )
    return findings(
        hit,
        message=lambda k: (
            f"{percent(k['occupancy_theoretical_pct'])} of an SM's warps fit, {percent(k['occupancy_achieved_pct'])} "
            f"are active on average, and no roof or unit is busier than {percent(k['_used_pct'])}"
        ),
        advice=ADVICE,
        stake="_stake",
        confidence="medium",
        evidence=[
            Evidence("occupancy_achieved_pct", "%", "occupancy_theoretical_pct"),
            Evidence("_used_pct", "%", limits["busy_pct"], "busiest roof or unit"),
        ],
    )
