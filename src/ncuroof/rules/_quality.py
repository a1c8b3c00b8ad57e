"""What the data-quality rules share: one note per report, which counts the kernels it concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.rules._findings import Row, none, report_findings

if TYPE_CHECKING:
    from collections.abc import Callable


def per_report(
    kernels: pl.DataFrame,
    concerned: pl.Expr,
    *,
    message: Callable[[Row], str],
    advice: Callable[[Row], str] | str,
    carry: tuple[pl.Expr, ...] = (),
    confidence: str = "high",
) -> pl.DataFrame:
    """One finding per report that holds kernels for which ``concerned`` is true.

    ``message`` and ``advice`` get a row with ``count`` (kernels concerned), ``total`` (kernels of the report),
    ``which`` ("all 5 kernels" or "3 of 5 kernels") and the ``carry`` aggregates over the kernels concerned; one called
    ``stake`` is the time in doubt.
    """
    holds = concerned.fill_null(value=False)
    frame = kernels.with_columns(_holds=holds)
    group = ["source_sha256", "source"]
    totals = frame.group_by(group, maintain_order=True).agg(pl.len().alias("total"))
    # Lazily, so that of hundreds of columns only those are filtered that the figures need.
    concerned_only = frame.lazy().filter("_holds").group_by(group, maintain_order=True)
    counts = concerned_only.agg(pl.len().alias("count"), *carry).collect()
    frame = totals.join(counts, on=group, how="inner", maintain_order="left")
    rows = []
    for row in frame.iter_rows(named=True):
        noun = "kernel" if row["total"] == 1 else "kernels"
        if row["total"] == 1:
            which = "the kernel"
        elif row["count"] == row["total"]:
            which = f"all {row['total']} {noun}"
        else:
            which = f"{row['count']} of {row['total']} {noun}"
        row["which"] = which
        rows.append(
            {
                "message": message(row),
                "advice": advice if isinstance(advice, str) else advice(row),
                "confidence": confidence,
                "time_at_stake_s": row.get("stake"),
                "source": row["source"],
                "source_sha256": row["source_sha256"],
                "evidence": [
                    {
                        "metric": "kernels",
                        "value": float(row["count"]),
                        "unit": "",
                        "limit": float(row["total"]),
                        "source": "count; limit: kernels in the report",
                    }
                ],
            }
        )
    return report_findings(rows) if rows else none()
