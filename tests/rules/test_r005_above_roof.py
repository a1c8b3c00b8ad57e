"""R005: points above a roof."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run

# 1e12 FLOP at 1e15 FLOP/s take 1 ms; measured: 0.9 ms, 111 % of the roof.
FAST = {
    "duration_s": 0.9e-3,
    "flop_fp16": 1e12,
    "roof_flop_s_fp16": 1e15,
    "roof_flop_s_fp16_source": "report: own dense peak at the measured clock",
    "roof_bytes_s": 3e12,
    "roof_bytes_s_source": "report: own peak",
    "dram_bytes": 3e8,
}


def message(**more):
    return run("R005", FAST | more).findings["message"][0]


def test_fires_and_puts_the_whole_time_in_doubt():
    (found,) = run("R005", FAST).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(0.9e-3)
    assert "lies at 111 % of the fp16 roof" in found["message"]


def test_the_cause_is_named():
    assert "2:4 sparsity" in message(op_tensor_sparse=1e12)
    assert "accumulates in FP16" in message(flop_fp16_acc_fp16=1e12)
    assert "no maximum" in message(roof_flop_s_fp16_source="measured, table")
    assert "clock is above its maximum" in message(clock_ratio=1.2)
    assert "DRAM cannot deliver" in message(flop_fp16=1e11, dram_bytes=3.3e9)
    useful = {"flop_fp16": None, "useful_flop": 1e12, "op": "gemm", "op_dtype": "fp16"}
    assert "annotated shape" in message(**useful)


def test_the_limit_depends_on_the_source_of_the_roof():
    # 1 ms / 0.96 ms = 104.2 %; / 0.94 ms = 106.4 %; cards exceed data sheets by up to 8 %.
    assert hits("R005", FAST | {"duration_s": 0.96e-3}) == []
    assert hits("R005", FAST | {"duration_s": 0.94e-3}) == [0]
    sheet = FAST | {"roof_flop_s_fp16_source": "datasheet: H100 SXM"}
    assert hits("R005", sheet | {"duration_s": 0.94e-3}) == []
    assert hits("R005", sheet | {"duration_s": 0.90e-3}) == [0]


def test_bytes_of_a_formula_are_l2_residency_and_not_this():
    row = {"duration_s": 1e-3, "compulsory_bytes": 6e9, "roof_bytes_s": 3e12}
    assert hits("R005", row | {"useful_flop": 1e9, "op": "gemm", "op_dtype": "fp16", "roof_flop_s_fp16": 1e15}) == []


def test_short_kernels_are_left_out():
    assert hits("R005", FAST | {"duration_s": 4.9e-6}) == []


def test_without_a_roof_it_cannot_judge():
    row = FAST | {"roof_flop_s_fp16": None, "roof_bytes_s": None}
    assert run("R005", row).skips[0].missing == {"compute_roof_pct or memory_roof_pct": 1}
