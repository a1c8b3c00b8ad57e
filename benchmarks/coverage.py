"""How much of a folder of reports can be placed: the share of kernels with T, Q, W, a path, a roof and a verdict.

Run it as ``python benchmarks/coverage.py [FOLDER …] [--json FILE] [--against FILE]``. It reads every input that a
reader knows, through the same stages as ``ncuroof analyze``, and prints one line for all kernels and one per compute
capability:

* T: kernels with a duration.
* Q ctr, Q: with bytes at DRAM from byte counters and rates alone; from anything. derived: from a percentage of peak.
* W ctr, W: with executed work of any path from FLOP counters alone; from anything, such as executed instructions. est.:
  some of it estimated. path: with a path that bounds them.
* B, F: with a bandwidth roof, with a compute roof of their path. memory: with a memory position (Q and B, or DRAM
  throughput in percent) among those with a duration. flop: with a place on the FLOP axis, or counted work of zero,
  among those whose result holds any FLOP counter or tensor activity above zero. verdict: other than ``cannot-say``.

``benchmarks/coverage.json`` holds the last figures for the public reports that the tests use. Kernel times of nsys and
PyTorch traces carry no metrics and are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

import polars as pl

from ncuroof import pipeline
from ncuroof.config import Config
from ncuroof.paths import PATHS

DEFAULT = Path(__file__).resolve().parent.parent.parent / "shared" / "corpus"
BYTE_COUNTERS = ["counter", "rate×time", "rate×cycles", "sectors×32"]
DERIVED = ["percent×peak"]
FLOP_COUNTERS = ["counter", "rate×cycles", "rate×time"]
WITHOUT_METRICS = ["nsys-kernel-times"]


def share(condition: pl.Expr, among: pl.Expr | None = None) -> pl.Expr:
    """Percent of the kernels (of those ``among`` them) for which a condition holds."""
    holds = condition.fill_null(value=False)
    if among is None:
        return 100 * holds.mean()
    base = among.fill_null(value=False)
    return 100 * (holds & base).sum() / base.sum()


def columns() -> dict[str, pl.Expr]:
    """The columns of the printed table."""
    timed = pl.col("duration_s").is_not_null()
    q = pl.col("dram_bytes").is_not_null()
    derived = pl.col("dram_bytes_source").is_in(DERIVED)
    works = [p.work for p in PATHS]
    work = pl.any_horizontal(pl.col(c).is_not_null() for c in works)
    counted = pl.any_horizontal(pl.col(f"{c}_source").is_in(FLOP_COUNTERS) for c in works)
    estimated = pl.any_horizontal(pl.col(f"{c}_source") == "estimated" for c in works)
    bandwidth = (q & pl.col("roof_bytes_s").is_not_null()) | pl.col("dram_pct").is_not_null()
    placed = pl.col("intensity").is_not_null() | (pl.col("flop") == 0) | pl.col("compute_roof_pct").is_not_null()
    any_flop = work | (pl.col("path_hint").is_not_null() & (pl.col("tensor_pct") > 0))
    return {
        "T": share(timed),
        "Q ctr": share(pl.col("dram_bytes_source").is_in(BYTE_COUNTERS)),
        "Q": share(q),
        "derived": share(derived),
        "W ctr": share(counted),
        "W": share(work),
        "est.": share(estimated),
        "path": share(pl.col("path").is_not_null()),
        "B": share(pl.col("roof_bytes_s").is_not_null()),
        "F": share(pl.col("roof_flop_s").is_not_null()),
        "memory": share(bandwidth, timed),
        "flop": share(placed, any_flop),
        "verdict": share(pl.col("verdict") != "cannot-say"),
    }


def coverage(kernels: pl.DataFrame) -> pl.DataFrame:
    """One row for all kernels and one per compute capability.

    Args:
        kernels: the placed kernels of an analysis.

    Returns:
        Columns ``chip``, ``kernels`` and those of :func:`columns`, in percent.
    """
    chip = (
        pl.when(pl.col("cc_major").is_not_null())
        .then(pl.format("{}.{}", "cc_major", "cc_minor"))
        .otherwise(pl.lit("?"))
    )
    frame = kernels.with_columns(
        chip=chip, _order=10 * pl.col("cc_major").fill_null(99) + pl.col("cc_minor").fill_null(0)
    )
    figures = {"kernels": pl.len(), **columns()}
    total = frame.select(pl.lit("all").alias("chip"), **figures)
    parts = frame.group_by("chip", "_order").agg(**figures).sort("_order").drop("_order")
    return pl.concat([total, parts])


def show(table: pl.DataFrame) -> str:
    """The table as text, whole percent, ``-`` where there is nothing to divide by."""
    names = table.columns
    lines = ["".join(f"{name:>8}" for name in names)]
    for row in table.iter_rows():
        cells = [str(row[0]), str(row[1])]
        cells += ["-" if value is None or math.isnan(value) else f"{value:.1f}" for value in row[2:]]
        lines.append("".join(f"{cell:>8}" for cell in cells))
    return "\n".join(lines)


def change(table: pl.DataFrame, before: list[dict[str, float | str | None]]) -> pl.DataFrame:
    """The table less the figures of an earlier one, for the chips that both have."""
    earlier = {row["chip"]: row for row in before}
    rows = []
    for row in table.iter_rows(named=True):
        old = earlier.get(row["chip"], {})
        rows.append({k: v if k == "chip" else _less(v, old.get(k)) for k, v in row.items()})
    return pl.DataFrame(rows)


def _less(new: float | None, old: float | str | None) -> float | None:
    return new - old if isinstance(new, (int, float)) and isinstance(old, (int, float)) else None


def sources(kernels: pl.DataFrame, column: str) -> str:
    """Kernels by the source of a quantity."""
    counts = kernels.group_by(pl.col(column).fill_null("unknown")).len("n").sort("n", descending=True)
    return ", ".join(f"{label} {n}" for label, n in counts.iter_rows())


def main() -> int:
    """Read, place, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[DEFAULT])
    parser.add_argument("--against", type=Path, help="print the change from such a file, in points")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    files = sorted(f for folder in arguments.folders for f in (folder.rglob("*") if folder.is_dir() else [folder]))
    loaded = pipeline.load_all([f for f in files if f.is_file()])
    if loaded.dataset is None:
        print("nothing that a reader knows was found", file=sys.stderr)
        return 2
    placed = pipeline.analyze(loaded.dataset, Config(nsight="hide")).kernels
    without = [s.sha256 for s in loaded.dataset.sources if s.format in WITHOUT_METRICS]
    kernels = placed.filter(~pl.col("source_sha256").is_in(without))
    table = coverage(kernels)
    print(f"{kernels['source_sha256'].n_unique()} reports with {kernels.height} kernels; percent of kernels:\n")
    print(show(table))
    if arguments.against:
        print(f"\nchange from {arguments.against}, in points:\n")
        print(show(change(table, json.loads(arguments.against.read_text("utf-8")))))
    print(f"\nQ by source: {sources(kernels, 'dram_bytes_source')}")
    print(f"W by source: {sources(kernels, 'flop_source')}")
    print(f"verdicts: {sources(kernels, 'verdict')}")
    print(f"\nnot read: {len(loaded.errors)} files")
    if arguments.json:
        rounded = table.with_columns(pl.col(pl.Float64).fill_nan(None).round(2)).to_dicts()
        arguments.json.write_text("[\n" + ",\n".join(map(json.dumps, rounded)) + "\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
