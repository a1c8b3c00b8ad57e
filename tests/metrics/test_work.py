"""Work on CUDA cores and tensor cores from counters, and its peaks: the rules that need care."""

from __future__ import annotations

import pytest
from tests.metrics.values import CLOCK, OPS, SASS, fp32, halves


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
