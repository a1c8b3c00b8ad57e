from __future__ import annotations

import math

import pytest
from tests.builders import analysis, kernel

from ncuroof.reporters._groups import kernel_groups
from ncuroof.reporters._roof_lines import DRAM, LABEL_GAP, Roof, draw, roofs

BOX = (0.1, 10_000.0, 1e10, 1e16)  # five decades by six
SIZE = (1000.0, 600.0)  # 100 pixels a decade in y


def of(*kernels):
    return roofs(kernel_groups(analysis(list(kernels))).iter_rows(named=True))


def test_one_line_per_path_and_one_slope():
    found = of(
        kernel(),
        kernel(path="fp16", roof_flop_s=788e12, grid_x=2),
        kernel(path=None, roof_flop_s=None, flop=None, grid_x=3),
    )
    assert [(r.path, r.value) for r in found] == [(DRAM, 3085e9), ("fp16", 788e12), ("fp32", 51.9e12)]
    assert found[1].source == "measured, table of eight GPUs"


def test_clocks_near_each_other_are_one_line_at_the_median_by_time():
    # 100, 104 and 108 lie within 12 %; 130 does not. 60 of the 100 µs of the cluster lie at 104.
    values = {100e12: 2e-5, 104e12: 6e-5, 108e12: 2e-5, 130e12: 1e-5}
    found = of(*(kernel(roof_flop_s=v, duration_s=t, grid_x=i) for i, (v, t) in enumerate(values.items())))
    assert [r.value for r in found if r.path != DRAM] == [130e12, 104e12]


def test_the_number_of_lines_is_limited_to_those_that_own_most_time():
    found = of(*(kernel(roof_flop_s=1e12 * 2**i, duration_s=1e-6 * (i + 1), grid_x=i) for i in range(12)))
    assert [r.value for r in found if r.path != DRAM] == [1e12 * 2**i for i in range(11, 3, -1)]


def test_lines_meet_at_the_ridge_point():
    drawn = draw([Roof(DRAM, 3085e9, ""), Roof("fp16", 788e12, ""), Roof("fp32", 51.9e12, "")], BOX, SIZE)
    slope, fp16, fp32 = drawn.segments
    assert slope["y"] / slope["x"] == pytest.approx(3085e9)
    # I* = F / B: 788e12 / 3085e9 = 255.4 and 51.9e12 / 3085e9 = 16.82 FLOP/byte.
    assert (slope["x2"], slope["y2"]) == (pytest.approx(255.43, abs=0.01), pytest.approx(788e12))
    assert (fp16["x"], fp16["y"], fp16["y2"]) == (pytest.approx(255.43, abs=0.01), 788e12, 788e12)
    assert fp32["x"] == pytest.approx(16.823, abs=0.001)
    assert [r["text"] for r in drawn.ridges] == ["I* 255", "I* 16.8"]
    assert [t["text"] for t in drawn.flats] == ["fp16 788 TFLOP/s", "fp32 51.9 TFLOP/s"]
    assert drawn.slopes[0]["text"] == "DRAM 3.08 TB/s"


def test_lines_reach_beyond_the_frame():
    slope, flat = draw([Roof(DRAM, 1e12, ""), Roof("fp32", 1e14, "")], BOX, SIZE).segments
    assert slope["x"] < BOX[0] / 1000
    assert flat["x2"] > BOX[1] * 1000


def test_labels_nearer_than_a_line_of_text_share_one():
    gap = 10 ** (LABEL_GAP / 100)  # the ratio that lies one label apart at 100 pixels a decade
    near = draw([Roof(DRAM, 1e12, ""), Roof("bf16", 8e14, ""), Roof("fp16", 8e14 / gap * 1.01, "")], BOX, SIZE)
    apart = draw([Roof(DRAM, 1e12, ""), Roof("bf16", 8e14, ""), Roof("fp16", 8e14 / gap * 0.99, "")], BOX, SIZE)
    assert len(near.flats) == 1
    assert near.flats[0]["text"].startswith("bf16 800 TFLOP/s · fp16 ")
    assert [bool(r["text"]) for r in near.ridges] == [True, False]
    assert len(apart.flats) == 2
    assert all(r["text"] for r in apart.ridges)


def test_without_a_bandwidth_the_flat_lines_remain():
    drawn = draw([Roof("fp32", 1e14, "")], BOX, SIZE)
    assert drawn.segments[0]["x"] < BOX[0]
    assert drawn.ridges == drawn.slopes == []


def test_the_label_of_the_slope_keeps_clear_of_points_above_it():
    lines = [Roof(DRAM, 1e12, ""), Roof("fp32", 1e15, "")]
    first = draw(lines, BOX, SIZE).slopes[0]
    assert first["y"] == pytest.approx(1e12 * first["x"])
    # A point a few pixels to the upper left of the label's end, in the middle of the text.
    point = {"intensity": first["x"] * 10 ** (-40 / 200), "rate": first["y"] * 10 ** (8 / 100)}
    moved = draw(lines, BOX, SIZE, [point]).slopes[0]
    assert not math.isclose(moved["x"], first["x"])


def test_labels_of_two_slopes_stand_apart():
    first, second = draw([Roof(DRAM, 3e12, ""), Roof(DRAM, 2e12, ""), Roof("fp32", 1e15, "")], BOX, SIZE).slopes
    assert 100 * math.log10(first["y"] / second["y"]) > LABEL_GAP


def test_nothing_to_draw():
    assert draw([], BOX, SIZE).segments == []


def test_a_roof_at_boost_is_a_dashed_line_without_a_ridge_point():
    row = {"path": "fp32", "roof_flop_s": 2e13, "roof_flop_s_source": "report", "total_s": 1.0, "roof_bytes_s": 1e12}
    row |= {"roof_bytes_s_source": "report", "roof_boost_flop_s": 3e13}
    slope, boost, run = roofs([row])
    assert (slope.path, boost.boost, boost.value, run.boost, run.value) == (DRAM, True, 3e13, False, 2e13)
    drawn = draw([slope, boost, run], BOX, SIZE)
    assert [s["dash"] for s in drawn.segments] == [[1, 0], [4, 4], [1, 0]]
    assert [r["y"] for r in drawn.ridges] == [2e13]
    assert any("fp32 at boost 30 TFLOP/s" in f["text"] for f in drawn.flats)


def test_a_roof_at_boost_near_that_of_the_run_is_no_line():
    row = {"path": "fp32", "roof_flop_s": 2e13, "roof_flop_s_source": "", "total_s": 1.0, "roof_bytes_s": None}
    assert [r.boost for r in roofs([row | {"roof_boost_flop_s": 2.05e13}])] == [False]
    assert [r.boost for r in roofs([row | {"roof_boost_flop_s": None}])] == [False]
