"""The rules that need care, each with a test named after it."""

from __future__ import annotations

import pytest

from ncuroof.metrics import required_metrics

OPS = "sm__ops_path_tensor_"
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
CLOCK = {"sm__cycles_elapsed.avg.per_second": 1e9}


def fp32(add: float, mul: float, fma: float, suffix: str = "") -> dict[str, float]:
    names = ("fadd", "fmul", "ffma")
    return {SASS.format(n) + suffix: v for n, v in zip(names, (add, mul, fma), strict=True)}


def halves(add: float, mul: float, fma: float) -> dict[str, float]:
    return {SASS.format(n): v for n, v in zip(("hadd", "hmul", "hfma"), (add, mul, fma), strict=True)}


# Cycles and rates


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


# Series and old names


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


# Time and clocks


def test_time_from_cycles_where_the_duration_is_absent(kernel_of):
    k = kernel_of({"gpc__cycles_elapsed.max": 3000, "gpc__cycles_elapsed.avg.per_second": 1.5e9})
    assert k["duration_s"] == pytest.approx(2e-6)
    assert k["duration_s_source"] == "cycles÷clock"


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


# Bytes


def test_cc_12_reads_op_read_and_op_write(kernel_of):
    k = kernel_of({"dram__bytes_op_read.sum": 64.0, "dram__bytes_op_write.sum": 32.0}, "12.0")
    assert (k["dram_bytes"], k["dram_read_bytes"], k["dram_write_bytes"]) == (96, 64, 32)
    assert k["dram_bytes_source"] == "counter"


@pytest.mark.parametrize(
    ("cc", "absent"), [("7.2", True), ("8.7", True), ("11.0", True), ("12.1", True), ("9.0", False)]
)
def test_chips_without_dram_counters(kernel_of, cc, absent):
    k = kernel_of({"lts__t_sectors_lookup_miss.sum": 10.0}, cc)
    assert k["dram_counters_absent"] is absent
    assert k["dram_bytes"] is None
    assert k["l2_miss_bytes"] == 320


def test_an_unknown_chip_is_not_said_to_lack_counters(kernel_of):
    assert kernel_of({"gpu__time_duration.sum": 5.0})["dram_counters_absent"] is None


def test_exact_bytes_from_active_memory_cycles(kernel_of):
    """40 % of 1 GHz × 10 µs = 4,000 cycles; 4096 bit ÷ 4 = 1,024 B each: 4,096,000 B."""
    basic = {
        "dram__cycles_active.avg.pct_of_peak_sustained_elapsed": 40.0,
        "dram__cycles_elapsed.avg.per_second": 1e9,
        "device__attribute_fb_bus_width": 4096,
        "gpu__time_duration.sum": 10_000,
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 45.0,
    }
    k = kernel_of(basic)
    assert k["dram_bytes"] == pytest.approx(4_096_000)
    assert k["dram_bytes_source"] == "cycles_active%"
    assert k["dram_pct"] == 45
    del basic["dram__cycles_active.avg.pct_of_peak_sustained_elapsed"]
    k = kernel_of(basic)
    assert k["dram_bytes"] == pytest.approx(0.45 * 1024 * 10_000)
    assert k["dram_bytes_source"] == "percent×peak"


def test_dram_percentage_without_a_memory_clock_uses_the_device_attributes(kernel_of):
    """50 % of 1 GHz × 2 × 32 B = 64 GB/s for 1 µs: 32,000 B."""
    k = kernel_of(
        {
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 50.0,
            "device__attribute_memory_clock_rate": 1_000_000,
            "device__attribute_global_memory_bus_width": 256,
            "gpu__time_duration.sum": 1000,
        }
    )
    assert k["dram_bytes"] == pytest.approx(32_000)
    assert k["peak_bytes_s_dram"] is None  # nothing was measured


