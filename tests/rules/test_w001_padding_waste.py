"""W001: padding that costs time, and padding that does not."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run

# Ridge point 1e14 / 1e12 = 100 FLOP/byte.
GPU = {"roof_bytes_s": 1e12, "roof_flop_s_fp16": 1e14, "op": "gemm", "op_dtype": "fp16", "op_n": 1000, "op_k": 1000}


def gemm(m, *, executed=None, bytes_=2e6, duration=1e-4, **more):
    """A product of M x 1000 x 1000 whose counted FLOPs are ``executed`` times the useful ones."""
    useful = 2.0 * m * 1000 * 1000
    return (
        GPU
        | {
            "op_m": m,
            "useful_flop": useful,
            "flop_fp16": None if executed is None else executed * useful,
            "dram_bytes": bytes_,
            "duration_s": duration,
        }
        | more
    )


def test_counted_padding_right_of_the_ridge():
    # Useful 2e8, executed 8e8: I_padded = 8e8 / 2e6 = 400 > 100. Unpadded max(2 µs, 2 µs), padded 8 µs: 3/4 at stake.
    (found,) = run("W001", gemm(100, executed=4.0)).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(75e-6)
    assert found["confidence"] == "high"
    assert "executes 4 x the useful work" in found["message"]


def test_the_same_padding_left_of_the_ridge_is_free():
    assert hits("W001", gemm(1, executed=64.0)) == []  # 1.28e8 / 2e6 = 64 < 100
    assert hits("W001", gemm(1, executed=128.0)) == [0]  # 2.56e8 / 2e6 = 128 > 100


def test_a_little_more_than_asked_is_ordinary():
    assert hits("W001", gemm(1000, executed=1.24)) == []
    assert hits("W001", gemm(1000, executed=1.26)) == [0]
    assert hits("W001", gemm(1000, executed=1.26), executed_over_useful=1.3) == []


def sweep(times, **more):
    return [gemm(m, duration=t, op_sweep="m", **more) for m, t in times.items()]


def test_a_plateau_right_of_the_ridge_is_padding():
    # M = 256: I = 5.12e8 / 2e6 = 256 > 100. From M = 256 on the work is useful.
    rows = sweep({64: 1.00e-4, 128: 1.02e-4, 256: 1.01e-4, 512: 2.0e-4})
    outcome = run("W001", *rows)
    assert sorted(outcome.findings["row"]) == [0, 1]
    first = outcome.findings.filter(outcome.findings["row"] == 0).to_dicts()[0]
    assert "takes as long as M = 256, so it executes at least 4 x the useful work" in first["message"]
    assert first["message"].endswith("; its percentage of the roof counts useful work only")
    assert first["confidence"] == "medium"


def test_a_plateau_left_of_the_ridge_is_the_time_of_reading_the_weights():
    assert hits("W001", *sweep({1: 1e-4, 2: 1e-4, 4: 1e-4, 32: 1e-4})) == []  # I = 32 at its top


def test_a_plateau_is_not_read_across_sweeps_or_types():
    a, b = gemm(64, op_sweep="m"), gemm(256, op_sweep="m", op_dtype="bf16")
    c, d = gemm(64, op_sweep="x", op_n=2000), gemm(256, op_sweep="x")
    assert hits("W001", a, b, c, d) == []


def test_a_step_of_more_than_five_percent_ends_a_plateau():
    assert hits("W001", *sweep({64: 1.0e-4, 128: 1.06e-4, 256: 1.0e-4})) == []


def test_gemv_executes_no_padding():
    assert hits("W001", gemm(1, executed=1.0, bytes_=1e3)) == []


def test_kernels_without_a_shape_are_none_of_its_business():
    outcome = run("W001", {"duration_s": 1e-4, "roof_bytes_s": 1e12})
    assert outcome.skips == ()
    assert outcome.judged == {"W001": 0}


def test_a_matrix_product_without_a_roof_is_skipped():
    outcome = run("W001", gemm(64) | {"roof_flop_s_fp16": None})
    assert outcome.skips[0].missing == {"roof_flop_s": 1}
