"""CPU time of comparing, merging Nsight's findings and the suite view over many kernels.

    python benchmarks/bench_compare.py FOLDER [KERNELS]

The reports in FOLDER are repeated under other launch shapes until there are KERNELS (10,000) results.
"""

from __future__ import annotations

import argparse
import time
from contextlib import contextmanager

import polars as pl

from ncuroof import compare, nsight, pipeline, suite
from ncuroof.config import Config
from ncuroof.model import Dataset


@contextmanager
def timed(what):
    start = time.process_time()
    yield
    print(f"{what:<28} {time.process_time() - start:6.3f} s")


def repeated(dataset: Dataset, wanted: int) -> Dataset:
    copies = -(-wanted // dataset.kernels.height)
    source = pl.col("source_sha256")
    kernels = [
        dataset.kernels.with_columns(source + f"-{i}", grid_z=pl.lit(i + 1, dtype=pl.UInt32)) for i in range(copies)
    ]
    rules = [dataset.rules.with_columns(source + f"-{i}") for i in range(copies)]
    return Dataset(pl.concat(kernels), pl.concat(rules), dataset.sources, dataset.notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="folder of reports")
    parser.add_argument("kernels", nargs="?", type=int, default=10_000, help="how many kernels to grow it to")
    arguments = parser.parse_args()
    folder, wanted = arguments.folder, arguments.kernels
    dataset = repeated(pipeline.load_all([folder]).dataset, wanted)
    analysis = pipeline.analyze(dataset, Config(nsight="hide"))
    print(f"{dataset.kernels.height} kernels, {dataset.rules.height} results of Nsight's rules")
    with timed("merge Nsight's findings"):
        nsight.add(analysis.kernels, analysis.findings, dataset.rules, "merge")
    with timed("agreement, for --verbose"):
        nsight.agreement(analysis)
    with timed("suite view"):
        suite.rows(analysis)
        suite.headline(analysis)
    with timed("compare"):
        pairs = compare.compare(analysis, analysis).pairs.height
    print(f"{pairs} pairs of distinct launches")


if __name__ == "__main__":
    main()