def test_l2_fabric_sectors_are_not_traffic_of_the_sms(kernel_of):
    all_units = {"lts__t_sectors.sum": 100.0}
    assert kernel_of(all_units, "8.0")["l2_bytes"] is None
    assert kernel_of(all_units, "8.6")["l2_bytes"] == 3200
    assert kernel_of(all_units | {"lts__t_sectors_srcunit_ltcfabric.sum": 40.0}, "8.0")["l2_bytes"] == 60 * 32
    assert kernel_of(all_units | {"lts__t_sectors_srcunit_tex.sum": 55.0}, "9.0")["l2_bytes"] == 55 * 32


@pytest.mark.parametrize(("raw", "shown"), [(104.2, 100.0), (87.5, 87.5), (0.0, 0.0)])
def test_hit_rates_above_100(kernel_of, raw, shown):
    k = kernel_of({"lts__t_sector_hit_rate.pct": raw, "l1tex__t_sector_hit_rate.pct": raw})
    assert (k["l2_hit_pct"], k["l2_hit_raw_pct"], k["l1_hit_pct"]) == (shown, raw, shown)


def test_system_memory_is_kept_apart_from_dram(kernel_of):
    k = kernel_of({"lts__t_sectors_aperture_sysmem_lookup_miss.sum": 3.0}, "9.0")
    assert (k["sysmem_bytes"], k["dram_bytes"]) == (96, None)
    assert kernel_of({"syslts__t_sectors_aperture_sysmem_lookup_miss.sum": 3.0}, "12.0")["sysmem_bytes"] == 96


# Half precision on CUDA cores


def test_phantom_fp16(kernel_of):
    """HFMA2 alone is a register move: no FP16 work, whatever its share. The raw figure stays visible."""
    k = kernel_of(halves(0, 0, 1000) | fp32(100, 100, 100))
    assert k["flop_fp16_vector"] == 0
    assert k["flop_fp16_vector_raw"] == 4000


def test_few_hfma2_beside_other_work_are_phantom_too(kernel_of):
    """4·hfma = 400 is under a quarter of the 4,000 FLOP of FP32 work, though there are half additions."""
    k = kernel_of(halves(10, 0, 100) | fp32(0, 0, 2000))
    assert k["flop_fp16_vector"] == 0


def test_multiplications_are_never_phantom(kernel_of):
    """No HFMA2 at all: 2·50 of the multiplications; the counter's 10 additions may be conversions."""
    assert kernel_of(halves(10, 50, 0) | fp32(0, 0, 2000))["flop_fp16_vector"] == 100


def test_real_fp16_work_counts_packed(kernel_of):
    """2·10 + 2·20 + 4·1000."""
    k = kernel_of(halves(10, 20, 1000) | fp32(0, 0, 100))
    assert k["flop_fp16_vector"] == 4060


# Tensor cores


def test_aggregate_and_parts_are_the_same_operations(kernel_of):
    k = kernel_of(
        {
            f"{OPS}src_bf16_dst_fp32.sum": 1000.0,
            f"{OPS}op_hmma_src_bf16_dst_fp32_sparsity_off.sum": 400.0,
            f"{OPS}op_hgmma_src_bf16_dst_fp32_sparsity_off.sum": 600.0,
        },
        "9.0",
    )
    assert k["flop_bf16"] == 1000
    assert k["flop_tensor"] == 1000
    assert k["tensor_family"] == "hmma+hgmma"


def test_parts_are_added_where_there_is_no_aggregate(kernel_of):
    k = kernel_of(
        {
            f"{OPS}op_hmma_src_bf16_dst_fp32_sparsity_off.sum": 400.0,
            f"{OPS}op_hgmma_src_bf16_dst_fp32_sparsity_off.sum": 600.0,
            f"{OPS}op_hgmma_src_bf16_dst_fp32_sparsity_on.sum": 50.0,
        },
        "9.0",
    )
    assert k["flop_bf16"] == 1050


