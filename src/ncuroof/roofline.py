"""Places kernels under their roofs: pure functions from the kernels table (with roofs attached) to a placement.

The model is T ≥ max(W_p / F_p over the paths used, Q / B): the paths run on different units, so the largest is a lower
bound on the time where a sum is not. ``bound`` says which side is larger, ``roof_pct`` is that bound over the measured
time, and ``verdict`` weighs in what else the report knows (throughput percentages, the launch floor).

Sources: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009, for the model. The thresholds are named below,
each with its reason.
"""

from __future__ import annotations

from functools import reduce

import polars as pl

from ncuroof.tables import PATHS, PLACEMENT

HIGH_PCT = 60.0
"""Below this share of peak on both sides Nsight Compute itself speaks of a latency issue (rule SOLBottleneck)."""

OVERHEAD_FLOORS = 3.0
"""A kernel within this many launch floors ..."""

OVERHEAD_EFFICIENCY = 0.25
"""... that reaches less than this share of its bound, and of every unit's peak, spends its time on launch and ramp."""

TOO_SHORT_S = 3e-6
"""Below 3 µs the counters' time bases disagree by 30 % and more (0.65 to 1.54 over 1,634 public kernels)."""

WORK_FRACTION = 1e-3
"""Executed FLOPs per DRAM byte below which a kernel does not compute: it is judged by the bandwidth roof alone."""

TENSOR_ACTIVE_PCT = 5.0
"""Tensor-pipe activity below this is constant moves and conversions (2 to 4 % on plain kernels, CC 8.0 and 9.0)."""

FLOOR_FAST_S = 2.0e-6
FLOOR_DATACENTRE_S = 3.5e-6
"""Shortest kernels seen: 1.5 to 2.4 µs on CC 7.x and GeForce-class chips, 3.2 to 4.1 µs on A100, H100, B200 class."""

MEMORY = "memory-bound"
COMPUTE = "compute-bound"
LATENCY = "latency-bound"
OVERHEAD = "overhead-bound"
CANNOT_SAY = "cannot-say"
NAMELESS = "needs to know the GPU, which the input does not name (--gpu NAME)"
VERDICTS = (MEMORY, COMPUTE, LATENCY, OVERHEAD, CANNOT_SAY)

INTEGER_PATHS = frozenset({"int8", "int4", "int1"})
TENSOR_PATHS = tuple(p for p in PATHS if p not in {"fp64", "fp32", "fp16_vector"})

DTYPE_PATHS: dict[str, tuple[str, ...]] = {
    "fp64": ("fp64_tensor", "fp64"),
    "fp32": ("fp32",),
    "tf32": ("tf32",),
    "fp16": ("fp16",),
    "bf16": ("bf16",),
    "fp8": ("fp8",),
    "fp6": ("fp6",),
    "fp4": ("fp4",),
    "int8": ("int8",),
    "int4": ("int4",),
}
"""Paths a matrix product of an annotated element type can take, best first: used only where no counter tells."""

MATRIX_OPS = frozenset({"gemm", "batched_gemm", "grouped_gemm", "attention", "linear", "conv"})


def work_column(path: str) -> str:
    """Name of the kernels column that holds the executed work of a path, in FLOP (integer paths: operations)."""
    return f"op_{path}" if path in INTEGER_PATHS else f"flop_{path}"


def roof_column(path: str) -> str:
    """Name of the column that :func:`ncuroof.roofs.attach` fills with the flat roof of a path, in FLOP/s."""
    return f"roof_flop_s_{path}"


def place(kernels: pl.DataFrame) -> pl.DataFrame:
    """Add the columns of :data:`ncuroof.tables.PLACEMENT` to a kernels table that has its roofs attached.

    Args:
        kernels: the kernels table with the columns of :func:`ncuroof.roofs.attach`, of
            :func:`ncuroof.roofs.boost_roofs` and of the workloads.

    Returns:
        The same rows and columns, and the placement. A placement that cannot be computed is null, and the verdict
        then says what it needs.
    """
    frame = _with_work(kernels)
    frame = _with_traffic(frame)
    frame = _with_bounds(frame)
    frame = _with_verdict(frame)
    # A row of a summary stands for all launches of its kernel, with their average duration.
    frame = frame.with_columns(gpu_time_s=pl.col("duration_s") * pl.col("invocations").fill_null(1.0))
    total = frame["gpu_time_s"].sum()
    frame = frame.with_columns(time_share=pl.col("gpu_time_s") / total if total else pl.lit(None, dtype=pl.Float64))
    wanted = [c.name for c in PLACEMENT]
    keep = [c for c in frame.columns if not c.startswith("_") and c not in wanted]
    return frame.select(*keep, *(pl.col(c.name).cast(c.dtype) for c in PLACEMENT))


