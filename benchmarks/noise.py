"""How much the rules say: findings above note level per kernel over a folder of reports, at default settings.

    python benchmarks/noise.py FOLDER... [--top N]

Each report is analysed alone, as a user would, without Nsight's own voice. Prints the median, the 90th percentile and
the largest number of findings on one kernel, the findings of each rule, and, with ``--top``, the kernels with most time
and their first finding.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import polars as pl

from ncuroof import pipeline
from ncuroof.config import Config

LOUD = ("error", "warning", "info")


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--top", type=int, default=0, help="list so many kernels, one a report, with their first finding"
    )
    options = parser.parse_args()
    counts, findings, tops, unread = [], [], [], 0
    for path in sorted(p for folder in options.folders for p in folder.rglob("*") if p.is_file()):
        loaded = pipeline.load_all([path])
        if loaded.dataset is None:
            unread += 1
            continue
        analysis = pipeline.analyze(loaded.dataset, Config(nsight="hide"))
        loud = analysis.findings.filter(pl.col("severity").is_in(list(LOUD)))
        per = analysis.kernels.select("row").join(loud.group_by("row").len("findings"), on="row", how="left")
        counts.append(per["findings"].fill_null(0))
        findings.append(analysis.findings.select("code", "name", "severity", "row"))
        first = loud.filter(pl.col("row").is_not_null()).unique("row", keep="first", maintain_order=True)
        longest = analysis.kernels.sort("duration_s", descending=True, nulls_last=True).unique(
            "kernel_name", keep="first", maintain_order=True
        )
        shown = longest.select("source", "kernel_name", "duration_s", "verdict", "row").join(
            first.select("row", "code", "message"), on="row", how="left"
        )
        tops.append(shown.sort("duration_s", descending=True, nulls_last=True).head(2))
    if not counts:
        sys.stderr.write("nothing could be read\n")
        return 2
    total = pl.concat(counts)
    print(f"{len(total)} kernels of {len(counts)} files ({unread} files without ncu results)")
    print(
        f"findings above note level per kernel: median {total.median():.0f}, 90 % {total.quantile(0.9):.0f}, "
        f"largest {total.max()}, none on {100 * (total == 0).sum() / len(total):.0f} % of kernels"
    )
    table = pl.concat(findings).with_columns(loud=pl.col("severity").is_in(list(LOUD)))
    by_rule = table.group_by("code", "name").agg(loud=pl.col("loud").sum(), notes=(~pl.col("loud")).sum()).sort("code")
    print(f"\n{'rule':26}{'findings':>9}{'of kernels':>12}{'notes':>8}")
    for code, name, loud_count, notes in by_rule.iter_rows():
        print(f"{code} {name:21}{loud_count:9}{100 * loud_count / len(total):11.1f}%{notes:8}")
    if options.top:
        print()
        chosen = pl.concat(tops).sort("duration_s", descending=True, nulls_last=True).head(options.top)
        for r in chosen.iter_rows(named=True):
            time = f"{1e6 * r['duration_s']:.1f} µs" if r["duration_s"] else "no time"
            print(f"{r['source'][:40]:40} {(r['kernel_name'] or '')[:30]:30} {time:>14} {r['verdict']}")
            print(f"    {r['code'] or '-'} {r['message'] or 'no finding above note level'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
