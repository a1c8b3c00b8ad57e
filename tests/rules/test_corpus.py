"""Rules on public reports: kernels they must find, with the arithmetic, and kernels they must leave alone, with why.

Rules that need annotated shapes (S001 to S003, W001, W002), and R003, R004, R005, D010, D012, M005 to M007, T004, T005
and W004, which no public report gives a reason for, have their positives in built kernels and in the sample reports.
"""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest
from tests.conftest import CORPUS

from ncuroof import pipeline, rules
from ncuroof.config import Config

REPORTS = "reports/"
TEXT = "text/"
ESMM = REPORTS + "AveryClapp__ESMM-Research__profile_output.ncu-rep"
FLASH = REPORTS + "DarrellThomas__blackwell-kernels__reports_nsight_v5_swizzle_D64_N2048_causal.ncu-rep"
TRANSPOSE = REPORTS + "Lashi0812__CudaProgramming__profiling_profiles_smemTranspose.ncu-rep"
CONV1 = REPORTS + "Swagatam1812__hpca-gpu-memory-profiling__variant1.ncu-rep"
CONV2 = REPORTS + "Swagatam1812__hpca-gpu-memory-profiling__variant2.ncu-rep"
MATRIX_ADD = REPORTS + "armleth__cuda-mlp-inference__report_v4_8_per_thread.ncu-rep"
ADAMW = REPORTS + "karpathy__llm.c__dev_cuda_profiles_adamw_coalsecing_shared.ncu-rep"
JULIA = REPORTS + "eschnett__GPUIndexSpaces__profiles_profile.v5.ncu-rep"
SELF_JOIN = REPORTS + "bwd29__self-join-MiSTIC__prof1.ncu-rep"
SELF_JOIN_LARGE = REPORTS + "bwd29__self-join-MiSTIC__prof1024.ncu-rep"
NODES = REPORTS + "bwd29__self-join-MiSTIC__profileMSDKT23.out.ncu-rep"
SCAN = REPORTS + "thedavidchu__speedy_scan__profile.ncu-rep"
GEMV = REPORTS + "jIab-b__nvfp4_gemv-kernel__l8_sync3_w2_r64.ncu-rep"
SGEMM = REPORTS + "LakshyaSingh354__CudaCode__gemm_reps_global_mem_coalesce.ncu-rep"
RESEARCH = "gujialiang123__MOEresearch__results_2026-07-"
DECODE = REPORTS + RESEARCH + "08_v6_ncu_lfm2.5-8b-a1b_cookbook_baseline_R_decode_c1_out2k_ncu.ncu-rep"
CLIMATE = REPORTS + "NCAR__GPU_workshop__10_HandsOnNsight_ncu_MW_DivToMult.ncu-rep"
REFERENCE = REPORTS + "panjd123__cutlass__report-s8.ncu-rep"
LINEAR = REPORTS + "spymaster2h__spyinfer__report.ncu-rep"
FILL = REPORTS + "strrules105__PhysiCell__profile.nsight-cuprof-report"
RMS_NORM = REPORTS + "AlpriElse__cs599k__rms_norm_triton_rms_norm_triton_looping.ncu-rep"
PMKID = REPORTS + "jhiems__PMKID_Brute-Force__profile.nsight-cuprof-report"
IDLE_SMS = TEXT + "gujialiang123__MOEresearch__results_2026-06-09_sglang_triton_sweep_ncu_R_short_decode_ncu_raw.csv"
SUMMARY = TEXT + "AveryClapp__ESMM-Research__summary.txt"
SILU = REPORTS + "AlpriElse__cs599k__silu_triton_silu-2025-04-19-v2.ncu-rep"
PREFILL = TEXT + RESEARCH + "10_v9_ncu_realworkload_lfm2.5-8b-a1b_agent_prefill_b1_ncu_raw.csv"
GEMV_CSV = TEXT + "jIab-b__nvfp4_gemv-kernel__out.csv"
REDUCE = TEXT + "Lashi0812__CudaProgramming__profiling_results_ncu_reduceInteger.csv"

