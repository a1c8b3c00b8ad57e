"""The file beside a report that tells how the program's time divides."""

from __future__ import annotations

import json

import pytest

from ncuroof import program_time
from ncuroof.collect import sidecar
from ncuroof.program_time import ProgramTime


def full(**more):
    return sidecar.Sidecar("0.1.0", "2025.1", wall_s=2.0, kernel_s=0.5, launches=7, **more)


@pytest.mark.parametrize("report", ["x.ncu-rep", "x.cold.ncu-rep", "x.warm.ncu-rep", "x.ncu-repz"])
def test_the_side_file_is_found_beside_each_report(tmp_path, report):
    full().write(tmp_path / "x.collect.json")
    assert program_time.read(tmp_path / report) == ProgramTime(2.0, 0.5, 7)


def test_the_annotated_span_goes_first(tmp_path):
    full(span_s=1.0, span_kernel_s=0.4, span_launches=5).write(tmp_path / "x.collect.json")
    assert program_time.read(tmp_path / "x.ncu-rep") == ProgramTime(1.0, 0.4, 5, annotated=True)


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"format": 99}', '{"format": 1, "wall_s": "x"}'])
def test_a_side_file_that_is_none_is_as_good_as_absent(tmp_path, text):
    (tmp_path / "x.collect.json").write_text(text)
    assert program_time.read(tmp_path / "x.ncu-rep") is None
    assert program_time.read(tmp_path / "absent.ncu-rep") is None


def test_what_was_not_measured_is_null(tmp_path):
    sidecar.Sidecar("0.1.0", None).write(tmp_path / "x.collect.json")
    content = json.loads((tmp_path / "x.collect.json").read_text())
    assert content["wall_s"] is None
    assert program_time.read(tmp_path / "x.ncu-rep") is None
