"""Everything that is read from a folder of binary reports, counted: ``python benchmarks/corpus_reports.py [FOLDER]``.

Prints the number of reports, results and scalars, the disagreements with ``kernels.tsv`` beside the folder (figures of
a second reader, where the file is there), kernels placed, kernels with DRAM bytes by source, and findings by rule.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl

from ncuroof import pipeline, store
from ncuroof.config import Config

DEFAULT = Path(__file__).resolve().parent.parent.parent / "shared" / "corpus" / "reports"
COMPARED = {
    "duration_ns": ("duration_s", 1e-9),
    "l2_hit_pct": ("l2_hit_raw_pct", 1.0),
    "fp32_flop": ("flop_fp32", 1.0),
    "fp64_flop": ("flop_fp64", 1.0),
    "dram_bytes": ("dram_bytes", 1.0),
}
"""Column of kernels.tsv to the column of the kernels table it must equal, and the factor between them."""


def reports_in(folder: Path) -> tuple[list[Path], list[str]]:
    """Reports that open, and the errors of those that do not."""
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".ncu-rep", ".ncu-repz", ".nsight-cuprof-report"))
    good, errors = [], []
    for path in files:
        loaded = pipeline.load_all([path])
        errors += [str(e) for e in loaded.errors]
        good += [] if loaded.errors else [path]
    return good, errors


def disagreements(kernels: pl.DataFrame, reference: Path) -> list[str]:
    """Values that differ from the second reader's by more than a millionth, where both have one."""
    if not reference.is_file():
        return [f"{reference.name} is not there: nothing compared"]
    theirs = pl.read_csv(reference, separator="\t", infer_schema=False).with_columns(
        pl.col("file").str.split("/").list.last().alias("source"),
        pl.col("action").cast(pl.UInt32).alias("result_index"),
    )
    ours = kernels.with_columns(pl.col("source").str.split("/").list.last())
    both = ours.join(theirs, on=["source", "result_index"], how="inner", suffix="_theirs")
    found, compared = [], 0
    for column, (name, factor) in COMPARED.items():
        their_name = f"{column}_theirs" if column in ours.columns else column
        value = pl.col(their_name).cast(pl.Float64, strict=False).fill_nan(None) * factor
        pairs = both.select("source", "result_index", ours=pl.col(name), theirs=value).drop_nulls()
        compared += pairs.height
        off = pairs.filter((pl.col("ours") - pl.col("theirs")).abs() > 1e-6 * pl.col("theirs").abs())
        found += [f"{s} {i}: {name} {a:g}, there {b:g}" for s, i, a, b in off.iter_rows()]
    return [f"{compared} values compared with {reference.name}, {len(found)} differ", *found]


def main() -> int:
    """Read, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    folder = parser.parse_args().folder
    good, errors = reports_in(folder)
    with tempfile.TemporaryDirectory() as scratch:
        dataset = pipeline.ingest(good, Path(scratch) / "tables")
        scalars = (
            pl.scan_parquet(store.paths_for(Path(scratch) / "tables")["metrics"]).select(pl.len()).collect().item()
        )
    analysis = pipeline.analyze(dataset, Config(nsight="hide"))
    kernels = analysis.kernels
    print(f"{len(good)} reports open, {len(errors)} do not; {kernels.height} results, {scalars} scalars")
    for error in errors:
        print(f"  {error[:160]}")
    for line in disagreements(kernels, folder.parent / "kernels.tsv"):
        print(line)
    verdicts = Counter(kernels["verdict"].to_list())
    placed = kernels.filter(pl.col("verdict") != "cannot-say").height
    print(f"{placed} kernels placed: {', '.join(f'{v} {n}' for v, n in verdicts.most_common())}")
    sources = Counter(s or "unknown" for s in kernels["dram_bytes_source"])
    print(f"DRAM bytes by source: {', '.join(f'{s} {n}' for s, n in sources.most_common())}")
    print(f"findings by rule: {', '.join(f'{c} {n}' for c, n in sorted(Counter(analysis.findings['code']).items()))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
