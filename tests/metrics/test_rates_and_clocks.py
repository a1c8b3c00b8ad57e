"""Cycles, rates, time, clocks, sampled series and old names: the rules that need care."""

from __future__ import annotations

import pytest
from tests.metrics.values import CLOCK, SASS, fp32

from ncuroof.metrics import required_metrics


def test_cycle_convention_average_not_maximum(kernel_of):
    """A rate per cycle is a rate per average elapsed cycle: 100 a cycle × 1,000 = 100,000, not × 1,008."""
    cycles = {"smsp__cycles_elapsed.avg": 1000, "smsp__cycles_elapsed.max": 1008, "gpc__cycles_elapsed.max": 1010}
    k = kernel_of(fp32(0, 0, 100, ".per_cycle_elapsed") | cycles)
    assert k["flop_fp32"] == 200_000
    assert k["flop_fp32_source"] == "rate×cycles"


def test_cycles_from_clock_and_time(kernel_of):
    """Without cycles: cycles = clock × T. 100 a cycle × 1 GHz × 2 µs = 200,000."""
    rate = {"smsp__cycles_elapsed.avg.per_second": 1e9, "gpu__time_duration.sum": 2000}
    k = kernel_of(fp32(0, 0, 100, ".per_cycle_elapsed") | rate)
    assert k["flop_fp32"] == pytest.approx(400_000)
    assert k["smsp_cycles_source"] == "rate×time"


def test_counts_go_before_rates(kernel_of):
    k = kernel_of(fp32(1, 2, 3) | fp32(9, 9, 9, ".per_cycle_elapsed") | {"smsp__cycles_elapsed.avg": 10})
    assert k["flop_fp32"] == 1 + 2 + 2 * 3
    assert k["flop_fp32_source"] == "counter"


def test_rates_per_second(kernel_of):
    k = kernel_of(fp32(0, 0, 5e9, ".per_second") | {"gpu__time_duration.sum": 1000})
    assert k["flop_fp32"] == pytest.approx(10_000)
    assert k["flop_fp32_source"] == "rate×time"


def test_an_operand_that_is_missing_makes_the_sum_unknown(kernel_of):
    assert kernel_of({SASS.format("ffma"): 5.0, SASS.format("fadd"): 1.0})["flop_fp32"] is None


def test_derived_x2_of_sm_is_a_peak_and_of_smsp_a_rate(kernel_of):
    """derived__sm__…_x2 is FLOP a cycle the device could do; derived__smsp__…_x2 is what the kernel did a cycle."""
    peak = {"derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2": 17408.0}
    k = kernel_of(peak | CLOCK)
    assert k["flop_fp32"] is None
    assert k["fp32_fma"] is None
    assert k["peak_flop_s_fp32"] == 17408e9
    rate = {"derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2": 20.0, "smsp__cycles_elapsed.avg": 1000}
    k = kernel_of(rate)
    assert k["fp32_fma"] == 10_000  # 20 FLOP a cycle are 10 multiply-adds
    assert k["peak_flop_s_fp32"] is None


def test_half_x2_of_older_sections_is_half_the_work(kernel_of):
    """A packed multiply-add is 4 FLOP; sections that print ×2 show half of it."""
    k = kernel_of({"derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x2": 100.0} | CLOCK)
    assert k["peak_flop_s_fp16_vector"] == 200e9
    k = kernel_of({"derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4": 200.0} | CLOCK)
    assert k["peak_flop_s_fp16_vector"] == 200e9


