from __future__ import annotations

import polars as pl
import pytest

from ncuroof.collect import hints
from ncuroof.collect.command import ANNOTATED, Filters


def kernels(*rows):
    columns = ("kernel_name", "kernel_demangled", "op", "op_dtype", "op_shape", "nvtx_path", "duration_s")
    numbers = ("block_x", "block_y", "grid_x", "grid_y")
    schema = dict.fromkeys(columns, pl.String) | dict.fromkeys(numbers, pl.UInt32) | {"duration_s": pl.Float64}
    return pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema=schema)


def test_types_come_from_annotations_and_names():
    frame = kernels(
        {"kernel_name": "k", "op_dtype": "fp8_e4m3"},
        {"kernel_name": "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x10_tn_align8"},
    )
    assert hints.types_used(frame) == ("bf16", "fp8")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64", "bf16"),
        ("cutlass_80_tensorop_d884gemm_32x32_16x5", "fp64"),
        ("turing_fp16_s1688gemm_fp16_128x128", "fp16"),
        ("cutlass_80_tensorop_s1688gemm_tf32_128x128", "tf32"),
    ],
)
def test_names_of_public_kernels(name, kind):
    assert kind in hints.types_used(kernels({"kernel_name": name}))


def test_without_a_sign_the_common_types_are_counted():
    assert hints.types_used(kernels({"kernel_name": "vectorized_add"})) == ("fp16", "bf16", "tf32")


def test_collectives_by_name():
    frame = kernels(
        {"kernel_name": "ncclDevKernel_AllReduce_Sum_f16_RING_LL"},
        {"kernel_name": "nvshmem_barrier"},
        {"kernel_name": "sgemm"},
        {"kernel_name": None},
    )
    assert hints.collectives(frame) == ["ncclDevKernel_AllReduce_Sum_f16_RING_LL", "nvshmem_barrier"]


@pytest.mark.parametrize(
    ("environment", "program", "sign"),
    [
        ({"WORLD_SIZE": "8"}, ["python"], "WORLD_SIZE=8"),
        ({"WORLD_SIZE": "1"}, ["python"], ""),
        ({}, ["/usr/bin/torchrun", "x.py"], "torchrun"),
        ({}, ["python", "x.py"], ""),
    ],
)
def test_several_processes(environment, program, sign):
    assert hints.several_processes(environment, program) == sign


def trial(name, block):
    return {"kernel_name": name, "block_x": block, "op": "gemm", "op_dtype": "fp16", "op_shape": '{"m":8}'}


def test_many_trials_of_one_operation_look_like_autotuning():
    frame = kernels(*[trial("triton_mm", block) for block in (64, 128, 256) for _ in range(5)])
    assert "15 times in a row by 3 different kernels" in hints.autotuning(frame, {})


def test_a_product_with_its_reduction_does_not():
    frame = kernels(*[trial(name, 128) for _ in range(8) for name in ("gemm_splitK", "splitKreduce")])
    assert hints.autotuning(frame, {}) == ""


def test_a_variable_tells_too():
    assert "TORCHINDUCTOR_MAX_AUTOTUNE is set" in hints.autotuning(kernels(), {"TORCHINDUCTOR_MAX_AUTOTUNE": "1"})
    assert hints.autotuning(kernels(), {"TORCHINDUCTOR_MAX_AUTOTUNE": "0"}) == ""


LIST = kernels(
    {"kernel_name": "fill"},
    {"kernel_name": "gemm_a", "nvtx_path": 'ncuroof:{"op":"gemm"}'},
    {"kernel_name": "gemm_b", "nvtx_path": 'ncuroof:{"op":"gemm"}'},
    {"kernel_name": "gemm_a"},
)


@pytest.mark.parametrize(
    ("filters", "number"),
    [
        (Filters(), 4),
        (Filters(kernel_name="gemm_a"), 2),
        (Filters(kernel_name="gemm"), 0),
        (Filters(kernel_name="regex:gemm"), 3),
        (Filters(kernel_name="regex:gemm", launch_skip=1, launch_count=1), 1),
        (Filters(launch_skip=9), 0),
        (Filters(nvtx_include=(ANNOTATED,)), 2),
        (Filters(nvtx_include=("phase/",)), None),
        (Filters(kernel_name="regex:("), None),
        (Filters(from_start=False), None),
    ],
)
def test_counting_what_the_filters_let_through(filters, number):
    assert hints.count(LIST, filters) == number


def test_the_annotated_span_runs_from_the_first_to_the_last():
    assert hints.annotated_span(LIST)["kernel_name"].to_list() == ["gemm_a", "gemm_b"]
    assert hints.annotated_span(kernels({"kernel_name": "x"})) is None
