"""R006 false-memory-bound: memory-bound only under the roof of a path that the kernel does not use.

What it does
    Finds kernels that are compute-bound on the path they use and would be called memory-bound under the tensor roof
    that people draw by habit.

Why it matters
    A kernel at 50 FLOP/byte is memory-bound on an H100's FP16 tensor cores, whose ridge point is 255, and compute-bound
    on its FP32 CUDA cores, whose ridge point is 19.9. Judged by the wrong roof one goes and saves bytes, and nothing
    becomes faster.

How it decides
    The path is known from counters, the kernel lies right of its ridge point and left of the ridge point of the
    annotated type's path, or, without annotation, of the FP16 tensor path, and L1 or L2 is not what limits it. Where
    the annotation names that other path it is an observation about the program (info); otherwise it is a note on how to
    read the chart.

What to do
    Read the kernel under the roof of its own path: fewer operations or a faster path help, fewer bytes do not.

When it is wrong
    Near the ridge point both sides count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import paths, verdicts
from ncuroof.quantity_text import digits
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.workloads.dtypes import dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "R006"
NAME = "false-memory-bound"
SEVERITY = "note"
NEEDS = ("path", "path_share", "intensity", "ridge", "roof_bytes_s", "duration_s")
TIER = "roofline"
LIMITS = {
    "reached_pct": Limit(30.0, "%", "a kernel that reaches less of its roof has other worries first", "judgement"),
}

ADVICE = "Read it under the roof of the path it uses: fewer operations or a faster path help, fewer bytes do not."


def applies() -> pl.Expr:
    """Kernels whose path is known from counters."""
    return pl.col("path_share").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels between two ridge points; see the module's documentation."""
    types = {name: dtype(name) for name in kernels["op_dtype"].unique().drop_nulls()}
    products = {name: kind.matrix[0] for name, kind in types.items() if kind and kind.matrix}
    named = pl.col("op_dtype").replace_strict(products, default=None, return_dtype=pl.String)
    habit = pl.coalesce(named, pl.lit("fp16"))
    roof = paths.pick(lambda p: p.roof, habit)
    hit = kernels.with_columns(_habit=habit, _habit_ridge=roof / pl.col("roof_bytes_s"), _named=named.is_not_null())
    hit = hit.filter(
        pl.col("_matters")
        & (pl.col("_habit") != pl.col("path"))
        & (pl.col("bound") == "compute")
        & (pl.col("verdict") != verdicts.MEMORY)
        & (pl.col("intensity") < pl.col("_habit_ridge"))
        & (pl.col("compute_roof_pct") >= limits["reached_pct"])
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        confidence="high",
        evidence=[
            Evidence("intensity", "FLOP/byte", "ridge", "W / Q; limit: ridge point of the path used"),
            Evidence("_habit_ridge", "FLOP/byte", None, "ridge point of the other path"),
        ],
        severity=lambda k: "info" if k["_named"] else SEVERITY,
    )


def _message(k: Row) -> str:
    return (
        f"{digits(k['intensity'])} FLOP/byte is compute-bound on the {k['path']} path it uses (ridge point "
        f"{digits(k['ridge'])}); the {k['_habit']} roof (ridge point {digits(k['_habit_ridge'])}) would call it "
        "memory-bound"
    )
