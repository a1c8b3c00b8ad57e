"""What a report holds, as an export of it should hold it; and which metric a printed label stands for."""

from __future__ import annotations

import gzip
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from tests.oracle.exports import Cell, Printed, kernels_of

from ncuroof import reading
from ncuroof.expand import Input
from ncuroof.metrics.engine import evaluated

if TYPE_CHECKING:
    from ncuroof.metrics.engine import Context

SIZES = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")
Held = tuple[float | None, str | None]
"""Number and text of a metric."""


@dataclass
class Read:
    """A file as ncuroof reads it."""

    launches: pl.DataFrame
    metrics: pl.DataFrame
    instances: pl.DataFrame | None
    notes: list[Any]

    @property
    def values(self) -> dict[int, dict[str, Held]]:
        """Number and text of every metric of every result."""
        found: dict[int, dict[str, Held]] = defaultdict(dict)
        columns = (self.metrics[c].to_list() for c in ("result_index", "metric", "value", "text"))
        for index, metric, value, text in zip(*columns, strict=True):
            found[index][metric] = (value, text)
        return found


def read(path: Path) -> Read:
    """Read a file the way ncuroof's pipeline does, with all metrics."""
    report, chunks = reading.open_report(Input(str(path), explicit=True, stored=False), reading.LoadOptions(), None)
    parts = list(chunks)
    instances = [c.instances for c in parts if c.instances is not None]
    return Read(
        pl.concat([c.launches for c in parts]),
        pl.concat([c.metrics.with_columns(pl.col("metric", "unit").cast(pl.String)) for c in parts]),
        pl.concat(instances) if instances else None,
        report.notes,
    )


def read_export(path: Path) -> Read:
    """Read an export that lies compressed."""
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / path.name.removesuffix(".gz")
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        return read(plain)


@dataclass
class Truth:
    """A report's results as an export should hold them: all, or one row for all launches of a kernel.

    Attributes:
        read: the results.
        values: number and text of every metric.
        full: every quantity, with nothing left out.
        extremes: for summaries the least and the largest value of each metric.
        launches: for summaries how many launches each row stands for.
    """

    read: Read
    values: dict[int, dict[str, Held]]
    full: Context
    extremes: dict[int, dict[str, tuple[float, float]]] = field(default_factory=dict)
    launches: list[int] = field(default_factory=list)


@cache
def truth_of(report: Path) -> Truth:
    """What a report holds."""
    held = read(report)
    return Truth(held, held.values, evaluated(held.launches, held.metrics, held.instances))


@cache
def summary_of(report: Path) -> Truth:
    """What ``--print-summary per-kernel`` should print: one result for all launches of a kernel with the same sizes."""
    held = truth_of(report).read
    named = held.launches.with_columns(pl.coalesce("kernel_demangled", "kernel_name"))
    who = ["kernel_demangled", "device_index", *SIZES]  # not the process
    groups = named.group_by(who, maintain_order=True).agg(pl.col("result_index"))
    number = groups.with_row_index("_group").select("_group", "result_index").explode("result_index")
    rolled = (
        held.metrics.join(number, on="result_index")
        .group_by("_group", "metric", maintain_order=True)
        .agg(
            pl.col("value").mean(),
            pl.col("value").min().alias("low"),
            pl.col("value").max().alias("high"),
            pl.col("text").last(),
            pl.col("unit").last(),
            pl.col("source_sha256").last(),
        )
    )
    extremes: dict[int, dict[str, tuple[float, float]]] = defaultdict(dict)
    for group, metric, low, high in rolled.select("_group", "metric", "low", "high").iter_rows():
        extremes[group][metric] = (low, high)
    metrics = rolled.select(
        "source_sha256",
        pl.col("_group").alias("result_index"),
        "metric",
        "value",
        pl.lit(None, pl.UInt64).alias("value_int"),
        "text",
        "unit",
    )
    first = [indices[0] for indices in groups["result_index"].to_list()]
    launches = held.launches[first].with_columns(pl.Series("result_index", range(len(first)), dtype=pl.UInt32))
    rolled_read = Read(launches, metrics, None, [])
    of = evaluated(launches, metrics)
    return Truth(rolled_read, rolled_read.values, of, extremes, groups["result_index"].list.len().to_list())


@cache
def _labels(folder: Path, stem: str) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Metrics of each display name, from the two ways of printing one page: section, label, unit to names."""
    pages = [folder / f"{stem}.{which}.csv.gz" for which in ("details-all", "details-all-name")]
    known: dict[tuple[str, str, str], tuple[str, ...]] = {}
    if not all(page.is_file() for page in pages):
        return known
    for shown, named in zip(*(kernels_of(page) for page in pages), strict=True):
        names = iter(named.cells)
        for cell in shown.cells:
            name = next((n for n in names if (n.section, n.unit, n.text) == (cell.section, cell.unit, cell.text)), None)
            if name is None:
                break
            key = (cell.section.partition("|")[0], cell.label, cell.unit)
            known[key] = tuple(dict.fromkeys((*known.get(key, ()), name.label)))
    return known


@cache
def _all_labels(folder: Path) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """The same from all reports: for those of which ncu could print only one of the two pages."""
    known: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for page in sorted(folder.glob("*.details-all.csv.gz")):
        for key, names in _labels(folder, page.name.removesuffix(".details-all.csv.gz")).items():
            known[key] = tuple(dict.fromkeys((*known.get(key, ()), *names)))
    return known


def metrics_of(cell: Cell, form: str, folder: Path, stem: str) -> tuple[str, ...]:
    """The metrics that a printed label can stand for; none where no page says."""
    if form == "details-all-label-name.txt" and cell.label.endswith(")") and "__" in cell.label:
        return (cell.label.rpartition("(")[2].rstrip(")"),)
    if ("__" in cell.label and " " not in cell.label) or form.startswith("raw"):
        return (cell.label,)
    key = (cell.section.partition("|")[0], cell.label, cell.unit)
    return _labels(folder, stem).get(key) or _all_labels(folder).get(key, ())


def places_of(truth: Truth, printed: list[Printed]) -> list[int]:
    """Which result of a summary each printed kernel is, by name, sizes and number of launches: rows have no number."""
    have = [
        (
            row["kernel_demangled"] or row["kernel_name"],
            *(tuple(row[f"{side}_{axis}"] or 0 for axis in "xyz") for side in ("grid", "block")),
            launches,
        )
        for row, launches in zip(truth.read.launches.iter_rows(named=True), truth.launches, strict=True)
    ]
    places: list[int] = []
    for one in printed:
        wanted = (one.name, one.grid, one.block, one.launches)
        places.append(next(i for i, h in enumerate(have) if h == wanted and i not in places))
    return places