def launch_floor() -> pl.Expr:
    """The shortest time a kernel takes on its chip, in seconds: the default of its class, or the report's own minimum.

    The classes follow the compute capability: 8.0, 9.0 and 10.x have the longer floor, all others the shorter one.
    """
    slow = (
        ((pl.col("cc_major") == 8) & (pl.col("cc_minor") == 0)) | (pl.col("cc_major") == 9) | (pl.col("cc_major") == 10)
    )
    default = pl.when(slow).then(FLOOR_DATACENTRE_S).otherwise(FLOOR_FAST_S)
    return pl.min_horizontal(default, pl.col("duration_s").min().over("source_sha256"))


def _with_work(frame: pl.DataFrame) -> pl.DataFrame:
    """W per path and over all of them; useful work stands in where no counter tells."""
    works = [pl.col(work_column(p)) for p in PATHS]
    frame = frame.with_columns(_executed=_executed_work(works))
    frame = _with_annotated_path(frame)
    times = [
        pl.when(pl.col(work_column(p)) > 0).then(pl.col(work_column(p)) / pl.col(roof_column(p))).alias(f"_t_{p}")
        for p in PATHS
    ]
    frame = frame.with_columns(times)
    longest = pl.max_horizontal(pl.col(f"_t_{p}") for p in PATHS)
    by_time = reduce(
        lambda rest, p: pl.when(pl.col(f"_t_{p}") == longest).then(pl.lit(p)).otherwise(rest),
        reversed(PATHS),
        pl.lit(None, dtype=pl.String),
    )
    most = pl.max_horizontal(works)
    by_work = reduce(
        lambda rest, p: pl.when((pl.col(work_column(p)) == most) & (most > 0)).then(pl.lit(p)).otherwise(rest),
        reversed(PATHS),
        pl.lit(None, dtype=pl.String),
    )
    known = pl.col("_executed").is_not_null()
    frame = frame.with_columns(
        flop=pl.when(known).then(pl.col("_executed")).otherwise(pl.col("useful_flop")),
        flop_source=pl.when(known)
        .then(_source_of_work())
        .when(pl.col("useful_flop").is_not_null())
        .then(pl.concat_str(pl.lit("useful work, "), pl.col("workload_source").fill_null("annotation"))),
        path=pl.when(known).then(pl.coalesce(by_time, by_work)).otherwise(pl.col("_annotated_path")),
    )
    share = reduce(
        lambda rest, p: pl.when(pl.col("path") == p).then(pl.col(work_column(p)) / pl.col("_executed")).otherwise(rest),
        PATHS,
        pl.lit(None, dtype=pl.Float64),
    )
    return frame.with_columns(
        path_share=pl.when(known & (pl.col("_executed") > 0)).then(share),
        executed_over_useful=pl.when(known & (pl.col("_executed") > 0) & (pl.col("useful_flop") > 0)).then(
            share * pl.col("_executed") / pl.col("useful_flop")
        ),
        paths=pl.when(known & (pl.col("_executed") > 0)).then(_paths_text()),
    )


def _executed_work(works: list[pl.Expr]) -> pl.Expr:
    """The counted work over all paths; null where a path that may have done most of it was not counted.

    A sum of zero is believed only where every unit was counted or is known to have been idle (``flop_complete``): a
    matrix product without tensor counters, and a GEMV without FP32 counters, look like zero.
    A busy tensor pipe without any count of its work makes the sum worthless, and so does a tensor kernel's name where
    neither work nor activity of the tensor pipe was measured.
    """
    tensor_known = pl.any_horizontal(pl.col(work_column(p)).is_not_null() for p in TENSOR_PATHS)
    active = pl.col("tensor_pct")
    busy = (active >= TENSOR_ACTIVE_PCT).fill_null(value=False)
    # Where the activity is unknown too, a name that says tensor cores is enough to doubt an epilogue's few FLOPs.
    uncounted = ~tensor_known & (busy | (active.is_null() & pl.col("path_hint").is_not_null()))
    total = pl.sum_horizontal(works)
    complete = pl.col("flop_complete").fill_null(value=False)
    known = pl.any_horizontal(w.is_not_null() for w in works) & ((total > 0) | complete) & ~uncounted
    return pl.when(known).then(total)


