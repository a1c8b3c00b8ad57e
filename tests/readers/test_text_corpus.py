"""The text files of the corpus: what each gives; and the same kernels as a report and as text."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

from ncuroof import pipeline
from ncuroof.errors import NcuroofError, NothingMeasuredError
from ncuroof.inputs import open_input
from ncuroof.metrics.catalogue import quantities
from ncuroof.readers import choose
from ncuroof.testing import text_forms as forms

# File name's beginning and end, reader, kernels. What is not listed here holds no measured kernel.
KERNELS = {
    ("AlpriElse", "silu-pytorch-ncu-report.txt"): ("ncu-text-log", 10),
    ("AveryClapp", "metrics.csv"): ("ncu-csv-long", 9),
    ("AveryClapp", "profile_multi3.txt"): ("ncu-text-log", 1),
    ("AveryClapp", "summary4096.txt"): ("ncu-text-log", 3),
    ("AveryClapp", "Research__summary.txt"): ("ncu-text-log", 3),
    ("CodeGandee", "section_MemoryWorkloadAnalysis.csv"): ("ncu-csv-long", 1),
    ("CodeGandee", "section_SchedulerStats.csv"): ("ncu-csv-long", 1),
    ("CodeGandee", "SpeedOfLight_RooflineChart.csv"): ("ncu-csv-long", 1),
    ("CodeGandee", "ncu.details.csv"): ("ncu-csv-long", 1),
    ("CodeGandee", "all-stage_nsys_summary_cuda_gpu_kern_sum.csv"): ("nsys-kernel-times", 113),
    ("CodeGandee", "decode_nsys_summary_cuda_gpu_kern_sum.csv"): ("nsys-kernel-times", 46),
    ("Lashi0812", "readWriteOffset_ca.csv"): ("ncu-csv-long", 3),
    ("Lashi0812", "readWriteOffset_cg.csv"): ("ncu-csv-long", 6),
    ("Lashi0812", "ncu_reduceInteger.csv"): ("ncu-csv-long", 9),
    ("Lashi0812", "reduceInteger.v2.csv"): ("ncu-csv-long", 6),
    ("Olajide", "gemm_register_blocked.csv"): ("ncu-csv-long", 1),
    ("Olajide", "gemm_vectorized.csv"): ("ncu-csv-long", 1),
    ("Olajide", "saxpy.csv"): ("ncu-csv-long", 1),
    ("Olajide", "transpose_tiled.csv"): ("ncu-csv-long", 1),
    ("SSSalvan", "ncu_pfac.txt"): ("ncu-text-log", 14),
    ("SSSalvan", "ncu_report.txt"): ("ncu-text-log", 18),
    ("brycelelbach", "copy_blocked.txt"): ("ncu-text-log", 1),
    ("brycelelbach", "copy_blocked.csv"): ("ncu-csv-long", 1),
    ("findstring", "excerpt.csv"): ("ncu-csv-long", 1),
    ("gpu-mode", "ncu_logs"): ("ncu-text-log", 17),
    ("gujialiang", "cutlass_microbench_ncu_raw.csv"): ("ncu-csv-long", 4),
    ("gujialiang", "short_decode_ncu_raw.csv"): ("ncu-csv-long", 30),
    ("gujialiang", "c128_out256_ncu_raw.csv"): ("ncu-csv-long", 20),
    ("gujialiang", "prefill_b1_ncu_raw.csv"): ("ncu-csv-long", 24),
    ("gujialiang", "decode_b64_ncu_raw.csv"): ("ncu-csv-long", 24),
    ("gujialiang", "kern_sum.csv"): ("nsys-kernel-times", 88),
    ("ishana23g", "non_optimized_profiler_ncu_fma_memory.v2.txt"): ("ncu-text-log", 241),
    ("ishana23g", "3d_profiler_ncu_fma_memory.v2.txt"): ("ncu-text-log", 41),
    ("jIab-b", "out.csv"): ("ncu-text-log", 1),
    ("jIab-b", "cuda_raw.csv"): ("ncu-gui-copy", 1),
    ("jIab-b", "summary_ncu.txt"): ("ncu-text-log", 3),
    ("lukas", "benchmark_output.csv"): ("ncu-csv-long", 4),
    ("superposition", "first16000.csv"): ("ncu-csv-long", 2),
}


def tables(path: Path) -> tuple[str, pl.DataFrame, pl.DataFrame]:
    file = open_input(path)
    reader, why = choose(file)
    chunks = list(reader.read(file, why, None).chunks)
    metrics = [c.metrics.with_columns(pl.col("metric", "unit").cast(pl.String)) for c in chunks]
    return reader.NAME, pl.concat([c.launches for c in chunks]), pl.concat(metrics)


def test_every_file_gives_its_kernels_or_a_reason(corpus: Path) -> None:
    given = reasons = 0
    for path in sorted((corpus / "text").iterdir()):
        expected = [v for (begin, end), v in KERNELS.items() if path.name.startswith(begin) and path.name.endswith(end)]
        if expected:
            name, launches, metrics = tables(path)
            assert (name, launches.height) in expected, path.name
            assert set(metrics["result_index"].unique()) == set(range(launches.height)), path.name
            given += 1
        else:
            with pytest.raises(NothingMeasuredError) as caught:
                tables(path)
            assert caught.value.remedy
            reasons += 1
    assert (given, reasons) == (38, 14)


def test_no_cell_of_the_long_tables_is_lost(corpus: Path) -> None:
    """Each (kernel, metric) of the files that name metrics by their own names, against Python's csv module."""
    import csv

    checked = 0
    for path in sorted((corpus / "text").glob("*.csv")):
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        start = text.find('"ID"')
        if start < 0 or "first16000" in path.name or "spanish" in path.name:
            continue
        cells = {}
        for row in csv.DictReader(text[start:].splitlines()):
            if "__" in (row.get("Metric Name") or "") and (row["Metric Unit"] or "") in (
                "",
                "byte",
                "%",
                "inst",
                "ns",
                "nsecond",
                "sector",
            ):
                cells[int(row["ID"]), row["Metric Name"]] = row["Metric Value"]
        _, launches, metrics = tables(path)
        if not cells or launches.height != len({k for k, _ in cells}):
            continue
        found = {(r["result_index"], r["metric"]): r for r in metrics.iter_rows(named=True)}
        for key, printed in cells.items():
            try:
                value = float(printed.replace(",", ""))
            except ValueError:
                assert found[key]["value"] is None
                continue
            assert found[key]["value"] == (value if math.isfinite(value) else None), (path.name, key)
            checked += 1
    assert checked > 500


