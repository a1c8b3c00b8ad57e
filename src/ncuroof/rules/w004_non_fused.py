"""W004 non-fused: separate additions and multiplications where multiply-adds would do.

What it does
    Finds kernels limited by arithmetic that execute many plain additions and multiplications.

Why it matters
    The roof counts multiply-adds, two operations an instruction. A mix without them has half that roof.

How it decides
    Per precision: one multiply-add replaces one addition and one multiplication, so no more pairs can fuse than there
    are of the rarer of the two. Those pairs are more than 10 % of the arithmetic instructions. Only where arithmetic is
    what limits: the kernel lies right of the ridge point and reaches 60 % of its roof, or its pipe is that busy. The
    time at stake assumes that all of them pair up.

What to do
    Allow contraction (-fmad=true, no strict floating-point mode), rearrange a*b + c, use fma(), factor polynomials by
    Horner's rule.

When it is wrong
    Sums and products that do not pair up stay as they are: then the attainable roof is lower than the one drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "W004"
NAME = "non-fused"
SEVERITY = "info"
NEEDS = ("duration_s", ("fp32_fma", "fp64_fma"))
TIER = "roofline"
LIMITS = {
    "gain": Limit(0.10, "1", "min(add, mul) / (add + mul + fma)", "Nsight rule FPInstructions"),
    "busy_pct": Limit(verdicts.HIGH_PCT, "%", "below it arithmetic is not the limit", "Nsight rule SOLBottleneck"),
}

ADVICE = (
    "Allow contraction (-fmad=true), rearrange a*b + c, use fma() explicitly, and factor polynomials by Horner's rule."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels with avoidable arithmetic instructions; see the module's documentation."""
    frame = kernels.with_columns(_fp32=_gain("fp32"), _fp64=_gain("fp64"))
    pipe = {"fp32": "fma_pct", "fp64": "fp64_pct"}
    chosen = pl.when(pl.col("path") == "fp64").then(pl.lit("fp64")).otherwise(pl.lit("fp32"))
    value = pl.when(chosen == "fp64").then(pl.col("_fp64")).otherwise(pl.col("_fp32"))
    busy = pl.max_horizontal(
        pl.when(pl.col("bound") == "compute").then(pl.col("compute_roof_pct")),
        pl.when(chosen == "fp64").then(pl.col(pipe["fp64"])).otherwise(pl.col(pipe["fp32"])),
    )
    hit = frame.with_columns(_precision=chosen, _gain=value, _busy_pct=busy).filter(
        pl.col("_matters")
        & (pl.col("_gain") > limits["gain"])
        & (pl.col("_busy_pct") >= limits["busy_pct"])
        & (pl.col("verdict") != verdicts.MEMORY)
        & pl.col("path").is_in(["fp32", "fp64"])
    )
    hit = hit.with_columns(
        _stake=pl.col("duration_s") * pl.col("_gain") * pl.col("_busy_pct").clip(upper_bound=100) / 100
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence="low",
        evidence=[
            Evidence("_gain", "1", limits["gain"], "min(add, mul) / (add + mul + fma)"),
            Evidence("_busy_pct", "%", limits["busy_pct"], "share of the arithmetic roof, or of the pipe"),
        ],
    )


def _gain(precision: str) -> pl.Expr:
    """Share of arithmetic instructions that pairing an addition with a multiplication each would save."""
    adds, products = pl.col(f"{precision}_add"), pl.col(f"{precision}_mul")
    total = adds + products + pl.col(f"{precision}_fma")
    pairs = pl.when(adds.is_not_null() & products.is_not_null()).then(pl.min_horizontal(adds, products))
    return pl.when(total > 0).then(pairs / total)


def _message(k: Row) -> str:
    plain = k[f"{k['_precision']}_add"] + k[f"{k['_precision']}_mul"]
    total = plain + k[f"{k['_precision']}_fma"]
    return (
        f"{percent(100 * plain / total)} of the {k['_precision'].upper()} instructions are plain additions and "
        f"multiplications; fused they would be up to {percent(100 * k['_gain'])} fewer"
    )