POSITIVES = [
    # 14,680,064 of 18,874,368 sectors are beyond the ideal (77.8 %), L2 is 91.26 % busy: 523.7 µs x 0.778 x 0.913.
    ("M001", TRANSPOSE, 0, "naiveGmem", 371.7e-6),
    # Loads and stores use 8 of 32 bytes; nothing tells how busy memory was.
    ("M002", REDUCE, 0, "reduceNeighbored", None),
    # (513,277,952 - 259,522,560) / 513,277,952 = 49.4 % of the passes; data stage 98.9 % busy: 4636 µs x 0.494 x 0.989.
    ("M003", CONV2, 1, "kernel_conv2d_variant2", 2267.3e-6),
    # 198,308,936 of 424,014,728 L1 sectors are local (46.8 %), memory 43.08 % busy: 16.700 ms x 0.468 x 0.431.
    ("M004", JULIA, 0, "julia_runsteps_6563", 3.365e-3),
    # L1 86.7 %, memory 85.7 %, L2 10.7 %, DRAM 10.0 %: a product without register tiles.
    ("M008", SGEMM, 0, "sgemm_global_mem_coalesce", None),
    # 64 blocks on 80 SMs: 20 % of 296.7 µs.
    ("T002", ESMM, 1, "two_blocktiling", 59.34e-6),
    # One block on 20 SMs of a GTX 1080: 95 % of 1.288 s.
    ("T002", REPORTS + "jhiems__PMKID_Brute-Force__profile.nsight-cuprof-report", 0, "El1t3Hax0r", 1.224),
    # 256 blocks, 160 fit at once: 1.6 waves, 20 %, but the SMs were idle for 15.88 % of 431.6 µs.
    ("T003", ESMM, 0, "one_blocktiling", 68.54e-6),
    # 512 blocks, 340 fit: 1.506 waves, 24.7 % of 129.8 µs; the SMs' activity shows more.
    ("T003", FLASH, 0, "flash_attn_v2_kernel", 32.06e-6),
    # 50 % of the warps fit, 24.11 % are active: 51.78 % of 108.45 µs.
    ("T006", PREFILL, 18, "RMSNormKernel", 56.16e-6),
    # SM 46.85 %, memory 41.66 %; 1022 blocks, 216 fit: 4.731 waves of 5, 5.37 %, of which
    # the SMs show 4.39 %: 8.6536 s x (1 - 0.0439 - 46.85 / 60).
    ("T007", SELF_JOIN_LARGE, 1, "distanceCalculationsKernel", 1.5171),
    # 275.04 of 437.63 cycles are LG throttle (62.8 %), but L2 is 49.98 % busy: at most 50.02 % of 151.3 µs.
    ("T008", MATRIX_ADD, 0, "matrix_addition2D", 75.7e-6),
    # 19.83 of 28.09 cycles are long scoreboard: 70.6 % of 1.1484 s without the last of 6.31 waves (9.83 %).
    ("T008", SELF_JOIN, 1, "distanceCalculationsKernel", 0.7310),
    # Issue slots 85 % used, memory 48 % busy; FLOPs were not collected.
    ("T009", GEMV_CSV, 0, "gemv_nvfp4_kernel", None),
    # 19.61 of 32 lanes, 37.12 % of the issue slots: 38.7 % of 37.12 % of 1.1484 s.
    ("W003", SELF_JOIN, 1, "distanceCalculationsKernel", 0.1650),
]

NEGATIVES = [
    ("D012", FLASH, 0, "no operation with sparsity on"),
    ("M001", SGEMM, 0, "rows are read side by side: 0 excess sectors"),
    ("M001", CONV2, 0, "a quarter of the sectors, but L2 is 11 % and DRAM 8 % busy: 3 % of the time"),
    ("M002", FLASH, 0, "stores use 8.2 of 32 bytes, but they are few"),
    ("M003", TRANSPOSE, 2, "every column access conflicts, but DRAM at 86 % sets the time"),
    ("M004", ADAMW, 0, "no local memory"),
    ("M005", FLASH, 0, "28,864 byte of host memory are what a launch writes"),
    ("M006", NODES, 0, "atomics are 0.004 % of the L2 sectors"),
    ("M007", ADAMW, 0, "28 MB are far from the 8 GB of the card"),
    ("M008", ADAMW, 0, "DRAM is what is busy: 92 %"),
    ("R003", SGEMM, 0, "no FP64 at all"),
    ("R005", ADAMW, 0, "92 % of the roof is not above it"),
    ("R002", REFERENCE, 1, "it is a reference product limited by uncoalesced loads, not by its path"),
    ("T002", DECODE, None, "132 blocks on 132 SMs"),
    ("T003", DECODE, None, "exactly one wave: persistent"),
    ("T004", FLASH, 0, "35 % idle, of which the last wave explains 25"),
    ("T005", REFERENCE, 1, "75 % of the warps fit, but memory is 97 % busy"),
    ("T006", ADAMW, 0, "75 of 100 % active, but DRAM is 92 % busy"),
    ("T007", ADAMW, 0, "memory-bound"),
    ("T007", LINEAR, 6, "50 % busy, of 2.37 waves: without the tail of 21 % it would be 63 %"),
    ("T008", ADAMW, 0, "warps wait for DRAM, which is 92 % busy"),
    ("T009", ADAMW, 0, "schedulers issue in 14 % of the cycles"),
    ("T009", CONV1, 0, "81 % of the issue slots, but L1 is 85 % busy"),
    ("T009", GEMV, 0, "82 % of the issue slots, but L1 is 91 % and memory 82 % busy"),
    ("T001", RMS_NORM, 0, "an integer generator: no FLOPs and 1 % of the DRAM roof, but SM 46 %, issue slots 60 %"),
    ("T003", SUMMARY, 0, "1.16 waves of 2 are 42 % by their number, but SMs idle for 2.6 % of 2.9 ms"),
    ("W003", PMKID, 0, "18 of 32 lanes, but one block on 20 SMs is what it suffers from"),
    ("W003", SCAN, 0, "27 of 32 lanes"),
    ("W004", CLIMATE, 2, "a third plain additions and multiplications, but DRAM at 81 % sets the time"),
]

