"""Findings over any number of reports, by kernel and cause: what a few of them cover of the whole GPU time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ncuroof import tables

if TYPE_CHECKING:
    from ncuroof.model import Analysis

HEADLINE = 3
"""As many findings are named in one line: what one can start on tomorrow."""

SCHEMA = {
    "rank": pl.UInt32(),
    "kernel": pl.String(),
    "code": pl.String(),
    "name": pl.String(),
    "severity": pl.String(),
    "launches": pl.UInt32(),
    "reports": pl.UInt32(),
    "time_s": pl.Float64(),
    "share": pl.Float64(),
    "covered_share": pl.Float64(),
    "time_at_stake_s": pl.Float64(),
    "message": pl.String(),
}
"""Columns of :func:`rows`."""


@dataclass(frozen=True)
class Headline:
    """The few findings that cover most.

    Attributes:
        rows: rows of :func:`rows`, as mappings, in the order in which they add most.
        share: share of the GPU time of everything that the launches with one of these findings take together, 0 to 1.
    """

    rows: list[dict[str, object]]
    share: float


def rows(analysis: Analysis) -> pl.DataFrame:
    """One row per kernel and rule above note level, over all reports, those on most GPU time first.

    Data-quality findings (family D) say nothing about a kernel, and those that concern no single kernel have no time:
    both are left out. The launches of one kernel name count together, whatever their shapes and reports.

    Returns:
        Columns :data:`SCHEMA`: ``time_s`` is the GPU time of the launches that have the finding, ``share`` its share of
        the time of everything analysed, ``covered_share`` the share of launches with this finding or one ranked before
        it, each launch counted once; ``severity`` is the most severe and ``message`` that of the launch with most at
        stake. Times are null, and last, where no duration is known.
    """
    found = _found(analysis)
    total = _total(analysis)
    rank = pl.col("severity").replace_strict(_RANK, return_dtype=pl.Int32)
    of_launch = found.group_by("kernel", "code", "row", maintain_order=True).agg(
        pl.col("name", "message", "source_sha256", "duration_s").first(),
        rank.min().alias("_rank"),
        _sum("time_at_stake_s"),
    )
    table = (
        of_launch.sort("time_at_stake_s", descending=True, nulls_last=True, maintain_order=True)
        .group_by("kernel", "code", maintain_order=True)
        .agg(
            pl.col("name", "message").first(),
            pl.col("_rank").min(),
            pl.len().cast(pl.UInt32).alias("launches"),
            pl.col("source_sha256").n_unique().cast(pl.UInt32).alias("reports"),
            _sum("duration_s").alias("time_s"),
            _sum("time_at_stake_s"),
        )
        .sort(
            ["time_s", "time_at_stake_s", "_rank", "code", "kernel"],
            descending=[True, True, False, False, False],
            nulls_last=True,
        )
        .with_row_index("rank")
    )
    names = {i: severity for severity, i in _RANK.items()}
    covered = (
        of_launch.join(table.select("kernel", "code", "rank"), on=["kernel", "code"], how="left", nulls_equal=True)
        .group_by("row", maintain_order=True)
        .agg(pl.col("rank").min(), pl.col("duration_s").first())
        .group_by("rank", maintain_order=True)
        .agg(_new=pl.col("duration_s").sum())
    )
    share = pl.col("time_s") / total if total else pl.lit(None, dtype=pl.Float64)
    return tables.conform(
        table.join(covered, on="rank", how="left", maintain_order="left")
        .with_columns(
            severity=pl.col("_rank").replace_strict(names, return_dtype=pl.String),
            share=share,
            covered_share=pl.col("_new").fill_null(0).cum_sum() / total if total else pl.lit(None, dtype=pl.Float64),
        )
        .drop("_rank", "_new"),
        [tables.Column(name, dtype, "", "") for name, dtype in SCHEMA.items()],
    )


def headline(analysis: Analysis, most: int = HEADLINE) -> Headline | None:
    """The findings, at most ``most``, that together cover most GPU time: each adds what the ones before leave.

    None where no finding has a time, or a single kernel is all there is: then the findings themselves say it.
    """
    total = _total(analysis)
    if not total or analysis.kernels["kernel_name"].n_unique() < 2:
        return None
    table = rows(analysis).filter(pl.col("time_s") > 0)
    left = _found(analysis).select("kernel", "code", "row", "duration_s").unique(maintain_order=True)
    chosen: list[dict[str, object]] = []
    covered = 0.0
    while len(chosen) < most and not left.is_empty():
        adds = (
            left.group_by("kernel", "code", maintain_order=True)
            .agg(_adds=pl.col("duration_s").sum())
            .join(table, on=["kernel", "code"], how="inner", nulls_equal=True)
            .sort("_adds", "rank", descending=[True, False])
        )
        if adds.is_empty() or not adds["_adds"][0]:
            break
        best = adds.row(0, named=True)
        covered += best.pop("_adds")
        chosen.append(best)
        here = (pl.col("kernel").eq_missing(best["kernel"])) & (pl.col("code") == best["code"])
        left = left.join(left.filter(here).select("row").unique(), on="row", how="anti")
    return Headline(chosen, covered / total) if chosen else None


_RANK = {severity: number for number, severity in enumerate(tables.SEVERITIES)}


def _total(analysis: Analysis) -> float:
    return math.fsum(analysis.kernels.select(_time(analysis)).to_series().drop_nulls())


def _time(analysis: Analysis) -> pl.Expr:
    """GPU time that a row stands for: its duration, or that of all launches of a summary."""
    known = [c for c in ("gpu_time_s", "duration_s") if c in analysis.kernels.columns]
    return pl.coalesce(known).alias("duration_s")


def _found(analysis: Analysis) -> pl.DataFrame:
    """Findings above note level on single kernels, with the duration of the launch."""
    return (
        analysis.findings.filter(
            (pl.col("severity") != "note") & ~pl.col("code").str.starts_with("D") & pl.col("row").is_not_null()
        )
        .drop("source", "source_sha256", "result_index")
        .join(
            analysis.kernels.select("row", "source_sha256", _time(analysis)),
            on="row",
            how="inner",
            maintain_order="left",
        )
    )


def _sum(column: str) -> pl.Expr:
    return pl.when(pl.col(column).count() > 0).then(pl.col(column).sum()).alias(column)
