"""D010 mixed-conditions: results that must not be compared with each other.

What it does
    Finds kernels that are in the analysis more than once, from the same GPU, measured under different conditions.

Why it matters
    The same kernel takes 2.7 times as long at base clock, and reads from DRAM after a flush what it finds in L2
    otherwise. A difference between two such results says nothing about the code.

How it decides
    Launches count as the same kernel when GPU, name, grid, block and annotated shape agree. They are held apart by
    clock control, cache control, replay mode, the version of ncu (its metrics and defaults change) and the SM clock
    measured (more than 10 % apart between reports). One finding for each condition that differs; unknown conditions do
    not count.

What to do
    Measure again under one set of conditions, and compare results of equal conditions only.

When it is wrong
    Where cold and warm caches were measured on purpose, compare within each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.rules import Limit
from ncuroof.rules._findings import none, report_findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "D010"
NAME = "mixed-conditions"
SEVERITY = "warning"
NEEDS = ("kernel_name", "gpu_name")
TIER = "none"
LIMITS = {
    "clock": Limit(1.10, "x", "between the clocks of two reports", "as for a lost boost step"),
}

CONDITIONS = {
    "clock_control": ("clock control", "warning"),
    "cache_control": ("cache control", "warning"),
    "replay_mode": ("replay mode", "info"),
    "_version": ("version of ncu", "info"),
}
SHOWN = 3


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One finding per condition that differs; see the module's documentation."""
    if kernels["source_sha256"].n_unique() < 2:
        return none()
    same = ["gpu_name", "kernel_name", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "op_shape"]
    frame = kernels.with_columns(_version=pl.col("ncu_version").str.extract(r"^(\d+\.\d+)"))
    rows = []
    for column, (name, severity) in CONDITIONS.items():
        known = frame.filter(pl.col(column).is_not_null())
        groups = known.group_by(same, maintain_order=True).agg(
            values=pl.col(column).unique(maintain_order=True), time=pl.col("duration_s").sum()
        )
        mixed = groups.filter(pl.col("values").list.len() > 1)
        if not mixed.is_empty():
            values = sorted({v for each in mixed["values"].to_list() for v in each})
            rows.append(_row(mixed, f"{name} ({', '.join(values)})", severity))
    clocks = (
        frame.group_by([*same, "source_sha256"], maintain_order=True)
        .agg(hz=pl.col("sm_hz").median(), time=pl.col("duration_s").sum())
        .group_by(same, maintain_order=True)
        .agg(spread=pl.col("hz").max() / pl.col("hz").min(), time=pl.col("time").sum())
        .filter(pl.col("spread") > limits["clock"])
    )
    if not clocks.is_empty():
        spread = clocks["spread"].max()
        rows.append(_row(clocks, f"SM clock measured (up to {100 * spread - 100:.0f} % apart)", "warning"))  # type: ignore[operator]
    return report_findings(rows) if rows else none()


def _row(mixed: pl.DataFrame, what: str, severity: str) -> dict[str, object]:
    names = mixed.sort("time", descending=True)["kernel_name"].unique(maintain_order=True).to_list()
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    noun = "kernel was" if len(names) == 1 else "kernels were"
    return {
        "message": f"{len(names)} {noun} measured under different conditions: {what}: {', '.join(names[:SHOWN])}{more}",
        "advice": "Compare results of equal conditions only; measure again under one set of conditions.",
        "confidence": "high",
        "severity": severity,
        "evidence": [
            {"metric": "kernels", "value": float(len(names)), "unit": "", "limit": None, "source": "count"},
        ],
    }
