"""R007: little or nothing to gain."""

from __future__ import annotations

from tests.rules.frames import hits, run

# Q / B = 2.7e8 / 3e12 = 90 µs of 100.
NEAR = {
    "duration_s": 100e-6,
    "dram_bytes": 2.7e8,
    "flop_fp32": 2.7e7,
    "roof_bytes_s": 3e12,
    "roof_bytes_s_source": "report: own peak",
    "roof_flop_s_fp32": 6e13,
    "tensor_pct": 0.0,
}


def test_a_note_with_what_still_helps_under_the_slope():
    (found,) = run("R007", NEAR).findings.to_dicts()
    assert found["severity"] == "note"
    assert found["message"] == (
        "reaches 90 % of the memory roof at 0.1 FLOP/byte: its implementation has nothing left to gain"
    )
    assert "fewer bytes" in found["advice"]


def test_under_the_flat_part_a_higher_one_helps():
    (found,) = run("R007", NEAR | {"flop_fp32": 5.4e9, "dram_bytes": 1e7}).findings.to_dicts()
    assert "higher flat part" in found["advice"]
    assert "tensor cores, lower precision, another" in found["advice"]


def test_what_is_on_tensor_cores_is_not_sent_there():
    # W / F = 9e10 / 1e15 = 90 µs of 100; the ridge point is 1e15 / 3e12 = 333, the kernel lies at 9000 FLOP/byte.
    bf16 = {
        "duration_s": 100e-6,
        "dram_bytes": 1e7,
        "flop_bf16": 9e10,
        "roof_bytes_s": 3e12,
        "roof_flop_s_bf16": 1e15,
        "tensor_pct": 90.0,
    }
    (found,) = run("R007", bf16).findings.to_dicts()
    assert "help: lower precision on the tensor cores, another algorithm" in found["advice"]
    lowest = bf16 | {"flop_bf16": None, "flop_fp4": 9e10, "roof_flop_s_fp4": 1e15}
    (found,) = run("R007", lowest).findings.to_dicts()
    assert "help: another algorithm" in found["advice"]


def test_there_is_little_left_below_90_percent_of_a_nominal_roof():
    # A V100 reaches 94 % of its nominal bandwidth: at 81 % it is not done. 90 µs of 111 and of 101.
    little, nothing = run("R007", NEAR | {"duration_s": 111e-6}, NEAR | {"duration_s": 100.4e-6}).findings["message"]
    assert little.endswith("has little left to gain")
    assert nothing.startswith("reaches 90 %")  # 89.6, as printed
    assert nothing.endswith("has nothing left to gain")
    measured = NEAR | {"roof_bytes_s_source": "measured: V100", "duration_s": 99e-6}
    assert run("R007", measured).findings["message"][0].endswith("has nothing left to gain")


def test_the_limit_depends_on_the_source_of_the_roof():
    assert hits("R007", NEAR | {"duration_s": 113e-6}) == []  # 79.6 %
    assert hits("R007", NEAR | {"duration_s": 112e-6}) == [0]
    measured = NEAR | {"roof_bytes_s_source": "measured: H100"}
    assert hits("R007", measured | {"duration_s": 101e-6}) == []  # 89.1 %
    assert hits("R007", measured | {"duration_s": 99e-6}) == [0]
    assert hits("R007", NEAR | {"duration_s": 85e-6}) == []  # 105.9 %: R005's


def test_without_flops_it_cannot_judge():
    assert run("R007", NEAR | {"flop_fp32": None}).skips[0].missing == {"roof_pct": 1, "bound": 1}
