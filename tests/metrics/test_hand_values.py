"""Values worked out by hand from raw metrics, for at least one kernel of every compute capability in the corpus."""

from __future__ import annotations

import pytest
from tests.metrics.conftest import launch, long, placed, read

from ncuroof.metrics import build_kernels

near = pytest.approx


def exactly(value: float) -> object:
    """Equal but for the last digits of floating-point arithmetic."""
    return pytest.approx(value, rel=1e-9)


def test_cc_6_1_pascal_names(report):
    """GTX 1080: gpu__time_duration, dram__read_bytes, gpc__frequency and their kin."""
    k = report("jhiems__PMKID").kernel(0)
    assert k["duration_s"] == exactly(1.288368224)  # 1,288,368,224 ns
    assert k["sm_hz"] == exactly(1721250920.4977102)  # gpc__frequency
    assert k["dram_bytes"] == 386528.0  # read 386,528 + written 0
    assert k["dram_bytes_source"] == "counter"
    assert k["dram_read_bytes"] / 32 == 12079  # the sector counter of the same run
    # dram__frequency is the data rate: 9,072,609,030.75 Hz × 256 bit ÷ 8 = 290.32 GB/s, and
    # dram__read_bytes_per_sec 300,013.6 ÷ that = 1.03338e-4 %, which is dram__read_pct.
    assert k["peak_bytes_s_dram"] == exactly(9072609030.75486 * 32)
    assert 100 * k["dram_bytes"] / k["duration_s"] / k["peak_bytes_s_dram"] == near(0.00010333769740147169, rel=1e-6)
    assert k["threads_per_inst"] == exactly(19.23148583294967)
    assert k["issue_active"] == exactly(0.053043115764231194)
    assert k["dram_counters_absent"] is False


def test_cc_7_0(report):
    """V100-SXM2-16GB, LAMMPS: FP64 multiply-adds only."""
    k = report("kulnaman__lammps").kernel(0)
    assert k["duration_s"] == exactly(6.133792e-3)
    assert k["dram_bytes"] == 3348456896 + 1674808736  # 5,023,265,632
    # smsp__cycles_elapsed.sum 2,568,654,280 ÷ (80 SMs × 4) = 8,027,044.625 cycles;
    # dfma 26.12607874968678 a cycle × that = 209,715,200 = 200 × 2^20; two FLOP each.
    assert k["smsp_cycles"] == exactly(8027044.625)
    assert k["fp64_fma"] == exactly(209715200)
    assert k["flop_fp64"] == exactly(419430400)
    assert k["flop_fp64_source"] == "rate×cycles"
    assert k["flop_fp32"] == 0
    assert k["peak_flop_s_fp64"] == exactly(2560 * 2 * 1308659410.8505797)  # 6.70 TFLOP/s at 1.309 GHz
    assert k["peak_bytes_s_dram"] == exactly(1024 * 875976231.3426996)  # 897.0 GB/s
    assert k["clock_ratio"] == exactly(1308659410.8505797 / 1.530e9)
    assert k["l2_bytes"] == 157288400 * 32  # srcunit_tex, not the 157,289,053 sectors of all units


def test_cc_7_0_mixed_fp64_and_fp32(report):
    """V100, miniWeather: W64 = dadd + dmul + 2 dfma."""
    k = report("NCAR__GPU_workshop").kernel(2)
    cycles = 1440739856 / 320  # 4,502,312.05
    assert k["flop_fp64"] == exactly((342.8984110508289 + 203.75627229125533 + 2 * 737.6802973929806) * cycles)
    assert k["flop_fp32"] == exactly(2 * 25.09012763786553 * cycles)
    assert k["dram_bytes"] == 1244911744 + 1276910560


