"""How fast the text readers are: a large wide CSV, the same content as a long CSV, against Polars' own CSV reader.

    python benchmarks/bench_text.py [--megabytes 200] [--runs 3] [--source FILE]

The wide CSV is grown from real kernels (``--source``: a report or CSV; without it, a report with the full section set
from the corpus): its rows are repeated with new ids. The long CSV holds the same kernels and metrics, as many as fit
into the same number of bytes; ratios are given per byte and per kernel. Prints medians, throughputs, ratios and the
peak memory of each measurement, which runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from ncuroof.inputs import open_input
from ncuroof.readers import choose

CORPUS = Path(__file__).resolve().parents[1] / ".." / "shared" / "corpus" / "reports"
WANT = (
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__bytes.sum.per_second",
    "sm__cycles_elapsed.avg.per_second",
    "launch__grid_size",
)


def grow(source: Path, folder: Path, megabytes: int) -> tuple[Path, Path]:
    """The two files."""
    from ncuroof.testing import text_forms  # noqa: PLC0415  not in the measured processes

    table = text_forms.wide_rows_of(source)
    wide, long_ = folder / "wide.csv", folder / "long.csv"
    text_forms.grow_wide(wide, table, megabytes << 20)
    text_forms.grow_long(long_, table, megabytes << 20)
    return wide, long_


def measure(what: str, path: str, runs: int) -> None:
    """Child process: print median seconds and peak memory as JSON."""
    times, rows, kernels = [], 0, 0
    for _ in range(runs):
        start = time.perf_counter()
        if what == "polars":
            frame = pl.read_csv(path, skip_rows_after_header=0, infer_schema_length=100, truncate_ragged_lines=True)
            rows, kernels = frame.height * frame.width, frame.height
            del frame
        else:
            file = open_input(path)
            if what.startswith("hash"):
                _ = file.sha256  # waits for it: it is computed beside the reading
                times.append(time.perf_counter() - start)
                continue
            want = frozenset(WANT) if what == "want" else None
            reader, why = choose(file)
            rows = kernels = 0
            for chunk in reader.read(file, why, want).chunks:
                rows += chunk.metrics.height
                kernels += chunk.launches.height
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": statistics.median(times), "peak_mb": round(peak), "rows": rows, "kernels": kernels}))


def default_source() -> Path | None:
    """A report of the corpus with the full section set (1,219 metrics a kernel)."""
    found = sorted(CORPUS.glob("karpathy__llm.c__*adamw*.ncu-rep"))
    return found[0] if found else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--source", type=Path, default=default_source())
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure, options.runs)
        return 0
    if options.source is None:
        parser.error("name a report or CSV to grow from (--source): there is no corpus here")
    with tempfile.TemporaryDirectory() as name:
        files = dict(zip(("wide", "long"), grow(options.source, Path(name), options.megabytes), strict=True))
        results = {}
        for form, path in files.items():
            for what in ("polars", "hash", "all", "want"):
                command = [sys.executable, __file__, "--runs", str(options.runs), "--measure", what, str(path)]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                results[form, what] = one = json.loads(output)
                size = path.stat().st_size
                print(
                    f"{form:5} {what:7} {one['seconds']:7.2f} s {size / one['seconds'] / 1e6:8.0f} MB/s  peak "
                    f"{one['peak_mb']:5} MB"
                    f"  {one['kernels']:7} kernels {one['rows']:10} values"
                )
        wide, own = results["wide", "all"], results["wide", "polars"]
        print(f"wide: Polars / ncuroof = {own['seconds'] / wide['seconds']:.2f} (aim: at least 0.5)")
        print(f"wide, metrics of analyze only: {own['seconds'] / results['wide', 'want']['seconds']:.2f}")
        long_ = results["long", "all"]
        per_byte = (long_["seconds"] / files["long"].stat().st_size) / (wide["seconds"] / files["wide"].stat().st_size)
        print(f"long / wide, time per byte = {per_byte:.2f} (aim: at most 3)")
        print(f"long: Polars / ncuroof = {results['long', 'polars']['seconds'] / long_['seconds']:.2f}")
        bytes_per_kernel = {form: path.stat().st_size / results[form, "all"]["kernels"] for form, path in files.items()}
        per_kernel = (long_["seconds"] / long_["kernels"]) / (wide["seconds"] / wide["kernels"])
        print(
            f"long / wide, time per kernel = {per_kernel:.2f}; bytes per kernel "
            f"{bytes_per_kernel['long'] / bytes_per_kernel['wide']:.1f} times"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