@pytest.mark.parametrize("prefix", ["pmsampling:", "SM_C.TriageCompute.", "TPC.TriageCompute.", "FBSP.TriageCompute."])
def test_sampled_series_are_never_totals(kernel_of, prefix):
    """A series carries a scalar too: 24.0 where the tensor pipe was busy 43.1 % of the time."""
    assert not [name for name in required_metrics() if name.startswith(prefix)]
    k = kernel_of({f"{prefix}sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 24.0})
    assert k["tensor_pct"] is None


def test_pascal_era_names(kernel_of):
    k = kernel_of(
        {
            "gpu__time_duration": 5000.0,
            "gpc__frequency": 1.5e9,
            "dram__read_sectors": 10.0,
            "dram__write_sectors": 2.0,
            "sm__sol_pct": 12.0,
            "sm__shmem_ld_bank_conflict_sum": 7.0,
            "smsp__warp_cycles_per_issue_stall_no_instructions": 1.5,
        },
        "6.1",
    )
    assert k["duration_s"] == pytest.approx(5e-6)
    assert k["sm_hz"] == 1.5e9
    assert (k["dram_bytes"], k["dram_bytes_source"]) == (384, "sectors×32")
    assert k["sm_pct"] == 12
    assert k["bank_conflicts_ld"] == 7
    assert k["stall_no_instruction"] == 1.5


def test_time_from_cycles_where_the_duration_is_absent(kernel_of):
    k = kernel_of({"gpc__cycles_elapsed.max": 3000, "gpc__cycles_elapsed.avg.per_second": 1.5e9})
    assert k["duration_s"] == pytest.approx(2e-6)
    assert k["duration_s_source"] == "slowest cycles÷clock"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_duration_that_is_none_is_null(kernel_of, value):
    k = kernel_of({"gpu__time_duration.sum": value, "dram__bytes.sum.per_second": 1e9})
    assert k["duration_s"] is None
    assert k["dram_bytes"] is None  # a rate has no total without the time


def test_nan_in_a_counter_is_unknown_and_the_next_candidate_is_taken(kernel_of):
    k = kernel_of({"dram__bytes_read.sum": float("nan"), "dram__bytes_write.sum": 5.0, "dram__sectors.sum": 3.0})
    assert (k["dram_bytes"], k["dram_bytes_source"]) == (96, "sectors×32")


def test_clock_above_the_maximum_shows_in_clock_ratio(kernel_of):
    k = kernel_of({"sm__cycles_elapsed.avg.per_second": 2.1e9, "device__attribute_clock_rate": 1_500_000})
    assert k["clock_ratio"] == pytest.approx(1.4)


def test_peaks_of_zero_are_unknown(kernel_of):
    k = kernel_of({"dram__bytes.sum.peak_sustained": 0.0, "dram__cycles_elapsed.avg.per_second": 1e9})
    assert k["peak_bytes_s_dram"] is None


ACTIVE, ELAPSED = "avg.pct_of_peak_sustained_active", "avg.pct_of_peak_sustained_elapsed"


@pytest.mark.parametrize("pipe", ["fma", "alu", "fp64"])
def test_a_share_of_active_cycles_is_none_of_the_launch(kernel_of, pipe):
    active = {f"sm__pipe_{pipe}_cycles_active.{ACTIVE}": 63.8}
    k = kernel_of(active)
    assert (k[f"{pipe}_active_pct"], k[f"{pipe}_pct"]) == (63.8, None)
    k = kernel_of(active | {f"sm__pipe_{pipe}_cycles_active.{ELAPSED}": 7.5})
    assert (k[f"{pipe}_active_pct"], k[f"{pipe}_pct"]) == (63.8, 7.5)
    # 63.8 % of 2,000 of 16,000 cycles.
    k = kernel_of(active | {"sm__cycles_active.avg": 2_000, "sm__cycles_elapsed.avg": 16_000})
    assert k[f"{pipe}_pct"] == pytest.approx(7.975)
    assert k[f"{pipe}_pct_source"] == "percent of active×active÷elapsed"
    # The same share from instructions per cycle: 0.3 of 2.4.
    k = kernel_of(
        active | {"sm__inst_executed.avg.per_cycle_active": 2.4, "sm__inst_executed.avg.per_cycle_elapsed": 0.3}
    )
    assert k[f"{pipe}_pct"] == pytest.approx(7.975)


def test_bank_reads_are_not_the_data_stage(kernel_of):
    reads = {f"l1tex__data_bank_reads.{ELAPSED}": 32.4}
    assert kernel_of(reads)["shared_pipe_pct"] is None
    stage = reads | {f"l1tex__data_pipe_lsu_wavefronts.{ELAPSED}": 3.0}
    assert kernel_of(stage, "8.6")["shared_pipe_pct"] == 3.0
    assert kernel_of(stage, "7.5")["shared_pipe_pct"] == 6.0
