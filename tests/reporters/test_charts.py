"""The chart as a specification: what is drawn where, and that Vega accepts it."""

from __future__ import annotations

import json

import pytest
from tests.builders import analysis, kernel
from tests.reporters.samples import hostile, typical

from ncuroof.errors import NothingMeasuredError, UsageError
from ncuroof.reporters._charts import chart
from ncuroof.reporters._drawings import drawings, first, only_gpu, png, svg
from ncuroof.reporters._groups import finding_groups, kernel_groups
from ncuroof.reporters._roof_lines import DRAM, Roof
from ncuroof.verdict_words import VERDICTS, WORDS


def drawn(a):
    groups = kernel_groups(a)
    return drawings(groups, finding_groups(a, groups))


def layers(spec, panel=0):
    return spec["vconcat"][panel]["layer"]


def marks(spec, panel=0):
    return next(m for m in layers(spec, panel) if "fillOpacity" in m.get("encoding", {}))


NO_FLOP = {"flop": None, "flop_source": None, "path": None, "roof_flop_s": None}


def test_every_verdict_has_its_own_looks():
    for looks in ("mark", "color", "shape"):
        assert len({getattr(v, looks) for v in VERDICTS}) == len(WORDS) == 5


def test_axes_are_logarithmic_and_hold_everything():
    (picture,) = drawn(typical())
    encoding = marks(picture.spec)["encoding"]
    x, y = (encoding[axis]["scale"] for axis in "xy")
    assert x["type"] == y["type"] == "log"
    for p in picture.spec["datasets"]["points"]:
        assert x["domain"][0] < p["intensity"] < x["domain"][1]
        assert y["domain"][0] < p["rate"] < y["domain"][1]
    assert y["domain"][1] > 788e12
    assert x["domain"][1] > 255


def test_looks_follow_verdict_share_and_source():
    (picture,) = drawn(typical())
    encoding = marks(picture.spec)["encoding"]
    assert encoding["stroke"]["field"] == encoding["fill"]["field"] == encoding["shape"]["field"] == "verdict"
    assert encoding["fillOpacity"]["scale"]["range"][1] == 0  # derived points are hollow
    assert encoding["size"]["field"] == "percent_of_time"
    titles = {t["title"] for t in encoding["tooltip"]}
    assert titles >= {"kernel", "time T", "work W", "bytes Q", "intensity W/Q", "of its roof", "findings", "report"}


def test_two_panels_and_a_caption_that_counts_what_is_not_on_the_roofline():
    (picture,) = drawn(typical())
    assert len(picture.spec["vconcat"]) == 2
    assert [p["name"] for p in picture.spec["datasets"]["strip"]] == ["copy"]
    # 300 of 820 µs and 20 of 820 µs
    assert picture.caption == (
        "2 points on the roofline; 1 kernel (37 % of the GPU time) has no FLOP count or none to count: lower panel; "
        "1 kernel (2.4 % of the GPU time) has neither a FLOP nor a byte count: only in the table."
    )


def test_the_bandwidth_axis_holds_everything():
    kernels = [kernel(**NO_FLOP, grid_x=i, traffic_bytes=q) for i, q in enumerate((0.0, 1e8, 9e8))]
    (picture,) = drawn(analysis(kernels))
    low, high = marks(picture.spec)["encoding"]["x"]["scale"]["domain"]
    # 900 MB in 100 µs are 9 TB/s, 292 % of 3085 GB/s
    assert low < 0
    assert high > 292


def test_formula_and_counter_are_joined():
    (picture,) = drawn(typical())
    rules = [m for m in layers(picture.spec) if m["encoding"].get("x", {}).get("field") == "formula"]
    assert [m["mark"]["type"] for m in rules] == ["rule", "point"]
    assert rules[0]["encoding"]["x2"]["field"] == "intensity"
    assert sum("formula" in p for p in picture.spec["datasets"]["points"]) == 1
    (plain,) = drawn(analysis([kernel()]))
    assert not [m for m in layers(plain.spec) if m["encoding"].get("x", {}).get("field") == "formula"]


