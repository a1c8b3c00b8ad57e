"""Builds kernels, findings and analyses with sane defaults: one keyword per field, an error for an unknown one."""

from __future__ import annotations

import hashlib
from typing import Any

import polars as pl

from ncuroof import tables
from ncuroof.model import Analysis, Dataset, Note, Skip, Source

QUANTITIES: dict[str, pl.DataType] = {"duration_s": pl.Float64(), "duration_s_source": pl.String()}
"""Quantity columns that a built kernel always has; others are given with ``quantities``."""

_COLUMNS = {c.name: c.dtype for c in (*tables.LAUNCHES, *tables.WORKLOAD, *tables.PLACEMENT)} | QUANTITIES

_DEFAULTS: dict[str, Any] = {
    "source": "run.ncu-rep",
    "result_kind": "kernel",
    "kernel_name": "saxpy",
    "kernel_mangled": "_Z5saxpyifPKfPf",
    "grid_x": 4096,
    "grid_y": 1,
    "grid_z": 1,
    "block_x": 256,
    "block_y": 1,
    "block_z": 1,
    "process_id": 1234,
    "context_id": 1,
    "stream_id": 7,
    "device_index": 0,
    "gpu_name": "NVIDIA H100 80GB HBM3",
    "cc_major": 9,
    "cc_minor": 0,
    "ncu_version": "2025.1.0.0",
    "cuda_version": "12.8",
    "clock_control": "base",
    "clock_control_source": "default of that version",
    "cache_control": "all",
    "cache_control_source": "default of that version",
    "replay_mode": "kernel",
    "replay_mode_source": "default of that version",
    "origin": "profiled",
    "duration_s": 1e-4,
    "duration_s_source": "counter",
    "flop": 67_108_864.0,
    "flop_source": "counter",
    "path": "fp32",
    "path_share": 1.0,
    "paths": "fp32 100 %",
    "traffic_bytes": 268_435_456.0,
    "traffic_bytes_source": "counter",
    "roof_flop_s": 51.9e12,
    "roof_flop_s_source": "measured, table of eight GPUs",
    "roof_bytes_s": 3085e9,
    "roof_bytes_s_source": "measured, table of eight GPUs",
}


