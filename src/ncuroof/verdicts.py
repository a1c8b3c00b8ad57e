"""What limits a placed kernel: the verdict, the level or unit that binds (``limiter``), and why, in a clause.

The thresholds are named below, each with its reason.
"""

from __future__ import annotations

import polars as pl

from ncuroof.verdict_words import CANNOT_SAY, COMPUTE, LATENCY, MEMORY, OVERHEAD

__all__ = [
    "CANNOT_SAY",
    "COMPUTE",
    "GRID_FLOORS",
    "GRID_IDLE",
    "HIGH_PCT",
    "LATENCY",
    "MARGIN_PCT",
    "MEMORY",
    "OVERHEAD",
    "OVERHEAD_EFFICIENCY",
    "TOO_SHORT_S",
    "beyond_launch",
    "decide",
    "launch_floor",
    "launch_like",
    "sms",
]

HIGH_PCT = 60.0
"""Below this share of peak on both sides Nsight Compute itself speaks of a latency issue (rule SOLBottleneck)."""

MARGIN_PCT = 10.0
"""One unit is busier than another where it is so by Nsight's own margin of 10 points."""

OVERHEAD_FLOORS = 3.0
"""A kernel within this many launch floors ..."""

OVERHEAD_EFFICIENCY = 0.25
"""... that reaches less than this share of its bound, and of every unit's peak, spends its time on launch and ramp."""

GRID_FLOORS = 1.5
"""From here on a grid that leaves SMs idle explains more than launching does: half a floor is beyond the scatter of
the shortest kernels (3.2 to 4.1 µs on one class of chips)."""

GRID_IDLE = 0.10
"""Of the SMs without a block; a grid that leaves a few idle is a good one."""

TOO_SHORT_S = 3e-6
"""Below 3 µs the counters' time bases disagree by 30 % and more (0.65 to 1.54 over 1,634 public kernels)."""

FLOOR_FAST_S = 2.0e-6
FLOOR_DATACENTRE_S = 3.5e-6
"""Shortest kernels seen: 1.5 to 2.4 µs on CC 7.x and GeForce-class chips, 3.2 to 4.1 µs on A100, H100, B200 class."""

NAMELESS = "needs to know the GPU, which the input does not name (--gpu NAME)"


def launch_floor() -> pl.Expr:
    """The shortest time a kernel takes on its chip, in seconds: the default of its class, or the report's own minimum.

    The classes follow the compute capability: 8.0, 9.0 and 10.x have the longer floor, all others the shorter one.
    """
    slow = (
        ((pl.col("cc_major") == 8) & (pl.col("cc_minor") == 0)) | (pl.col("cc_major") == 9) | (pl.col("cc_major") == 10)
    )
    default = pl.when(slow).then(FLOOR_DATACENTRE_S).otherwise(FLOOR_FAST_S)
    return pl.min_horizontal(default, pl.col("duration_s").min().over("source_sha256"))


def sms() -> pl.Expr:
    """SMs that the launch could use."""
    return pl.coalesce("sm_count_launch", "sm_count")


def launch_like(floor: pl.Expr) -> pl.Expr:
    """Whether a kernel is as short and uses the GPU as little as one that only pays for its launch."""
    sol_known = pl.col("sm_pct").is_not_null() & pl.col("memory_pct").is_not_null()
    roof_known = pl.col("roof_pct").is_not_null()
    # Integer work has no roof of its own, but it shows in the throughput of the SM: both must be low.
    idle = pl.max_horizontal("sm_pct", "memory_pct") < 100 * OVERHEAD_EFFICIENCY
    by_roof = roof_known & (pl.col("roof_pct") < 100 * OVERHEAD_EFFICIENCY) & idle.fill_null(value=True)
    short = pl.col("duration_s") <= OVERHEAD_FLOORS * floor
    return (short & (by_roof | (~roof_known & sol_known & idle))).fill_null(value=False)