def test_one_picture_per_gpu_most_time_first_with_its_reports():
    kernels = [
        kernel(gpu_name="A", source="1"),
        kernel(gpu_name="B", source="1", duration_s=1e-3),
        kernel(gpu_name="B", source="2", duration_s=1e-3),
    ]
    b, a = drawn(analysis(kernels))
    assert (b.gpu, b.reports, a.gpu, a.reports) == ("B", [("0", "1"), ("1", "2")], "A", [("0", "1")])
    assert [p["report"] for p in b.spec["datasets"]["points"]] == ["0", "1"]


def test_sizes_are_shares_of_the_time_of_that_gpu():
    kernels = [kernel(gpu_name="A", duration_s=1e-3), kernel(gpu_name="B", duration_s=1e-6)]
    assert [d.spec["datasets"]["points"][0]["percent_of_time"] for d in drawn(analysis(kernels))] == [100.0, 100.0]


def test_no_picture_without_a_place():
    (picture,) = drawn(analysis([kernel(**NO_FLOP, traffic_bytes=None)]))
    assert picture.spec is None
    with pytest.raises(NothingMeasuredError, match="no kernel with a byte count"):
        first(analysis([kernel(**NO_FLOP, traffic_bytes=None)]))


def test_altair_finds_nothing_wrong_with_the_chart():
    point, strip = drawn(typical())[0].spec["datasets"].values()
    spec = chart(point, strip, [Roof(DRAM, 3e12, ""), Roof("fp16", 8e14, "")]).to_dict(validate=True)
    names = {p["name"] for p in spec["params"]}
    assert names == {"verdict", "report", "zoom"}


def test_specification_names_no_address():
    assert "http" not in json.dumps(drawn(typical())[0].spec)


@pytest.mark.parametrize(
    "a",
    [
        typical(),
        hostile(),
        analysis([kernel()]),
        analysis([kernel(**NO_FLOP)]),
        analysis([kernel(roof_bytes_s=None)]),
        analysis([kernel(traffic_bytes=1e-3, duration_s=5e3)]),
        analysis([kernel(verdict="new-verdict")]),
    ],
    ids=["typical", "hostile", "one", "bytes only", "no slope", "extreme", "unknown verdict"],
)
def test_vega_draws_it(a):
    for picture in drawn(a)[:1]:
        text = svg(picture.spec)
        assert text.startswith("<svg")
        assert "NaN" not in text
        assert "undefined" not in text


def test_png():
    assert png(drawn(analysis([kernel()]))[0].spec, scale=1).startswith(b"\x89PNG")


def test_first_names_the_others():
    kernels = [kernel(gpu_name="A"), kernel(gpu_name="B", duration_s=1e-3)]
    spec, others = first(analysis(kernels))
    assert spec["title"]["text"] == "B"
    assert others == ["A"]


def test_only_one_gpu():
    kernels = [kernel(gpu_name="NVIDIA A100"), kernel(gpu_name="NVIDIA H100"), kernel(gpu_name=None)]
    part = only_gpu(analysis(kernels), "h100")
    assert part.kernels["gpu_name"].to_list() == ["NVIDIA H100"]
    assert part.kernels["time_share"].to_list() == [1.0]
    with pytest.raises(UsageError, match=r"B200.*NVIDIA A100, NVIDIA H100, unknown"):
        only_gpu(analysis(kernels), "B200")


def test_absurd_counters_draw_a_finite_frame():
    rows = [kernel(flop=1e300, traffic_bytes=1e-300), kernel(flop=1e-300, traffic_bytes=1e300), kernel(flop=1e308)]
    spec, _ = first(analysis(rows))
    text = json.dumps(spec, allow_nan=False)  # raises for infinities
    assert "domain" in text