def test_cc_7_2_has_no_dram_counters(report):
    """Xavier: only launch figures; the chip has no DRAM counters, which is a fact and not a gap."""
    k = report("skycs97__darknet").kernel(0)
    assert k["dram_counters_absent"] is True
    assert k["dram_bytes"] is None
    assert k["duration_s"] is None
    assert k["waves"] == 288
    assert (k["grid_blocks"], k["block_threads"], k["launch_threads"]) == (9216, 512, 4718592)
    assert k["occupancy_limit_shared"] is None  # the report holds NaN
    assert k["occupancy_limit_warps"] == 4
    assert k["memory_clock_hz"] * 2 * k["memory_bus_bits"] / 8 == exactly(88.128e9)  # 1,377 MHz × 2 × 32 B


def test_cc_7_5_t4(report):
    """Tesla T4: a million additions."""
    k = report("armleth__cuda-mlp-inference__report_v4").kernel(0)
    # fadd 11.925688648891029 a cycle × smsp__cycles_elapsed.avg 83,852.6 = 1,000,000
    assert k["flop_fp32"] == exactly(1_000_000)
    assert k["dram_bytes"] == 16182272 + 4415648
    assert k["dram_bytes"] / k["duration_s"] == exactly(136114400507.50687)  # dram__bytes.sum.per_second
    assert k["peak_flop_s_fp32"] == exactly(2560 * 2 * 554111598.6466484)
    assert k["peak_flop_s_fp64"] == exactly(80 * 2 * 554111598.6466484)  # 1/32 of FP32
    assert k["clock_ratio"] == near(0.35, abs=0.01)  # locked to base: the roof is a third of the data sheet's


def test_cc_7_5_without_byte_counters(report):
    """GTX 1660 Ti, default section set: bytes from the share of memory cycles that carried data."""
    source = report("josiahls__cuda_learning_mojo")
    k, raw = source.kernel(0), source.raw(0)
    # 0.0407 % of 5.12 GHz × 1.6 µs = 8,192 cycles are 3⅓ cycles; × 192 bit ÷ 4 = 48 B a cycle: 160 B = 5 sectors
    cycles = raw["dram__cycles_active.avg.pct_of_peak_sustained_elapsed"] / 100 * 5.12e9 * 1.6e-6
    assert k["dram_bytes"] == exactly(cycles * 48)
    assert k["dram_bytes"] == near(160, rel=1e-6)
    assert k["dram_bytes_source"] == "cycles_active%"


def test_cc_8_0(report):
    """A100-SXM4-40GB: matrix product on CUDA cores; the L2 fabric is not SM traffic."""
    k = report("Swagatam1812__hpca-gpu-memory-profiling__variant1").kernel(0)
    cycles = 3708995976 / (108 * 4)  # 8,585,638.83
    assert k["flop_fp32"] == exactly(2 * 943.2681971850162 * cycles)
    assert k["dram_bytes"] == 268810240 + 271814784
    # 34,846,139 of 59,065,878 L2 sectors are the SMs'; 23,628,652 are the fabric between the two partitions.
    assert k["l2_bytes"] == 34846139 * 32
    assert k["l2_fabric_bytes"] == 23628652 * 32
    assert k["peak_bytes_s_dram"] == exactly(1280 * 1214869791.2409477)  # 1,555 GB/s


def test_cc_8_6_fp32_gemm_1024(report):
    """RTX 3080, CUTLASS SIMT product of 1024³ with alpha and beta: 1024³ + 1024² FFMA, 2·1024² FMUL."""
    k = report("AshunFeiyu").kernel(1)
    # smsp__cycles_elapsed.sum 54,756,024 ÷ 272 = 201,308.9 cycles; ffma 5,339.0105 a cycle, fmul 10.4176
    assert k["fp32_fma"] == exactly(1024**3 + 1024**2)
    assert k["fp32_mul"] == exactly(2 * 1024**2)
    assert k["flop_fp32"] == exactly(2 * 1024**3 + 4 * 1024**2)
    assert k["dram_bytes"] == 8438016 + 5779840
    assert k["peak_flop_s_fp32"] == exactly(8704 * 2 * 1416232213.563048)  # 24.65 TFLOP/s
    assert k["peak_bytes_s_dram"] == exactly(80 * 9145429986.49257)  # 731.6 GB/s