def beyond_launch(floor: pl.Expr, floors: float = GRID_FLOORS) -> pl.Expr:
    """Whether a kernel takes clearly longer than launching one does, and long enough for its counters."""
    return ((pl.col("duration_s") > floors * floor) & (pl.col("duration_s") >= TOO_SHORT_S)).fill_null(value=False)


def small_grid(floor: pl.Expr) -> pl.Expr:
    """Whether SMs without a block explain why a kernel takes longer than a launch. Ranges have no grid of their own."""
    one_kernel = (pl.col("result_kind") == "kernel").fill_null(value=True)
    idle = (1 - pl.col("grid_blocks") / sms()) >= GRID_IDLE
    return (one_kernel & idle & beyond_launch(floor)).fill_null(value=False)


def decide(frame: pl.DataFrame) -> pl.DataFrame:
    """Add ``verdict``, ``verdict_reason``, ``limiter`` and ``limiter_pct`` to kernels that have their bounds.

    The order of the cases is the order in which they are decided.
    """
    frame = frame.with_columns(
        _floor=launch_floor(),
        # On CC 7.5 Nsight's memory throughput takes L1's data stage and its port to L2 for twice as wide as they are.
        _mem=pl.max_horizontal("memory_roof_pct", "memory_pct", "memory_access_pct", "l1_pct"),
        _comp=pl.max_horizontal("compute_roof_pct", "sm_pct"),
    )
    frame = frame.with_columns(_memory_limiter=_memory_limiter(), _compute_limiter=_compute_limiter())
    grid = small_grid(pl.col("_floor"))
    sol_known = pl.col("sm_pct").is_not_null() & pl.col("memory_pct").is_not_null()
    roof_known = pl.col("roof_pct").is_not_null()
    no_counters = pl.col("dram_counters_absent").fill_null(value=False)

    by_roof = roof_known & (pl.col("roof_pct") >= HIGH_PCT)
    memory_first = pl.col("_mem").fill_null(0) >= pl.col("_comp").fill_null(0)
    # The roof decides where it binds, unless the other side is busier.
    memory = (
        pl.when(by_roof)
        .then(
            ((pl.col("bound") == "memory") & (pl.col("_comp").fill_null(0) <= pl.col("_mem").fill_null(0) + MARGIN_PCT))
            | (
                (pl.col("bound") == "compute")
                & (pl.col("_mem").fill_null(0) > pl.col("_comp").fill_null(0) + MARGIN_PCT)
            )
        )
        .otherwise(memory_first)
    )
    busy = pl.max_horizontal("_mem", "_comp") >= HIGH_PCT
    waits = pl.when(grid).then(pl.lit("grid")).otherwise(pl.lit("latency"))

    cases: list[tuple[pl.Expr, str, pl.Expr, pl.Expr]] = [
        (
            pl.col("duration_s").is_null() | (pl.col("duration_s") <= 0),
            CANNOT_SAY,
            pl.lit("needs the duration (gpu__time_duration.sum)"),
            pl.lit(None),
        ),
        (launch_like(pl.col("_floor")) & ~grid, OVERHEAD, _overhead_reason(), pl.lit("launch")),
        (
            pl.col("duration_s") < TOO_SHORT_S,
            CANNOT_SAY,
            pl.format(
                "at {} µs the counters are too coarse: profile a larger problem",
                (pl.col("duration_s") * 1e6).round(1),
            ),
            pl.lit(None),
        ),
        (busy & memory, MEMORY, _memory_reason(), pl.col("_memory_limiter")),
        (busy & ~memory, COMPUTE, _compute_reason(), pl.col("_compute_limiter")),
        (
            sol_known,
            LATENCY,
            pl.concat_str(
                _grid_clause(grid),
                pl.format(
                    "SM throughput {} %, memory throughput {} %: neither is busy",
                    _whole("sm_pct"),
                    _whole("memory_pct"),
                ),
            ),
            waits,
        ),
        (
            roof_known,
            LATENCY,
            pl.concat_str(
                _grid_clause(grid), pl.format("reaches {} % of the {} roof", _whole("roof_pct"), pl.col("bound"))
            ),
            waits,
        ),
        (
            pl.col("time_memory_s").is_null() & pl.col("time_compute_s").is_null(),
            CANNOT_SAY,
            pl.when(pl.col("traffic_bytes").is_null() & pl.col("flop").is_null() & no_counters)
            .then(
                pl.lit("needs FLOP counters (the roofline tier of `ncuroof collect`); this chip has no DRAM counters")
            )
            .when(pl.col("traffic_bytes").is_null() & pl.col("flop").is_null())
            .then(pl.lit("needs byte and FLOP counters (the roofline tier of `ncuroof collect`)"))
            .when(pl.col("gpu_name").is_null())
            .then(pl.lit(NAMELESS))
            .otherwise(pl.lit("needs the roofs of this GPU (--roofs FILE)")),
            pl.lit(None),
        ),
        (
            pl.col("time_memory_s").is_null(),
            CANNOT_SAY,
            pl.when(pl.col("traffic_bytes").is_null() & no_counters)
            .then(pl.lit("this chip has no DRAM counters, so its memory side cannot be known"))
            .when(pl.col("traffic_bytes").is_null())
            .then(pl.lit("needs DRAM byte counters (the roofline tier of `ncuroof collect`)"))
            .when(pl.col("gpu_name").is_null())
            .then(pl.lit(NAMELESS))
            .otherwise(pl.lit("needs the DRAM bandwidth of this GPU (--roofs FILE)")),
            pl.lit(None),
        ),
    ]
    verdict: pl.Expr = pl.lit(CANNOT_SAY)
    limiter: pl.Expr = pl.lit(None, dtype=pl.String)
    reason: pl.Expr = (
        pl.when(pl.col("flop").is_null())
        .then(pl.lit("needs FLOP counters (the roofline tier of `ncuroof collect`)"))
        .when(pl.col("gpu_name").is_null())
        .then(pl.lit(NAMELESS))
        .otherwise(pl.format("needs the {} roof of this GPU (--roofs FILE)", pl.col("path").fill_null("compute")))
    )
    for condition, name, why, what in reversed(cases):
        holds = condition.fill_null(value=False)
        verdict = pl.when(holds).then(pl.lit(name)).otherwise(verdict)
        reason = pl.when(holds).then(why).otherwise(reason)
        limiter = pl.when(holds).then(what).otherwise(limiter)
    frame = frame.with_columns(verdict=verdict, verdict_reason=reason, limiter=limiter)
    return frame.with_columns(limiter_pct=_limiter_pct())


