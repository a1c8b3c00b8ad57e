"""S003 non-monotonic: more work takes less time.

What it does
    Finds matrix products of a sweep that take longer than one that is larger in its N or K as well.

Why it matters
    Time must grow with the work once launches are paid. Where it falls, the library switches from a bad kernel to a
    good one, or the point was measured badly: on B300 FP16 squares of 256, 512, 1024 and 2048 take 23, 28, 18 and 14
    µs, while BF16 takes 5, 5, 6 and 14.

How it decides
    Within a named sweep, a product that is at least as large in M, N and K, and larger in N or K, is at least 15 %
    faster; with repeated measurements their ranges must not overlap. A larger M alone is S001. The time at stake is the
    difference.

What to do
    Measure the slow points again with several repetitions; then ask the library for another algorithm at these sizes.

When it is wrong
    Points measured at different clocks, or one by one with cold and warm caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, si
from ncuroof.rules import Limit, _sweeps
from ncuroof.rules._findings import Evidence, Row, findings, none

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "S003"
NAME = "non-monotonic"
SEVERITY = "warning"
NEEDS = ("op_m", "op_n", "op_k", "op_sweep", "useful_flop", "duration_s")
TIER = "annotation"
LIMITS = {
    "slower": Limit(1.15, "x", "single measurements of one sweep scatter by up to 12 %", "as S001"),
}


def applies() -> pl.Expr:
    """Annotated matrix products of a named sweep."""
    return pl.col("op_sweep").is_not_null() & pl.col("op_m").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Products slower than a larger one; see the module's documentation."""
    points = _sweeps.points(kernels)
    slow = _sweeps.faster_larger(points, limits["slower"], other=("op_n", "op_k"))
    if slow.is_empty():
        return none()
    key = [*_sweeps.SERIES, *_sweeps.SIZES]
    others = ["_t_other", *(f"{s}_other" for s in _sweeps.SIZES)]
    hit = kernels.join(
        slow.select([*key, *others]), on=key, how="inner", nulls_equal=True, maintain_order="left"
    ).with_columns(_stake=pl.col("duration_s") - pl.col("_t_other"))
    return findings(
        hit.filter(pl.col("_stake") > 0),
        message=_message,
        advice="Measure it again with several repetitions; then ask the library for another algorithm at this size.",
        stake="_stake",
        confidence="medium",
        evidence=[Evidence("duration_s", "s", "_t_other", "limit: time of the larger product")],
    )


def _message(k: Row) -> str:
    shape = " x ".join(str(k[s]) for s in _sweeps.SIZES)
    other = " x ".join(str(k[f"{s}_other"]) for s in _sweeps.SIZES)
    return (
        f"{shape} takes {si(k['duration_s'], 's')}, the larger {other} only {si(k['_t_other'], 's')}: "
        f"{digits(k['duration_s'] / k['_t_other'])} x slower for less work"
    )