NAIVE_GEMM_1024 = {
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed": 3884.023138865985,
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed": 0,
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed": 0,
    "smsp__cycles_elapsed.sum": 75194648,
    "device__attribute_multiprocessor_count": 68,
    "dram__bytes_read.sum": 8388608,
    "dram__bytes_write.sum": 1993344,
}
"""An RTX 3080 multiplies two FP32 matrices of 1024² with a plain kernel."""


def test_rtx_3080_fp32_gemm_1024_naive(kernel_of):
    """The plain kernel of the same repository: W = 2·1024³ exactly, Q = 8,388,608 + 1,993,344 B."""
    k = kernel_of(NAIVE_GEMM_1024, "8.6")
    # 3884.02 × 75,194,648 ÷ (68 × 4) = 1024³ multiply-adds
    assert k["flop_fp32"] == near(2 * 1024**3, rel=1e-7)
    assert k["dram_bytes"] == 10381952
    assert k["flop_fp32"] / k["dram_bytes"] == near(206.85, abs=0.01)


def test_rtx_3080_fp32_gemm_1024_naive_under_its_two_roofs():
    """24.7 TFLOP/s = 8704 × 2 × 1.419 GHz and 735 GB/s = 80 B × 9.1875 GHz."""
    clocks = {
        "sm__cycles_elapsed.avg.per_second": 1.419e9,
        "dram__cycles_elapsed.avg.per_second": 9.1875e9,
        "device__attribute_clock_rate": 1_710_000,
    }
    # What the report says the device can do in a cycle: 68 SMs × 128 multiply-adds, and 320 bit × 2 ÷ 8 bytes.
    peaks = {
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 8704,
        "dram__bytes.sum.peak_sustained": 80,
    }
    # 75,194,648 ÷ 272 = 276,450.9 cycles at 1.419 GHz are 194.82 µs.
    duration = {"gpu__time_duration.sum": 75194648 / 272 / 1.419}
    row = launch("8.6", kernel_name="gemm_naive", gpu_name="NVIDIA GeForce RTX 3080")
    k = placed(build_kernels(row, long(NAIVE_GEMM_1024 | clocks | peaks | duration))).row(0, named=True)
    assert k["duration_s"] == near(194.82e-6, rel=1e-4)
    assert k["roof_flop_s_fp32"] == exactly(24.701952e12)
    assert k["roof_bytes_s"] == exactly(735e9)
    assert k["roof_boost_flop_s_fp32"] == exactly(8704 * 2 * 1.710e9)  # 29.77 TFLOP/s if the clock were not held
    # W / F = 2,147,483,648 ÷ 24.70 TFLOP/s = 86.94 µs; Q / B = 10,381,952 ÷ 735 GB/s = 14.13 µs: arithmetic binds,
    # as I = 206.8 is right of the ridge 24,701.952 ÷ 735 = 33.6. It takes 86.94 of 194.82 µs: 44.6 %.
    assert (k["path"], k["bound"]) == ("fp32", "compute")
    assert k["time_compute_s"] == near(86.936e-6, rel=1e-4)
    assert k["ridge"] == near(33.608, abs=0.001)
    assert k["roof_pct"] == near(44.62, abs=0.01)
    assert k["compute_roof_pct"] == near(44.62, abs=0.01)
    assert 100 * k["dram_bytes"] / k["roof_bytes_s"] / k["duration_s"] == near(7.25, abs=0.01)


