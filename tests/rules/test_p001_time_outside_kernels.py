"""P001: what `collect` measured of a program becomes one finding, wherever the report is read from."""

from __future__ import annotations

import shutil

import pytest
from tests.conftest import ROOT
from tests.rules.frames import run

from ncuroof import compare, pipeline
from ncuroof.cli import run as ncuroof
from ncuroof.collect import sidecar
from ncuroof.config import Config

SAMPLE = ROOT / "sample_reports" / "rtx4080" / "fp64-m-sweep" / "report.ncu-rep"
CASE = ROOT.parent / "shared" / "cases" / "structure" / "r.ncu-rep"


def program(wall, kernel, launches, *, annotated=False, **more):
    return {
        "program_wall_s": wall,
        "program_kernel_s": kernel,
        "program_launches": launches,
        "program_annotated": annotated,
        **more,
    }


def findings(*rows, **thresholds):
    return run("P001", *rows, **thresholds).findings.to_dicts()


def test_the_articles_decode_step():
    # 11.56 ms a step, of which kernels at their bandwidth bound would take 4.58 ms; 28 layers x 44 launches = 1232.
    # Outside: 6.98 ms, 60.38 %, 6.98 ms / 1232 = 5.67 us.
    (row,) = findings(program(11.56e-3, 4.58e-3, 1232, annotated=True))
    assert "60 % lies outside kernels, 5.67 µs a launch" in row["message"]
    assert row["time_at_stake_s"] == pytest.approx(6.98e-3)
    assert row["confidence"] == "medium"
    assert row["row"] is None  # it is about the program, not about a kernel


def test_start_up_counts_in_where_nothing_is_annotated_so_no_time_is_claimed():
    (row,) = findings(program(3.0, 0.001, 10))
    assert row["time_at_stake_s"] is None
    assert row["confidence"] == "low"
    assert "start-up included" in row["message"]


@pytest.mark.parametrize(
    "row",
    [{}, program(1.0, 0.95, 100), program(1.0, 1.5, 100), program(1.0, 0.0, 0), program(0.0, 0.0, 0)],
    ids=["not measured", "5 %", "kernels overlap", "no launch", "no time"],
)
def test_nothing_to_say(row):
    assert findings(row) == []


def test_a_report_without_measured_times_is_not_one_that_could_not_be_judged():
    outcome = run("P001", {"duration_s": 1e-3}, {"duration_s": 2e-3})
    assert outcome.skips == ()
    assert outcome.judged == {"P001": 0}


def test_just_over_the_threshold_and_another_threshold():
    assert len(findings(program(1.0, 0.899, 1))) == 1
    assert findings(program(1.0, 0.901, 1)) == []
    assert len(findings(program(1.0, 0.95, 100), share=0.05)) == 1
    assert findings(program(1.0, 0.7, 100), share=0.31) == []


def test_one_finding_for_each_program_and_not_for_each_kernel():
    cold, warm = (program(1.0, 0.5, 3, source_sha256=d * 64, source=f"x.{d}.ncu-rep") for d in "ab")
    other = program(2.0, 0.5, 3, source_sha256="c" * 64, source="y.ncu-rep")
    assert [row["source"] for row in findings(cold, cold, warm, other)] == ["x.a.ncu-rep", "y.ncu-rep"]


@pytest.fixture
def collected(tmp_path):
    """Two collected reports in a folder."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, wall in (("x", 2.0), ("y", 3.0)):
        sidecar.Sidecar("0.1.0", None, wall_s=wall, kernel_s=0.5, launches=7).write(folder / f"{name}.collect.json")
    shutil.copy(SAMPLE, folder / "x.ncu-rep")
    shutil.copy(SAMPLE.parent.parent / "fp8-above-roof" / "report.ncu-rep", folder / "y.ncu-rep")
    return folder


def sources(paths):
    found = pipeline.analyze(pipeline.load(paths), Config(select=("P001",))).findings
    return sorted(name.rpartition("/")[2] for name in found["source"].to_list())


def test_a_folder_and_stored_tables_say_what_the_reports_say(collected, tmp_path):
    assert sources([collected / "x.ncu-rep"]) == ["x.ncu-rep"]
    assert sources([collected]) == ["x.ncu-rep", "y.ncu-rep"]
    pipeline.ingest([collected], tmp_path / "stored")
    assert sources([tmp_path / "stored"]) == ["x.ncu-rep", "y.ncu-rep"]


@pytest.mark.skipif(not CASE.exists(), reason="shared cases are not here")
def test_a_collected_report_compared_with_itself_has_nothing_new():
    analysis = pipeline.analyze(pipeline.load([CASE]), Config())
    assert "P001" in analysis.findings["code"].to_list()  # 0.7 of 4.0 s in kernels
    states = compare.compare(analysis, analysis).findings.filter(code="P001")["state"].to_list()
    assert states == ["known"]


def test_the_command_line_selects_it_like_any_rule(collected, capsys):
    report = str(collected / "x.ncu-rep")
    assert ncuroof(["analyze", report, "--quiet", "--fail-on", "P001"]) == 1
    assert "P001 time-outside-kernels" in capsys.readouterr().out
    assert ncuroof(["analyze", report, "--quiet", "--fail-on", "P001", "--ignore", "P001"]) == 0
    assert "P001" not in capsys.readouterr().out
