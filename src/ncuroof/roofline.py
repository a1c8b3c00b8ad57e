"""Places kernels under their roofs: pure functions from the kernels table (with roofs attached) to a placement.

The model is T ≥ max(W_p / F_p over the paths used, Q / B): the paths run on different units, so the largest is a lower
bound on the time where a sum is not. ``bound`` says which side is larger, and ``roof_pct`` is that bound over the
measured time. The verdict weighs in what else the report knows: :mod:`ncuroof.verdicts`.

Sources: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009, for the model.
"""

from __future__ import annotations

import polars as pl

from ncuroof import annotation_doubt, paths, verdicts
from ncuroof.paths import BY_NAME, PATHS, TENSOR
from ncuroof.tables import PLACEMENT
from ncuroof.workloads import formulas

TENSOR_ACTIVE_PCT = 5.0
"""Tensor-pipe activity below this is constant moves and conversions (2 to 4 % on plain kernels, CC 8.0 and 9.0)."""


def place(kernels: pl.DataFrame) -> pl.DataFrame:
    """Add the columns of :data:`ncuroof.tables.PLACEMENT` to a kernels table that has its roofs attached.

    Args:
        kernels: the kernels table with the columns of :func:`ncuroof.roofs.attach` and of the
            workloads.

    Returns:
        The same rows and columns, and the placement. A placement that cannot be computed is null, and the verdict
        then says what it needs.
    """
    frame = _with_work(kernels)
    frame = _with_traffic(frame)
    frame = _with_bounds(frame)
    frame = verdicts.decide(frame)
    # A row of a summary stands for all launches of its kernel, with their average duration.
    frame = frame.with_columns(gpu_time_s=pl.col("duration_s") * pl.col("invocations").fill_null(1.0))
    total = frame["gpu_time_s"].sum()
    frame = frame.with_columns(time_share=pl.col("gpu_time_s") / total if total else pl.lit(None, dtype=pl.Float64))
    wanted = [c.name for c in PLACEMENT]
    keep = [c for c in frame.columns if not c.startswith("_") and c not in wanted]
    return frame.select(*keep, *(pl.col(c.name).cast(c.dtype) for c in PLACEMENT))


