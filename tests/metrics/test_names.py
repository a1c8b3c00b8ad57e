"""What kernel names say about the tensor path."""

from __future__ import annotations

import pytest

from ncuroof.metrics.names import hint


@pytest.mark.parametrize(
    ("name", "path", "legacy"),
    [
        ("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x10_tn_align8", "bf16", True),
        (
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1",
            "bf16",
            False,
        ),
        ("nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT", "bf16", False),
        ("nvjet_hsh_256x128_64x4_2x1_v_bz_coopA_NNN", "fp16", False),
        ("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn", "fp16", True),
        ("turing_h1688gemm_128x128_ldg8_nn", "fp16", True),
        ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", "fp16", True),
        ("cutlass_80_tensorop_d884gemm_32x32_16x5_nn_align1", "fp64_tensor", True),
        ("cutlass_80_tensorop_s1688tf32gemm_128x128_16x4_nn_align4", "tf32", True),
        ("void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t>>", "bf16", True),
        ("void cutlass::Kernel<...MmaMultistage<cutlass::gemm::GemmShape<64,64,64>, signed char, ...>>", "int8", True),
    ],
)
def test_matrix_kernels(name, path, legacy):
    said = hint(name)
    assert (said.path, said.legacy, said.matrix) == (path, legacy, True)


@pytest.mark.parametrize(
    "name",
    [
        "ampere_sgemm_128x64_nn",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>",
        "silu_kernel_vector",
        "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>",
        "summary_kernel",
        "rms_norm_gamma_kernel",
        "immediate_mode",
        "cutlass_80_simt_sgemm_256x128_8x4_nn_align1",
    ],
)
def test_other_kernels_are_not_named_matrix_kernels(name):
    assert not hint(name).matrix


def test_fp16_accumulation():
    assert hint("turing_h1688gemm_128x128_ldg8_nn").fp16_accumulate
    assert not hint("ampere_fp16_s16816gemm_fp16_128x64").fp16_accumulate
