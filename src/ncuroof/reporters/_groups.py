"""Identical launches as one row with what was found on them: what every reporter for people prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof import tables
from ncuroof.reporters._figures import count, finite

if TYPE_CHECKING:
    from ncuroof.model import Analysis, Skip

Row = dict[str, Any]

_KNOWN = {c.name: c.dtype for c in (*tables.LAUNCHES, *tables.WORKLOAD, *tables.PLACEMENT)}
GRID = ("grid_x", "grid_y", "grid_z")
BLOCK = ("block_x", "block_y", "block_z")
_KEY = (
    "source_sha256",
    "source",
    "gpu_name",
    "result_kind",
    "kernel_name",
    "kernel_demangled",
    *GRID,
    *BLOCK,
    "op",
    "op_dtype",
    "op_shape",
    "op_m",
    "op_n",
    "op_k",
    "op_label",
)
"""Launches that agree in all of these are the same piece of work done again."""

_SHOWN = (
    "row",
    "result_index",
    "duration_s",
    *(c.name for c in tables.PLACEMENT if c.name != "time_share"),
    "useful_flop",
    "compulsory_bytes",
    "invocations",
    "kernel_mangled",
    "clock_control",
    "cache_control",
    "cc_major",
    "cc_minor",
    "origin",
)
SEVERITY_RANK = {severity: rank for rank, severity in enumerate(tables.SEVERITIES)}


def kernel_groups(analysis: Analysis) -> pl.DataFrame:
    """One row per distinct launch (report, GPU, kernel, grid, block, annotation), those that own most time first.

    Columns: the key; ``group`` (0, 1, …); ``launches`` (number; a row of a summary counts as all it stands for);
    ``rows`` (their rows in ``analysis.kernels``);
    ``total_s`` and ``time_share``, which are sums; ``roof_pct`` and ``memory_roof_pct``, which are medians; and every
    other column of the placement as it is for one real launch, the one with the median duration, so that its T, W, Q
    and intensity belong together. Columns that ``analysis.kernels`` lacks are null.
    """
    frame = analysis.kernels
    wanted = dict.fromkeys((*_KEY, *_SHOWN, "time_share"))
    frame = frame.select(
        pl.col(name) if name in frame.columns else pl.lit(None, dtype=_KNOWN.get(name, pl.Float64)).alias(name)
        for name in wanted
    ).with_columns(pl.col(pl.Float64).replace([float("nan"), float("inf"), float("-inf")], None))
    middle = pl.col("duration_s").arg_sort(nulls_last=True).get((pl.col("duration_s").count().clip(1) - 1) // 2)
    percentages = [name for name in ("roof_pct", "memory_roof_pct") if name in wanted]
    single = [name for name in _SHOWN if name not in percentages]
    time = pl.coalesce("gpu_time_s", "duration_s")
    total = pl.when(time.count() > 0).then(time.sum()).alias("total_s")
    share = pl.when(pl.col("time_share").count() > 0).then(pl.col("time_share").sum()).alias("time_share")
    return (
        frame.group_by(_KEY, maintain_order=True)
        .agg(
            total,
            share,
            pl.col("invocations").fill_null(1.0).sum().cast(pl.Int64).alias("launches"),
            pl.col("row").alias("rows"),
            *(pl.col(name).get(middle) for name in single),
            *(pl.col(name).median() for name in percentages),
        )
        .sort("total_s", descending=True, nulls_last=True, maintain_order=True)
        .with_row_index("group")
    )


def label(group: Row) -> str:
    """What an annotation calls the work of this group, as in ``gemm 8×8192×8192 fp16`` (M×N×K); empty without one."""
    if not group.get("op"):
        return str(group.get("op_label") or "")
    product = [group.get(name) for name in ("op_m", "op_n", "op_k")]
    if all(size is not None for size in product):
        shape = "×".join(str(size) for size in product)
    else:
        shape = str(group.get("op_shape") or "").strip("{}").replace('"', "").replace(":", "=").replace(",", " ")
    what = (group.get("op_label") or group["op"], shape, group.get("op_dtype"))
    return " ".join(str(part) for part in what if part)


def launch_shape(group: Row) -> str:
    """``grid 128, block 16×16``: sizes without the ones at the end; empty where unknown."""
    parts = []
    for noun, names in (("grid", GRID), ("block", BLOCK)):
        sizes = [group.get(name) for name in names]
        if all(size is not None for size in sizes):
            used = max((i for i, size in enumerate(sizes) if size != 1), default=0)
            parts.append(f"{noun} {'×'.join(str(size) for size in sizes[: used + 1])}")
    return ", ".join(parts)


def full_name(group: Row) -> str:
    """The most telling name there is; one of blanks alone is none."""
    for name in (group.get("kernel_demangled"), group.get("kernel_name")):
        if name and not str(name).isspace():
            return str(name)
    return f"(unnamed {group.get('result_kind') or 'kernel'})"


def is_derived(group: Row) -> bool:
    """Whether W or Q of the placement rests on anything but counters."""
    return any(
        source is not None and not str(source).startswith("counter")
        for source in (group.get("flop_source"), group.get("traffic_bytes_source"))
    )


def relevant_pct(group: Row) -> float | None:
    """Percent of the relevant roof; of the bandwidth roof where only bytes are known."""
    value = group.get("roof_pct")
    value = group.get("memory_roof_pct") if value is None else value
    return float(value) if value is not None else None


LEVELS = {"dram": "DRAM", "l2": "L2", "l1": "L1", "memory": "memory", "sm": "SM"}
"""Limiters that are no compute path, and what they are called."""


@dataclass(frozen=True)
class Limit:
    """What a table shows of how close a kernel is to what limits it.

    Attributes:
        pct: percent of the limiter's roof or peak; where nothing binds, of the larger of the two roofs; None: unknown.
        of: what it is a percentage of: dram, l2, l1, memory, sm or a compute path; None where not even that is known.
        derived: whether it rests on work or bytes that were not counted.
    """

    pct: float | None
    of: str | None
    derived: bool


def limit(group: Row) -> Limit:
    """How close a kernel is to what binds it, and to what."""
    pct, of = group.get("limiter_pct"), group.get("limiter")
    if pct is not None:
        # Nsight's throughput percentages are counted, whatever W and Q are.
        return Limit(float(pct), str(of), of not in {"l2", "l1", "memory", "sm"} and is_derived(group))
    pct = relevant_pct(group)
    path = str(group["path"]) if group.get("path") else None
    by_bytes = group.get("bound") == "memory" or group.get("roof_pct") is None
    return Limit(pct, "dram" if pct is not None and (by_bytes or path is None) else path, is_derived(group))


@dataclass(frozen=True)
class FindingGroup:
    """The same finding on identical launches.

    Attributes:
        row: the finding of the most costly launch, all columns of :data:`ncuroof.tables.ANOMALIES`.
        launches: number of launches it was found on; 0 where it concerns a whole report or run.
        stake_s: time at stake, summed; None where unknown.
        group: number of the kernel group; None where it concerns no kernel.
    """

    row: Row
    launches: int
    stake_s: float | None
    group: int | None

    @property
    def is_data_note(self) -> bool:
        """Whether it is about what the report cannot tell rather than about a kernel's behaviour."""
        return str(self.row["code"]).startswith("D")


