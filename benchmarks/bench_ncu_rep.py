"""Speed and memory of the reader for binary reports, against decoding the same bytes with protobuf alone.

Run it as ``python benchmarks/bench_ncu_rep.py [--kernels N] [--repeats N] [--corpus FOLDER]``. It grows a report of
10,000 kernels with the project's own writer and prints medians and ratios, all from one run:

* protobuf: blocks walked and every result decoded with full, plain descriptors, and nothing collected from it.
* all: every chunk of the three tables built, then dropped. Target: at most 3 × protobuf.
* analyze: the same for the metrics that ``analyze`` needs. Target: at most a third of all scalars.
* peak memory of the process that reads. Target: at most twice the file.
* nvidia: NVIDIA's reader over all scalars, where it is installed.
* corpus: every report of a folder. Target: under 2 s and 0.3 GB.

Every measurement runs in a process of its own, so that peaks of memory do not mix. Opening (mapping the file and its
SHA-256) is the same for every reader and shown apart.
"""

# ruff: noqa: PLC0415, S311  every stage imports only what it measures; the random numbers are data
from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

METRICS = 220  # beside those of the launch and the device
NEEDED = 45
SECTIONS = 5
INSTANCED = 4


def grow(path: Path, kernels: int) -> None:
    """A report with the make-up of a real one: metrics, some with instances, section definitions, rules, NVTX."""
    from ncuroof.ncurep.messages import message
    from ncuroof.testing import NvtxRange, ReportBuilder, RuleItem

    random = Random(1)
    # In public reports 18 % of the metrics of a result are among those that analyze needs (median of 49 reports).
    needed = sorted(analyze_metrics())
    names = needed[:: len(needed) // NEEDED][:NEEDED]
    units = ("sm", "smsp", "l1tex", "lts", "dram", "gpc")
    rollups = ("sum", "avg", "max", "avg.pct_of_peak_sustained_elapsed", "sum.per_second")
    kinds = ("inst_executed_pipe_made_up", "t_sectors_made_up", "cycles_made_up")
    others = (f"{u}__{w}_{i}.{r}" for i in range(99) for u in units for w in kinds for r in rollups)
    names += [next(others) for _ in range(METRICS - len(names))]
    random.shuffle(names)
    section = message("Section", "full")
    sections = []
    for s in range(SECTIONS):
        one = section(id=f"Section{s}".encode(), name=f"Section {s}".encode(), order=10 * s)
        one.description = b"What this section shows, in a sentence or two that repeat in every result. " * 6
        for m in random.sample(names, 15):
            header = one.header.metrics.add(name=m.encode(), label=b"Label of " + m.encode())
            header.alternatives.add(name=m.encode() + b"_old", filter=b"CC_70..90")
        sections.append(one.SerializeToString())
    report = ReportBuilder(
        gpu="NVIDIA H100 80GB HBM3",
        attributes={f"attribute_{i}": i * 1000 for i in range(28)},
        command_line="ncu --set full -o report ./app",
    )
    addresses = [(0x7F0000000000 + 16 * i) for i in range(24)]
    for k in range(kernels):
        values = {m: random.random() * 1e6 if i % 2 else random.randrange(1 << 34) for i, m in enumerate(names)}
        report.kernel(
            f"kernel_{k % 100}",
            values,
            grid=(k % 500 + 1, 1, 1),
            block=(256, 1, 1),
            nvtx=[NvtxRange(f"step_{k // 100}"), NvtxRange("layer")],
            rules=[RuleItem(f"Rule{r}", f"This kernel reaches {k % 97} percent. " * 4) for r in range(6)],
            instances={m: [(a, a % 1000) for a in addresses] for m in names[:INSTANCED]},
            sections=sections,
        )
    report.write(path)


def analyze_metrics() -> frozenset[str]:
    from ncuroof.metrics import required_metrics

    return frozenset(required_metrics())


def measure(stage: str, path: Path, warm: Path) -> dict[str, float]:
    """Seconds and peak memory of a stage, in this process, after a run over a small report that loads every module."""
    run(stage, warm)
    opening, seconds, rows = run(stage, path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 * 1.048576
    return {"seconds": seconds, "opening": opening, "peak_mb": peak, "rows": rows}


def run(stage: str, path: Path) -> tuple[float, float, int]:
    """Seconds to open (map and digest) and to read, and rows read."""
    from ncuroof.errors import NcuroofError
    from ncuroof.inputs import open_input
    from ncuroof.ncurep import walk
    from ncuroof.ncurep.messages import message
    from ncuroof.readers import ncu_rep

    rows = 0
    begin = time.perf_counter()
    if stage == "nvidia":
        import ncu_report

        context = ncu_report.load_report(str(path))
        for r in range(context.num_ranges()):
            for action in context.range_by_idx(r):
                for name in action.metric_names():
                    action[name].value()
                    rows += 1
        return 0.0, time.perf_counter() - begin, rows
    if stage == "protobuf":
        file = open_input(path)
        _ = (
            file.sha256
        )  # computed beside the reading otherwise: it is the same for every stage, so it counts as opening
        opened = time.perf_counter()
        read = message("Result", "full").FromString
        for entry in walk(file.data, file.name).entries:
            if entry.kind == "kernel":
                read(file.data[entry.offset : entry.offset + entry.size])
                rows += 1
        return opened - begin, time.perf_counter() - opened, rows
    wanted = analyze_metrics() if stage == "analyze" else None
    opening = 0.0
    for one in sorted(path.iterdir()) if path.is_dir() else [path]:
        try:
            before = time.perf_counter()
            file = open_input(one)
            _ = file.sha256
            opening += time.perf_counter() - before
            if ncu_rep.recognises(file.head, file.name):
                for chunk in ncu_rep.read(file, "benchmark", wanted).chunks:
                    rows += chunk.metrics.height
        except NcuroofError as error:
            print(error, file=sys.stderr)
    return opening, time.perf_counter() - begin - opening, rows


def medians(stages: dict[str, Path], warm: Path, repeats: int) -> dict[str, dict[str, float]]:
    """Medians of each stage over its file; the stages take turns, so that a busy machine slows all of them alike."""
    results: dict[str, list[dict[str, float]]] = {name: [] for name in stages}
    for _ in range(repeats):
        for name, path in stages.items():
            stage = "all" if name == "corpus" else name
            command = [sys.executable, __file__, "--stage", stage, "--file", str(path), "--warm", str(warm)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results[name].append(json.loads(done.stdout))
    return {name: {k: statistics.median(r[k] for r in rows) for k in rows[0]} for name, rows in results.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--corpus", type=Path, default=Path("../shared/corpus/reports"))
    parser.add_argument("--file", type=Path, help="measure this report instead of a grown one")
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    parser.add_argument("--warm", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--grow", type=Path, help="only grow the report, to this file")
    options = parser.parse_args()
    if options.grow:
        grow(options.grow, options.kernels)
        return
    if options.stage:
        print(json.dumps(measure(options.stage, options.file, options.warm)))
        return
    names = ["protobuf", "all", "analyze"]
    if importlib.util.find_spec("ncu_report"):
        names.append("nvidia")
    else:
        print("NVIDIA's reader is not installed and is not timed")
    with tempfile.TemporaryDirectory() as folder:
        warm = Path(folder) / "warm.ncu-rep"
        grow(warm, 64)
        path = options.file or Path(folder) / "grown.ncu-rep"
        if options.file is None:
            # In a process of its own: a child begins with the peak of its parent.
            grower = [sys.executable, __file__, "--grow", str(path), "--kernels", str(options.kernels)]
            subprocess.run(grower, check=True)
        size = path.stat().st_size / 1e6
        files = dict.fromkeys(names, path)
        if options.corpus.is_dir():
            files["corpus"] = options.corpus
        stages = medians(files, warm, options.repeats)
    print(f"report of {size:.1f} MB; medians of {options.repeats} runs")
    print(f"{'stage':10} {'open, s':>8} {'read, s':>8} {'peak, MB':>9} {'rows':>9}")
    for name, s in stages.items():
        print(f"{name:10} {s['opening']:8.3f} {s['seconds']:8.3f} {s['peak_mb']:9.1f} {s['rows']:9.0f}")
    base, every, some = (stages[name]["seconds"] for name in names[:3])
    print(f"all scalars / protobuf alone   {every / base:5.2f}   target ≤ 3")
    print(f"analyze only / all scalars     {some / every:5.2f}   target ≤ 0.33")
    print(f"analyze only / protobuf alone  {some / base:5.2f}")
    for name in ("all", "analyze"):
        print(f"peak memory / file, {name:9}  {stages[name]['peak_mb'] / size:5.2f}   target ≤ 2")
    if "corpus" in stages:
        whole = stages["corpus"]["opening"] + stages["corpus"]["seconds"]
        print(f"corpus                  {whole:6.2f} s, {stages['corpus']['peak_mb']:.0f} MB   target < 2 s, < 300 MB")


if __name__ == "__main__":
    main()
