"""The one place where the columns of ncuroof's tables are named.

All quantities are in SI base units (s, byte, FLOP, Hz), percentages are 0 to 100, and null means unknown: never 0.
The Parquet files carry :data:`SCHEMA_VERSION`; the JSON files in ``schemas/`` are generated from this module by
``tools/generate.py``.

Columns of the ``kernels`` table come from three places: the identity columns below, one column per quantity of
``metrics/quantities.toml`` (with a ``*_source`` column that says how each value was obtained), and the workload
columns that follow from an annotation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ncuroof.errors import SchemaError
from ncuroof.verdict_words import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCHEMA_VERSION = "1.1"


@dataclass(frozen=True)
class Column:
    """One column of a table: its name, its type, its unit (empty for none) and what it means."""

    name: str
    dtype: pl.DataType
    unit: str
    meaning: str


def _c(name: str, dtype: pl.DataType | type[pl.DataType], unit: str, meaning: str) -> Column:
    return Column(name, dtype if isinstance(dtype, pl.DataType) else dtype(), unit, meaning)


NVTX_RANGE = pl.Struct(
    {
        "domain": pl.String,
        "name": pl.String,
        "payload": pl.String,
        "category": pl.UInt32,
        "color": pl.String,
        "thread": pl.UInt64,
    }
)
"""One NVTX push/pop range around a launch; outermost first. ``payload`` is the payload printed as text."""

FOCUS_METRIC = pl.Struct({"metric": pl.String, "value": pl.Float64, "severity": pl.Int32, "info": pl.String})
"""A metric that one of Nsight Compute's own rules points at."""

LAUNCHES: tuple[Column, ...] = (
    _c("source", pl.String, "", "file the result came from, without directories that would tell a user name"),
    _c("source_sha256", pl.String, "", "SHA-256 of that file's bytes, lower-case hex"),
    _c(
        "result_index",
        pl.UInt32,
        "",
        "position of the result in its file, from 0; with source_sha256 the identity of a row",
    ),
    _c("result_kind", pl.String, "", "kernel, range, graph or cmdlist"),
    _c(
        "kernel_name",
        pl.String,
        "",
        "function name without template arguments where known, else the demangled name",
    ),
    _c("kernel_demangled", pl.String, "", "demangled name with its arguments"),
    _c("kernel_mangled", pl.String, "", "mangled name"),
    _c("grid_x", pl.UInt32, "block", "grid size"),
    _c("grid_y", pl.UInt32, "block", "grid size"),
    _c("grid_z", pl.UInt32, "block", "grid size"),
    _c("block_x", pl.UInt32, "thread", "block size"),
    _c("block_y", pl.UInt32, "thread", "block size"),
    _c("block_z", pl.UInt32, "thread", "block size"),
    _c("process_id", pl.UInt64, "", "process that launched it"),
    _c("context_id", pl.UInt64, "", "CUDA context"),
    _c("stream_id", pl.UInt64, "", "CUDA stream"),
    _c("device_index", pl.UInt32, "", "device ordinal in its report"),
    _c("gpu_name", pl.String, "", "device name as the driver gives it"),
    _c("cc_major", pl.UInt32, "", "compute capability, major"),
    _c("cc_minor", pl.UInt32, "", "compute capability, minor"),
    _c("nvtx_path", pl.String, "", "domain:range/range of the innermost thread state, outermost first"),
    _c("nvtx", pl.List(NVTX_RANGE), "", "the NVTX ranges around the launch"),
    _c("ncu_version", pl.String, "", "version of the tool that measured, such as 2025.1.0.0"),
    _c("cuda_version", pl.String, "", "CUDA version of the session"),
    _c("driver_version", pl.String, "", "display driver version"),
    _c(
        "clock_control",
        pl.String,
        "",
        "base, none, boost, force-boost ...: as asked for on ncu's command line",
    ),
    _c(
        "clock_control_source",
        pl.String,
        "",
        "command line, options, default of that version, published; null when unknown",
    ),
    _c("cache_control", pl.String, "", "all (flushed before every pass) or none"),
    _c("cache_control_source", pl.String, "", "as clock_control_source"),
    _c("replay_mode", pl.String, "", "kernel, application, range or app-range"),
    _c("replay_mode_source", pl.String, "", "as clock_control_source"),
    _c("origin", pl.String, "", "profiled, or reconstructed (built from published figures)"),
)
"""What a reader gives for each result, one row per result in file order."""