def _with_work(frame: pl.DataFrame) -> pl.DataFrame:
    """W per path and over all of them; useful work stands in where no counter tells."""
    works = [pl.col(p.work) for p in PATHS]
    frame = frame.with_columns(_executed=_executed_work(works))
    doubt, excess = annotation_doubt.doubts(_source_of_work())
    frame = frame.with_columns(annotation_doubt=doubt, annotation_excess=excess)
    # An annotation that cannot be true stands in for nothing.
    believed = pl.col("annotation_doubt").is_null()
    frame = frame.with_columns(
        _useful=pl.when(believed).then(pl.col("useful_flop")),
        _compulsory=pl.when(believed).then(pl.col("compulsory_bytes")),
    )
    frame = _with_annotated_path(frame)
    times = {f"_t_{p.name}": pl.when(pl.col(p.work) > 0).then(pl.col(p.work) / pl.col(p.roof)) for p in PATHS}
    frame = frame.with_columns(**times)
    longest = pl.max_horizontal(*times)
    by_time = paths.first(lambda p: pl.col(f"_t_{p.name}") == longest)
    most = pl.max_horizontal(works)
    by_work = paths.first(lambda p: (pl.col(p.work) == most) & (most > 0))
    known = pl.col("_executed").is_not_null()
    frame = frame.with_columns(
        flop=pl.when(known).then(pl.col("_executed")).otherwise(pl.col("_useful")),
        flop_source=pl.when(known)
        .then(_source_of_work())
        .when(pl.col("_useful").is_not_null())
        .then(pl.concat_str(pl.lit("useful work, "), pl.col("workload_source").fill_null("annotation"))),
        path=pl.when(known).then(pl.coalesce(by_time, by_work)).otherwise(pl.col("_annotated_path")),
    )
    share = paths.pick(lambda p: p.work) / pl.col("_executed")
    return frame.with_columns(
        path_share=pl.when(known & (pl.col("_executed") > 0)).then(share),
        executed_over_useful=pl.when(known & (pl.col("_executed") > 0) & (pl.col("_useful") > 0)).then(
            share * pl.col("_executed") / pl.col("_useful")
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
    tensor_known = pl.any_horizontal(pl.col(p.work).is_not_null() for p in TENSOR)
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
        pl.concat_list(pl.when(pl.col(p.work) > 0).then(pl.col(f"{p.work}_source")).otherwise(None) for p in PATHS)
        .list.drop_nulls()
        .list.unique(maintain_order=True)
        .list.join(", ")
        .replace("", "counter")
    )


def _paths_text() -> pl.Expr:
    """``fp16 98 %, fp32 2 %``: paths with at least 0.5 % of the work, in the order of PATHS."""
    parts = []
    for p in PATHS:
        share = 100 * pl.col(p.work) / pl.col("_executed")
        parts.append(
            pl.when(share >= 0.5)
            .then(pl.format(f"{p.name} {{}} %", share.round(0).cast(pl.Int64, strict=False)))
            .otherwise(None)
        )
    return pl.concat_list(parts).list.drop_nulls().list.join(", ")


def _with_annotated_path(frame: pl.DataFrame) -> pl.DataFrame:
    """The path an annotated operation takes by its element type: the best one that has a roof on this GPU."""
    annotated = frame.select("op", "op_dtype").drop_nulls().unique(maintain_order=True)
    choice: pl.Expr = pl.lit(None, dtype=pl.String)
    for op, element in annotated.iter_rows():
        allowed = [BY_NAME[name] for name in formulas.paths(op, element)]
        if not allowed:
            continue
        best = pl.coalesce(paths.first(lambda p: pl.col(p.roof).is_not_null(), allowed), pl.lit(allowed[-1].name))
        here = (pl.col("op") == op) & (pl.col("op_dtype") == element)
        choice = pl.when(here).then(best).otherwise(choice)
    return frame.with_columns(_annotated_path=pl.when(pl.col("_useful") > 0).then(choice))


def _with_traffic(frame: pl.DataFrame) -> pl.DataFrame:
    """Q at DRAM: what the counters say, else the compulsory bytes of the annotated shape."""
    real = pl.col("dram_bytes").is_not_null()
    return frame.with_columns(
        traffic_bytes=pl.coalesce("dram_bytes", "_compulsory"),
        traffic_bytes_source=pl.when(real)
        .then(pl.col("dram_bytes_source"))
        .when(pl.col("_compulsory").is_not_null())
        .then(pl.lit("compulsory (formula)")),
    )


def _with_bounds(frame: pl.DataFrame) -> pl.DataFrame:
    """Roof of the path, times, intensity and percentages."""
    frame = frame.with_columns(
        roof_flop_s=paths.pick(lambda p: p.roof),
        roof_flop_s_source=paths.pick(lambda p: f"{p.roof}_source"),
        roof_boost_flop_s=paths.pick(lambda p: p.boost),
    )
    executed_time = pl.max_horizontal(f"_t_{p.name}" for p in PATHS)
    # Work on a path without a roof makes the compute side unknown, unless it is a trifle beside the rest.
    unroofed = pl.sum_horizontal(
        pl.when(pl.col(p.roof).is_null()).then(pl.col(p.work).fill_null(0)).otherwise(0.0) for p in PATHS
    )
    known = pl.col("_executed").is_not_null()
    compute = (
        pl.when(pl.col("flop") == 0)
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
        l2_roof_pct=pl.when(timed).then(
            100 * pl.col("l2_read_bytes") / pl.col("roof_bytes_s_l2") / pl.col("duration_s")
        ),
        l1_roof_pct=pl.when(timed).then(
            100 * pl.col("l1_writeback_bytes") / pl.col("roof_bytes_s_l1") / pl.col("duration_s")
        ),
        achieved_flop_s=pl.when(timed).then(pl.col("flop") / pl.col("duration_s")),
        achieved_bytes_s=pl.when(timed).then(pl.col("traffic_bytes") / pl.col("duration_s")),
    )
