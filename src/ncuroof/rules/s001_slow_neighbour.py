"""S001 slow-neighbour: a smaller M takes longer than a larger one.

What it does
    Finds matrix products of a sweep that would be faster if they were padded to a larger M of the same sweep.

Why it matters
    Libraries pick kernels by size, and not always well. On B300 an FP16 product with M = 4 takes 0.064 ms and with
    M = 8 0.028 ms: padding halves the time.

How it decides
    Two points with the same N, K, type and series: the larger M is at least 15 % faster. Where points were measured
    several times, their ranges must not overlap either. Outside a named sweep, where the two may be different layers,
    it is a note. The time at stake is the difference.

What to do
    Pad M to the faster size, ask the library for another algorithm (cuBLASLt heuristics, autotuning), or batch rows.

When it is wrong
    Single measurements scatter: 12 % between neighbouring sizes is seen where the bytes are the same. Measure each
    point several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, si
from ncuroof.rules import Limit, _sweeps
from ncuroof.rules._findings import Evidence, Row, findings, none

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "S001"
NAME = "slow-neighbour"
SEVERITY = "warning"
NEEDS = ("op_m", "op_n", "op_k", "useful_flop", "duration_s")
TIER = "annotation"
LIMITS = {
    "slower": Limit(
        1.15,
        "x",
        "single measurements of one sweep scatter by up to 12 %; H100 M = 4 against 8 is 1.21, B300 2.3",
        "RTX 4080 FP16 M = 8 and 16: 242 and 216 µs",
    ),
}


def applies() -> pl.Expr:
    """Annotated matrix products."""
    return pl.col("op_m").is_not_null() & pl.col("op_n").is_not_null() & pl.col("op_k").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Products slower than a larger neighbour; see the module's documentation."""
    slow = _sweeps.faster_larger(_sweeps.points(kernels), limits["slower"], same=("op_n", "op_k"))
    if slow.is_empty():
        return none()
    key = [*_sweeps.SERIES, *_sweeps.SIZES]
    hit = kernels.join(
        slow.select([*key, "_t_other", "op_m_other"]), on=key, how="inner", nulls_equal=True, maintain_order="left"
    ).with_columns(_stake=pl.col("duration_s") - pl.col("_t_other"))
    return findings(
        hit.filter(pl.col("_stake") > 0),
        message=_message,
        advice=lambda k: f"Pad M to {k['op_m_other']}, or ask the library for another algorithm at M = {k['op_m']}.",
        stake="_stake",
        confidence="medium",
        evidence=[
            Evidence("duration_s", "s", "_t_other", "limit: time of the larger product"),
            Evidence("op_m_other", "1", "op_m", "M of the faster product; limit: M of this one"),
        ],
        severity=lambda k: SEVERITY if k["op_sweep"] is not None else "note",
    )


def _message(k: Row) -> str:
    return (
        f"M = {k['op_m']} takes {si(k['duration_s'], 's')}, M = {k['op_m_other']} with the same N and K only "
        f"{si(k['_t_other'], 's')}: {digits(k['duration_s'] / k['_t_other'])} x slower for less work"
    )
