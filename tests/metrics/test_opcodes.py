"""Work from counts per executed instruction."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from tests.metrics.conftest import launch, long

from ncuroof import inputs, metrics, readers
from ncuroof.errors import NcuroofError
from ncuroof.metrics import instruction_mix, opcodes
from ncuroof.metrics.catalogue import MADE, all_operands
from ncuroof.metrics.opcodes import THREADS, WARPS, kind_of_threads, kind_of_warps


def instances(warps: dict[str, float], threads: dict[str, float] | None = None, index: int = 0) -> pl.DataFrame:
    rows = [(WARPS, k, v) for k, v in warps.items()] + [(THREADS, k, v) for k, v in (threads or {}).items()]
    return pl.DataFrame(rows, schema=["metric", "instance", "value"], orient="row").select(
        source_sha256=pl.lit("ab" * 32),
        result_index=pl.lit(index, dtype=pl.UInt32),
        metric="metric",
        instance="instance",
        value=pl.col("value").cast(pl.Float64),
    )


def kernel(warps, threads=None, values=None, **columns):
    return metrics.build_kernels(launch(**columns), long(values or {}), instances(warps, threads)).row(0, named=True)


@pytest.mark.parametrize(
    ("mnemonic", "part", "operations"),
    [
        ("HMMA.16816.F32.BF16", "op_hmma_src_bf16_dst_fp32", 2 * 16 * 8 * 16),
        ("HMMA.16816.F32", "op_hmma_src_fp16_dst_fp32", 4096),
        ("HMMA.16816.F16", "op_hmma_src_fp16_dst_fp16", 4096),
        ("HMMA.1688.F32", "op_hmma_src_fp16_dst_fp32", 2048),
        ("HMMA.1688.F32.TF32", "op_hmma_src_tf32_dst_fp32", 2048),
        ("HMMA.884.F32.F32.STEP2", "op_hmma_src_fp16_dst_fp32", 512),
        ("HMMA.884.F16.F16.STEP1", "op_hmma_src_fp16_dst_fp16", 1024),
        ("IMMA.8816.S8.S8", "op_imma_src_int8", 2048),
        ("IMMA.16832.S8.S8.SAT", "op_imma_src_int8", 8192),
        ("IMMA.8832.U4.S4", "op_imma_src_int4", 4096),
        ("DMMA.884", "op_dmma_src_fp64", 512),
        ("BMMA.168256.XOR.POPC", "op_bmma_src_int1", 2 * 16 * 8 * 256),
        ("HGMMA.64x128x16.F32.BF16", "op_hgmma_src_bf16_dst_fp32", 2 * 64 * 128 * 16 / 4),
        ("HGMMA.64x256x16.F32", "op_hgmma_src_fp16", 2 * 64 * 256 * 16 / 4),
        ("QGMMA.64x128x32.F32.E4M3.E4M3", "op_qgmma_src_fp8_dst_fp32", 2 * 64 * 128 * 32 / 4),
        ("QMMA.16832.F32.E4M3.E4M3", "op_qmma_src_fp8_dst_fp32", 8192),
        ("OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", "op_omma_src_fp4_dst_fp32", 16384),
    ],
)
def test_matrix_instructions(mnemonic, part, operations):
    assert kind_of_warps(mnemonic) == (part, operations)


@pytest.mark.parametrize("mnemonic", ["FFMA", "HFMA2.MMA", "MMA", "HMMA", "HMMA.32.F32", "LDSM.16.M88.4", "UTCHMMA"])
def test_what_is_no_sized_matrix_instruction(mnemonic):
    assert kind_of_warps(mnemonic) is None


@pytest.mark.parametrize(
    ("mnemonic", "kind"),
    [
        ("FFMA.FTZ", ("ffma", 1)),
        ("FFMA2", ("ffma", 2)),
        ("FADD32I.FTZ", ("fadd", 1)),
        ("DFMA", ("dfma", 1)),
        ("HFMA2.BF16_V2", ("hfma", 1)),
        ("HADD2", ("hadd", 1)),
        ("HADD2.F32", None),
        ("MUFU.RCP", None),
        ("IMAD", None),
        ("FSETP.GT.AND", None),
    ],
)
def test_instructions_of_cuda_cores(mnemonic, kind):
    assert kind_of_threads(mnemonic) == kind


def test_work_of_all_paths_from_instructions_alone():
    k = kernel({"HMMA.16816.F32.BF16": 10.0, "MOV": 5.0}, {"FFMA.FTZ": 100.0, "FMUL": 7.0, "FADD": 3.0, "DFMA": 1.0})
    assert (k["flop_bf16"], k["flop_fp32"], k["flop_fp64"], k["flop_fp16"]) == (40960, 210, 2, 0)
    assert (k["flop_bf16_source"], k["flop_fp32_source"], k["tensor_family"]) == ("sass", "sass", "hmma")
    assert k["flop_complete"] is True


def test_counters_go_before_instructions():
    values = {
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 11.0,
        "sm__ops_path_tensor_src_bf16_dst_fp32.sum": 22.0,
    }
    k = kernel({"HMMA.16816.F32.BF16": 10.0}, {"FFMA": 100.0}, values)
    assert (k["fp32_fma"], k["flop_bf16"]) == (11, 22)


def test_conversions_to_float_are_no_half_work():
    """The counter counts HADD2.F32 with the additions; the instructions tell 3 additions from 90 conversions."""
    counters = {f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum": 0.0 for name in ("hmul", "hfma")}
    counters["smsp__sass_thread_inst_executed_op_hadd_pred_on.sum"] = 93.0
    threads = {"HADD2.F32": 80.0, "HADD2.F32.FTZ": 10.0, "HADD2": 2.0, "HADD2.BF16_V2": 1.0}
    k = kernel({"MOV": 1.0}, threads, counters)
    assert (k["fp16_add"], k["fp16_add_source"]) == (3, "sass")
    assert (k["flop_fp16_vector_raw"], k["flop_fp16_vector"]) == (6, 6)
    only = kernel({"MOV": 1.0}, {"HADD2.F32": 93.0}, counters)
    assert (only["flop_fp16_vector_raw"], only["flop_fp16_vector"]) == (0, 0)
    alone = kernel({"MOV": 1.0}, {"HADD2.F32": 93.0})
    assert (alone["flop_fp16_vector_raw"], alone["flop_fp16_vector"]) == (0, 0)


def test_conversions_of_a_report_with_both(corpus):
    """B200: the counter's 102,760,448 additions are 88,080,384 HADD2.F32 and 14,680,064 HADD2."""
    (path,) = sorted((corpus / "reports").glob("jIab-b__nvfp4_gemv-kernel__l8*"))
    file = inputs.open_input(path)
    reader, why = readers.choose(file)
    chunks = list(reader.read(file, why, metrics.required_metrics()).chunks)
    assert metrics.kernels_from(chunks)["fp16_add"].to_list() == [14_680_064]
    without = metrics.build_kernels(chunks[0].launches, chunks[0].metrics)
    assert without["fp16_add"].to_list() == [pytest.approx(102_760_448)]