def test_sparsity_parts_stand_in_for_the_aggregate(kernel_of):
    """A100 in a full set has src_…_sparsity_off and _on only."""
    k = kernel_of(
        {f"{OPS}src_fp16_dst_fp32_sparsity_off.sum": 70.0, f"{OPS}src_fp16_dst_fp32_sparsity_on.sum": 30.0}, "8.0"
    )
    assert (k["flop_fp16"], k["op_tensor_sparse"]) == (100, 30)


def test_hopper_fp16_aggregate_stands_for_both_accumulators(kernel_of):
    k = kernel_of(
        {
            f"{OPS}src_fp16.sum": 1000.0,
            f"{OPS}op_hmma_src_fp16_dst_fp32_sparsity_off.sum": 300.0,
            f"{OPS}op_hmma_src_fp16_dst_fp16_sparsity_off.sum": 0.0,
            f"{OPS}op_hgmma_src_fp16_sparsity_off.sum": 700.0,
        },
        "9.0",
    )
    assert k["flop_fp16"] == 1000


def test_sparse_aggregate_peak_is_not_the_dense_roof(kernel_of):
    """H100: the aggregate's peak is 8192 a cycle and SM; dense wgmma does 4096."""
    peaks = {
        f"{OPS}src_bf16_dst_fp32.sum.peak_sustained": 8192.0 * 132,
        f"{OPS}op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained": 4096.0 * 132,
        f"{OPS}op_hgmma_src_bf16_dst_fp32_sparsity_on.sum.peak_sustained": 8192.0 * 132,
    }
    k = kernel_of(peaks | CLOCK | {f"{OPS}src_bf16_dst_fp32.sum": 5.0}, "9.0")
    assert k["peak_flop_s_bf16"] == pytest.approx(4096 * 132 * 1e9)
    assert k["peak_flop_s_bf16_source"] == "report"


def test_an_aggregate_peak_alone_is_halved_where_sparsity_exists(kernel_of):
    whole = {f"{OPS}src_bf16_dst_fp32.sum.peak_sustained": 8192.0, f"{OPS}src_fp64.sum.peak_sustained": 256.0}
    k = kernel_of(whole | CLOCK, "9.0")
    assert (k["peak_flop_s_bf16"], k["peak_flop_s_bf16_source"]) == (4096e9, "report (sparse÷2)")
    assert (k["peak_flop_s_fp64_tensor"], k["peak_flop_s_fp64_tensor_source"]) == (256e9, "report")
    turing = {f"{OPS}src_int8.sum.peak_sustained": 2048.0}
    assert kernel_of(turing | CLOCK, "7.5")["peak_op_s_int8"] == 2048e9


def test_mma_sync_on_hopper_is_judged_by_its_own_two_thirds(kernel_of):
    peaks = {
        f"{OPS}op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained": 4096.0,
        f"{OPS}op_hmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained": 2730.0,
    }
    hmma = {f"{OPS}op_hmma_src_bf16_dst_fp32_sparsity_off.sum": 900.0}
    hgmma = {f"{OPS}op_hgmma_src_bf16_dst_fp32_sparsity_off.sum": 0.0}
    k = kernel_of(peaks | CLOCK | hmma | hgmma, "9.0")
    assert (k["peak_flop_s_bf16"], k["tensor_family"]) == (2730e9, "hmma")
    # Half of the work on each: 1000 / (500/4096 + 500/2730) = 3276.3 a cycle
    mixed = dict.fromkeys((*hmma, *hgmma), 500.0)
    assert kernel_of(peaks | CLOCK | mixed, "9.0")["peak_flop_s_bf16"] == pytest.approx(
        1000 / (500 / 4096 + 500 / 2730) * 1e9
    )


