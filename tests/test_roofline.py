"""Placement: worked out by hand on small frames."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from ncuroof import roofline, store, tables
from ncuroof.paths import PATH_NAMES

ROOF_COLUMNS = {f"roof_flop_s_{p}": pl.Float64 for p in PATH_NAMES} | {
    f"roof_flop_s_{p}_source": pl.String for p in PATH_NAMES
}
COLUMNS = (
    {c.name: c.dtype for c in store.stored_columns()}
    | ROOF_COLUMNS
    | {"roof_bytes_s": pl.Float64, "roof_bytes_s_source": pl.String}
    | {"roof_bytes_s_l2": pl.Float64, "roof_bytes_s_l1": pl.Float64}
    | {f"roof_boost_flop_s_{p}": pl.Float64 for p in PATH_NAMES}
)
H100 = {
    "gpu_name": "NVIDIA H100 80GB HBM3",
    "source_sha256": "0" * 64,
    "cc_major": 9,
    "cc_minor": 0,
    "roof_bytes_s": 3e12,
    "roof_flop_s_fp32": 60e12,
    "roof_flop_s_fp16": 900e12,
    "roof_flop_s_fp16_source": "report: dense peak x clock",
    "roof_flop_s_fp64": 30e12,
    "roof_flop_s_fp64_tensor": 60e12,
}


def place(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    unknown = {k for r in rows for k in r} - set(COLUMNS)
    assert not unknown, unknown
    frame = pl.DataFrame([dict.fromkeys(COLUMNS) | H100 | r for r in rows], schema=COLUMNS)
    return roofline.place(frame).to_dicts()


def test_memory_side_binds_left_of_the_ridge():
    # W = 6e9 FLOP, Q = 3e9 byte: I = 2, ridge = 60e12 / 3e12 = 20, so memory binds: Q / B = 1 ms of 1.25 ms = 80 %.
    (k,) = place({"duration_s": 1.25e-3, "flop_fp32": 6e9, "dram_bytes": 3e9, "tensor_pct": 0.0})
    assert k["intensity"] == pytest.approx(2.0)
    assert k["ridge"] == pytest.approx(20.0)
    assert k["bound"] == "memory"
    assert k["time_bound_s"] == pytest.approx(1e-3)
    assert k["time_compute_s"] == pytest.approx(1e-4)
    assert k["roof_pct"] == pytest.approx(80.0)
    assert k["compute_roof_pct"] == pytest.approx(8.0)
    assert k["verdict"] == "memory-bound"
    assert k["verdict_reason"] == "reaches 80 % of the DRAM roof"


def test_compute_side_binds_right_of_the_ridge_and_the_path_is_the_one_that_takes_longest():
    # fp16: 9e11 / 900e12 = 1 ms. fp32: 3e10 / 60e12 = 0.5 ms, though it is 3 % of the work. Q / B = 0.1 ms.
    (k,) = place({"duration_s": 1.25e-3, "flop_fp32": 3e10, "flop_fp16": 9e11, "dram_bytes": 3e8})
    assert (k["path"], k["bound"]) == ("fp16", "compute")
    assert k["time_compute_s"] == pytest.approx(1e-3)
    assert k["flop"] == pytest.approx(9.3e11)
    assert k["path_share"] == pytest.approx(9e11 / 9.3e11)
    assert k["paths"] == "fp32 3 %, fp16 97 %"
    assert k["roof_flop_s"] == pytest.approx(900e12)
    assert k["roof_flop_s_source"] == "report: dense peak x clock"
    assert k["verdict"] == "compute-bound"


def test_the_roof_at_boost_is_that_of_the_same_path():
    boost = {"roof_boost_flop_s_fp16": 1070e12, "roof_boost_flop_s_fp32": 67e12}
    (k,) = place({"duration_s": 1e-3, "flop_fp16": 9e10, "dram_bytes": 3e8} | boost)
    assert k["roof_boost_flop_s"] == 1070e12


def test_levels_above_dram_have_their_own_percentages():
    # 2e9 byte of L2 traffic at 5e12 byte/s take 0.4 ms of 1 ms; 6e9 byte of L1 traffic at 2e13 byte/s take 0.3 ms.
    levels = {"l2_read_bytes": 2e9, "roof_bytes_s_l2": 5e12, "l1_writeback_bytes": 6e9, "roof_bytes_s_l1": 2e13}
    (k,) = place({"duration_s": 1e-3} | levels)
    assert k["l2_roof_pct"] == pytest.approx(40.0)
    assert k["l1_roof_pct"] == pytest.approx(30.0)


def test_a_small_share_of_slow_work_binds():
    # fp64 without tensor cores: 3e10 / 30e12 = 1 ms; fp32: 3e10 / 60e12 = 0.5 ms.
    (k,) = place({"duration_s": 2e-3, "flop_fp32": 3e10, "flop_fp64": 3e10, "dram_bytes": 3e8, "tensor_pct": 0.0})
    assert k["path"] == "fp64"
    assert k["path_share"] == pytest.approx(0.5)


def test_no_arithmetic_at_all_is_judged_by_bandwidth_alone():
    (k,) = place({"duration_s": 1.25e-3, "flop_fp32": 0.0, "dram_bytes": 3e9, "flop_complete": True})
    assert k["flop"] == 0.0
    assert k["intensity"] is None
    assert k["path"] is None
    assert k["roof_pct"] == pytest.approx(80.0)
    assert k["bound"] == "memory"


@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({"flop_fp32": 0.0, "flop_complete": False}, "some unit was not counted"),
        ({"flop_fp16": 0.0}, "it is not known what was counted"),
        ({"flop_fp32": 1e6, "tensor_pct": 40.0}, "the tensor pipe was busy and its work was not counted"),
        ({"flop_fp32": 1e6, "flop_fp64": 0.0, "path_hint": "fp16"}, "a tensor kernel's epilogue is not its work"),
        ({}, "nothing was counted"),
    ],
)
def test_work_is_unknown_where_the_busy_unit_was_not_counted(known, why):
    (k,) = place({"duration_s": 1e-3, "dram_bytes": 1e9, **known})
    assert k["flop"] is None, why
    assert k["flop_source"] is None
    assert k["roof_pct"] is None
    assert k["memory_roof_pct"] == pytest.approx(100 * (1e9 / 3e12) / 1e-3)
    assert k["verdict"] == "cannot-say"
    assert k["verdict_reason"].startswith("needs FLOP counters")


def test_useful_work_and_compulsory_bytes_stand_in_and_say_so():
    # 2MNK = 2 * 1024^3; fp64 matrix product: the tensor path has the roof.
    (k,) = place(
        {
            "duration_s": 1e-4,
            "useful_flop": 2.0 * 1024**3,
            "compulsory_bytes": 3 * 8 * 1024.0**2,
            "op": "gemm",
            "op_dtype": "fp64",
            "workload_source": "annotation",
        }
    )
    assert k["path"] == "fp64_tensor"
    assert k["flop_source"] == "useful work, annotation"
    assert k["traffic_bytes_source"] == "compulsory (formula)"
    assert k["time_compute_s"] == pytest.approx(2.0 * 1024**3 / 60e12)
    assert k["executed_over_useful"] is None


def test_executed_over_useful():
    # The H100 q_proj of a batch of one: 64 rows computed for one that is useful.
    (k,) = place({"duration_s": 2e-5, "useful_flop": 25690112.0, "flop_fp16": 1644167168.0, "dram_bytes": 26510848.0})
    assert k["executed_over_useful"] == pytest.approx(64.0)
    assert k["flop"] == pytest.approx(1644167168.0)


def test_overhead_needs_a_short_time_a_low_bound_and_idle_units():
    base = {"flop_fp32": 1e6, "tensor_pct": 0.0, "dram_bytes": 1e6}  # Q / B = 0.33 µs
    short, busy, long = place(
        base | {"duration_s": 4e-6},
        base | {"duration_s": 4e-6, "memory_pct": 75.0, "sm_pct": 10.0},
        base | {"duration_s": 40e-6},
    )
    assert short["verdict"] == "overhead-bound"  # 3 floors of 3.5 µs = 10.5 µs
    assert busy["verdict"] == "memory-bound"
    assert long["verdict"] == "latency-bound"


def test_integer_work_is_no_overhead():
    # A Philox generator: 1 % of the DRAM roof and no FLOPs, but the SM at 46 % of its peak.
    base = {"flop_fp32": 1e6, "tensor_pct": 0.0, "dram_bytes": 2e5, "duration_s": 6.9e-6, "memory_pct": 13.0}
    busy, idle, unplaced = place(
        base | {"sm_pct": 46.0}, base | {"sm_pct": 24.0}, base | {"dram_bytes": None, "sm_pct": 25.0}
    )
    assert busy["verdict"] == "latency-bound"
    assert idle["verdict"] == "overhead-bound"
    assert unplaced["verdict"] == "latency-bound"


def test_floor_is_the_reports_own_minimum_where_that_is_lower():
    base = {"flop_fp32": 1e3, "tensor_pct": 0.0, "dram_bytes": 1e3}
    fast, slow = place(base | {"duration_s": 2e-6}, base | {"duration_s": 7e-6})
    assert fast["verdict"] == "overhead-bound"
    assert slow["verdict"] == "latency-bound"  # 3 x 2 µs = 6 µs < 7 µs


def test_below_three_microseconds_nothing_is_judged():
    (k,) = place({"duration_s": 2.5e-6, "flop_fp32": 1e6, "tensor_pct": 0.0, "dram_bytes": 6e6})  # Q / B = 2 µs, 80 %
    assert k["verdict"] == "cannot-say"
    assert "too coarse" in k["verdict_reason"]


@pytest.mark.parametrize("duration", [None, 0.0])
def test_without_a_duration_nothing_can_be_said(duration):
    (k,) = place({"duration_s": duration, "flop_fp32": 1e6, "dram_bytes": 6e6})
    assert k["verdict"] == "cannot-say"
    assert k["verdict_reason"] == "needs the duration (gpu__time_duration.sum)"
    assert k["roof_pct"] is None


def test_throughput_percentages_decide_where_the_report_has_no_counters():
    memory, compute, latency = place(
        {"duration_s": 1e-4, "sm_pct": 30.0, "memory_pct": 85.0},
        {"duration_s": 1e-4, "sm_pct": 91.0, "memory_pct": 85.0},
        {"duration_s": 1e-4, "sm_pct": 59.9, "memory_pct": 59.0},
    )
    assert memory["verdict"] == "memory-bound"
    assert memory["verdict_reason"] == "memory (DRAM, L2 or L1) throughput is 85 % of its peak"
    assert compute["verdict"] == "compute-bound"
    assert latency["verdict"] == "latency-bound"
    assert latency["verdict_reason"] == "SM throughput 60 %, memory throughput 59 %: neither is busy"
    assert [k["limiter"] for k in (memory, compute, latency)] == ["memory", "sm", "latency"]
    assert [k["limiter_pct"] for k in (memory, compute, latency)] == [85.0, 91.0, None]


LOW = {"duration_s": 1e-3, "flop_fp32": 6e8, "dram_bytes": 3e8, "tensor_pct": 0.0}  # 1 and 10 % of the roofs


@pytest.mark.parametrize(
    ("known", "limiter", "pct", "reason"),
    [
        ({"memory_pct": 86.0, "l1_pct": 87.0, "l2_pct": 10.0}, "l1", 87.0, "L1 throughput is 87 % of its peak"),
        ({"memory_pct": 91.0, "l1_pct": 45.0, "l2_pct": 91.0}, "l2", 91.0, "L2 throughput is 91 % of its peak"),
        ({"memory_pct": 90.0, "dram_pct": 90.0, "l2_pct": 50.0}, "dram", 90.0, "DRAM throughput is 90 % of its peak"),
        # L1 and DRAM are both shares of the launch. On a T4 the memory throughput shows half of it.
        ({"memory_pct": 50.0, "dram_pct": 45.0, "l1_pct": 90.0}, "l1", 90.0, "L1 throughput is 90 % of its peak"),
        # A busy L1 in few active cycles is not busy over the launch.
        (
            {"memory_pct": 65.0, "dram_pct": 65.0, "l1_pct": 50.0, "l1_active_pct": 95.0},
            "dram",
            65.0,
            "DRAM throughput is 65 % of its peak",
        ),
        # DRAM at 62 % of its roof is near, but L1 is busier by more than 10 points.
        ({"dram_bytes": 1.86e9, "memory_pct": 95.0, "l1_pct": 95.0}, "l1", 95.0, "L1 throughput is 95 % of its peak"),
        ({"dram_bytes": 1.86e9, "memory_pct": 70.0, "l1_pct": 70.0}, "dram", 62.0, "reaches 62 % of the DRAM roof"),
        # None of the three accounts for it.
        (
            {"memory_pct": 80.0, "l1_pct": 60.0, "l2_pct": 10.0},
            "memory",
            80.0,
            "memory (DRAM, L2 or L1) throughput is 80 % of its peak",
        ),
        ({"sm_pct": 91.0, "memory_pct": 20.0}, "sm", 91.0, "SM throughput is 91 % of its peak"),
        ({"flop_fp32": 4.2e10, "sm_pct": 75.0}, "fp32", 70.0, "reaches 70 % of the fp32 roof"),
        ({"flop_fp32": 4.2e10, "sm_pct": 81.0}, "sm", 81.0, "SM throughput is 81 % of its peak"),
    ],
)
def test_the_limiter_is_the_level_or_unit_that_binds(known, limiter, pct, reason):
    (k,) = place(LOW | {"sm_pct": 20.0, "memory_pct": 20.0} | known)
    assert (k["limiter"], k["verdict_reason"]) == (limiter, reason)
    assert k["limiter_pct"] == pytest.approx(pct)


def test_a_small_grid_is_named():
    (k,) = place(LOW | {"sm_pct": 4.0, "memory_pct": 22.0, "grid_blocks": 32.0, "sm_count": 132.0})
    assert k["limiter"] == "grid"
    assert k["verdict_reason"].startswith("32 blocks on 132 SMs; SM throughput 4 %, memory throughput 22 %")


GEMM = {"op": "gemm", "op_dtype": "fp16", "useful_flop": 1e12, "compulsory_bytes": 1e8, "workload_source": "annotation"}


@pytest.mark.parametrize(
    ("row", "doubt", "excess"),
    [
        ({"flop_fp16": 0.94e12, "flop_complete": True}, "executed", 1 / 0.94),
        ({"flop_fp16": 0.96e12, "flop_complete": True}, None, None),
        # Where a unit was not counted, it may have done the rest.
        ({"flop_fp16": 0.6e12}, None, None),
        ({"flop_fp16": 0.4e12}, "executed", 2.5),
        # Sparse products, DP4A and Winograd execute fewer operations than the shape asks for.
        ({"flop_fp16": 0.4e12, "op_tensor_sparse": 4e11}, None, None),
        ({"flop_fp16": 0.4e12, "op_dtype": "int8"}, None, None),
        ({"flop_fp16": 0.4e12, "op": "conv"}, None, None),
        # Without counters: 900 TFLOP/s in 1 ms are 0.9e12, and 2:4 sparsity doubles that.
        ({"useful_flop": 1.7e12}, None, None),
        ({"useful_flop": 1.9e12}, "peak", 1.9 / 0.9),
        # An FP8 unit cannot do FP16 products, but FP8 ones.
        ({"useful_flop": 1.9e12, "roof_flop_s_fp8": 1.8e15}, "peak", 1.9 / 0.9),
        ({"useful_flop": 1.9e12, "roof_flop_s_fp8": 1.8e15, "op_dtype": "fp8_e4m3"}, None, None),
        # FP32 products may run on the units for FP16 and TF32.
        ({"op_dtype": "fp32"}, None, None),
        # 3e12 byte/s x 10 in 1 ms are 3e10 byte; with an L2 of 6e12 byte/s it is 0.9e10.
        ({"compulsory_bytes": 2.9e10}, None, None),
        ({"compulsory_bytes": 3.1e10}, "bandwidth", 3.1 / 0.3),
        ({"compulsory_bytes": 1e10, "roof_bytes_s_l2": 6e12}, "bandwidth", 1 / 0.6),
    ],
)
def test_an_annotation_that_cannot_be_true_is_doubted(row, doubt, excess):
    (k,) = place(GEMM | {"duration_s": 1e-3} | row)
    assert k["annotation_doubt"] == doubt
    assert k["annotation_excess"] == (None if excess is None else pytest.approx(excess))


def test_a_doubted_annotation_stands_in_for_nothing():
    (k,) = place(GEMM | {"duration_s": 1e-3, "useful_flop": 1e19, "compulsory_bytes": 1e16})
    assert (k["flop"], k["traffic_bytes"], k["roof_pct"], k["verdict"]) == (None, None, None, "cannot-say")
    (k,) = place(GEMM | {"duration_s": 1e-3, "flop_fp16": 3e11, "dram_bytes": 1e8, "useful_flop": 1e19})
    assert (k["flop"], k["executed_over_useful"]) == (3e11, None)


def test_missing_bytes_are_named():
    (k,) = place({"duration_s": 1e-3, "flop_fp32": 6e9, "tensor_pct": 0.0})
    assert k["verdict_reason"] == "needs DRAM byte counters (the roofline tier of `ncuroof collect`)"
    assert k["roof_pct"] is None


def test_missing_roof_is_named():
    (k,) = place({"duration_s": 1e-3, "flop_fp8": 6e9, "dram_bytes": 1e8, "roof_flop_s_fp8": None})
    assert k["verdict_reason"] == "needs the fp8 roof of this GPU (--roofs FILE)"
    assert k["time_compute_s"] is None


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({}, "needs FLOP counters (the roofline tier of `ncuroof collect`); this chip has no DRAM counters"),
        ({"flop_fp32": 1e6}, "this chip has no DRAM counters, so its memory side cannot be known"),
    ],
)
def test_no_byte_counters_are_asked_for_where_the_chip_has_none(known, reason):
    (k,) = place({"duration_s": 1e-3, "dram_counters_absent": True} | known)
    assert (k["verdict"], k["verdict_reason"]) == ("cannot-say", reason)


def test_a_gpu_without_a_name_is_asked_for():
    nameless = {"gpu_name": None, "roof_bytes_s": None, "roof_flop_s_fp8": None}
    (k,) = place({"duration_s": 1e-3, "flop_fp8": 6e9, "dram_bytes": 1e8} | nameless)
    assert k["verdict_reason"] == "needs to know the GPU, which the input does not name (--gpu NAME)"


def test_a_row_of_a_summary_counts_as_all_its_launches():
    # 3 launches of 1 ms on average beside one of 1 ms: three quarters of the time.
    a, b = place({"duration_s": 1e-3, "invocations": 3.0}, {"duration_s": 1e-3})
    assert (a["gpu_time_s"], b["gpu_time_s"]) == (pytest.approx(3e-3), 1e-3)
    assert (a["time_share"], b["time_share"]) == (0.75, 0.25)


def test_shares_of_time_skip_unknown_durations():
    a, b, c = place({"duration_s": 3e-3}, {"duration_s": 1e-3}, {"duration_s": None})
    assert (a["time_share"], b["time_share"], c["time_share"]) == (0.75, 0.25, None)


def test_place_keeps_rows_and_columns():
    frame = pl.DataFrame([dict.fromkeys(COLUMNS) | H100], schema=COLUMNS)
    placed = roofline.place(frame)
    assert placed.height == 1
    assert set(placed.columns) == set(frame.columns) | {c.name for c in tables.PLACEMENT}
    assert not [c for c in placed.columns if c.startswith("_")]