TOPS = [
    # What an expert would name first, and why; None: nothing above note level.
    (SELF_JOIN_LARGE, 1, "T007", "47 and 42 % busy, and the basic set holds no warp states to say more"),
    (NODES, 2, "T008", "a tree search: 79 % of the time waits for data-dependent loads; divergence comes second"),
    (REPORTS + "jhiems__PMKID_Brute-Force__profile.nsight-cuprof-report", 0, "T002", "one block on 20 SMs"),
    (SELF_JOIN, 1, "T008", "71 % of the time waits for global loads; a quarter of the sectors is wasted, too"),
    (JULIA, 0, "M004", "1024 threads a block leave 64 registers: half of the L1 traffic is spills"),
    (CONV1, 0, "M001", "overlapping rows are read from L1 again and again, a quarter of the sectors for nothing"),
    (CONV2, 1, "M003", "half of the passes through shared memory are conflicts, and it is 99 % busy"),
    (SGEMM, 0, "M008", "coalesced, without register tiles: L1 at 87 %, DRAM at 10 %"),
    (MATRIX_ADD, 0, "M001", "eight elements a thread, side by side in the thread and not in the warp: 87 % wasted"),
    (TRANSPOSE, 0, "M001", "a naive transpose: every store touches 32 sectors"),
    (TRANSPOSE, 2, None, "through shared memory it reaches 86 % of the DRAM roof"),
    (ESMM, 0, "T003", "1.6 waves; the SMs are active for 84 % of the time"),
    (ESMM, 1, "T002", "64 tiles on 80 SMs"),
    (FLASH, 0, "T003", "1.5 waves of causal tiles: the SMs idle for 35 % of the time"),
    (SCAN, 0, "T008", "a scan: 58 % of the time waits at barriers"),
    (GEMV, 0, "M001", "each thread reads its own row piece: 73 % of the sectors are wasted"),
    (REFERENCE, 1, "M001", "one thread an element, columns across the warp: 89 % wasted"),
    (DECODE, 0, "T001", "a norm over one row: 4 µs with a floor of 3.4"),
    (DECODE, 1, "T002", "96 tiles of a decode product on 132 SMs, half of the DRAM bandwidth"),
    (DECODE, 5, None, "132 tiles on 132 SMs, 65 % of the DRAM bandwidth"),
    (ADAMW, 0, None, "92 % of the DRAM roof"),
    (FILL, 0, "T001", "2.4 µs, 30 times"),
    (CLIMATE, 2, None, "81 % of the DRAM roof"),
    (REPORTS + "kulnaman__lammps__output.ncu-rep", 0, None, "91 % of the DRAM roof"),
    (LINEAR, 6, "T003", "2.37 waves; without the tail it would be 63 % busy"),
    (PREFILL, 18, "T006", "half of the warps fit, half of those are active: short blocks, one row each"),
]


@pytest.mark.parametrize(("name", "index", "code", "why"), TOPS)
def test_the_first_finding_is_the_one_an_expert_would_name(name, index, code, why):
    findings = analysed(name).findings.filter((pl.col("result_index") == index) & (pl.col("severity") != "note"))
    assert (findings["code"][0] if findings.height else None) == code, why


@cache
def analysed(name):
    path = CORPUS / name
    if not path.exists():
        pytest.skip(f"{path.name} is not here; the public reports are not part of the repository")
    return pipeline.analyze(pipeline.load([path]), Config(nsight="hide"))


def of(code, name, index):
    findings = analysed(name).findings.filter(pl.col("code") == code)
    return findings if index is None else findings.filter(pl.col("result_index") == index)


@pytest.mark.parametrize(
    ("code", "name", "index", "kernel", "stake"),
    POSITIVES,
    ids=lambda v: v if isinstance(v, str) and len(v) == 4 else "",
)
def test_finds(code, name, index, kernel, stake):
    (found,) = of(code, name, index).to_dicts()
    assert found["kernel"] == kernel
    assert found["severity"] != "note"
    if stake is None:
        assert found["time_at_stake_s"] is None
    else:
        assert found["time_at_stake_s"] == pytest.approx(stake, rel=1e-3)