def test_geforce_accumulators_have_their_own_peaks(kernel_of):
    """RTX 5090: 512 a cycle and SM with FP32 accumulation, 1024 with FP16."""
    peaks = {
        f"{OPS}op_hmma_src_fp16_dst_fp32_sparsity_off.sum.peak_sustained": 512.0,
        f"{OPS}op_hmma_src_fp16_dst_fp16_sparsity_off.sum.peak_sustained": 1024.0,
    }
    work32 = {f"{OPS}op_hmma_src_fp16_dst_fp32_sparsity_off.sum": 10.0}
    work16 = {f"{OPS}op_hmma_src_fp16_dst_fp16_sparsity_off.sum": 10.0}
    k = kernel_of(peaks | CLOCK | work32, "12.0")
    assert (k["peak_flop_s_fp16"], k["flop_fp16_acc_fp32"]) == (512e9, 10)
    k = kernel_of(peaks | CLOCK | work16, "12.0")
    assert (k["peak_flop_s_fp16"], k["flop_fp16_acc_fp16"]) == (1024e9, 10)
    assert kernel_of(peaks | CLOCK, "12.0")["peak_flop_s_fp16"] == 512e9  # idle: FP32 accumulation


def test_fp64_tensor_and_fp64_are_two_paths(kernel_of):
    k = kernel_of({f"{OPS}src_fp64.sum": 100.0} | {SASS.format(n): 1.0 for n in ("dadd", "dmul", "dfma")}, "8.0")
    assert (k["flop_fp64_tensor"], k["flop_fp64"]) == (100, 4)


ELEMENTWISE = {
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 2.98,
    "sm__cycles_elapsed.avg": 10_000,
    "device__attribute_multiprocessor_count": 114,
}


@pytest.mark.parametrize("cc", ["8.0", "9.0"])
def test_little_tensor_activity_is_no_tensor_kernel(kernel_of, cc):
    k = kernel_of(ELEMENTWISE, cc, kernel_name="silu_kernel_vector", gpu_name="NVIDIA H100 PCIe")
    assert (k["path_hint"], k["flop_tensor"], k["flop_fp16"]) == (None, None, None)


def test_little_activity_counts_where_the_name_says_matrix(kernel_of):
    k = kernel_of(ELEMENTWISE, "9.0", kernel_name="nvjet_tst_64x8_64x16_4x1_v_bz_TNT", gpu_name="NVIDIA H100 PCIe")
    # 2.98 % × 4096 × 114 SMs × 10,000 cycles
    assert k["flop_bf16"] == pytest.approx(0.0298 * 4096 * 114 * 10_000)
    assert k["flop_bf16_source"] == "estimated"


def test_estimates_use_the_rate_of_mma_sync_where_the_name_says_so(kernel_of):
    name = "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x10_tn_align8"
    k = kernel_of(ELEMENTWISE | CLOCK, "9.0", kernel_name=name, gpu_name="NVIDIA H100 PCIe")
    assert k["flop_bf16"] == pytest.approx(0.0298 * 8192 / 3 * 114 * 10_000)
    assert k["peak_flop_s_bf16"] == pytest.approx(8192 / 3 * 114 * 1e9)


def test_activity_is_not_counted_beside_operation_counters(kernel_of):
    k = kernel_of(
        ELEMENTWISE | {f"{OPS}src_fp16.sum": 5e6},
        "9.0",
        kernel_name="nvjet_tst_64x8_64x16_4x1_v_bz_TNT",
        gpu_name="NVIDIA H100 PCIe",
    )
    assert (k["flop_fp16"], k["flop_bf16"], k["flop_tensor"]) == (5e6, None, 5e6)


@pytest.mark.parametrize(("cc", "per"), [("7.0", 512), ("7.5", 2048), ("8.6", 4096)])
def test_matrix_instructions_times_flop(kernel_of, cc, per):
    k = kernel_of(
        {"sm__inst_executed_pipe_tensor_op_hmma.sum": 100.0}, cc, kernel_name="turing_fp16_s1688gemm_fp16_64x64"
    )
    assert (k["flop_fp16"], k["flop_fp16_source"]) == (100 * per, "estimated")


def test_wgmma_instructions_cannot_be_priced(kernel_of):
    k = kernel_of({"sm__inst_executed_pipe_tensor.sum": 100.0}, "9.0", kernel_name="sm90_xmma_gemm_bf16bf16_bf16f32")
    assert k["flop_tensor"] is None


