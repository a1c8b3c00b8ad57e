"""S002 plateau: throughput stops growing in a sweep and later takes a step up.

What it does
    Finds points of a sweep, right of the ridge point, whose throughput stays the same over a doubling of the size and
    lies clearly below what the same sweep reaches at larger sizes.

Why it matters
    On the flat part throughput should be the roof's. A plateau below it is a kernel choice, not the hardware: RTX 4080
    FP16 stays at 90 TFLOP/s from M = 256 to 512 and reaches 103 at M = 1024.

How it decides
    Within a named sweep over M with N and K fixed, compute-bound points in order of M: consecutive ones whose
    throughput differs by less than 5 % form a plateau; it must span a factor of two in M, and a later point must be at
    least 10 % higher. Points that take the same time as a smaller one belong to padding (W001): their throughput counts
    rows nobody asked for, and they are left out. The time at stake is W (1 / P - 1 / P later).

What to do
    Ask for another algorithm or tile at these sizes (cuBLASLt heuristics, autotuning), or batch up to the next size.

When it is wrong
    Partial waves and power limits make steps, too.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit, _sweeps
from ncuroof.rules._findings import Evidence, Row, findings, none

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "S002"
NAME = "plateau"
SEVERITY = "info"
NEEDS = ("op_m", "op_n", "op_k", "op_sweep", "useful_flop", "duration_s", "bound")
TIER = "annotation"
LIMITS = {
    "same": Limit(1.05, "x", "throughput within 5 % counts as the same", "spread of repeated runs of one shape"),
    "step": Limit(1.10, "x", "twice that is beyond scatter", "RTX 4080 FP16 M = 512 and 1024: 90 and 103 TFLOP/s"),
    "span": Limit(2.0, "x", "one point is no plateau; sweeps double M", "sweeps double M from point to point"),
}


def applies() -> pl.Expr:
    """Annotated matrix products of a named sweep."""
    return pl.col("op_sweep").is_not_null() & pl.col("op_m").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Points on a plateau below a later step; see the module's documentation."""
    series = [*_sweeps.SERIES, "op_n", "op_k"]
    rows = []
    several = _sweeps.points(kernels).filter(pl.len().over(series) > 1)
    for key, sweep in several.sort("op_m", maintain_order=True).group_by(series, maintain_order=True):
        rows += [(*key, *row) for row in _steps(sweep, limits)]
    if not rows:
        return none()
    schema = {c: kernels.schema[c] for c in [*series, "op_m"]} | {"_p": pl.Float64, "_p_later": pl.Float64}
    found = pl.DataFrame(rows, schema=schema | {"_m_later": kernels.schema["op_m"]}, orient="row")
    hit = kernels.join(found, on=[*series, "op_m"], how="inner", nulls_equal=True, maintain_order="left").with_columns(
        _stake=pl.col("useful_flop") * (1 / pl.col("_p") - 1 / pl.col("_p_later"))
    )
    return findings(
        hit,
        message=_message,
        advice="Ask the library for another algorithm or tile at this size, or batch up to the size after the step.",
        stake="_stake",
        confidence="medium",
        evidence=[
            Evidence("_p", "FLOP/s", "_p_later", "useful work / time; limit: after the step"),
            Evidence("_p", "FLOP/s", "roof_flop_s", "useful work / time; limit: roof of the path"),
        ],
    )


def _steps(sweep: pl.DataFrame, limits: Mapping[str, float]) -> list[tuple[int, float, float, int]]:
    """(M, throughput, throughput after the step, M after the step) of each point on a plateau."""
    sizes, times, works, bounds = (sweep[c].to_list() for c in ("op_m", "_t", "_w", "_bound"))
    rates = [w / t for w, t in zip(works, times, strict=True)]
    free = [bounds[i] == "compute" and (i == 0 or times[i] > limits["same"] * times[i - 1]) for i in range(len(sizes))]
    # Highest throughput from each point on.
    ahead = list(accumulate(reversed(rates), max))[::-1]
    found = []
    start = 0
    while start < len(sizes):
        end = start
        while (
            end + 1 < len(sizes)
            and free[start]
            and free[end + 1]
            and rates[start] / limits["same"] < rates[end + 1] < rates[start] * limits["same"]
        ):
            end += 1
        after = limits["step"] * rates[end]
        wide = free[start] and sizes[end] >= limits["span"] * sizes[start]
        if wide and end + 1 < len(sizes) and ahead[end + 1] >= after:
            first = next(i for i in range(end + 1, len(sizes)) if rates[i] >= after)
            found += [(sizes[i], rates[i], rates[first], sizes[first]) for i in range(start, end + 1)]
        start = end + 1
    return found


def _message(k: Row) -> str:
    return (
        f"M = {k['op_m']} stays at {si(k['_p'], 'FLOP/s')}, M = {k['_m_later']} reaches {si(k['_p_later'], 'FLOP/s')} "
        f"({percent(100 * k['_p_later'] / k['_p'] - 100)} more) with the same N and K: a kernel choice, not the roof"
    )
