"""T001 launch-overhead: the kernel is dominated by the cost of launching it.

What it does
    Finds kernels so short that launching, ramping up and draining take most of their time.

Why it matters
    Work added to such a kernel is free, and making its code faster gains nothing: only fewer or larger launches do.

How it decides
    The duration is within three launch floors, the bound max(W/F, Q/B) explains less than a quarter of it, and SM and
    memory throughput are below a quarter of peak as well, where they are known: integer work has no FLOPs and fills the
    SM all the same. The floor is the shortest kernel of the report, or the default of the GPU's class where that is
    lower. Where a tenth of the SMs have no block and the kernel takes more than one and a half floors, the grid is the
    better explanation, and T002 speaks instead. In a sweep, launches that differ in work by four times and more and
    take the same time (within 10 %) are named as further evidence. Not launching saves a floor at most: the time at
    stake is that, or less where the busiest roof or unit was used for more of the time. Confidence is high where both
    the roof and a throughput, or launches of a sweep, say the same.

What to do
    Put the launches into one: a batched or grouped call, fusion with a neighbour, a CUDA graph.

When it is wrong
    ncu's duration has no host part: a gap between launches does not show here, and a longer kernel can still wait for
    the host. With locked base clocks short kernels take longer than in the real program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T001"
NAME = "launch-overhead"
SEVERITY = "warning"
NEEDS = ("duration_s", ("roof_pct", "sm_pct"))
TIER = "roofline"
LIMITS = {
    "same_time": Limit(
        1.10,
        "x",
        "launches within 10 % of each other count as taking the same time",
        "H100 FP16 n = 256 and 512: 4.46 and 4.48 µs",
    ),
    "more_work": Limit(
        4.0,
        "x",
        "work that differs this much and costs nothing leaves only overhead",
        "H100 FP16 n = 256 and 512 differ 8-fold",
    ),
}

ADVICE = (
    "Launch less often: a batched or grouped call, fusion with a neighbouring kernel, or a CUDA graph; a larger "
    "problem costs nothing more until it leaves this range."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels whose placement is overhead-bound; see the module's documentation."""
    frame = kernels.with_columns(_floor=pl.col("_floor_s"), _shortest=pl.col("duration_s").min().over("source_sha256"))
    hit = frame.filter(pl.col("verdict") == verdicts.OVERHEAD)
    hit = _with_peer(hit, limits).with_columns(
        _used=pl.max_horizontal("roof_pct", "sm_pct", "memory_pct"),
    )
    hit = hit.with_columns(
        # A launch less saves a floor at most, and the work must still be done.
        _stake=pl.min_horizontal(pl.col("duration_s") * (1 - pl.col("_used") / 100), "_floor")
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence=_confidence,
        evidence=[
            Evidence("duration_s", "s", "_floor", "limit: launch floor of this GPU"),
            Evidence("time_bound_s", "s", "duration_s", "max(W/F, Q/B); limit: duration"),
            Evidence(
                "_used",
                "%",
                100 * verdicts.OVERHEAD_EFFICIENCY,
                "share of the roof or of Nsight's throughput peak, the larger",
            ),
        ],
    )


def _with_peer(hit: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """``_peer_ratio``: how much more work another overhead-bound launch of the same sweep did in the same time."""
    keyed = hit.filter(pl.col("op_sweep").is_not_null() & (pl.col("useful_flop") > 0))
    group = ["source_sha256", "op", "op_dtype", "op_sweep"]
    rows, ratios = [], []
    for _, series in keyed.sort("duration_s", maintain_order=True).group_by(group, maintain_order=True):
        times, works = series["duration_s"].to_numpy(), series["useful_flop"].to_numpy()
        first = np.searchsorted(times, times / limits["same_time"], side="left")
        last = np.searchsorted(times, times * limits["same_time"], side="right")
        most = np.array([works[i:j].max() for i, j in zip(first, last, strict=True)])
        enough = most >= limits["more_work"] * works
        rows += series["row"].to_numpy()[enough].tolist()
        ratios += (most / works)[enough].tolist()
    peers = pl.DataFrame({"row": rows, "_peer_ratio": ratios}, schema={"row": pl.UInt32, "_peer_ratio": pl.Float64})
    return hit.join(peers, on="row", how="left", maintain_order="left")


def _confidence(k: Row) -> str:
    seen = k["sm_pct"] is not None or k["memory_pct"] is not None or k["_peer_ratio"] is not None
    return "high" if k["roof_pct"] is not None and seen else "medium"


def _message(k: Row) -> str:
    parts = []
    if k["roof_pct"] is not None:
        parts.append(f"its work and bytes explain {percent(k['roof_pct'])} of that")
    if k["roof_pct"] is None or k["_used"] > k["roof_pct"]:
        parts.append(f"no unit is used to more than {percent(k['_used'])}, averaged over the GPU")
    explained = ", ".join(parts)
    peer = f"; {k['_peer_ratio']:.0f} x the work takes the same time in this sweep" if k["_peer_ratio"] else ""
    floor = f"with a launch floor of {si(k['_floor'], 's')}"
    if k["_floor"] >= k["duration_s"]:
        floor = "and is the shortest kernel here"
    elif k["_floor"] == k["_shortest"]:
        floor = f"where the shortest kernel here takes {si(k['_floor'], 's')}"
    return f"takes {si(k['duration_s'], 's')} {floor}; {explained}{peer}"
