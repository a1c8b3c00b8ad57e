"""R007 near-roof: little or nothing to gain in the implementation.

What it does
    Says which kernels are as fast as their roof allows.

Why it matters
    Time spent on such a kernel's code is lost. Only its place on the chart can change.

How it decides
    It reaches at least 80 % of its roof, or 90 % where the roof itself was measured, and does not lie above it. Between
    80 and 90 % of a nominal roof there is little to gain, not nothing: what kernels reach in practice is 80 to 97 % of
    the nominal bandwidth, depending on the GPU.

What to do
    Under the slope: move fewer bytes or raise the intensity (fusion, smaller types, larger batches). Under the flat
    part: do fewer operations or move to a higher flat part (tensor cores, or lower precision on them). Near the ridge
    point both.

When it is wrong
    The work or the bytes may be more than the problem needs (padding, W001; excess traffic, M007): then the roof is
    reached for nothing. On a GPU that reaches 94 % of its nominal bandwidth a kernel at 81 % still has a seventh to
    gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, percent
from ncuroof.rules import Limit
from ncuroof.rules._context import by_side
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "R007"
NAME = "near-roof"
SEVERITY = "note"
NEEDS = ("duration_s", "roof_pct", "bound")
TIER = "roofline"
LIMITS = {
    "reached_pct": Limit(80.0, "%", "of a nominal roof; real kernels end at 80 to 95 %", "Nsight's 80 % of peak"),
    "measured_pct": Limit(90.0, "%", "of a measured roof, which a kernel did reach", "repeat scatter"),
    "nothing_pct": Limit(
        90.0,
        "%",
        "of a nominal roof; below it the GPU may have more to give",
        "highest bandwidth measured over nominal: V100 0.94 to 0.97, H100 0.92, RTX 4080 0.92, H200 0.89, A100 0.83",
    ),
    "above_pct": Limit(105.0, "%", "beyond that the roof is in doubt (R005)", "threshold of R005"),
}

LOWEST = ("fp4", "int4", "int1")
"""Paths below which there is no lower precision to move to."""


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels at their roof; see the module's documentation."""
    source = pl.when(pl.col("bound") == "memory").then(pl.col("roof_bytes_s_source")).otherwise("roof_flop_s_source")
    measured = source.str.starts_with("measured").fill_null(value=False)
    least = pl.when(measured).then(limits["measured_pct"]).otherwise(limits["reached_pct"])
    hit = kernels.with_columns(_least=least, _measured=measured).filter(
        pl.col("_matters") & (pl.col("roof_pct") >= least) & (pl.col("roof_pct") <= limits["above_pct"])
    )
    return findings(
        hit,
        message=lambda k: _message(k, limits["nothing_pct"]),
        advice=_advice,
        confidence="high",
        evidence=[
            Evidence("roof_pct", "%", "_least", "max(W/F, Q/B) / T"),
            Evidence("intensity", "FLOP/byte", "ridge", "W / Q; limit: ridge point"),
        ],
    )


def _message(k: Row, nothing_pct: float) -> str:
    left = "nothing" if k["_measured"] or round(k["roof_pct"]) >= nothing_pct else "little"
    where = f" at {digits(k['intensity'])} FLOP/byte" if k["intensity"] is not None else ""
    return (
        f"reaches {percent(k['roof_pct'])} of the {k['bound']} roof{where}: its implementation has {left} left to gain"
    )


def _advice(k: Row) -> str:
    return by_side(
        k,
        left="Only fewer bytes help: fuse with neighbours, use smaller types, batch more rows to raise the intensity.",
        right=f"Only fewer operations or a higher flat part help: {_higher(k)}another algorithm.",
        near="Near the ridge point bytes and operations must both shrink: lower precision does both.",
    )


def _higher(k: Row) -> str:
    """What lies above the flat part that the kernel has reached."""
    if not k["_tensor"]:
        return "tensor cores, lower precision, "
    # A lower precision than these is no matter of choosing another kernel.
    return "" if k["path"] in LOWEST else "lower precision on the tensor cores, "