def test_cc_8_7_has_no_dram_counters(corpus):
    """Orin with 4 SMs: the time is known, DRAM bytes cannot be, FLOPs were not asked for."""
    (path,) = (corpus / "text").glob("superposition__qualia*metrics-none_orin*.csv")
    k = placed(read(path).kernels).row(0, named=True)
    assert k["kernel_name"] == "belief_update"
    assert k["duration_s"] == exactly(12.994688e-3)  # 12,994,688 ns
    assert k["sm_hz"] == exactly(3972285 / 12.994688e-3)  # 305.69 MHz: the lowest clock of the chip
    assert k["dram_counters_absent"] is True
    assert k["dram_bytes"] is None  # dram__bytes.sum is "n/a", which is not 0
    assert k["l2_bytes"] == 42839264
    assert k["warp_inst"] == 316048
    assert (k["grid_blocks"], k["block_threads"], k["waves"]) == (1, 1024, 0.25)
    assert k["roof_flop_s_fp32"] == near(4 * 128 * 2 * 305.685e6, rel=1e-5)  # 313 GFLOP/s at that clock
    assert k["roof_bytes_s"] is None
    assert (k["bound"], k["roof_pct"], k["verdict"]) == (None, None, "cannot-say")


def test_cc_8_9(report):
    """RTX 4090: full memory tables, no FLOP counters."""
    k = report("Lashi0812__CudaProgramming__profiling_profiles_smemTranspose").kernel(0)
    assert k["dram_bytes"] == 67157760 + 34424960
    assert k["l2_bytes"] == 18874368 * 32
    assert k["l2_fabric_bytes"] is None
    assert (k["flop_fp32"], k["flop_fp32_source"]) == (0, "sass")  # a transpose: no addition, no product
    assert k["sm_cycles"] == exactly(599300992 / 512)  # smsp__cycles_elapsed.sum ÷ (128 × 4)
    assert k["l2_hit_pct"] == exactly(88.90099607518462)


def test_cc_9_0(report):
    """GH200: FP32 and the report's own tensor peaks."""
    k = report("AlpriElse__cs599k__rms_norm_triton_rms_norm_triton_looping").kernel(0)
    assert k["flop_fp32"] == exactly(2 * 209.60997481543998 * 10161.348484848484)
    assert k["dram_bytes"] == 8448 + 0
    # No tensor work: the dense roof of the fastest instruction, hgmma 4096 a cycle and SM, not the aggregate's 8192.
    assert k["flop_bf16"] == 0
    assert k["peak_flop_s_bf16"] == exactly(4096 * 132 * 1476940186.751233)
    assert k["peak_flop_s_fp64_tensor"] == exactly(256 * 132 * 1476940186.751233)
    assert k["peak_op_s_int8"] == exactly(8192 * 132 * 1476940186.751233)  # igmma, not imma 5461, not sparse 16384


def test_cc_10_0(report):
    """B200, a product with a vector in NVFP4 on CUDA cores: packed FP16 work, and a DRAM percentage that reads high."""
    k = report("jIab-b__nvfp4_gemv-kernel").kernel(0)
    cycles = 70012.14864864865
    # Of the counter's 1467.75 × 70,012.1 = 102,760,448 half additions, 88,080,384 are HADD2.F32 conversions.
    assert k["fp16_add"] == 102760448 - 88080384
    products = (2 * 1976.971635231646 + 4 * 1602.5451891650464) * cycles
    assert k["flop_fp16_vector"] == exactly(2 * 14680064 + products)
    assert k["flop_fp32"] == exactly((914.0685614600864 + 209.67880979729577) * cycles)
    assert k["dram_bytes"] == 132171264 + 3927552
    # gpu__dram_throughput says 31.80 %; the bytes are 27.60 % of the peak 1920 × 3.9907 GHz.
    assert 100 * k["dram_bytes"] / k["duration_s"] / k["peak_bytes_s_dram"] == near(27.602, abs=0.001)
    assert k["dram_pct"] == exactly(31.804162796853895)
    assert k["l2_bytes"] == 4489937 * 32
    assert k["peak_flop_s_fp16"] == exactly(8192 * 148 * 1087956064.2815864)


