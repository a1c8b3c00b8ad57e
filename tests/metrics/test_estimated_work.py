"""Tensor work from activity and instructions, and whether all work was counted: the rules that need care."""

from __future__ import annotations

import pytest
from tests.metrics.values import CLOCK, ELEMENTWISE, OPS, SASS, fp32


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