METRICS: tuple[Column, ...] = (
    _c("source_sha256", pl.String, "", "as in kernels"),
    _c("result_index", pl.UInt32, "", "as in kernels"),
    _c("metric", pl.String, "", "metric name as in the report"),
    _c(
        "value",
        pl.Float64,
        "unit",
        "numeric value in the base unit; null for text or where the report holds none",
    ),
    _c("value_int", pl.UInt64, "unit", "the same value where the report stores an integer: exact above 2^53"),
    _c("text", pl.String, "", "text value"),
    _c("unit", pl.String, "", "unit, from the metric name's grammar or from the file; null when unknown"),
)
"""Every scalar of every result, long: one row per result and metric."""

NSIGHT_RULES: tuple[Column, ...] = (
    _c("source_sha256", pl.String, "", "as in kernels"),
    _c("result_index", pl.UInt32, "", "as in kernels"),
    _c("rule_id", pl.String, "", "identifier of Nsight Compute's rule, such as SOLBottleneck"),
    _c("rule_name", pl.String, "", "its display name"),
    _c("section_id", pl.String, "", "section it belongs to"),
    _c("item", pl.UInt32, "", "position of the message within the rule's result"),
    _c("message_type", pl.String, "", "none, ok, optimization, warning or error"),
    _c("title", pl.String, "", "title of the message, where the version has one"),
    _c("text", pl.String, "", "the message; null where the rule ran and had nothing to say"),
    _c("speedup_type", pl.String, "", "local or global"),
    _c("speedup_pct", pl.Float64, "%", "estimated speedup"),
    _c("focus", pl.List(FOCUS_METRIC), "", "metrics the message points at"),
)
"""Results of Nsight Compute's own rules, as stored in the report."""

WORKLOAD: tuple[Column, ...] = (
    _c("op", pl.String, "", "operation from the annotation: gemm, copy, attention ..."),
    _c("op_dtype", pl.String, "", "element type from the annotation: fp16, bf16, fp8 ..."),
    _c("op_shape", pl.String, "", "shape from the annotation as canonical JSON, keys sorted"),
    _c("op_m", pl.UInt64, "", "M of a matrix product, where the operation has one"),
    _c("op_n", pl.UInt64, "", "N of a matrix product"),
    _c("op_k", pl.UInt64, "", "K of a matrix product"),
    _c("op_label", pl.String, "", "label given in the annotation"),
    _c("op_sweep", pl.String, "", "name of the sweep this launch is a point of"),
    _c("useful_flop", pl.Float64, "FLOP", "work that the operation's shape asks for (2MNK ...)"),
    _c("compulsory_bytes", pl.Float64, "byte", "each input read once, each output written once"),
    _c("compulsory_write_bytes", pl.Float64, "byte", "the part of compulsory_bytes that is output"),
    _c("workload_source", pl.String, "", "annotation (NVTX), file (--annotations) or null"),
)
"""What follows from a workload annotation; null for launches without one."""

PROGRAM: tuple[Column, ...] = (
    _c(
        "program_wall_s",
        pl.Float64,
        "s",
        "wall time of the program without a profiler, from the side file",
    ),
    _c("program_kernel_s", pl.Float64, "s", "sum of its kernels' durations in that time"),
    _c("program_launches", pl.UInt64, "", "number of their launches"),
    _c(
        "program_annotated",
        pl.Boolean,
        "",
        "the time runs from the first annotated launch to the last; else it is that of the whole process",
    ),
)
"""What `ncuroof collect` measured of the program, the same for every kernel of a report; null for other reports."""

