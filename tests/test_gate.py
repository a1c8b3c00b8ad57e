"""Exit status: what fails, what passes, and that having judged nothing never passes."""

from __future__ import annotations

import pytest
from tests.conftest import SAMPLES

from ncuroof import gate, pipeline
from ncuroof.compare import compare
from ncuroof.config import Config
from ncuroof.errors import UsageError
from ncuroof.testing import ReportBuilder


@pytest.fixture(scope="module")
def square():
    """Two launch-overhead warnings and notes."""
    return pipeline.analyze(pipeline.load([SAMPLES / "h100" / "fp16-square" / "report.ncu-rep"]), Config())


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [
        ((), 0),
        (("error",), 0),
        (("warning",), 1),
        (("note",), 1),
        (("T",), 1),
        (("launch-overhead",), 1),
        (("W",), 0),
        (("R",), 0),
        (("R00",), 0),
    ],
)
def test_severities_codes_and_names(square, fail_on, status):
    decision = gate.decide(square, fail_on)
    assert decision.status == status
    assert bool(decision.reason) == bool(status)


def test_a_note_counts_where_its_rule_is_named_in_full(tmp_path):
    # 900 MB at 1 TB/s take 0.9 of 1 ms: R007 says so, and that is all there is to say.
    counters = {
        "gpu__time_duration.sum": 1e6,
        "dram__bytes_read.sum": 9e8,
        "dram__bytes_write.sum": 0.0,
        "dram__bytes.sum.peak_sustained": 1000.0,
        "dram__cycles_elapsed.avg.per_second": 1e9,
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": 0.0,
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 0.0,
        "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": 0.0,
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 0.0,
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum": 0.0,
        "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum": 0.0,
        "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": 0.0,
        "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum": 0.0,
        "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum": 0.0,
        "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum": 0.0,
    }
    path = tmp_path / "r.ncu-rep"
    ReportBuilder().kernel("k", counters).write(path)
    analysis = pipeline.analyze(pipeline.load([path]), Config(select=("R",)))
    assert analysis.findings.select("code", "severity").rows() == [("R007", "note")]
    for fail_on, status in (("R", 0), ("R00", 0), ("info", 0), ("R007", 1), ("r007", 1), ("near-roof", 1), ("note", 1)):
        assert gate.decide(analysis, (fail_on,)).status == status, fail_on


def test_nonsense_is_refused_before_any_work(square):
    with pytest.raises(UsageError, match="nor a severity"):
        gate.check(["loud"])
    with pytest.raises(UsageError):
        gate.decide(square, [""])


def test_nothing_judged_is_no_pass(tmp_path):
    path = tmp_path / "r.ncu-rep"
    ReportBuilder().kernel("k", {"launch__waves_per_multiprocessor": 1.0}).write(path)
    analysis = pipeline.analyze(pipeline.load([path]), Config(select=("T001", "R001")))
    assert gate.decide(analysis, ()).status == 0
    decision = gate.decide(analysis, ("error",))
    assert decision.status == 2
    assert "nothing has passed" in decision.reason


def compared(tmp_path, ms, gpu="NVIDIA Imaginary GPU"):
    """A kernel of 1 ms against one of ``ms``; a quarter of its lanes works, which base did not show."""
    threads = "smsp__thread_inst_executed_per_inst_executed.ratio"
    sides = []
    for name, duration, active, device in (("base", 1.0, 32.0, "NVIDIA Imaginary GPU"), ("head", ms, 8.0, gpu)):
        builder = ReportBuilder(gpu=device).kernel("k", {"gpu__time_duration.sum": duration * 1e6, threads: active})
        path = builder.write(tmp_path / f"{name}.ncu-rep")
        sides.append(pipeline.analyze(pipeline.load([path]), Config(select=("W003",))))
    return compare(*sides)


@pytest.mark.parametrize(
    ("ms", "fail_on", "status"),
    [
        (2.0, ("regression",), 1),
        (1.0, ("regression",), 0),
        (0.5, ("regression",), 0),
        (1.0, ("warning",), 1),
        (1.0, ("error", "regression"), 0),
        (2.0, ("error", "regression"), 1),
        (2.0, (), 0),
    ],
)
def test_regressions_and_new_findings(tmp_path, ms, fail_on, status):
    comparison = compared(tmp_path, ms)
    assert gate.decide_comparison(comparison, fail_on).status == status
    assert gate.decide(comparison.without_known("main"), fail_on, comparison).status == status


def test_a_comparison_of_nothing_is_no_pass(tmp_path):
    comparison = compared(tmp_path, 2.0, gpu="NVIDIA Other GPU")
    for decision in (
        gate.decide_comparison(comparison, ["regression"]),
        gate.decide(comparison.head, ["regression"], comparison),
    ):
        assert decision.status == 2
        assert "nothing has passed" in decision.reason


def test_a_regression_needs_something_to_compare_with(square):
    with pytest.raises(UsageError, match="--baseline"):
        gate.check(["regression"])
    with pytest.raises(UsageError, match="--baseline"):
        gate.decide(square, ["regression"])
    gate.check(["regression"], compares=True)


def test_new_findings_cannot_be_ruled_out_where_nothing_was_judged(tmp_path):
    sides = []
    for name, ms in (("base", 1.0), ("head", 1.01)):
        path = ReportBuilder().kernel("k", {"gpu__time_duration.sum": ms * 1e6}).write(tmp_path / f"{name}.ncu-rep")
        sides.append(pipeline.analyze(pipeline.load([path]), Config(select=("W003",))))
    comparison = compare(*sides)
    assert gate.decide_comparison(comparison, ["regression"]).status == 0
    decision = gate.decide_comparison(comparison, ["warning", "regression"])
    assert decision.status == 2
    assert "judge" in decision.reason