def _whole(column: str) -> pl.Expr:
    return pl.col(column).round(0).cast(pl.Int64, strict=False)


def _dram() -> pl.Expr:
    """Percent of the DRAM roof, or of DRAM's peak by Nsight's own measure, the larger."""
    return pl.max_horizontal("memory_roof_pct", "dram_pct")


def _l2() -> pl.Expr:
    return pl.coalesce("l2_pct", "l2_roof_pct")


def _l1() -> pl.Expr:
    return pl.coalesce("l1_pct", "l1_roof_pct")


def _memory_limiter() -> pl.Expr:
    """Which level makes the memory side busy: dram, l2, l1, or memory where none of them accounts for it."""
    l2, l1 = _l2(), _l1()
    near = pl.col("_mem") - MARGIN_PCT
    inner = pl.max_horizontal(l2, l1).fill_null(0)
    return (
        pl.when(((_dram() >= HIGH_PCT) & (_dram() >= inner - MARGIN_PCT)).fill_null(value=False))
        .then(pl.lit("dram"))
        .when(((l2 >= l1.fill_null(0)) & (l2 >= near)).fill_null(value=False))
        .then(pl.lit("l2"))
        .when((l1 >= near).fill_null(value=False))
        .then(pl.lit("l1"))
        .otherwise(pl.lit("memory"))
    )


