"""S002: a plateau below a later step."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import gemm

# RTX 4080 FP16, N = K = 8192, with the measured roofs.
ROOFS = {"roof_flop_s_fp16": 104.2e12, "roof_bytes_s": 661.4e9, "cc_major": 8, "cc_minor": 9}
TIMES = [(64, 242.483), (128, 245.99), (256, 384.963), (512, 763.003), (1024, 1334.638), (2048, 2664.7)]


def sweep(pairs, **more):
    return [gemm(m, 8192, 8192, 1e-6 * t, **(ROOFS | more)) for m, t in pairs]


def test_published_step():
    # 2 x 256 x 8192² / 385 µs = 89.3, 90.1 at 512, 103 TFLOP/s at 1024: 15 and 14 % more.
    found = run("S002", *sweep(TIMES)).findings.sort("row").to_dicts()
    assert [f["row"] for f in found] == [2, 3]
    # W (1/P - 1/P') = T (1 - P/P') = 384.963 x (1 - 89.26 / 102.98)
    assert found[0]["time_at_stake_s"] == pytest.approx(51.3e-6, rel=0.01)
    assert "M = 256 stays at 89.3 TFLOP/s, M = 1024 reaches 103 TFLOP/s (15 % more)" in found[0]["message"]
    assert found[0]["severity"] == "info"


def test_a_step_under_ten_percent_is_none():
    # 1400 µs at 1024 are 98.2 TFLOP/s: 9 % over 90.1.
    assert hits("S002", *sweep([*TIMES[:4], (1024, 1400.0)])) == []
    assert hits("S002", *sweep([*TIMES[:4], (1024, 1380.0)])) == [2, 3]  # 99.6: 10.6 %


def test_one_point_is_no_plateau():
    assert hits("S002", *sweep([(256, 385.0), (512, 700.0), (1024, 1334.6)])) == []


def test_padded_rows_belong_to_padding():
    # RTX 4080 FP64: M = 16 and 32 take the same time, so 32 is the top of a padded range and 64 is left alone.
    roofs = {"roof_flop_s_fp64": 0.742e12, "roof_bytes_s": 661.4e9}
    pairs = [(16, 6889.984), (32, 6890.08), (64, 13734.08), (128, 24036.352), (256, 48052.574)]
    rows = [gemm(m, 8192, 8192, 1e-6 * t, dtype="fp64", **roofs) for m, t in pairs]
    assert hits("S002", *rows) == []


def test_left_of_the_ridge_point_equal_throughput_is_the_slope():
    assert hits("S002", *sweep([(16, 2000.0), (32, 4000.0), (64, 4100.0)], roof_bytes_s=1e10)) == []


def test_without_a_roof_it_cannot_judge():
    assert run("S002", gemm(4, 8, 8, 1e-6)).skips[0].missing == {"bound": 1}