PLACEMENT: tuple[Column, ...] = (
    _c(
        "flop",
        pl.Float64,
        "FLOP",
        "executed work over all paths (tensor integer operations included), or useful work where only that is known",
    ),
    _c("flop_source", pl.String, "", "counter, rate×time, ..., annotation; null when unknown"),
    _c(
        "path",
        pl.String,
        "",
        "compute path that bounds the kernel (largest W_p / F_p): fp32, fp16, bf16, fp64 ...",
    ),
    _c("path_share", pl.Float64, "1", "share of the kernel's FLOPs on that path"),
    _c(
        "paths",
        pl.String,
        "",
        "all paths used with their share of FLOPs, largest first, as text; null when unknown",
    ),
    _c("traffic_bytes", pl.Float64, "byte", "Q at DRAM used for the placement"),
    _c(
        "traffic_bytes_source",
        pl.String,
        "",
        "how Q was obtained; compulsory (formula) where no counter is known",
    ),
    _c("intensity", pl.Float64, "FLOP/byte", "W / Q"),
    _c("roof_flop_s", pl.Float64, "FLOP/s", "flat part of the roof of that path at the clock of this run"),
    _c("roof_flop_s_source", pl.String, "", "report, measured, device, datasheet or user, and what exactly"),
    _c("roof_boost_flop_s", pl.Float64, "FLOP/s", "the same flat part at the highest clock of the GPU"),
    _c("roof_bytes_s", pl.Float64, "byte/s", "DRAM bandwidth roof"),
    _c("roof_bytes_s_source", pl.String, "", "report, measured, device, datasheet or user, and what exactly"),
    _c("ridge", pl.Float64, "FLOP/byte", "ridge point F / B"),
    _c(
        "time_compute_s",
        pl.Float64,
        "s",
        "largest W_p / F_p of all paths used: they run on different units and can overlap",
    ),
    _c("time_memory_s", pl.Float64, "s", "Q / B"),
    _c("time_bound_s", pl.Float64, "s", "max of the two: the least time the roof allows"),
    _c("bound", pl.String, "", "memory or compute: which of the two is larger"),
    _c("roof_pct", pl.Float64, "%", "time_bound_s / duration_s: percent of the relevant roof"),
    _c(
        "memory_roof_pct",
        pl.Float64,
        "%",
        "time_memory_s / duration_s: percent of the DRAM bandwidth roof, whatever binds",
    ),
    _c(
        "compute_roof_pct",
        pl.Float64,
        "%",
        "time_compute_s / duration_s: percent of the flat roof of the path, whatever binds",
    ),
    _c("l2_roof_pct", pl.Float64, "%", "bytes from L2 to the SMs / L2 bandwidth / duration: percent of the L2 roof"),
    _c("l1_roof_pct", pl.Float64, "%", "bytes from L1 to registers / L1 bandwidth / duration: percent of the L1 roof"),
    _c("achieved_flop_s", pl.Float64, "FLOP/s", "W / T"),
    _c("achieved_bytes_s", pl.Float64, "byte/s", "Q / T"),
    _c("verdict", pl.String, "", f"{', '.join(WORDS[:-1])} or {WORDS[-1]}"),
    _c("verdict_reason", pl.String, "", "why, in a clause; for cannot-say: what is missing"),
    _c(
        "limiter",
        pl.String,
        "",
        "what limits it: dram, l2, l1, memory (level unknown), sm, a compute path, launch, grid or latency; "
        "null for cannot-say",
    ),
    _c(
        "limiter_pct",
        pl.Float64,
        "%",
        "percent of the limiter's roof or peak; null for launch, grid and latency",
    ),
    _c(
        "annotation_doubt",
        pl.String,
        "",
        "what the annotation contradicts: executed, peak or bandwidth; null where nothing (rule D013)",
    ),
    _c("annotation_excess", pl.Float64, "x", "how many times the annotated work or bytes exceed that"),
    _c(
        "executed_over_useful",
        pl.Float64,
        "1",
        "executed work on the path / useful work; null without an annotation or counters",
    ),
    _c(
        "gpu_time_s",
        pl.Float64,
        "s",
        "GPU time the row stands for: the duration, times the launches a summary stands for",
    ),
    _c("time_share", pl.Float64, "1", "share of the GPU time of everything analysed together"),
)
"""Where a kernel stands under its roof; added to the kernels table by :mod:`ncuroof.roofline`."""

