"""Display names of ncu's details page: which metric they stand for, and that unclear ones keep their own name."""

from __future__ import annotations

import pytest

from ncuroof import inputs, metrics, readers
from ncuroof.readers._display_names import metric_name

SECTION = "GPU Speed Of Light Throughput"
PCT = "avg.pct_of_peak_sustained_elapsed"


@pytest.mark.parametrize(
    ("item", "label", "metric"),
    [
        # Members of breakdown:sm__throughput and breakdown:gpu__compute_memory_throughput in binary reports.
        ("Compute Throughput Breakdown", "SM: Pipe Tensor Cycles Active", f"sm__pipe_tensor_cycles_active.{PCT}"),
        ("Compute Throughput Breakdown", "SM: Pipe Fp64 Cycles Active", f"sm__pipe_fp64_cycles_active.{PCT}"),
        ("Compute Throughput Breakdown", "SM: Inst Executed Pipe Fp16", f"sm__inst_executed_pipe_fp16.{PCT}"),
        ("Compute Throughput Breakdown", "SM: Mio2rf Writeback Active", f"sm__mio2rf_writeback_active.{PCT}"),
        ("Compute Throughput Breakdown", "IDC: Request Cycles Active", f"idc__request_cycles_active.{PCT}"),
        ("Memory Throughput Breakdown", "DRAM: Cycles Active", f"dram__cycles_active.{PCT}"),
        ("Memory Throughput Breakdown", "L1: M Xbar2l1tex Read Sectors", f"l1tex__m_xbar2l1tex_read_sectors.{PCT}"),
        ("Memory Throughput Breakdown", "L2: T Sectors", f"lts__t_sectors.{PCT}"),
        ("", "L2: Lts2xbar Cycles Active", f"lts__lts2xbar_cycles_active.{PCT}"),
    ],
)
def test_members_of_a_breakdown(item, label, metric):
    assert metric_name(SECTION, item, label, "%", 9.0) == metric
    assert metric_name("SpeedOfLight", item, label, "%", None) == metric


def test_the_members_that_placement_needs_are_asked_for():
    labels = ("SM: Pipe Tensor Cycles Active", "SM: Inst Executed Pipe Fp16", "DRAM: Cycles Active")
    assert {metric_name(SECTION, "", label, "%", 8.0) for label in labels} <= metrics.required_metrics()


@pytest.mark.parametrize("label", ["DRAM: Dram Sectors", "SM: Pipe Warp Drive Active", "XYZ: Cycles Active", "SM:"])
def test_unknown_members_stay_unknown(label):
    assert metric_name(SECTION, "Compute Throughput Breakdown", label, "%", 9.0) is None


def test_only_as_a_percentage_and_in_its_own_section():
    assert metric_name(SECTION, "", "DRAM: Cycles Active", "cycle", 9.0) is None
    assert metric_name("Memory Workload Analysis", "", "DRAM: Cycles Active", "%", 9.0) is None


def test_a_details_export_says_that_the_tensor_pipe_was_idle(corpus):
    (path,) = sorted((corpus / "text").glob("lukas-ruettgers__dphpc-gemm__ncu_benchmark_output*"))
    file = inputs.open_input(path)
    reader, why = readers.choose(file)
    kernels = metrics.kernels_from(list(reader.read(file, why, metrics.required_metrics()).chunks))
    assert kernels["tensor_pct"].to_list() == [0.0] * kernels.height  # "SM: Pipe Tensor Cycles Active","%","0"
    assert kernels["tensor_pct_source"].unique().to_list() == ["counter"]
