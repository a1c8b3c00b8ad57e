"""The binary reader against a second reader's values (kernels.tsv) over a corpus of public reports."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ncuroof import tables
from ncuroof.errors import DamagedError, InputError
from ncuroof.inputs import open_input
from ncuroof.readers import choose

if TYPE_CHECKING:
    from pathlib import Path

    from ncuroof.model import RawReport

HEADLESS = "JakeFlasher__benchmark_flash_attention__ncu_reports_standard_window-512.ncu-rep"


@dataclass
class Read:
    report: RawReport
    launches: pl.DataFrame
    metrics: pl.DataFrame
    rules: pl.DataFrame


def read(path: Path, want: frozenset[str] | None = None) -> Read:
    file = open_input(path)
    reader, reason = choose(file)
    assert reader.NAME == "ncu-rep"
    report = reader.read(file, reason, want)
    chunks = list(report.chunks)
    return Read(report, *(pl.concat([getattr(c, t) for c in chunks]) for t in ("launches", "metrics", "rules")))


@pytest.fixture(scope="module")
def reports(corpus: Path) -> dict[str, Read]:
    """All reports that can be read, by file name."""
    found = {}
    for path in sorted((corpus / "reports").iterdir()):
        try:
            found[path.name] = read(path)
        except InputError:
            assert path.name == HEADLESS, f"{path.name} cannot be read"
    return found


@pytest.fixture(scope="module")
def expected(corpus: Path) -> dict[str, list[dict[str, str]]]:
    rows = defaultdict(list)
    with (corpus / "kernels.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            rows[row["file"].removeprefix("reports/")].append(row)
    return dict(rows)


def test_every_report_opens_and_the_headless_one_says_what_it_lacks(reports: dict[str, Read], corpus: Path) -> None:
    assert len(reports) == 49
    with pytest.raises(DamagedError, match=r"without its first bytes\. Copy or download"):
        read(corpus / "reports" / HEADLESS)


def test_tables_have_exactly_the_promised_columns(reports: dict[str, Read]) -> None:
    for one in reports.values():
        tables.check(one.launches, tables.LAUNCHES, "launches")
        tables.check(one.metrics, tables.METRICS, "metrics")
        tables.check(one.rules, tables.NSIGHT_RULES, "rules")


def test_results_names_and_number_of_metrics(
    reports: dict[str, Read], expected: dict[str, list[dict[str, str]]]
) -> None:
    for name, rows in expected.items():
        one = reports[name]
        assert one.launches["kernel_name"].to_list() == [r["kernel"] for r in rows], name
        assert one.launches["result_kind"].to_list() == [r["workload"] for r in rows], name
        assert one.launches["result_index"].to_list() == [int(r["action"]) for r in rows], name
        counts = one.metrics.group_by("result_index").len().sort("result_index")["len"].to_list()
        assert counts == [int(r["n_metrics"]) for r in rows], name


def product(row: dict[str, object], size: str) -> str:
    sides = [row[f"{size}_{axis}"] for axis in "xyz"]
    return "" if None in sides else str(math.prod(sides))


def test_grid_and_block(reports: dict[str, Read], expected: dict[str, list[dict[str, str]]]) -> None:
    # The second reader gives launch__grid_size and launch__block_size, and nothing where a result has no such metric.
    for name, rows in expected.items():
        for row, want in zip(reports[name].launches.iter_rows(named=True), rows, strict=True):
            assert (product(row, "grid"), product(row, "block")) == (want["grid"], want["block"]), (
                name,
                want["action"],
            )


def test_values(reports: dict[str, Read], expected: dict[str, list[dict[str, str]]]) -> None:
    names = {
        "duration_ns": "gpu__time_duration.sum",
        "l2_hit_pct": "lts__t_sector_hit_rate.pct",
        "dram_pct": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "sm_pct": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "smsp_hz": "smsp__cycles_elapsed.avg.per_second",
    }
    compared = dict.fromkeys([*names, "tensor_value"], 0)
    for file, rows in expected.items():
        values: dict[tuple[int, str], float] = {
            (index, metric): value
            for index, metric, value in reports[file].metrics.select("result_index", "metric", "value").iter_rows()
        }
        for row in rows:
            index = int(row["action"])
            pairs = [(column, metric) for column, metric in names.items() if row[column]]
            if row["tensor_metric"]:
                pairs.append(("tensor_value", row["tensor_metric"]))
            for column, metric in pairs:
                ours, theirs = values[index, metric], float(row[column])
                # kernels.tsv holds ten significant digits, and "nan" where the report holds NaN.
                same = math.isclose(ours, theirs, rel_tol=1e-9) or (math.isnan(ours) and math.isnan(theirs))
                assert same, (file, index, metric, ours, theirs)
                compared[column] += 1
            if not row["duration_ns"]:
                assert values.get((index, names["duration_ns"])) is None, (file, index)
    assert min(compared.values()) > 20, compared
    assert compared["duration_ns"] == 333  # the other 17 results hold no duration by that name


def test_a_rtx_3080_gemm_by_hand(reports: dict[str, Read]) -> None:
    # An SGEMM with n = 1024, as its command line says.
    one = reports["AshunFeiyu__Cuda_Gemm_Practice__test1.ncu-rep"]
    launches = one.launches.row(0, named=True)
    assert launches["gpu_name"] == "NVIDIA GeForce RTX 3080"
    assert (launches["cc_major"], launches["cc_minor"], launches["device_index"]) == (8, 6, 0)
    assert (launches["ncu_version"], launches["cuda_version"]) == ("2023.2.0.0", "12.1")
    assert launches["driver_version"] == "530.30.02"
    second = one.metrics.filter(pl.col("result_index") == 1)
    values = dict(zip(second["metric"], second["value"], strict=True))
    units = dict(zip(second["metric"], second["unit"], strict=True))
    assert (values["gpu__time_duration.sum"], units["gpu__time_duration.sum"]) == (142_144, "ns")
    assert (values["dram__bytes_read.sum"], units["dram__bytes_read.sum"]) == (8_438_016, "byte")
    assert values["dram__bytes_write.sum"] == 5_779_840
    # FFMA per elapsed cycle × elapsed cycles of an SMSP (sum over 68 SMs × 4): n³ of the product, and n² for
    # alpha · acc + beta · c, one for each element.
    rate = values["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"]
    cycles = values["smsp__cycles_elapsed.sum"] / (68 * 4)
    assert rate * cycles == pytest.approx(1024**3 + 1024**2, rel=1e-12)


def test_how_it_was_measured(reports: dict[str, Read]) -> None:
    def settings(name: str) -> tuple[str | None, ...]:
        row = next(one for key, one in reports.items() if name in key).launches.row(0, named=True)
        return tuple(row[c] for s in ("clock_control", "cache_control", "replay_mode") for c in (s, f"{s}_source"))

    given = "command line"
    assert settings("manual_nvtx") == ("base", given, "all", given, "kernel", given)
    # No option on a stored command line of 2025.1: its defaults.
    default = "default of ncu 2025.1.0.0"
    assert settings("silu_triton_silu-pytorch") == ("base", default, "all", default, "kernel", default)
    # 2026.2 boosts the clocks unless told otherwise.
    assert settings("lfm2.5-8b-a1b")[:2] == ("boost", "default of ncu 2026.2.1.0")
    # Saved by the UI in 2021: no command line, but profile options.
    stored = "default of ncu 2021.2.0.0, command line not stored"
    assert settings("Yanni") == ("base", "options", "all", stored, "kernel", "options")
    # An options file was used that is not in the report.
    assert settings("readOnlyCache") == (None,) * 6
    # Of 2019: no version.
    assert settings("matrixMul__profile") == (None,) * 6


def test_private_facts_are_in_no_table(reports: dict[str, Read]) -> None:
    one = next(one for key, one in reports.items() if "lfm2.5" in key)
    private = "/home/"
    assert private in (one.report.session.command_line or "")
    assert private not in repr(one.report.session)
    for frame in (one.launches, one.metrics, one.rules):
        text = frame.select(pl.selectors.string()).unpivot()["value"]
        assert not text.str.contains(private, literal=True).any()


def test_driver_version_of_newer_reports_comes_from_the_results(reports: dict[str, Read]) -> None:
    one = next(one for key, one in reports.items() if "nvfp4_gemv" in key)
    driver = one.launches["driver_version"][0]
    assert driver is not None
    assert one.report.session.driver_version == driver
    assert 500 < float(driver) < 700


def test_nvtx_ranges(reports: dict[str, Read]) -> None:
    one = next(one for key, one in reports.items() if "manual_nvtx" in key)
    assert one.launches["nvtx_path"].to_list() == ["run_test/init_data", "run_test/daxpy", "run_test/check_results"]
    outer, inner = one.launches["nvtx"][0]
    assert (outer["name"], outer["color"], inner["name"], inner["color"]) == (
        "run_test",
        "#FF00FF00",
        "init_data",
        "#FFFFFF00",
    )
    assert outer["payload"] is None
    assert outer["thread"] == 129325
    # A report without --nvtx says nothing about ranges: null, not an empty list.
    assert reports["AshunFeiyu__Cuda_Gemm_Practice__test1.ncu-rep"].launches["nvtx"][0] is None


def test_rule_results(reports: dict[str, Read]) -> None:
    rules = pl.concat([one.rules for one in reports.values()])
    kinds = set(rules["message_type"].drop_nulls())
    assert {"warning", "optimization", "ok"} <= kinds <= {"none", "ok", "warning", "optimization", "error"}
    silent = rules.filter(pl.col("text").is_null())
    assert silent.height > 300
    # Link marks of the tool's own window are gone.
    assert not rules["text"].str.contains(r"@(url|section|sass|source):").any()
    hit = rules.filter(pl.col("text").str.contains("https://docs.nvidia.com", literal=True))
    assert hit.height > 50
    speedups = rules.filter(pl.col("speedup_pct").is_not_null())
    assert set(speedups["speedup_type"]) == {"local", "global"}
    assert speedups["speedup_pct"].is_between(0, 100).all()
    focus = rules.explode("focus").select(pl.col("focus").struct.field("metric")).drop_nulls()
    assert "smsp__maximum_warps_avg_per_active_cycle" in focus["metric"]


def test_string_tables_are_appended(reports: dict[str, Read]) -> None:
    # Its file holds several string tables; read as replacements, ids would name other metrics or none.
    one = reports["kulnaman__lammps__output.ncu-rep"]
    assert one.launches["kernel_name"].null_count() == 0
    assert one.metrics["metric"].str.contains("__").mean() > 0.9


def test_only_wanted_metrics_are_decoded_and_the_same(reports: dict[str, Read], corpus: Path) -> None:
    want = frozenset({"gpu__time_duration.sum", "dram__bytes_read.sum", "no__such.metric"})
    for name in ("spymaster2h__spyinfer__report.ncu-rep", "AshunFeiyu__Cuda_Gemm_Practice__test1.ncu-rep"):
        some = read(corpus / "reports" / name, want)
        every = reports[name]
        assert some.launches.equals(every.launches)
        assert some.rules.equals(every.rules)
        keys = ["result_index", "metric"]
        kept = some.metrics.filter(pl.col("metric").is_in(list(want))).sort(keys)
        assert kept.equals(every.metrics.filter(pl.col("metric").is_in(list(want))).sort(keys))
        assert some.metrics.height < every.metrics.height / 10


def test_metrics_twice_in_a_result_and_metrics_without_a_value(reports: dict[str, Read]) -> None:
    absent = 0
    for one in reports.values():
        assert not one.metrics.select("result_index", "metric").is_duplicated().any()
        empty = one.metrics.filter(pl.col("value").is_null() & pl.col("text").is_null())
        absent += empty.height
        assert empty["value_int"].null_count() == empty.height
    assert absent > 500