def finding_groups(analysis: Analysis, groups: pl.DataFrame) -> list[FindingGroup]:
    """Findings with those of identical launches put together, most time at stake first, then most severe."""
    of_row = {row: number for number, rows in zip(groups["group"], groups["rows"], strict=True) for row in rows}
    merged: dict[tuple[object, ...], list[Row]] = {}
    for position, finding in enumerate(analysis.findings.iter_rows(named=True)):
        group = of_row.get(finding["row"]) if finding["row"] is not None else None
        key = (finding["code"], finding["severity"], group if group is not None else ("alone", position))
        merged.setdefault(key, []).append(finding)
    result = []
    for members in merged.values():
        stakes = [m["time_at_stake_s"] for m in members if finite(m["time_at_stake_s"])]
        first = max(members, key=lambda m: m["time_at_stake_s"] if finite(m["time_at_stake_s"]) else -1.0)
        row = first["row"]
        result.append(
            FindingGroup(
                first,
                len({m["row"] for m in members}) if row is not None else 0,
                sum(stakes) if stakes else None,
                of_row.get(row) if row is not None else None,
            )
        )
    return sorted(
        result,
        key=lambda f: (
            f.stake_s is None,
            -(f.stake_s or 0.0),
            SEVERITY_RANK.get(str(f.row["severity"]), 9),
            f.row["code"],
        ),
    )


@dataclass(frozen=True)
class Condensed:
    """What one data-quality rule had to say.

    Attributes:
        code: of the rule.
        message: its first message, with the number of others like it.
        advice: that goes with it; may be empty.
        all: every message with the report it is about, in order.
    """

    code: str
    message: str
    advice: str
    all: list[str]


