from __future__ import annotations

import pytest
from tests.builders import analysis, finding, kernel
from tests.reporters.samples import hostile

from ncuroof.reporters._groups import finding_groups, kernel_groups
from ncuroof.reporters._points import by_group, records, split


def rows(*kernels, findings=()):
    a = analysis(list(kernels), list(findings))
    groups = kernel_groups(a)
    return list(groups.iter_rows(named=True)), by_group(finding_groups(a, groups))


def one(findings=(), **fields):
    groups, found = rows(kernel(**fields), findings=findings)
    (record,) = records(groups, found, {}, 1e-4)
    return record


NO_FLOP = {"flop": None, "flop_source": None, "path": None, "roof_flop_s": None}


def test_no_kernel_vanishes():
    groups, _ = rows(
        kernel(grid_x=1),
        kernel(grid_x=2, **NO_FLOP),
        kernel(grid_x=3, flop=0.0),
        kernel(grid_x=4, **NO_FLOP, traffic_bytes=None),
        kernel(grid_x=5, duration_s=None),
        kernel(grid_x=6, traffic_bytes=0.0),
    )
    on_roof, on_strip, nowhere = split(groups)
    assert [g["grid_x"] for g in on_roof] == [1]
    # W unknown, W = 0 (an integer kernel), Q = 0: all have a place on the bandwidth axis.
    assert [g["grid_x"] for g in on_strip] == [2, 3, 6]
    assert [g["grid_x"] for g in nowhere] == [4, 5]


def test_position():
    # W / Q = 67108864 / 268435456 = 0.25 FLOP/byte; W / T = 67108864 / 100 µs = 671 GFLOP/s.
    record = one()
    assert (record["intensity"], record["rate"]) == (0.25, pytest.approx(6.71089e11))
    assert record["percent_of_time"] == 100.0
    assert "formula" not in record


def test_two_intensities_where_formula_and_counter_are_known():
    assert one(compulsory_bytes=134_217_728.0)["formula"] == 0.5
    compulsory = {"compulsory_bytes": 1e8, "traffic_bytes_source": "compulsory (formula)"}
    assert "formula" not in one(**compulsory)  # the same Q twice is no second one


def test_position_on_the_bandwidth_axis():
    record = one(**NO_FLOP)
    # 268435456 B / 3085e9 B/s = 87.01 µs of 100 µs
    assert record["bandwidth_pct"] == pytest.approx(87.0131)
    assert record["seconds"] == 1e-4
    assert "intensity" not in record


@pytest.mark.parametrize(("source", "basis"), [("counter", "counted"), ("rate×time", "derived")])
def test_basis(source, basis):
    assert one(flop_source=source)["basis"] == basis


def test_tooltip_texts():
    record = one(findings=[finding(0), finding(0, code="W001", name="padding-waste")], compulsory_bytes=134_217_728.0)
    assert record["name"] == "saxpy"
    assert record["launch"] == "grid 4096, block 256"
    assert record["time"] == "100 µs"
    assert record["work"] == "67.1 MFLOP (counter)"
    assert record["bytes"] == "268 MB (counter)"
    assert record["where"] == "0.25 FLOP/byte, ridge point 16.8; by formula 0.5"
    assert record["speed"] == "671 GFLOP/s, 2.68 TB/s"
    assert record["roof"] == "87 % of the memory roof (path fp32)"
    assert record["why"] == "memory-bound: reaches 87 % of the memory roof"
    assert record["found"] == "R001 l2-resident, W001 padding-waste"


def test_tooltip_of_a_mixed_kernel_names_all_paths():
    assert "fp16 60 %, fp32 40 %" in one(path_share=0.6, paths="fp16 60 %, fp32 40 %")["roof"]


def test_many_findings_are_counted():
    found = [finding(0, code=f"R00{i}", time_at_stake_s=1e-5) for i in range(1, 6)]
    assert one(findings=found)["found"].endswith("R003 l2-resident and 2 more")


def test_launches_are_counted():
    groups, found = rows(kernel(), kernel())
    (record,) = records(groups, found, {}, 2e-4)
    assert record["launch"].endswith("×2")
    assert record["time"] == "100 µs (median), 200 µs in all"


def test_tooltips_stay_small_whatever_the_name():
    a = hostile()
    groups = kernel_groups(a)
    found = by_group(finding_groups(a, groups))
    for record in records(groups.iter_rows(named=True), found, {}, 1.0):
        texts = [v for v in record.values() if isinstance(v, str)]
        assert max(map(len, texts)) <= 200
        assert all(t.isprintable() for t in texts)