ANOMALIES: tuple[Column, ...] = (
    _c("code", pl.String, "", "rule code, such as R001"),
    _c("name", pl.String, "", "rule name in kebab case"),
    _c("severity", pl.String, "", "error, warning, info or note"),
    _c("row", pl.UInt32, "", "row of the analysed kernels table (null: concerns a whole report or run)"),
    _c("source", pl.String, "", "as in kernels"),
    _c("source_sha256", pl.String, "", "as in kernels"),
    _c("result_index", pl.UInt32, "", "as in kernels"),
    _c("kernel", pl.String, "", "kernel name, as shown"),
    _c("message", pl.String, "", "what was measured, against which limit"),
    _c("advice", pl.String, "", "what to do next"),
    _c(
        "time_at_stake_s",
        pl.Float64,
        "s",
        "time that could be saved in this run, or time in doubt; null when unknown",
    ),
    _c("confidence", pl.String, "", "high, medium or low"),
    _c("voice", pl.String, "", "ncuroof, nsight (imported) or both"),
    _c(
        "evidence",
        pl.List(
            pl.Struct(
                {
                    "metric": pl.String,
                    "value": pl.Float64,
                    "unit": pl.String,
                    "limit": pl.Float64,
                    "source": pl.String,
                }
            )
        ),
        "",
        "the numbers the finding rests on: value, its unit, the limit it was held against (null: none) and its source",
    ),
)
"""What the rules found."""

SEVERITIES: tuple[str, ...] = ("error", "warning", "info", "note")
"""Most severe first."""


def schema(columns: Iterable[Column]) -> pl.Schema:
    """The Polars schema of a column list."""
    return pl.Schema({c.name: c.dtype for c in columns})


def empty(columns: Iterable[Column]) -> pl.DataFrame:
    """A frame with these columns and no row."""
    return pl.DataFrame(schema=schema(columns))


def conform(frame: pl.DataFrame, columns: Sequence[Column]) -> pl.DataFrame:
    """Order, cast and complete ``frame`` so that it has exactly ``columns``; columns it lacks become null.

    Raises:
        SchemaError: where it holds columns that are not in the list, or values that do not fit their type.
    """
    known = {c.name for c in columns}
    present = frame.schema
    extra = [name for name in present if name not in known]
    if extra:
        msg = f"columns that the table does not have: {', '.join(extra)}"
        raise SchemaError(msg)
    try:
        return frame.select(
            pl.lit(None, dtype=c.dtype).alias(c.name)
            if c.name not in present
            else pl.col(c.name)
            if present[c.name] == c.dtype
            else pl.col(c.name).cast(c.dtype)
            for c in columns
        )
    except pl.exceptions.PolarsError as error:
        msg = f"values that do not fit their column: {error}"
        raise SchemaError(msg) from error


def check(frame: pl.DataFrame, columns: Sequence[Column], table: str) -> None:
    """Raise :class:`SchemaError` naming every column of ``frame`` that is missing or has another type."""
    faults = []
    for column in columns:
        if column.name not in frame.columns:
            faults.append(f"{column.name} is missing")
        elif frame.schema[column.name] != column.dtype:
            faults.append(f"{column.name} is {frame.schema[column.name]}, expected {column.dtype}")
    if faults:
        msg = f"table {table}: " + "; ".join(faults)
        raise SchemaError(msg)