def _source_of_work() -> pl.Expr:
    """The sources of all paths that did work, each once."""
    return (
        pl.concat_list(
            pl.when(pl.col(work_column(p)) > 0).then(pl.col(f"{work_column(p)}_source")).otherwise(None) for p in PATHS
        )
        .list.drop_nulls()
        .list.unique(maintain_order=True)
        .list.join(", ")
        .replace("", "counter")
    )


def _paths_text() -> pl.Expr:
    """``fp16 98 %, fp32 2 %``: paths with at least 0.5 % of the work, in the order of PATHS."""
    parts = []
    for p in PATHS:
        share = 100 * pl.col(work_column(p)) / pl.col("_executed")
        parts.append(
            pl.when(share >= 0.5)
            .then(pl.format(f"{p} {{}} %", share.round(0).cast(pl.Int64, strict=False)))
            .otherwise(None)
        )
    return pl.concat_list(parts).list.drop_nulls().list.join(", ")


def _with_annotated_path(frame: pl.DataFrame) -> pl.DataFrame:
    """The path an annotated matrix product takes by its element type: the best one that has a roof on this GPU."""
    choice: pl.Expr = pl.lit(None, dtype=pl.String)
    dtype = pl.col("op_dtype").str.replace(r"_e\dm\d$", "").replace({"nvfp4": "fp4", "mxfp4": "fp4", "mxfp8": "fp8"})
    matrix = pl.col("op").is_in(list(MATRIX_OPS)).fill_null(value=False)
    for name, paths in DTYPE_PATHS.items():
        best: pl.Expr = pl.lit(paths[-1])
        for p in reversed(paths[:-1]):
            best = pl.when(pl.col(roof_column(p)).is_not_null()).then(pl.lit(p)).otherwise(best)
        cuda = "fp64" if name == "fp64" else "fp32" if name in {"fp32", "tf32"} else "fp16_vector"
        choice = pl.when(dtype == name).then(pl.when(matrix).then(best).otherwise(pl.lit(cuda))).otherwise(choice)
    return frame.with_columns(_annotated_path=choice)


def _with_traffic(frame: pl.DataFrame) -> pl.DataFrame:
    """Q at DRAM: what the counters say, else the compulsory bytes of the annotated shape."""
    real = pl.col("dram_bytes").is_not_null()
    return frame.with_columns(
        traffic_bytes=pl.coalesce("dram_bytes", "compulsory_bytes"),
        traffic_bytes_source=pl.when(real)
        .then(pl.col("dram_bytes_source"))
        .when(pl.col("compulsory_bytes").is_not_null())
        .then(pl.lit("compulsory (formula)")),
    )


