"""R001 l2-resident: the data comes from L2, so the DRAM roof is not the limit.

What it does
    Finds kernels whose data sits in the L2 cache when they run: points that lie above the DRAM roof when they are drawn
    with the bytes their shape demands, or that move far fewer bytes through DRAM than that.

Why it matters
    Such a point is not a record: its arithmetic intensity is wrong for the DRAM roof. In a benchmark loop the weights
    stay in L2 from one run to the next, in the real program they usually do not, and the kernel then takes longer.

How it decides
    With Qc the compulsory bytes of the annotated shape, Q the bytes measured at DRAM, T the time and B the DRAM roof:
    (a) Qc / T exceeds B by more than the scatter of a measured roof, which DRAM cannot deliver;
    (b) the reads measured at DRAM fall well short of the reads that the shape demands, and Qc fits in L2;
    (c) without a shape: nearly all L2 accesses hit, DRAM idles, and the memory system is busy all the same.
    L2 size and hit rate are given as evidence. Writes may stay dirty in L2 when a kernel ends, so (b) looks at reads.
    With caches flushed before every pass, (b) is not looked for: residency cannot show (see D006). No time is at stake
    in this run; what the same bytes would take from DRAM is said in (a), for the real program may take that long.

What to do
    Recompute the intensity from the measured DRAM bytes and compare with the L2 roof. To know the time with cold data,
    measure again with a working set of more than four times the L2, or with --cache-control all.

When it is wrong
    Compressible memory moves fewer bytes than it stores. A wrong shape in the annotation looks like residency, unless
    it is so wrong that not even L2 could deliver its bytes (D013).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "R001"
NAME = "l2-resident"
SEVERITY = "warning"
NEEDS = ("duration_s", ("compulsory_bytes", "l2_hit_pct"))
TIER = "roofline"
LIMITS = {
    "above_roof": Limit(
        1.05,
        "x",
        "measured roofs scatter by a few percent; 5 % above one is beyond that",
        "repeat scatter of the measured roofs",
    ),
    "read_share": Limit(
        0.8,
        "1",
        "reads short of the compulsory ones by a fifth cannot be rounding or skew",
        "tests on layers with known shapes",
    ),
    "l2_share": Limit(1.0, "1", "what is larger than L2 cannot stay in it as a whole", "definition"),
    "hit_pct": Limit(90.0, "%", "nearly every access hits", "3 % of public kernels pass all three tests of (c)"),
    "dram_pct": Limit(20.0, "%", "DRAM idles", "3 % of public kernels pass all three tests of (c)"),
    "memory_pct": Limit(
        60.0, "%", "the memory system is busy by Nsight's own measure", "Nsight Compute rule SOLBottleneck"
    ),
    "min_duration": Limit(5e-6, "s", "below 5 µs rates carry 30 %", "time-base scatter over 1,634 public kernels"),
}

ADVICE = (
    "Draw the point with the measured DRAM bytes and hold it against the L2 roof. To see the time with cold data, use "
    "a working set of more than four times the L2, or flush the caches (--cache-control all)."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels that DRAM alone cannot explain; see the module's documentation."""
    rate = pl.col("compulsory_bytes") / pl.col("duration_s")
    above = rate > limits["above_roof"] * pl.col("roof_bytes_s")
    flushed = (pl.col("cache_control") == "all").fill_null(value=False)
    fits = pl.col("compulsory_bytes") <= limits["l2_share"] * pl.col("l2_size_bytes")
    few_reads = (pl.col("dram_read_bytes") < limits["read_share"] * pl.col("_read_demand")) & fits & ~flushed
    by_hits = (
        pl.col("compulsory_bytes").is_null()
        & (pl.col("l2_hit_pct") >= limits["hit_pct"])
        & (pl.col("memory_roof_pct") < limits["dram_pct"])
        & (pl.col("memory_pct") >= limits["memory_pct"])
        & ((pl.col("l2_pct") >= limits["memory_pct"]) | pl.col("l2_pct").is_null())
    )
    hit = (
        kernels.with_columns(
            _rate=rate,
            _read_demand=pl.col("compulsory_bytes") - pl.col("compulsory_write_bytes").fill_null(0),
        )
        .with_columns(
            _case=pl.when(above.fill_null(value=False))
            .then(pl.lit("above"))
            .when(few_reads.fill_null(value=False))
            .then(pl.lit("reads"))
            .when(by_hits.fill_null(value=False))
            .then(pl.lit("hits"))
        )
        .filter(pl.col("_case").is_not_null() & (pl.col("duration_s") >= limits["min_duration"]))
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        confidence=lambda k: {"above": "high", "reads": "medium", "hits": "low"}[k["_case"]],
        evidence=[
            Evidence("compulsory_bytes", "byte", "l2_size_bytes", "shape of the annotation; limit: L2 size"),
            Evidence("dram_bytes", "byte", "compulsory_bytes"),
            Evidence("_rate", "byte/s", "roof_bytes_s", "compulsory bytes / duration; limit: DRAM roof"),
            Evidence("l2_hit_pct", "%", limits["hit_pct"]),
            Evidence("memory_pct", "%", limits["memory_pct"]),
        ],
    )


def _message(k: Row) -> str:
    size = f", L2 holds {si(k['l2_size_bytes'], 'byte')}" if k["l2_size_bytes"] else ""
    if k["_case"] == "above":
        real = f"; measured at DRAM: {si(k['dram_bytes'], 'byte')}" if k["dram_bytes"] is not None else ""
        return (
            f"needs {si(k['compulsory_bytes'], 'byte')}, which is {si(k['_rate'], 'byte/s')}: "
            f"{k['_rate'] / k['roof_bytes_s']:.2f} x the DRAM roof of {si(k['roof_bytes_s'], 'byte/s')}, "
            f"so part of it comes from L2{size}{real}. From DRAM it would take at least "
            f"{si(k['compulsory_bytes'] / k['roof_bytes_s'], 's')} instead of {si(k['duration_s'], 's')}"
        )
    if k["_case"] == "reads":
        return (
            f"reads {si(k['dram_read_bytes'], 'byte')} from DRAM where its shape demands "
            f"{si(k['_read_demand'], 'byte')}: the rest was in L2{size}"
        )
    limit = "L2 is the limit" if k["limiter"] == "l2" else "its data comes from L2"
    return (
        f"L2 hit rate {percent(k['l2_hit_pct'])}, DRAM at {percent(k['memory_roof_pct'])} of its roof, memory "
        f"throughput {percent(k['memory_pct'])} of peak: {limit}, not DRAM{size}"
    )