@pytest.mark.parametrize(
    ("code", "name", "index", "why"), NEGATIVES, ids=lambda v: v if isinstance(v, str) and len(v) == 4 else ""
)
def test_leaves_alone(code, name, index, why):
    assert analysed(name).judged[code] > 0, "a rule that cannot judge proves nothing"
    found = of(code, name, index)
    if index is None:  # several kernels: the one of 132 blocks
        rows = analysed(name).kernels.filter(pl.col("grid_blocks") == 132)["row"]
        assert not rows.is_empty()
        found = found.filter(pl.col("row").is_in(rows.to_list()))
    assert found.is_empty(), why


def test_near_its_roof():
    # adamw moves 28.8 MB in 72 µs: 92 % of the card's bandwidth.
    notes = analysed(ADAMW).findings.filter(pl.col("code") == "R007")
    assert notes.height == 4
    assert "92 % of the memory roof" in notes["message"][0]


def test_right_of_both_ridge_points():
    # 170 FLOP/byte on an A10G: ridge points 44.7 (FP32) and 89.5 (FP16, at half the rate of an A10).
    assert analysed(ESMM).judged["R006"] > 0
    assert of("R006", ESMM, 3).is_empty()
    assert of("R006", SGEMM, 0).is_empty()


def report_wide(code, name):
    return analysed(name).findings.filter(pl.col("code") == code)


def test_clocks_and_values_of_reports():
    # RTX 4090: four of five kernels at 0.73 to 0.83 of the nominal memory clock, one at 0.98; but memory over SM clock
    # is 4.58 to 4.61 in all five.
    assert report_wide("D008", TRANSPOSE).is_empty()
    (found,) = report_wide("D009", TRANSPOSE).to_dicts()
    assert found["message"] == "4 of 5 kernels: a time base in doubt (memory clock away from nominal) (4)"
    assert report_wide("D008", ADAMW).is_empty()
    # V100: two kernels of 12.8 and 14.0 µs at 0.55 and 0.43 of the nominal memory clock.
    (found,) = report_wide("D009", CLIMATE).to_dicts()
    assert found["message"].startswith("2 of 5 kernels: a time base in doubt")
    (found,) = report_wide("D009", SILU).to_dicts()  # 100.02 %
    assert "an L2 hit rate above 100 %" in found["message"]
    assert report_wide("D009", ADAMW).is_empty()


def test_tensor_activity_of_plain_kernels():
    (found,) = report_wide("D011", SILU).to_dicts()
    assert "without tensor operations" in found["message"]
    assert report_wide("D011", FLASH).is_empty()
    # The INT8 product beside this reference is tensor work: the pipe is 2.9 % busy with 113 million operations.
    (found,) = report_wide("D011", REFERENCE).to_dicts()
    assert found["message"].startswith("1 of 2 kernels: half instructions")
    assert "tensor activity" not in found["message"]


def test_sms_that_had_a_block_and_idled():
    # H200: 132 blocks on 132 SMs, active for 4,722 of 24,549 cycles.
    names = analysed(IDLE_SMS).findings.filter((pl.col("code") == "T007") & (pl.col("kernel") == "device_kernel"))
    assert any(m.startswith("the average SM is active for 19 % of the time") for m in names["message"])


def test_tiny_launches():
    # 30 launches of a fill kernel of 2.4 µs: all of the report's time.
    (found,) = report_wide("P004", FILL).to_dicts()
    assert "__pgi_uacc_cuda_fill is launched 30 times for 2.4 µs each" in found["message"]
    assert report_wide("P004", LINEAR).is_empty()  # 105 launches of 17 µs
    assert report_wide("P002", FILL).is_empty()  # one kernel owns all: nothing to choose from
    assert report_wide("P003", LINEAR).is_empty()  # all launches take the same time


def test_conditions_of_one_report_do_not_mix():
    folder = [CORPUS / CONV1, CORPUS / CONV2]
    if not folder[0].exists():
        pytest.skip("the public reports are not part of the repository")
    analysis = pipeline.analyze(pipeline.load(folder), Config(select=("D010",), nsight="hide"))
    assert analysis.findings.is_empty()  # different kernels, same conditions


def test_every_rule_is_accounted_for():
    text = __doc__ + "".join(str(p) for p in (*POSITIVES, *NEGATIVES))
    own = {"R006", "R007", "D008", "D009", "D010", "D011", "P002", "P003", "P004"}
    elsewhere = {"R001", "T001", "W001", "D001", "D002", "D003", "D004", "D005", "D006", "D007", "D013", "S002", "P001"}
    elsewhere |= {"W005"}  # tests/cases/test_new_rules.py
    for rule in rules.rules():
        assert rule.CODE in text or rule.CODE in own | elsewhere, rule.CODE
