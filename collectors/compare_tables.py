"""Compares two metrics tables of the same report: our reader's against that of NVIDIA's package.

Prints how many values both have, how many differ, and which metrics only one of them has. Exit status 1 if any
value that both have differs by more than a rounding error.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import polars as pl

ROUNDING = 1e-9
SHOWN = 20


def compare(ours: pl.DataFrame, theirs: pl.DataFrame) -> tuple[int, pl.DataFrame, list[str], list[str]]:
    """Return the number of values both have, the rows that differ, and the metrics only ours or only theirs has."""
    keys = ["result_index", "metric"]
    left = ours.select(*keys, pl.col("value").alias("ours")).with_columns(pl.col("metric").cast(pl.String))
    right = theirs.select(*keys, pl.col("value").alias("theirs")).with_columns(pl.col("metric").cast(pl.String))
    both = left.join(right, on=keys).drop_nulls(["ours", "theirs"])
    scale = pl.max_horizontal(pl.col("ours").abs(), pl.col("theirs").abs())
    different = both.filter((pl.col("ours") - pl.col("theirs")).abs() > ROUNDING * scale)
    left_only, right_only = set(left["metric"]) - set(right["metric"]), set(right["metric"]) - set(left["metric"])
    return both.height, different, sorted(left_only), sorted(right_only)


def main() -> int:
    """Compare two files."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ours", type=Path, help="metrics.parquet of ncuroof's own reader")
    options.add_argument("theirs", type=Path, help="metrics.parquet of --reader ncu-report")
    arguments = options.parse_args()
    common, different, ours, theirs = compare(pl.read_parquet(arguments.ours), pl.read_parquet(arguments.theirs))
    print(f"{common} values in both, {different.height} of them different")
    for row in different.head(SHOWN).iter_rows(named=True):
        print(f"  result {row['result_index']} {row['metric']}: {row['ours']!r} here, {row['theirs']!r} there")
    for name, only in (("ours", ours), ("theirs", theirs)):
        if only:
            print(f"only in {name}: {len(only)} metrics, such as {', '.join(only[:5])}")
    return 1 if different.height else 0


if __name__ == "__main__":
    sys.exit(main())
