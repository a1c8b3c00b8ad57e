from __future__ import annotations

import json

import polars as pl
import pytest

from ncuroof import tables
from ncuroof.collect import outside, sidecar
from ncuroof.collect.outside import Outside


def test_the_articles_decode_step():
    # 11.56 ms a step, of which kernels at their bandwidth bound would take 4.58 ms; 28 layers x 44 launches = 1232.
    measured = Outside(11.56e-3, 4.58e-3, 1232, annotated=True)
    assert measured.outside_s == pytest.approx(6.98e-3)
    assert measured.share == pytest.approx(0.6038, abs=1e-4)
    assert measured.per_launch_s == pytest.approx(5.67e-6, abs=0.01e-6)
    row = outside.finding(measured)
    assert row["code"] == "P001"
    assert "60 % lies outside kernels, 5.67 µs a launch" in row["message"]
    assert row["time_at_stake_s"] == pytest.approx(6.98e-3)
    assert row["confidence"] == "medium"


def test_start_up_counts_in_where_nothing_is_annotated_so_no_time_is_claimed():
    row = outside.finding(Outside(3.0, 0.001, 10))
    assert row["time_at_stake_s"] is None
    assert row["confidence"] == "low"
    assert "start-up included" in row["message"]


@pytest.mark.parametrize(
    "measured",
    [None, Outside(1.0, 0.95, 100), Outside(1.0, 1.5, 100), Outside(1.0, 0.0, 0), Outside(0.0, 0.0, 0)],
)
def test_nothing_to_say(measured):
    assert outside.finding(measured) is None


def test_just_over_the_threshold():
    assert outside.finding(Outside(1.0, 0.899, 1)) is not None
    assert outside.finding(Outside(1.0, 0.901, 1)) is None


def test_kernels_that_overlap_leave_no_negative_time():
    assert Outside(1.0, 1.5, 2).outside_s == 0.0


def test_the_row_fits_the_table():
    row = outside.finding(Outside(1.0, 0.5, 3, annotated=True))
    schema = tables.schema(tables.ANOMALIES)
    frame = pl.DataFrame([row], schema={name: schema[name] for name in row})
    assert tables.conform(frame, tables.ANOMALIES).height == 1


def full(**more):
    return sidecar.Sidecar("0.1.0", "2025.1", wall_s=2.0, kernel_s=0.5, launches=7, **more)


@pytest.mark.parametrize("report", ["x.ncu-rep", "x.cold.ncu-rep", "x.warm.ncu-rep", "x.ncu-repz"])
def test_the_sidecar_is_found_beside_each_report(tmp_path, report):
    full().write(tmp_path / "x.collect.json")
    assert sidecar.read_outside(tmp_path / report) == Outside(2.0, 0.5, 7)


def test_the_annotated_span_goes_first(tmp_path):
    full(span_s=1.0, span_kernel_s=0.4, span_launches=5).write(tmp_path / "x.collect.json")
    assert sidecar.read_outside(tmp_path / "x.ncu-rep") == Outside(1.0, 0.4, 5, annotated=True)


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"format": 99}', '{"format": 1, "wall_s": "x"}'])
def test_a_sidecar_that_is_none_is_as_good_as_absent(tmp_path, text):
    (tmp_path / "x.collect.json").write_text(text)
    assert sidecar.read_outside(tmp_path / "x.ncu-rep") is None
    assert sidecar.read_outside(tmp_path / "absent.ncu-rep") is None


def test_what_was_not_measured_is_null(tmp_path):
    sidecar.Sidecar("0.1.0", None).write(tmp_path / "x.collect.json")
    content = json.loads((tmp_path / "x.collect.json").read_text())
    assert content["wall_s"] is None
    assert sidecar.read_outside(tmp_path / "x.ncu-rep") is None