def _compute_limiter() -> pl.Expr:
    """The path where its roof is near, else the SM: its busiest pipe or its issue slots."""
    roof = pl.col("compute_roof_pct")
    by_path = (roof >= HIGH_PCT) & (roof >= pl.col("sm_pct").fill_null(0) - MARGIN_PCT) & pl.col("path").is_not_null()
    return pl.when(by_path.fill_null(value=False)).then(pl.col("path")).otherwise(pl.lit("sm"))


def _limiter_pct() -> pl.Expr:
    """How close the kernel is to what its limiter can do; null for launch, grid and latency, which have no peak."""
    limiter = pl.col("limiter")
    return (
        pl.when(limiter == "dram")
        .then(_dram())
        .when(limiter == "l2")
        .then(_l2())
        .when(limiter == "l1")
        .then(_l1())
        .when(limiter == "memory")
        .then(pl.col("_mem"))
        .when(limiter == "sm")
        .then(pl.coalesce("sm_pct", "_comp"))
        .when(limiter == pl.col("path"))
        .then(pl.col("compute_roof_pct"))
    )


def _memory_reason() -> pl.Expr:
    limiter = pl.col("_memory_limiter")
    by_roof = ((limiter == "dram") & (pl.col("memory_roof_pct") >= HIGH_PCT)).fill_null(value=False)
    name = limiter.replace_strict(
        {"dram": "DRAM", "l2": "L2", "l1": "L1", "memory": "memory (DRAM, L2 or L1)"}, return_dtype=pl.String
    )
    value = (
        pl.when(limiter == "dram")
        .then(pl.col("dram_pct"))
        .when(limiter == "l2")
        .then(_l2())
        .when(limiter == "l1")
        .then(_l1())
        .otherwise(pl.col("_mem"))
    )
    return (
        pl.when(by_roof)
        .then(pl.format("reaches {} % of the DRAM roof", _whole("memory_roof_pct")))
        .otherwise(pl.format("{} throughput is {} % of its peak", name, value.round(0).cast(pl.Int64, strict=False)))
    )


def _compute_reason() -> pl.Expr:
    by_path = pl.format("reaches {} % of the {} roof", _whole("compute_roof_pct"), pl.col("_compute_limiter"))
    by_sm = pl.format("SM throughput is {} % of its peak", _whole("sm_pct"))
    return pl.when(pl.col("_compute_limiter") == "sm").then(by_sm).otherwise(by_path)


def _overhead_reason() -> pl.Expr:
    time = (pl.col("duration_s") * 1e6).round(1)
    own = pl.col("_floor") >= pl.col("duration_s")
    takes = (
        pl.when(own)
        .then(pl.format("takes {} µs, the shortest kernel here", time))
        .otherwise(
            pl.format("takes {} µs where no kernel takes less than {} µs", time, (pl.col("_floor") * 1e6).round(1))
        )
    )
    uses = (
        pl.when(pl.col("roof_pct").is_not_null())
        .then(pl.format(", and uses {} % of what binds it", _whole("roof_pct")))
        .otherwise(
            pl.format(
                ", and uses no unit to more than {} %, averaged over the GPU",
                pl.max_horizontal("sm_pct", "memory_pct").round(0).cast(pl.Int64, strict=False),
            )
        )
    )
    return pl.concat_str(takes, uses)


def _grid_clause(grid: pl.Expr) -> pl.Expr:
    """``32 blocks on 132 SMs; `` where that explains the kernel, else empty."""
    blocks = pl.col("grid_blocks").cast(pl.Int64, strict=False)
    noun = pl.when(pl.col("grid_blocks") == 1).then(pl.lit("block")).otherwise(pl.lit("blocks"))
    told = pl.format("{} {} on {} SMs; ", blocks, noun, sms().cast(pl.Int64, strict=False))
    return pl.when(grid).then(told).otherwise(pl.lit(""))
