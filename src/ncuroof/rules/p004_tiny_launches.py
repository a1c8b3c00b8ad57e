"""P004 tiny-launches: one kernel is launched very often and does very little each time.

What it does
    Finds kernels that are launched many times, each time for little longer than a launch itself takes, and that
    together take a good part of the report's time.

Why it matters
    All of these launches together pay the launch floor once each. One batched call, or a CUDA graph, pays it once.

How it decides
    At least 20 launches of one kernel in one report, their median within three launch floors, together at least 10 % of
    the report's GPU time. The time at stake is the floor of all launches but one; it overlaps with T001, which speaks
    of each launch alone.

What to do
    Batch or group the calls, fuse them with their neighbours, or capture the sequence in a CUDA graph.

When it is wrong
    Launches that depend on each other cannot be merged into one; a graph still helps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import none, report_findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "P004"
NAME = "tiny-launches"
SEVERITY = "warning"
NEEDS = ("duration_s", "kernel_name")
TIER = "roofline"
LIMITS = {
    "launches": Limit(20.0, "1", "of one kernel in one report", "judgement: fewer are no pattern"),
    "floors": Limit(3.0, "x", "of the launch floor", "as T001"),
    "share": Limit(0.10, "1", "of the report's GPU time", "judgement"),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One finding per report and kernel; see the module's documentation."""
    groups = (
        kernels.group_by(["source_sha256", "source", "kernel_name"], maintain_order=True)
        .agg(
            count=pl.len(),
            median=pl.col("duration_s").median(),
            total=pl.col("duration_s").sum(),
            floor=pl.col("_floor_s").min(),
            share=pl.col("_kernel_share").first(),
        )
        .filter(
            (pl.col("count") >= limits["launches"])
            & (pl.col("median") <= limits["floors"] * pl.col("floor"))
            & (pl.col("share") >= limits["share"])
        )
    )
    rows = [
        {
            "message": (
                f"{g['kernel_name']} is launched {g['count']} times for {si(g['median'], 's')} each, with a launch "
                f"floor of {si(g['floor'], 's')}: {percent(100 * g['share'])} of the report's GPU time"
            ),
            "advice": "Batch or group the calls, fuse them with neighbours, or capture the sequence in a CUDA graph.",
            "confidence": "medium",
            "time_at_stake_s": min(g["total"], (g["count"] - 1) * g["floor"]),
            "source": g["source"],
            "source_sha256": g["source_sha256"],
            "evidence": [
                {
                    "metric": "launches",
                    "value": float(g["count"]),
                    "unit": "",
                    "limit": limits["launches"],
                    "source": "count",
                },
                {
                    "metric": "median duration",
                    "value": g["median"],
                    "unit": "s",
                    "limit": limits["floors"] * g["floor"],
                    "source": "limit: three launch floors",
                },
            ],
        }
        for g in groups.iter_rows(named=True)
    ]
    return report_findings(rows) if rows else none()