def test_tcgen05_cannot_be_priced_and_is_not_zero():
    k = kernel({"UTCOMMA.4X": 14336.0, "HMMA.16816.F32": 1.0}, {"FFMA": 1.0})
    assert (k["flop_tensor"], k["flop_fp4"]) == (None, None)
    assert k["flop_complete"] is False


def test_mma_sync_by_instruction_is_judged_by_its_own_rate():
    clock = {"sm__cycles_elapsed.avg.per_second": 1e9, "device__attribute_multiprocessor_count": 114}
    h100 = {"cc": "9.0", "gpu_name": "NVIDIA H100 PCIe"}
    k = kernel({"HMMA.16816.F32.BF16": 1.0}, None, clock, **h100)
    assert k["peak_flop_s_bf16"] == pytest.approx(8192 / 3 * 114 * 1e9)
    assert k["peak_flop_s_bf16_source"] == "rate×clock"
    k = kernel({"HGMMA.64x128x16.F32.BF16": 1.0}, None, clock, **h100)
    assert k["peak_flop_s_bf16"] == pytest.approx(4096 * 114 * 1e9)


def test_results_without_counts_stay_unknown():
    both = launch().vstack(launch(index=1))
    frame = metrics.build_kernels(both, long({}), instances({"MOV": 1.0}, {"FADD": 2.0}, index=1))
    assert frame["flop_fp32"].to_list() == [None, 2.0]


def test_every_name_is_used_by_the_tables():
    made = opcodes.names() | instruction_mix.names()
    assert {n for n in all_operands() if n.startswith(MADE)} == made
    assert {THREADS, WARPS} <= metrics.required_metrics()
    assert not opcodes.names() & metrics.required_metrics()


def test_instructions_give_what_the_counters_give(corpus):
    """Over the corpus, wherever a result holds both: every count but that of half additions (conversions) is equal."""
    pairs = {
        "fadd": "fp32_add", "fmul": "fp32_mul", "ffma": "fp32_fma", "dadd": "fp64_add", "dmul": "fp64_mul",
        "dfma": "fp64_fma", "hmul": "fp16_mul", "hfma": "fp16_fma", "op_hmma_src_bf16_dst_fp32": "flop_bf16",
    }  # fmt: skip
    compared = 0
    for path in sorted((corpus / "reports").iterdir()):
        try:
            file = inputs.open_input(path)
            reader, why = readers.choose(file)
            chunks = list(reader.read(file, why, metrics.required_metrics()).chunks)
        except NcuroofError:
            continue
        for chunk in chunks:
            counted = opcodes.counts(chunk.launches, chunk.instances)
            counters = metrics.build_kernels(chunk.launches, chunk.metrics)
            for kind, column in pairs.items():
                values = counters[column].fill_null(math.nan).to_numpy()
                both = np.isfinite(values) & np.isfinite(counted.get(f"opcode:{kind}", values * math.nan))
                if both.any():
                    assert counted[f"opcode:{kind}"][both] == pytest.approx(values[both], rel=1e-6), (path.name, kind)
                    compared += int((values[both] > 0).sum())
    assert compared >= 60