NO_FP64 = {SASS.format(n): 0.0 for n in ("dadd", "dmul", "dfma")}
FP16_PIPE = "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active"
FP16_ON_FMA = "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active"
COUNTED = fp32(1, 1, 1) | NO_FP64 | {f"{OPS}src_bf16_dst_fp32.sum": 0.0}


@pytest.mark.parametrize(
    ("values", "columns", "complete"),
    [
        ({}, {}, False),
        (fp32(1, 1, 1) | NO_FP64 | {FP16_PIPE: 0.0}, {}, False),  # tensor work may hide
        (fp32(1, 1, 1) | NO_FP64 | {FP16_PIPE: 0.0} | ELEMENTWISE, {}, True),  # 2.98 % are register moves
        (COUNTED, {}, False),  # FP16 work may hide
        (COUNTED | {FP16_PIPE: 0.99}, {"cc": "8.6"}, True),
        (COUNTED | {FP16_PIPE: 0.0}, {}, False),  # HFMA2 may hide on the tensor pipe of CC 8.0, 8.7 and 9.0
        (
            COUNTED | {FP16_PIPE: 0.0, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 80.0},
            {},
            False,
        ),
        (COUNTED | {FP16_PIPE: 0.0, f"{OPS}src_bf16_dst_fp32.sum": 1e9}, {}, True),  # matrix work there
        (COUNTED | {FP16_PIPE: 0.0, FP16_ON_FMA: 1.0}, {"cc": "8.6"}, False),  # the busier of the two decides
        (COUNTED | {SASS.format(n): 5.0 for n in ("hadd", "hmul", "hfma")} | {FP16_PIPE: 50.0}, {}, True),  # counted
        (COUNTED | {SASS.format("hadd"): 0.0}, {}, False),  # multiply-adds may hide
        ({f"{OPS}src_bf16_dst_fp32.sum": 0.0, FP16_PIPE: 0.0}, {}, False),  # FP32 work may hide
        (
            fp32(1, 1, 1) | NO_FP64 | {FP16_PIPE: 0.0},
            {"cc": "7.5", "gpu_name": "NVIDIA GeForce GTX 1660 SUPER"},
            True,
        ),
    ],
)
def test_work_is_complete_only_where_nothing_can_hide(kernel_of, values, columns, complete):
    columns = {"cc": "9.0", "gpu_name": "NVIDIA H100 PCIe"} | columns
    assert kernel_of(values, **columns)["flop_complete"] is complete


def test_the_busiest_fp16_pipe_of_any_name(kernel_of):
    values = {FP16_PIPE: 0.25, FP16_ON_FMA: 58.8, FP16_PIPE.replace("active", "elapsed"): 0.2}
    assert kernel_of(values)["fp16_pipe_pct"] == 58.8
    assert kernel_of({FP16_PIPE.replace("avg", "sum"): 0.0})["fp16_pipe_pct"] == 0.0
    assert kernel_of({})["fp16_pipe_pct"] is None


def test_a_peak_from_a_rate_and_its_percentage(kernel_of):
    """Printed output without device attributes: 200 GB/s at 50 % means a peak of 400 GB/s; 1.2 % is too coarse."""
    rate = {"dram__bytes.sum.per_second": 200e9, "gpu__time_duration.sum": 1000.0}
    percent = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
    k = kernel_of(rate | {percent: 50.0})
    assert (k["peak_bytes_s_dram"], k["peak_bytes_s_dram_source"]) == (400e9, "rate÷highest percent")
    k = kernel_of(rate | {percent: 50.0, "dram__cycles_active.avg.pct_of_peak_sustained_elapsed": 40.0})
    assert (k["peak_bytes_s_dram"], k["peak_bytes_s_dram_source"]) == (500e9, "rate÷percent")
    assert kernel_of(rate | {percent: 1.2})["peak_bytes_s_dram"] is None