REPORTS = (
    "AveryClapp__ESMM-Research__profile_output.ncu-rep",
    "karpathy__llm.c__dev_cuda_profiles_adamw_coalsecing_shared.ncu-rep",
    "AlpriElse__cs599k__silu_triton_silu-pytorch.ncu-rep",
    "jIab-b__nvfp4_gemv-kernel__l8_sync3_w2_r64.ncu-rep",
)


PER_OPCODE = {
    q.name for q in quantities() if all(any(term.name.startswith("opcode:") for term in c.add) for c in q.candidates)
}
"""Quantities that follow from counts per opcode alone, which a report holds and no export prints."""


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("form", ["wide", "long"])
def test_a_report_and_its_export_give_the_same_kernels(corpus: Path, tmp_path: Path, name: str, form: str) -> None:
    """The kernels table of a report, and of the same metrics printed as ncu prints them: six decimals, units scaled."""
    report = corpus / "reports" / name
    rows = forms.wide_rows_of(report)
    path = tmp_path / f"{form}.csv"
    size = 1 if form == "wide" else len(rows.rows)
    if form == "wide":
        path.write_text(forms.csv_text([rows.titles, rows.units, *rows.rows]), encoding="utf-8")
    else:
        forms.grow_long(path, forms.WideRows(rows.titles, rows.units, rows.rows[:1]), size)
    one, other = (pipeline.load([p]).kernels for p in (report, path))
    if form == "long":
        one = one.head(other.height)
    assert one.height == other.height
    assert one["kernel_name"].to_list() == other["kernel_name"].to_list()
    compared = 0
    for column, dtype in one.schema.items():
        if not dtype.is_numeric() or column in (
            "process_id",
            "context_id",
            "stream_id",
            "device_index",
            "result_index",
        ):
            continue
        source = f"{column}_source"
        # A report also holds values per instruction type, which no export prints: such quantities come from elsewhere
        # then.
        ways = [(k[source].to_list() if source in k.columns else [""] * k.height) for k in (one, other)]
        for mine, theirs, way, other_way in zip(one[column].to_list(), other[column].to_list(), *ways, strict=True):
            if mine is None or way != other_way or column in PER_OPCODE:
                continue
            assert theirs is not None, column
            # Six decimals of a value of order one and more; small ones keep fewer digits.
            assert theirs == pytest.approx(mine, rel=2e-3, abs=1e-6), column
            compared += 1
    assert compared > 20 * one.height


def test_public_pairs_of_report_and_text(corpus: Path) -> None:
    """Files of one repository that hold the same run as a report and as text agree within the printed digits.

    The same run is one with the same kernels in the same order and the same number of elapsed cycles, which no two runs
    share. The corpus at hand has none; a larger one may.
    """
    groups: dict[str, tuple[list[Path], list[Path]]] = defaultdict(lambda: ([], []))
    for kind, place in (("reports", 0), ("text", 1)):
        for path in sorted((corpus / kind).iterdir()):
            groups["__".join(path.name.split("__")[:2])][place].append(path)
    pairs = 0
    for reports, texts in groups.values():
        for text in texts:
            for report in reports if len(reports) < 10 else []:
                try:
                    (_, ours, left), (_, theirs, right) = tables(text), tables(report)
                except NcuroofError:
                    continue
                if ours["kernel_name"].to_list() != theirs["kernel_name"].to_list():
                    continue
                both = right.join(left, on=["result_index", "metric"]).filter(pl.col("value").is_not_null())
                cycles = both.filter(pl.col("metric") == "gpc__cycles_elapsed.max")
                if not cycles.height or not (cycles["value"] == cycles["value_right"]).all():
                    continue
                pairs += 1
                off = ((both["value"] - both["value_right"]) / both["value"]).abs()
                assert (off.filter(both["value"].abs() > 1) < 6e-3).all(), (text.name, report.name)
    if not pairs:
        pytest.skip("no file of the corpus at hand holds the same run as a report of it")
