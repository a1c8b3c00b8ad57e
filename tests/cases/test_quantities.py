"""Quantities of public reports and exports whose values were once wrong, against the right ones."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest
from tests.conftest import CORPUS

from ncuroof import pipeline
from ncuroof.config import Config

CASES = CORPUS.parent / "cases"


@cache
def kernels(path):
    """The placed kernels of a file; skipped where the public files are not at hand."""
    if not path.exists():
        pytest.skip(f"{path.name} is not here; public reports are not part of the repository")
    return pipeline.analyze(pipeline.load([path]), Config(nsight="hide")).kernels


def kernel(name, folder="reports", **which):
    """One kernel of a case, by the values of some of its columns."""
    frame = kernels(CASES / folder / name)
    return frame.filter(*(pl.col(column) == value for column, value in which.items())).row(0, named=True)


def test_one_l1_percentage_for_verdict_and_rules():
    # l1tex__throughput 99.926 % of active and elapsed cycles; Nsight's memory throughput shows 86.4 % (DRAM) and counts
    # the same data stage at 49.96 %.
    k = kernel("t4_wmma_opcodes.ncu-rep", kernel_name="wmma_gemm")
    assert k["l1_pct"] == pytest.approx(99.926, abs=1e-3)
    assert k["shared_pipe_pct"] == pytest.approx(2 * 49.9627, abs=1e-3)
    assert (k["limiter"], k["limiter_pct"]) == ("l1", k["l1_pct"])
    assert k["memory_pct"] == pytest.approx(86.43, abs=0.01)


def test_l1_of_short_launches_is_a_share_of_the_launch():
    # V100: L1 49.4 % of the active cycles, which are 0.828 of the launch.
    launches = kernels(CASES / "reports" / "owner_listed_last.ncu-rep").filter(pl.col("l1_active_pct") > 49.4)
    k = launches.sort("l1_active_pct").row(0, named=True)
    assert k["l1_active_pct"] == pytest.approx(49.4375, abs=1e-3)
    assert k["l1_pct"] == pytest.approx(49.4375 * 0.828219, abs=1e-2)
    assert k["l1_pct"] == pytest.approx(k["memory_pct"], rel=1e-4)  # L1 is the busiest part of the memory side


def test_pipes_have_a_share_of_the_launch_and_one_of_the_active_cycles():
    # An A100 whose SMs worked 0.1155 of 9.34 µs: ALU 21.15 % while they did, 2.443 % over the launch.
    (path,) = (CORPUS / "reports").glob("panjd123__cutlass__report80*") if CORPUS.exists() else (CORPUS / "absent",)
    k = kernels(path).row(0, named=True)
    assert (k["alu_active_pct"], k["alu_pct"]) == pytest.approx((21.1529, 2.44304), rel=1e-4)
    assert (k["fma_active_pct"], k["fma_pct"]) == pytest.approx((6.06591, 0.700578), rel=1e-4)


def test_tensor_work_of_turing_is_counted_once():
    # 2·4096³ FLOP; opcode counts (HMMA.1688.F32) and the aggregate counter are the same operations.
    k = kernel("t4_wmma_opcodes.ncu-rep", kernel_name="wmma_gemm")
    assert k["flop"] == 2 * 4096**3
    assert k["intensity"] == pytest.approx(5.085, abs=1e-3)
    assert k["compute_roof_pct"] == pytest.approx(5.97, abs=0.15)  # the tensor pipe's own percentage


def test_no_type_of_work_is_guessed():
    placed = kernels(CASES / "reports" / "julia_basic_set.ncu-rep")
    for path in ("fp16", "bf16", "tf32", "fp8", "int8"):
        column = f"op_{path}" if path == "int8" else f"flop_{path}"
        assert placed[column].null_count() == placed.height, column
    assert placed["tensor_pct"].drop_nulls().len() > 0  # what the tensor pipe did is still told


@pytest.mark.parametrize("name", ["dram_fbpa_sectors.csv", "dram_per_cycle.csv"])
def test_the_total_of_dram_is_reads_and_writes_wherever_both_are_known(name):
    placed = kernels(CASES / "text" / name)
    assert placed.filter(pl.all_horizontal(pl.col("dram_read_bytes", "dram_write_bytes").is_not_null())).height > 0
    both = placed.select(pl.col("dram_bytes"), parts=pl.col("dram_read_bytes") + pl.col("dram_write_bytes"))
    assert both["dram_bytes"].to_list() == both["parts"].to_list()


def test_stalls_per_warp_do_not_pass_for_stalls_per_issue():
    # smsp__average_warp_latency_issue_stalled_X.ratio is cycles per warp (3651); per issue it is 0.09.
    placed = kernels(CASES / "text" / "b10_stall_alternative.csv")
    stalls = [name for name in placed.columns if name.startswith("stall_") and placed[name].dtype.is_numeric()]
    values = [v for name in stalls for v in placed[name].drop_nulls().to_list()]
    assert max(values, default=0.0) < 1000
