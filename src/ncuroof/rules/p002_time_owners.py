"""P002 time-owners: a few kernels own most of the GPU time.

What it does
    Names the kernels that together take most of a report's GPU time, where they are few among many.

Why it matters
    Work on any other kernel cannot change the program's time by more than what they leave.

How it decides
    Kernels are counted by name. The fewest that take 80 % of the report's time are named where the report has at least
    five and they are at most a quarter of them. ncu often measures only some launches: the shares are those of what was
    measured.

What to do
    Look at these kernels first, and at their findings.

When it is wrong
    A report of selected kernels says nothing about the program; and time outside kernels is not in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import none, report_findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "P002"
NAME = "time-owners"
SEVERITY = "note"
NEEDS = ("duration_s", "kernel_name")
TIER = "roofline"
LIMITS = {
    "share": Limit(0.80, "1", "of the report's GPU time", "the usual 80:20"),
    "kernels": Limit(5.0, "1", "different kernels; of fewer a few always own the time", "judgement"),
    "few": Limit(0.25, "1", "of the different kernels", "the usual 80:20"),
}


def applies() -> pl.Expr:
    """Launches that are no points of a sweep: there the largest sizes always own the time."""
    return pl.col("op_sweep").is_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report in which few kernels own the time; see the module's documentation."""
    report = ["source_sha256", "source"]
    by_name = (
        kernels.group_by([*report, "kernel_name"], maintain_order=True)
        .agg(_time=pl.col("gpu_time_s").sum())
        .sort("_time", descending=True, maintain_order=True)
        .with_columns(
            _share=pl.col("_time") / pl.col("_time").sum().over(report),
            _count=pl.len().over(report),
            _rank=pl.int_range(1, pl.len() + 1).over(report),
        )
        .with_columns(_sum=pl.col("_share").cum_sum().over(report))
    )
    owners = by_name.filter(pl.col("_sum") - pl.col("_share") < limits["share"])
    rows = []
    for (sha, source), group in owners.group_by(report, maintain_order=True):
        count = group["_count"][0]
        if count < limits["kernels"] or group.height > limits["few"] * count:
            continue
        total = float(group["_share"].sum())
        listed = ", ".join(f"{n} ({percent(100 * s)})" for n, s in group.select("kernel_name", "_share").iter_rows())
        verb = "takes" if group.height == 1 else "take"
        rows.append(
            {
                "message": f"{group.height} of {count} kernels {verb} {percent(100 * total)} of the GPU time: {listed}",
                "advice": "Look at these first: the others together cannot gain more than what is left.",
                "confidence": "high",
                "source": source,
                "source_sha256": sha,
                "evidence": [
                    {
                        "metric": "share of GPU time",
                        "value": total,
                        "unit": "1",
                        "limit": limits["share"],
                        "source": "sum of durations",
                    }
                ],
            }
        )
    return report_findings(rows) if rows else none()