def test_cc_12_0_golden_flash_attention(report):
    """RTX 5090, flash attention: 8.858 GFLOP of BF16 in 129.76 µs, 68.27 TFLOP/s, 41.2 % of 165.6."""
    k = report("DarrellThomas").kernel(0)
    assert k["duration_s"] == exactly(129.76e-6)
    assert k["flop_bf16"] == 8858370048  # 2,162,688 HMMA.16816 × 4096
    assert k["tensor_family"] == "hmma"
    assert k["dram_bytes"] == 12607488 + 0  # dram__bytes_op_read and _op_write
    assert k["peak_flop_s_bf16"] == exactly(512 * 170 * 1902443515.6306667)  # 165.59 TFLOP/s: sparsity off
    assert k["peak_bytes_s_dram"] == exactly(128 * 13781997533.908754)  # 1,764 GB/s
    assert k["flop_bf16"] / k["dram_bytes"] == near(702.6, abs=0.1)
    assert k["flop_bf16"] / k["duration_s"] / k["peak_flop_s_bf16"] == near(0.412, abs=0.001)
    assert k["flop_fp32"] == exactly(
        (310.67476057383266 + 441.8205257722717 + 2 * 0.13273862874335937) * 246861.0705882353
    )


def test_golden_t4_wmma_gemm_4096(kernel_of):
    """T4, 4096³ on tensor cores: W = 2·4096³, Turing's aggregate is dense (1024 a cycle and SM)."""
    k = kernel_of(
        {
            "gpu__time_duration.sum": 97795000.0,
            "sm__cycles_elapsed.avg.per_second": 585.2e6,
            "dram__bytes_read.sum": 27.0e9,
            "dram__bytes_write.sum": 0.027e9,
            "sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum": 137438953472,
            "sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum.peak_sustained": 40960,
        },
        "7.5",
    )
    assert k["flop_fp16"] == 2 * 4096**3
    assert k["peak_flop_s_fp16"] == near(23.97e12, rel=1e-3)
    assert k["flop_fp16"] / k["dram_bytes"] == near(5.085, abs=0.001)
    assert k["flop_fp16"] / k["duration_s"] == near(1.405e12, rel=1e-3)


def test_int8_product_of_384_from_instructions_and_from_activity(report):
    """A100, CUTLASS INT8 product of 384³ without operation counters: two ways to the same 2·384³."""
    source = report("panjd123__cutlass__report-s8.")
    k = source.kernel(0)
    # 13,824 IMMA.16832.S8.S8.SAT × 2·16·8·32
    assert k["op_int8"] == 2 * 384**3
    assert (k["op_int8_source"], k["tensor_family"]) == ("sass", "imma")
    assert k["flop_fp16"] == 0
    # 2.853186 % of 4096 a cycle and SM × 108 SMs × 8,972.43 cycles = 113,246,208
    estimate = build_kernels(source.launches, source.metrics).row(0, named=True)
    assert estimate["op_int8"] == near(2 * 384**3, rel=1e-6)
    assert (estimate["op_int8_source"], estimate["flop_fp16"]) == ("estimated", None)
    assert k["peak_op_s_int8"] == exactly(4096 * 108 * 1054091391.6736286)


def test_bf16_decode_product_from_activity(report):
    """H200, nvjet at 1.8 % activity: the name makes it a tensor kernel; padded to 8 rows it is 2·8·2048·6144."""
    source = report("gujialiang123")
    row = next(
        r for r in source.kernels.iter_rows(named=True) if r["kernel_name"] == "nvjet_tst_64x8_64x16_4x1_v_bz_TNT"
    )
    assert row["tensor_pct"] < 5
    assert row["flop_bf16"] == near(2 * 8 * 2048 * 6144, rel=2e-3)
    assert row["flop_bf16_source"] == "estimated"
