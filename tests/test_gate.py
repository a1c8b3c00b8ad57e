"""Exit status: what fails, what passes, and that having judged nothing never passes."""

from __future__ import annotations

import pytest
from tests.conftest import SAMPLES

from ncuroof import gate, pipeline
from ncuroof.config import Config
from ncuroof.errors import UsageError
from ncuroof.testing import ReportBuilder


@pytest.fixture(scope="module")
def square():
    """Two launch-overhead warnings and notes."""
    return pipeline.analyze(pipeline.load([SAMPLES / "h100" / "fp16-square" / "report.ncu-rep"]), Config())


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [((), 0), (("error",), 0), (("warning",), 1), (("note",), 1), (("T",), 1), (("launch-overhead",), 1), (("W",), 0)],
)
def test_severities_codes_and_names(square, fail_on, status):
    decision = gate.decide(square, fail_on)
    assert decision.status == status
    assert bool(decision.reason) == bool(status)


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
