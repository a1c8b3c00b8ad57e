"""R003: FP64 where there are hardly any units."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run

# RTX 4080: FP64 0.742, FP32 49.4 TFLOP/s. 1.484e8 FP64 FLOP take 200 µs of 1 ms.
DOUBLES = {
    "duration_s": 1e-3,
    "cc_major": 8,
    "cc_minor": 9,
    "roof_flop_s_fp64": 0.742e12,
    "roof_flop_s_fp32": 49.4e12,
    "flop_fp64": 1.484e8,
    "flop_fp32": 5e9,
}


def test_fires_with_what_fp32_would_save():
    # In FP32 the 200 µs would be 200 x 0.742 / 49.4 = 3 µs.
    (found,) = run("R003", DOUBLES).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(200e-6 * (1 - 0.742 / 49.4))
    assert "148 MFLOP of FP64 work take 20 % of the time" in found["message"]
    assert "67 times slower" in found["message"]
    assert found["severity"] == "warning"


def test_where_the_annotation_asks_for_fp64_it_is_a_note():
    assert run("R003", DOUBLES | {"op": "gemm", "op_dtype": "fp64"}).findings["severity"].to_list() == ["note"]


def test_just_under_stays_silent():
    assert hits("R003", DOUBLES | {"flop_fp64": 1.11e8}) == []  # 14.96 %
    assert hits("R003", DOUBLES | {"flop_fp64": 1.12e8}) == [0]


def test_gpus_with_fp64_units_are_not_asked():
    outcome = run("R003", DOUBLES | {"roof_flop_s_fp64": 25e12, "flop_fp64": 2e10})
    assert outcome.judged["R003"] == 0


def test_the_pipe_serves_where_flops_were_not_counted():
    row = DOUBLES | {"flop_fp64": None, "flop_fp32": None, "fp64_pct": 80.0}
    (found,) = run("R003", row).findings.to_dicts()
    assert found["confidence"] == "medium"
    assert "the FP64 pipe takes 80 %" in found["message"]
    assert hits("R003", row | {"fp64_pct": 59.0}) == []


def test_without_either_it_cannot_judge():
    assert run("R003", DOUBLES | {"flop_fp64": None}).skips[0].missing == {"flop_fp64 or fp64_pct": 1}