def condensed(notes: list[FindingGroup]) -> list[Condensed]:
    """Data-quality findings once per rule, by code."""
    by_code: dict[str, list[FindingGroup]] = {}
    for f in notes:
        by_code.setdefault(str(f.row["code"]), []).append(f)
    result = []
    for code, members in sorted(by_code.items()):
        message = str(members[0].row["message"] or "")
        kernels = sum(f.launches for f in members)
        if kernels > 1:
            message += f" ({kernels} kernels)"
        elif len(members) > 1:
            more = len(members) - 1
            message += f" (the same kind of thing in {count(more, 'more report')})"
        everything = [
            f"{f.row['source']}: {f.row['message']}" if f.row["source"] else str(f.row["message"] or "")
            for f in members
        ]
        result.append(Condensed(code, message, str(members[0].row["advice"] or ""), everything))
    return result


@dataclass(frozen=True)
class Totals:
    """The figures of the summary line.

    Attributes:
        kernels: number of results.
        duration_s: GPU time of all whose duration is known; None where no duration is known.
        by_severity: number of findings per severity that occurs, most severe first.
        skipped_rules: number of rules that could not judge some kernel.
        skipped_kernels: the largest number of kernels that one rule could not judge.
    """

    kernels: int
    duration_s: float | None
    by_severity: dict[str, int]
    skipped_rules: int
    skipped_kernels: int


def totals(analysis: Analysis) -> Totals:
    """Count everything once."""
    known = [c for c in ("gpu_time_s", "duration_s") if c in analysis.kernels.columns]
    durations = analysis.kernels.select(pl.coalesce(known)).to_series().drop_nulls() if known else pl.Series()
    found = dict(analysis.findings.group_by("severity").len().iter_rows())
    active = [s for s in analysis.skips if s.count]
    return Totals(
        analysis.kernels.height,
        float(durations.drop_nans().sum()) if durations.len() else None,
        {s: found[s] for s in tables.SEVERITIES if s in found},
        len({s.code for s in active}),
        max((s.count for s in active), default=0),
    )


def skip_text(skip: Skip, kernels: int) -> str:
    """``R001 could not judge 7 of 12 kernels: no dram_bytes (7)``."""
    lacks = ", ".join(
        f"{name} ({number})" for name, number in sorted(skip.missing.items(), key=lambda i: (-i[1], i[0]))
    )
    return f"{skip.code} could not judge {skip.count} of {kernels} kernels" + (f": without {lacks}" if lacks else "")


def gpu_names(groups: pl.DataFrame) -> list[str]:
    """The GPUs, the one with most GPU time first; unknown ones as an empty name."""
    order = (
        groups.with_columns(pl.col("gpu_name").fill_null(""))
        .group_by("gpu_name", maintain_order=True)
        .agg(pl.col("total_s").sum())
        .sort("total_s", descending=True, maintain_order=True)
    )
    return order["gpu_name"].to_list()


def roof_sources(groups: pl.DataFrame) -> list[tuple[str, str, str, float, int]]:
    """Where the roofs come from: (GPU, which roof, source, highest value, launches), by GPU time.

    ``which`` is a path, a path ``at boost`` or ``DRAM``; values are FLOP/s and byte/s.
    """
    parts = []
    kinds = (
        ("roof_bytes_s", pl.lit("DRAM"), pl.col("roof_bytes_s_source")),
        ("roof_flop_s", pl.col("path"), pl.col("roof_flop_s_source")),
        ("roof_boost_flop_s", pl.format("{} at boost", "path"), pl.lit("the same at the highest clock of the GPU")),
    )
    for value, which, source in kinds:
        parts.append(
            groups.filter(pl.col(value).is_not_null()).select(
                pl.col("gpu_name").fill_null(""),
                which.alias("which"),
                source.fill_null("unknown source").alias("from"),
                pl.col(value).alias("value"),
                "launches",
                "total_s",
            )
        )
    table = (
        pl.concat(parts)
        .group_by("gpu_name", "which", "from", maintain_order=True)
        .agg(pl.col("value").max(), pl.col("launches").sum(), pl.col("total_s").sum())
        .sort("total_s", descending=True, nulls_last=True, maintain_order=True)
    )
    return [(r["gpu_name"], r["which"], r["from"], r["value"], r["launches"]) for r in table.iter_rows(named=True)]
