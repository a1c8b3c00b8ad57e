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
    assert "the FP64 pipe is busy for 80 % of the time" in found["message"]
    assert hits("R003", row | {"fp64_pct": 14.0}) == []


def test_the_pipe_decides_whether_flops_were_counted_or_not():
    # Additions alone: 1.484e8 FLOP are 20 % of the time at the FMA rate, but the pipe is busy for 80 %.
    counted = DOUBLES | {"fp64_pct": 80.0, "fp64_add": 1.484e8, "fp64_mul": 0.0, "fp64_fma": 0.0}
    found = [run("R003", k).findings.to_dicts()[0] for k in (counted, counted | {"flop_fp64": None})]
    assert found[0]["time_at_stake_s"] == found[1]["time_at_stake_s"] == pytest.approx(0.8e-3 * (1 - 0.742 / 49.4))
    assert found[0]["message"] == found[1]["message"]
    # The pipe's percentage may count active cycles only; the SM's counts all, so FP64 cannot take more of the time.
    assert "67 % of the time" in run("R003", counted | {"sm_pct": 67.0}).findings["message"][0]


def test_without_the_pipe_an_addition_takes_the_slot_of_a_multiply_add():
    # 1.484e8 additions at 0.371e12 slots/s: 400 µs of 1 ms.
    (found,) = run("R003", DOUBLES | {"fp64_add": 1.484e8, "fp64_mul": 0.0, "fp64_fma": 0.0}).findings.to_dicts()
    assert "148 MFLOP of FP64 work take 40 % of the time" in found["message"]


def test_a_gpu_without_a_name_is_judged_by_its_compute_capability():
    # CC 8.9: 2 FP64 and 128 FP32 units an SM. CC 9.0 has products with 2 and with 64.
    nameless = {"roof_flop_s_fp64": None, "roof_flop_s_fp32": None, "flop_fp64": None, "fp64_pct": 80.0}
    (found,) = run("R003", DOUBLES | nameless).findings.to_dicts()
    assert found["message"].endswith("this GPU does FP64 64 times slower than FP32")
    assert hits("R003", DOUBLES | nameless | {"cc_major": 9, "cc_minor": 0}) == []
    assert hits("R003", DOUBLES | nameless | {"gpu_name": "NVIDIA Something"}) == []


def test_behind_busy_memory_it_hides():
    busy = DOUBLES | {"fp64_pct": 40.0, "sm_pct": 40.0, "memory_pct": 85.0}
    assert hits("R003", busy) == []
    assert hits("R003", busy | {"fp64_pct": 70.0, "sm_pct": 70.0}) == [0]


def test_without_either_it_cannot_judge():
    assert run("R003", DOUBLES | {"flop_fp64": None}).skips[0].missing == {"flop_fp64 or fp64_pct": 1}
    nameless = {"roof_flop_s_fp64": None, "roof_flop_s_fp32": None}
    assert run("R003", DOUBLES | nameless).skips[0].missing == {"fp64_pct or roof_flop_s_fp64": 1}