def _with_bounds(frame: pl.DataFrame) -> pl.DataFrame:
    """Roof of the path, times, intensity and percentages."""
    roof = boost = pl.lit(None, dtype=pl.Float64)
    source = pl.lit(None, dtype=pl.String)
    for p in PATHS:
        here = pl.col("path") == p
        roof = pl.when(here).then(pl.col(roof_column(p))).otherwise(roof)
        boost = pl.when(here).then(pl.col(f"roof_boost_flop_s_{p}")).otherwise(boost)
        source = pl.when(here).then(pl.col(f"{roof_column(p)}_source")).otherwise(source)
    frame = frame.with_columns(roof_flop_s=roof, roof_flop_s_source=source, roof_boost_flop_s=boost)
    executed_time = pl.max_horizontal(pl.col(f"_t_{p}") for p in PATHS)
    # Work on a path without a roof makes the compute side unknown, unless it is a trifle beside the rest.
    unroofed = pl.sum_horizontal(
        pl.when(pl.col(roof_column(p)).is_null()).then(pl.col(work_column(p)).fill_null(0)).otherwise(0.0)
        for p in PATHS
    )
    known = pl.col("_executed").is_not_null()
    compute = (
        pl.when(known & (pl.col("_executed") == 0))
        .then(0.0)
        .when(known & (unroofed > 0.01 * pl.col("_executed")))
        .then(None)
        .when(known)
        .then(executed_time)
        .otherwise(pl.col("flop") / pl.col("roof_flop_s"))
    )
    frame = frame.with_columns(
        time_compute_s=compute,
        time_memory_s=pl.col("traffic_bytes") / pl.col("roof_bytes_s"),
        intensity=pl.when((pl.col("traffic_bytes") > 0) & (pl.col("flop") > 0)).then(
            pl.col("flop") / pl.col("traffic_bytes")
        ),
        ridge=pl.col("roof_flop_s") / pl.col("roof_bytes_s"),
    )
    both = pl.col("time_compute_s").is_not_null() & pl.col("time_memory_s").is_not_null()
    timed = pl.col("duration_s") > 0
    frame = frame.with_columns(
        time_bound_s=pl.when(both).then(pl.max_horizontal("time_compute_s", "time_memory_s")),
        bound=pl.when(both).then(
            pl.when(pl.col("time_compute_s") > pl.col("time_memory_s"))
            .then(pl.lit("compute"))
            .otherwise(pl.lit("memory"))
        ),
    )
    return frame.with_columns(
        roof_pct=pl.when(timed).then(100 * pl.col("time_bound_s") / pl.col("duration_s")),
        memory_roof_pct=pl.when(timed).then(100 * pl.col("time_memory_s") / pl.col("duration_s")),
        compute_roof_pct=pl.when(timed).then(100 * pl.col("time_compute_s") / pl.col("duration_s")),
        l2_roof_pct=pl.when(timed).then(100 * pl.col("l2_bytes") / pl.col("roof_bytes_s_l2") / pl.col("duration_s")),
        l1_roof_pct=pl.when(timed).then(100 * pl.col("l1_bytes") / pl.col("roof_bytes_s_l1") / pl.col("duration_s")),
        achieved_flop_s=pl.when(timed).then(pl.col("flop") / pl.col("duration_s")),
        achieved_bytes_s=pl.when(timed).then(pl.col("traffic_bytes") / pl.col("duration_s")),
    )


