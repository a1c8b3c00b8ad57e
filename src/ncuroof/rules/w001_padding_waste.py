"""W001 padding-waste: executed work exceeds useful work, and that costs time.

What it does
    Finds matrix products that compute rows or columns nobody asked for because the kernel works in tiles of a fixed
    size, where this sets the time.

Why it matters
    A 32-row tile that holds 2 useful rows does sixteen times the work. Left of the ridge point this is free, because
    reading the weights sets the time. Right of it, it is the time.

How it decides
    Useful work Wu is 2MNK from the annotated shape. Executed work Wx is, first that is known:
    (a) the operations counted on the path used;
    (b) from a sweep over M with the other sizes fixed: launches of larger M that take the same time execute at least
        the work of the largest of them, so that work is a lower bound of what all of them execute. The placement does
        not know it: verdict and percentage of the roof of such a launch count useful work only.
    Reported where Wx / Wu is large and the padded intensity Wx / Q lies right of the ridge point F / B. Left of it
    nothing is reported: the time is Q / B either way. The time at stake scales the measured time by
    max(Wu / F, Q / B) / max(Wx / F, Q / B).

What to do
    Choose M as a multiple of the tile, batch more rows into one call, or use a kernel with a smaller tile. For M = 1 a
    GEMV kernel has no padding.

When it is wrong
    Causal attention executes masked blocks on purpose. A sweep whose plateau has another cause (a fixed latency) can
    look like (b): the confidence says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import paths
from ncuroof.quantity_text import digits, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "W001"
NAME = "padding-waste"
SEVERITY = "warning"
NEEDS = ("useful_flop", "duration_s", "roof_flop_s", "roof_bytes_s", "traffic_bytes")
TIER = "roofline"
LIMITS = {
    "executed_over_useful": Limit(
        1.25,
        "x",
        "below a quarter extra, rounding of sizes to tiles is the price of any tiled kernel",
        "H100 layers with known shapes: 1.125 is ordinary",
    ),
    "plateau": Limit(
        1.05,
        "x",
        "times within 5 % of each other count as equal in a sweep",
        "spread of repeated runs of one shape",
    ),
    "plateau_work": Limit(
        2.0,
        "x",
        "a plateau must span at least a doubling of M to be told from scatter",
        "sweeps double M from point to point",
    ),
}

ADVICE = (
    "Make M a multiple of the tile, batch more rows into one call, or pick a kernel with a smaller tile; for M = 1 a "
    "GEMV kernel has no padding."
)


def applies() -> pl.Expr:
    """Annotated matrix products."""
    return pl.col("op_m").is_not_null() & pl.col("op_n").is_not_null() & pl.col("op_k").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Matrix products whose padding costs time; see the module's documentation."""
    frame = _with_plateau(kernels.with_columns(_counted=paths.pick(lambda p: p.work)), limits["plateau"])
    inferred = pl.when(pl.col("_top_flop") >= limits["plateau_work"] * pl.col("useful_flop")).then(pl.col("_top_flop"))
    frame = frame.with_columns(
        _executed=pl.coalesce("_counted", inferred),
        _by=pl.when(pl.col("_counted").is_not_null()).then(pl.lit("counted")).otherwise(pl.lit("plateau")),
    ).with_columns(
        _ratio=pl.col("_executed") / pl.col("useful_flop"),
        _padded_intensity=pl.col("_executed") / pl.col("traffic_bytes"),
    )
    memory = pl.col("traffic_bytes") / pl.col("roof_bytes_s")
    unpadded = pl.max_horizontal(pl.col("useful_flop") / pl.col("roof_flop_s"), memory)
    padded = pl.max_horizontal(pl.col("_executed") / pl.col("roof_flop_s"), memory)
    hit = frame.filter(
        (pl.col("_ratio") >= limits["executed_over_useful"]) & (pl.col("_padded_intensity") > pl.col("ridge"))
    ).with_columns(_stake=pl.col("duration_s") * (1 - unpadded / padded))
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence=lambda k: "high" if k["_by"] == "counted" else "medium",
        evidence=[
            Evidence("useful_flop", "FLOP", None, "shape of the annotation: 2MNK"),
            Evidence(
                "_executed",
                "FLOP",
                "useful_flop",
                "counted on the path used, or the top of the sweep's plateau",
            ),
            Evidence("_padded_intensity", "FLOP/byte", "ridge", "executed work / DRAM bytes; limit: ridge point"),
        ],
    )


def _with_plateau(frame: pl.DataFrame, spread: float) -> pl.DataFrame:
    """``_top_m`` and ``_top_flop``: the largest M up to which the time of a launch stays the same within its sweep.

    Points of a sweep are launches of one report with the same operation, type, N, K and sweep name; each M counts with
    the median of its launches.
    """
    group = ["source_sha256", "op", "op_dtype", "op_sweep", "op_n", "op_k"]
    points = (
        frame.filter(pl.col("op_sweep").is_not_null())
        .group_by([*group, "op_m"])
        .agg(_t=pl.col("duration_s").median(), _w=pl.col("useful_flop").first())
    )
    tops = []
    several = points.filter(pl.len().over(group) > 1)
    for key, sweep in several.sort("op_m").group_by(group, maintain_order=True):
        sizes, works = sweep["op_m"].to_list(), sweep["_w"].to_list()
        times = sweep["_t"].to_numpy()
        for start, first in enumerate(times):
            outside = (times[start:] < first / spread) | (times[start:] > first * spread)
            end = start + int(outside.argmax()) - 1 if outside.any() else len(times) - 1
            tops.append((*key, sizes[start], sizes[end], works[end]))
    schema = {c: frame.schema[c] for c in [*group, "op_m"]} | {"_top_m": pl.UInt64, "_top_flop": pl.Float64}
    found = pl.DataFrame(tops, schema=schema, orient="row")
    return frame.join(found, on=[*group, "op_m"], how="left", nulls_equal=True, maintain_order="left")


def _message(k: Row) -> str:
    what = f"executes {digits(k['_ratio'])} x the useful work"
    if k["_by"] == "plateau":
        what = f"takes as long as M = {k['_top_m']}, so it executes at least {digits(k['_ratio'])} x the useful work"
    # The placement comes before the rules, so its percentage cannot know of work that was inferred here.
    only = "; its percentage of the roof counts useful work only" if k["_by"] == "plateau" else ""
    return (
        f"M = {k['op_m']} {what} ({si(k['_executed'], 'FLOP')} for {si(k['useful_flop'], 'FLOP')}), and with "
        f"it lies right of the ridge point: intensity {digits(k['_padded_intensity'])} against "
        f"{digits(k['ridge'])} FLOP/byte{only}"
    )
