"""P001: the rule is known and says nothing of kernels; what `collect` measured becomes its finding, as configured."""

from __future__ import annotations

import pytest
from tests.conftest import ROOT
from tests.rules.frames import run

from ncuroof import pipeline, rules
from ncuroof.cli import run as ncuroof
from ncuroof.collect import export, outside, sidecar
from ncuroof.collect.outside import Outside
from ncuroof.config import Config

SAMPLE = ROOT / "sample_reports" / "rtx4080" / "fp64-m-sweep" / "report.ncu-rep"
MEASURED = Outside(1.0, 0.7, 100, annotated=True)  # 0.3 s of 1 s outside kernels


@pytest.fixture(scope="module")
def analysis():
    return pipeline.analyze(pipeline.load([SAMPLE]), Config())


def found(analysis, config, measured=MEASURED):
    findings = export.with_outside(analysis, measured, config).findings
    return [row for row in findings.to_dicts() if row["code"] == "P001"]


def test_no_kernel_is_judged_and_none_is_skipped():
    outcome = run("P001", {"duration_s": 1e-3}, {"duration_s": 2e-3})
    assert outcome.findings.is_empty()
    assert outcome.skips == ()
    assert outcome.judged == {"P001": 0}
    assert run("P001").judged == {"P001": 0}


def test_its_page_is_printed(capsys):
    assert ncuroof(["rule", "P001"]) == 0
    assert capsys.readouterr().out.startswith("P001 time-outside-kernels: ")


def test_the_finding_bears_the_name_and_the_severity_of_the_rule():
    rule = rules.rule("P001")
    row = outside.finding(MEASURED)
    assert (row["code"], row["name"], row["severity"]) == (rule.CODE, rule.NAME, rule.SEVERITY)


def test_it_is_sorted_among_the_findings_of_kernels(analysis):
    (row,) = found(analysis, Config())
    assert row["time_at_stake_s"] == pytest.approx(0.3)
    findings = export.with_outside(analysis, MEASURED, Config()).findings
    assert findings["code"][0] == "P001"  # the dearest finding of the sample is 6 ms
    assert findings.height == analysis.findings.height + 1


def test_it_is_added_once(analysis):
    once = export.with_outside(analysis, MEASURED, Config())
    assert len(found(once, Config())) == 1


@pytest.mark.parametrize(
    "config",
    [
        Config(ignore=("P001",)),
        Config(ignore=("P",)),
        Config(ignore=("time-outside-kernels",)),
        Config(select=("R", "W001")),
        Config(thresholds={"P001": {"share": 0.31}}),
    ],
)
def test_not_wanted(analysis, config):
    assert found(analysis, config) == []


@pytest.mark.parametrize("config", [Config(select=("P001",)), Config(thresholds={"P001": {"share": 0.29}})])
def test_wanted(analysis, config):
    assert len(found(analysis, config)) == 1


def test_its_threshold_can_be_lowered(analysis):
    little = Outside(1.0, 0.95, 100)  # 5 %
    assert found(analysis, Config(), little) == []
    assert len(found(analysis, Config(thresholds={"P001": {"share": 0.05}}), little)) == 1


def test_its_severity_is_the_users(analysis):
    (row,) = found(analysis, Config(severity={"time-outside-kernels": "error"}))
    assert row["severity"] == "error"


def test_the_commands_know_it(tmp_path, capsys):
    report = tmp_path / "x.ncu-rep"
    report.write_bytes(SAMPLE.read_bytes())
    sidecar.Sidecar("0.1.0", None, wall_s=2.0, kernel_s=0.5, launches=7).write(tmp_path / "x.collect.json")
    assert ncuroof(["analyze", str(report), "--quiet", "--fail-on", "P001"]) == 1
    assert "P001 time-outside-kernels" in capsys.readouterr().out
    assert ncuroof(["analyze", str(report), "--quiet", "--fail-on", "P001", "--ignore", "P"]) == 0
    assert "P001" not in capsys.readouterr().out