def _with_verdict(frame: pl.DataFrame) -> pl.DataFrame:
    """The verdict and the reason for it; the order of the cases is the order in which they are decided."""
    frame = frame.with_columns(
        _floor=launch_floor(),
        _mem=pl.max_horizontal("memory_roof_pct", "memory_pct"),
        _comp=pl.max_horizontal("compute_roof_pct", "sm_pct"),
    )
    time_us = (pl.col("duration_s") * 1e6).round(1)
    floor_us = (pl.col("_floor") * 1e6).round(1)
    sol_known = pl.col("sm_pct").is_not_null() & pl.col("memory_pct").is_not_null()
    roof_known = pl.col("roof_pct").is_not_null()
    sol = pl.max_horizontal("sm_pct", "memory_pct")
    # Integer work has no roof of its own, but it shows in the throughput of the SM: both must be low.
    idle = sol < 100 * OVERHEAD_EFFICIENCY
    idle_by_roof = roof_known & (pl.col("roof_pct") < 100 * OVERHEAD_EFFICIENCY) & idle.fill_null(value=True)
    idle_by_sol = ~roof_known & sol_known & idle
    short = pl.col("duration_s") <= OVERHEAD_FLOORS * pl.col("_floor")

    by_roof = roof_known & (pl.col("roof_pct") >= HIGH_PCT)
    memory_first = pl.col("_mem").fill_null(0) >= pl.col("_comp").fill_null(0)
    # The roof decides where it binds, unless the other side is busier by Nsight's own margin of 10 points.
    memory = (
        pl.when(by_roof)
        .then(
            ((pl.col("bound") == "memory") & (pl.col("_comp").fill_null(0) <= pl.col("_mem").fill_null(0) + 10))
            | ((pl.col("bound") == "compute") & (pl.col("_mem").fill_null(0) > pl.col("_comp").fill_null(0) + 10))
        )
        .otherwise(memory_first)
    )
    busy = pl.max_horizontal("_mem", "_comp") >= HIGH_PCT

    cases: list[tuple[pl.Expr, str, pl.Expr]] = [
        (
            pl.col("duration_s").is_null() | (pl.col("duration_s") <= 0),
            CANNOT_SAY,
            pl.lit("needs the duration (gpu__time_duration.sum)"),
        ),
        (
            short & (idle_by_roof | idle_by_sol),
            OVERHEAD,
            pl.format(
                "takes {} µs where no kernel takes less than {} µs, and uses {} % of what binds it",
                time_us,
                floor_us,
                pl.coalesce("roof_pct", sol).round(0).cast(pl.Int64, strict=False),
            ),
        ),
        (
            pl.col("duration_s") < TOO_SHORT_S,
            CANNOT_SAY,
            pl.format("at {} µs the counters are too coarse: profile a larger problem", time_us),
        ),
        (busy & memory, MEMORY, _busy_reason("memory")),
        (busy & ~memory, COMPUTE, _busy_reason("compute")),
        (
            sol_known,
            LATENCY,
            pl.format(
                "SM throughput {} %, memory throughput {} %: neither is busy",
                pl.col("sm_pct").round(0).cast(pl.Int64, strict=False),
                pl.col("memory_pct").round(0).cast(pl.Int64, strict=False),
            ),
        ),
        (
            roof_known,
            LATENCY,
            pl.format(
                "reaches {} % of the {} roof", pl.col("roof_pct").round(0).cast(pl.Int64, strict=False), pl.col("bound")
            ),
        ),
        (
            pl.col("time_memory_s").is_null() & pl.col("time_compute_s").is_null(),
            CANNOT_SAY,
            pl.when(pl.col("traffic_bytes").is_null() & pl.col("flop").is_null())
            .then(pl.lit("needs byte and FLOP counters (the roofline tier of `ncuroof collect`)"))
            .when(pl.col("gpu_name").is_null())
            .then(pl.lit(NAMELESS))
            .otherwise(pl.lit("needs the roofs of this GPU (--roofs FILE)")),
        ),
        (
            pl.col("time_memory_s").is_null(),
            CANNOT_SAY,
            pl.when(pl.col("traffic_bytes").is_null())
            .then(pl.lit("needs DRAM byte counters (the roofline tier of `ncuroof collect`)"))
            .when(pl.col("gpu_name").is_null())
            .then(pl.lit(NAMELESS))
            .otherwise(pl.lit("needs the DRAM bandwidth of this GPU (--roofs FILE)")),
        ),
    ]
    missing_compute = (
        pl.when(pl.col("flop").is_null())
        .then(pl.lit("needs FLOP counters (the roofline tier of `ncuroof collect`)"))
        .when(pl.col("gpu_name").is_null())
        .then(pl.lit(NAMELESS))
        .otherwise(pl.format("needs the {} roof of this GPU (--roofs FILE)", pl.col("path").fill_null("compute")))
    )
    verdict: pl.Expr = pl.lit(CANNOT_SAY)
    reason: pl.Expr = missing_compute
    for condition, name, why in reversed(cases):
        holds = condition.fill_null(value=False)
        verdict = pl.when(holds).then(pl.lit(name)).otherwise(verdict)
        reason = pl.when(holds).then(why).otherwise(reason)
    return frame.with_columns(verdict=verdict, verdict_reason=reason)


def _busy_reason(side: str) -> pl.Expr:
    """Which figure makes this side busy: the share of its roof, or Nsight's throughput percentage."""
    roof, sol, label = (
        ("memory_roof_pct", "memory_pct", "DRAM") if side == "memory" else ("compute_roof_pct", "sm_pct", "compute")
    )
    what = pl.lit(label) if side == "memory" else pl.coalesce("path", pl.lit(label))
    by_roof = pl.format("reaches {} % of the {} roof", pl.col(roof).round(0).cast(pl.Int64, strict=False), what)
    unit = "memory (DRAM, L2 or L1)" if side == "memory" else "SM"
    by_sol = pl.format(f"{unit} throughput is {{}} % of its peak", pl.col(sol).round(0).cast(pl.Int64, strict=False))
    return pl.when((pl.col(roof) >= HIGH_PCT).fill_null(value=False)).then(by_roof).otherwise(by_sol)
