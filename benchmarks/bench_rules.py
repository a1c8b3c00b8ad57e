"""CPU time of the whole rule catalogue on 10,000 kernels.

    python benchmarks/bench_rules.py [--kernels 10000] [--runs 5] FOLDER

The kernels are those of a folder of reports, placed once and repeated, each copy as a report of its own, so that the
mix of findings is a real one. Prints the CPU time of all rules and of the slowest. Target: under one second.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import polars as pl

from ncuroof import pipeline, rules
from ncuroof.config import Config


def main() -> int:
    """Print the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kernels", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    loaded = pipeline.load_all([options.folder])
    if loaded.dataset is None:
        sys.stderr.write("nothing could be read\n")
        return 2
    kernels = grow(pipeline.analyze(loaded.dataset, Config()).kernels, options.kernels)
    every = _cpu(kernels, Config(), options.runs)
    outcome = rules.run(kernels, Config())
    print(f"{kernels.height} kernels, {len(rules.rules())} rules, {outcome.findings.height} findings")
    print(f"all rules: {every:.3f} s of CPU time (median of {options.runs})")
    alone = sorted(((_cpu(kernels, Config(select=(r.CODE,)), 1), r) for r in rules.rules()), key=lambda t: -t[0])
    for seconds, rule in alone[:8]:
        print(f"  {rule.CODE} {rule.NAME:22}{seconds:7.3f} s alone")
    return 0


def grow(kernels: pl.DataFrame, count: int) -> pl.DataFrame:
    """``count`` kernels: those given over and over, each copy of a report with a hash of its own."""
    copies = -(-count // kernels.height)
    many = pl.concat(
        kernels.with_columns(source_sha256=pl.format("{}-{}", "source_sha256", pl.lit(i))) for i in range(copies)
    )
    return many.head(count).drop("row").with_row_index("row").rechunk()


def _cpu(kernels: pl.DataFrame, config: Config, runs: int) -> float:
    times = []
    for _ in range(runs):
        start = time.process_time()
        rules.run(kernels, config)
        times.append(time.process_time() - start)
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
