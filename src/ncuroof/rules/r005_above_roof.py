"""R005 above-roof: a point lies above a roof that it cannot exceed.

What it does
    Finds kernels that did more per second than their roof allows, where L2 residency (R001) is not the explanation.

Why it matters
    Nothing runs faster than its roof. Either the roof is too low (a measured one that was no maximum, a dense one for a
    sparse kernel, FP32 accumulation for a kernel with FP16 accumulation) or the point is wrong (time base, shape,
    counters). Every percentage of it is then wrong as well.

How it decides
    W / F, or Q / B with bytes that were counted at DRAM, exceeds the measured time by more than the scatter of the
    roof's source: 5 % for the report's own peak and measured roofs, 10 % for device and data-sheet values, which cards
    exceed legitimately (RTX 4080: 104.2 TFLOP/s of FP16 against 97.5 in the data sheet). Below 5 µs the rates
    themselves carry 30 %.

What to do
    What the finding names: choose the sparse roof for 2:4 kernels, calibrate the machine (``ncuroof calibrate``),
    check the annotated shape, or measure a longer kernel.

When it is wrong
    A card that clocks above its specification exceeds a data sheet a little: raise the threshold or calibrate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CODE = "R005"
NAME = "above-roof"
SEVERITY = "warning"
NEEDS = ("duration_s", ("compute_roof_pct", "memory_roof_pct"))
TIER = "roofline"
LIMITS = {
    "measured_pct": Limit(105.0, "%", "scatter of repeated measurements", "as R001"),
    "nominal_pct": Limit(110.0, "%", "cards exceed device and data-sheet values by up to 8 %", "RTX 4080 measured"),
    "min_duration": Limit(5e-6, "s", "below 5 µs rates carry 30 %", "time-base scatter over 1,634 public kernels"),
}


IMPOSSIBLE_CLOCK = 1.02
"""Share of the maximum clock above which the clock was not measured right (rule D009)."""


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels above a roof; see the module's documentation."""

    def above(percent_of_roof: str, source: str) -> pl.Expr:
        nominal = pl.col(source).str.contains("^(device|datasheet)").fill_null(value=False)
        limit = pl.when(nominal).then(limits["nominal_pct"]).otherwise(limits["measured_pct"])
        return (pl.col(percent_of_roof) > limit).fill_null(value=False)

    counted = pl.col("dram_bytes").is_not_null()
    compute = above("compute_roof_pct", "roof_flop_s_source")
    memory = above("memory_roof_pct", "roof_bytes_s_source") & counted
    hit = kernels.with_columns(_compute=compute, _memory=memory).filter(
        (compute | memory) & (pl.col("duration_s") >= limits["min_duration"])
    )
    hit = hit.with_columns(
        _pct=pl.when("_compute").then(pl.col("compute_roof_pct")).otherwise(pl.col("memory_roof_pct")),
        _roof_source=pl.when("_compute").then(pl.col("roof_flop_s_source")).otherwise(pl.col("roof_bytes_s_source")),
        _doubt=pl.col("duration_s"),
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_doubt",
        confidence="medium",
        evidence=[
            Evidence("compute_roof_pct", "%", limits["measured_pct"], "W / F / T"),
            Evidence("memory_roof_pct", "%", limits["measured_pct"], "Q / B / T"),
            Evidence("op_tensor_sparse", "op", None, "operations counted as 2:4 sparse"),
            Evidence("clock_ratio", "1", 1.0),
        ],
    )


_CAUSES: tuple[tuple[Callable[[Row], bool], str, str], ...] = (
    (
        lambda k: (k["clock_ratio"] or 0) > IMPOSSIBLE_CLOCK,
        "the SM clock is above its maximum, so the time base is off",
        "Measure a longer kernel.",
    ),
    (
        lambda k: not k["_compute"],
        "DRAM cannot deliver that",
        "Calibrate the bandwidth roof (`ncuroof calibrate`), or measure a longer kernel in fewer passes.",
    ),
    (
        lambda k: (k["op_tensor_sparse"] or 0) > 0,
        "it uses 2:4 sparsity, the roof is dense",
        "Hold it against the sparse roof, twice the dense one.",
    ),
    (
        lambda k: (k["flop_fp16_acc_fp16"] or 0) > 0 or (k["flop_fp8_acc_fp16"] or 0) > 0,
        "it accumulates in FP16, which GeForce cards do at twice the rate of FP32",
        "Hold it against the roof with FP16 accumulation (--roofs FILE).",
    ),
    (
        lambda k: str(k["_roof_source"]).startswith("measured"),
        "the measured roof was no maximum",
        "Calibrate this machine (`ncuroof calibrate`) or use --roof device.",
    ),
    (
        lambda k: str(k["flop_source"]).startswith("useful"),
        "the annotated shape or the roof is wrong",
        "Check the annotated sizes and element type, then the roof.",
    ),
    (
        lambda _k: True,
        "the roof is too low or is that of another path",
        "Check the roof's source; calibrate, or name it with --roofs FILE.",
    ),
)
"""What explains it, most telling first, and what to do about it."""


def _cause(k: Row) -> tuple[str, str]:
    return next((why, what) for holds, why, what in _CAUSES if holds(k))


def _message(k: Row) -> str:
    what = f"the {k['path'] or 'compute'} roof" if k["_compute"] else "the DRAM roof"
    return f"lies at {percent(k['_pct'])} of {what} ({k['_roof_source']}): {_cause(k)[0]}"


def _advice(k: Row) -> str:
    return _cause(k)[1]
