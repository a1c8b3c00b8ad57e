"""W002: sizes that miss the tile."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import gemm

from ncuroof.rules import _tiles

H100 = {"roof_flop_s_fp16": 1e15, "roof_bytes_s": 3e12}
TILED = "cutlass_80_tensorop_f16_s16816gemm_f16_128x128_32x5_nn_align8"


def product(m, n, name=TILED, **more):
    # K = 4096. W / F is 8.6 ms / 4 for 1030 x 1024: right of the ridge point.
    return gemm(m, n, 4096, 20e-6, **H100, kernel_name=name, **more)


def test_fires_with_the_work_that_nobody_asked_for():
    # 1030 rows take 9 tiles of 128: 1152 x 1024 / (1030 x 1024) - 1 = 11.8 %; 20 µs x 0.118 / 1.118.
    (found,) = run("W002", product(1030, 1024)).findings.to_dicts()
    assert found["severity"] == "warning"
    assert found["time_at_stake_s"] == pytest.approx(20e-6 * (1 - 1030 / 1152))
    assert "1030 x 1024 does not fit tiles of 128 x 128: 12 % more" in found["message"]


def test_the_better_orientation_of_the_tile_counts():
    # Rows of 64, columns of 256: 1024 x 1030 would waste 24 % one way and 5.6 % the other.
    assert hits("W002", product(1030, 1024, "ampere_h16816gemm_256x64_ldg8_nn")) == []


def test_just_under_stays_silent():
    assert hits("W002", product(1024, 1024)) == []
    assert hits("W002", product(1050, 1024)) == []  # 1152 / 1050 = 9.7 %
    assert hits("W002", product(1045, 1024)) == [0]  # 10.2 %


def test_without_a_tile_in_the_name_128_is_assumed_and_it_is_a_note():
    (found,) = run("W002", product(1030, 1024, "gemm")).findings.to_dicts()
    assert (found["severity"], found["confidence"]) == ("note", "low")
    assert hits("W002", product(8, 1024, "gemm")) == []  # a small M says nothing about the tile


def test_the_next_smaller_multiple_of_128_decides_where_it_was_measured():
    # 1030 rows waste 11.8 %: a step of 5.9 % confirms it, one under 3.0 % says that the kernel does not.
    fits = product(1024, 1024, "gemm") | {"duration_s": 18e-6}
    slower = run("W002", product(1030, 1024, "gemm"), fits).findings.to_dicts()
    assert [(f["severity"], f["confidence"]) for f in slower] == [("warning", "high")]
    assert "1024 x 1024 is measured 10 % faster" in slower[0]["message"]
    assert hits("W002", product(1030, 1024), fits | {"duration_s": 19.6e-6}) == []
    # A step of 4 % neither confirms nor refutes.
    (unsure,) = run("W002", product(1030, 1024, "gemm"), fits | {"duration_s": 19.2e-6}).findings.to_dicts()
    assert unsure["severity"] == "note"


def test_left_of_the_ridge_point_it_costs_nothing():
    # M = 8 in tiles of 128 is padding, too: 16 x 8 = 128 rows, I = 124 FLOP/byte, ridge point 333.
    assert hits("W002", product(8, 4096)) == []


def test_counted_work_without_waste_wins_over_the_name():
    row = product(1030, 1024) | {"flop_tensor": 8.64e9}
    assert hits("W002", row | {"flop_fp16": 2.0 * 1030 * 1024 * 4096}) == []
    assert hits("W002", row | {"flop_fp16": 2.0 * 1152 * 1024 * 4096}) == [0]


def test_without_a_roof_it_cannot_judge():
    assert run("W002", product(1030, 1024) | {"roof_flop_s_fp16": None}).skips[0].missing == {"time_compute_s": 1}


@pytest.mark.parametrize(
    ("name", "tile"),
    [
        ("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x10_tn_align8", (64, 64)),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x128x64_warpgroupsize1x1x1_cublas", (64, 128)),
        ("nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT", (64, 8)),
        ("ampere_sgemm_128x64_nn", (128, 64)),
        ("splitKreduce_kernel_32x16", None),
        ("transpose_32x32", None),
        ("gemv2T_kernel_val", None),
        (None, None),
    ],
)
def test_tiles_of_kernel_names(name, tile):
    assert _tiles.tile(name) == tile
