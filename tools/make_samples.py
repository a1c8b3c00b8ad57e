"""Builds the sample reports from the figures beside them: ``python tools/make_samples.py [--check]``.

Each folder ``sample_reports/<gpu>/<case>`` holds ``case.toml`` (GPU, where the figures were published, which finding is
expected and why) and ``figures.csv`` (one row per launch). From these come ``report.ncu-rep`` and ``README.md``.
``--check`` writes nothing and fails if a committed file is not what would be written.
"""

from __future__ import annotations

import csv
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from ncuroof.testing import NvtxRange, ReportBuilder

ROOT = Path(__file__).resolve().parent.parent / "sample_reports"
METRICS = {
    "duration_us": ("gpu__time_duration.sum", 1e3),
    "dram_bytes": ("dram__bytes.sum", 1.0),
    "bf16_tensor_ops": ("sm__ops_path_tensor_src_bf16_dst_fp32.sum", 1.0),
}
"""Column of figures.csv to the metric that stands for it, and the factor into the metric's base unit."""


def build(folder: Path) -> dict[str, bytes]:
    """The files of one case, by name."""
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    with (folder / "figures.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    report = ReportBuilder(
        gpu=case["gpu"],
        cc=(case["cc"][0], case["cc"][1]),
        attributes=case["attributes"],
        ncu_version=None,
        origin="reconstructed",
        citation=case["citation"],
        cache_control=case.get("cache_control"),
        clock_control=case.get("clock_control"),
    )
    for row in rows:
        metrics = {metric: float(row[c]) * factor for c, (metric, factor) in METRICS.items() if row.get(c)}
        shape = {"op": "gemm", "m": int(row["m"]), "n": int(row["n"]), "k": int(row["k"]), "dtype": row["dtype"]}
        extra = {key: row[key] for key in ("label", "sweep") if row[key]}
        message = "ncuroof:" + json.dumps(shape | extra, separators=(",", ":"))
        name = f"gemm_{row['dtype']}_{row['m']}x{row['n']}x{row['k']}"
        report.kernel(name, metrics, nvtx=[NvtxRange(message)], context=None, stream=None)
    return {"report.ncu-rep": report.to_bytes(), "README.md": readme(case, rows).encode()}


def readme(case: dict[str, Any], rows: list[dict[str, str]]) -> str:
    """What the case is, in words."""
    lines = [
        f"# {case['title']}",
        "",
        "**Reconstructed from published figures, not profiled.** Source of the figures: " + case["citation"] + ".",
        "",
        case["text"].strip(),
        "",
        f"`figures.csv` has the {len(rows)} launches, `tools/make_samples.py` builds `report.ncu-rep` from it.",
        "",
        "Expected above note level:",
        "",
    ]
    lines += [f"- {e['code']} for {', '.join(e['launches'])}: {e['because']}." for e in case.get("expected", [])]
    if not case.get("expected"):
        lines.append("- nothing.")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write, or with ``--check`` compare."""
    check = "--check" in sys.argv[1:]
    stale = []
    for case in sorted(ROOT.glob("*/*/case.toml")):
        for name, content in build(case.parent).items():
            path = case.parent / name
            if check:
                if not path.is_file() or path.read_bytes() != content:
                    stale.append(str(path.relative_to(ROOT)))
            else:
                path.write_bytes(content)
    for path in stale:
        print(f"stale: {path}; run python tools/make_samples.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