def kernel(*, quantities: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """One row of the analysed kernels table. Placement follows from W, Q, T and the roofs unless it is given."""
    unknown = sorted(set(fields) - set(_COLUMNS))
    if unknown:
        msg = f"no such field of a kernel: {', '.join(unknown)}"
        raise TypeError(msg)
    row: dict[str, Any] = dict.fromkeys(_COLUMNS) | _DEFAULTS | fields
    if "kernel_demangled" not in fields:
        row["kernel_demangled"] = row["kernel_name"]
    if "source_sha256" not in fields:
        row["source_sha256"] = hashlib.sha256(str(row["source"]).encode("utf-8", "replace")).hexdigest()
    placed = _placement(row)
    return row | {k: v for k, v in placed.items() if k not in fields} | (quantities or {})


def _ratio(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None


def _placement(row: dict[str, Any]) -> dict[str, Any]:
    compute = _ratio(row["flop"], row["roof_flop_s"])
    memory = _ratio(row["traffic_bytes"], row["roof_bytes_s"])
    bound_s = max(compute, memory) if compute is not None and memory is not None else None
    pct = _ratio(bound_s, row["duration_s"])
    bound = None if bound_s is None else "compute" if compute == bound_s else "memory"
    memory_pct = _ratio(memory, row["duration_s"])
    compute_pct = _ratio(compute, row["duration_s"])
    return {
        "intensity": _ratio(row["flop"], row["traffic_bytes"]) if row["flop"] else None,
        "ridge": _ratio(row["roof_flop_s"], row["roof_bytes_s"]),
        "time_compute_s": compute,
        "time_memory_s": memory,
        "time_bound_s": bound_s,
        "bound": bound,
        "roof_pct": None if pct is None else 100 * pct,
        "memory_roof_pct": None if memory_pct is None else 100 * memory_pct,
        "compute_roof_pct": None if compute_pct is None else 100 * compute_pct,
        "achieved_flop_s": _ratio(row["flop"], row["duration_s"]),
        "achieved_bytes_s": _ratio(row["traffic_bytes"], row["duration_s"]),
        "verdict": "cannot-say" if pct is None else f"{bound}-bound" if pct >= 0.6 else "latency-bound",
        "verdict_reason": "needs FLOP counters" if pct is None else f"reaches {100 * pct:.0f} % of the {bound} roof",
    }


_FINDING: dict[str, Any] = {
    "code": "R001",
    "name": "l2-resident",
    "severity": "warning",
    "message": "Reads 64 MiB in 0.05 ms: 1.9 × the DRAM roof.",
    "advice": "Measure again with a working set four times the L2 cache.",
    "time_at_stake_s": 5e-5,
    "confidence": "high",
    "voice": "ncuroof",
    "evidence": [
        {"metric": "compulsory_bytes", "value": 6.7e7, "unit": "byte", "limit": 5.24e7, "source": "annotation"},
    ],
}


def finding(row: int | None = 0, **fields: Any) -> dict[str, Any]:
    """One row of the findings table; source, index and kernel are filled in by :func:`analysis`."""
    known = {c.name for c in tables.ANOMALIES}
    unknown = sorted(set(fields) - known)
    if unknown:
        msg = f"no such field of a finding: {', '.join(unknown)}"
        raise TypeError(msg)
    return dict.fromkeys(known) | _FINDING | {"row": row} | fields


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """The analysed kernels table from rows of :func:`kernel`; numbers results per report and shares the GPU time."""
    if not rows:
        return pl.DataFrame(schema={**_COLUMNS, "row": pl.UInt32()})
    rows = [dict(r) for r in rows]
    counters: dict[str, int] = {}
    total = sum(r["duration_s"] or 0.0 for r in rows)
    for r in rows:
        index = counters.get(r["source_sha256"], 0)
        counters[r["source_sha256"]] = index + 1
        if r["result_index"] is None:
            r["result_index"] = index
        if r["time_share"] is None and total and r["duration_s"] is not None:
            r["time_share"] = r["duration_s"] / total
    extra = {name: pl.Float64() for r in rows for name in r if name not in _COLUMNS}
    extra |= {name: pl.String() for name in extra if name.endswith("_source")}
    return pl.DataFrame(rows, schema={**_COLUMNS, **extra}, orient="row").with_row_index("row")


def analysis(
    kernels: list[dict[str, Any]],
    findings: list[dict[str, Any]] | None = None,
    *,
    skips: tuple[Skip, ...] = (),
    notes: tuple[Note, ...] = (),
) -> Analysis:
    """An analysis of these kernels; findings are completed from the kernel they point at and sorted by stake."""
    table = frame(kernels)
    placed = {c.name for c in tables.PLACEMENT}
    rows = []
    for given in findings or []:
        f = dict(given)
        if f["row"] is not None:
            of = table.row(f["row"], named=True)
            for name, column in (
                ("source", "source"),
                ("source_sha256", "source_sha256"),
                ("result_index", "result_index"),
                ("kernel", "kernel_name"),
            ):
                f[name] = of[column] if f[name] is None else f[name]
        rows.append(f)
    found = pl.DataFrame(rows, schema=tables.schema(tables.ANOMALIES), orient="row").sort(
        "time_at_stake_s", descending=True, nulls_last=True, maintain_order=True
    )
    names = table.select("source", "source_sha256").unique(maintain_order=True).iter_rows()
    sources = tuple(Source(name, sha, 1000, "ncu-rep", "it begins with NVR") for name, sha in names)
    raw = table.drop(c for c in table.columns if c in placed or c == "row")
    return Analysis(table, found, skips, Dataset(raw, tables.empty(tables.NSIGHT_RULES), sources, notes))
