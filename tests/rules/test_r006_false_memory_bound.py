"""R006: memory-bound only under another path's roof."""

from __future__ import annotations

from tests.rules.frames import hits, run

# H100 at 50 FLOP/byte; ridge points 788e12 / 3085e9 = 255 (FP16) and 61.5e12 / 3085e9 = 19.9 (FP32).
FIFTY = {
    "duration_s": 1e-3,
    "dram_bytes": 6e8,
    "flop_fp32": 3e10,
    "roof_flop_s_fp32": 61.5e12,
    "roof_flop_s_fp16": 788e12,
    "roof_bytes_s": 3085e9,
    "tensor_pct": 0.0,
}


def test_a_kernel_between_two_ridge_points_gets_a_note():
    (found,) = run("R006", FIFTY).findings.to_dicts()
    assert found["severity"] == "note"
    assert "50 FLOP/byte is compute-bound on the fp32 path it uses (ridge point 19.9)" in found["message"]
    assert "the fp16 roof (ridge point 255) would call it memory-bound" in found["message"]


def test_an_annotation_that_names_the_other_path_makes_it_information():
    row = FIFTY | {"op": "gemm", "op_dtype": "bf16", "roof_flop_s_bf16": 802e12}
    assert run("R006", row).findings["severity"].to_list() == ["info"]


def test_both_sides_of_both_ridge_points_stay_silent():
    assert hits("R006", FIFTY | {"flop_fp32": 1.19e10}) == []  # 19.8: memory-bound on its own path as well
    assert hits("R006", FIFTY | {"flop_fp32": 1.2e10, "duration_s": 5e-4}) == [0]  # 20.0
    assert hits("R006", FIFTY | {"dram_bytes": 1e8}) == []  # 300: compute-bound under both
    assert hits("R006", FIFTY | {"duration_s": 2e-3}) == []  # 24 % of its roof: other worries first


def test_kernels_whose_path_is_not_counted_are_not_asked():
    row = FIFTY | {"flop_fp32": None, "useful_flop": 3e10, "op": "gemm", "op_dtype": "fp32", "tensor_pct": None}
    assert run("R006", row).judged["R006"] == 0


def test_without_bytes_it_cannot_judge():
    assert run("R006", FIFTY | {"dram_bytes": None}).skips[0].missing == {"intensity": 1}
