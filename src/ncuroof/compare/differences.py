"""Sets the findings of two analyses against each other: new, fixed, known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import rules
from ncuroof.compare.conditions import FINDINGS_NEED

if TYPE_CHECKING:
    from ncuroof.model import Analysis

NEW = "new"
FIXED = "fixed"
KNOWN = "known"
UNSURE = "cannot say"

SCHEMA = {
    "pair": pl.UInt32,
    "code": pl.String,
    "name": pl.String,
    "severity": pl.String,
    "state": pl.String,
    "reason": pl.String,
    "kernel": pl.String,
    "message": pl.String,
    "launches": pl.Int64,
    "time_at_stake_s": pl.Float64,
}
"""Columns of :func:`findings`. ``pair`` is null for what concerns a whole report or run, or an unmatched kernel."""


def findings(pairs: pl.DataFrame, base: Analysis, head: Analysis) -> pl.DataFrame:
    """One row per pair and rule, columns :data:`SCHEMA`: what is found in head, and what was found in base only.

    ``new``: not found in base although the rule could judge the kernel there, or could not judge it (``reason`` says
    so), or the launch is new. ``fixed``: no longer found although the rule judged it in head. ``known``: found on both
    sides, or, for a launch without a match, on another launch of this kernel in base. ``cannot say``: gone in head
    because the rule could no longer judge the kernel, or measured under conditions that make the two sides speak of
    different things.
    """
    known = set(rules_of(base)) | set(rules_of(head))
    sides = [_per_pair(pairs, side, of, sorted(known)) for side, of in (("base", base), ("head", head))]
    both = sides[0].join(sides[1], on=["pair", "code"], how="full", coalesce=True, suffix="_head")
    blocked = pairs.select(
        "pair", blocked=pl.any_horizontal(pl.col(f"_{c}").is_not_null() for c in FINDINGS_NEED), why="reason"
    )
    both = both.join(blocked, on="pair", how="left")
    was, now = pl.col("found").fill_null(value=False), pl.col("found_head").fill_null(value=False)
    could, can = pl.col("judged").fill_null(value=False), pl.col("judged_head").fill_null(value=False)
    state = (
        pl.when("blocked")
        .then(pl.lit(UNSURE))
        .when(was & now)
        .then(pl.lit(KNOWN))
        .when(now)
        .then(pl.lit(NEW))
        .when(can)
        .then(pl.lit(FIXED))
        .otherwise(pl.lit(UNSURE))
    )
    reason = (
        pl.when("blocked")
        .then("why")
        .when(now & ~was & ~could)
        .then(pl.lit("could not be judged in base"))
        .when(was & ~now & ~can)
        .then(pl.lit("can no longer be judged"))
    )
    matched = both.filter(was | now).select(
        "pair",
        "code",
        *(pl.when(now).then(f"{c}_head").otherwise(c).alias(c) for c in ("name", "severity")),
        state=state,
        reason=reason,
        **{
            c: pl.when(now).then(f"{c}_head").otherwise(c) for c in ("kernel", "message", "launches", "time_at_stake_s")
        },
    )
    parts = [matched, _unmatched(pairs, base, head), _of_reports(base, head)]
    return pl.concat([p.select(pl.col(c).cast(t) for c, t in SCHEMA.items()) for p in parts]).sort(
        "time_at_stake_s", "code", "pair", descending=[True, False, False], nulls_last=True
    )


def rules_of(analysis: Analysis) -> list[str]:
    """Codes of the rules that found something on a kernel."""
    return _ours(analysis).drop_nulls("row")["code"].unique().to_list()


def known_rows(pairs: pl.DataFrame, found: pl.DataFrame, base: Analysis, head: Analysis) -> pl.DataFrame:
    """Which rows of ``head.findings`` were found in base already: the findings with a column ``known``."""
    of_pair = pairs.select("pair", "head_rows").explode("head_rows").rename({"head_rows": "row"})
    of_pair = of_pair.filter(pl.col("row").is_not_null())
    known = found.filter((pl.col("state") == KNOWN) & pl.col("pair").is_not_null()).select("pair", "code", _hit=True)
    elsewhere = _with_gpu(base).select(*_ELSEWHERE, _other=True).unique()
    reports = _ours(base).filter(pl.col("row").is_null())["code"].unique().to_list()
    gpus = head.kernels.select("row", "gpu_name")
    return (
        head.findings.join(of_pair, on="row", how="left", maintain_order="left")
        .join(gpus, on="row", how="left", maintain_order="left")
        .join(known, on=["pair", "code"], how="left", maintain_order="left")
        .join(elsewhere, on=_ELSEWHERE, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            known=(
                pl.when(pl.col("row").is_null())
                .then(pl.col("code").is_in(reports))
                .when(pl.col("pair").is_null())
                .then(pl.col("_other"))
                .otherwise(pl.col("_hit"))
            ).fill_null(value=False)
            & (pl.col("voice") != "nsight")
        )
        .drop("pair", "gpu_name", "_hit", "_other")
    )


_ELSEWHERE = ["code", "kernel", "gpu_name"]
"""What must agree for a finding on a launch without a match to be one that is known from another launch."""


def _with_gpu(analysis: Analysis) -> pl.DataFrame:
    """Our findings on kernels, with the GPU each was made on."""
    return _ours(analysis).drop_nulls("row").join(analysis.kernels.select("row", "gpu_name"), on="row", how="left")


def _ours(analysis: Analysis) -> pl.DataFrame:
    return analysis.findings.filter(pl.col("voice") != "nsight")


def _per_pair(pairs: pl.DataFrame, side: str, analysis: Analysis, codes: list[str]) -> pl.DataFrame:
    """Per pair and rule that judged or found something: the finding with most at stake, and on how many launches."""
    launches = pairs.select("pair", row=f"{side}_rows").explode("row")
    judged = [
        launches.join(pl.DataFrame({"row": rows}), on="row", how="semi")
        .select("pair")
        .unique()
        .with_columns(code=pl.lit(code), judged=pl.lit(value=True))
        for code, rows in rules.judged_rows(analysis.kernels, codes).items()
    ]
    found = (
        _ours(analysis)
        .join(launches, on="row", how="inner")
        .sort("time_at_stake_s", descending=True, nulls_last=True, maintain_order=True)
        .group_by("pair", "code", maintain_order=True)
        .agg(
            pl.col("name", "severity", "kernel", "message").first(),
            pl.col("row").n_unique().cast(pl.Int64).alias("launches"),
            _sum("time_at_stake_s"),
            found=pl.lit(value=True),
        )
    )
    schema = {"pair": pairs.schema["pair"], "code": pl.String(), "judged": pl.Boolean()}
    table = pl.concat(judged) if judged else pl.DataFrame(schema=schema)
    return found.join(table, on=["pair", "code"], how="full", coalesce=True)


def _sum(column: str) -> pl.Expr:
    return pl.when(pl.col(column).count() > 0).then(pl.col(column).sum()).alias(column)


def _unmatched(pairs: pl.DataFrame, base: Analysis, head: Analysis) -> pl.DataFrame:
    """Findings on kernels of head that have no counterpart in base."""
    matched = pairs.select(row="head_rows").explode("row")
    elsewhere = _with_gpu(base).select(*_ELSEWHERE, _other=True).unique()
    known = pl.col("_other").fill_null(value=False)
    return (
        _with_gpu(head)
        .join(matched, on="row", how="anti")
        .join(elsewhere, on=_ELSEWHERE, how="left", nulls_equal=True)
        .sort("time_at_stake_s", descending=True, nulls_last=True, maintain_order=True)
        .group_by("code", "kernel", known.alias("_known"), maintain_order=True)
        .agg(
            pl.col("name", "severity", "message").first(),
            pl.col("row").n_unique().alias("launches"),
            _sum("time_at_stake_s"),
        )
        .with_columns(
            pair=pl.lit(None),
            state=pl.when("_known").then(pl.lit(KNOWN)).otherwise(pl.lit(NEW)),
            reason=pl.when("_known")
            .then(pl.lit("found on another launch of this kernel in base"))
            .otherwise(pl.lit("the launch is new")),
        )
    )


def _of_reports(base: Analysis, head: Analysis) -> pl.DataFrame:
    """Findings that concern a whole report or run, by rule."""
    sides = [_ours(a).filter(pl.col("row").is_null()).unique("code", maintain_order=True) for a in (base, head)]
    columns = ("code", "name", "severity", "kernel", "message", "time_at_stake_s")
    was, now = (s.select(columns) for s in sides)
    parts = [
        now.join(was, on="code", how="anti").with_columns(state=pl.lit(NEW)),
        now.join(was, on="code", how="semi").with_columns(state=pl.lit(KNOWN)),
        was.join(now, on="code", how="anti").with_columns(state=pl.lit(FIXED)),
    ]
    return pl.concat(parts).with_columns(pair=pl.lit(None), reason=pl.lit(None), launches=pl.lit(0))
